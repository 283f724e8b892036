"""PyTorch was built with 7 and calls what came with it; a package put a 6 in front."""

MISSING = "cudnnSetConvolutionGroupCount"


def case(w):
    older, built = w.release("6.0", "6.0"), w.release("7.0", "7.3")
    lib = w.directory(older if w.faulty else built)
    w.known.append(built)
    torch = w.host("plain", older if w.faulty else built, search=[lib], imports=[MISSING])
    torch.does("create")
    w.says(f"undefined symbol: {MISSING}", ends=1)
    w.finds("missing-symbols", MISSING, lib / "libcudnn.so.6", "7.0")
    w.repairs("install", maps=None)
