"""The framework that was installed is its CPU build: nothing of CUDA is ever asked for."""


def case(w):
    release = w.release("9.12", "9.20")
    w.wheel(release)
    host = w.host("torch", release, linked=False, requires=[] if w.faulty else None)
    host.library.rename(host.library.with_name("libtorch_cpu.so"))
    host.library = host.library.with_name("libtorch_cpu.so")
    w.says("done", ends=0)
    w.finds("cpu-only-build", host.library)
    w.repairs("install", maps=None)
