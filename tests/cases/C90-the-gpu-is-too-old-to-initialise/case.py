"""OpenCV cannot make a handle: the GPU is too old."""


def case(w):
    release = w.release("7.1", "7.6")
    w.gpu("GeForce GT 630", "2.1" if w.faulty else "6.1", driver="390.157")
    w.create = ("--create-status", "1" if w.faulty else "0")
    lib = w.directory(release)
    host = w.host("plain", release, search=[lib],
                  refuses="CUDNN_STATUS_NOT_INITIALIZED in function 'UniqueHandle'")
    host.does("version", "create")

    def another_gpu():
        w.gpu("GeForce GTX 1080", "6.1")
        w.again(release, lib)

    w.says("CUDNN_STATUS_NOT_INITIALIZED in function 'UniqueHandle'", ends=1)
    w.finds("gpu-unsupported", lib / "libcudnn.so.7", release, "2.1", "GeForce GT 630")
    w.repairs("upgrade-host", maps=lib / "libcudnn.so.7", by=another_gpu)
