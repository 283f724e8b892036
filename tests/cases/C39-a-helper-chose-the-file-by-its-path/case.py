"""A helper asks ldconfig and opens what it says by its path: the module's copy in LD_LIBRARY_PATH
is never looked at."""


def case(w):
    older, module = w.two("9.22", "9.28")
    system, wanted = w.directory(older), w.directory(module)
    host = w.host("plain", module, linked=False)
    chosen = system if w.faulty else wanted
    host.does(f"open:{chosen}/libcudnn.so.9", f"check:dlib:{module.number}", "create")
    w.environment["LD_LIBRARY_PATH"] = wanted
    w.environment["WHICHCUDNN_EXPECT"] = f">=9.{module.minor}"
    w.known.append(module)
    w.says(f"cudnnGetVersion() : {older.number}", ends=1)
    w.finds("expectation-not-met", system / "libcudnn.so.9", older)
    w.repairs("install", maps=chosen / "libcudnn.so.9")
