"""The image's system cuDNN 8 shadows parts of the wheel; the message speaks of an engine."""


def case(w):
    system, own = w.two("8.5", "8.9")
    wheel, shadow = w.wheel(own), w.directory(system)
    torch = w.host("torch", own, search=[wheel], tag="rpath", imports=["cudnnCnnInferVersionCheck"],
                   refuses="RuntimeError: GET was unable to find an engine to execute this "
                   "computation")
    torch.does("version", "create", "call:cudnnCnnInferVersionCheck")
    if w.faulty:
        w.create = ("--create-status", "0", "--status", "cudnnCnnInferVersionCheck=3007")
        shadow = w.directory(system, shadow)
        w.environment["LD_LIBRARY_PATH"] = shadow
    w.says("GET was unable to find an engine to execute this computation", ends=1)
    w.finds("facade-and-parts-differ", wheel, shadow, own, system)
    w.repairs("set-variable", maps=wheel / "libcudnn_cnn_infer.so.8")
