"""The newest package of cuDNN 8 is for CUDA 12 and wants its cuBLAS; the computer has CUDA 11."""


def case(w):
    release = w.release("8.8", "8.9")
    cudart = w.nvidia("cuda_runtime", "libcudart.so.11.0")
    needs = ["--needs", "ops_infer=libcublasLt.so.12"] if w.faulty else []
    lib = w.wheel(release, cuda=12 if w.faulty else 11, options=needs)
    host = w.host("tensorflow", release, search=[lib, cudart], tag="rpath", linked=False, cuda=11,
                  needs=["libcudart.so.11.0"])
    host.does("open:libcudnn.so.8", "version", "create")
    w.says("libcublasLt.so.12: cannot open shared object file", ends="SIGABRT")
    w.finds("cuda-major-differs", "libcublasLt.so.12", lib / "libcudnn.so.8", "libcudart.so.11.0")
    w.repairs("install", maps=lib / "libcudnn_ops_infer.so.8")
