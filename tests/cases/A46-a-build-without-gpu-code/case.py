"""The framework that was installed is its CPU build: nothing of CUDA is ever asked for."""


def case(w):
    release = w.release("9.12", "9.20")
    lib = w.wheel(release)
    host = w.host("torch", release, search=[lib], tag="rpath", linked=not w.faulty,
                  requires=[] if w.faulty else None)
    cuda, cpu = host.library, host.library.with_name("libtorch_cpu.so")

    def build_with_cuda():
        cpu.unlink()
        host.library, host.options["linked"], host.options["requires"] = cuda, True, None
        host.make()
        host.does("create")

    if w.faulty:
        host.library = cuda.rename(cpu)
    else:
        host.does("create")
    w.says("done", ends=0)
    w.finds("cpu-only-build", cpu)
    w.repairs("install", maps=lib / "libcudnn.so.9", by=build_with_cuda)
