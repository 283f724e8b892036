"""An image of CUDA with cuDNN 8 sets LD_LIBRARY_PATH to its own; the wheel's parts are never
reached."""


def case(w):
    image, own = w.two("8.6", "8.9")
    wheel, system = w.wheel(own), w.toolkit(image)
    torch = w.host("torch", own, search=[wheel], tag="rpath")
    torch.does("version", "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = f"{w.root}/usr/local/nvidia/lib64:{system}"
    w.says(f"version {image.number}")
    w.finds("facade-and-parts-differ", wheel, system, own, image)
    w.repairs("set-variable", maps=wheel / "libcudnn_ops_infer.so.8")
