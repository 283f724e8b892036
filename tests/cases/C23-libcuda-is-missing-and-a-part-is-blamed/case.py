"""cuDNN's part asks for libcuda.so, which WSL has under another name; the message blames the
part."""


def case(w):
    release = w.release("8.5", "8.7")
    wsl = w.root / "usr/lib/wsl/lib"
    w.companion("libcuda.so.1", wsl)
    if not w.faulty:
        (wsl / "libcuda.so").symlink_to("libcuda.so.1")
    lib = w.wheel(release, options=["--probes", "cnn_infer=libcuda.so"])
    torch = w.host("torch", release, search=[lib], tag="rpath",
                   imports=["cudnnCnnInferVersionCheck"])
    torch.does("version", "create", "call:cudnnCnnInferVersionCheck")
    w.environment["LD_LIBRARY_PATH"] = wsl
    w.says("Could not load library libcudnn_cnn_infer.so.8. Error: libcuda.so: cannot open",
           ends="SIGABRT")
    w.finds("wrong-name", "libcuda.so", wsl / "libcuda.so.1")
    w.repairs("reinstall", maps=wsl / "libcuda.so.1")
