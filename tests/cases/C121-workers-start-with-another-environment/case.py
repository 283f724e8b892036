"""The worker's LD_LIBRARY_PATH is an old one, in which there is no cuDNN."""


def case(w):
    release = w.release("8.1", "8.9")
    lib, old = w.toolkit(release), w.companion("libcufft.so.11", w.root / "old/lib64").parent
    w.environment["CUDA_HOME"] = lib.parent
    w.has_it = lib
    host = w.host("plain", release, linked=False)
    host.does("open:libcudnn.so.8:Could not load dynamic library '{name}'; dlerror: {error}",
              "create")
    w.environment["LD_LIBRARY_PATH"] = old if w.faulty else f"{old}:{lib}"
    w.says("Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot", ends=1)
    w.finds("library-not-found", "libcudnn.so.8", f"LD_LIBRARY_PATH: {old}")
    w.repairs("set-variable", maps=lib / "libcudnn.so.8")
