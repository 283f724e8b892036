"""jaxlib of conda was built against 8.9, the Python side of JAX accepts nothing below 9.1."""


def case(w):
    older, least = w.release("8.9", "8.9"), w.release("9.1", "9.9")
    lib = w.conda(older if w.faulty else least)
    w.known.append(least)
    host = w.host("plain", older, search=[lib], site=lib, linked=False)
    host.does("try:libcudnn.so.8", "try:libcudnn.so.9", f"check:jax:{least.number}", "create")
    w.environment["WHICHCUDNN_EXPECT"] = f">={least.major}.{least.minor}"
    w.says(f"Minimum supported: {least.number} Installed version: {older.number}", ends=1)
    w.finds("expectation-not-met", lib / "libcudnn.so.8", older)
    w.repairs("install", maps=lib / "libcudnn.so.9")
