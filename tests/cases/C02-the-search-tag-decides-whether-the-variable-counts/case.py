"""With DT_RPATH the wheel's own cuDNN wins over LD_LIBRARY_PATH, with DT_RUNPATH the toolkit's does."""


def case(w):
    built, other = w.two("8.2", "8.9")
    own, toolkit = w.wheel(built), w.toolkit(other)
    torch = w.host("torch", built, search=[own], tag="runpath" if w.faulty else "rpath", requires=[
        f"nvidia-cudnn-cu11=={built.wheel}"])
    torch.does("version", "create")
    w.environment["LD_LIBRARY_PATH"] = toolkit
    w.says(f"version {other.number}", ends=0)
    w.finds("shadowed-copy", toolkit / "libcudnn.so.8", own / "libcudnn.so.8", other, built)
    w.repairs("set-variable", maps=own / "libcudnn.so.8")
