"""W1 on real files: the facade alone was copied; even cudnnGetVersion aborts."""


def case(w):
    release = w.real(w.rng.choice(["nvidia-cudnn-cu12==9.1.0.70", "nvidia-cudnn-cu13==9.19.0.56",
                                   "nvidia-cudnn-cu12==9.28.0.42"]))
    w.needs_gpu, w.whole = True, release
    lib = w.directory(release, without=["graph"] if w.faulty else [])
    host = w.host("plain", release, search=[lib])
    host.does("version", "create")
    w.says("Invalid handle. Cannot load symbol cudnnGetVersion", ends="SIGABRT")
    w.finds("part-missing", lib / "libcudnn.so.9", release, "libcudnn_graph.so")
    w.repairs("reinstall", maps=lib / "libcudnn_graph.so.9")
