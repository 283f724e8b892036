"""PaddlePaddle wants the system's cuDNN and gets the older one that PyTorch has loaded."""


def case(w):
    older, built = w.two("7.1", "7.6")
    bundled, system = w.directory(older, w.site / "torch/lib"), w.directory(built)
    torch = w.host("torch", older, search=[bundled], tag="rpath", requires=[])
    torch.does("version")
    paddle = w.host("paddle", built, search=[system])
    paddle.does("create", paddle.checks)
    if not w.faulty:
        w.hosts.remove(torch)
    w.says(f"compiled with CUDNN 7.{built.minor}, but CUDNN version in your machine is "
           f"7.{older.minor}")
    w.finds("runtime-too-old", bundled / "libcudnn.so.7", older, built, paddle.library)
    w.repairs("load-order", maps=system / "libcudnn.so.7")
