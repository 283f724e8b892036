"""The resolver saw metadata without the nvidia wheels: neither cuDNN nor nvrtc is installed."""


def case(w):
    release = w.release("8.5", "8.9")
    w.known.append(release)
    lib = w.site / "nvidia/cudnn/lib"
    if not w.faulty:
        w.wheel(release)
    torch = w.host("torch", release, search=[lib], tag="rpath")
    torch.does("create")
    w.says("libcudnn.so.8: cannot open shared object file", ends=1)
    w.finds("library-not-found", "libcudnn.so.8", f"nvidia-cudnn-cu11=={release.wheel}")
    w.repairs("install", maps=lib / "libcudnn.so.8")
