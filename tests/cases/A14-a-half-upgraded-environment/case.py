"""An upgrade was interrupted: the facade is the new release's, the parts are the old one's."""


def case(w):
    old, new = w.two("9.1", "9.20")
    lib = w.wheel(new)
    if w.faulty:
        w.directory(old, lib, without=["facade"])
    torch = w.host("torch", new, search=[lib], tag="rpath")
    torch.does("version", "create")
    w.says(f"version {old.number}")
    w.finds("facade-and-parts-differ", lib, f"nvidia-cudnn-cu{w.cuda(new)}", new, old)
    w.repairs("reinstall", maps=lib / "libcudnn_graph.so.9")
