"""torch's facade came first; its directory lacks what the second framework uses, whose own wheel
has all of it. Each works alone."""


def case(w):
    first, wheel_release = w.two("9.1", "9.9")
    w.whole = first
    system = w.directory(first, without=["cnn"])
    wheel = w.wheel(wheel_release)
    torch = w.host("torch", first, search=[system], tag="rpath", requires=[])
    torch.does("version")
    second = w.host("ctranslate2", first, search=[wheel], imports=["cudnnCnnVersionCheck"])
    second.does("create", "call:cudnnCnnVersionCheck")
    if not w.faulty:
        w.hosts.remove(torch)
    w.says(f"Unable to load any of {{libcudnn_cnn.so.{first}", ends="SIGABRT")
    w.finds("part-missing", system / "libcudnn.so.9", f"libcudnn_cnn.so.{first}")
    w.leaves("already-loaded-by-soname")  # the wheel is still not what it gets
    w.repairs("reinstall", maps=(system if w.faulty else wheel) / "libcudnn_cnn.so.9")
