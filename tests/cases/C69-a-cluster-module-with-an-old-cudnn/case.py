"""Parts of two sets, the wheel and the module directory of a cluster: cnn_infer imports a function
that the older ops_infer, which stands before it in LD_LIBRARY_PATH, does not have."""

SYMBOL = "_ZN10cask_cudnn2kr8isAmpereEPNS0_5spa_tERKi"


def case(w):
    older, newer = w.two("8.2", "8.9")
    own = w.wheel(newer, options=["--internal", f"ops_infer={SYMBOL}",
                                  "--imports", f"cnn_infer={SYMBOL}"])
    module = w.directory(older, only=["ops_infer"])
    host = w.host("plain", newer, search=[own], tag="rpath", imports=["cudnnCnnInferVersionCheck"])
    host.does("version", "call:cudnnCnnInferVersionCheck", "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = module
    w.says(f"undefined symbol: {SYMBOL}, version libcudnn_ops_infer.so.8", ends="SIGABRT")
    w.finds("facade-and-parts-differ", own, module, older, newer)
    w.repairs("set-variable", maps=own / "libcudnn_ops_infer.so.8")
