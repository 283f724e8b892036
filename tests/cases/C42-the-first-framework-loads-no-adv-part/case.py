"""Importing torch first brings libcudnn.so.9 into the process, but not the part that the second
framework's library needs by DT_NEEDED."""


def case(w):
    release = w.release("9.1", "9.9")
    lib = w.wheel(release)
    w.has_it = lib
    torch = w.host("torch", release, search=[lib], tag="rpath")
    torch.does("version")
    needs = ["libcudnn_adv.so.9"]
    second = w.host("onnxruntime", release, needs=needs, search=[] if w.faulty else [lib])
    second.does("create")
    w.says("libcudnn_adv.so.9: cannot open shared object file", ends=1)
    w.finds("dependency-missing", "libcudnn_adv.so.9", lib)
    w.repairs("set-variable", maps=lib / "libcudnn_adv.so.9")
