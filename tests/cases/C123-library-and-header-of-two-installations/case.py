"""dlib was compiled with the header of one installation and finds the library of the other. A
plain program says nowhere what it was built with: its owner does."""


def case(w):
    older, built = w.two("7.1", "7.6")
    old, new = w.toolkit(older, cuda=9), w.toolkit(built, cuda=10)
    host = w.host("plain", built, linked=False)
    host.does("open:libcudnn.so.7", f"check:dlib:{built.number}", "create")
    w.environment["LD_LIBRARY_PATH"] = f"{old}:{new}" if w.faulty else new
    w.environment["WHICHCUDNN_EXPECT"] = built.number
    w.says(f"cudnnGetVersion() : {older.number} , CUDNN_VERSION from cudnn.h : {built.number} "
           f"({built})", ends=1)
    w.finds("expectation-not-met", old / "libcudnn.so.7", older)
    w.repairs("set-variable", maps=new / "libcudnn.so.7")
