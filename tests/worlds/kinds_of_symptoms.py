# SPDX-License-Identifier: Apache-2.0
"""Kinds that are a sample of what people ask about by what they see: a message as it is printed, a program that became
slow, a segmentation fault, what works in the terminal and nowhere else, what worked yesterday. Seventeen searches, as
such people type them, over all frameworks, the first eight answers of each as they came: 135 threads and pages, of
which 69 tell a cause that can be played here. Written by somebody who has not read the rules. As in kinds_of_threads.py
a kind's weight is how many threads it stands for, and both twins share what stands before `if not s.w.faulty: return
None`."""
import os

import stock
from kinds import LABELS, kind, truth, uninstall, whole
from kinds_by_hand import companions
from kinds_of_applications import (application, asks, ctranslate2, cuda_of_the_system, engine, onnxruntime,
                                   onnxruntime_of_the_processor, paddle, runtime_deb)
from kinds_of_machines import state_of_driver, take_driver_away
from kinds_of_science import by_pip_in_conda, counts, cuda_torch, perhaps_the_processor, processor_torch
from kinds_of_starts import launched, library
from kinds_of_surroundings import conda_framework
from kinds_of_threads import UNTIL_9_19, goes_on, newer, without_cudnn
from kinds_of_upgrades import framework_again
from scene import SYSTEM
from world import World, cuda_wheel_name

NOT_REACHED = {"library-not-found", "dependency-missing", "cuda-dependency-differs", "gpu-stack-not-reached"}
MIXED = {"parts-differ", "facade-and-parts-differ", "part-from-other-installation"}

LABELS.update({
    "symptom-part-of-another-place": MIXED | {"symbol-version-not-found", "missing-symbols", "shadowed-copy",
                                              "own-copy-unused"},
    "symptom-parts-not-exported": {"part-missing", "library-not-found", "search-path-suspect"},
    "symptom-parts-of-eight": {"part-missing", "installation-incomplete", "library-not-found", "major-differs"},
    "symptom-older-than-built": {"runtime-too-old"},
    "symptom-older-by-a-pin": {"runtime-too-old", "demands-conflict"},
    "symptom-upgraded-in-vain": {"runtime-too-old", "shadowed-copy", "own-copy-unused"},
    "symptom-no-cudnn": {"library-not-found", "dependency-missing", "gpu-stack-not-reached"},
    "symptom-no-cuda": NOT_REACHED,
    "symptom-not-on-the-path": NOT_REACHED | {"search-path-suspect"},
    "symptom-plain-name": {"library-not-found", "wrong-name"},
    "symptom-for-the-processor": {"cpu-only-build", "gpu-stack-not-reached"},
    "symptom-built-for-the-one-before": NOT_REACHED | {"cuda-major-differs", "major-differs"},
    "symptom-first-import": {"already-loaded-by-soname", "runtime-too-old", "own-copy-unused", "demands-conflict"},
    "symptom-hole-in-the-wheel": MIXED | {"installation-incomplete", "part-missing", "installation-mixed"},
    "symptom-parts-by-the-variable": MIXED | {"shadowed-copy", "runtime-too-old"},
    "symptom-new-card": {"gpu-unsupported"},
    "symptom-old-driver": {"driver-too-old"},
    "symptom-driver-says-unknown": {"driver-missing", "init-failed"},
})

USUAL = ("harmless", "late", "blame", "workers", "wrapper")
STEPS = ("harmless", "late", "workers", "wrapper")
QUIET = ("harmless", "wrapper")  # the faulty program comes to none of its steps
OF_CUDA = ("libcudart", "libcublas", "libcublasLt", "libnvrtc", "libonnxruntime_providers_cuda")
SYMBOLS = (("ops_infer", "ops_train", "cnn_train", "_Z22cudnnGenericOpTensorNdILi3EE13cudnnStatus_tP12cudnnContext"),
           ("cnn_infer", "cnn_train", "cnn_train", "_ZN10cask_cudnn2kr8isAmpereEPNS0_5spa_tERKi"),
           ("ops_infer", "cnn_infer", "cnn_infer", "_ZN5cudnn3ops18GetInternalStreamsEP12cudnnContextiPP11CUstream_st"))

# ---- helpers --------------------------------------------------------------------------------------------


def offered(s, version, options):
    """That release is like this wherever it is had from."""
    name, full, files, requires = World.cudnn_wheel(version, s.cuda, *options)
    s.w.index.setdefault(name, {})[full] = (files, requires)
    s.w.releases[version, s.cuda] = World.cudnn_files(version, s.cuda, *options)


def knows_its_facade(s, version):
    """CTranslate2 itself opens its facade, in whichever release."""
    files, requires = s.w.index["ctranslate2"][version]
    name, init = os.path.basename(next(f for f in files if ".libs/" in f)), "ctranslate2/__init__.py"
    files = {**files, init: files[init].replace(b"[b'host', ", f"[b'host', b'name={name}', ".encode())}
    s.w.wheel(s.site, "ctranslate2", version, files, requires)
    s.steps = [p for p in s.steps if not p.startswith("name=")]


def script(s, name, last, *modules):
    """Imports in that order; the last named does the steps."""
    s.script = f"{s.home}/work/{name}"
    s.w.write(s.script, "\nimport ".join(["import sys", *modules]) + f"\n\nsys.exit({last}.run(sys.argv[1:]))\n")
    s.w.argv = [*s.w.argv[:-2], "python", s.script]


# ---- symptom-message: what is printed is what is asked about ------------------------------------------------------

@kind("symptom-message", QUIET, weight=8, place=("venv", "conda"), host=("package",), search=("runpath",),
      framework=("torch", "visionkit", "lensflow"), era=(8,), cuda=("11",), versions=("8.5.0", "8.6.0"),
      options=(stock.SEARCHING,))
def undefined_symbol_of_another_part(s):
    """nvidia-docker#1726, nvidia-container-toolkit#225, #224, GPT-SoVITS#490, ultralytics#10203, PaddleX#846,
    PaddleSlim#1619, dust3r#198: "Could not load library libcudnn_cnn_train.so.8 ... undefined symbol, version
    libcudnn_ops_infer.so.8": what is opened late comes from the toolkit, or the system, what it needs is loaded from
    the environment, and of another release."""
    w, (has, wants, opened, symbol) = s.w, s.w.rng.choice(SYMBOLS)
    local, options = newer(s), (stock.SEARCHING, "--internal", f"{has}={symbol}", "--imports", f"{wants}={symbol}")
    directory = w.rng.choice(("/usr/local/cuda/lib64", "/usr/local/cuda-11.1/targets/x86_64-linux/lib",
                              "/usr/local/cuda/11.8.0/lib64", SYSTEM))
    offered(s, local, options)
    if directory == SYSTEM:
        w.debs(local, s.cuda, World.cudnn_files(local, s.cuda, *options))
    else:
        w.copy_of_cudnn(directory, local, s.cuda, *options)
    s.llp = [*s.llp, directory]
    first = ("ops_infer",) if has == "ops_infer" else ("ops_infer", "cnn_infer")
    at = next(i for i, p in enumerate(s.steps) if p.startswith("ver"))  # verify, or version
    s.steps[at:at] = [*(f"open:{s.lib}/{s.part_name(p)}" for p in first), f"open:{s.part_name(opened)}"]
    if not w.faulty:
        whole(s, local, s.cuda, *options)
        if s.requires:
            framework_again(s, s.dist_version, [r.replace(stock.wheel_version(s.version), stock.wheel_version(local))
                                                for r in s.requires])
        return None
    return truth("symptom-part-of-another-place", (directory, local), [f"libcudnn_{p}" for p in (opened, wants, has)],
                 f"LD_LIBRARY_PATH has {directory}, with {local}", f"libcudnn_{has} is the environment's, {s.version}")


@kind("symptom-message", USUAL, weight=7, place=("venv",), host=("package",), framework=("lensflow",), era=(8,),
      demand=False)
def could_not_load_ops_infer(s):
    """MoneyPrinterPlus#51, stable-ts#368, xtts-finetune-webui#18, whisper_streaming#119, Whisper-WebUI#294, #140,
    GPT-SoVITS#697: "Could not load library libcudnn_ops_infer.so.8 ... Aborted": CTranslate2 has the facade, the parts
    lie in this environment, or in that of another project, and start.sh does not export their directory."""
    w = s.w
    application(s, w.rng.choice(("gui.py", "app.py", "whisper_online.py", "webui.py")),
                ctranslate2(s, "4.3.1" if s.cuda == "12" else "3.24.0"))
    where = s.lib
    if w.rng.random() < 0.2:
        uninstall(s, s.package)
        site = w.venv(f"{s.home}/GitHub/test-whisper/.venv")
        w.wheel(site, *World.cudnn_wheel(s.version, s.cuda))
        where = f"{site}/nvidia/cudnn/lib"
    launched(s, "set -e" if w.faulty else f"export LD_LIBRARY_PATH={where}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}")
    if not w.faulty:
        return None
    return truth("symptom-parts-not-exported", (*s.parts, where), "libcudnn_ops_infer", f"the parts lie in {where}")


@kind("symptom-message", STEPS, place=("venv",), host=("package",), framework=("torch",), era=(9,), cuda=("12",),
      versions=("9.1.0",), demand=True)
def could_not_load_ops_infer_torch_has_nine(s):
    """Speech-AI-Forge#139: the same message, with torch 2.4: that has brought cuDNN 9, and CTranslate2 is one of 8."""
    old = s.w.rng.choice(stock.releases(8, "12"))
    application(s, "webui.py", "torch", ctranslate2(s, "4.5.0"))
    knows_its_facade(s, "4.5.0")
    s.llp = [s.lib, *s.llp]
    if not s.w.faulty:
        return None
    uninstall(s, "ctranslate2")
    ctranslate2(s, "4.3.1", old)
    knows_its_facade(s, "4.3.1")
    parts = [n for n in World.cudnn_files(old, s.cuda) if n != "libcudnn.so.8"]
    return truth("symptom-parts-of-eight", parts, "libcudnn_ops_infer", f"torch brought cuDNN {s.version}",
                 f"CTranslate2 has a facade of {old}")


@kind("symptom-message", (*STEPS, "no-cache"), weight=9, printed=True, place=("venv", "conda", "container"),
      host=("package",), framework=("tensorflow", "jax_plugin"), era=(8, 9), cuda=("11", "12"), demand=True, older=1)
def loaded_runtime_but_compiled_with(s):
    """tensorflow#39842, #60913, colabtools#2626, #2329, Kaggle/docker-python#1435, dl-4-tsc#54, kohya_ss#2787,
    jax-feedstock#149, whosebug.com/question/2129428: "Loaded runtime CuDNN library: ... but source was compiled with":
    the notebook's image, conda, or a torch in the same environment has an older one."""
    old, w = s.older(), s.w
    if s.place == "venv":
        pinned = stock.wheel_version(old if w.faulty else s.version)
        w.wheel(s.site, "torch", "2.5.1" if s.era == 9 else "2.0.1", {"torch/__init__.py": b"\n"},
                [f"{s.package}=={pinned}"])
    elif s.place == "container":
        uninstall(s, s.package)
        version = old if w.faulty else s.version
        w.debs(version, s.cuda, World.cudnn_files(version, s.cuda))
    if not w.faulty:
        return None
    if s.place != "container":
        whole(s, old)
    return truth("symptom-older-by-a-pin" if s.place == "venv" else "symptom-older-than-built", old, "libcudnn",
                 f"the {s.place} has {old}", f"{s.dist} was built with {s.version}", "it refuses it")


@kind("symptom-message", STEPS, place=("venv",), host=("package",), framework=("tensorflow",), era=(8,), cuda=("11",),
      demand=True, older=1)
def upgraded_and_still_the_old_one(s):
    """deeplab2#66: the same message, and cuDNN was upgraded already: the new one came by apt, the one of before lies in
    the toolkit, which LD_LIBRARY_PATH names."""
    old, w = s.older(), s.w
    directory = w.rng.choice(("/usr/local/cuda/lib64", "/usr/local/cuda-11.0/lib64"))
    uninstall(s, s.package)
    w.debs(s.version, s.cuda, World.cudnn_files(s.version, s.cuda))
    w.copy_of_cudnn(directory, old if w.faulty else s.version, s.cuda)
    s.llp = [directory, *s.llp]
    if not w.faulty:
        return None
    return truth("symptom-upgraded-in-vain", (directory, old), "libcudnn", f"apt brought {s.version}",
                 f"LD_LIBRARY_PATH names {directory}, which has {old}", "TensorFlow gets that and refuses it")


@kind("symptom-message", USUAL, weight=6, place=("conda",), host=("package",), framework=("lensflow",), era=(7, 8),
      cuda=("10", "11"), demand=False)
def cannot_load_cudnn_shared_library(s):
    """Paddle#22996, #26801, #24728, PaddleOCR#300, PaddleDetection#7629: "Cannot load cudnn shared library": cuDNN lies
    in the toolkit, and LD_LIBRARY_PATH does not name it; nvidia-docker#53: the runtime image has no libcudnn.so."""
    w = s.w
    without_cudnn(s)
    top = f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}"
    directory = f"{top}/{w.rng.choice(('lib64', 'lib64', 'targets/x86_64-linux/lib'))}"
    plain = w.rng.random() < 0.2
    application(s, "run_check.py", paddle(s, s.cuda_dirs))
    if plain:
        w.write("/.dockerenv", "")
        name = runtime_deb(s, s.version)
        if not w.faulty:
            w.link(f"{SYSTEM}/libcudnn.so", s.facade)
            return None
        return truth("symptom-plain-name", "libcudnn.so", "libcudnn", f"{name} has no libcudnn.so")
    w.copy_of_cudnn(directory, s.version, s.cuda)
    w.header(f"{top}/include", s.version)
    if not w.faulty:
        s.llp = [directory, *s.llp]
        return None
    return truth("symptom-not-on-the-path", ("libcudnn.so", directory), "libcudnn", f"it lies in {directory}")


@kind("symptom-message", QUIET, weight=3, place=("venv", "container"), host=("package",), framework=("lensflow",),
      era=(8,), cuda=("11",), demand=False)
def import_wants_the_cudart_of_before(s):
    """mxnet#2845, #3829, FaceImageQuality#52: "OSError: libcudart.so...: cannot open shared object file" at import: the
    computer's CUDA is the next one, MXNet is the build for the one before, which asks for its cuDNN, too."""
    uninstall(s, s.package)
    cuda_of_the_system(s)
    runtime_deb(s, s.version)
    module = engine(s, "mxnet-cu112", "1.9.1", "mxnet/libmxnet.so", [], linked=(8, "11"))
    application(s, "train_mnist.py", module)
    if not s.w.faulty:
        return None
    uninstall(s, "mxnet-cu112")
    engine(s, "mxnet-cu101", "1.9.1", "mxnet/libmxnet.so", [], linked=(7, "10"))
    wants = [n for n in stock.companion_names("10").values() if "builtins" not in n]
    return truth("symptom-built-for-the-one-before", (*wants, "libcudnn.so.7", "CUDA 10"), (*OF_CUDA, "libcudnn"),
                 "mxnet-cu101 is built for CUDA 10", "the computer has CUDA 11")


@kind("symptom-message", STEPS, weight=2, place=("venv",), host=("package",), framework=("torch",), era=(9,),
      cuda=("12",), search=("rpath",), versions=UNTIL_9_19, demand=True)
def sublibrary_version_mismatch(s):
    """pytorch#188892, facerestore_cf#27: "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH": a part of the computer's other
    cuDNN 9 comes in, where torch's wheel lacks one, or because LD_LIBRARY_PATH leads there."""
    w, other, part = s.w, s.other(), s.part_name("engines_precompiled")
    hole = w.rng.random() < 0.5
    directory = SYSTEM if hole else w.rng.choice(("/usr/local/cuda/lib64", "/opt/cudnn/lib"))
    if hole:
        w.debs(other, s.cuda, World.cudnn_files(other, s.cuda))
    else:
        w.copy_of_cudnn(directory, other, s.cuda)
    if not w.faulty:
        return None
    if not hole:
        s.llp = [directory, *s.llp]
        return truth("symptom-parts-by-the-variable", (directory, other), ("libcudnn_graph", part.split(".")[0]),
                     f"LD_LIBRARY_PATH has {directory}, with {other}", f"torch's facade is {s.version}")
    uninstall(s, s.package)
    name, full, files, requires = World.cudnn_wheel(s.version, s.cuda)
    del files[f"nvidia/cudnn/lib/{part}"]
    w.wheel(s.site, name, full, files, requires, own=True)
    return truth("symptom-hole-in-the-wheel", (part, other), part.split(".")[0], f"{part} is the system's, {other}")


@kind("symptom-message", QUIET, weight=3, place=("conda", "system"), host=("package", "linked"),
      framework=("visionkit",), era=(7,), driver=False, demand=False)
def execution_failed_on_the_new_card(s):
    """UFold#20, Dual-DMP#2, pytorch#20864: "cuDNN error: CUDNN_STATUS_EXECUTION_FAILED": the environment is of CUDA 10
    or older, and the card is newer than that."""
    gpu = s.w.rng.choice(("8.6 NVIDIA GeForce RTX 3090", "8.6 NVIDIA GeForce RTX 3080", "8.0 NVIDIA A100-SXM4-40GB"))
    s.driver(release="580.82.07", gpu=gpu if s.w.faulty else "7.0 Tesla V100-SXM2-16GB")
    if not s.w.faulty:
        return None
    options = ("--status", "cudnnConvolutionForward=8")
    for version in stock.releases(7, s.cuda):
        s.w.releases[version, s.cuda] = World.cudnn_files(version, s.cuda, *options)
    whole(s, s.version, s.cuda, *options)
    return truth("symptom-new-card", (gpu[11:], gpu[:3]), "libcudnn", f"{s.version} has no code for {gpu}")


# ---- symptom-silence: it runs, and not on the GPU -----------------------------------------------------------------

@kind("symptom-silence", QUIET, weight=7, place=("venv", "container"), host=("package",), framework=("lensflow",),
      era=(8,), cuda=("11",), demand=False)
def no_cudnn_on_this_computer(s):
    """tensorflow#46310, #45200, newbe.dev on "Couldn't open CUDA library libcudnn.so", PP-YOLOE#5, mxnet#20279,
    onnxruntime#19616, memo#13: the computer has CUDA, and no cuDNN; some go on with the processor."""
    w, who = s.w, s.w.rng.choice(("tensorflow",) * 3 + ("onnxruntime",) * 2 + ("paddle", "mxnet"))
    uninstall(s, s.package)
    cuda_of_the_system(s)
    if who == "onnxruntime":
        module = onnxruntime(s, "1.16.3", [])
    elif who == "paddle":
        module = paddle(s, [])
    elif who == "mxnet":
        module = engine(s, "mxnet-cu112", "1.9.1", "mxnet/libmxnet.so", [], linked=(8, "11"))
    else:
        module = engine(s, "tensorflow", "2.11.0", "tensorflow/libtensorflow_framework.so.2", [])
        asks(s, *s.cuda_first(), f"name={s.facade}")
        s.before_steps = ["cpu", *s.before_steps]
    application(s, "train.py", module)
    if not w.faulty:
        runtime_deb(s, s.version)
        if who == "paddle":
            w.link(f"{SYSTEM}/libcudnn.so", s.facade)
        return None
    return truth("symptom-no-cudnn", "libcudnn.so" if who == "paddle" else s.facade,
                 ("libcudnn", "libonnxruntime_providers_cuda"), "no cuDNN is installed", f"{who} does not find it")


@kind("symptom-silence", QUIET, weight=3, place=("venv",), host=("package",), framework=("tensorflow", "visionkit"),
      era=(8, 9), cuda=("11", "12"), versions=("8.2.1", "8.5.0", "8.6.0", "9.5.1", "9.8.0", "9.10.2"))
def some_of_cuda_is_not_there(s):
    """rembg#668: onnxruntime in an image without CUDA's libraries; recommenders#2378: TensorFlow without what
    [and-cuda] brings; cryolo#10: libcudart is there, libcublas is not: they go on with the processor."""
    w, nothing = s.w, s.w.rng.random() < 0.5
    if s.framework == "visionkit":
        application(s, "rembg_p.py", onnxruntime(s, "1.17.1" if s.era == 8 else "1.20.1", [s.lib, *s.cuda_dirs]))
    else:
        s.before_steps = ["cpu", *s.before_steps]
    if not w.faulty:
        return None
    gone = [wheel[0] for wheel in World.cuda_wheels(s.cuda)] if nothing else [cuda_wheel_name("cublas", s.cuda)]
    gone += [s.package] if nothing and s.framework == "tensorflow" else []
    for name in gone:
        uninstall(s, name)
    return truth("symptom-no-cuda", (*companions(s), *gone), OF_CUDA, f"{', '.join(gone)} not installed")


@kind("symptom-silence", QUIET, weight=4, place=("venv", "conda"), host=("package",),
      framework=("torch", "jax_plugin"), era=(9,), cuda=("12",))
def falling_back_to_cpu(s):
    """kohya-colab#194, #133: "a CUDA-enabled jaxlib is not installed. Falling back to cpu"; LatentSync#225: onnxruntime
    lies over onnxruntime-gpu; HKU-DASC7606-A1#9: conda install pytorch brought the build for the processor."""
    w = s.w
    if s.framework == "jax_plugin":
        w.wheel(s.site, "jaxlib", s.dist_version, {
            "jaxlib/xla_extension.so": library("xla_extension.so", "int xla;\n"), "jaxlib/__init__.py": b""})
        w.wheel(s.site, "jax", s.dist_version, {"jax/__init__.py": JAX.format(module=s.module_name).encode()},
                [f"jaxlib=={s.dist_version}"])
        script(s, "train_network.py", "jax", "jax")
        if not w.faulty:
            return None
        uninstall(s, s.dist)
        return truth("symptom-for-the-processor", "jax", ("xla_extension", "_versions"), f"{s.dist} is not installed")
    if s.place == "venv":
        application(s, "inference.py", "torch", onnxruntime(s, "1.20.1", [s.lib, *s.cuda_dirs]))
        if not w.faulty:
            return None
        onnxruntime_of_the_processor(s, "1.20.1")
        return truth("symptom-for-the-processor", "onnxruntime", ("onnxruntime_pybind11_state", OF_CUDA[-1]))
    if not w.faulty:
        conda_framework(s, "pytorch", "py3.10_cuda12.4_cudnn9.1.0_0", cuda_torch(s))
        return None
    build = w.rng.choice(("py3.10_cpu_0", "cpu_py310hab5cca8_0"))
    conda_framework(s, "pytorch", build, processor_torch(s))
    return truth("symptom-for-the-processor", ("torch", "cpu"), ("libtorch_cpu", "libtorch"), f"pytorch is {build}")


JAX = '''\
import ctypes
import sys
import jaxlib

ctypes.CDLL(jaxlib.__path__[0] + "/xla_extension.so")
try:
    from {module} import run
except ImportError:
    print("An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to "
          "cpu.", file=sys.stderr)

    def run(steps):
        print("[CpuDevice(id=0)]")
        return 0
'''


@kind("symptom-silence", STEPS, weight=3, place=("venv",), host=("package",), framework=("torch", "tensorflow"),
      era=(8, 9), cuda=("11", "12"))
def is_available_says_false(s):
    """theneuralbase.com on torch.cuda.is_available() (two pages): the driver is older than the CUDA of the framework,
    which goes on with the processor; tensorflow#2882: "failed call to cuInit: CUDA_ERROR_UNKNOWN"."""
    w = s.w
    s.before_steps = ["cpu", *s.before_steps]
    counts(s)
    unknown = w.rng.random() < 1 / 3
    release = w.rng.choice({"11": ("418.87.00", "440.33.01"), "12": ("450.119.03", "470.57.02")}[s.cuda])
    old = w.faulty and not unknown
    take_driver_away(s)
    s.driver(release=release if old else "580.82.07", gpu="7.5 Tesla T4", state=35 if old else 0)
    if not w.faulty:
        return None
    if unknown:
        state_of_driver(s, 999)
        w.remove("/dev/nvidia-uvm")
        return truth("symptom-driver-says-unknown", ("cuInit", "999", "nvidia-uvm"), "libcuda", "cuInit fails")
    return truth("symptom-old-driver", (release, f"CUDA {s.cuda}"), "libcuda", f"the driver is {release}")


# ---- symptom-start: it works there, and not here ------------------------------------------------------------------

@kind("symptom-start", (*USUAL, "no-cache"), weight=3, place=("conda",), host=("package",),
      framework=("tensorflow", "lensflow"), era=(8,), cuda=("11",))
def terminal_sees_the_gpu_notebook_does_not(s):
    """tensorflow#56959, #60854, google/samurai#9: cudatoolkit and cudnn are in the environment, TensorFlow is pip's,
    only a shell that activates it gets LD_LIBRARY_PATH: a notebook's kernel, and a file run from elsewhere, do not."""
    by_pip_in_conda(s)
    perhaps_the_processor(s)
    s.w.write(f"{s.prefix}/etc/conda/activate.d/env_vars.sh",
              "export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$CONDA_PREFIX/lib/\n")
    s.w.argv = [f"{s.prefix}/bin/python" if a == "python" else a for a in s.w.argv]
    if not s.w.faulty:
        return None
    s.llp = s.w.rng.choice(([], [], ["/opt/ros/humble/lib"]))
    return truth("symptom-not-on-the-path", (s.facade, s.lib, *companions(s)), ("libcudart", "libcudnn"),
                 f"what is wanted lies in {s.lib}", "LD_LIBRARY_PATH does not name it")


@kind("symptom-start", (*USUAL, "no-cache"), weight=3, place=("toolkit",), search=("llp",),
      host=("linked", "named", "unversioned", "ctypes"))
def works_in_the_terminal(s):
    """tensorflow#21801 (a unit of systemd), mxnet#1081 (sudo), blog.sourced.tech (any start but that of a terminal):
    ~/.bashrc exports LD_LIBRARY_PATH, and what starts the program has not read it, or drops it."""
    w, by_sudo = s.w, s.w.rng.random() < 0.4
    goes_on(s)
    w.write(f"{s.home}/.bashrc", f"export LD_LIBRARY_PATH={':'.join(s.llp)}\n")
    if by_sudo:
        drops = " -u LD_LIBRARY_PATH" if w.faulty else ""
        w.write("/opt/sudo/bin/sudo", f'#!/bin/bash\nexec /usr/bin/env{drops} "$@"\n', 0o755)
        w.argv = ["/opt/sudo/bin/sudo", *w.argv]
    else:
        w.write("/etc/systemd/system/detect.service", f"[Service]\nUser={s.user}\nExecStart={' '.join(w.argv)}\n")
    if not w.faulty:
        return None
    if not by_sudo:
        s.llp = []
    return truth("symptom-not-on-the-path", (s.asked, s.lib, *companions(s)), ("libcudnn", "libcudart"),
                 f"~/.bashrc exports {s.lib}", "the program is started without that", f"{s.asked} is not found")


# ---- symptom-together: two in one process, and in which order -----------------------------------------------------

@kind("symptom-together", QUIET, weight=2, place=("venv",), host=("package",), framework=("torch",), era=(8, 9),
      cuda=("11", "12"))
def provider_loads_after_torch_alone(s):
    """onnxruntime#25609, #21684: "Failed to load library libonnxruntime_providers_cuda.so": CUDA and cuDNN are pip's,
    nothing leads there, and only `import torch` before it has them in the process."""
    version = {8: {"11": "1.16.3", "12": "1.18.1"}[s.cuda], 9: "1.22.0"}[s.era]
    module = onnxruntime(s, version, [])
    script(s, "infer.py", module, *((module, "torch") if s.w.faulty else ("torch", module)))
    if not s.w.faulty:
        return None
    return truth("symptom-not-on-the-path", (s.facade, s.lib, *companions(s)), ("libcudnn", *OF_CUDA),
                 "onnxruntime has no search path", "it is imported before torch")


@kind("symptom-together", STEPS, weight=2, place=("venv",), host=("package",), framework=("torch",), era=(8,),
      cuda=("11",), older=1, demand=True)
def crashes_when_the_other_is_imported_first(s):
    """pytorch#103852, onnxruntime#16388: a segmentation fault where tensorrt, or onnxruntime, is imported before torch,
    and none the other way: those take the computer's cuDNN 8, and torch gets that."""
    w, old, steps = s.w, s.older(), list(s.steps)
    w.debs(old, s.cuda, World.cudnn_files(old, s.cuda))
    name, version, file = w.rng.choice((("tensorrt", "8.6.1", "tensorrt/libnvinfer.so.8"),
                                        ("onnxruntime-gpu", "1.15.0", f"onnxruntime/capi/{OF_CUDA[-1]}.so")))
    module = engine(s, name, version, file, s.cuda_dirs, linked=(8, s.cuda))
    s.steps = steps
    script(s, "test.py", "torch", *((module, "torch") if w.faulty else ("torch", module)))
    if not w.faulty:
        return None
    return truth("symptom-first-import", (old, name, file), "libcudnn", f"{name} has loaded the system's {old}",
                 f"torch asks for {s.facade} and gets it", f"torch was built with {s.version}")


@kind("symptom-together", QUIET, weight=2, place=("venv",), host=("package",), framework=("torch",), era=(8, 9),
      cuda=("11", "12"))
def packages_beside_each_other_do_not_meet(s):
    """brainiky.org (PEX): each wheel lies in a directory of its own, and torch's search path is relative to itself;
    bitsandbytes#1126: it looks into /usr/local/cuda/lib64, where nothing is, unless torch has come first."""
    w = s.w
    if w.rng.random() < 0.5:
        site = f"{s.home}/.pex/installed_wheels/0/6f1e7a3b/torch-{s.dist_version}-cp311-cp311-manylinux1_x86_64.whl"
        if not w.faulty:
            return None
        files, requires = w.index[s.dist][s.dist_version]
        uninstall(s, s.dist)
        w.wheel(site, s.dist, s.dist_version, files, requires)
        w.env["PYTHONPATH"] = f"{site}:{s.site}"
        return truth("symptom-not-on-the-path", (s.facade, s.lib, *companions(s)), ("libcudnn", *OF_CUDA),
                     f"torch lies in {site}", f"cuDNN lies in {s.lib}")
    wants = [stock.companion_names(s.cuda)[p] for p in ("cudart", "cublas", "cublasLt")]
    data = stock.host(None, None, False, extra_needs=tuple(wants)).read_bytes()
    file = f"bitsandbytes/libbitsandbytes_cuda{s.cuda}.so"
    init = f"import ctypes\n\nctypes.CDLL(__path__[0] + '/{os.path.basename(file)}')\n"
    w.wheel(s.site, "bitsandbytes", "0.43.0", {
        file: stock.set_path(data, "runpath", "/usr/local/cuda/lib64"), "bitsandbytes/__init__.py": init.encode()})
    script(s, "finetune.py", "torch", *(("bitsandbytes", "torch") if w.faulty else ("torch", "bitsandbytes")))
    if not w.faulty:
        return None
    return truth("symptom-no-cuda", (*wants, *s.cuda_dirs), OF_CUDA, "bitsandbytes looks into /usr/local/cuda/lib64")
