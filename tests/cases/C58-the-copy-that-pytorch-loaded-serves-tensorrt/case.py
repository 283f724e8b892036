"""PyTorch's own cuDNN came first and satisfies the SONAME; TensorRT was linked against a newer
one, which is installed, and never looked for."""


def case(w):
    older, built = w.two("8.5", "8.9")
    bundled = w.directory(older, w.site / "torch/lib")
    system = w.directory(built)
    torch = w.host("torch", older, search=[bundled], tag="rpath", requires=[])
    torch.does("version")
    tensorrt = w.host("plain", built, search=[system])
    tensorrt.does(f"check:tensorrt:{built.number}", "create")
    if not w.faulty:
        w.hosts.remove(torch)
    w.says(f"[TRT] TensorRT was linked against cuDNN {built} but loaded cuDNN {older}")
    w.finds("already-loaded-by-soname", bundled / "libcudnn.so.8", system)
    w.repairs("load-order", maps=system / "libcudnn.so.8")
