"""Caffe2 of conda's PyTorch package was compiled with a newer cuDNN than the one that is found."""


def case(w):
    older, built = w.two("7.0", "7.4")
    lib = w.conda(older if w.faulty else built, build="cuda9.0_0")
    w.known.append(built)
    host = w.host("plain", built, search=[lib], site=lib)
    w.conda_record(lib.parent, f"pytorch-0.4.1-py36_cuda9.0_cudnn{built}_1", [host.library.name])
    host.does("create", f"check:caffe2:{built.number}")
    w.says(f"cuDNN compiled ({built.number}) and runtime ({older.number}) versions mismatch",
           ends=1)
    w.finds("runtime-too-old", lib / "libcudnn.so.7", older, built)
    w.repairs("install", maps=lib / "libcudnn.so.7")
