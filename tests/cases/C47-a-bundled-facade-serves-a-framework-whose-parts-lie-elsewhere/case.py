"""torch bundles a facade without the cnn part, which its build has elsewhere; CTranslate2,
imported second, gets that facade."""


def case(w):
    release = w.release("9.1", "9.3")
    w.whole = release
    bundled = w.directory(release, w.site / "torch/lib", without=["cnn"])
    own = w.directory(release, w.site / "ctranslate2.libs")
    torch = w.host("torch", release, search=[bundled], tag="rpath", requires=[])
    torch.does("version")
    second = w.host("ctranslate2", release, search=[own], imports=["cudnnCnnVersionCheck"])
    second.does("create", "call:cudnnCnnVersionCheck")
    if not w.faulty:
        w.hosts.remove(torch)
    w.says("Cannot load symbol cudnnCnnVersionCheck", ends="SIGABRT")
    w.finds("part-missing", bundled / "libcudnn.so.9", release, f"libcudnn_cnn.so.{release}")
    w.repairs("reinstall", maps=(bundled if w.faulty else own) / "libcudnn_cnn.so.9")
