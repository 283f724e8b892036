"""The provider is made for CUDA 12; CUDA 13 is installed, and the cuDNN that it needs is missing,
too. The loader names the first of the two."""


def case(w):
    release = w.release("9.12", "9.19")
    w.known.append(release)
    lt12 = w.site / "nvidia/cublas/lib"
    if not w.faulty:
        w.nvidia("cublas", "libcublasLt.so.12")
        w.wheel(release, cuda=12)
    w.nvidia("cu13", "libcublasLt.so.13")
    host = w.host("onnxruntime", release, cuda=12, needs=["libcublasLt.so.12"],
                  search=[lt12, w.site / "nvidia/cudnn/lib"], tag="rpath")
    host.does("create")
    w.says("libcublasLt.so.12: cannot open shared object file", ends=1)
    w.finds("dependency-missing", "libcublasLt.so.12", host.library)
    w.looks_in = w.site / "nvidia/cudnn/lib"
    w.hides("library-not-found")
    w.repairs("install", maps=w.site / "nvidia/cudnn/lib/libcudnn.so.9")
