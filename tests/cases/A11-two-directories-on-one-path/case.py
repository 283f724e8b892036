"""Both wheel and module are found by LD_LIBRARY_PATH; facade and parts come from two of its
directories, since the first has not all parts."""


def case(w):
    own, module = w.two("9.1", "9.20")
    first = w.directory(own, without=["ops"] if w.faulty else [])
    second = w.directory(module)
    host = w.host("plain", own, imports=["cudnnOpsVersionCheck"])
    host.does("version", "create", "call:cudnnOpsVersionCheck")
    w.environment["LD_LIBRARY_PATH"] = f"{first}:{second}"
    w.says(f"version {own.number}")
    w.finds("parts-differ", first, second, own, module)
    w.whole = own
    w.repairs("reinstall", maps=first / "libcudnn_ops.so.9")
