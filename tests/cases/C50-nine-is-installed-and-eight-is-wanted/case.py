"""The user has cuDNN 9, the consumer is built for 8, whose files have other names."""


def case(w):
    wanted, installed = w.release("8.9", "8.9"), w.release("9.1", "9.9")
    lib = w.wheel(installed if w.faulty else wanted)
    w.known.append(wanted)
    w.looks_in = lib
    host = w.host("ctranslate2", wanted, linked=False, search=[lib])
    host.does("open:libcudnn.so.8:Could not load library {name}. Error: {error}", "create")
    w.says("Could not load library libcudnn.so.8. Error: libcudnn.so.8: cannot open", ends=1)
    w.finds("library-not-found", "libcudnn.so.8", lib / "libcudnn.so.9", installed)
    w.repairs("install", maps=lib / "libcudnn.so.8")
