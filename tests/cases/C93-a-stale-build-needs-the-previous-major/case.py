"""The binary still needs libcudnn.so.5, and 6 is installed."""


def case(w):
    old, installed = w.release("5.1", "5.1"), w.release("6.0", "6.0")
    lib = w.directory(installed if w.faulty else old)
    w.known += [old, installed]
    w.looks_in = lib
    host = w.host("plain", old, search=[lib])
    host.does("create")
    w.says("libcudnn.so.5: cannot open shared object file", ends=1)
    w.finds("library-not-found", "libcudnn.so.5", lib / "libcudnn.so.6", host.library)
    w.repairs("install", maps=lib / "libcudnn.so.5")
