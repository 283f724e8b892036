"""A toolkit whose cuBLASLt lacks a function stands in LD_LIBRARY_PATH, before the wheel's own."""


def case(w):
    release = w.release("9.1", "9.11")
    own = w.nvidia("cublas", "libcublasLt.so.12", ["cublasLtCreate"])
    toolkit = w.companion("libcublasLt.so.12", w.root / "usr/local/cuda-12.4/lib64").parent
    lib = w.wheel(release, options=["--asks", "libcublasLt.so.12:cublasLtCreate"])
    torch = w.host("torch", release, search=[lib, own], tag="runpath")
    torch.does("version", "open:libcublasLt.so.12", "try:libcudnn.so.9", "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = toolkit
    w.says("Invalid handle. Cannot load symbol cublasLtCreate", ends="SIGABRT")
    w.finds("companion-differs", toolkit / "libcublasLt.so.12", lib)
    w.repairs("set-variable", maps=own / "libcublasLt.so.12")
