"""The file is for another processor: the loader passes over it and says that there is none."""


def case(w):
    release = w.release("7.2", "7.6")
    lib = w.directory(release)
    w.whole = release
    if w.faulty:
        w.broken(lib / "libcudnn.so.7", "other-machine")
    host = w.host("plain", release, search=[lib])
    host.does("create")
    w.says("libcudnn.so.7: cannot open shared object file", ends=1)
    w.finds("bad-file", lib / "libcudnn.so.7", "aarch64")
    w.repairs("install", maps=lib / "libcudnn.so.7", by=lambda: w.again(release, lib))
