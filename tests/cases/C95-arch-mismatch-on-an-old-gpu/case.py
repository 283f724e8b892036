"""The GPU is below what any cuDNN of that time has code for."""


def case(w):
    release = w.release("5.0", "5.1")
    w.gpu("GeForce GT 630", "2.1" if w.faulty else "6.1", driver="390.157")
    w.create = ("--create-status", "6" if w.faulty else "0")
    lib = w.directory(release)
    host = w.host("plain", release, search=[lib], refuses="CUDNN_STATUS_ARCH_MISMATCH")
    host.does("version", "create")

    def another_gpu():
        w.gpu("GeForce GTX 1080", "6.1")
        w.again(release, lib)

    w.says("CUDNN_STATUS_ARCH_MISMATCH", ends=1)
    w.finds("gpu-unsupported", lib / "libcudnn.so.5", release, "2.1", "GeForce GT 630")
    w.repairs("upgrade-host", maps=lib / "libcudnn.so.5", by=another_gpu)
