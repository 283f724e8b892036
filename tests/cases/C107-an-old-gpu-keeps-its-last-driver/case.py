"""The last driver for the GPU is too old for the CUDA that PyTorch brings: an older build of
PyTorch works."""


def case(w):
    newer, older = w.release("8.9", "8.9"), w.release("8.5", "8.7")
    w.gpu("Tesla K80", "3.7", driver="470.256.02")
    w.create = ("--create-status", "1" if w.faulty else "0")
    cuda = 12 if w.faulty else 11
    lib = w.wheel(newer if w.faulty else older, cuda=cuda)
    cudart = "libcudart.so.12" if w.faulty else "libcudart.so.11.0"
    torch = w.host("torch", newer if w.faulty else older, tag="rpath", cuda=cuda, needs=[cudart],
                   search=[lib, w.nvidia("cuda_runtime", cudart)],
                   refuses="CUDNN_STATUS_NOT_INITIALIZED")
    torch.does("version", "create")

    def older_build():
        torch.cuda, w.create = 11, ("--create-status", "0")
        for info in w.site.glob("nvidia_cudnn*"):
            info.rename(w.scratch / info.name)
        w.wheel(older, cuda=11)
        torch.options["needs"] = ["libcudart.so.11.0"]
        w.nvidia("cuda_runtime", "libcudart.so.11.0")
        torch.rebuild(older)

    w.says("CUDNN_STATUS_NOT_INITIALIZED", ends=1)
    w.finds("driver-too-old", "470.256.02", "525.60.13")
    w.repairs("driver", maps=lib / "libcudnn.so.8", by=older_build)
