"""A computer, or a container started without its GPUs: libcuda.so.1 is nowhere."""


def case(w):
    release = w.release("9.1", "9.9")
    lib, driver = w.wheel(release), w.root / "usr/lib/nvidia"
    w.create = () if w.faulty else w.create
    host = w.host("onnxruntime", release, search=[lib, driver], linked=False, tag="rpath")
    host.does("open:libcuda.so.1", "open:libcudnn.so.9", "create")
    if not w.faulty:
        w.companion("libcuda.so.1", driver)
    w.says("libcuda.so.1: cannot open shared object file", ends=1)
    w.finds("driver-missing", "libcuda.so.1", host.library)
    w.repairs("driver", maps=driver / "libcuda.so.1",
              by=lambda: w.companion("libcuda.so.1", driver))
