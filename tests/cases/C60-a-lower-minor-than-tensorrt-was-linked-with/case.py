"""TensorRT warns of a lower minor than it was linked with, and goes on; its owner says which."""


def case(w):
    older, built = w.two("8.0", "8.9")
    lib = w.directory(older if w.faulty else built)
    w.known.append(built)
    tensorrt = w.host("plain", built, search=[lib])
    tensorrt.does("create", f"check:tensorrt:{built.number}")
    w.environment["WHICHCUDNN_EXPECT"] = f">=8.{built.minor},<9"
    w.says(f"[TRT] TensorRT was linked against cuDNN {built} but loaded cuDNN {older}")
    w.finds("expectation-not-met", lib / "libcudnn.so.8", older, f">=8.{built.minor},<9")
    w.repairs("install", maps=lib / "libcudnn.so.8")
