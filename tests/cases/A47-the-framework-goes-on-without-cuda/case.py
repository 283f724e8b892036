"""TensorFlow looks for CUDA's runtime library first. Where that is not found it never asks for
cuDNN, says one line and goes on with the CPU."""

STUBS = "int cudnnCreate(void **h) { *h = 0; return 1; }\n" \
        "long cudnnGetVersion(void) { return 0; }\n"


def case(w):
    release = w.release("8.6", "8.9")
    cudart = w.site / "nvidia/cuda_runtime/lib"
    lib = w.wheel(release, cuda=12)
    host = w.host("tensorflow", release, search=[lib, cudart], linked=False,
                  binding=["-w", w.source("stubs.c", STUBS)])
    if w.faulty:
        host.does("try:libcudart.so.12")
    else:
        w.nvidia("cuda_runtime", "libcudart.so.12")
        host.does("open:libcudart.so.12", "open:libcudnn.so.8", "create")
    w.says("done", ends=0)
    w.finds("gpu-stack-not-reached", "libcudart.so.12", host.library)
    w.repairs("install", maps=cudart / "libcudart.so.12")
