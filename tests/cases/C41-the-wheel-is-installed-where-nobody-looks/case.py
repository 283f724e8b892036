"""cuDNN's wheel lies in site-packages, and the extension that needs it has no search path to
it."""


def case(w):
    release = w.release("9.5", "9.9")
    lib = w.wheel(release)
    w.has_it = lib
    host = w.host("onnxruntime", release, linked=False)
    host.does("open:libcudnn.so.9", "version", "create")
    if not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = lib
    w.says("libcudnn.so.9: cannot open shared object file", ends=1)
    w.finds("library-not-found", "libcudnn.so.9", lib)
    w.repairs("set-variable", maps=lib / "libcudnn.so.9")
