"""LD_LIBRARY_PATH is set inside the process; the loader reads what it was at the start."""


def case(w):
    release = w.release("9.1", "9.9")
    lib = w.wheel(release)
    w.has_it = lib
    host = w.host("plain", release, linked=False)
    host.does(f"set:LD_LIBRARY_PATH={lib}", "open:libcudnn.so.9:Invalid handle. Cannot load symbol "
              "cudnnGetVersion", "version", "create")
    if not w.faulty:
        w.environment["LD_LIBRARY_PATH"] = lib
    w.says("Invalid handle. Cannot load symbol cudnnGetVersion", ends=1)
    w.finds("library-not-found", "libcudnn.so.9", "LD_LIBRARY_PATH: not set", lib)
    w.repairs("set-variable", maps=lib / "libcudnn.so.9")
