# SPDX-License-Identifier: Apache-2.0
"""What lies beside a fault and leads astray; both twins have it, but for a second fault."""
import stock
from kinds import KINDS

HARMLESS = ("directory-gone", "old-copy-aside", "cuda-home", "probe", "other-wheel", "plain-link")
BLAMES = ("CUDA driver version is insufficient for CUDA runtime version", "GET was unable to find an engine to execute "
          "this computation", "Failed to get convolution algorithm. This is probably because cuDNN failed to initialize")
SECONDS = ("nvrtc_without_builtins", "driver_updated_without_restart")


def harmless(s):
    what = s.w.rng.choice(HARMLESS)
    if what == "directory-gone" and s.place != "modules":
        s.llp = [*s.llp, "/opt/intel/lib/intel64"]
    elif what == "old-copy-aside":
        known = [v for v in stock.releases(s.era, s.cuda) if v != s.version]
        s.w.copy_of_cudnn(f"{s.home}/Downloads/old/cudnn/lib64", s.w.rng.choice(known or [s.version]), s.cuda)
    elif what == "cuda-home":
        s.w.env.update(CUDA_HOME="/usr/local/cuda-9.0", CUDA_PATH="/usr/local/cuda-9.0")
    elif what == "probe" and s.host != "ctypes":
        s.before_steps = ["try:libnccl-net.so", *s.before_steps]
    elif what == "other-wheel" and s.site and s.w.exists(s.site):
        s.w.wheel(s.site, "numpy", "1.26.4", {"numpy/__init__.py": b"\n"})
    elif what == "plain-link" and s.owner == "none" and s.place == "modules":
        s.w.link(f"{s.lib}/libcudnn_static.a", "libcudnn_static_v9.a")
    return what


def late(s):
    """Many calls that go well come before the others."""
    if "create" in s.steps:
        at = s.steps.index("version")
        s.steps[at:at] = ["version"] * 5
    return "calls first"


def blame(s):
    if s.host == "ctypes":
        return harmless(s)
    s.before_steps = ["blame:" + s.w.rng.choice(BLAMES), *s.before_steps]
    return "words of another"


def toolkit(s):
    """A whole toolkit in the loader's cache, which nobody in this world wants."""
    if s.search == "cache" or s.place in ("two", "toolkit"):
        return harmless(s)
    known = [v for v in stock.releases(s.era, s.cuda) if v != s.version] or [s.version]
    directory = f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}.1/lib64"
    s.w.copy_of_cudnn(directory, s.w.rng.choice(known), s.cuda)
    s.w.copy_of_cuda(directory, s.cuda)
    s.w.write("/etc/ld.so.conf.d/toolkit.conf", directory + "\n")
    s.w.system_changed = True
    return "toolkit in the cache"


def no_cache(s):
    if s.search == "cache" or s.place in ("system", "two", "container"):
        return harmless(s)
    s.w.remove("/etc/ld.so.cache")
    return "no cache"


def workers(s):
    """The calls are made by forked workers."""
    if s.host == "ctypes" or "create" not in s.steps:
        return harmless(s)
    at = s.steps.index("create")
    s.steps[at:at] = ["fork:2"]
    return "workers"


def wrapper(s):
    """A script starts it and waits."""
    if s.place == "modules":
        return harmless(s)
    path = f"{s.home}/work/start.sh"
    s.w.write(path, "#!/bin/bash\nset -e\ncd \"$PWD\"\n\"$@\"\n", 0o755)
    s.w.argv = [path, *s.w.argv]
    return "wrapper script"


def two(s):
    """A second fault: its truth, where there is one for this scene."""
    for name in s.w.rng.sample(SECONDS, len(SECONDS)):
        want = KINDS[name].want
        if s.place in want.get("place", (s.place,)) and s.era in want.get("era", (s.era,)):
            return KINDS[name].plant(s)
    return None


MASKS = {"harmless": harmless, "late": late, "blame": blame, "toolkit": toolkit, "no-cache": no_cache,
         "workers": workers, "wrapper": wrapper}
