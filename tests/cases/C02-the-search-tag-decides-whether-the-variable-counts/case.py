"""With DT_RPATH the wheel's own cuDNN wins over LD_LIBRARY_PATH, with DT_RUNPATH the toolkit's
does."""


def case(w):
    built, other = w.two("7.1", "7.6")
    own, toolkit = w.directory(built, w.site / "torch/lib"), w.toolkit(other, cuda=10)
    torch = w.host("torch", built, search=[own], requires=[],
                   tag="runpath" if w.faulty else "rpath")
    torch.does("version", "create")
    w.environment["LD_LIBRARY_PATH"] = toolkit
    w.says(f"version {other.number}", ends=0)
    w.finds("shadowed-copy", toolkit / "libcudnn.so.7", own / "libcudnn.so.7", other, built)
    w.repairs("set-variable", maps=own / "libcudnn.so.7")
