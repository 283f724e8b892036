"""The program imports a function that came with 8.6 and finds an older library."""

NEW = "cudnnGetMaxDeviceVersion"


def case(w):
    older, built = w.release("8.0", "8.4"), w.release("8.6", "8.9")
    lib = w.directory(older if w.faulty else built)
    w.known.append(built)
    host = w.host("plain", built, search=[lib], imports=[NEW])
    host.does("version", "create")
    w.says(f"undefined symbol: {NEW}", ends=1)
    w.finds("version-node-not-found", NEW, "8.6", lib / "libcudnn.so.8")
    w.repairs("install", maps=lib / "libcudnn.so.8")
