"""A copy on the computer is found before the one that JAX was built with."""


def case(w):
    older, built = w.two("9.1", "9.20")
    lib = w.wheel(built, cuda=12)
    wrong = w.directory(older)
    jax = w.host("jax", built, cuda=12, linked=False, search=[lib])
    jax.does("open:libcudnn.so.9", jax.checks, "create")
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = wrong
    w.says(f"Loaded runtime CuDNN library: {older} but source was compiled with: 9.{built.minor}",
           ends=1)
    w.finds("runtime-too-old", wrong / "libcudnn.so.9", older, f">=9.{built.minor}")
    w.repairs("set-variable", maps=lib / "libcudnn.so.9")
