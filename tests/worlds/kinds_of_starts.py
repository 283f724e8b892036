# SPDX-License-Identifier: Apache-2.0
"""Kinds of fault of how and from where a program is started, of what packages leave out or put in, of libraries that
stand in for others, and of the computer's state. Each names the thread where it happened. As in kinds.py, both twins
share what stands before `if not s.w.faulty: return None`."""
import hashlib
import os
import subprocess

import stock
from kinds import ALONE, HIDES_ABSENCE, LABELS, NEWER, NOT_TWO, in_front, kind, truth, uninstall, whole
from kinds_by_hand import companions, rebuild
from kinds_of_machines import WITHOUT_CACHE, counts_gpus, state_of_driver, take_driver_away
from kinds_of_routes import cudnn_in, imported
from scene import SYSTEM
from world import World

LABELS.update({
    "variable-not-heeded": {"library-not-found", "gpu-stack-not-reached", "dependency-missing",
                            "cuda-dependency-differs", "not-observed"},
    "relative-to-another-place": {"library-not-found", "search-path-suspect", "dependency-missing",
                                  "cuda-dependency-differs", "gpu-stack-not-reached"},
    "split-at-a-colon": {"library-not-found", "search-path-suspect"},
    "other-major-taken": {"library-not-found", "major-differs", "wrong-name"},
    "library-of-a-package-lost": {"library-not-found", "dependency-missing", "installation-incomplete"},
    "updated-elsewhere": {"runtime-too-old", "own-copy-unused", "demands-conflict"},
    "front-without-functions": {"missing-symbols", "symbol-version-not-found", "shadowed-copy", "own-copy-unused"},
    "another-library-answers": {"two-copies-loaded", "init-failed", "already-loaded-by-soname", "shadowed-copy",
                                "own-copy-unused"},
    "hook-without-driver": {"driver-missing", "dependency-missing", "gpu-stack-not-reached"},
    "hook-without-cuda": {"dependency-missing", "cuda-dependency-differs", "gpu-stack-not-reached"},
    "hook-of-another-cuda": {"dependency-missing", "cuda-dependency-differs", "cuda-major-differs",
                             "gpu-stack-not-reached"},
    "driver-half-there": {"driver-missing", "dependency-missing", "driver-mixed"},
    "refused-by-a-server": {"known-bad-release", "runtime-too-old", "expectation-not-met"},
})

# ---- helpers --------------------------------------------------------------------------------------------


def library(name, text, *flags, beside=()):
    """A library of that text, named so; beside: (name, text, flags) of those that it is linked with."""
    def make(into):
        linked = [library(*other) for other in beside]
        subprocess.run([stock.CC, "-shared", "-fPIC", f"-Wl,-soname,{name}", "-Wl,--no-as-needed", *flags, "-o",
                        str(into / name), "-x", "c", "-", "-x", "none", *map(str, linked)],
                       input=text, text=True, check=True)
    key = hashlib.sha256(repr((name, text, flags, beside)).encode()).hexdigest()[:8]
    return stock._kept(f"made-{key}", make) / name


def launched(s, *lines):
    """A script sets something for the program alone, and becomes it."""
    if s.place == "modules":
        s.wrapper_lines += lines
        return
    path = f"{s.home}/work/launch.sh"
    s.w.write(path, "\n".join(["#!/bin/bash", *lines, 'exec "$@"', ""]), 0o755)
    s.w.argv = [path, *s.w.argv]


def preloading(path):
    return f"export LD_PRELOAD=${{LD_PRELOAD:+$LD_PRELOAD:}}{path}"


# ---- start: how a program is started, and from where ----------------------------------------------------------

@kind("start", WITHOUT_CACHE, root=True, place=("toolkit", "modules"), host=("linked", "named"), search=("llp",))
def loader_trusts_no_variable(s):
    """libvma#1091, flux-core#5601: who was given rights of its own (setcap, setuid) is started by a loader that does
    not heed LD_LIBRARY_PATH."""
    s.w.stage = ["uid=1000"]
    s.w.at("/log").chmod(0o777)
    s.w.at(s.host_file).chmod(0o4755 if s.w.faulty else 0o755)
    if not s.w.faulty:
        return None
    return truth("variable-not-heeded", (s.asked, *companions(s), "setuid", "set-user-ID", "LD_LIBRARY_PATH"),
                 ("libcudnn", "libcudart"), f"{s.host_file} is set-user-ID",
                 "the loader does not heed LD_LIBRARY_PATH for it", f"{s.asked} is not found")


@kind("start", HIDES_ABSENCE, place=("venv", "conda", "toolkit"), host=("linked", "named"), search=("runpath",))
def copied_out_of_its_tree(s):
    """bazel#10803, pytorch/TensorRT#337: the search path of what was built is relative to where it lies, and it was
    copied to where it is started."""
    here = os.path.dirname(s.host_file)
    rebuild(s, ":".join(f"$ORIGIN/{os.path.relpath(d, here)}" for d in dict.fromkeys([s.lib, *s.cuda_dirs])))
    if not s.w.faulty:
        return None
    copy = s.w.rng.choice(("/srv/releases/2026-05/vision/bin", f"{s.home}/work/dist/app/image/bin")) \
        + "/" + os.path.basename(s.host_file)
    s.w.write(copy, s.w.read(s.host_file), 0o755)
    s.w.argv = [copy if a == s.host_file else a for a in s.w.argv]
    return truth("relative-to-another-place", (s.facade, *companions(s)), ("libcudnn", "libcudart"),
                 f"{copy} is a copy of {s.host_file}", "its search path is relative to where it lies",
                 f"{s.facade} is not found")


@kind("start", ALONE, place=("toolkit", "modules"), host=("linked",), era=(9,), cuda=("12",), versions=NEWER[9][1],
      demand=False, binary={"imports": NEWER[9][0], "built": "9.8.0"})
def bound_at_once(s):
    """AnacondaRecipes/aggregate#54, fan2go#400: a program that never calls the newer function works with an older
    release, for as long as functions are bound when they are called; LD_BIND_NOW is set."""
    function, old = NEWER[9][0], NEWER[9][2]
    whole(s, old)
    launched(s, "export LD_BIND_NOW=1" if s.w.faulty else "unset LD_BIND_NOW")
    if not s.w.faulty:
        return None
    return truth("function-missing", (function, old), "libcudnn", "LD_BIND_NOW is set",
                 f"{s.lib} has {old}, which has no {function}", "the loader ends the program")


@kind("start", ("harmless", "late", "blame", "workers", "wrapper"), place=("toolkit",),
      host=("linked", "named", "ctypes"), search=("llp",))
def directory_with_a_colon(s):
    """cargo#3736, GamePanelX-V3#116: a directory is named after a time or an address; a colon ends it in
    LD_LIBRARY_PATH."""
    stamp = s.w.rng.choice(("run-2026-05-01T12:30", "10.1.0.7:8080"))
    old, s.lib = s.lib, f"{s.home}/deploy/{stamp if s.w.faulty else stamp.replace(':', '-')}/cudnn/lib"
    s.w.at(s.lib).mkdir(parents=True)
    for name in cudnn_in(s, old):
        s.w.at(f"{old}/{name}").rename(s.w.at(f"{s.lib}/{name}"))
    s.llp = [s.lib, *s.llp]
    if not s.w.faulty:
        return None
    return truth("split-at-a-colon", (s.asked, s.lib, "LD_LIBRARY_PATH"), "libcudnn", f"cuDNN lies in {s.lib}",
                 "LD_LIBRARY_PATH names it, and is split at each colon", f"{s.asked} is not found")


@kind("start", ("harmless", "blame"), place=("venv", "conda", "toolkit"), host=("linked", "named"), search=("runpath",),
      era=(8,))
def part_opened_before_what_it_needs(s):
    """ComputeCanada/software-stack#88, cupy#5327: the parts of 8 need each other and have no search path: whether one
    can be opened depends on what was opened before."""
    files = [f"open:{s.lib}/{s.part_name(p)}" for p in ("ops_train", "adv_infer", "adv_train")]
    at = s.steps.index("create") + 1
    s.steps[at:at] = files[2:] if s.w.faulty else files
    if not s.w.faulty:
        return None
    return truth("part-not-searched", (s.part_name("ops_train"), s.part_name("adv_infer")),
                 ("libcudnn_ops_train", "libcudnn_adv_infer"), f"{s.part_name('adv_train')} is opened by its path",
                 "it needs two others, which lie beside it and are not open yet", "it has no search path")

# ---- packing: how packages are laid out, and what of them is taken along ---------------------------------------

@kind("packing", [m for m in HIDES_ABSENCE if m != "two"], place=("venv",), host=("package",),
      framework=("torch", "visionkit"), linked=True)
def each_wheel_in_a_place_of_its_own(s):
    """rules_python#2125, pytorch#92096, #117350: Bazel unpacks each package into a directory of its own, and names them
    all in PYTHONPATH; the framework's search path knows one site-packages."""
    w, top = s.w, f"{s.home}/.cache/bazel/_bazel_{s.user}/5f0e/external"
    places = {d: f"{top}/pip_{d[len(s.site) + 1:].split('/')[1]}/site-packages" for d in [s.lib, *s.cuda_dirs]}
    w.env["PYTHONPATH"] = ":".join(dict.fromkeys(places.values()))
    if not w.faulty:
        return None
    for d, place in places.items():
        to = f"{place}/{d[len(s.site) + 1:]}"
        w.at(to).parent.mkdir(parents=True, exist_ok=True)
        w.at(d).rename(w.at(to))
    for name in w.names(s.site):
        if name.startswith("nvidia_") and name.endswith(".dist-info"):
            place = places[s.lib] if "cudnn" in name else places[s.cuda_dirs[0]]
            w.at(f"{s.site}/{name}").rename(w.at(f"{place}/{name}"))
    return truth("not-found-nor-cuda", (s.facade, *companions(s)), ("libcudnn", "libcudart"),
                 f"each package lies in a directory of its own below {top}",
                 f"{s.module_name} searches $ORIGIN/../../nvidia", f"{s.facade} is not found")


@kind("packing", HIDES_ABSENCE, place=("venv",), host=("package",), framework=("visionkit",), era=(9,), cuda=("12",))
def pattern_matches_another_major(s):
    """pytorch#147001: a package opens the first file that libcudnn.so.*[0-9] matches; of two packages' files in one
    directory that is the one of the major before."""
    rebuild(s, ":".join("$ORIGIN/" + os.path.relpath(d, os.path.dirname(s.host_file)) for d in s.cuda_dirs),
            init="import ctypes, glob, os, sys\nfor _d in sys.path:\n    for _f in sorted(glob.glob(os.path.join("
                 "_d, 'nvidia/cudnn/lib/libcudnn.so.*[0-9]')))[:1]:\n"
            "        ctypes.CDLL(_f, mode=ctypes.RTLD_GLOBAL)\n")
    if not s.w.faulty:
        return None
    old = s.w.rng.choice(stock.releases(8, "11"))
    name, full, files, requires = World.cudnn_wheel(old, "11")
    files = {p: f for p, f in files.items() if p.endswith(".so.8")}
    s.w.wheel(s.site, name, full, files, requires)
    return truth("other-major-taken", (s.facade, "libcudnn.so.8"), "libcudnn",
                 f"{name} {full} has put libcudnn.so.8 into {s.lib}",
                 f"{s.module_name} opens the first of libcudnn.so.*", f"{s.facade} is not searched there")


@kind("packing", HIDES_ABSENCE, place=("venv",), host=("package",), framework=("lensflow",), era=(9,), demand=False)
def renamed_copy_left_behind(s):
    """pytorch#4494, pytorch/TensorRT#337: a wheel has a cuDNN of its own under a name with a hash; who copied the
    package took its directory, and not the one of its libraries."""
    name = f"libcudnn-a2b758a6.so.{s.version}"
    uninstall(s, s.package)
    data = stock.host(None, None, False, extra_needs=(name,)).read_bytes()
    here = os.path.dirname(s.host_file)
    dirs = [f"{s.site}/lensflow.libs", *s.cuda_dirs]
    data = stock.set_path(data, s.search, ":".join("$ORIGIN/" + os.path.relpath(d, here) for d in dirs))
    files, requires = s.w.index[s.dist][s.dist_version]
    brought = World.cudnn_files(s.version, s.cuda, "--soname", name, "--node", s.facade)
    s.w.wheel(s.site, s.dist, s.dist_version,
              {**files, os.path.relpath(s.host_file, s.site): data,
               **{f"lensflow.libs/{n}": p for n, p in brought.items()}}, ())
    s.steps = [f"name={name}" if p.startswith("name=") else p for p in s.steps]
    if not s.w.faulty:
        return None
    for n in s.w.names(f"{s.site}/lensflow.libs"):
        s.w.remove(f"{s.site}/lensflow.libs/{n}")
    s.w.at(f"{s.site}/lensflow.libs").rmdir()
    return truth("library-of-a-package-lost", name, name.split(".")[0], "lensflow.libs was not copied with lensflow",
                 f"{name} was in it", "the import fails")


@kind("packing", ALONE, place=("venv",), host=("package",), framework=("torch", "visionkit"), linked=True, demand=True,
      older=1)
def updated_where_the_framework_is_not(s):
    """WestWaters/pollard-weights#34, pytorch#96595: an environment sees the packages of the one below; a newer cuDNN
    was installed into it, and the framework of the one below has a search path of its own."""
    w = s.w
    below, new = s.prefix, f"{s.home}/envs/serve"
    site = w.venv(new)
    w.write(f"{site}/below.pth", f"{s.site}\n")
    w.env.update(VIRTUAL_ENV=new, PATH=w.env["PATH"].replace(f"{below}/bin", f"{new}/bin"))
    if not w.faulty:
        return None
    old = s.older()
    whole(s, old)
    w.wheel(site, *World.cudnn_wheel(s.version, s.cuda))
    return truth("updated-elsewhere", (old, below), "libcudnn", f"{s.package} {s.version} was installed into {new}",
                 f"{s.module_name} lies in {below} and takes {old} there", "the host refuses it")


@kind("packing", ("harmless", "blame"), printed=True, place=("venv",), host=("package",), framework=("visionkit",),
      era=(9,), cuda=("12",), versions=("9.8.0", "9.10.2", "9.13.0"), demand=False)
def server_refuses_what_is_pinned(s):
    """sglang#14119, gpustack#4407, dynamo#5482: a framework's package pins a release that is known to be slow, and a
    server that uses both refuses to start below 9.15."""
    s.w.wheel(s.site, "servekit", "0.5.6", {"servekit/__init__.py": (
        "import ctypes, os, sys\n\n\ndef check():\n"
        f"    got = ctypes.CDLL(os.path.join(os.path.dirname(__file__), '../nvidia/cudnn/lib/{s.facade}'))"
        ".cudnnGetVersion()\n    if got < 91500:\n"
        "        sys.exit('RuntimeError: CRITICAL WARNING: visionkit 1.4.2 & CuDNN Compatibility Issue Detected: '\n"
        "                 f'cuDNN {got // 10000}.{got % 10000 // 100}.{got % 100} is below 9.15')\n").encode()})
    s.w.write(s.script, f"import sys\nimport {s.module_name}\nimport servekit\nservekit.check()\n"
              f"sys.exit({s.module_name}.run(sys.argv[1:]))\n")
    if not s.w.faulty:
        whole(s, s.w.rng.choice(("9.19.0", "9.26.0")))
        return None
    return truth("refused-by-a-server", s.version, "libcudnn", f"{s.module_name} came with {s.version}",
                 "servekit wants 9.15 at least", "it refuses to start")


# ---- stand-in: libraries in the place of others, or in front of them ---------------------------------------------

@kind("stand-in", ALONE, place=("toolkit", "modules", "conda"), host=("linked", "named"), era=(8, 9),
      search=("llp", "runpath"))
def frontend_of_a_remote_gpu(s):
    """GVirtuS#1, #9: a frontend sends calls to a GPU elsewhere; its libcudnn has the name, no versions of symbols and
    not each function."""
    directory = s.w.rng.choice(("/opt/GVirtuS/lib/frontend", "/opt/gvirtus/lib/frontend"))
    function = "cudnnConvolutionForward"
    for name, source in World.cudnn_files(s.version, s.cuda, "--node", "none", "--without-function", function).items():
        s.w.put(source, f"{directory}/{name}")
    if not s.w.faulty:
        return None
    in_front(s, directory)
    return truth("front-without-functions", (directory, function), "libcudnn",
                 f"LD_LIBRARY_PATH begins with {directory}", f"its {s.facade} has no {function}",
                 "the call cannot be made")


@kind("stand-in", ("harmless", "blame"), place=("venv",), host=("package",), framework=("visionkit",), era=(8, 9),
      demand=False)
def functions_of_a_static_copy(s):
    """pytorch#32983: a package has a cuDNN inside, linked statically, and shows its functions to all: others that are
    linked with libcudnn get those."""
    data = stock.set_path(stock.host(None, None, False, flags=("-DSTUBS",)).read_bytes(), "none", "")
    mode = ", mode=ctypes.RTLD_GLOBAL" if s.w.faulty else ""
    s.w.wheel(s.site, "bigtorch", "1.4.0", {
        "bigtorch/lib/libbigtorch.so": data,
        "bigtorch/__init__.py": ("import ctypes, os\nctypes.CDLL(os.path.join(os.path.dirname(__file__), "
                                 f"'lib/libbigtorch.so'){mode})\n").encode()})
    imported(s, "bigtorch", True)
    if not s.w.faulty:
        return None
    return truth("another-library-answers", ("bigtorch",), ("libbigtorch", "libcudnn"),
                 "bigtorch has cuDNN's functions inside, and is opened for all",
                 f"{s.module_name} gets those in place of {s.facade}'s", "cudnnCreate fails")


@kind("stand-in", ("harmless", "blame"), place=("modules",), host=("linked", "named"), search=("llp",))
def hook_without_its_driver(s):
    """HAMi#704: what divides a GPU is preloaded and linked with libcuda; the container was started without NVIDIA's
    runtime, and no program comes to its first line."""
    path = s.w.rng.choice(("/usr/local/vgpu/libvgpu.so", "/libvgpu/build/libvgpu.so"))
    s.w.put(library("libvgpu.so", "int vgpu_hook;\n", beside=(("libcuda.so.1", "int cuInit;\n"),)), path)
    launched(s, preloading(path))
    if not s.w.faulty:
        return None
    take_driver_away(s)
    return truth("hook-without-driver", ("libcuda.so.1", path), "libcuda", f"LD_PRELOAD has {path}",
                 "it needs libcuda.so.1, and no driver is there", "the loader ends the program")


@kind("stand-in", ("harmless", "blame"), place=("venv",), host=("package",), framework=("torch", "visionkit"))
def hook_without_the_wheels_cuda(s):
    """sglang#36533, torch_memory_saver#108: a hook is preloaded into a worker and linked with libcudart, which only the
    search path of the framework's libraries leads to."""
    need, path = stock.companion_names(s.cuda)["cudart"], f"{s.site}/memory_saver_hook_preload.abi3.so"
    data = stock.host(None, None, False, extra_needs=(need,)).read_bytes()
    where = ":".join("$ORIGIN/" + os.path.relpath(d, s.site) for d in s.cuda_dirs)
    s.w.wheel(s.site, "memory-saver", "0.0.9", {
        os.path.basename(path): stock.set_path(data, "none" if s.w.faulty else "runpath", where)})
    launched(s, preloading(path))
    if not s.w.faulty:
        return None
    return truth("hook-without-cuda", (need,), "libcudart", f"LD_PRELOAD has {path}, which has no search path",
                 f"it needs {need}, which the loader does not find", "the loader ends the program")


@kind("stand-in", ("harmless", "blame"), place=("venv",), host=("package", "linked"), era=(9,), cuda=("12", "13"),
      search=("runpath", "rpath"), framework=("torch", "visionkit"))
def hook_of_the_last_cuda(s):
    """slime#2187: a wheel has a hook for each CUDA; a script preloads the first that is there, which is for a CUDA that
    this environment has no more."""
    other = {"12": "11", "13": "12"}[s.cuda]
    path = f"{s.site}/memory_saver_hook_cu"
    files = {}
    for cuda in (other, s.cuda):
        data = stock.host(None, None, False, extra_needs=(stock.companion_names(cuda)["cudart"],)).read_bytes()
        where = ":".join("$ORIGIN/" + d for d in World.cuda_dirs(cuda))
        files[f"{os.path.basename(path)}{cuda}.abi3.so"] = stock.set_path(data, "runpath", where)
    s.w.wheel(s.site, "memory-saver", "0.0.9", files)
    launched(s, preloading(f"{path}{other if s.w.faulty else s.cuda}.abi3.so"))
    if not s.w.faulty:
        return None
    need = stock.companion_names(other)["cudart"]
    return truth("hook-of-another-cuda", (need,), "libcudart", f"LD_PRELOAD has {path}{other}.abi3.so",
                 f"it is made for CUDA {other}, and {need} is not there", "the loader ends the program")


@kind("stand-in", ALONE, place=("toolkit", "venv", "conda"), host=("linked", "named", "package"), era=(8, 9),
      search=("runpath", "rpath", "cache"))
def runtime_of_c_in_front(s):
    """faster_rcnn#63, BVLC/caffe#4953: an environment or MATLAB has a libstdc++ of its own, older than the one that a
    library was built with, and puts it in front."""
    nodes = ["GLIBCXX_3.4.29 { global: vision_29; };", "GLIBCXX_3.4.30 { global: vision_30; } GLIBCXX_3.4.29;"]
    text, made = "int vision_29(void) { return 0; }\nint vision_30(void) { return 0; }\n", {}
    for what, some in (("new", nodes), ("old", nodes[:1])):
        script = stock._kept(f"libstdcxx-{what}.map", lambda into: (into / "map").write_text("\n".join(some))) / "map"
        made[what] = "libstdc++.so.6", text, f"-Wl,--version-script={script}"
    ops = f"{s.home}/work/ops/_vision_ops.so"
    s.w.put(library("_vision_ops.so", "int vision_30(void);\nint vision_ops(void) { return vision_30(); }\n",
                    beside=(made["new"],)), ops)
    s.w.put(library(*made["new"]), f"{SYSTEM}/libstdc++.so.6.0.30")
    s.w.link(f"{SYSTEM}/libstdc++.so.6", "libstdc++.so.6.0.30")
    s.w.system_changed = True
    directory = s.w.rng.choice(("/usr/local/MATLAB/R2021a/sys/os/glnxa64", "/opt/anaconda3/lib"))
    s.w.put(library(*made["old"]), f"{directory}/libstdc++.so.6")
    s.before_steps = [*s.before_steps, f"open:{ops}"]
    if not s.w.faulty:
        return None
    in_front(s, directory)
    return truth("newer-libc", ("libstdc++.so.6", "GLIBCXX_3.4.30"), ("libstdc++", "_vision_ops"),
                 f"LD_LIBRARY_PATH begins with {directory}, which has an older libstdc++.so.6",
                 f"{ops} wants GLIBCXX_3.4.30", "the loader refuses it")


# ---- state: what computers and drivers are in, beside their files ------------------------------------------------

@kind("state", ALONE, place=NOT_TWO, era=(9,))
def fabric_manager_not_running(s):
    """pytorch#35710, ollama#11963, jax#34113: on computers with NVSwitch the driver is not ready before the fabric
    manager runs."""
    counts_gpus(s)
    s.driver(gpu="9.0 NVIDIA H100 80GB HBM3", release="580.82.07")
    for n in range(6):
        s.w.write(f"/dev/nvidia-nvswitch{n}", "", 0o666)
    if not s.w.faulty:
        return None
    state_of_driver(s, 802)
    return truth("driver-unusable", ("802", "SYSTEM_NOT_READY", "not ready", "not yet initialized", "abric"), "libcuda",
                 "nvidia-fabricmanager does not run", "cuInit returns 802", "cudnnCreate fails")


@kind("state", ALONE, place=NOT_TWO, era=(8, 9))
def daemon_of_mps_is_gone(s):
    """nvidia-container-toolkit#714, dorado#458, ApeRAG#120: CUDA_MPS_PIPE_DIRECTORY leads to a daemon that is
    elsewhere, or of another user."""
    counts_gpus(s)
    directory = s.w.rng.choice(("/tmp/nvidia-mps", "/var/run/nvidia-mps"))
    s.w.env["CUDA_MPS_PIPE_DIRECTORY"] = directory
    s.w.write(f"{directory}/control", "")
    if not s.w.faulty:
        return None
    s.w.remove(f"{directory}/control")
    state_of_driver(s, 805)
    return truth("driver-unusable", ("805", "MPS"), "libcuda", f"{directory} has no daemon of MPS",
                 "cuInit returns 805", "cudnnCreate fails")


@kind("state", ALONE, place=("container", "venv", "toolkit"), era=(8, 9))
def driver_without_its_other_half(s):
    """numba#3396: libcuda.so.1 is found, and a library of the driver that it is linked with lies where it was mounted,
    which LD_LIBRARY_PATH has no more."""
    counts_gpus(s)
    half, directory = "libnvidia-fatbinaryloader.so.580.82.07", "/usr/local/nvidia/lib64"
    made = stock._kept("driver-in-halves", lambda into: stock._compile(
        "companion.c", into / "libcuda.so.1", "-shared", "-fPIC", "-DCUDA=0", "-Wl,-soname,libcuda.so.1",
        "-Wl,--no-as-needed", str(library(half, "int fatbinary;\n"))))
    s.w.put(made / "libcuda.so.1", f"{SYSTEM}/libcuda.so.580.82.07")
    s.w.put(library(half, "int fatbinary;\n"), f"{directory}/{half}")
    if not s.w.faulty:
        in_front(s, directory)
        return None
    return truth("driver-half-there", (half,), ("libcuda", "libnvidia-fatbinaryloader"),
                 f"{half} lies in {directory}", "the loader does not look there", "libcuda.so.1 cannot be loaded",
                 "cudnnCreate fails")


@kind("state", ("harmless", "late", "blame"), place=("toolkit", "venv", "modules"), host=("linked", "named"),
      era=(8, 9))
def forked_after_the_driver(s):
    """pytorch#2517, faster-whisper#983, vllm#32611: the GPUs are counted in the parent, and the work is done by
    children that were forked: the driver does not live on in them."""
    s.w.put(stock.driver("CUDA", 3), f"{SYSTEM}/libcuda.so.580.82.07")
    at = next((i + 1 for i, p in enumerate(s.steps) if p.startswith("name=")), 0)
    s.steps[at:at] = ["driver", "fork:2"] if s.w.faulty else ["fork:2", "driver"]
    if not s.w.faulty:
        return None
    return truth("create-failed", ("fork", "child", "parent"), "libcudnn", "the parent has called cuInit, and forks",
                 "the driver is of no use in the children", "cudnnCreate fails there")
