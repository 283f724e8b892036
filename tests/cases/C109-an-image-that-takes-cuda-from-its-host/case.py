"""The image expects CUDA and cuDNN from mounts of the host, and this host has another release."""


def case(w):
    release = w.release("8.2", "8.6")
    lib = w.root / "usr/lib/aarch64-linux-gnu"
    w.known.append(release)
    w.looks_in = lib
    if not w.faulty:
        w.directory(release, lib)
    host = w.host("plain", release, search=[lib])
    host.does("create")
    w.says("libcudnn.so.8: cannot open shared object file", ends=1)
    w.finds("library-not-found", "libcudnn.so.8", host.library)
    w.repairs("install", maps=lib / "libcudnn.so.8")
