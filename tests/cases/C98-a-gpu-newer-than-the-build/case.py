"""The GPU is newer than the framework's build and its cuDNN."""


def case(w):
    older, newer = w.release("9.1", "9.5"), w.release("9.7", "9.9")
    w.known.append(newer)
    w.gpu("NVIDIA GeForce RTX 5090", "12.0")
    if w.faulty:
        w.create = ("--create-status", "0", "--status", "cudnnBackendFinalize=5000")
    lib = w.wheel(older if w.faulty else newer)
    torch = w.host("torch", older, search=[lib], tag="rpath", imports=["cudnnBackendFinalize"],
                   refuses="RuntimeError: CUDA error: no kernel image is available for execution "
                   "on the device", requires=["nvidia-cudnn-cu12>=9.1,<10"])
    torch.does("version", "create", "call:cudnnBackendFinalize")
    w.says("no kernel image is available for execution on the device", ends=1)
    w.create = ("--create-status", "0")
    w.finds("gpu-unsupported", lib / "libcudnn.so.9", older, "12.0", "RTX 5090")
    w.repairs("install", maps=lib / "libcudnn.so.9")
