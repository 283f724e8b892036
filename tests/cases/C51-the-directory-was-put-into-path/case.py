"""cuDNN's directory is in PATH, which is not where libraries are looked for."""


def case(w):
    release = w.release("8.6", "8.9")
    lib = w.wheel(release)
    w.has_it = lib
    host = w.host("ctranslate2", release, linked=False)
    host.does("open:libcudnn.so.8:Could not load library {name}. Error: {error}", "create")
    w.environment["PATH" if w.faulty else "LD_LIBRARY_PATH"] = lib
    w.says("Could not load library libcudnn.so.8. Error: libcudnn.so.8: cannot open", ends=1)
    w.finds("library-not-found", "libcudnn.so.8", lib, "PATH")
    w.repairs("set-variable", maps=lib / "libcudnn.so.8")
