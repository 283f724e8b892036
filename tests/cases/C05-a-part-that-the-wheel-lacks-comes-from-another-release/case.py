"""The wheel omits an engine part, cuDNN asks for it by its bare name, and the loader goes on to a
system copy of another release."""


def case(w):
    wheel, system = w.release("9.12", "9.20"), w.release("9.23", "9.28")
    lib = w.wheel(wheel, without=["engines_precompiled"] if w.faulty else [])
    elsewhere = w.toolkit(system)
    torch = w.host("torch", wheel, search=[lib], imports=["cudnnBackendFinalize"],
                   refuses="cudnnFinalize failed ... CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH")
    torch.does(torch.checks, "call:cudnnBackendFinalize")
    w.cache = [elsewhere]
    w.says("CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH", ends=1)
    w.finds("parts-differ", elsewhere, system, wheel, lib)
    w.repairs("reinstall", maps=lib / "libcudnn_engines_precompiled.so.9")
