"""The toolkit's header is of the release that Paddle wants; LD_LIBRARY_PATH leads to an older
copy."""


def case(w):
    older, built = w.two("7.1", "7.6")
    toolkit, wrong = w.toolkit(built, cuda=10), w.directory(older)
    paddle = w.host("paddle", built, linked=False)
    paddle.does("open:libcudnn.so.7", "create", paddle.checks)
    w.environment["LD_LIBRARY_PATH"] = f"{wrong}:{toolkit}" if w.faulty else toolkit
    w.says(f"is compiled with CUDNN 7.{built.minor}, but CUDNN version in your machine is "
           f"7.{older.minor}")
    w.finds("runtime-too-old", wrong / "libcudnn.so.7", older, built)
    w.repairs("set-variable", maps=toolkit / "libcudnn.so.7")
