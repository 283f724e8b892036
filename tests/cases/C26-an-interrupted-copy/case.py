"""A copy was interrupted and left a file of no bytes."""


def case(w):
    release = w.release("8.1", "8.9")
    lib = w.directory(release)
    w.whole = release
    if w.faulty:
        w.broken(lib / "libcudnn.so.8", "empty")
    host = w.host("plain", release, search=[lib])
    host.does("create")
    w.says("libcudnn.so.8: file too short", ends=1)
    w.finds("bad-file", lib / "libcudnn.so.8")
    w.repairs("reinstall", maps=lib / "libcudnn.so.8", by=lambda: w.again(release, lib))
