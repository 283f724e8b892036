"""Two frameworks share NVIDIA's wheel; installing the second one put an older release into it."""


def case(w):
    older, built = w.two("8.5", "8.9")
    lib = w.wheel(older if w.faulty else built)
    w.known.append(built)
    package = f"nvidia-cudnn-cu11=={built.wheel}"
    tensorflow = w.host("tensorflow", built, search=[lib], linked=False, requires=[package])
    tensorflow.does("open:libcudnn.so.8", "create", tensorflow.checks)
    w.says(f"Loaded runtime CuDNN library: {older} but source was compiled with: {built}", ends=1)
    w.finds("runtime-too-old", lib / "libcudnn.so.8", older, package)
    w.repairs("install", maps=lib / "libcudnn.so.8")
