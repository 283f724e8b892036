"""The image has cuDNN in a directory that the loader knows; pip brought a TensorFlow built with a
newer minor."""


def case(w):
    older, built = w.two("8.0", "8.6")
    image = w.directory(older if w.faulty else built)
    w.cache = [image]
    tensorflow = w.host("tensorflow", built, linked=False)
    tensorflow.does("open:libcudnn.so.8", "create", tensorflow.checks)
    w.says(f"Loaded runtime CuDNN library: {older} but source was compiled with: {built}", ends=1)
    w.finds("runtime-too-old", image / "libcudnn.so.8", older, built)
    w.repairs("install", maps=image / "libcudnn.so.8")
