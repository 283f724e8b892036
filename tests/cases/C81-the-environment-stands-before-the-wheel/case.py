"""A recipe puts the conda environment's lib before the wheel's directory into LD_LIBRARY_PATH, and
the environment has an older cuDNN."""


def case(w):
    older, built = w.two("8.1", "8.6")
    lib, conda = w.wheel(built), w.conda(older)
    tensorflow = w.host("tensorflow", built, linked=False)
    tensorflow.does("open:libcudnn.so.8", "create", tensorflow.checks)
    w.environment["LD_LIBRARY_PATH"] = f"{conda}:{lib}" if w.faulty else f"{lib}:{conda}"
    w.says(f"Loaded runtime CuDNN library: {older} but source was compiled with: {built}", ends=1)
    w.finds("runtime-too-old", conda / "libcudnn.so.8", older, built, lib)
    w.repairs("set-variable", maps=lib / "libcudnn.so.8")
