"""cuDNN is there; a library that its part needs is not, and the message names cuDNN's part
first."""


def case(w):
    release = w.release("8.5", "8.7")
    needs = ["--needs", "ops_infer=libcublas.so.11"]
    cublas = w.site / "nvidia/cublas/lib"
    lib = w.wheel(release, options=needs)
    if not w.faulty:
        w.nvidia("cublas", "libcublas.so.11")
    w.looks_in = cublas
    torch = w.host("torch", release, search=[lib], tag="rpath")
    torch.does("version", "create")
    w.environment["LD_LIBRARY_PATH"] = cublas
    w.says("Could not load library libcudnn_ops_infer.so.8. Error: libcublas.so.11: cannot open",
           ends="SIGABRT")
    w.finds("dependency-missing", "libcublas.so.11", lib / "libcudnn.so.8", release)
    w.repairs("install", maps=cublas / "libcublas.so.11")
