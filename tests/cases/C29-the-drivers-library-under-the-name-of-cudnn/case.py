"""A circulating remedy links libcuda under cuDNN's name: it opens, and has none of its
functions."""


def case(w):
    release = w.release("8.1", "8.9")
    lib = w.root / "usr/lib/x86_64-linux-gnu"
    w.known.append(release)
    if w.faulty:
        w.companion("libcuda.so.1", lib).rename(lib / "libcuda.so.515.43.04")
        (lib / "libcudnn.so.8").symlink_to("libcuda.so.515.43.04")
    else:
        w.directory(release, lib)
    tensorflow = w.host("tensorflow", release, search=[lib], linked=False)
    tensorflow.does("open:libcudnn.so.8", "create")
    w.says("could not find cudnnCreate in cudnn DSO", ends=1)
    w.finds("wrong-name", lib / "libcudnn.so.8", "libcuda.so.1")
    w.hides("library-not-found")
    w.looks_in = lib
    w.repairs("remove", maps=lib / "libcudnn.so.8")
