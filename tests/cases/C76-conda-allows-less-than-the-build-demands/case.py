"""The recipe's constraint is looser than the build; who knows what it was built with says so in
WHICHCUDNN_EXPECT."""


def case(w):
    older, built = w.two("9.8", "9.20")
    lib = w.conda(older if w.faulty else built)
    w.known.append(built)
    host = w.host("plain", built, search=[lib], site=lib)
    w.conda_record(lib.parent, "jaxlib-0.5.3-cuda126py312h0", [host.library.name],
                   depends=["cudnn >=9.0,<10.0a0"])
    host.does(f"check:xla:{built.number}", "create")
    w.environment["WHICHCUDNN_EXPECT"] = f">=9.{built.minor},<10"
    w.says(f"Loaded runtime CuDNN library: {older} but source was compiled with: {built}", ends=1)
    w.finds("expectation-not-met", lib / "libcudnn.so.9", older, f">=9.{built.minor}")
    w.repairs("install", maps=lib / "libcudnn.so.9")
