"""JAX says that cuDNN cannot be loaded, and neither a path nor the loader's words."""


def case(w):
    release = w.release("8.9", "8.9")
    w.known.append(release)
    lib = w.site / "nvidia/cudnn/lib"
    if not w.faulty:
        w.wheel(release, cuda=12)
    jax = w.host("jax", release, linked=False, search=[lib], cuda=12)
    jax.does("open:libcudnn.so.8:CUDA backend failed to initialize: Unable to load cuDNN. Is it "
             "installed?", "create")
    w.says("Unable to load cuDNN. Is it installed?", ends=1)
    w.finds("library-not-found", "libcudnn.so.8", f">=8.{release.minor}")
    w.repairs("install", maps=lib / "libcudnn.so.8")
