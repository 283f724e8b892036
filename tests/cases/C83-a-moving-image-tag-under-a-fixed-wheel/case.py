"""The image's tag moved to a newer minor; TensorFlow before 1.6 wants the very same."""


def case(w):
    built, newer = w.two("7.0", "7.6")
    image = w.directory(newer if w.faulty else built)
    w.cache = [image]
    tensorflow = w.host("tensorflow-old", built, linked=False)
    tensorflow.does("open:libcudnn.so.7", "create", tensorflow.checks)
    w.says(f"Loaded runtime CuDNN library: {newer.number} (compatibility version 7{newer.minor}00) "
           f"but source was compiled with {built.number} (compatibility version 7{built.minor}00)",
           ends=1)
    w.finds("runtime-too-new", image / "libcudnn.so.7", newer.number, built.number)
    w.repairs("install", maps=image / "libcudnn.so.7")
