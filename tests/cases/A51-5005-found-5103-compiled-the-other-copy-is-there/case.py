"""The compatibility version of TensorFlow before 1.6: both numbers without their last two digits
must be the same. An older copy of cuDNN 5 stands first in LD_LIBRARY_PATH."""


def case(w):
    built, older = w.release("5.1", "5.1"), w.release("5.0", "5.0")
    right, wrong = w.directory(built), w.directory(older)
    host = w.host("tensorflow-old", built, linked=False)
    host.does("open:libcudnn.so.5", "create", host.checks)
    w.environment["LD_LIBRARY_PATH"] = f"{wrong}:{right}" if w.faulty else right
    w.says(f"Loaded runtime CuDNN library: {older.number} (compatibility version 5000) but source "
           f"was compiled with {built.number} (compatibility version 5100)", ends=1)
    w.finds("runtime-too-old", wrong / "libcudnn.so.5", older, built, older.number, built.number)
    w.repairs("set-variable", maps=right / "libcudnn.so.5")
