"""LD_LIBRARY_PATH has an empty element: the loader looks into the directory that the process is
in, and a cuDNN lies there."""


def case(w):
    older, wanted = w.two("7.1", "7.6")
    right, here = w.directory(wanted), w.directory(older)
    host = w.host("plain", wanted, linked=False)
    host.does("open:libcudnn.so.7", f"check:dlib:{wanted.number}", "create")
    w.folder = here
    w.environment["LD_LIBRARY_PATH"] = f":{right}" if w.faulty else right
    w.environment["WHICHCUDNN_EXPECT"] = f">=7.{wanted.minor}"
    w.says(f"cudnnGetVersion() : {older.number}", ends=1)
    w.finds("expectation-not-met", here / "libcudnn.so.7", older)
    w.repairs("set-variable", maps=right / "libcudnn.so.7")
