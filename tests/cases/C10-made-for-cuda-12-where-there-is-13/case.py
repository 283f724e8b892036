"""The package carries cuDNN for CUDA 12, the system has CUDA 13 alone: the look for cuBLASLt 12
finds nothing, and the message names a function."""


def case(w):
    release = w.release("9.12", "9.20")
    old = ["--asks", "libcublasLt.so.12:cublasLtGetVersion"] if w.faulty else []
    cudart = w.nvidia("cu13", "libcudart.so.13")
    lib = w.wheel(release, cuda=12 if w.faulty else 13, options=old)
    host = w.host("onnxruntime", release, search=[lib, cudart], tag="rpath", cuda=13,
                  needs=["libcudart.so.13"])
    host.does("version", "create")
    w.says("Invalid handle. Cannot load symbol cublasLtGetVersion", ends="SIGABRT")
    w.finds("cuda-major-differs", lib / "libcudnn.so.9", "libcublasLt.so.12", "libcudart.so.13")
    w.repairs("install", maps=lib / "libcudnn.so.9")
