"""The version in the failing file names is not the one that pip lists: the facade that runs is
another copy, which has no engines."""


def case(w):
    other, listed = w.release("9.1", "9.2"), w.release("9.5", "9.8")
    w.whole = other
    wheel = w.wheel(listed)
    module = w.directory(other, without=["engines_precompiled"] if w.faulty else [])
    jax = w.host("jax", other, search=[module], linked=False)
    jax.does("open:libcudnn.so.9", "create", "call:cudnnBackendFinalize")
    jax.options["refuses"] = "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED"
    jax.make()
    w.says("CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED", ends=1)
    w.finds("part-missing", module, other, "engines_precompiled")
    w.repairs("reinstall", maps=module / "libcudnn_engines_precompiled.so.9")
    assert wheel
