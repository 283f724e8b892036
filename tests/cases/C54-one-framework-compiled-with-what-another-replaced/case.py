"""Theano compiled its extension with one header; the other framework put a newer cuDNN in
front."""


def case(w):
    built, newer = w.release("5.0", "5.0"), w.release("5.1", "5.1")
    right, wrong = w.directory(built), w.directory(newer)
    theano = w.host("plain", built, linked=False)
    theano.does("open:libcudnn.so.5", f"check:theano:{built.number}", "create")
    w.environment["LD_LIBRARY_PATH"] = f"{wrong}:{right}" if w.faulty else right
    w.environment["WHICHCUDNN_EXPECT"] = "5.0"
    w.says(f"The header is version {built.number} while the library is version {newer.number}",
           ends=1)
    w.finds("expectation-not-met", wrong / "libcudnn.so.5", newer)
    w.repairs("set-variable", maps=right / "libcudnn.so.5")
