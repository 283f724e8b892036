"""Under WSL the loader knows libcuda.so.1 alone, and libcuda.so is asked for."""


def case(w):
    release = w.release("8.5", "8.9")
    wsl = w.root / "usr/lib/wsl/lib"
    w.companion("libcuda.so.1", wsl)
    if not w.faulty:
        (wsl / "libcuda.so").symlink_to("libcuda.so.1")
    lib = w.directory(release)
    host = w.host("plain", release, search=[lib, wsl], linked=False)
    host.does("open:libcuda.so", "open:libcudnn.so.8", "create")
    w.says("libcuda.so: cannot open shared object file", ends=1)
    w.finds("wrong-name", "libcuda.so", wsl / "libcuda.so.1")
    w.repairs("reinstall", maps=wsl / "libcuda.so.1")
