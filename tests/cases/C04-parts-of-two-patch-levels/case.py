"""The facade is the wheel's, its parts are the toolkit's in LD_LIBRARY_PATH, which the facade's
RUNPATH comes after. Whether and where that crashes is luck; nothing names cuDNN."""


def case(w):
    own, other = w.two("8.5", "8.9")
    wheel, toolkit = w.wheel(own), w.toolkit(other)
    torch = w.host("torch", own, search=[wheel], tag="rpath")
    torch.does("version", "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = toolkit
    w.says(f"version {other.number}")
    w.finds("facade-and-parts-differ", wheel, toolkit, own, other, "LD_LIBRARY_PATH")
    w.repairs("set-variable", maps=wheel / "libcudnn_ops_infer.so.8")
