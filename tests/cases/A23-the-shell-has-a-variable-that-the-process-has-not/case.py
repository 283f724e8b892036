"""LD_LIBRARY_PATH was set in a shell, not exported: the process has it not, and a copy is
there."""


def case(w):
    release = w.release("8.6", "8.9")
    lib = w.toolkit(release)
    w.has_it = lib
    w.environment["CUDA_HOME"] = lib.parent
    host = w.host("tensorflow", release, linked=False)
    host.does("open:libcudnn.so.8:Could not load dynamic library '{name}'; dlerror: {error}",
              "create")
    if not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = lib
    w.says("Could not load dynamic library 'libcudnn.so.8'", ends=1)
    w.finds("library-not-found", "LD_LIBRARY_PATH: not set", lib)
    w.repairs("set-variable", maps=lib / "libcudnn.so.8")
