"""PyTorch's pin brought an older minor than the one that JAX was built with."""


def case(w):
    older, built = w.two("9.5", "9.11")
    lib = w.wheel(older if w.faulty else built)
    w.known.append(built)
    jax = w.host("jax", built, search=[lib])
    jax.does("create", jax.checks)
    w.says(f"Loaded runtime CuDNN library: {older} but source was compiled with: 9.{built.minor}",
           ends=1)
    w.finds("runtime-too-old", lib / "libcudnn.so.9", older, f">=9.{built.minor}")
    w.repairs("install", maps=lib / "libcudnn.so.9")
