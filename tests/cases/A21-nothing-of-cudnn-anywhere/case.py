"""There is no cuDNN on the computer, and the host says which it wants."""


def case(w):
    release = w.release("9.12", "9.20")
    w.known.append(release)
    lib = w.site / "nvidia/cudnn/lib"
    if not w.faulty:
        w.wheel(release)
    host = w.host("torch", release, search=[lib], tag="rpath", linked=False)
    host.does("open:libcudnn.so.9", "create")
    w.says("libcudnn.so.9: cannot open shared object file", ends=1)
    w.finds("library-not-found", "libcudnn.so.9", release.wheel)
    w.repairs("install", maps=lib / "libcudnn.so.9")
