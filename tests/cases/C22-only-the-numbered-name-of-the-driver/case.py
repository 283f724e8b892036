"""Under WSL the driver's libraries are copies, not links: the loader's cache has them by their SONAME
libcuda.so.1 alone, and libcuda.so is asked for."""


def case(w):
    release = w.release("8.5", "8.9")
    wsl = w.root / "usr/lib/wsl/lib"
    numbered = w.companion("libcuda.so.1", wsl)
    w.put(numbered, wsl / "libcuda.so")
    w.cache = [wsl]
    if not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = wsl
    host = w.host("plain", release, search=[w.directory(release)], linked=False)
    host.does("open:libcuda.so", "open:libcudnn.so.8", "create")
    w.says("libcuda.so: cannot open shared object file", ends=1)
    w.finds("wrong-name", "libcuda.so", numbered)
    w.repairs("set-variable", maps=wsl / "libcuda.so")
