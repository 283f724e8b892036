"""TensorFlow asks for libcudnn.so; runtime images have the numbered name alone. What is reported
is a symbol, and the blame is put on TensorFlow's own library."""


def case(w):
    release = w.release("5.1", "5.1")
    image = w.directory(release)
    w.cache = [image]
    if not w.faulty:
        (image / "libcudnn.so").symlink_to("libcudnn.so.5")
    tensorflow = w.host("tensorflow-old", release, linked=False)
    tensorflow.does("try:libcudnn.so", "create")
    w.says("could not find cudnnCreate in cudnn DSO; dlerror:", ends=1)
    w.finds("wrong-name", "libcudnn.so", image / "libcudnn.so.5", release)
    w.repairs("reinstall", maps=image / "libcudnn.so.5")
