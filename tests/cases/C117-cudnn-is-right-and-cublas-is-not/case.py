"""cuDNN is the wheel's own, cuBLAS comes from a toolkit in LD_LIBRARY_PATH; looking at cuDNN alone
gives a clean bill."""


def case(w):
    release = w.release("9.1", "9.11")
    own = w.nvidia("cublas", "libcublas.so.12")
    toolkit = w.companion("libcublas.so.12", w.root / "usr/local/cuda-12.1/lib64").parent
    lib = w.wheel(release)
    torch = w.host("torch", release, search=[lib, own], needs=["libcublas.so.12"])
    torch.does("version", "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = toolkit
    w.says(f"version {release.number}", ends=0)
    w.finds("companion-differs", toolkit / "libcublas.so.12", lib)
    w.repairs("set-variable", maps=own / "libcublas.so.12")
