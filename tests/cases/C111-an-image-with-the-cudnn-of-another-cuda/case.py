"""A wrong package slipped into the image: its cuDNN is for CUDA 8, the image's CUDA is 7.5."""


def case(w):
    release = w.release("5.1", "5.1")
    cuda = w.companion("libcudart.so.7.5", w.root / "usr/local/cuda-7.5/lib64").parent
    needs = ["--needs", "libcublas.so.8.0"] if w.faulty else []
    lib = w.directory(release, options=needs)
    host = w.host("plain", release, search=[lib, cuda], linked=False, needs=["libcudart.so.7.5"])
    host.does("open:libcudnn.so.5:libcudnn initialization failure", "create")
    w.looks_in = lib
    w.says("libcudnn initialization failure", ends=1)
    w.finds("dependency-missing", "libcublas.so.8.0", lib / "libcudnn.so.5")
    w.repairs("install", maps=lib / "libcudnn.so.5", by=lambda: w.again(release, lib))
