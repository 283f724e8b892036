"""Somebody slimmed the image: a part of the wheel is gone, and its list of files still has it."""


def case(w):
    release = w.release("9.1", "9.9")
    lib = w.wheel(release)
    if w.faulty:
        (lib / "libcudnn_graph.so.9").unlink()
    torch = w.host("torch", release, search=[lib], tag="rpath")
    torch.does("version", "create")
    w.says(f"Unable to load any of {{libcudnn_graph.so.{release}", ends="SIGABRT")
    w.finds("installation-incomplete", "libcudnn_graph.so.9", f"nvidia-cudnn-cu{w.cuda(release)}")
    w.repairs("reinstall", maps=lib / "libcudnn_graph.so.9")
