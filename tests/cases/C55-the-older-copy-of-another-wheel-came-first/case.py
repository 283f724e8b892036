"""Another wheel carries an older cuDNN 7 and was imported first; its SONAME serves TensorFlow,
too."""


def case(w):
    older, built = w.two("7.3", "7.6")
    own = w.directory(built)
    other = w.directory(older, w.site / "cupy/.data/lib")
    cupy = w.host("cupy", older, search=[other], tag="rpath")
    cupy.does("version")
    tensorflow = w.host("tensorflow-1.6", built, search=[own])
    tensorflow.does("create", tensorflow.checks)
    if not w.faulty:
        w.hosts.remove(cupy)
    w.says(f"Loaded runtime CuDNN library: {older} but source was compiled with: {built}", ends=1)
    w.finds("runtime-too-old", other / "libcudnn.so.7", older, built, tensorflow.library)
    w.repairs("load-order", maps=own / "libcudnn.so.7")
