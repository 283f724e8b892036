"""A package builder's cuDNN 8: only the facade has a RUNPATH. A part that is opened by its path
finds the part that it needs only where somebody has loaded that before."""


def case(w):
    release = w.release("8.1", "8.5")
    lib = w.directory(release, options=["--parts-no-path"] if w.faulty else [])
    w.has_it = lib
    host = w.host("plain", release, linked=False)
    host.does(f"open:{lib}/libcudnn_cnn_infer.so.8:ImportError: {{error}}",
              f"open:{lib}/libcudnn.so.8", "create")
    w.says("libcudnn_ops_infer.so.8: cannot open shared object file", ends=1)
    w.finds("dependency-missing", "libcudnn_ops_infer.so.8", lib / "libcudnn_cnn_infer.so.8")
    w.repairs("set-variable", maps=lib / "libcudnn_ops_infer.so.8")
