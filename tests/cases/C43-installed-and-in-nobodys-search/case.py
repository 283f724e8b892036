"""The wheels are installed, nothing adds their directory to the search, and the framework falls
back to the CPU without more words than these."""


def case(w):
    release = w.release("9.1", "9.9")
    lib = w.wheel(release)
    w.has_it = lib
    host = w.host("onnxruntime", release, search=[] if w.faulty else [lib])
    host.does("create")
    w.says("libcudnn.so.9: cannot open shared object file", ends=1)
    w.finds("library-not-found", "libcudnn.so.9", lib)
    w.repairs("set-variable", maps=lib / "libcudnn.so.9")
