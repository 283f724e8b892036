"""The wheels for CUDA 11 and 12 put their files into one directory; both are installed."""


def case(w):
    wanted, other = w.two("9.1", "9.9")
    lib = w.wheel(wanted, cuda=12)
    if w.faulty:
        w.wheel(other, cuda=11)
    torch = w.host("torch", wanted, search=[lib], tag="rpath", cuda=12)
    torch.does("version", "create")
    w.says(f"version {other.number}", ends=0)
    w.finds("installation-mixed", "nvidia-cudnn-cu12", "nvidia-cudnn-cu11", wanted, other)
    w.repairs("reinstall", maps=lib / "libcudnn.so.9")
