"""Everything fits and works; what fails is the application, after its last call of cuDNN."""


def case(w):
    release = w.release("9.12", "9.20")
    lib = w.wheel(release)
    torch = w.host("torch", release, search=[lib], tag="rpath")
    torch.does(torch.checks, "create", "version", "open:libmydata.so:FileNotFoundError: {error}")
    w.says("FileNotFoundError: libmydata.so", ends=1)
    w.finds(None)
