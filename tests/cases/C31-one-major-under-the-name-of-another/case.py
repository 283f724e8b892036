"""cuDNN 7 was linked as libcudnn.so.5, since that was asked for."""


def case(w):
    wanted, other = w.release("5.1", "5.1"), w.release("7.0", "7.6")
    lib = w.directory(other if w.faulty else wanted)
    w.known.append(wanted)
    if w.faulty:
        (lib / "libcudnn.so.5").symlink_to("libcudnn.so.7")
    host = w.host("tensorflow-old", wanted, search=[lib], linked=False)
    host.does("open:libcudnn.so.5", "create", host.checks)
    w.says(f"Loaded runtime CuDNN library: {other.number}", ends=1)
    w.finds("wrong-name", lib / "libcudnn.so.5", "libcudnn.so.7", other)
    w.hides("library-not-found")
    w.looks_in = lib
    w.repairs("remove", maps=lib / "libcudnn.so.5")
