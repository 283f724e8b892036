"""One copy of cuDNN 5.0 is there, TensorFlow was compiled with 5.1: the compatibility versions
differ. The framework goes down, or is built anew against the cuDNN that is there."""


def case(w):
    built, older = w.release("5.1", "5.1"), w.release("5.0", "5.0")
    lib = w.directory(older if w.faulty else built)
    w.known.append(built)
    host = w.host("tensorflow-old", built, search=[lib], linked=False)
    host.does("open:libcudnn.so.5", "create", host.checks)
    w.says(f"Loaded runtime CuDNN library: {older.number} (compatibility version 5000) but source "
           f"was compiled with {built.number} (compatibility version 5100)", ends=1)
    w.finds("runtime-too-old", lib / "libcudnn.so.5", older.number, built.number, 5000, 5100)
    w.repairs("upgrade-host", maps=lib / "libcudnn.so.5", road=1)
