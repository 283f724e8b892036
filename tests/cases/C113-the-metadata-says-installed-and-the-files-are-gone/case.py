"""A killed pip left the wheel's dist-info without its files; pip says that it is installed."""


def case(w):
    release = w.release("9.12", "9.20")
    lib = w.wheel(release)
    if w.faulty:
        for path in lib.glob("libcudnn*"):
            path.unlink()
    torch = w.host("torch", release, search=[lib], tag="rpath")
    torch.does("create")
    w.says("libcudnn.so.9: cannot open shared object file", ends=1)
    w.finds("installation-incomplete", "libcudnn.so.9", f"nvidia-cudnn-cu{w.cuda(release)}",
            release)
    w.repairs("reinstall", maps=lib / "libcudnn.so.9")
