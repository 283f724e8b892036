"""The newest package of cuDNN 8 is for CUDA 12 and wants its cuBLAS; the computer has CUDA 11."""


def case(w):
    release = w.release("8.8", "8.9")
    other = [] if w.faulty else ["--needs", "ops_infer=libcublasLt.so.11"]
    options = ["--needs", "ops_infer=libcublasLt.so.12"] if w.faulty else other
    lib = w.wheel(release, cuda=11, options=options)
    cuda = w.companion("libcublasLt.so.11", w.root / "usr/local/cuda-11.8/lib64").parent
    w.companion("libcudart.so.11.0", cuda)
    host = w.host("tensorflow", release, search=[lib, cuda], linked=False)
    host.does("open:libcudnn.so.8", "version", "create")
    w.environment["LD_LIBRARY_PATH"] = cuda
    w.says("libcublasLt.so.12: cannot open shared object file", ends="SIGABRT")
    w.finds("dependency-missing", "libcublasLt.so.12", lib / "libcudnn.so.8", release)
    w.repairs("reinstall", maps=lib / "libcudnn_ops_infer.so.8")
