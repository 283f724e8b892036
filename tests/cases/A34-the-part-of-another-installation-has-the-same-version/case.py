"""The wheel lacks a part, and a toolkit has it in the very same release: all works by luck, until
somebody upgrades one of the two."""


def case(w):
    release = w.release("9.12", "9.20")
    lib = w.wheel(release, without=["engines_precompiled"] if w.faulty else [])
    w.cache = [w.toolkit(release)]
    torch = w.host("torch", release, search=[lib], tag="rpath", imports=["cudnnBackendFinalize"])
    torch.does("version", "create", "call:cudnnBackendFinalize")
    w.says("done", ends=0)
    w.finds("part-from-other-installation", lib, w.cache[0])
    w.repairs("reinstall", maps=lib / "libcudnn_engines_precompiled.so.9")
