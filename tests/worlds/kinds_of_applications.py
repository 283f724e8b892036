# SPDX-License-Identifier: Apache-2.0
"""Kinds that are a sample of what people ask about who run applications: speech and subtitles, pictures and faces, OCR,
home servers and their images, notebooks. Sixteen searches, typed as such people type them, the first eight answers of
each as they came; written by somebody who has not read the rules. A thread was taken where its cause was told in it and
can be played without a GPU. As in kinds_of_threads.py a kind's weight is how many threads it stands for, and both twins
share what stands before `if not s.w.faulty: return None`."""
import os

import stock
from kinds import LABELS, kind, truth, uninstall
from kinds_by_hand import companions
from kinds_of_machines import take_driver_away
from kinds_of_starts import launched, library
from kinds_of_threads import USUAL, without_cudnn
from scene import SYSTEM
from world import World, cuda_wheel_name, deb_packages

LABELS.update({
    "app-parts-nowhere": {"part-missing", "installation-incomplete", "library-not-found"},
    "app-parts-unlisted": {"part-missing", "library-not-found", "search-path-suspect"},
    "app-parts-of-other-major": {"part-missing", "installation-incomplete", "library-not-found", "major-differs"},
    "app-older-in-variable": {"runtime-too-old", "shadowed-copy", "own-copy-unused"},
    "app-for-the-processor": {"cpu-only-build", "gpu-stack-not-reached"},
    "app-of-other-cuda": {"dependency-missing", "cuda-major-differs", "cuda-dependency-differs",
                          "gpu-stack-not-reached"},
    "app-without-cudnn": {"library-not-found", "dependency-missing", "gpu-stack-not-reached"},
    "app-of-next-major": {"library-not-found", "major-differs", "dependency-missing", "gpu-stack-not-reached"},
    "app-plain-name": {"library-not-found", "wrong-name"},
    "app-not-exported": {"library-not-found", "search-path-suspect"},
    "app-without-nvrtc": {"dependency-missing", "cuda-dependency-differs"},
    "app-without-the-runtime": {"dependency-missing", "driver-missing"},
    "app-cuda-unlisted": {"dependency-missing", "cuda-dependency-differs", "search-path-suspect",
                          "gpu-stack-not-reached"},
})

STEPS = ("harmless", "late", "workers", "wrapper")
QUIET = ("harmless", "wrapper")  # the faulty program comes to none of its steps
SPEECH = {"host": ("package",), "framework": ("lensflow",), "demand": False}

# ---- helpers --------------------------------------------------------------------------------------------


def engine(s, dist, version, file, directories, linked=None, needs=(), requires=(), files=(), processor=False):
    """A package whose library does the steps, in place of the scene's or beside torch. linked: (cuDNN, CUDA) that it
    was linked with; processor: where it cannot be loaded it says so and goes on without a GPU."""
    w, module = s.w, file.split("/")[0]
    if s.framework != "torch":
        uninstall(s, s.dist)
    here, inner = os.path.dirname(f"{s.site}/{file}"), file.split("/", 1)[1]
    path = ":".join("$ORIGIN/" + os.path.relpath(d, here) if d.startswith(s.prefix) else d for d in directories)
    data = stock.host(*(linked or (None, None)), False, extra_needs=needs).read_bytes()
    data = stock.set_path(data, s.search if path else "none", path)
    load = f"_engine = ctypes.CDLL(os.path.join(os.path.dirname(__file__), {inner!r}))\n"
    if processor:
        load = (f"try:\n    {load}except OSError as error:\n    _engine = None\n"
                "    print('[E:onnxruntime:Default] Failed to load library', error, file=sys.stderr)\n")
    run = ("    if _engine is None:\n        print(\"Applied providers: ['CPUExecutionProvider']\")\n        return 0\n"
           if processor else "")
    init = (f"import ctypes\nimport os\nimport sys\n\n{load}\n\ndef run(steps):\n{run}"
            "    words = [b'host', *(s.encode() for s in steps)]\n"
            "    return _engine.host_run(len(words), (ctypes.c_char_p * len(words))(*words))\n")
    w.wheel(s.site, dist, version, {file: data, f"{module}/__init__.py": init.encode(), **dict(files)}, requires)
    s.linked_framework = bool(linked)
    if linked:
        asks(s)
    return module


def asks(s, *first):
    """What the engine does before the calls, in place of what the scene's host does."""
    s.steps = [*first, *(p for p in s.steps if not p.startswith(("open:", "name=", "verify:")))]


def application(s, name, *modules):
    """The application's own script: each module but the last only looks for the GPU."""
    lines = ["import sys", *(f"import {m}" for m in modules)]
    lines += [f"status = {m}.run(['version', 'create'])\nif status:\n    sys.exit(status)" for m in modules[:-1]]
    s.script = f"{s.home}/work/{name}"
    s.w.write(s.script, "\n".join([*lines, f"sys.exit({modules[-1]}.run(sys.argv[1:]))", ""]))
    s.w.argv = [*s.w.argv[:-2], "python", s.script]


def cuda_of_the_system(s, listed=True):
    """CUDA is the image's, or the server's, and not the environment's."""
    for name, *_ in World.cuda_wheels(s.cuda):
        uninstall(s, name)
    directory = f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}"
    s.w.copy_of_cuda(f"{directory}/lib64", s.cuda)
    s.w.link("/usr/local/cuda", directory)
    if listed:
        s.w.write("/etc/ld.so.conf.d/000_cuda.conf", "/usr/local/cuda/lib64\n")
        s.w.system_changed = True
    s.cuda_dirs = ["/usr/local/cuda/lib64"]


def image_of_nvidia(s):
    """What NVIDIA's images set."""
    s.w.write("/.dockerenv", "")
    s.w.env.update(CUDA_VERSION=stock.TOOLKITS[s.cuda] + ".1", NVIDIA_VISIBLE_DEVICES="all",
                   NVIDIA_DRIVER_CAPABILITIES="compute,utility")
    s.llp = ["/usr/local/nvidia/lib", "/usr/local/nvidia/lib64", *s.llp]


def runtime_deb(s, version, cuda=None):
    """The package for running alone, as images and guides have it."""
    cuda = cuda or s.cuda
    name, full, laid = next(iter(deb_packages(version, cuda, World.cudnn_files(version, cuda))))
    s.w.deb(name, full, laid)
    return name


def ctranslate2(s, version, release=None, cuda=None):
    """CTranslate2's wheel: cuDNN's facade under a name with a hash; what the facade opens is to come from elsewhere."""
    release, cuda = release or s.version, cuda or s.cuda
    name = f"libcudnn-{s.w.rng.choice(('74a4c495', 'faf17a4c'))}.so.{release}"
    node = f"libcudnn.so.{release[0]}"
    facade = World.cudnn_files(release, cuda, "--soname", name, "--node", node)[name]
    module = engine(s, "ctranslate2", version, "ctranslate2/_ext.cpython-311-x86_64-linux-gnu.so",
                    [f"{s.site}/ctranslate2.libs", *s.cuda_dirs], needs=(name,),
                    files={f"ctranslate2.libs/{name}": facade})
    s.w.wheel(s.site, "faster-whisper", "1.0.3" if cuda == "12" else "0.10.1", {
        "faster_whisper/__init__.py": b"import ctranslate2\n"},
        ["ctranslate2<5,>=4.0" if cuda == "12" else "ctranslate2<4,>=3.22"])
    asks(s, *s.cuda_first(), f"name={name}")
    return module


def onnxruntime(s, version, path, linked=None, requires=()):
    """onnxruntime-gpu: its provider is linked with cuDNN and CUDA; without them it goes on."""
    return engine(s, "onnxruntime-gpu", version, "onnxruntime/capi/libonnxruntime_providers_cuda.so", path,
                  linked=linked or (s.era, s.cuda), requires=requires, processor=True,
                  files={STATE: library("onnxruntime_pybind11_state.so", "int ort_gpu;\n")})


STATE = "onnxruntime/capi/onnxruntime_pybind11_state.so"


def onnxruntime_of_the_processor(s, version):
    """The package onnxruntime: it knows of no CUDA."""
    init = ("import ctypes\nimport os\n\nctypes.CDLL(os.path.join(os.path.dirname(__file__), 'capi',\n"
            "                         'onnxruntime_pybind11_state.so'))\n\n\ndef run(steps):\n"
            "    print(\"Specified provider 'CUDAExecutionProvider' is not in available provider names.\",\n"
            "          \"Available providers: 'AzureExecutionProvider, CPUExecutionProvider'\")\n    return 0\n")
    s.w.wheel(s.site, "onnxruntime", version, {
        STATE: library("onnxruntime_pybind11_state.so", "int ort;\n"), "onnxruntime/__init__.py": init.encode()})


def paddle(s, directories):
    """PaddlePaddle: it opens cuDNN by its plain name."""
    version = {"10": "1.7.2", "11": "2.1.0", "12": "3.0.0b1"}.get(s.cuda, "3.1.0")
    module = engine(s, "paddlepaddle-gpu", version, "paddle/base/libpaddle.so" if s.era == 9 else
                    "paddle/fluid/core_avx.so", directories)
    s.w.wheel(s.site, "paddleocr", "2.7.3", {"paddleocr/__init__.py": b"import paddle\n"})
    asks(s, *s.cuda_first(), "name=libcudnn.so")
    return module


# ---- apps-speech: whisper front ends, programs that speak ---------------------------------------------------------

@kind("apps-speech", USUAL, weight=2, place=("container",), era=(8,), cuda=("12",), **SPEECH)
def whisper_in_an_image_of_cuda(s):
    """faster-whisper#729, VoiceStreamAI#17: the Dockerfile begins with NVIDIA's base or runtime image, not with the one
    that has cudnn8 in its name; CTranslate2's own facade finds no parts."""
    uninstall(s, s.package)
    cuda_of_the_system(s)
    image_of_nvidia(s)
    application(s, "infer.py", ctranslate2(s, "4.4.0"))
    if not s.w.faulty:
        s.w.env["NV_CUDNN_VERSION"] = stock.wheel_version(s.version)
        runtime_deb(s, s.version)
        return None
    return truth("app-parts-nowhere", s.parts, "libcudnn_ops_infer", "the image has CUDA, and no cuDNN",
                 "CTranslate2's facade opens its parts by name", "the process ends")


@kind("apps-speech", (*USUAL, "no-cache"), weight=4, place=("venv", "container"), era=(8,), **SPEECH)
def whisper_service_without_its_variable(s):
    """linuxserver/docker-faster-whisper#15, faster-whisper#516, #297, GPT-SoVITS#697: pip has installed NVIDIA's
    packages for it; what starts it exports nothing, or adds their directory to PATH."""
    module = ctranslate2(s, "4.3.1" if s.cuda == "12" else "3.24.0")
    application(s, "whisper_server.py", module)
    by_script = s.w.rng.random() < 0.5
    into_path = s.w.rng.random() < 0.25
    if by_script:
        launched(s, "cd ~" if s.w.faulty else
                 f"export LD_LIBRARY_PATH={s.lib}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}")
    if not s.w.faulty:
        s.llp = s.llp if by_script else [s.lib, *s.llp]
        return None
    if into_path:
        s.w.env["PATH"] += f":{s.lib}"
    return truth("app-parts-unlisted", (*s.parts, s.lib), "libcudnn_ops_infer", f"the parts lie in {s.lib}",
                 "LD_LIBRARY_PATH does not name it", "CTranslate2's facade finds none")


@kind("apps-speech", USUAL, weight=5, place=("container",), era=(9,), cuda=("12",), versions=("9.1.0", "9.5.1"),
      **SPEECH)
def whisper_went_on_to_nine(s):
    """Whisper-WebUI#346, whisper-diarization#259, Linly-Dubbing#41, N46Whisper#108 and a page of gitcode.com:
    the newest CTranslate2 has a facade of 9, the notebook's or pod's image has cuDNN 8."""
    uninstall(s, s.package)
    cuda_of_the_system(s)
    image_of_nvidia(s)
    application(s, s.w.rng.choice(("app.py", "diarize.py", "colab_kernel_launcher.py")), ctranslate2(s, "4.5.0"))
    old = s.w.rng.choice(stock.releases(8, "12"))
    s.w.env["NV_CUDNN_VERSION"] = stock.wheel_version(old)
    runtime_deb(s, old)
    if not s.w.faulty:
        runtime_deb(s, s.version)
        return None
    return truth("app-parts-of-other-major", s.parts, "libcudnn_graph", f"the image has cuDNN {old}",
                 "CTranslate2 4.5 has a facade of 9", "it finds no parts of 9")


@kind("apps-speech", STEPS, weight=2, place=("container",), host=("package",), framework=("torch",), era=(9,),
      cuda=("12",), demand=True)
def notebook_pins_a_whisper_of_eight(s):
    """whisper-diarization#311 and a page of gitcode.com on WhisperX: the image went on to 9, with which torch works;
    the notebook pins a CTranslate2 whose facade is of 8."""
    old = s.w.rng.choice(stock.releases(8, "12"))
    module = ctranslate2(s, "4.4.0", old)
    application(s, "diarize.py", "torch", module)
    runtime_deb(s, s.version)
    if not s.w.faulty:
        runtime_deb(s, old)
        return None
    parts = [n for n in World.cudnn_files(old, s.cuda) if n != "libcudnn.so.8"]
    return truth("app-parts-of-other-major", parts, "libcudnn_ops_infer", f"the image has cuDNN {s.version}",
                 f"ctranslate2 4.4.0 is pinned, whose facade is {old}", "it finds no parts of 8")


@kind("apps-speech", QUIET, weight=2, place=("conda",), host=("package",), framework=("torch",), era=(8, 9),
      cuda=("11", "12"))
def voice_image_with_both_runtimes(s):
    """GPT-SoVITS#1227, microWakeWord-Trainer-Nvidia-Docker#1: the image's requirements bring onnxruntime over
    onnxruntime-gpu; all that is torch works on the GPU."""
    s.w.write("/.dockerenv", "")
    version = s.w.rng.choice(("1.16.3", "1.17.1") if s.era == 8 else ("1.19.2", "1.23.0"))
    application(s, "inference_webui.py", "torch", onnxruntime(s, version, [s.lib]))
    if not s.w.faulty:
        return None
    onnxruntime_of_the_processor(s, version)
    return truth("app-for-the-processor", "onnxruntime", ("onnxruntime_pybind11_state",
                 "libonnxruntime_providers_cuda"), "onnxruntime lies over onnxruntime-gpu",
                 "it has no provider of CUDA", "the program goes on with the processor")


@kind("apps-speech", QUIET, place=("venv",), host=("package",), framework=("visionkit",), era=(8, 9),
      cuda=("11", "12"), demand=False)
def voice_requires_the_plain_runtime(s):
    """g2pW-Cantonese#1: the application's requirements name onnxruntime, not onnxruntime-gpu; it asks for CUDA."""
    version = s.w.rng.choice(("1.16.3", "1.17.1") if s.era == 8 else ("1.19.2", "1.20.1"))
    wanted = "onnxruntime" if s.w.faulty else "onnxruntime-gpu"
    s.w.wheel(s.site, "g2pw", "0.1.1", {"g2pw/__init__.py": b"import onnxruntime\n"}, [wanted])
    if not s.w.faulty:
        application(s, "speak.py", onnxruntime(s, version, [s.lib, *s.cuda_dirs]))
        return None
    uninstall(s, s.dist)
    onnxruntime_of_the_processor(s, version)
    application(s, "speak.py", "onnxruntime")
    return truth("app-for-the-processor", "onnxruntime", ("onnxruntime_pybind11_state",
                 "libonnxruntime_providers_cuda"), "g2pw requires onnxruntime", "that is the build for the processor")


# ---- apps-pictures: trainers, web UIs, faces and backgrounds ------------------------------------------------------

@kind("apps-pictures", STEPS, place=("venv",), search=("runpath",), host=("package",), framework=("torch",), era=(8, 9),
      older=1, demand=True)
def trainer_keeps_the_variable_for_sudo(s):
    """kohya_ss#1096: gui.sh goes through sudo and keeps LD_LIBRARY_PATH, in which the machine's older cuDNN stands."""
    old = s.older()
    directory = s.w.rng.choice(("/usr/local/cuda/lib64", "/usr/local/cudnn/lib", "/opt/nvidia/cudnn/lib64"))
    s.w.copy_of_cudnn(directory, old, s.cuda)
    s.llp = [directory, *s.llp]
    command = '/usr/bin/env "$@"' if s.w.faulty else '/usr/bin/env -u LD_LIBRARY_PATH "$@"'
    gui = f"{s.home}/work/kohya_ss/gui.sh"
    s.w.write(gui, f"#!/bin/bash\n# As sudo: with its variables, or without.\nexec {command}\n", 0o755)
    s.w.argv = [gui, *s.w.argv]
    if not s.w.faulty:
        return None
    return truth("app-older-in-variable", (old, directory), "libcudnn", f"LD_LIBRARY_PATH names {directory}",
                 f"that has {old}", f"torch was built with {s.version} and refuses it")


@kind("apps-pictures", STEPS, weight=3, place=("container", "conda"), search=("runpath",), host=("package",),
      framework=("torch",), era=(8, 9), older=1, demand=True)
def image_exports_its_older_toolkit(s):
    """gladia#928, FurkanGozukara/Stable-Diffusion#9, pytorch#104757: the image's LD_LIBRARY_PATH names its toolkit, and
    the cuDNN in there is older than what the application's torch was built with; another one was put there."""
    image_of_nvidia(s)
    version = s.older() if s.w.faulty else s.version
    directory = "/usr/local/cuda/lib64"
    s.w.copy_of_cudnn(directory, version, s.cuda)
    s.w.header("/usr/local/cuda/include", version)
    s.w.copy_of_cuda(directory, s.cuda)
    s.llp = [directory, *s.llp]
    if not s.w.faulty:
        return None
    return truth("app-older-in-variable", (version, directory), "libcudnn", f"LD_LIBRARY_PATH names {directory}",
                 f"that has {version}", f"torch was built with {s.version} and refuses it")


@kind("apps-pictures", QUIET, place=("venv",), host=("package",), framework=("torch",), era=(8,), cuda=("12",))
def faces_by_a_runtime_of_cuda_eleven(s):
    """ComfyUI_IPAdapter_plus#238: torch is one of CUDA 12; the onnxruntime-gpu that pip has by default was built for
    CUDA 11, and insightface goes on with the processor."""
    linked = (8, "11") if s.w.faulty else (8, "12")
    s.w.wheel(s.site, "insightface", "0.7.3", {"insightface/__init__.py": b"import onnxruntime\n"})
    application(s, "main.py", "torch", onnxruntime(s, "1.16.3" if s.w.faulty else "1.17.1", [s.lib, *s.cuda_dirs],
                                                   linked))
    if not s.w.faulty:
        return None
    names = [stock.companion_names("11")[w] for w in ("cudart", "cublas", "cublasLt", "nvrtc")]
    return truth("app-of-other-cuda", (*names, "CUDA 11"), ("libcublasLt", "libcublas", "libcudart", "libnvrtc"),
                 "onnxruntime-gpu is built for CUDA 11", "the environment has CUDA 12", f"{names[2]} is not found")


@kind("apps-pictures", QUIET, weight=2, place=("venv", "container"), host=("package",), framework=("visionkit",),
      era=(8, 9), cuda=("11", "12"), demand=False)
def backgrounds_on_a_server_without_cudnn(s):
    """rembg#798, onnxruntime#19616: the server has CUDA, and nobody has installed cuDNN; apt brings it."""
    uninstall(s, s.package)
    cuda_of_the_system(s)
    s.w.wheel(s.site, "rembg", "2.0.67", {"rembg/__init__.py": b"import onnxruntime\n"})
    application(s, "rembg_p.py", onnxruntime(s, "1.17.0" if s.era == 8 else "1.23.2", []))
    if not s.w.faulty:
        runtime_deb(s, s.version)
        return None
    return truth("app-without-cudnn", (s.facade, "libonnxruntime_providers_cuda.so"),
                 ("libcudnn", "libonnxruntime_providers_cuda"), "no cuDNN is installed", f"{s.facade} is not found",
                 "onnxruntime goes on with the processor")


@kind("apps-pictures", QUIET, weight=2, place=("venv",), host=("package",), framework=("visionkit",), era=(9,),
      cuda=("12",), demand=False)
def faces_want_nine_and_get_eight(s):
    """HeyGem-Linux-Python-Hack#5, immich-in-lxc#32: the newest onnxruntime-gpu asks for 9; the distribution's
    nvidia-cudnn, or the environment, has 8."""
    old = s.w.rng.choice(stock.releases(8, "12"))
    uninstall(s, s.package)
    path = s.cuda_dirs
    if s.w.rng.random() < 0.5:
        cuda_of_the_system(s)
        path = []
        _, _, laid = next(iter(deb_packages(old, "12", World.cudnn_files(old, "12"))))
        s.w.deb("nvidia-cudnn", f"{stock.wheel_version(old)}~cuda12.2", laid)
        if not s.w.faulty:
            runtime_deb(s, s.version)
    else:
        path = [s.lib, *s.cuda_dirs]
        s.w.wheel(s.site, *World.cudnn_wheel(old if s.w.faulty else s.version, "12"))
    application(s, "ml_server.py", onnxruntime(s, s.w.rng.choice(("1.19.2", "1.21.0")), path))
    if not s.w.faulty:
        return None
    return truth("app-of-next-major", (s.facade,), ("libcudnn", "libonnxruntime_providers_cuda"),
                 f"cuDNN {old} is installed", f"onnxruntime asks for {s.facade}", "it goes on with the processor")


# ---- apps-pages: OCR ----------------------------------------------------------------------------------------------

@kind("apps-pages", USUAL, place=("container",), host=("package",), framework=("torch",), era=(9,), cuda=("12",),
      demand=True)
def ocr_in_the_image_of_torch(s):
    """PaddleDetection#7629: the image is torch's, whose cuDNN is a wheel, with numbered names alone; Paddle opens
    libcudnn.so, which somebody has to link."""
    module = paddle(s, s.cuda_dirs)
    application(s, "ocr.py", module)
    s.w.write("/etc/ld.so.conf.d/cuda.conf", "/usr/local/cuda/lib64\n")
    s.w.copy_of_cuda("/usr/local/cuda/lib64", s.cuda)
    s.w.system_changed = True
    if not s.w.faulty:
        for name in (s.facade, *s.parts):
            s.w.link(f"/usr/local/cuda/lib64/{name}", f"{s.lib}/{name}")
        s.w.link("/usr/local/cuda/lib64/libcudnn.so", f"{s.lib}/{s.facade}")
        return None
    return truth("app-plain-name", "libcudnn.so", "libcudnn", f"{s.lib} has {s.facade}", "no file is libcudnn.so",
                 "Paddle asks for that")


@kind("apps-pages", USUAL, weight=2, place=("container",), host=("package",), framework=("lensflow",), era=(8,),
      cuda=("11",), demand=False)
def ocr_in_a_runtime_image(s):
    """Paddle#33889, #39102: a runtime image with apt's libcudnn8; libcudnn.so is the package for developers', and
    Paddle asks for it; ln -s has helped."""
    uninstall(s, s.package)
    cuda_of_the_system(s)
    image_of_nvidia(s)
    s.llp = [f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}/lib64", *s.llp]
    application(s, "ocr.py", paddle(s, []))
    name = runtime_deb(s, s.version)
    if not s.w.faulty:
        s.w.link(f"{SYSTEM}/libcudnn.so", s.facade)
        return None
    return truth("app-plain-name", "libcudnn.so", "libcudnn", f"{name} has {s.facade}", "no file is libcudnn.so",
                 "Paddle asks for that")


@kind("apps-pages", USUAL, weight=2, place=("conda",), host=("package",), framework=("lensflow",), era=(7, 8),
      cuda=("10", "11"), demand=False)
def ocr_in_conda_cudnn_in_the_toolkit(s):
    """PaddleOCR#300, #63: no docker: Paddle by pip in a conda environment, cuDNN unpacked into the toolkit; nothing is
    exported, or PATH is, with the library's own name in it."""
    without_cudnn(s)
    directory = f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}/lib64"
    s.w.copy_of_cudnn(directory, s.version, s.cuda)
    s.w.header(f"{os.path.dirname(directory)}/include", s.version)
    application(s, "predict_system.py", paddle(s, s.cuda_dirs))
    into_path = s.w.rng.random() < 0.5
    if not s.w.faulty:
        s.llp = [directory, *s.llp]
        return None
    if into_path:
        s.w.env["PATH"] = f"{directory}/libcudnn.so:{directory}/{s.facade}:" + s.w.env["PATH"]
    return truth("app-not-exported", ("libcudnn.so", directory), "libcudnn", f"libcudnn.so lies in {directory}",
                 "LD_LIBRARY_PATH does not name it", "Paddle does not find it")


# ---- apps-servers: home servers and their images ------------------------------------------------------------------

@kind("apps-servers", QUIET, weight=2, place=("container",), host=("package",), framework=("visionkit",), era=(9,),
      cuda=("12",), demand=False)
def photos_by_the_plain_image(s):
    """immich#12789, imagegenius/docker-immich#679: the image without -cuda in its tag was taken: onnxruntime in it is
    the processor's, and it has nothing of CUDA."""
    s.w.env["DEVICE"] = "cpu" if s.w.faulty else "cuda"
    version = s.w.rng.choice(("1.19.2", "1.22.0", "1.24.1"))
    if not s.w.faulty:
        application(s, "immich_ml.py", onnxruntime(s, version, [s.lib, *s.cuda_dirs]))
        return None
    for name in (s.dist, s.package, *(wheel[0] for wheel in World.cuda_wheels(s.cuda))):
        uninstall(s, name)
    onnxruntime_of_the_processor(s, version)
    application(s, "immich_ml.py", "onnxruntime")
    return truth("app-for-the-processor", "onnxruntime", ("onnxruntime_pybind11_state",
                 "libonnxruntime_providers_cuda"), "the image is the one for the processor",
                 "its onnxruntime has no provider of CUDA")


@kind("apps-servers", USUAL, place=("container",), host=("package",), framework=("lensflow",), era=(8,),
      cuda=("11",), demand=False)
def cameras_without_nvrtc(s):
    """frigate#5015: the image has NVIDIA's libraries by pip, in the loader's cache; of NVRTC nobody thought, and cuDNN
    opens it when it compiles."""
    nvrtc = stock.companion_names(s.cuda)["nvrtc"]
    module = engine(s, "tensorrt", "8.5.3.1", "tensorrt/tensorrt.so", [s.lib])
    application(s, "run_detector.py", module)
    s.steps = [p for p in s.steps if p != f"open:{nvrtc}"]
    s.w.write("/etc/ld.so.conf.d/cuda_tensorrt.conf", "".join(f"{d}\n" for d in (s.lib, *s.cuda_dirs)))
    s.w.system_changed = True
    if not s.w.faulty:
        return None
    package = cuda_wheel_name("cuda-nvrtc", s.cuda)
    uninstall(s, package)
    return truth("app-without-nvrtc", (nvrtc, package), "libnvrtc", f"{package} is not in the image",
                 f"cuDNN asks for {nvrtc}")


@kind("apps-servers", ("harmless", "wrapper"), place=("container",), host=("linked", "named"), era=(8,),
      binary={"extra_needs": ("libnvdla_compiler.so",)})
def cameras_without_the_nvidia_runtime(s):
    """frigate#6458: on a Jetson the runtime of NVIDIA mounts the host's libraries into the container; started without
    --runtime=nvidia, TensorRT's own need is not there, nor is the driver."""
    directory = f"{SYSTEM}/tegra"
    s.w.at(directory).mkdir(parents=True)
    s.w.write("/etc/ld.so.conf.d/nvidia-tegra.conf", f"{directory}\n")
    s.w.env["NVIDIA_REQUIRE_CUDA"] = "cuda>=11.4"
    s.w.system_changed = True
    if not s.w.faulty:
        s.w.put(library("libnvdla_compiler.so", "int nvdla;\n"), f"{directory}/libnvdla_compiler.so")
        return None
    take_driver_away(s)
    return truth("app-without-the-runtime", ("libnvdla_compiler.so", "driver", "libcuda"), "libnvdla_compiler",
                 "the container was started without NVIDIA's runtime", "nothing of the host is mounted",
                 "libnvdla_compiler.so is not found")


@kind("apps-servers", QUIET, place=("container",), host=("package",), framework=("visionkit",), era=(9,),
      cuda=("12",), demand=False)
def photos_whose_image_names_no_cuda(s):
    """immich#22655: the image has CUDA in /usr/local/cuda, and its LD_LIBRARY_PATH names the driver's directories
    alone; a line in the compose file helps."""
    uninstall(s, s.package)
    cuda_of_the_system(s, listed=False)
    image_of_nvidia(s)
    runtime_deb(s, s.version)
    application(s, "immich_ml.py", onnxruntime(s, "1.22.0", []))
    if not s.w.faulty:
        s.llp = ["/usr/local/cuda/lib64", *s.llp]
        return None
    return truth("app-cuda-unlisted", (*companions(s), "/usr/local/cuda"), ("libcublasLt", "libcublas", "libcudart",
                 "libnvrtc", "libonnxruntime_providers_cuda"), "CUDA lies in /usr/local/cuda/lib64",
                 "LD_LIBRARY_PATH does not name it", "onnxruntime's provider cannot be loaded")
