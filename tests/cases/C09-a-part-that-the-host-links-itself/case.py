"""The host NEEDs a part, which only the facade should load: it comes in before the facade, from
where the host looks."""


def case(w):
    older, release = w.two("9.12", "9.20")
    lib, elsewhere = w.directory(release), w.directory(older)
    search = [elsewhere, lib] if w.faulty else [lib]
    host = w.host("plain", release, search=search, needs=["libcudnn_graph.so.9"], linked=False)
    host.does(f"open:{lib}/libcudnn.so.9", "create", "version")
    w.says(f"version {older.number}", ends=0)
    w.finds("facade-and-parts-differ", lib, elsewhere, release, older, host.library)
    w.repairs("remove", maps=lib / "libcudnn_graph.so.9")
