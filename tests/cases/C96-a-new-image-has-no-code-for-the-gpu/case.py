"""An image moved past the last releases that have code for its users' GPUs."""


def case(w):
    newer, last = w.release("9.12", "9.28"), w.release("9.8", "9.10")
    w.known.append(last)
    w.gpu("GeForce GTX 1080 Ti", "6.1")
    if w.faulty:
        w.create = ("--create-status", "0", "--status", "cudnnBackendFinalize=5000")
    lib = w.wheel(newer if w.faulty else last, cuda=12)
    host = w.host("onnxruntime", last, search=[lib], tag="rpath", cuda=12,
                  imports=["cudnnBackendFinalize"], refuses="CUDNN_STATUS_EXECUTION_FAILED")
    host.does("version", "create", "call:cudnnBackendFinalize")
    w.says("CUDNN_STATUS_EXECUTION_FAILED", ends=1)
    w.create = ("--create-status", "0")
    w.finds("gpu-unsupported", lib / "libcudnn.so.9", newer, "6.1", "GeForce GTX 1080 Ti")
    w.repairs("install", maps=lib / "libcudnn.so.9")
