"""A redistribution's list of files is older than a part of cuDNN, which is nowhere then."""


def case(w):
    release = w.release("9.1", "9.13")
    bundle = w.directory(release, without=["graph"] if w.faulty else [])
    w.whole = release
    host = w.host("onnxruntime", release, search=[bundle])
    host.does("version", "create")
    names = [f"libcudnn_graph.so.{n}" for n in (release, f"9.{release.minor}", 9)]
    w.says("Unable to load any of {" + ", ".join(names), ends="SIGABRT")
    w.finds("part-missing", bundle / "libcudnn.so.9", release, *names)
    w.repairs("reinstall", maps=bundle / "libcudnn_graph.so.9")
