"""W5 on real files: an interrupted copy of a part kills the process inside dlopen, without a
word."""


def case(w):
    release = w.real("nvidia-cudnn-cu12==9.1.0.70")
    w.needs_gpu, w.whole = True, release
    lib = w.directory(release)
    part = lib / "libcudnn_graph.so.9"
    if w.faulty:
        part.write_bytes(part.read_bytes()[:part.stat().st_size // 2])
    host = w.host("plain", release, search=[lib])
    host.does("version", "create")
    w.says("", ends="SIGBUS")
    w.finds("bad-file", part)
    w.repairs("reinstall", maps=part, by=lambda: w.directory(release, lib))
