"""W3 on real files: graph of one release, ops of another; only the check of ops tells."""


def case(w):
    first, second = w.real("nvidia-cudnn-cu13==9.19.0.56"), w.real("nvidia-cudnn-cu13==9.20.0.48")
    w.needs_gpu, w.whole = True, first
    lib = w.directory(first, only=["facade", "graph", "ops"])
    if w.faulty:
        w.directory(second, lib, only=["ops"])
    host = w.host("plain", first, search=[lib], linked=False)
    host.does(f"open:{lib}/libcudnn.so.9", "version", "call:cudnnOpsVersionCheck")
    w.says("cudnnOpsVersionCheck 1002")
    w.finds("parts-differ", lib, first, second)
    w.repairs("reinstall", maps=lib / "libcudnn_ops.so.9", by=lambda: w.directory(
        first, lib, only=["facade", "graph", "ops"]))
