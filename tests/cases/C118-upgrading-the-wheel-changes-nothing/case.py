"""PyTorch's own copy in torch/lib is found first: the wheel beside it was upgraded without
effect."""


def case(w):
    own, upgraded = w.two("8.5", "8.9")
    bundled = w.site / "torch/lib"
    if w.faulty:
        w.directory(own, bundled)
    wheel = w.wheel(upgraded) if w.faulty else w.wheel(own)
    torch = w.host("torch", own, search=[bundled, wheel], tag="rpath", requires=[])
    torch.does("version", "create")
    w.says(f"version {own.number}", ends=0)
    w.finds("shadowed-copy" if w.faulty else None, bundled, wheel, upgraded, own)
    w.repairs("remove", maps=wheel / "libcudnn.so.8")
