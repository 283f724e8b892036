"""A directory in LD_LIBRARY_PATH holds an older cuDNN; the wheel's libraries have DT_RUNPATH,
which comes after it."""


def case(w):
    older, built = w.two("8.0", "8.9")
    own = w.directory(built, w.site / "torch/lib")
    module = w.directory(older)
    torch = w.host("torch", built, search=[own], requires=[])
    torch.does(torch.checks, "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = module
    w.says(f"PyTorch was compiled  against {built.tuple} but found runtime version {older.tuple}")
    w.finds("runtime-too-old", module / "libcudnn.so.8", older, "LD_LIBRARY_PATH")
    w.repairs("set-variable", maps=own / "libcudnn.so.8")
