"""The repository keeps the library in Git LFS; the clone has the pointer's text."""


def case(w):
    release = w.release("8.1", "8.9")
    lib = w.directory(release)
    w.whole = release
    if w.faulty:
        w.broken(lib / "libcudnn.so.8", "pointer")
    host = w.host("plain", release, search=[lib])
    host.does("create")
    w.says("libcudnn.so.8: invalid ELF header", ends=1)
    w.finds("bad-file", lib / "libcudnn.so.8")
    w.repairs("reinstall", maps=lib / "libcudnn.so.8", by=lambda: w.again(release, lib))
