"""The packager followed DT_NEEDED, so that parts that are only opened are not in the
application."""


def case(w):
    release = w.release("9.1", "9.13")
    w.whole = release
    inside = w.directory(release, w.root / "dist/app/_internal",
                         only=["facade"] if w.faulty else [])
    host = w.host("plain", release, search=[inside], site=inside)
    host.does("create")
    w.says(f"Unable to load any of {{libcudnn_graph.so.{release}", ends="SIGABRT")
    w.finds("part-missing", inside / "libcudnn.so.9", release, "libcudnn_graph.so.9")
    w.repairs("reinstall", maps=inside / "libcudnn_graph.so.9")
