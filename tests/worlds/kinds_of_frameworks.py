# SPDX-License-Identifier: Apache-2.0
"""Kinds that are a sample of what people paste of what frameworks print. Twenty searches were typed, the first eight
answers of each were taken as they came, and each cause that was told and can be played here is a kind. Its weight is
how many of those threads it stands for. As in kinds.py, both twins share what stands before `if not s.w.faulty: return
None`."""
import os
import shutil

import stock
from kinds import HIDES_ABSENCE, LABELS, in_front, kind, truth, uninstall, whole
from kinds_by_hand import companions, rebuild
from kinds_of_machines import move_site, take_driver_away
from kinds_of_routes import imported
from kinds_of_starts import library
from kinds_of_threads import (BEFORE_THE_LAST, PROGRAMS, UNTIL_9_19, USUAL, WITH_CACHE, before_calls, goes_on, newer,
                              next_major, without_cudnn)
from scene import SYSTEM
from world import World

CUDA_GONE = {"dependency-missing", "cuda-dependency-differs", "gpu-stack-not-reached"}
LABELS.update({
    "printed-none-there": {"library-not-found"},
    "printed-none-listed": {"library-not-found", "search-path-suspect", *CUDA_GONE},
    "printed-none-beside-a-copy": {"library-not-found", "search-path-suspect"},
    "printed-no-dependencies": {"library-not-found", *CUDA_GONE},
    "printed-parts-not-listed": {"part-missing", "library-not-found", "search-path-suspect"},
    "printed-next-major": {"library-not-found", "major-differs"},
    "printed-next-major-linked": {"wrong-name", "major-differs", "runtime-too-new"},
    "printed-older": {"runtime-too-old"},
    "printed-older-in-front": {"runtime-too-old", "shadowed-copy", "own-copy-unused"},
    "printed-newer-in-front": {"runtime-too-new", "shadowed-copy", "own-copy-unused"},
    "printed-older-left-behind": {"runtime-too-old", "shadowed-copy", "installation-mixed", "wrong-name"},
    "printed-other-cuda": {"cuda-major-differs", *CUDA_GONE},
    "printed-nvrtc-without-plain-name": {"dependency-missing", "cuda-dependency-differs", "library-not-found",
                                         "wrong-name"},
    "printed-old-driver": {"driver-too-old"},
    "printed-old-gpu": {"driver-too-old", "gpu-unsupported"},
    "printed-cpu-package": {"cpu-only-build", "gpu-stack-not-reached"},
})

# ---- helpers --------------------------------------------------------------------------------------------


def from_here(s, *directories):
    """A search path of the package's library."""
    here = os.path.dirname(s.host_file)
    return ":".join("$ORIGIN/" + os.path.relpath(d, here) for d in directories)


def says_cpu(s):
    """As onnxruntime: a package whose library cannot be loaded says so, and goes on with the processor."""
    name = os.path.relpath(s.host_file, f"{s.site}/{s.module_name}")
    return ("import ctypes, os, sys\ntry:\n"
            f"    ctypes.CDLL(os.path.join(os.path.dirname(__file__), {name!r}))\nexcept OSError as error:\n"
            "    print('Failed to load library', error, file=sys.stderr)\n"
            "    print('Failed to create CUDAExecutionProvider. Please reference the requirements to ensure all '\n"
            "          'dependencies are met.', file=sys.stderr)\n"
            "    print(\"providers ['CPUExecutionProvider']\")\n    sys.exit(0)\n")


def exactly(s):
    """The host accepts the release that it was built with, and no other."""
    if s.host == "ctypes":
        lines = s.w.read(s.script).decode().split("\n")
        at = next(i for i, line in enumerate(lines) if line.strip().startswith("if got // base"))
        lines[at] = "        if got != built:"
        s.w.write(s.script, "\n".join(lines))
    before_calls(s, f"verify:exact:{stock.number(s.version)}")


def other_cuda(s):
    return {"10": "11", "11": "12", "12": s.w.rng.choice(("11", "13")) if s.era == 9 else "11", "13": "12"}[s.cuda]


# ---- framework-finds: nobody brought it, or nothing leads to it ---------------------------------------------------

@kind("framework-finds", HIDES_ABSENCE, place=("toolkit",), host=("linked",))
def took_cuda_for_cudnn(s):
    """pjreddie/darknet#1744: somebody has CUDA 10, and takes that for cuDNN, which is not there."""
    if not s.w.faulty:
        return None
    without_cudnn(s)
    return truth("printed-none-there", s.facade, "libcudnn", "CUDA is installed, cuDNN is not",
                 f"the loader finds no {s.facade}")


@kind("framework-finds", WITH_CACHE, weight=2, place=("toolkit", "system"), host=("linked", "named", "ctypes"), era=(7,
      8))
def newest_major_was_installed(s):
    """tensorflow#42309, mxnet#5835: a framework asks for the major that it was built with; the newest was installed."""
    if s.search == "llp":
        s.llp = [f"{os.path.dirname(s.lib)}/include", *s.llp]
    goes_on(s)
    if not s.w.faulty:
        return None
    new, cuda = next_major(s)
    whole(s, new, cuda)
    return truth("printed-next-major", (s.facade,), "libcudnn", f"cuDNN {new} was installed",
                 f"the framework was built with {s.era}, and asks for {s.facade}", "it is not found")


@kind("framework-finds", HIDES_ABSENCE, place=("venv", "container"), host=("package",), framework=("visionkit",),
      demand=False, era=(8, 9))
def other_package_has_its_own(s):
    """onnxruntime-genai#344: PyTorch works, since it brings a cuDNN of its own; who else needs one has to have it
    installed, and nobody did."""
    s.w.wheel(s.site, "torch", "2.2.0", {
        **{f"torch/lib/{n}": p for n, p in World.cudnn_files(s.version, s.cuda).items()},
        "torch/__init__.py": b"__version__ = '2.2.0'\n"})
    uninstall(s, s.package)
    rebuild(s, from_here(s, *s.cuda_dirs))
    if not s.w.faulty:
        s.w.debs(s.version, s.cuda, World.cudnn_files(s.version, s.cuda))
        return None
    return truth("printed-none-beside-a-copy", (s.facade,), "libcudnn", "cuDNN is not installed",
                 f"torch has one in its own directory, where {s.module_name} does not look", f"{s.facade} is not found")


@kind("framework-finds", HIDES_ABSENCE, place=("venv",), host=("package",), framework=("torch",))
def lock_without_dependencies(s):
    """pytorch#104259: an installer read metadata that name none of NVIDIA's packages, and installed none."""
    files, requires = s.w.index[s.dist][s.dist_version]
    if not s.w.faulty:
        return None
    for name in (s.package, *(wheel[0] for wheel in World.cuda_wheels(s.cuda))):
        uninstall(s, name)
    s.w.wheel(s.site, s.dist, s.dist_version, files, ["filelock", "sympy"] if s.w.rng.random() < 0.5 else requires)
    return truth("printed-no-dependencies", (s.facade, s.package, *companions(s)), ("libcudnn", "libcudart"),
                 "none of NVIDIA's packages was installed", f"{s.dist} has its search path into them",
                 f"{s.facade} is not found")


@kind("framework-finds", HIDES_ABSENCE, weight=2, place=("venv",), host=("package",), framework=("torch",),
      cuda=("11", "12"))
def each_package_in_a_place_of_its_own(s):
    """pytorch#101314, #131284: a build tool (pants, bazel) installs each package into a directory of its own, and lists
    them in PYTHONPATH; the framework's search path is relative, to a neighbour."""
    w = s.w
    root = w.rng.choice((f"{s.home}/.cache/pants/named_caches/pex_root/installed_wheels",
                         f"{s.home}/.cache/bazel/execroot/main/external"))
    move_site(s, f"{root}/torch/site-packages")
    if not w.faulty:
        return None
    paths = [s.site]
    for part in w.names(f"{s.site}/nvidia"):
        site = f"{root}/nvidia_{part}_cu{s.cuda}/site-packages"
        w.at(f"{site}/nvidia").mkdir(parents=True)
        w.at(f"{s.site}/nvidia/{part}").rename(w.at(f"{site}/nvidia/{part}"))
        for info in [n for n in w.names(s.site) if n.startswith(f"nvidia_{part}_") and n.endswith(".dist-info")]:
            w.at(f"{s.site}/{info}").rename(w.at(f"{site}/{info}"))
        paths.append(site)
        s.lib, *s.cuda_dirs = (d.replace(f"{s.site}/nvidia/{part}/", f"{site}/nvidia/{part}/")
                               for d in (s.lib, *s.cuda_dirs))
    w.env["PYTHONPATH"] = ":".join(paths)
    return truth("printed-none-listed", (s.facade, *companions(s)), ("libcudnn", "libcudart", "libcublas"),
                 "each package lies in a directory of its own", f"{s.dist} looks for its neighbours by $ORIGIN",
                 "nothing of NVIDIA's is found")


@kind("framework-finds", HIDES_ABSENCE, place=("venv", "container"), host=("package",), framework=("visionkit",),
      demand=False, era=(8, 9))
def found_when_torch_was_there_first(s):
    """onnxruntime#11092: CUDA and cuDNN are in the environment for torch alone; onnxruntime, which does not look there,
    works where torch was imported before it, and not where it is the first."""
    cpu = says_cpu(s) if s.w.rng.random() < 0.6 else None
    rebuild(s, "$ORIGIN", init=cpu)
    files = [f"{d}/{n}" for n in companions(s) for d in s.cuda_dirs if s.w.exists(f"{d}/{n}")]
    files = [f for f in files if "builtins" not in f] + [f"{s.lib}/{s.facade}"]
    s.w.wheel(s.site, "torch", "2.3.1", {"torch/__init__.py": (
        "import ctypes, os\n_top = os.path.dirname(os.path.dirname(__file__))\nfor _name in "
        + repr([os.path.relpath(f, s.site) for f in files])
        + ":\n    ctypes.CDLL(os.path.join(_top, _name), mode=ctypes.RTLD_GLOBAL)\n").encode()},
        [f"{s.package}=={stock.wheel_version(s.version)}"])
    imported(s, "torch", not s.w.faulty)
    if not s.w.faulty:
        return None
    return truth("printed-none-listed", (s.facade, s.lib, *companions(s)), ("libcudnn", "libcublasLt", "libcudart"),
                 f"{s.module_name} is imported before torch", "nothing leads it to CUDA and cuDNN of the environment",
                 "they are not found")


@kind("framework-finds", WITH_CACHE, weight=2, place=("venv", "container"), host=("package",), framework=("lensflow",),
      era=(9,), versions=UNTIL_9_19, demand=False)
def facade_in_the_wheel_beside_the_package(s):
    """whisperX#1100, #1103: CTranslate2's wheel has a facade under a name of its own; its parts are in nvidia/cudnn/lib
    of the same environment, and LD_LIBRARY_PATH does not name that."""
    tag = s.w.rng.choice(("7478b0c8", "74a4c495", "08c4d2ea"))
    name = f"libcudnn-{tag}.so.{s.version}"
    data = stock.host(None, None, False, extra_needs=(name,)).read_bytes()
    libs = f"{s.site}/{s.module_name}.libs"
    facade = World.cudnn_files(s.version, s.cuda, "--soname", name, "--node", s.facade)[name]
    s.w.wheel(s.site, s.dist, s.dist_version, {
        **s.w.index[s.dist][s.dist_version][0],
        os.path.relpath(s.host_file, s.site): stock.set_path(data, s.search, from_here(s, libs, *s.cuda_dirs)),
        f"{s.module_name}.libs/{name}": facade})
    s.w.wheel(s.site, "torch", "2.5.1", {"torch/__init__.py": b"__version__ = '2.5.1'\n"},
              [f"{s.package}=={stock.wheel_version(s.version)}"])
    s.steps = [f"name={name}" if p.startswith("name=") else p for p in s.steps]
    if not s.w.faulty:
        s.llp = [s.lib, *s.llp]
        return None
    return truth("printed-parts-not-listed", s.parts, ("libcudnn_cnn", "libcudnn_ops", "libcudnn_graph"),
                 f"{name} of {s.module_name} is found, beside it are no parts", f"they are in {s.lib}",
                 "LD_LIBRARY_PATH does not name that")


# ---- framework-wants: another release than the framework was built with -----------------------------------------

@kind("framework-wants", WITH_CACHE, printed=True, place=("venv",), host=("package",), framework=("tensorflow",
      "jax_plugin"), demand=True, older=1)
def wheel_for_a_local_cudnn(s):
    """jax#16901: jaxlib was installed in the flavour that takes the computer's cuDNN, which is older than what it was
    built with."""
    uninstall(s, s.package)
    version = s.older() if s.w.faulty else s.version
    if s.w.rng.random() < 0.5:
        s.w.debs(version, s.cuda, World.cudnn_files(version, s.cuda))
    else:
        directory = f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}/lib64"
        s.w.copy_of_cudnn(directory, version, s.cuda)
        s.w.write("/etc/ld.so.conf.d/cuda.conf", f"{directory}\n")
        s.w.system_changed = True
    if not s.w.faulty:
        return None
    return truth("printed-older", version, "libcudnn", f"the computer has {version}",
                 f"{s.dist} was built with {s.version}", "it refuses it")


@kind("framework-wants", USUAL, weight=2, printed=True, place=("conda",), host=("package", "linked"),
      framework=("visionkit", "lensflow", "torch"), demand=True, older=1)
def environment_takes_it_from_the_toolkit(s):
    """Detectron#319, DensePose#73: caffe2 came by conda, without a cuDNN; that of the toolkit, which LD_LIBRARY_PATH
    names, is older than what it was compiled with."""
    without_cudnn(s)
    version = s.older() if s.w.faulty else s.version
    directory = s.w.rng.choice(("/usr/local/cuda/lib64", f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}/lib64",
                                "/usr/local/cudnn/lib64"))
    s.w.copy_of_cudnn(directory, version, s.cuda)
    s.w.header(f"{os.path.dirname(directory)}/include", version)
    s.llp = [directory, *s.llp]
    if not s.w.faulty:
        return None
    return truth("printed-older", (version,), "libcudnn", f"{directory} has {version}",
                 f"conda's build was compiled with {s.version}", "it refuses it")


@kind("framework-wants", USUAL, printed=True, place=("system", "toolkit"), host=PROGRAMS, demand=False,
      versions=("7.6.5", "8.9.7"))
def compiled_with_a_later_patch(s):
    """Detectron#139: what was built from source compiles with the header of one patch and gets the library of another;
    it accepts none but its own."""
    exactly(s)
    old = {"7.6.5": "7.6.0", "8.9.7": "8.9.2"}[s.version]
    if not s.w.faulty:
        return None
    if s.place == "system" and s.w.rng.random() < 0.5:
        s.w.copy_of_cudnn("/usr/local/lib", old, s.cuda)
        s.w.system_changed = True
        label, where = "printed-older-in-front", "/usr/local/lib"
    else:
        whole(s, old)
        label, where = "printed-older", s.lib
    return truth(label, (old, where), "libcudnn", f"{where} has {old}",
                 f"the program was compiled with {s.version}", "it refuses it")


@kind("framework-wants", WITH_CACHE, printed=True, place=("toolkit",), host=("linked", "named", "ctypes"),
      versions=BEFORE_THE_LAST, demand=False)
def directory_of_torch_in_front(s):
    """Theano#5581: torch has put its own directory into LD_LIBRARY_PATH, and in it lies a newer cuDNN than the header
    with which Theano was compiled."""
    exactly(s)
    new = newer(s)
    directory = s.w.rng.choice((f"{s.home}/torch/install/lib", "/opt/torch/install/lib"))
    s.w.copy_of_cudnn(directory, new, s.cuda)
    if not s.w.faulty:
        return None
    in_front(s, directory)
    return truth("printed-newer-in-front", (directory, new), "libcudnn", f"LD_LIBRARY_PATH begins with {directory}",
                 f"it has {new}, the program was compiled with {s.version}", "it refuses it")


@kind("framework-wants", WITH_CACHE, place=("venv", "container"), host=("package",), framework=("torch",), era=(9,),
      cuda=("12",), search=("runpath",), demand=True, versions=("9.5.1", "9.8.0", "9.10.2", "9.13.0", "9.19.0"))
def one_release_for_whisper_another_for_torch(s):
    """whisperX#1297: for another package's sake 9.1.0 was downloaded and put into LD_LIBRARY_PATH; PyTorch was compiled
    with a later one, which it has brought."""
    old = "9.1.0"
    directory = s.w.rng.choice((f"/opt/cudnn-linux-x86_64-{old}.70_cuda12-archive/lib",
                                f"{s.home}/cudnn-linux-x86_64-{old}.70_cuda12-archive/lib", "/usr/local/cudnn-9.1/lib"))
    s.w.copy_of_cudnn(directory, old, s.cuda)
    if not s.w.faulty:
        return None
    in_front(s, directory)
    return truth("printed-older-in-front", (directory, old), "libcudnn", f"LD_LIBRARY_PATH has {directory}, with {old}",
                 f"{s.dist} has brought {s.version}, which is not taken", "it refuses it")


@kind("framework-wants", USUAL, place=("toolkit", "system"), host=("named",), search=("llp", "cache"), era=(7, 8),
      demand=True)
def old_name_leads_to_the_next_major(s):
    """JRMOT_ROS#9: an old TensorFlow asks for the major that it was built with, and by a link of that name it gets the
    next."""
    new, cuda = next_major(s)
    if s.place == "toolkit":
        s.llp = list(dict.fromkeys([s.lib, *s.llp]))
    if cuda != s.cuda:
        s.w.copy_of_cuda(s.cuda_dirs[0], cuda)
        s.w.system_changed = s.w.system_changed or s.search == "cache"
    if not s.w.faulty:
        return None
    whole(s, new, cuda)
    s.w.link(f"{s.lib}/{s.facade}", f"libcudnn.so.{new}")
    return truth("printed-next-major-linked", (s.facade, new), "libcudnn",
                 f"{s.lib}/{s.facade} leads to libcudnn.so.{new}", f"the framework was built with {s.version}",
                 "it refuses it")


@kind("framework-wants", USUAL, place=("toolkit",), host=("linked", "named", "unversioned", "ctypes"), era=(7,),
      versions=("7.6.0", "7.6.5"), demand=False)
def files_of_the_last_one_not_cleared(s):
    """yolo2_light#6: the files of an older release were not cleared when a newer was copied beside them, and the short
    name is still theirs: what it is asked for it does not support."""
    old = "7.4.1"
    files = World.cudnn_files(old, s.cuda, "--status", "cudnnConvolutionForward=9")
    s.w.put(files[s.facade], f"{s.lib}/libcudnn.so.{old}")
    if not s.w.faulty:
        return None
    s.w.link(f"{s.lib}/{s.facade}", f"libcudnn.so.{old}")
    s.w.system_changed = s.w.system_changed or s.search == "cache"
    return truth("printed-older-left-behind", (old, f"{s.lib}/{s.facade}"), "libcudnn",
                 f"libcudnn.so.{old} was left in {s.lib}", f"{s.facade} leads to it, and not to {s.version}",
                 "the convolution is not supported")


# ---- framework-beneath: CUDA, the driver, and packages without a GPU ---------------------------------------------

@kind("framework-beneath", USUAL, weight=2, place=("toolkit", "system"), host=("linked", "named"), search=("llp",
      "cache"), era=(8, 9))
def whole_stack_of_another_cuda(s):
    """onnxruntime#15873, TTDE#4: CUDA and cuDNN of one major are installed, and the package is the build for
    another."""
    other = other_cuda(s)
    known = stock.releases(s.era, other)
    version = s.version if s.version in known else s.w.rng.choice(known)
    goes_on(s)
    if not s.w.faulty:
        return None
    w, old = s.w, s.cuda_dirs[0]
    new = f"/usr/local/cuda-{stock.TOOLKITS[other]}/lib64"
    if s.place == "system":
        without_cudnn(s)
    shutil.rmtree(w.at(os.path.dirname(old)))
    w.copy_of_cuda(new, other)
    w.link("/usr/local/cuda", os.path.dirname(new))
    if s.search == "cache":
        w.remove(f"/etc/ld.so.conf.d/cuda-{s.cuda}.conf")
        w.write(f"/etc/ld.so.conf.d/cuda-{other}.conf", f"{new}\n")
        w.system_changed = True
    if s.place == "system":
        w.debs(version, other, World.cudnn_files(version, other))
    else:
        w.copy_of_cudnn(new, version, other)
        w.header(f"{os.path.dirname(new)}/include", version)
    s.llp = [new if d == old else d for d in s.llp]
    s.lib, s.cuda_dirs = SYSTEM if s.place == "system" else new, [new]
    return truth("printed-other-cuda", (*companions(s), f"CUDA {s.cuda}", f"CUDA {other}"),
                 ("libcudart", "libcublas", "libcublasLt", "libnvrtc"), f"CUDA {other} is installed, and its cuDNN",
                 f"the program is the build for CUDA {s.cuda}", "the first of its libraries is not found")


@kind("framework-beneath", USUAL, place=("conda",), host=("package", "named"), framework=("tensorflow", "lensflow",
      "jax_plugin"))
def environment_with_the_next_cudatoolkit(s):
    """StyleCLIP#20: an environment was made with the CUDA that the GPU wants, and an old TensorFlow was put into it,
    which asks for the libraries of the CUDA before."""
    other = {"10": "11", "11": "12", "12": "13", "13": "12"}[s.cuda]
    names = stock.companion_names(s.cuda)
    if s.era == 7:
        s.before_steps = [*s.before_steps, f"open:{names['cudart']}"]
    if s.w.rng.random() < 0.6:
        s.before_steps = ["cpu", *s.before_steps]
    if not s.w.faulty:
        return None
    w, mine = s.w, stock.companion_names(other)
    for package, parts in (("libcublas", ("cublas", "cublasLt")), ("cuda-cudart", ("cudart",)),
                           ("cuda-nvrtc", ("nvrtc", "builtins"))):
        w.remove(f"{s.prefix}/conda-meta/{package}-{stock.FULL[s.cuda]}-0.json")
        for p in parts:
            w.remove(f"{s.lib}/{names[p]}")
        w.conda_package(s.prefix, package, stock.FULL[other], "0",
                        {f"lib/{mine[p]}": stock.companion(p, other) for p in parts})
    return truth("printed-other-cuda", (*companions(s), f"CUDA {s.cuda}", f"CUDA {other}"),
                 ("libcudart", "libcublas", "libcublasLt", "libnvrtc"), f"the environment has CUDA {other}",
                 f"the framework asks for that of {s.cuda}", "it is not found")


@kind("framework-beneath", USUAL, weight=2, place=("venv", "container"), host=("package",), framework=("tensorflow",
      "torch"), era=(8,), options=("--probes", "cnn_infer=libnvrtc.so"))
def only_the_driver_and_the_wheels(s):
    """tensorflow#62194, sdnext#539: of NVIDIA there are the driver and pip's packages; a part of cuDNN asks for
    libnvrtc.so, and they have that with a number alone."""
    name = stock.companion_names(s.cuda)["nvrtc"]
    if not s.w.faulty:
        directory = f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}/lib64"
        s.w.copy_of_cuda(directory, s.cuda, only=("nvrtc", "builtins"))
        s.w.write("/etc/ld.so.conf.d/cuda.conf", f"{directory}\n")
        s.w.system_changed = True
        return None
    return truth("printed-nvrtc-without-plain-name", "libnvrtc.so", "libnvrtc", f"the wheels have {name}",
                 f"{s.part_name('cnn_infer')} asks for libnvrtc.so", "the facade takes that for a failure")


@kind("framework-beneath", (*USUAL, "toolkit"), place=("venv", "conda"), host=("package",), framework=("jax_plugin",),
      era=(9,))
def server_with_a_driver_of_yesterday(s):
    """phlash#31: jax comes with a CUDA that the server's driver is too old for."""
    if not s.w.faulty:
        return None
    release = s.w.rng.choice({"12": ("470.82.01", "510.47.03", "515.65.01"),
                              "13": ("535.104.05", "550.54.15", "570.86.15")}[s.cuda])
    take_driver_away(s)
    volta = stock.numbers(s.version) < (9, 11, 0)  # later ones have no code for it
    s.driver(release=release, state=35, gpu="7.0 Tesla V100-SXM2-32GB" if volta else "8.0 NVIDIA A100-SXM4-40GB")
    return truth("printed-old-driver", (release, f"CUDA {s.cuda}"), "libcuda", f"the driver is {release}",
                 f"CUDA {s.cuda} wants a newer one", "cudnnCreate fails")


@kind("framework-beneath", (*USUAL, "toolkit"), place=("venv",), host=("package",), framework=("torch",), era=(8,),
      cuda=("12",), demand=False)
def build_too_new_for_an_old_card(s):
    """stable-diffusion-webui#9589: a K80, whose last driver is 470, and a torch that was built with a CUDA which that
    knows nothing of; the build before works."""
    if not s.w.faulty:
        return None
    take_driver_away(s)
    s.driver(release="470.161.03", state=35, gpu="3.7 Tesla K80")
    return truth("printed-old-gpu", ("470.161.03", f"CUDA {s.cuda}", "Tesla K80", "3.7"), ("libcuda", "libcudnn"),
                 "the GPU is a Tesla K80, its driver is 470.161.03", f"torch was built with CUDA {s.cuda}",
                 "cudnnCreate fails")


@kind("framework-beneath", ("harmless", "wrapper", "toolkit"), weight=2, place=("venv", "container"), host=("package",),
      framework=("visionkit",), demand=False)
def onnxruntime_without_gpu(s):
    """onnxruntime#16931, fastT5#53: `pip install onnxruntime`, which is the build for the processor, in place of
    onnxruntime-gpu or beside it."""
    w, beside = s.w, s.w.rng.random() < 0.5
    capi, release = "onnxruntime/capi", w.rng.choice(("1.15.1", "1.16.3", "1.17.0", "1.20.1"))
    state, cuda = f"{capi}/onnxruntime_pybind11_state.so", f"{capi}/libonnxruntime_providers_cuda.so"
    state_file = library("onnxruntime_pybind11_state.so", "int ort;\n")
    here = os.path.dirname(f"{s.site}/{cuda}")
    path = ":".join("$ORIGIN/" + os.path.relpath(d, here) for d in (s.lib, *s.cuda_dirs))
    provider = stock.set_path(stock.host(s.era, s.cuda, False).read_bytes(), s.search, path)
    load = ("import ctypes, os\n_capi = os.path.join(os.path.dirname(__file__), 'capi')\n"
            "ctypes.CDLL(os.path.join(_capi, 'onnxruntime_pybind11_state.so'))\n\n\ndef run(steps):\n")
    gpu = {state: state_file, cuda: provider, "onnxruntime/__init__.py": (
        load + "    words = [b'host', *(s.encode() for s in steps)]\n"
        "    cuda = ctypes.CDLL(os.path.join(_capi, 'libonnxruntime_providers_cuda.so'))\n"
        "    return cuda.host_run(len(words), (ctypes.c_char_p * len(words))(*words))\n").encode()}
    cpu = {state: state_file, "onnxruntime/__init__.py": (
        load + "    print(\"Specified provider 'CUDAExecutionProvider' is not in available provider names. "
        "Available: 'AzureExecutionProvider, CPUExecutionProvider'\")\n    return 0\n").encode()}
    if beside or not w.faulty:
        w.wheel(s.site, "onnxruntime-gpu", release, gpu)
    w.write(s.script, "import sys\nimport onnxruntime\nsys.exit(onnxruntime.run(sys.argv[1:]))\n")
    s.steps = s.calls()
    if not w.faulty:
        return None
    w.wheel(s.site, "onnxruntime", release, cpu)
    return truth("printed-cpu-package", "onnxruntime", ("onnxruntime_pybind11_state", "libonnxruntime_providers_cuda"),
                 "onnxruntime is the build for the processor", "it never asks for cuDNN")
