"""An application brings its own cuDNN, but not all of its parts: the engines come from the
system's."""


def case(w):
    own, system = w.two("9.12", "9.20")
    w.whole = own
    bundle = w.directory(own, without=["engines_precompiled"] if w.faulty else [])
    w.cache = [w.toolkit(system)]
    host = w.host("plain", own, search=[bundle], imports=["cudnnBackendFinalize"],
                  refuses="CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH")
    host.does("create", "call:cudnnBackendFinalize")
    w.says("CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH", ends=1)
    w.finds("parts-differ", bundle, w.cache[0], own, system)
    w.repairs("reinstall", maps=bundle / "libcudnn_engines_precompiled.so.9")
