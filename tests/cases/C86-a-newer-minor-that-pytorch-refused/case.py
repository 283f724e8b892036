"""PyTorch before 1.0 wanted the very minor that it was compiled with; a newer one is found."""


def case(w):
    built, newer = w.two("7.1", "7.6")
    lib = w.conda(newer if w.faulty else built, build="cuda9.0_0")
    w.known.append(built)
    host = w.host("plain", built, search=[lib], site=lib)
    w.conda_record(lib.parent, f"pytorch-0.4.0-py36_cuda9.0_cudnn{built}_1", [host.library.name])
    host.does("create", f"check:torch-old:{built.number}")
    w.says(f"PyTorch was compiled against {built.number} but linked against {newer.number}", ends=1)
    w.finds("runtime-too-new", lib / "libcudnn.so.7", newer, built)
    w.repairs("install", maps=lib / "libcudnn.so.7")
