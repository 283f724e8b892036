# SPDX-License-Identifier: Apache-2.0
"""Kinds that are a sample of what people ask about, by where it happens: an image, an environment, a cluster, an
editor, a distribution. Twelve searches, the first eight answers of each as they came; written by somebody who has not
read the rules. As in kinds_of_threads.py a kind's weight is how many threads it stands for, and both twins share what
stands before `if not s.w.faulty: return None`."""
import json
import os

import stock
from kinds import HIDES_ABSENCE, LABELS, kind, truth, uninstall, whole
from kinds_by_hand import companions, rebuild
from kinds_of_machines import take_driver_away
from kinds_of_routes import cudnn_in
from kinds_of_starts import library
from kinds_of_threads import (BEFORE_THE_LAST, PROGRAMS, USUAL, WITH_CACHE, before_calls, goes_on, newer,
                              with_a_facade_of_its_own, without_cudnn, without_plain_name)
from scene import SYSTEM
from world import PYTHON, World

LABELS.update({
    "two-site-directories": {"library-not-found", "search-path-suspect", "dependency-missing",
                             "cuda-dependency-differs", "gpu-stack-not-reached"},
    "framework-without-its-package": {"library-not-found", "dependency-missing", "installation-incomplete"},
    "build-of-the-solver": {"cpu-only-build", "gpu-stack-not-reached"},
    "major-of-another-year": {"library-not-found", "major-differs"},
    "major-by-the-plain-name": {"runtime-too-old", "major-differs", "missing-symbols", "wrong-name"},
    "too-old-to-have-it": {"missing-symbols", "symbol-version-not-found", "runtime-too-old"},
    "too-new-in-the-image": {"runtime-too-new"},
    "shell-is-not-asked": {"library-not-found", "search-path-suspect", "dependency-missing",
                           "cuda-dependency-differs", "gpu-stack-not-reached"},
    "parts-beside-nothing": {"part-missing", "library-not-found", "search-path-suspect"},
    "never-handed-to-the-loader": {"gpu-stack-not-reached", "library-not-found", "search-path-suspect",
                                   "not-observed"},
    "driver-by-plain-name": {"driver-missing", "dependency-missing", "library-not-found", "wrong-name"},
    "driver-of-32-bits": {"bad-file", "driver-missing", "dependency-missing", "wrong-name", "library-not-found"},
})

# ---- helpers --------------------------------------------------------------------------------------------


def often_the_processor(s):
    """Half of the frameworks go on without a GPU where a library cannot be opened."""
    if s.w.rng.random() < 0.5 and not s.linked_framework:
        s.before_steps = ["cpu", *s.before_steps]


def from_the_system(s, version, cuda=None):
    """cuDNN is not the environment's: it lies where apt, or a tar, has put it."""
    w, cuda = s.w, cuda or s.cuda
    uninstall(s, s.package)
    if w.rng.random() < 0.5 or s.place == "container":
        w.debs(version, cuda, World.cudnn_files(version, cuda))
        return SYSTEM
    directory = w.rng.choice((f"/usr/local/cuda-{stock.TOOLKITS[cuda]}/lib64", "/usr/local/cuda/lib64"))
    w.copy_of_cudnn(directory, version, cuda)
    s.llp = [*s.llp, directory]
    return directory


def last_major(s):
    """A release of the major before, and its CUDA."""
    cuda = "10" if s.era == 8 else s.cuda
    return s.w.rng.choice(stock.releases(s.era - 1, cuda)), cuda


def conda_framework(s, package, build, files):
    """The framework as conda has it: its record, and the list that pip shows."""
    w, version = s.w, s.dist_version
    uninstall(s, s.dist)
    for path, data in files.items():
        w.put(data, f"{s.site}/{path}")
    info = f"{s.dist}-{version}.dist-info"
    w.write(f"{s.site}/{info}/METADATA", f"Metadata-Version: 2.1\nName: {s.dist}\nVersion: {version}\n")
    w.write(f"{s.site}/{info}/INSTALLER", "conda\n")
    listed = [f"lib/{PYTHON}/site-packages/{p}" for p in (*files, f"{info}/METADATA", f"{info}/INSTALLER")]
    w.write(f"{s.prefix}/conda-meta/{package}-{version}-{build}.json", json.dumps({
        "name": package, "version": version, "build": build, "build_number": 0, "channel": "conda-forge", "depends": [],
        "files": listed, "paths_data": {"paths_version": 1, "paths": [
            {"_path": p, "path_type": "hardlink", "size_in_bytes": os.path.getsize(w.at(f"{s.prefix}/{p}"))}
            for p in listed]}}))


# ---- solvers: what pip, uv, conda and mamba have put there ------------------------------------------------------

@kind("solvers", HIDES_ABSENCE, weight=3, place=("venv",), host=("package",))
def two_site_directories(s):
    """pytorch#165812, #138324, #104259: AlmaLinux, Fedora: the framework goes to lib64, NVIDIA's packages to lib; what
    the framework's search path names relative to itself is not there."""
    w = s.w
    site = s.site.replace("/lib/", "/lib64/")
    w.write(f"{s.site}/_platlib.pth", f"{site}\n")
    if not w.faulty:
        w.link(f"{s.prefix}/lib64", "lib")
        return None
    files, requires = w.index[s.dist][s.dist_version]
    uninstall(s, s.dist)
    w.wheel(site, s.dist, s.dist_version, files, requires)
    return truth("two-site-directories", (s.facade, s.lib, *companions(s)), ("libcudnn", "libcudart", "libcublas"),
                 f"{s.dist} is in {site}, {s.package} in {s.site}", "the search path is relative to the framework",
                 f"{s.facade} is not found")


@kind("solvers", HIDES_ABSENCE, place=("venv", "container"), host=("package",), framework=("torch",), era=(9,))
def synchronised_without_cudnn(s):
    """sleap-nn#632: uv sync lays the framework out and leaves its package of cuDNN away: in the lock that hangs on
    another extra."""
    w = s.w
    w.write(f"{s.home}/work/pyproject.toml", f'[project]\nname = "nn"\ndependencies = ["{s.dist}=={s.dist_version}"]\n')
    if not w.faulty:
        return None
    uninstall(s, s.package)
    return truth("framework-without-its-package", (s.facade, s.package), "libcudnn", f"{s.package} is not installed",
                 f"{s.dist} requires it", f"{s.facade} is not found")


@kind("solvers", HIDES_ABSENCE, place=("conda",), host=("package",), framework=("torch", "visionkit"), era=(8, 9))
def nightly_without_cudnn(s):
    """pytorch#74779: the build of that night has no cuDNN any more, and nothing else in the environment brings it."""
    if not s.w.faulty:
        return None
    without_cudnn(s)
    return truth("framework-without-its-package", (s.facade,), "libcudnn", f"{s.prefix} has no cuDNN",
                 "the framework is linked with it", f"{s.facade} is not found")


@kind("solvers", ("harmless", "late", "workers", "wrapper", "toolkit"), weight=3, place=("conda",), host=("package",),
      framework=("torch", "tensorflow"), era=(8, 9))
def solved_for_the_processor(s):
    """sagemaker-distribution#438, jupyterhub-deploy-kubernetes-jetstream#72, asapdiscovery#743: conda's solver, or
    mamba on a machine without a GPU, took the framework's build for the processor; cuDNN lies beside it."""
    torch = s.framework == "torch"
    package, full = "pytorch" if torch else "tensorflow", f"{s.cuda}0"
    known = s.w.index[s.dist][s.dist_version][0]
    tell = {"torch/version.py": f"__version__ = '{s.dist_version}'\ncuda = '{stock.TOOLKITS[s.cuda]}'\n".encode()} \
        if torch else {"tensorflow/python/platform/build_info.py": (
            "import collections\nbuild_info = collections.OrderedDict([('cuda_version', "
            f"'{stock.TOOLKITS[s.cuda]}'), ('is_cuda_build', True)])\n").encode()}
    if not s.w.faulty:
        conda_framework(s, package, f"cuda{full}py311h25c9e1d_300", {**known, **tell})
        return None
    name = "torch/lib/libtorch_cpu.so" if torch else "tensorflow/libtensorflow_framework.so.2"
    init = (f"import ctypes, os\nctypes.CDLL(os.path.join(os.path.dirname(__file__), {name.split('/', 1)[1]!r}))\n\n\n"
            "def run(steps):\n    print('device cpu')\n    print('done')\n    return 0\n")
    tell = {"torch/version.py": f"__version__ = '{s.dist_version}'\ncuda = None\n".encode()} if torch else \
        {"tensorflow/python/platform/build_info.py": (
            b"import collections\nbuild_info = collections.OrderedDict([('is_cuda_build', False)])\n")}
    build = "cpu_generic_py311h0d4f6b7_0" if torch else "cpu_py311h6ac8430_0"
    conda_framework(s, package, build, {
        name: library(os.path.basename(name), "int processor_alone;\n").read_bytes(),
        f"{s.module_name}/__init__.py": init.encode(), **tell})
    return truth("build-of-the-solver", (package, s.dist, "cpu"), (f"lib{s.module_name}_cpu", f"lib{s.module_name}_framework"),
                 f"conda chose {package} {build}", "it has nothing of CUDA", "it works on the processor")


@kind("solvers", ("harmless", "wrapper"), place=("container",), host=("package",), framework=("torch",), era=(9,))
def image_with_both_of_a_runtime(s):
    """microWakeWord-Trainer-Nvidia-Docker#1: the image has onnxruntime-gpu, and onnxruntime over it: torch sees the
    GPU, onnxruntime offers the processor alone."""
    w = s.w
    core, cuda = "onnxruntime/capi/onnxruntime_pybind11_state.so", "onnxruntime/capi/libonnxruntime_providers_cuda.so"
    here = os.path.dirname(f"{s.site}/{cuda}")
    path = ":".join("$ORIGIN/" + os.path.relpath(d, here) for d in (s.lib, *s.cuda_dirs))
    start = ("import ctypes\nimport os\n\n_capi = os.path.join(os.path.dirname(__file__), 'capi')\n"
             "ctypes.CDLL(os.path.join(_capi, 'onnxruntime_pybind11_state.so'))\n\n\n")
    gpu = start + ("def run(steps):\n    print(['TensorrtExecutionProvider', 'CUDAExecutionProvider', "
                   "'CPUExecutionProvider'], flush=True)\n    words = [b'host', *(s.encode() for s in steps)]\n"
                   "    cuda = ctypes.CDLL(os.path.join(_capi, 'libonnxruntime_providers_cuda.so'))\n"
                   "    return cuda.host_run(len(words), (ctypes.c_char_p * len(words))(*words))\n")
    cpu = start + ("def run(steps):\n    print(['AzureExecutionProvider', 'CPUExecutionProvider'])\n"
                   "    print('CUDAExecutionProvider not available: falls back to the processor')\n    return 0\n")
    w.wheel(s.site, "onnxruntime-gpu", "1.23.0", {
        core: library("onnxruntime_pybind11_state.so", "int ort_gpu;\n").read_bytes(),
        cuda: stock.set_path(stock.host(s.era, s.cuda, False).read_bytes(), s.search, path),
        "onnxruntime/__init__.py": gpu.encode()})
    w.write(s.script, "import sys\nimport torch\nimport onnxruntime\n\nstatus = torch.run(['driver'])\n"
                      "sys.exit(status or onnxruntime.run(sys.argv[1:]))\n")
    s.steps = s.calls()
    if not w.faulty:
        return None
    w.wheel(s.site, "onnxruntime", "1.22.1", {
        core: library("onnxruntime_pybind11_state.so", "int ort;\n").read_bytes(),
        "onnxruntime/__init__.py": cpu.encode()})
    return truth("build-of-the-solver", "onnxruntime", ("onnxruntime_pybind11_state", "libonnxruntime_providers_cuda"),
                 "onnxruntime lies over onnxruntime-gpu", "it never asks for cuDNN")


# ---- generations: a program of one, a system of another -----------------------------------------------------------

@kind("generations", USUAL, weight=2, place=("venv", "container"), host=("package",), framework=("tensorflow",
      "lensflow"), era=(8, 9), cuda=("11", "12"), demand=False)
def upgraded_past_its_cudnn(s):
    """tensorflow#8898, #12521: pip upgrades the framework, which asks for the next major; the one that the guide told
    of is installed."""
    often_the_processor(s)
    version, cuda = last_major(s) if s.w.faulty else (s.version, s.cuda)
    directory = from_the_system(s, version, cuda)
    if not s.w.faulty:
        return None
    return truth("major-of-another-year", (s.facade, version), "libcudnn", f"{directory} has {version}",
                 f"{s.dist} asks for {s.facade}", "it is not found")


@kind("generations", USUAL, place=("container",), host=("package",), framework=("tensorflow", "lensflow"), era=(8,),
      cuda=("12",), demand=False)
def image_of_the_next_generation(s):
    """gpu-jupyter#148 (#147): the image has cuDNN 9, with which its torch works; its TensorFlow asks for 8."""
    often_the_processor(s)
    version = s.w.rng.choice(stock.releases(9, "12")) if s.w.faulty else s.version
    from_the_system(s, version)
    if not s.w.faulty:
        return None
    return truth("major-of-another-year", (s.facade, version), "libcudnn", f"the image has {version}",
                 f"{s.dist} asks for {s.facade}", "it is not found")


@kind("generations", WITH_CACHE, place=("toolkit", "system", "container"), host=("named",), era=(9,), cuda=("12",),
      versions=("9.8.0", "9.10.2", "9.13.0", "9.19.0"), demand=False)
def guide_of_an_older_release(s):
    """tensorflow-gpu-install-ubuntu-16.04#17: a guide's cuDNN is older than what today's framework calls: it is killed
    without a word of that."""
    at = s.steps.index("create") + 1
    s.steps[at:at] = ["wants:cudnnBackendPopulateCudaGraph"]
    if not s.w.faulty:
        return None
    whole(s, "9.1.0")
    return truth("too-old-to-have-it", ("cudnnBackendPopulateCudaGraph", "9.1.0"), "libcudnn", "9.1.0 is installed",
                 f"the program is of the time of {s.version}", "it calls what 9.1.0 has not")


@kind("generations", WITH_CACHE, printed=True, place=("toolkit", "system"), host=("unversioned",), era=(8, 9),
      cuda=("11", "12"), demand=True)
def plain_name_leads_to_the_last_major(s):
    """tensorflow#4251: the framework opens libcudnn.so, as the instructions said that is the major before, and it
    refuses it."""
    if not s.w.faulty:
        return None
    old, cuda = last_major(s)
    whole(s, old, cuda)
    return truth("major-by-the-plain-name", (old,), "libcudnn", f"libcudnn.so is {old}",
                 f"the program was built with {s.version}", "it refuses it")


@kind("generations", WITH_CACHE, printed=True, place=("container",), host=("package", *PROGRAMS),
      framework=("visionkit", "lensflow"), versions=BEFORE_THE_LAST, demand=False)
def base_image_moved_on(s):
    """keras#9567: the tag of the base image stands for a newer cuDNN now, and the framework in it wants the minor that
    it was built with."""
    before_calls(s, f"verify:exact:{stock.number(s.version)}")
    version = newer(s) if s.w.faulty else s.version
    if s.host == "package":
        uninstall(s, s.package)
        s.w.debs(version, s.cuda, World.cudnn_files(version, s.cuda))
    elif s.w.faulty:
        whole(s, version)
    if not s.w.faulty:
        return None
    return truth("too-new-in-the-image", version, "libcudnn", f"the image has {version}",
                 f"the program wants {s.version}", "it refuses it")


# ---- desks: editors, notebooks, services; and who searches by himself ----------------------------------------------

@kind("desks", HIDES_ABSENCE, weight=2, place=("venv", "toolkit"), host=("ctypes", "named", "linked"), search=("llp",))
def editor_started_from_the_desktop(s):
    """tensorflow#9530, interestingsaving#22: what ~/.bashrc exports is in the terminal, and not in PyCharm, whose own
    script puts its directory in front."""
    w = s.w
    home = w.rng.choice((f"{s.home}/pycharm-community-2017.1", "/opt/pycharm-2018.1", "/snap/pycharm-community/236"))
    w.write(f"{s.home}/.bashrc", f"export LD_LIBRARY_PATH={':'.join(s.llp)}:$LD_LIBRARY_PATH\n")
    w.write(f"{home}/bin/pycharm.sh", "\n".join([
        "#!/bin/bash", f'IDE_BIN_HOME="{home}/bin"',
        'export LD_LIBRARY_PATH="$IDE_BIN_HOME${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"', 'exec "$@"', ""]), 0o755)
    w.argv = [f"{home}/bin/pycharm.sh", *w.argv]
    if not w.faulty:
        return None
    s.llp = []
    return truth("shell-is-not-asked", (s.asked, *companions(s)), ("libcudnn", "libcudart"),
                 "the editor was started from the desktop", "what ~/.bashrc exports is not there",
                 f"{s.asked} is not found")


@kind("desks", HIDES_ABSENCE, place=("venv",), host=("package",), framework=("visionkit",), demand=False)
def notebook_exports_for_a_shell(s):
    """jupyter/notebook#1290: a cell says os.system('export LD_LIBRARY_PATH=...'), or writes into os.environ, and
    imports the module then."""
    w, in_a_shell = s.w, s.w.rng.random() < 0.5
    for wheel in World.cuda_wheels(s.cuda):
        uninstall(s, wheel[0])
    uninstall(s, s.package)
    s.lib = f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}/lib64"
    s.cuda_dirs = [s.lib]
    w.copy_of_cudnn(s.lib, s.version, s.cuda)
    w.copy_of_cuda(s.lib, s.cuda)
    rebuild(s, "$ORIGIN")
    if not w.faulty:
        s.llp = [s.lib]
        return None
    line = f"os.system('export LD_LIBRARY_PATH={s.lib}:$LD_LIBRARY_PATH')" if in_a_shell else \
        f"os.environ['LD_LIBRARY_PATH'] = '{s.lib}:$LD_LIBRARY_PATH'"
    w.write(s.script, f"import os\n{line}\n" + w.read(s.script).decode())
    return truth("shell-is-not-asked", (s.facade, s.lib, *companions(s)), ("libcudnn", "libcudart", "libcublas"),
                 "LD_LIBRARY_PATH is set in the process", "the loader has read it before", f"{s.facade} is not found")


@kind("desks", HIDES_ABSENCE, place=("venv",), host=("package",), framework=("lensflow",), era=(8,), demand=False)
def service_without_the_parts_directory(s):
    """Whisper-WebUI#114: a facade in the package's own directory opens parts; those lie in the same environment, with
    torch or with NVIDIA's package, and the service does not name that."""
    w = s.w
    with_a_facade_of_its_own(s)
    if w.rng.random() < 0.5:
        w.wheel(s.site, *World.cudnn_wheel(s.version, s.cuda))
    else:
        s.lib = f"{s.site}/torch/lib"
        w.wheel(s.site, "torch", "2.1.2", {
            "torch/__init__.py": b"\n",
            **{f"torch/lib/{n}": p for n, p in World.cudnn_files(s.version, s.cuda).items()}})
    if not w.faulty:
        s.llp = [s.lib, *s.llp]
        return None
    return truth("parts-beside-nothing", (*s.parts, s.lib), "libcudnn_ops_infer", f"the parts lie in {s.lib}",
                 f"{s.module_name}'s facade lies elsewhere", "LD_LIBRARY_PATH does not name them")


@kind("desks", ("harmless", "late", "wrapper"), place=("toolkit",), host=("ctypes",), search=("llp",), demand=False)
def asks_python_where_it_is(s):
    """Theano#5370: ctypes.util.find_library asks ldconfig and a compiler, and not LD_LIBRARY_PATH; where that says
    nothing, nothing is opened."""
    w = s.w
    falls_back = w.rng.random() < 0.5
    give_up = "print('device cpu')\n    sys.exit(0)" if falls_back else \
        "sys.exit('Could not find cudnn library (looked for v5[.1])')"
    text = w.read(s.script).decode().replace("cudnn = None\n", (
        "import ctypes.util\n\nfound = ctypes.util.find_library('cudnn')\nif not found:\n    " + give_up
        + "\ncudnn = None\n"))
    w.write(s.script, text.replace("ctypes.CDLL(step[5:])", "ctypes.CDLL(found)", 1))
    if not w.faulty:
        w.write("/etc/ld.so.conf.d/cudnn.conf", f"{s.lib}\n")
        w.system_changed = True
        return None
    return truth("never-handed-to-the-loader", ("libcudnn", s.lib, "cuDNN"), "libcudnn",
                 f"{s.lib} is in LD_LIBRARY_PATH alone", "find_library('cudnn') is None", "nothing is opened")


@kind("desks", USUAL, place=("toolkit",), host=("unversioned",), search=("llp",))
def package_of_fedora_without_the_plain_name(s):
    """CUDAapi.jl#62: /usr/lib64 has libcudnn.so.7 and its file, as the package for running has them; who asks for
    libcudnn finds nothing, with LD_LIBRARY_PATH, too."""
    w = s.w
    goes_on(s)
    for name in cudnn_in(s, s.lib):
        w.remove(f"{s.lib}/{name}")
    s.llp = ["/usr/lib64", *[d for d in s.llp if d != s.lib], s.lib]
    s.lib = "/usr/lib64"
    w.copy_of_cudnn(s.lib, s.version, s.cuda)
    if not w.faulty:
        return None
    without_plain_name(s)
    return truth("name-not-there", "libcudnn.so", "libcudnn", f"/usr/lib64 has {s.facade}",
                 "no link libcudnn.so leads to it", "the program asks for that")


# ---- lower-floors: the driver, and what lies beside cuDNN ------------------------------------------------------------

@kind("lower-floors", USUAL, place=("venv",), host=("package",), framework=("torch", "visionkit"), era=(8,),
      options=("--probes", "cnn_infer=libnvrtc.so"))
def wheel_has_nvrtc_by_its_number(s):
    """sdnext#539: a clean installation of torch 2.0: a part asks for libnvrtc.so, the wheel has one with a number, and
    there is no toolkit on the computer that would help."""
    name = stock.companion_names(s.cuda)["nvrtc"]
    directory = next(d for d in s.cuda_dirs if s.w.exists(f"{d}/{name}"))
    if not s.w.faulty:
        toolkit = f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}/lib64"
        s.w.copy_of_cuda(toolkit, s.cuda, only=("nvrtc", "builtins"))
        s.w.write("/etc/ld.so.conf.d/cuda.conf", f"{toolkit}\n")
        s.w.system_changed = True
        return None
    return truth("cuda-without-plain-name", "libnvrtc.so", "libnvrtc", f"{directory} has {name}",
                 f"{s.part_name('cnn_infer')} asks for libnvrtc.so")


@kind("lower-floors", USUAL, place=("conda", "venv"), host=("package", "linked"), era=(8,),
      options=("--probes", "cnn_infer=libcuda.so"))
def demo_in_wsl(s):
    """TinyLLaVA_Factory#134: a demo in WSL: a part asks for libcuda.so, which /usr/lib/wsl/lib has and the loader's
    cache has not."""
    directory = "/usr/lib/wsl/lib"
    take_driver_away(s, kernel=False)
    s.driver(release="560.94", directory=directory)
    s.w.write("/etc/ld.so.conf.d/ld.wsl.conf", f"{directory}\n")
    s.w.system_changed = True
    s.w.finish()
    s.w.link(f"{directory}/libcuda.so", "libcuda.so.1")
    if not s.w.faulty:
        s.llp = [*s.llp, directory]
        return None
    return truth("driver-by-plain-name", "libcuda.so", "libcuda", "the loader's cache has libcuda.so.1 alone",
                 f"{s.part_name('cnn_infer')} asks for libcuda.so")


@kind("lower-floors", USUAL, place=("conda", "venv", "modules", "toolkit"), era=(8,),
      options=("--probes", "cnn_infer=libcuda.so"))
def driver_of_32_bits(s):
    """SMPLer-X#37: a job of Slurm: a part asks for libcuda.so, and the one that has this name is that of 32-bit
    programs."""
    s.w.write("/usr/lib/libcuda.so.1", stock.other_class(stock.driver("CUDA").read_bytes()), 0o755)
    s.w.link("/usr/lib/libcuda.so", "libcuda.so.1")
    s.w.system_changed = True
    if not s.w.faulty:
        s.w.link(f"{SYSTEM}/libcuda.so", "libcuda.so.1")
        return None
    return truth("driver-of-32-bits", "libcuda.so", "libcuda", "/usr/lib/libcuda.so is for 32-bit programs",
                 f"{SYSTEM} has libcuda.so.1 alone", f"{s.part_name('cnn_infer')} asks for libcuda.so")


@kind("lower-floors", (*USUAL, "toolkit"), place=("container",))
def container_of_plain_docker(s):
    """tensorflow#808: the image for GPUs is started by docker alone, not by what gives it the driver: no device."""
    s.llp = [*s.llp, "/usr/local/nvidia/lib", "/usr/local/nvidia/lib64"]
    before_calls(s, "driver")
    if s.host == "named" or s.host == "package" and not s.linked_framework:
        if s.w.rng.random() < 0.5:
            s.before_steps = ["cpu", *s.before_steps]
    if not s.w.faulty:
        return None
    take_driver_away(s)
    return truth("no-driver-at-all", ("libcuda", "driver"), "libcuda", "docker gave the container no driver",
                 "no device is counted")
