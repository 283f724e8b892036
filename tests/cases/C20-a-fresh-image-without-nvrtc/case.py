"""A fresh runtime image has no libnvrtc.so; the message names a part of cuDNN that had loaded."""


def case(w):
    release = w.release("8.5", "8.7")
    nvrtc = w.site / "nvidia/cuda_nvrtc/lib"
    lib = w.wheel(release, options=["--probes", "cnn_infer=libnvrtc.so"])
    if not w.faulty:
        w.nvidia("cuda_nvrtc", "libnvrtc.so")
    w.looks_in = nvrtc
    torch = w.host("torch", release, search=[lib], tag="rpath",
                   imports=["cudnnCnnInferVersionCheck"])
    torch.does("version", "create", "call:cudnnCnnInferVersionCheck")
    w.environment["LD_LIBRARY_PATH"] = nvrtc
    w.says("Could not load library libcudnn_cnn_infer.so.8. Error: libnvrtc.so: cannot open shared "
           "object file", ends="SIGABRT")
    w.finds("companion-differs", "libnvrtc.so", lib / "libcudnn_cnn_infer.so.8", release)
    w.repairs("install", maps=nvrtc / "libnvrtc.so")
