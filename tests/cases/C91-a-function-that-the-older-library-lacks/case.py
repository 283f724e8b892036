"""PyTorch is built with the header of 7, and the linker takes the 6 that a package has put in front:
what comes out asks for libcudnn.so.6 and calls what came with 7."""

MISSING = "cudnnSetConvolutionGroupCount"


def case(w):
    older, header = w.release("6.0", "6.0"), w.release("7.0", "7.3")
    package, toolkit = w.conda(older), w.toolkit(header)
    torch = w.host("plain", older if w.faulty else header, search=[package, toolkit],
                   imports=[MISSING])
    torch.does("version", "create")
    w.says(f"undefined symbol: {MISSING}", ends=1)
    w.finds("missing-symbols", MISSING, package / "libcudnn.so.6", older, "7.0")
    w.repairs("upgrade-host", maps=toolkit / "libcudnn.so.7")
