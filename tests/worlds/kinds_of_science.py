# SPDX-License-Identifier: Apache-2.0
"""Kinds that are a sample of what people ask about programs of science: of proteins, of microscopes, of animals' poses,
of sequencers, of molecules, of the weather. Eighteen searches, the first eight answers of each as they came; a thread
is used where what it shows tells its cause. Written by somebody who has not read the rules. As in kinds_of_threads.py a
kind's weight is how many threads it stands for, and both twins share what stands before `if not s.w.faulty: return
None`."""
import os

import stock
from kinds import HIDES_ABSENCE, LABELS, in_front, kind, truth, uninstall
from kinds_by_hand import companions
from kinds_of_machines import take_driver_away
from kinds_of_starts import library
from kinds_of_surroundings import conda_framework
from kinds_of_threads import before_calls
from scene import SYSTEM
from world import World

NOT_REACHED = {"library-not-found", "dependency-missing", "cuda-dependency-differs", "gpu-stack-not-reached"}

LABELS.update({
    "nothing-of-cuda-in-the-environment": NOT_REACHED,
    "environment-not-on-the-path": NOT_REACHED | {"search-path-suspect"},
    "generation-before-in-the-environment": NOT_REACHED | {"major-differs"},
    "framework-chosen-for-the-processor": {"cpu-only-build", "gpu-stack-not-reached"},
    "extension-beside-a-processor-build": {"cpu-only-build", "dependency-missing", "library-not-found",
                                           "gpu-stack-not-reached"},
    "provider-of-the-cuda-before": {"dependency-missing", "cuda-major-differs", "cuda-dependency-differs",
                                    "library-not-found", "gpu-stack-not-reached"},
    "kernels-of-the-cuda-before": {"dependency-missing", "cuda-major-differs", "cuda-dependency-differs"},
    "cudnn-of-a-later-cuda-in-front": {"cuda-major-differs", "dependency-missing", "cuda-dependency-differs",
                                       "own-copy-unused", "shadowed-copy"},
    "node-has-no-driver": {"driver-missing", "dependency-missing", "gpu-stack-not-reached"},
    "driver-of-an-older-cuda": {"driver-too-old"},
    "card-not-in-this-release": {"gpu-unsupported"},
    "asks-for-the-driver-plainly": {"driver-missing", "dependency-missing", "library-not-found", "wrong-name"},
})

USUAL = ("harmless", "late", "blame", "workers", "wrapper")
QUIET = ("harmless", "wrapper", "no-cache")

# ---- helpers --------------------------------------------------------------------------------------------


def by_pip_in_conda(s):
    """The framework came by pip: it has no search path of its own, and activation sets LD_LIBRARY_PATH."""
    data = stock.set_path(s.w.read(s.host_file), "none", "")
    s.w.write(s.host_file, data, 0o755)
    s.llp = [s.lib]


def not_in_the_environment(s, also_cuda=True):
    """conda has never had those packages here."""
    w = s.w
    stems = tuple(n.split(".so")[0] for n in companions(s)) if also_cuda else ()
    for name in w.names(s.lib):
        if name.startswith(("libcudnn", *stems)):
            w.remove(f"{s.lib}/{name}")
    packages = ("cudnn-", "libcublas-", "cuda-cudart-", "cuda-nvrtc-") if also_cuda else ("cudnn-",)
    for name in w.names(f"{s.prefix}/conda-meta"):
        if name.startswith(packages):
            w.remove(f"{s.prefix}/conda-meta/{name}")


def conda_packages(s, prefix, version, cuda):
    """cudnn and cudatoolkit, as conda lays them into a prefix."""
    w = s.w
    w.conda_package(prefix, "cudnn", stock.wheel_version(version), f"cuda{cuda}_0",
                    {f"lib/{n}": p for n, p in World.cudnn_files(version, cuda).items()})
    names = stock.companion_names(cuda)
    w.conda_package(prefix, "cudatoolkit", stock.FULL[cuda], "h6a678d5_0",
                    {f"lib/{n}": stock.companion(p, cuda) for p, n in names.items()})


def perhaps_the_processor(s):
    if not s.linked_framework and s.w.rng.random() < 0.6:
        s.before_steps = ["cpu", *s.before_steps]


def other_driver(s, release, state=35):
    take_driver_away(s)
    s.driver(release=release, state=state)


def counts(s):
    """The program counts the GPUs before it calls cuDNN."""
    if s.host != "ctypes":
        before_calls(s, "driver")


def processor_torch(s):
    """What conda has as pytorch for the processor."""
    init = ("import ctypes, os\nctypes.CDLL(os.path.join(os.path.dirname(__file__), 'lib/libtorch_cpu.so'))\n\n\n"
            "def run(steps):\n    print('cuda available: False\\nRunning on CPU\\ndone')\n    return 0\n")
    return {"torch/lib/libtorch_cpu.so": library("libtorch_cpu.so", "int alone;\n").read_bytes(),
            "torch/version.py": f"__version__ = '{s.dist_version}'\ncuda = None\n".encode(),
            "torch/__init__.py": init.encode()}


def cuda_torch(s):
    return {**s.w.index[s.dist][s.dist_version][0],
            "torch/version.py": f"__version__ = '{s.dist_version}'\ncuda = '{stock.TOOLKITS[s.cuda]}'\n".encode()}


CUDA_BUILD = {"11": "py3.10_cuda11.8", "12": "py3.10_cuda12.4"}

# ---- lab-environments: what a program's own recipe for conda has brought ------------------------------------------


@kind("lab-environments", HIDES_ABSENCE, weight=3, place=("conda",), host=("package",), framework=("tensorflow",),
      era=(8,), cuda=("11",))
def recipe_brings_nothing_of_cuda(s):
    """DeepLabCut#2115, #2455, sleap#586: the environment of the program's recipe has TensorFlow by pip, and neither
    cudatoolkit nor cudnn."""
    by_pip_in_conda(s)
    perhaps_the_processor(s)
    if not s.w.faulty:
        return None
    not_in_the_environment(s)
    if s.w.rng.random() < 0.5:
        s.llp = ["/misc/lsf/10.1/linux3.10-glibc2.17-x86_64/lib"]
    return truth("nothing-of-cuda-in-the-environment", (s.facade, *companions(s)), ("libcudart", "libcudnn"),
                 f"{s.prefix} has no CUDA", f"{companions(s)[0]} is not found",
                 "TensorFlow goes without, or not at all")


@kind("lab-environments", HIDES_ABSENCE, place=("conda",), host=("package",), framework=("tensorflow", "lensflow"),
      era=(8,), cuda=("11",))
def activation_sets_nothing(s):
    """tensorflow#60854: cudnn and cudatoolkit are in the environment, TensorFlow is pip's; LD_LIBRARY_PATH has the
    directory of another program."""
    by_pip_in_conda(s)
    perhaps_the_processor(s)
    if not s.w.faulty:
        return None
    s.llp = s.w.rng.choice(([], ["/opt/ros/humble/lib"], ["/usr/local/nvidia/lib"]))
    return truth("environment-not-on-the-path", (s.facade, s.lib, *companions(s)), ("libcudart", "libcudnn"),
                 f"what is wanted lies in {s.lib}", "LD_LIBRARY_PATH does not have it", "it is not found")


@kind("lab-environments", HIDES_ABSENCE, place=("conda",), host=("package",), framework=("tensorflow",), era=(8,),
      cuda=("11",))
def toolkit_went_to_the_base(s):
    """DeepLabCut#2454: `conda install cudatoolkit cudnn` was typed where the base was active; the environment's
    LD_LIBRARY_PATH leads to the environment."""
    by_pip_in_conda(s)
    perhaps_the_processor(s)
    if not s.w.faulty:
        return None
    not_in_the_environment(s)
    base = f"{s.home}/anaconda3"
    conda_packages(s, base, s.version, s.cuda)
    return truth("environment-not-on-the-path", (s.facade, base, *companions(s)), ("libcudart", "libcudnn"),
                 f"cudatoolkit and cudnn are in {base}", f"the program runs in {s.prefix}", "it finds none of them")


@kind("lab-environments", HIDES_ABSENCE, weight=2, place=("conda",), host=("package",), framework=("tensorflow",),
      era=(8,), cuda=("11",))
def cuda_of_the_guide_before(s):
    """DeepLabCut#1463, #1398: the program was upgraded and its TensorFlow wants CUDA 11; the environment has the
    cudatoolkit and cudnn of the release before."""
    by_pip_in_conda(s)
    perhaps_the_processor(s)
    if not s.w.faulty:
        return None
    not_in_the_environment(s)
    old = s.w.rng.choice(stock.releases(7, "10"))
    conda_packages(s, s.prefix, old, "10")
    return truth("generation-before-in-the-environment", (s.facade, old, *companions(s)), ("libcudart", "libcudnn"),
                 f"{s.prefix} has CUDA 10 and cuDNN {old}", f"TensorFlow asks for {companions(s)[0]}",
                 "it is not found")


@kind("lab-environments", ("harmless", "wrapper"), weight=2, place=("conda",), host=("package",), framework=("torch",),
      era=(8, 9), cuda=("11", "12"))
def recipe_solved_for_the_processor(s):
    """mlcommons/hpc#45, RoseTTAFold2#25: the recipe names pytorch without its build, beside pytorch-cuda of a release
    for which there is none: the solver takes that for the processor."""
    w = s.w
    w.conda_package(s.prefix, "pytorch-cuda", stock.TOOLKITS[s.cuda], "h778d358_5", {})
    if not w.faulty:
        conda_framework(s, "pytorch", f"{CUDA_BUILD[s.cuda]}_cudnn{s.version}_0", cuda_torch(s))
        return None
    build = w.rng.choice(("py3.10_cpu_0", "cpu_py310hab5cca8_0"))
    conda_framework(s, "pytorch", build, processor_torch(s))
    return truth("framework-chosen-for-the-processor", ("torch", "cpu"), ("libtorch_cpu", "libtorch"),
                 f"conda chose pytorch {build}", "it has nothing of CUDA", "the program runs on the processor")


@kind("lab-environments", ("harmless", "wrapper", "no-cache"), place=("conda",), host=("package",),
      framework=("torch",), era=(8, 9), cuda=("11", "12"))
def plugin_beside_a_processor_build(s):
    """openmm-ml#67: mamba took openmm-torch of CUDA and a pytorch for the processor: the plugin is linked with
    libtorch_cuda.so, which that does not have."""
    w = s.w
    file = f"{s.site}/_openmmtorch.so"
    data = stock.host(None, None, False, extra_needs=("libtorch_cuda.so",)).read_bytes()
    w.put(stock.set_path(data, "rpath", "$ORIGIN/torch/lib"), file)
    w.write(f"{s.site}/openmmtorch.py", "import ctypes\nimport os\nimport torch  # noqa: F401\n\n"
            "ctypes.CDLL(os.path.join(os.path.dirname(__file__), '_openmmtorch.so'))\n")
    w.conda_package(s.prefix, "openmm-torch", "1.4", f"cuda{s.cuda}0py310h5728c26_4", {})
    w.write(s.script, "import sys\nimport openmmtorch\nimport torch\n\nsys.exit(torch.run(sys.argv[1:]))\n")
    if not w.faulty:
        conda_framework(s, "pytorch", f"{CUDA_BUILD[s.cuda]}_cudnn{s.version}_0", cuda_torch(s))
        return None
    conda_framework(s, "pytorch", "cpu_generic_py310h4e3b5e4_2", processor_torch(s))
    return truth("extension-beside-a-processor-build", ("libtorch_cuda", "pytorch", "torch"), "libtorch_cuda",
                 "pytorch is the build for the processor", "the plugin is linked with libtorch_cuda.so",
                 "it cannot be imported")


@kind("lab-environments", ("harmless", "late", "blame", "workers", "wrapper"), place=("conda",), host=("package",),
      framework=("tensorflow",), era=(8,), cuda=("11",), versions=("8.2.1", "8.5.0", "8.6.0"))
def system_has_that_of_a_later_cuda(s):
    """sleap#2023: the environment is of CUDA 11; LD_LIBRARY_PATH begins with a cuDNN 8 of the system that is made for
    CUDA 12."""
    by_pip_in_conda(s)
    if not s.w.faulty:
        return None
    version = s.w.rng.choice(stock.releases(8, "12"))
    directory = s.w.rng.choice((f"/usr/local/cudnn-{version}/lib", "/opt/nvidia/cudnn/lib64"))
    s.w.copy_of_cudnn(directory, version, "12")
    in_front(s, directory)
    return truth("cudnn-of-a-later-cuda-in-front", ("libcublasLt.so.12", directory, version, "CUDA 12"),
                 ("libcudnn", "libcublasLt"), f"{directory} has {version} for CUDA 12", "it is found first",
                 "it asks for libcublasLt.so.12, and the environment has 11")


# ---- lab-pipelines: more than one program in one environment ------------------------------------------------------


def onnxruntime(s, version, era, cuda, name="onnxruntime-gpu"):
    """Its wheel: the core, and what it loads for CUDA; it says so and goes on where that fails."""
    w = s.w
    core = "onnxruntime/capi/onnxruntime_pybind11_state.so"
    provider = "onnxruntime/capi/libonnxruntime_providers_cuda.so"
    here = os.path.dirname(f"{s.site}/{provider}")
    path = ":".join("$ORIGIN/" + os.path.relpath(d, here) for d in dict.fromkeys((s.lib, *s.cuda_dirs)))
    init = ("import ctypes\nimport os\nimport sys\n\n_capi = os.path.join(os.path.dirname(__file__), 'capi')\n"
            "ctypes.CDLL(os.path.join(_capi, 'onnxruntime_pybind11_state.so'))\n\n\ndef run(steps):\n"
            "    words = [b'host', *(s.encode() for s in steps)]\n    try:\n"
            "        cuda = ctypes.CDLL(os.path.join(_capi, 'libonnxruntime_providers_cuda.so'))\n"
            "    except OSError as e:\n        print('Failed to load library', e, file=sys.stderr)\n"
            "        print(\"Execution Providers: ['CPUExecutionProvider']\")\n        return 0\n"
            "    return cuda.host_run(len(words), (ctypes.c_char_p * len(words))(*words))\n")
    files = {core: library("onnxruntime_pybind11_state.so", "int ort;\n").read_bytes(),
             "onnxruntime/__init__.py": init.encode()}
    if era:
        files[provider] = stock.set_path(stock.host(era, cuda, False).read_bytes(), "runpath", path)
    else:
        files["onnxruntime/__init__.py"] = (init.split("def run")[0] + "def run(steps):\n    print(\"Execution "
                                            "Providers: ['CPUExecutionProvider']\")\n    return 0\n").encode()
    w.wheel(s.site, name, version, files)


def weather(s, module="onnxruntime"):
    """The program's script: a model of the weather, or of speech, that is onnxruntime's to run."""
    uninstall(s, s.dist)
    s.w.write(s.script, f"import sys\nimport {module}\n\nsys.exit({module}.run(sys.argv[1:]))\n")
    s.before_steps, s.steps = [], s.calls()


@kind("lab-pipelines", QUIET, weight=3, place=("venv", "conda"), host=("package",), framework=("lensflow", "visionkit"),
      era=(8, 9), cuda=("12",))
def requirement_is_that_for_the_processor(s):
    """ai-models#7, onnxruntime#16931, fastT5#53: the plugin requires onnxruntime, and that is what is installed:
    onnxruntime-gpu is another package."""
    weather(s)
    version = "1.17.1" if s.era == 8 else "1.20.1"
    s.w.wheel(s.site, "ai-models-panguweather", "0.0.2", {"ai_models_panguweather/__init__.py": b"\n"},
              ["onnxruntime" + ("" if s.w.faulty else "-gpu")])
    if not s.w.faulty:
        onnxruntime(s, version, s.era, "12")
        return None
    onnxruntime(s, version, None, None, "onnxruntime")
    return truth("framework-chosen-for-the-processor", "onnxruntime",
                 ("onnxruntime_pybind11_state", "libonnxruntime_providers_cuda"), "onnxruntime is installed",
                 "it is the package for the processor", "no provider for CUDA is there")


@kind("lab-pipelines", ("harmless", "wrapper"), place=("venv", "conda"), host=("package",),
      framework=("lensflow", "visionkit"), era=(8,), cuda=("12",))
def runtime_of_the_cuda_before(s):
    """Step-Audio#127: the computer is of CUDA 12, pip took an onnxruntime-gpu whose build is of CUDA 11."""
    weather(s)
    if not s.w.faulty:
        onnxruntime(s, "1.18.1", 8, "12")
        return None
    onnxruntime(s, "1.16.3", 8, "11")
    wants = tuple(n for w, n in stock.companion_names("11").items() if w != "builtins")
    return truth("provider-of-the-cuda-before", (*wants, "CUDA 11"),
                 ("libcublasLt", "libcublas", "libcudart", "libonnxruntime_providers_cuda"),
                 "onnxruntime-gpu 1.16.3 is built for CUDA 11", "there is CUDA 12 alone", "the provider is not loaded")


@kind("lab-pipelines", ("harmless", "late", "workers", "wrapper", "no-cache"), place=("container",), host=("package",),
      framework=("torch",), era=(8, 9), cuda=("12",))
def rasteriser_of_the_image_before(s):
    """gaussian-splatting-colab#8: the image came to CUDA 12 overnight; the wheel of the rasteriser, which a notebook
    fetches ready-made, is linked with libcudart.so.11.0."""
    w = s.w
    wants = "libcudart.so.11.0" if w.faulty else "libcudart.so.12"
    file = f"{s.site}/diff_gaussian_rasterization/_C.so"
    path = ":".join("$ORIGIN/" + os.path.relpath(d, os.path.dirname(file)) for d in s.cuda_dirs)
    data = stock.host(None, None, False, extra_needs=(wants,)).read_bytes()
    w.wheel(s.site, "diff-gaussian-rasterization", "0.0.0", {
        "diff_gaussian_rasterization/_C.so": stock.set_path(data, "runpath", path),
        "diff_gaussian_rasterization/__init__.py":
            b"import ctypes\nimport os\n\nctypes.CDLL(os.path.join(os.path.dirname(__file__), '_C.so'))\n"})
    w.write(s.script, "import sys\nimport torch\nimport diff_gaussian_rasterization\n\n"
                      "sys.exit(torch.run(sys.argv[1:]))\n")
    if not w.faulty:
        return None
    return truth("kernels-of-the-cuda-before", ("libcudart.so.11.0", "diff_gaussian_rasterization"), "libcudart",
                 "the rasteriser was built with CUDA 11", "the image has 12", "libcudart.so.11.0 is not there")


# ---- lab-machines: drivers and cards of a laboratory's computers ---------------------------------------------------

@kind("lab-machines", ("harmless", "late", "workers", "wrapper", "no-cache"), weight=2, place=("conda",),
      host=("package", "linked"), framework=("torch",), era=(8,), cuda=("11",))
def recipe_newer_than_the_driver(s):
    """RoseTTAFold#11, #105: the recipe pins a cudatoolkit, and the computer's driver is older than what that needs."""
    counts(s)
    if not s.w.faulty:
        return None
    release = s.w.rng.choice(("450.36.06", "440.33.01", "418.87.01"))
    other_driver(s, release)
    return truth("driver-of-an-older-cuda", (release, "CUDA 11"), "libcuda", f"the driver is {release}",
                 "the environment is of CUDA 11", "no GPU is counted")


@kind("lab-machines", ("harmless", "late", "workers", "wrapper", "no-cache"), weight=4, place=("toolkit",),
      host=("linked",), search=("runpath",), era=(8, 9), cuda=("11", "12"))
def basecaller_newer_than_the_driver(s):
    """dorado#116, #703, pyguppyclient#6, megalodon#98: a sequencer's program brings its own CUDA and cuDNN; the driver
    of the node, or of the computer below the container, is older than they need."""
    w = s.w
    top = w.rng.choice(("/opt/dorado-0.2.1-linux-x64", f"{s.home}/ont-dorado", "/apps/ont-guppy"))
    w.copy_of_cudnn(f"{top}/lib", s.version, s.cuda, links=False)
    w.copy_of_cuda(f"{top}/lib", s.cuda)
    data = stock.host(s.era, s.cuda).read_bytes()
    w.write(f"{top}/bin/dorado", stock.set_path(data, "runpath", "$ORIGIN/../lib"), 0o755)
    w.argv = [f"{top}/bin/dorado"]
    if w.rng.random() < 0.5:
        w.write("/.singularity.d/runscript", "#!/bin/sh\nexec \"$@\"\n", 0o755)
        s.llp = ["/.singularity.d/libs"]
    s.steps = ["driver", *s.steps]
    if not w.faulty:
        return None
    release = w.rng.choice(("440.33.01", "418.39", "396.26") if s.cuda == "11" else
                           ("465.19.01", "460.91.03", "418.39"))
    other_driver(s, release)
    return truth("driver-of-an-older-cuda", (release, f"CUDA {s.cuda}"), "libcuda", f"the driver is {release}",
                 f"{top} has CUDA {s.cuda}", "no GPU is counted")


@kind("lab-machines", ("harmless", "late", "workers", "wrapper", "no-cache"), weight=2, place=("venv",),
      host=("package",), framework=("jax_plugin",), era=(9,), cuda=("12",))
def installer_newer_than_the_driver(s):
    """localcolabfold#236, #210: the workstation has CUDA 11.8 and its driver; the installer takes jax of CUDA 12: no
    GPU detected, will be using CPU."""
    s.w.copy_of_cuda("/usr/local/cuda-11.8/lib64", "11")
    s.llp = ["/usr/local/cuda-11.8/lib64"]
    counts(s)
    if s.w.rng.random() < 0.6:
        s.before_steps = ["cpu", *s.before_steps]
    if not s.w.faulty:
        return None
    release = s.w.rng.choice(("520.61.05", "515.43.04", "510.47.03"))
    other_driver(s, release)
    return truth("driver-of-an-older-cuda", (release, "CUDA 12"), "libcuda", f"the driver is {release}",
                 "jax came for CUDA 12", "no GPU is counted")


@kind("lab-machines", ("harmless", "wrapper", "no-cache"), place=("conda",), host=("package",),
      framework=("torch", "visionkit"), era=(8,), cuda=("11",), versions=("8.9.2", "8.9.7"))
def microscope_with_an_old_card(s):
    """cellpose#852: the computer beside the microscope has a Quadro of 2014: today's builds have no code for it."""
    take_driver_away(s)
    gpu = s.w.rng.choice(("3.0 Quadro K4200", "3.0 Quadro K2000")) if s.w.faulty else "7.5 Quadro RTX 4000"
    s.driver(release="470.256.02", gpu=gpu)
    if not s.w.faulty:
        return None
    for name, source in World.cudnn_files(s.version, s.cuda, "--create-status", "6").items():
        s.w.put(source, f"{s.lib}/{name}")
    return truth("card-not-in-this-release", (gpu[4:], gpu[:3]), "libcudnn", f"the GPU is {gpu}",
                 f"{s.version} has no code for it", "cudnnCreate fails")


@kind("lab-machines", ("harmless", "wrapper", "no-cache"), weight=2, place=("conda", "system"),
      host=("package", "linked"), framework=("visionkit",), era=(7,))
def environment_older_than_the_card(s):
    """nnUNet#672, FastSurfer#169: the environment, or the image, is of CUDA 10, and the card is of the year after."""
    if not s.w.faulty:
        return None
    for name, source in World.cudnn_files(s.version, s.cuda, "--status", "cudnnConvolutionForward=8").items():
        s.w.put(source, s.file(name))
    gpu = s.w.rng.choice(("8.6 NVIDIA GeForce RTX 3090", "8.0 NVIDIA A100-SXM4-40GB", "8.6 NVIDIA RTX A6000"))
    take_driver_away(s)
    s.driver(gpu=gpu, release="580.82.07")
    return truth("card-not-in-this-release", (gpu[11:], gpu[:3]), "libcudnn", f"the GPU is {gpu}",
                 f"{s.version} has no code for it", "the convolution fails")


@kind("lab-machines", ("harmless", "late", "workers", "wrapper"), weight=2, place=("conda", "venv"), host=("package",),
      framework=("torch", "visionkit"), era=(8, 9))
def virtual_machine_of_a_course(s):
    """FastSurfer#39, #18: a virtual machine on a laptop: the requirements are those for a GPU, and no driver is
    there."""
    counts(s)
    if s.w.rng.random() < 0.5:
        s.before_steps = ["cpu", *s.before_steps]
    if not s.w.faulty:
        return None
    take_driver_away(s)
    return truth("node-has-no-driver", ("libcuda", "driver"), "libcuda", "no driver is installed", "no GPU is counted")


# ---- lab-clusters: nodes, and programs that start other programs ---------------------------------------------------

@kind("lab-clusters", ("harmless", "wrapper"), place=("conda", "modules"), host=("package", "linked", "named"),
      framework=("torch", "tensorflow"), era=(8, 9), cuda=("11", "12"))
def login_node_of_the_cluster(s):
    """deepmd-gnn#44: a plugin of a program for molecules is linked with libcuda.so.1; it is tried on a node that has no
    driver."""
    w = s.w
    top = "/gpfs/software/deepmd-kit-3.0.0-cuda12.6_gpu/lib"
    data = stock.host(None, None, False, extra_needs=("libcuda.so.1",)).read_bytes()
    w.put(stock.set_path(data, "rpath", "$ORIGIN"), f"{top}/libdeepmd_gnn.so")
    s.before_steps = [*s.before_steps, f"open:{top}/libdeepmd_gnn.so"]
    if not w.faulty:
        return None
    take_driver_away(s)
    return truth("node-has-no-driver", ("libcuda", "driver"), "libcuda", "the node has no driver",
                 "the plugin is linked with libcuda.so.1", "it cannot be loaded")


@kind("lab-clusters", ("harmless", "late", "wrapper"), place=("conda",), host=("package",), linked=True,
      framework=("torch",), era=(8,), options=("--probes", "cnn_infer=libcuda.so"))
def refinement_starts_its_python(s):
    """relion#1064: relion starts the Python of its environment by a script; LD_LIBRARY_PATH has a dozen directories, a
    part of cuDNN asks for libcuda.so, and none has it."""
    w = s.w
    s.llp = ["/usr/local/lib", f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}/lib64", "/usr/loca/cuda/lib64",
             "/usr/lib64/openmpi/lib"]
    w.copy_of_cuda(s.llp[1], s.cuda)
    blush = "/data1/softwares/relion/build/bin/relion_python_blush"
    w.write(blush, "#!/bin/bash\ntorch_home=/data1/torch\nTORCH_HOME=\"$torch_home\" \"$@\"\n", 0o755)
    w.argv = [blush, *w.argv]
    if not w.faulty:
        w.link(f"{SYSTEM}/libcuda.so", "libcuda.so.1")
        w.system_changed = True
        return None
    return truth("asks-for-the-driver-plainly", "libcuda.so", "libcuda", "only libcuda.so.1 is there",
                 "libcudnn_cnn_infer.so.8 asks for libcuda.so", "the refinement aborts")
