# SPDX-License-Identifier: Apache-2.0
"""A healthy set-up, drawn: release, layout, how the host finds and binds it, what else lies around.
It must work, and nothing may be told but what is true of a computer without a GPU."""

REAL = ["nvidia-cudnn-cu12==9.1.0.70", "nvidia-cudnn-cu12==9.8.0.87",
        "nvidia-cudnn-cu13==9.19.0.56", "nvidia-cudnn-cu12==9.28.0.42"]
SERIES = {4: ("4.0", "4.0"), 5: ("5.0", "5.1"), 6: ("6.0", "6.0"), 7: ("7.0", "7.6"),
          8: ("8.0", "8.9"), 9: ("9.0", "9.28")}
HOSTS = {9: ["torch", "tensorflow", "jax", "onnxruntime", "ctranslate2", "cupy", "plain"],
         8: ["torch", "tensorflow", "paddle", "ctranslate2", "plain"],
         7: ["torch-old", "tensorflow-1.6", "paddle", "plain"]}


def built_with(w, release, kind):
    """What a host that accepts this release was built with."""
    if kind in ("torch-old", "plain") or release.major < 7 or w.rng.random() < 0.5:
        return release
    return w.release(f"{release.major}.0", f"{release.major}.{release.minor}")


def lay_out(w, release):
    """(directory, how the host is led there)"""
    layout = w.rng.choice(["wheel", "toolkit", "conda", "directory", "bundled"])
    if layout == "wheel" and release.major >= 8:
        return w.wheel(release)
    if layout == "toolkit":
        return w.toolkit(release, cuda=w.cuda(release))
    if layout == "conda":
        return w.conda(release)
    if layout == "bundled":
        return w.directory(release, w.site / "torch/lib")
    return w.directory(release)


def more_around(w, release, lib):
    """What does no harm: a copy that nobody sees, one behind the right one, a dead directory."""
    low, high = SERIES[release.major]
    extra = w.rng.choice(["nothing", "unused", "behind", "dead"])
    if extra == "unused" and not lib.is_relative_to(w.root / "usr/local"):  # no second one in the same place
        w.toolkit(w.release(low, high))
    elif extra == "behind":
        w.environment["LD_LIBRARY_PATH"] = f"{lib}:{w.directory(w.release(low, high))}"
    elif extra == "dead":
        w.environment["LD_LIBRARY_PATH"] = f"{w.root}/gone:{lib}"


def case(w):
    major = w.rng.choice([4, 5, 6, 7, 8, 8, 9, 9, 9, 9])
    w.needs_gpu = w.rng.random() < 0.3
    if w.needs_gpu:
        w.create = ()
    release = w.release(*SERIES[major])
    if major == 9 and w.rng.random() < 0.3:
        w.needs_gpu = True
        release = w.real(w.rng.choice(REAL))
    kind = w.rng.choice(HOSTS.get(major, ["plain"]))
    if kind in ("jax", "cupy"):  # their names say CUDA 12
        w.cuda_now = 12
        if release.real:
            release = w.real(REAL[0])
    lib = lay_out(w, release)
    way = w.rng.choice(["rpath", "runpath", "variable", "cache", "path"])
    built = built_with(w, release, kind)
    search = [lib] if way in ("rpath", "runpath") else []
    linked = way != "path" and w.rng.random() < 0.6
    host = w.host(kind, built, search=search, tag=way if search else "runpath", linked=linked)
    more_around(w, release, lib)
    if way == "variable":
        w.environment.setdefault("LD_LIBRARY_PATH", lib)
    elif way == "cache":
        w.cache = [lib]
    name = f"{lib}/{release.soname}" if way == "path" else release.soname
    host.does(*([] if linked else [f"open:{name}"]), "version")
    if not w.needs_gpu:
        host.does("create")
    if w.rng.random() < 0.3:
        second = w.host("plain", release, search=[lib], site=w.root / "opt/second")
        second.does("version")
    w.says(f"version {release.number}")
    w.repairs(None, maps=lib / release.soname)


def names(count):
    return [f"H{n:02}-healthy" for n in range(1, count + 1)]
