"""Long after a good start cuDNN asks for libnvrtc.so.12, which lies in a wheel that nobody
searches."""


def case(w):
    release = w.release("9.5", "9.9")
    nvrtc = w.nvidia("cuda_nvrtc", "libnvrtc.so.12", ["nvrtcCreateProgram"])
    lib = w.wheel(release, options=["--asks", "libnvrtc.so.12:nvrtcCreateProgram"])
    host = w.host("onnxruntime", release, search=[lib])
    host.does("version", "create")
    if not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = nvrtc
    w.has_it = nvrtc
    w.says("Cannot load symbol nvrtcCreateProgram", ends="SIGABRT")
    w.finds("companion-differs", "libnvrtc.so.12", lib / "libcudnn.so.9")
    w.repairs("set-variable", maps=nvrtc / "libnvrtc.so.12")
