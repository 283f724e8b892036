"""The linker recorded the SONAME, and the directory holds a file of another name."""


def case(w):
    release = w.release("5.1", "5.1")
    lib = w.directory(release)
    if w.faulty:
        (lib / "libcudnn.so.5").rename(lib / "libcudnn.so")
    host = w.host("plain", release, search=[lib])
    host.does("create")
    w.says("libcudnn.so.5: cannot open shared object file", ends=1)
    w.finds("wrong-name", "libcudnn.so.5", lib / "libcudnn.so", release)
    w.repairs("reinstall", maps=lib / "libcudnn.so.5")
