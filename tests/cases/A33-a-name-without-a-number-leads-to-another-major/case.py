"""A framework opens libcudnn.so, and the toolkit that comes first on the search path has the next
major under that name."""


def case(w):
    built, newer = w.release("8.5", "8.9"), w.release("9.1", "9.9")
    old, new = w.toolkit(built, cuda=11), w.toolkit(newer, cuda=12)
    host = w.host("tensorflow", built, linked=False)
    host.does("open:libcudnn.so", host.checks, "create")
    w.environment["LD_LIBRARY_PATH"] = f"{new}:{old}" if w.faulty else old
    w.says(f"Loaded runtime CuDNN library: {newer}", ends=1)
    w.finds("major-differs", new / "libcudnn.so", newer, built)
    w.repairs("set-variable", maps=old / "libcudnn.so")
