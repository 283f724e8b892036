"""One directory, one version, all parts: the failure is none of loading, and nothing is told."""


def case(w):
    release = w.release("9.5", "9.9")
    lib = w.wheel(release)
    w.create = ("--create-status", "0", "--status", "cudnnBackendFinalize=3000")
    host = w.host("onnxruntime", release, search=[lib], imports=["cudnnBackendFinalize"])
    host.does("create", "version")
    w.says(f"version {release.number}", ends=0)
    w.finds(None)
