"""The program finds cuDNN by LD_LIBRARY_PATH of a conda shell; sudo, which keeps the rest of the
environment, starts it without."""


def case(w):
    release = w.release("8.2", "8.4")
    lib = w.conda(release)
    w.has_it = lib
    w.environment["CONDA_PREFIX"] = w.conda_prefix
    host = w.host("plain", release)
    host.does("create")
    w.program = w.start(linked_to=host)
    if not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = lib
    w.says("error while loading shared libraries: libcudnn.so.8: cannot open shared object file",
           ends=127)
    w.finds("library-not-found", "libcudnn.so.8", lib)
    w.repairs("set-variable", maps=lib / "libcudnn.so.8")
