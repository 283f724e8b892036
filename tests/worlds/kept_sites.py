# SPDX-License-Identifier: Apache-2.0
"""Kinds that are a sample of what people ask about by where it runs: containers, clusters, hosted notebooks, WSL,
Jetsons, NixOS, sandboxes. Seventeen searches, the first eight answers of each as they came: 135 answers, 122 threads,
72 of them used: where what a thread shows tells its cause. Written by somebody who has not read the rules. As in
kinds_of_threads.py a kind's weight is how many threads it stands for, and both twins share what stands before `if not
s.w.faulty: return None`."""
import os
import shutil

import stock
from kinds import LABELS, kind, truth, uninstall, whole
from kinds_by_hand import companions, rebuild
from kinds_of_applications import application, ctranslate2, cuda_of_the_system, image_of_nvidia, runtime_deb
from kinds_of_machines import take_driver_away
from kinds_of_science import onnxruntime, weather
from kinds_of_starts import library
from kinds_of_surroundings import conda_framework, often_the_processor
from kinds_of_threads import BEFORE_THE_LAST, before_calls, exports, goes_on, newer, without_cudnn
from kinds_of_upgrades import framework_again, from_the_image, started_by, verifies
from scene import SYSTEM
from world import World

CUDA_MISSING = {"dependency-missing", "cuda-dependency-differs", "gpu-stack-not-reached"}
LABELS.update({
    "site-image-has-no-parts": {"part-missing", "library-not-found"},
    "site-launcher-names-no-wheels": {"part-missing", "library-not-found", "search-path-suspect"},
    "site-lacks-cuda": CUDA_MISSING,
    "site-lacks-cuda-and-cudnn": CUDA_MISSING | {"library-not-found"},
    "site-driver-by-plain-name": {"driver-missing", "dependency-missing", "wrong-name"},
    "site-image-and-pip-mixed": {"parts-differ", "facade-and-parts-differ", "part-from-other-installation",
                                 "symbol-version-not-found", "missing-symbols", "shadowed-copy", "own-copy-unused"},
    "site-has-an-older-one": {"runtime-too-old"},
    "site-import-before": {"already-loaded-by-soname", "runtime-too-old", "own-copy-unused", "demands-conflict"},
    "site-no-driver": {"driver-missing", "dependency-missing", "gpu-stack-not-reached"},
    "site-driver-of-the-image": {"driver-mixed"},
    "site-module-of-other-cuda": CUDA_MISSING | {"cuda-major-differs"},
    "site-nothing-leads-there": CUDA_MISSING | {"library-not-found", "search-path-suspect"},
    "site-image-too-new": {"runtime-too-new"},
    "site-build-for-the-processor": {"cpu-only-build", "gpu-stack-not-reached"},
    "site-no-cudnn": {"library-not-found", "dependency-missing", "gpu-stack-not-reached"},
})

STEPS = ("harmless", "late", "workers", "wrapper")
USUAL = (*STEPS, "blame")
QUIET = ("harmless", "wrapper")
WHISPER = {"host": ("package",), "framework": ("lensflow",), "era": (8, 9), "cuda": ("12",), "demand": False,
           "versions": ("8.9.2", "8.9.7", "9.1.0", "9.5.1")}
NIX = {"place": ("toolkit",), "host": ("linked",), "search": ("runpath",), "era": (8, 9), "demand": False}
OF_TENSORFLOW = ("8.2.1", "8.5.0", "8.6.0", "9.5.1", "9.8.0", "9.13.0", "9.19.0")  # with CUDA 11, or 12
WSL, OPENGL = "/usr/lib/wsl/lib", "/run/opengl-driver/lib"

# ---- helpers --------------------------------------------------------------------------------------------


def in_wsl(s):
    """The driver is Windows': copies of one file, and no kernel module."""
    take_driver_away(s)
    s.w.write("/dev/dxg", "", 0o666)
    for name in ("libcuda.so", "libcuda.so.1", "libcuda.so.1.1"):
        s.w.put(stock.driver("CUDA"), f"{WSL}/{name}")
    s.w.put(stock.driver("NVML"), f"{WSL}/libnvidia-ml.so.1")
    s.w.write("/etc/ld.so.conf.d/ld.wsl.conf", f"{WSL}\n")
    s.w.system_changed = True


def in_singularity(s):
    s.w.write("/.singularity.d/runscript", "#!/bin/sh\nexec \"$@\"\n", 0o755)
    s.llp = [*s.llp, "/.singularity.d/libs"]


def image_framework(s):
    """The framework is pip's, all of NVIDIA the image's."""
    from_the_image(s, s.version, s.cuda)
    framework_again(s, s.dist_version, [])
    s.cuda_dirs, s.lib, s.owner = [f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}/lib64"], SYSTEM, "deb"


def other_module(s, version, cuda):
    """The job loads another module of cuDNN."""
    module = f"{s.module.rsplit('/', 1)[0]}/{version}-cuda-{cuda}"
    s.w.copy_of_cudnn(f"{module}/lib", version, cuda)
    s.w.header(f"{module}/include", version)
    exports(s, f"{module}/lib", *s.cuda_dirs)
    s.wrapper_lines[1] = f"export CUDNN_HOME={module} EBROOTCUDNN={module}"
    return module


# ---- site-images: what images of containers have, and have not ----------------------------------------------------

@kind("site-images", USUAL, weight=3, place=("container",), **WHISPER)
def image_has_no_parts(s):
    """VoiceStreamAI#17, faster-whisper#729, docker-faster-whisper#42: the image has CUDA, and no cuDNN of the major
    that CTranslate2's wheel has a facade of."""
    uninstall(s, s.package)
    cuda_of_the_system(s)
    image_of_nvidia(s)
    application(s, "main.py", ctranslate2(s, "4.4.0" if s.era == 8 else "4.5.0"))
    if not s.w.faulty:
        runtime_deb(s, s.version)
        return None
    return truth("site-image-has-no-parts", s.parts, ("libcudnn_ops_infer", "libcudnn_graph"),
                 f"the image has no cuDNN {s.era}", "the facade of CTranslate2 opens its parts", "it finds none")


@kind("site-images", USUAL, weight=4, place=("venv", "container"), **WHISPER)
def launcher_names_no_wheels(s):
    """egl-docker#1, faster-whisper#516, GPT-SoVITS#697, buzz#951: pip has put cuDNN into the environment; vglrun, the
    entry point of an image, or the launcher of a snap does not name its directory."""
    application(s, "main.py", ctranslate2(s, "4.4.0" if s.era == 8 else "4.5.0"))
    path = s.w.rng.choice(("/opt/VirtualGL/bin/vglrun", "/app/entrypoint.sh", "/snap/buzz/current/desktop-launch"))
    started_by(s, path, *([] if s.w.faulty else [f"export LD_LIBRARY_PATH={s.lib}"]))
    if not s.w.faulty:
        return None
    return truth("site-launcher-names-no-wheels", (*s.parts, s.lib), ("libcudnn_ops_infer", "libcudnn_graph"),
                 f"the parts lie in {s.lib}", f"{path} does not name it", "the facade finds none")


@kind("site-images", USUAL, weight=7, place=("container",), host=("package", "linked", "named"), framework=("torch",),
      era=(8, 9), cuda=("11", "12"))
def image_lacks_libraries_of_cuda(s):
    """jetson-containers#9, #126, #100, jetson-inference#1400: a container of L4T is to get CUDA from the Jetson, whose
    JetPack is another. nvidia-container-toolkit#254, facefusion-docker#8, ollama#7512: an image or a snap was made
    without libcublas, libnvrtc, libcudart."""
    w = s.w
    if s.host == "package":
        image_framework(s)
    lost = w.rng.choice(("l4t", "l4t", "l4t", "l4t", "cublas", "nvrtc", "cudart"))
    directory = s.cuda_dirs[0]
    if lost == "l4t":  # cuDNN comes from outside as well
        without_cudnn(s)
        w.copy_of_cudnn(SYSTEM, s.version, s.cuda)
        for name in ("libcudadevrt.a", "libcudart_static.a"):
            w.write(f"{directory}/{name}", "!<arch>\n")
    elif lost == "cublas":  # a cure that was tried
        s.llp = [*s.llp, f"{SYSTEM}/{s.parts[-1]}"]
    w.system_changed = True
    if not w.faulty:
        return None
    names = stock.companion_names(s.cuda)
    gone = {"l4t": list(names), "cublas": ["cublas", "cublasLt"], "nvrtc": ["nvrtc", "builtins"]}.get(lost, [lost])
    stems = tuple(names[g].split(".so")[0] + ".so" for g in gone)
    for name in w.names(directory):
        if name.startswith(stems):
            w.remove(f"{directory}/{name}")
    guilty = [names[g] for g in gone]
    nothing = lost == "l4t" and w.rng.random() < 0.5
    if nothing:
        s.owner = "none"
        without_cudnn(s)
        guilty.append(s.facade)
    return truth("site-lacks-cuda-and-cudnn" if nothing else "site-lacks-cuda", guilty,
                 [g.split(".so")[0] for g in guilty], f"{directory} has no {names[gone[0]]}", "it is not found")


@kind("site-images", STEPS, weight=2, place=("conda",), host=("package",), framework=("torch",), era=(8,),
      cuda=("11",), versions=("8.5.0", "8.6.0", "8.9.2"))
def pip_adds_another_to_the_image(s):
    """pytorch#104591, faster-whisper#543: the image of PyTorch has cuDNN in conda's lib; the Dockerfile adds NVIDIA's
    wheel, of a later release, and puts its directory into LD_LIBRARY_PATH."""
    w, new, inner = s.w, "8.9.7", "_ZN11nvrtcHelper4loadEb"
    w.write("/.dockerenv", "")
    w.wheel(s.site, *next(World.cuda_wheels(s.cuda)))
    options = "--internal", f"ops_infer={inner}", "--imports", f"cnn_infer={inner}"
    w.wheel(s.site, *World.cudnn_wheel(new, s.cuda, *options), own=True)
    w.releases[new, s.cuda] = World.cudnn_files(new, s.cuda, *options)
    directory = f"{s.site}/nvidia/cudnn/lib"
    s.before_steps = [*s.before_steps, f"open:{s.lib}/{s.part_name('ops_infer')}"]
    if not w.faulty:
        return None
    s.llp = ["/usr/local/nvidia/lib", "/usr/local/nvidia/lib64", f"{s.site}/nvidia/cublas/lib", directory]
    return truth("site-image-and-pip-mixed", (directory, new), ("libcudnn_cnn_infer", "libcudnn_ops_infer"),
                 f"LD_LIBRARY_PATH has {directory}, of {new}", f"libcudnn_ops_infer of the image is {s.version}")


@kind("site-images", STEPS, weight=2, printed=True, place=("container",), host=("package", "linked", "named"),
      framework=("visionkit", "lensflow"), versions=BEFORE_THE_LAST, demand=False)
def image_has_a_newer_one_than_wanted(s):
    """docker-jupyter-keras-tools#7, tensorflow#3922: the image has a cuDNN newer than the one that its framework was
    built with, and the framework wants that one."""
    before_calls(s, f"verify:exact:{stock.number(s.version)}")
    version = newer(s) if s.w.faulty else s.version
    if s.host == "package":
        uninstall(s, s.package)
        s.w.debs(version, s.cuda, World.cudnn_files(version, s.cuda))
    elif s.w.faulty:
        whole(s, version)
    if not s.w.faulty:
        return None
    return truth("site-image-too-new", version, "libcudnn", f"the image has {version}",
                 f"the program wants {s.version}", "it refuses it")


@kind("site-images", USUAL, weight=5, place=("container",), host=("package", "linked", "named"),
      framework=("tensorflow",), era=(8, 9), cuda=("11", "12"), versions=OF_TENSORFLOW)
def image_or_sandbox_has_no_cudnn(s):
    """gpu-jupyter#57, #25, tensorflow#46310, obs-backgroundremoval#344, snapd#13504: the image, the server, the
    runtime of a flatpak or a snap has CUDA, and no cuDNN."""
    if s.host == "package":
        image_framework(s)
        often_the_processor(s)
        verifies(s, "8.1.0" if s.era == 8 else "9.3.0")  # what TensorFlow 2.11 and 2.18 were built with
    goes_on(s)
    if s.w.rng.random() < 0.4:
        s.llp = ["/app/lib", *s.llp]
    if not s.w.faulty:
        return None
    without_cudnn(s)
    return truth("site-no-cudnn", s.facade, "libcudnn", "nobody has put cuDNN there", f"{s.facade} is not found")


# ---- site-notebooks: notebooks that somebody else's computer runs -------------------------------------------------

@kind("site-notebooks", ("harmless", "late", "workers", "wrapper", "no-cache"), weight=8, printed=True,
      place=("container",), host=("package",), framework=("tensorflow",), era=(8,), cuda=("11",), versions=("8.6.0",),
      demand=True)
def notebook_image_has_an_older_one(s):
    """colabtools#3086, #2626, #2459, #2600, TFODCourse#29, Tensorflow-Object-Detection-API-Train-Model#33,
    tensorflow/models#10486, HistomicsStream#78: a cell's pip install brings a TensorFlow that was built with a later
    cuDNN than the notebook's image has."""
    w = s.w
    old = w.rng.choice(("8.2.1", "8.5.0"))
    from_the_image(s, old, s.cuda)
    w.env.update(COLAB_GPU="1", COLAB_RELEASE_TAG="release-colab-20230615")
    s.llp = [*s.llp, "/usr/local/nvidia/lib", "/usr/local/nvidia/lib64"]
    framework_again(s, w.rng.choice(("2.12.0", "2.12.1", "2.13.0")) if w.faulty else "2.11.0", [])
    if not w.faulty:
        verifies(s, "8.1.0")
        return None
    return truth("site-has-an-older-one", old, "libcudnn", f"the image has cuDNN {old}",
                 "pip installed a TensorFlow that was built with 8.6.0", "it refuses it")


@kind("site-notebooks", ("harmless", "late", "workers", "wrapper", "no-cache"), place=("venv", "container"),
      host=("package",), framework=("tensorflow", "visionkit", "lensflow"), era=(8, 9), cuda=("11", "12"),
      versions=OF_TENSORFLOW, older=1, demand=True)
def notebook_imports_another_before(s):
    """colabtools#692: spaCy conflicts with TensorFlow: what it brings for GPUs has loaded a cuDNN of its own."""
    w, old = s.w, s.older()
    package = f"cupy-cuda{s.cuda}x"
    made = {}
    for release, version in (("12.0.0", old), ("13.3.0", s.version)):
        made[release] = {f"cupy/.data/lib/{n}": p for n, p in World.cudnn_files(version, s.cuda).items()}
        made[release]["cupy/__init__.py"] = (
            "import ctypes\nimport os\n\nctypes.CDLL(os.path.join(os.path.dirname(__file__), "
            f"'.data/lib/{s.facade}'))\n").encode()
    w.wheel(s.site, package, *list(made.items())[0 if w.faulty else 1])
    w.index[package].update({r: (files, ()) for r, files in made.items()})
    w.wheel(s.site, "spacy", "3.7.5", {"spacy/__init__.py": b"import cupy  # noqa: F401\n"}, [package])
    w.write(s.script, f"import sys\nimport spacy\nimport {s.module_name}\n\n"
                      f"sys.exit({s.module_name}.run(sys.argv[1:]))\n")
    if not w.faulty:
        return None
    return truth("site-import-before", (old, "cupy"), "libcudnn", f"cupy has loaded its own {s.facade}, {old}",
                 f"{s.module_name} gets that", "it refuses it")


@kind("site-notebooks", QUIET, weight=2, place=("conda", "container"), host=("package",), framework=("tensorflow",),
      era=(9,), cuda=("12",), versions=OF_TENSORFLOW)
def hosted_build_for_the_processor(s):
    """studio-lab-examples#275, SnapOtter#104: the place has a GPU, its driver and CUDA; its TensorFlow of conda, or
    the onnxruntime of its image, is the build for the processor."""
    w = s.w
    if s.place == "container":
        weather(s)
        onnxruntime(s, "1.20.1", 9, "12")
        if not w.faulty:
            return None
        uninstall(s, "onnxruntime-gpu")
        onnxruntime(s, "1.20.1", None, None, "onnxruntime")
        return truth("site-build-for-the-processor", "onnxruntime", ("onnxruntime_pybind11_state",
                     "libonnxruntime_providers_cuda"), "onnxruntime is the package for the processor")
    told = "tensorflow/python/platform/build_info.py"
    text = "import collections\nbuild_info = collections.OrderedDict([%s])\n"
    if not w.faulty:
        conda_framework(s, "tensorflow", "cuda120py311h5cbd639_0", {
            **w.index[s.dist][s.dist_version][0],
            told: (text % "('cuda_version', '12.4'), ('is_cuda_build', True)").encode()})
        return None
    name = "libtensorflow_framework.so.2"
    conda_framework(s, "tensorflow", "cpu_py311h6ac8430_0", {
        f"tensorflow/{name}": library(name, "int processor_alone;\n").read_bytes(),
        told: (text % "('is_cuda_build', False)").encode(),
        "tensorflow/__init__.py": (f"import ctypes, os\nctypes.CDLL(os.path.join(os.path.dirname(__file__), '{name}'))"
                                   "\n\n\ndef run(steps):\n    print('[]\\nFalse')\n    return 0\n").encode()})
    return truth("site-build-for-the-processor", ("tensorflow", "cpu"), "libtensorflow_framework",
                 "the environment has tensorflow cpu_py311", "it was built without CUDA", "it sees no GPU")


# ---- site-drivers: how a driver comes into a container, into WSL, to a program of nix ------------------------------

@kind("site-drivers", USUAL, weight=5, place=("container", "venv", "conda"), host=("package",),
      framework=("torch", "visionkit"), era=(8,), options=("--probes", "cnn_infer=libcuda.so"))
def part_asks_for_the_driver_plainly(s):
    """whisper-asr-webservice#205 (podman), herro#4 (Singularity), nougat#105, seamless_communication#167,
    tensorflow/hub#884 (WSL): a part of cuDNN asks for libcuda.so; what brings the driver has libcuda.so.1, or has
    libcuda.so where the loader's cache does not know it."""
    container = s.place == "container"
    if not container:
        in_wsl(s)
    if not s.w.faulty:
        if container:
            s.w.link(f"{SYSTEM}/libcuda.so", "libcuda.so.1")
            s.w.system_changed = True
        s.llp = [*s.llp, *([] if container else [WSL])]
        return None
    return truth("site-driver-by-plain-name", "libcuda.so", "libcuda", "the cache has libcuda.so.1 alone",
                 f"{s.part_name('cnn_infer')} asks for libcuda.so", "the call ends the process")


@kind("site-drivers", USUAL, weight=4, place=("venv", "conda", "toolkit"), host=("linked", "named", "ctypes"))
def program_asks_for_the_driver_plainly(s):
    """WSL#8587, cudarc#296, #255, cuda-python#17: in WSL a program opens libcuda.so; it lies in /usr/lib/wsl/lib, and
    the loader's cache has libcuda.so.1."""
    in_wsl(s)
    s.before_steps = [*s.before_steps, "open:libcuda.so"]
    if not s.w.faulty:
        s.llp = [*s.llp, WSL]
        return None
    return truth("site-driver-by-plain-name", "libcuda.so", "libcuda", f"{WSL} has libcuda.so",
                 "the loader's cache has libcuda.so.1 alone", "the program opens libcuda.so, and ends")


@kind("site-drivers", USUAL, weight=4, place=("container", "venv", "conda"), host=("package", "linked", "named"),
      framework=("torch", "tensorflow"), era=(8, 9), cuda=("11", "12"), versions=OF_TENSORFLOW)
def started_without_its_driver(s):
    """panda-autograsp#150, singularity#4687, shpc-registry#200: the container was started without --nv, or got nothing
    by it; tensorflow#45882: WSL has no libcuda.so.1 from Windows."""
    w = s.w
    before_calls(s, "driver")
    if s.host == "package":
        often_the_processor(s)
    wsl = s.place != "container" and w.rng.random() < 0.4
    if wsl:
        in_wsl(s)
    elif w.rng.random() < 0.8:
        in_singularity(s)
    if not w.faulty:
        return None
    if wsl:
        shutil.rmtree(w.at(WSL))
        w.system_changed = True
    else:
        take_driver_away(s)
    return truth("site-no-driver", ("libcuda", "driver"), "libcuda", "nothing brings the driver",
                 "libcuda.so.1 is not there", "no GPU is counted")


@kind("site-drivers", USUAL, weight=4, place=("container",), era=(8, 9))
def driver_comes_to_another_directory(s):
    """acs-engine#385, tensorflow#10642, Kubernetes-GPU-Guide#4: a pod's LD_LIBRARY_PATH and the place where the node's
    driver is mounted are two, or libcuda is not in what is mounted. singularity#1714: --nv's directory is the last,
    and the image has a driver of its own in front."""
    w = s.w
    take_driver_away(s, kernel=False)
    before_calls(s, "driver")
    mounted = "/usr/local/nvidia/lib64"
    if w.rng.random() < 0.25:
        release = w.rng.choice(("535.104.05", "550.54.15", "570.86.15"))
        w.put(stock.driver("CUDA", 803), f"{mounted}/libcuda.so.{release}")
        w.link(f"{mounted}/libcuda.so.1", f"libcuda.so.{release}")
        s.driver(release="580.82.07", directory="/.singularity.d/libs")
        s.llp = [*s.llp, mounted] if w.faulty else s.llp
        in_singularity(s)
        if not w.faulty:
            s.llp = [*s.llp, mounted]
            return None
        return truth("site-driver-of-the-image", (release, mounted), "libcuda", f"{mounted} of the image has {release}",
                     "it is found before what --nv brings", "the module is 580.82.07", "cuInit fails")
    s.llp = [*s.llp, "/usr/local/nvidia/lib", mounted]
    away = w.rng.choice(("/usr/lib/nvidia-580", "/opt/nvidia/driver/lib64", mounted))
    s.driver(release="580.82.07", directory=away if w.faulty else mounted)
    if not w.faulty:
        return None
    for name in ("libcuda.so.1", "libcuda.so.580.82.07") if away == mounted else ():
        w.remove(f"{mounted}/{name}")
    return truth("site-no-driver", ("libcuda", "driver"), "libcuda", f"{away} is mounted",
                 f"LD_LIBRARY_PATH names {mounted}", "libcuda.so.1 is not found there")


# ---- site-stores: programs of nix ----------------------------------------------------------------------------------


def of_nix(s, cuda=True):
    """Program, cuDNN and CUDA lie in nix's store, the driver where NixOS has it. cuda: its directory is searched."""
    w, store = s.w, "/nix/store"
    shutil.rmtree(w.at(f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}"))
    w.remove("/usr/local/cuda")
    toolkit = f"cudatoolkit-{stock.FULL[s.cuda]}"
    s.lib = f"{store}/6cag2h7ykzyjzz2yr4v015zlidzs76w5-cudatoolkit-{s.cuda}-cudnn-{s.version}/lib"
    s.cuda_dirs = [f"{store}/80gq0b9zq1lfb7bzxf7nl5mrnsf8d40n-{toolkit}-lib/lib"]
    w.copy_of_cudnn(s.lib, s.version, s.cuda)
    w.copy_of_cuda(s.cuda_dirs[0], s.cuda)
    w.write((main := f"{store}/7kyy0r3f8s546saydsh95f0hw5sp2f80-{toolkit}/lib") + "/libcudadevrt.a", "")
    take_driver_away(s, kernel=False)
    s.driver(release="580.82.07", directory=OPENGL)
    path = f"{store}/8y6h8x6is4y0g5bzld4r1jhvldyc5lh1-python3-3.11-env/bin/{os.path.basename(s.host_file)}"
    w.remove(s.host_file)
    w.argv, s.host_file = [path if a == s.host_file else a for a in w.argv], path
    search = ":".join([s.lib, s.cuda_dirs[0] if cuda else main])
    if w.rng.random() < 0.5:
        rebuild(s, search)
        return
    w.write(path, stock.set_path(stock.host(None, None, True).read_bytes(), "runpath", search), 0o755)
    s.steps = [*s.cuda_first(), f"name={s.facade}", *s.steps]
    if w.rng.random() < 0.5:
        s.before_steps = ["cpu", *s.before_steps]


@kind("site-stores", USUAL, weight=3, **NIX)
def program_of_nix_without_the_driver(s):
    """nixpkgs#127329, #65515, #38850: what nix has built does not look where the driver is, and the variable that
    would tell it does not name that."""
    of_nix(s)
    before_calls(s, "driver")
    if not s.w.faulty:
        s.llp = [*s.llp, OPENGL]
        return None
    return truth("site-no-driver", ("libcuda", "driver"), "libcuda", f"the driver lies in {OPENGL}",
                 "nothing leads the program there", "no GPU is counted")


@kind("site-stores", USUAL, weight=3, **NIX)
def build_of_nix_without_cuda(s):
    """nixpkgs#236070, #29798, #31027: the search path of what nix has built does not have the output of the toolkit
    in which the libraries are."""
    s.llp = [*s.llp, OPENGL]
    of_nix(s, cuda=not s.w.faulty)
    if not s.w.faulty:
        return None
    return truth("site-lacks-cuda", companions(s), ("libcudart", "libcublas", "libcublasLt", "libnvrtc"),
                 f"the libraries are in {s.cuda_dirs[0]}", "the search path has another output of the toolkit")


# ---- site-clusters: modules, nodes, environments of a cluster -------------------------------------------------------

@kind("site-clusters", (*USUAL, "no-cache"), weight=2, place=("modules",), host=("linked", "named"), era=(8, 9),
      versions=("8.9.2", "8.9.7", "9.1.0", "9.10.2", "9.13.0", "9.19.0", "9.26.0"))
def modules_of_two_cudas(s):
    """nixpack#38: behind CUDA's module that of a cuDNN for another CUDA is loaded. sheffield_hpc#894: the modules that
    the page tells of are of the CUDA before, and the program asks for the next."""
    other = next(c for c in stock.RELEASES[s.version][1] if c != s.cuda)
    if not s.w.faulty:
        return None
    if s.w.rng.random() < 0.5:
        module, names = other_module(s, s.version, other), stock.companion_names(other)
        return truth("site-module-of-other-cuda", (names["cublasLt"], names["cublas"], module, f"CUDA {other}"),
                     ("libcublasLt", "libcublas"), f"{module} is loaded", f"the other modules are of CUDA {s.cuda}")
    directory = s.cuda_dirs[0].replace(stock.TOOLKITS[s.cuda], stock.TOOLKITS[other])
    s.w.copy_of_cuda(directory, other)
    exports(s, s.lib, directory)
    return truth("site-module-of-other-cuda", (*companions(s), f"CUDA {other}"),
                 ("libcudart", "libcublas", "libcublasLt", "libnvrtc"), f"the module of CUDA {other} is loaded",
                 f"the program is of CUDA {s.cuda}", f"{companions(s)[0]} is not found")


@kind("site-clusters", (*USUAL, "no-cache"), weight=7, place=("modules", "toolkit"), host=("linked", "named", "ctypes"),
      search=("llp",))
def nothing_leads_there(s):
    """sheffield_hpc#858, hpc#2, jade-hpc-gpu#30: a module names a directory that is not there, the job loads none, the
    login node has it and the node has not. TensorRT#1747 and three pages (nshx.cn 28629, 36983, mynw.cn 430809): CUDA
    and cuDNN lie in a toolkit on a server, in neither cache nor variable."""
    w = s.w
    goes_on(s)
    if not w.faulty:
        return None
    if s.place == "toolkit":
        s.llp = []
        return truth("site-nothing-leads-there", (s.asked, s.lib, *companions(s)), ("libcudnn", "libcudart"),
                     f"{s.lib} has CUDA and cuDNN", "neither cache nor LD_LIBRARY_PATH names it", "it is not found")
    why = w.rng.choice(("the modulefile has another path", "the job loads no module", "this node has no such module"))
    if "path" in why:
        exports(s, s.lib.replace("/cudnn/", "/libs/cudnn/"), *s.cuda_dirs)
    elif "job" in why:
        s.wrapper_lines[:] = ["export OMP_NUM_THREADS=4"]
    else:
        shutil.rmtree(w.at(s.module))
    return truth("site-nothing-leads-there", (s.asked, s.lib, *companions(s)), ("libcudnn", "libcudart"), why,
                 f"{s.asked} is not found")


@kind("site-clusters", ("harmless", "late", "workers", "wrapper"), weight=6, printed=True,
      place=("venv", "conda", "modules"), host=("package", "named"), framework=("tensorflow", "jax_plugin"),
      era=(8, 9), cuda=("11", "12"), versions=OF_TENSORFLOW, older=1, demand=True)
def site_is_behind_its_framework(s):
    """tensorflow#60913, #37606, DCGAN-tensorflow#242, jade-hpc-gpu#86, jaxlib-feedstock#329, docker-python#1007: the
    module, conda's solver, or another package has brought a cuDNN older than the framework was built with."""
    old = s.older()
    if s.place == "conda" and s.framework == "tensorflow":  # of which is known what each release was built with
        release, built, old = ("2.12.0", "8.6.0", "8.5.0") if s.era == 8 else ("2.18.0", "9.3.0", "9.1.0")
        framework_again(s, release, [])
        verifies(s, built)
        if not s.w.faulty and s.era == 8 and s.version != built:
            whole(s, built)
    if not s.w.faulty:
        return None
    if s.place == "modules":
        other_module(s, old, s.cuda)
    else:
        whole(s, old)
    return truth("site-has-an-older-one", old, "libcudnn", f"the environment has cuDNN {old}",
                 "the framework was built with a later one", "it refuses it")
