"""As with other mixed sets, but bound when it is called: the loader ends the process with status
127 and no traceback."""

SYMBOL = "_Z20traceback_iretf_implPKcRKN5cudnn16InternalStatus_tEb"


def case(w):
    older, newer = w.two("8.2", "8.9")
    own = w.wheel(newer, options=["--internal", f"ops_infer={SYMBOL}",
                                  "--imports-lazily", f"cnn_infer={SYMBOL}"])
    system = w.directory(older, only=["ops_infer"])
    torch = w.host("torch", newer, search=[own], tag="rpath", imports=["cudnnCnnInferVersionCheck"])
    torch.does("version", "call:cudnnCnnInferVersionCheck", "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = system
    w.says(f"undefined symbol: {SYMBOL}, version libcudnn_ops_infer.so.8", ends=127)
    w.finds("parts-differ", own, system, older, newer)
    w.repairs("set-variable", maps=own / "libcudnn_ops_infer.so.8")
