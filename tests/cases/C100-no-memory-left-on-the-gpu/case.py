"""cudnnCreate says NOT_INITIALIZED on a computer with a GPU and a driver, while all that was
loaded is sound: it is not a matter of loading."""


def case(w):
    release = w.release("7.1", "7.6")
    w.create = ("--create-status", "1") if w.faulty else w.create
    lib = w.directory(release)
    w.driver("535.104.05")
    host = w.host("plain", release, search=[lib], refuses="CUDNN_STATUS_NOT_INITIALIZED")
    host.does("version", "create")
    w.says("CUDNN_STATUS_NOT_INITIALIZED", ends=1)
    w.finds("init-failed", lib / "libcudnn.so.7", release, "NOT_INITIALIZED", "535.104.05")
    w.repairs("check", maps=lib / "libcudnn.so.7", by=lambda: w.again(release, lib))
