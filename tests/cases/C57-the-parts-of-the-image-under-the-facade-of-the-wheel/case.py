"""The image has cuDNN 8.8 in LD_LIBRARY_PATH, the wheel of PyTorch a newer one; only what is
rarely used meets the difference."""


def case(w):
    image, own = w.two("8.6", "8.9")
    wheel, system = w.wheel(own), w.directory(image)
    torch = w.host("torch", own, search=[wheel], tag="rpath",
                   imports=["cudnnCnnInferVersionCheck", "cudnnOpsTrainVersionCheck"])
    torch.does("version", "create", "call:cudnnCnnInferVersionCheck")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = system
    w.says(f"version {image.number}")
    w.finds("facade-and-parts-differ", wheel, system, own, image)
    w.repairs("set-variable", maps=wheel / "libcudnn_cnn_infer.so.8")
