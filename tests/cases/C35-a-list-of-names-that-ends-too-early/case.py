"""The program knows the names of cuDNN 7 and 8 and libcudnn.so; what is installed is 9."""


def case(w):
    release = w.release("9.14", "9.20")
    lib = w.directory(release)
    if not w.faulty:
        (lib / "libcudnn.so").symlink_to("libcudnn.so.9")
    w.environment["LD_LIBRARY_PATH"] = lib
    host = w.host("plain", release, linked=False)
    host.does("try:libcudnn.so.7", "try:libcudnn.so.8", "open:libcudnn.so:Unable to dynamically "
              'load the "cudnn" shared library - searched for library names: ["{name}"]', "create")
    w.says('Unable to dynamically load the "cudnn" shared library', ends=1)
    w.finds("wrong-name", "libcudnn.so", lib / "libcudnn.so.9", release)
    w.repairs("reinstall", maps=lib / "libcudnn.so.9")
