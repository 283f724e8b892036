"""LD_LIBRARY_PATH, kept by the launcher, leads to the cuDNN of an old toolkit."""


def case(w):
    older, built = w.two("8.2", "8.9")
    own, toolkit = w.wheel(built), w.toolkit(older)
    torch = w.host("torch", built, search=[own])
    torch.does(torch.checks, "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = f"{w.root}/nothing:{toolkit}"
    w.says(f"PyTorch was compiled  against {built.tuple} but found runtime version {older.tuple}")
    w.finds("runtime-too-old", toolkit / "libcudnn.so.8", older, built.wheel, "LD_LIBRARY_PATH")
    w.repairs("set-variable", maps=own / "libcudnn.so.8")
