"""cuDNN was opened by name: an older system copy comes before the bundled one, which has 5.1."""


def case(w):
    older, wanted = w.release("5.0", "5.0"), w.release("5.1", "5.1")
    system, bundled = w.directory(older), w.directory(wanted, w.site / "torch/lib")
    torch = w.host("plain", wanted, search=[bundled], linked=False)
    torch.does("open:libcudnn.so.5:RuntimeError: {error}", f"check:theano:{wanted.number}",
               "create")
    w.environment["WHICHCUDNN_EXPECT"] = ">=5.1,<6"
    if w.faulty:
        w.environment["LD_LIBRARY_PATH"] = system
    w.says(f"library is version {older.number}", ends=1)
    w.finds("expectation-not-met", system / "libcudnn.so.5", older, ">=5.1")
    w.repairs("set-variable", maps=bundled / "libcudnn.so.5")
