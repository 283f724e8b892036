"""cuDNN asks for cuBLASLt, which is nowhere in its search; the message has no path."""


def case(w):
    release = w.release("9.1", "9.11")
    own = w.nvidia("cublas", "libcublasLt.so.12", ["cublasLtCreate"])
    lib = w.wheel(release, options=["--asks", "libcublasLt.so.12:cublasLtCreate"])
    host = w.host("ctranslate2", release, search=[lib], tag="rpath")
    host.does("version", "create")
    if not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = own
    w.has_it = own
    w.says("Invalid handle. Cannot load symbol cublasLtCreate", ends="SIGABRT")
    w.finds("companion-differs", "libcublasLt.so.12", lib / "libcudnn.so.9")
    w.repairs("set-variable", maps=own / "libcublasLt.so.12")
