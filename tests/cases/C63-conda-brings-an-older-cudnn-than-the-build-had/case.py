"""The conda recipe's dependency resolves to a cuDNN that is older than the one of the build."""


def case(w):
    older, built = w.two("7.3", "7.6")
    lib = w.conda(older if w.faulty else built, build="cuda10.0_0")
    host = w.host("plain", built, search=[lib], site=lib, refuses="Hint: CUDNN_STATUS_BAD_PARAM")
    w.conda_record(lib.parent, f"paddlepaddle-gpu-1.7.1-py37_cuda10.0_cudnn{built}",
                   [host.library.name])
    host.does(f"check:paddle:{built.number}")
    w.says(f"is compiled with CUDNN 7.{built.minor}, but CUDNN version in your machine is")
    w.finds("runtime-too-old", lib / "libcudnn.so.7", older, built)
    w.repairs("install", maps=lib / "libcudnn.so.7")
