"""The same command works in one terminal; in the other, LD_LIBRARY_PATH leads to a system's
cuDNN."""


def case(w):
    older, built = w.two("8.1", "8.9")
    own, system = w.wheel(built), w.directory(older)
    torch = w.host("torch", built, search=[own], refuses="RuntimeError: GET was unable to find an "
                   "engine to execute this computation", imports=["cudnnCnnInferVersionCheck"])
    torch.does("version", "call:cudnnCnnInferVersionCheck", "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = system
    w.says(f"version {older.number}")
    w.finds("runtime-too-old", system / "libcudnn.so.8", older, built.wheel)
    w.repairs("set-variable", maps=own / "libcudnn.so.8")
