"""cudnnCreate says NOT_INITIALIZED, since the driver is older than this CUDA needs."""


def case(w):
    release = w.release("8.8", "8.9")
    w.gpu("NVIDIA GeForce RTX 2070", "7.5", driver="470.57.02" if w.faulty else "535.104.05")
    w.create = ("--create-status", "1" if w.faulty else "0")
    lib = w.wheel(release, cuda=12)
    cudart = w.nvidia("cuda_runtime", "libcudart.so.12")
    torch = w.host("torch", release, search=[lib, cudart], tag="rpath", cuda=12,
                   needs=["libcudart.so.12"], refuses="CUDNN_STATUS_NOT_INITIALIZED")
    torch.does("version", "create")

    def newer_driver():
        w.driver("535.104.05")
        w.again(release, lib)

    w.says("CUDNN_STATUS_NOT_INITIALIZED", ends=1)
    w.finds("driver-too-old", "470.57.02", "525.60.13", "libcudart.so.12")
    w.repairs("driver", maps=lib / "libcudnn.so.8", by=newer_driver)
