"""Another tool is preloaded, too, and needs a libcudart that the search has not: no program
starts."""


def case(w):
    release = w.release("9.1", "9.9")
    lib = w.wheel(release)
    cudart = w.nvidia("cuda_runtime", "libcudart.so.12")
    hook = w.needing("libmemoryhook.so", ["libcudart.so.12"])
    torch = w.host("torch", release, search=[lib], tag="rpath")
    torch.does("version", "create")
    w.preload = hook
    w.environment["LD_LIBRARY_PATH"] = w.root if w.faulty else cudart
    w.says("error while loading shared libraries: libcudart.so.12: cannot open", ends=127)
    w.finds(None)
