"""Nothing pinned cuDNN, and a new release no longer has code for the GPU of the test machines."""


def case(w):
    newer, last = w.release("9.11", "9.20"), w.release("9.8", "9.10")
    w.known.append(last)
    w.gpu("Tesla V100", "7.0")
    if w.faulty:
        w.create = ("--create-status", "0", "--status", "cudnnBackendFinalize=5000")
    lib = w.wheel(newer if w.faulty else last, cuda=12)
    host = w.host("onnxruntime", last, search=[lib], tag="rpath", cuda=12,
                  imports=["cudnnBackendFinalize"], refuses="CUDNN_STATUS_EXECUTION_FAILED")
    host.does("version", "create", "call:cudnnBackendFinalize")
    w.says("CUDNN_STATUS_EXECUTION_FAILED", ends=1)
    w.create = ("--create-status", "0")
    w.finds("gpu-unsupported", lib / "libcudnn.so.9", newer, "7.0", "Tesla V100")
    w.repairs("install", maps=lib / "libcudnn.so.9")
