"""NVIDIA's wheels hold libcudnn.so.9 alone; the extension opens libcudnn.so."""


def case(w):
    release = w.release("9.1", "9.9")
    lib = w.wheel(release)
    if not w.faulty:
        (lib / "libcudnn.so").symlink_to("libcudnn.so.9")
    host = w.host("plain", release, search=[lib], linked=False)
    host.does("open:libcudnn.so", "create")
    w.says("libcudnn.so: cannot open shared object file", ends=1)
    w.finds("wrong-name", "libcudnn.so", lib / "libcudnn.so.9", release)
    w.repairs("reinstall", maps=lib / "libcudnn.so.9")
