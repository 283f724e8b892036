"""An update of another package pulled a release with a documented defect."""


def case(w):
    bad, good = w.real("nvidia-cudnn-cu12==9.10.0.56"), w.real("nvidia-cudnn-cu12==9.10.2.21")
    w.needs_gpu = True
    lib = w.wheel(bad if w.faulty else good)
    w.known.append(good)
    jax = w.host("jax", w.release("9.8", "9.8"), search=[lib], cuda=12)
    jax.does("version")
    w.says("version 91000", ends=0)
    w.finds("known-bad-release", lib / "libcudnn.so.9", bad)
    w.repairs("install", maps=lib / "libcudnn.so.9")
