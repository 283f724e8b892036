"""conda's environment has cuDNN in lib, pip brought another one into site-packages: PyTorch of
pip, with conda's lib first in LD_LIBRARY_PATH, gets conda's."""


def case(w):
    older, built = w.two("8.5", "8.9")
    conda = w.conda(older, prefix=w.venv)
    wheel = w.wheel(built)
    torch = w.host("torch", built, search=[wheel])
    torch.does(torch.checks, "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = conda
    w.says(f"PyTorch was compiled  against {built.tuple} but found runtime version {older.tuple}")
    w.finds("runtime-too-old", conda / "libcudnn.so.8", older, built.wheel)
    w.repairs("set-variable", maps=wheel / "libcudnn.so.8")
