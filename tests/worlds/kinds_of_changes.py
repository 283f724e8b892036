# SPDX-License-Identifier: Apache-2.0
"""Kinds that are a sample of what people ask about by what they did before it broke: an upgrade, another package, a new
image, a copy, another node. Sixteen searches, the first eight answers of each as they came: 128 answers, 112 threads
and pages, 61 of them used: where what a thread shows tells its cause. Written by somebody who has not read the rules.
As in kinds_of_threads.py a kind's weight is how many threads it stands for, and both twins share what stands before
`if not s.w.faulty: return None`."""
import os
import shutil

import stock
from kinds import LABELS, NEWER, in_front, kind, truth, uninstall, whole
from kinds_by_hand import companions
from kinds_of_applications import (application, ctranslate2, cuda_of_the_system, image_of_nvidia, onnxruntime,
                                   runtime_deb)
from kinds_of_forums import DRIVERS, neighbour
from kinds_of_machines import take_driver_away
from kinds_of_science import by_pip_in_conda, cuda_torch
from kinds_of_starts import library
from kinds_of_surroundings import conda_framework, often_the_processor
from kinds_of_threads import BEFORE_THE_LAST, before_calls, exports, goes_on, newer, without_cudnn, without_plain_name
from kinds_of_upgrades import FOR_TWO_CUDAS, framework_again, from_the_image, started_by, verifies
from scene import SYSTEM
from world import World

CUDA_MISSING = {"dependency-missing", "cuda-dependency-differs", "gpu-stack-not-reached"}
LABELS.update({
    "after-not-searched": CUDA_MISSING | {"library-not-found", "search-path-suspect"},
    "after-no-cudnn": {"library-not-found", "dependency-missing", "gpu-stack-not-reached"},
    "after-other-major": {"library-not-found", "major-differs", "dependency-missing", "gpu-stack-not-reached"},
    "after-other-major-and-cuda": CUDA_MISSING | {"library-not-found", "major-differs", "cuda-major-differs"},
    "after-past-the-framework": {"runtime-too-new"},
    "after-solved-for-an-older": {"runtime-too-old"},
    "after-old-driver": {"driver-too-old"},
    "after-driver-not-restarted": {"driver-mixed"},
    "after-no-driver": {"driver-missing", "dependency-missing", "gpu-stack-not-reached"},
    "after-build-for-the-processor": {"cpu-only-build", "gpu-stack-not-reached"},
    "after-other-cuda": CUDA_MISSING | {"cuda-major-differs"},
    "after-cudnn-of-other-cuda": {"cuda-major-differs", "dependency-missing", "cuda-dependency-differs"},
    "after-no-cuda": CUDA_MISSING,
    "after-no-plain-name": {"library-not-found", "wrong-name"},
    "after-no-parts": {"part-missing", "installation-incomplete", "library-not-found", "major-differs"},
    "after-parts-not-named": {"part-missing", "library-not-found", "search-path-suspect"},
    "after-copied-in-part": {"part-missing", "installation-incomplete"},
    "after-built-with-a-later": {"missing-symbols", "symbol-version-not-found", "runtime-too-old", "shadowed-copy"},
    "after-an-export-older": {"runtime-too-old", "shadowed-copy", "own-copy-unused"},
    "after-an-export-mixed": {"parts-differ", "facade-and-parts-differ", "part-from-other-installation",
                              "symbol-version-not-found", "missing-symbols", "shadowed-copy", "own-copy-unused"},
    "after-an-export-cuda": {"cuda-dependency-differs", "dependency-missing", "missing-symbols", "two-cuda-copies"},
    "after-cuda-by-plain-name": {"dependency-missing", "cuda-dependency-differs", "library-not-found", "wrong-name"},
    "after-driver-by-plain-name": {"driver-missing", "dependency-missing", "library-not-found", "wrong-name"},
})

STEPS = ("harmless", "late", "workers", "wrapper")
USUAL = (*STEPS, "blame")
QUIET = ("harmless", "wrapper")  # the faulty program comes to none of its steps
PROGRAMS = ("linked", "named")
OF_CUDA = ("libcudart", "libcublas", "libcublasLt", "libnvrtc")
OF_TENSORFLOW = ("8.2.1", "8.5.0", "8.6.0", "8.9.2", "8.9.7", "9.5.1", "9.8.0", "9.13.0", "9.19.0")
# What TensorFlow's wheel of that cuDNN and CUDA is, says, and was built with.
TENSORFLOW = {(8, "11"): ("2.11.0", [], "8.1.0"),
              (8, "12"): ("2.15.1", ['nvidia-cudnn-cu12==8.9.4.25; extra == "and-cuda"'], "8.9.0"),
              (9, "12"): ("2.18.0", ['nvidia-cudnn-cu12<10.0,>=9.3.0.75; extra == "and-cuda"'], "9.3.0")}
BUILD_INFO = "tensorflow/python/platform/build_info.py"
LAYER_NORM = "_ZN5cudnn3cnn34layerNormFwd_execute_internal_implERKNS_7backend11VariantPackEP11CUstream_st"

# ---- after-system: an upgrade of the system, of its driver, or its installation anew -------------------------------


@kind("after-system", USUAL, weight=6, place=("toolkit",), search=("llp", "cache"),
      host=("linked", "named", "unversioned", "ctypes"))
def installed_anew_and_not_searched(s):
    """Theano#5961, nshx.cn 28629, openillumi 60734, neural-style#154, taourl 2487513, system76/cuda#17: an update or an
    installation has put it into a directory that neither the loader's cache nor LD_LIBRARY_PATH has: the list of
    ld.so.conf.d is gone or is of the toolkit before, .bashrc names something else, a notebook's cell sets the variable
    when the process runs already; or cuDNN's package is of another toolkit's directory."""
    w = s.w
    goes_on(s)
    listed = f"/etc/ld.so.conf.d/cuda-{s.cuda}.conf"
    ways = ("list gone", "list of before", "elsewhere") if s.search == "cache" else \
        ("another exported", "nothing exported", "elsewhere", *(("in python",) * 2 if s.host == "ctypes" else ()))
    way = w.rng.choice(ways)
    if not w.faulty:
        return None
    if way == "elsewhere":
        away = w.rng.choice(("/usr/lib/cuda-10.2/lib64", "/usr/local/cuda-11.1/lib64", f"{s.home}/cuda/lib64"))
        without_cudnn(s)
        w.copy_of_cudnn(away, s.version, s.cuda)
        return truth("after-not-searched", (s.asked, s.facade, away), "libcudnn", f"cuDNN lies in {away}",
                     "that is not searched", f"{s.asked} is not found")
    if way == "list gone":
        w.remove(listed)
    elif way == "list of before":
        w.write(listed, w.rng.choice(("/usr/local/cuda-9.0/lib64\n", "/usr/local/cuda-10.0/lib64\n")))
    elif way == "in python":
        text = w.read(s.script).decode()
        w.write(s.script, f"import os\nos.environ['LD_LIBRARY_PATH'] = '{s.lib}:' + os.environ.get('LD_LIBRARY_PATH', "
                          f"'')\n{text}")
    s.llp = [f"{s.home}/torch/install/lib"] * 2 if way == "another exported" else []
    w.system_changed = w.system_changed or s.search == "cache"
    return truth("after-not-searched", (s.asked, s.facade, s.lib, *companions(s)), ("libcudnn", "libcudart"),
                 f"{s.lib} has CUDA and cuDNN", f"{way}: it is not searched", f"{s.asked} is not found")


@kind("after-system", STEPS, weight=7, place=("venv", "conda", "toolkit", "system"), host=("package", "linked"),
      framework=("torch", "visionkit", "lensflow"), driver=False)
def driver_and_what_was_installed(s):
    """InvokeAI#25, errorcanon (TensorFlow, insufficient), vs9.top, mynw.cn 672445, theneuralbase (PyTorch's matching,
    YOLO's requirements): what was installed comes with a later CUDA than the driver knows. prodopsy: an upgrade has
    brought the driver's libraries, the kernel has the module of before until the computer is started again."""
    w = s.w
    gpu = "7.0 Tesla V100-SXM2-16GB" if s.era == 7 else "7.5 NVIDIA GeForce RTX 2080 Ti"
    if s.era == 7 or w.rng.random() < 0.6:
        before_calls(s, "driver")
        if w.rng.random() < 0.5:
            s.before_steps = ["cpu", *s.before_steps]
    mixed = w.rng.random() < 0.15
    if not w.faulty:
        s.driver(release="580.82.07", gpu=gpu)
        return None
    if mixed:
        old = w.rng.choice(("580.65.06", "575.57.08", "570.86.15"))
        s.driver(release="580.82.07", module=old, state=803, gpu=gpu)
        return truth("after-driver-not-restarted", (old, "580.82.07"), "libcuda", f"the libraries are 580.82.07, "
                     f"the module {old}", "cuInit fails")
    release = w.rng.choice(DRIVERS[s.cuda])
    s.driver(release=release, state=35, gpu=gpu)
    return truth("after-old-driver", (release, f"CUDA {s.cuda}"), ("libcuda", "libcudart"), f"the driver is {release}",
                 f"what was installed comes with CUDA {s.cuda}", "it has no GPU")


@kind("after-system", STEPS, printed=True, place=("system",), host=PROGRAMS, era=(7, 8), versions=BEFORE_THE_LAST,
      demand=False)
def apt_went_past_the_framework(s):
    """keras#9567: apt brought the next minor of cuDNN; the framework was compiled with the one before, and accepts
    that alone; apt-get --allow-downgrades helps."""
    before_calls(s, f"verify:exact:{stock.number(s.version)}")
    if not s.w.faulty:
        return None
    new = newer(s)
    whole(s, new)
    return truth("after-past-the-framework", new, "libcudnn", f"apt brought {new}", f"it was compiled with {s.version}",
                 "it refuses it")


@kind("after-system", USUAL, weight=2, place=("system", "conda"), host=("package", "linked", "named"),
      framework=("torch",), era=(8, 9))
def cudnn_did_not_come_along(s):
    """tensorflow#46310: CUDA was installed on the server, and cuDNN is another package. pytorch#74779: since a day ago
    conda's packages of the night bring no cuDNN along."""
    goes_on(s)
    if s.host == "package":
        conda_framework(s, "pytorch", f"py3.10_cuda{stock.TOOLKITS[s.cuda]}_cudnn{s.version}_0", cuda_torch(s))
    if not s.w.faulty:
        return None
    without_cudnn(s)
    return truth("after-no-cudnn", (s.asked, s.facade), "libcudnn", "CUDA is there, cuDNN is not",
                 f"{s.facade} is not found")


# ---- after-install: pip, conda, an installer -----------------------------------------------------------------------

@kind("after-install", USUAL, weight=6, place=("venv", "container"), host=("package",), framework=("tensorflow",),
      era=(8, 9), cuda=("11", "12"), versions=OF_TENSORFLOW)
def framework_moved_and_cudnn_did_not(s):
    """squeezeDet#81, tensorflow#44307, #41041, #2488, gpu-jupyter#148: requirements, a pin or the newest release on
    PyPI asks for the major before the one that was installed, some for the CUDA before as well; tensorflow#8898: an
    upgrade of another package brought a TensorFlow that asks for the next."""
    w, rng = s.w, s.w.rng
    often_the_processor(s)
    release, requires, built = TENSORFLOW[s.era, s.cuda]
    before = s.era == 8 and s.cuda == "11" and rng.random() < 0.7
    other = rng.choice(stock.releases(17 - s.era, s.cuda))
    cuda_too = rng.random() < 0.5
    directory = from_the_image(s, s.version if before or not w.faulty else other, s.cuda)
    framework_again(s, release if not (before and w.faulty) else rng.choice(("2.2.0", "2.3.1")), requires)
    verifies(s, built)
    if before:
        s.driver(gpu="7.0 Tesla V100-SXM2-16GB")  # cuDNN 7 has code for it, and no such function
        s.steps.remove("finalize")
        if not cuda_too:
            w.copy_of_cuda("/usr/local/cuda-10.1/lib64", "10")
            w.write("/etc/ld.so.conf.d/987_cuda-10.conf", "/usr/local/cuda-10.1/lib64\n")
    if not w.faulty:
        return None
    if not before:
        return truth("after-other-major", (s.facade, other), "libcudnn", f"{directory} has cuDNN {other}",
                     f"tensorflow {release} asks for {s.facade}", "it is not found")
    s.steps = ["open:libcudart.so.10.1", "name=libcudnn.so.7", *s.steps[s.steps.index("version"):]]
    guilty = ("libcudnn.so.7", s.version, *(("libcudart.so.10.1", "CUDA 10") if cuda_too else ()))
    return truth("after-other-major-and-cuda" if cuda_too else "after-other-major", guilty, ("libcudnn", "libcudart"),
                 f"{directory} has cuDNN {s.version}", "the tensorflow of pip asks for libcudnn.so.7",
                 "it is not found")


@kind("after-install", QUIET, place=("venv", "container"), host=("package",), framework=("tensorflow",), era=(8, 9),
      cuda=("11", "12"), versions=OF_TENSORFLOW)
def upgraded_to_the_build_for_the_processor(s):
    """tensorflow#7145: pip upgraded TensorFlow by the name of the package that is for the processor."""
    w = s.w
    text = "import collections\nbuild_info = collections.OrderedDict([%s])\n"
    files = w.index[s.dist][s.dist_version][0]
    uninstall(s, s.dist)
    if not w.faulty:
        told = f"('cuda_version', '{stock.TOOLKITS[s.cuda]}'), ('cudnn_version', '{s.era}'), ('is_cuda_build', True)"
        w.wheel(s.site, s.dist, s.dist_version, {**files, BUILD_INFO: (text % told).encode()}, s.requires)
        return None
    name = "libtensorflow_framework.so.2"
    w.wheel(s.site, "tensorflow-cpu", "2.18.1" if s.era == 9 else "2.12.0", {
        f"tensorflow/{name}": library(name, "int processor_alone;\n").read_bytes(),
        BUILD_INFO: (text % "('is_cuda_build', False)").encode(),
        "tensorflow/__init__.py": (f"import ctypes, os\nctypes.CDLL(os.path.join(os.path.dirname(__file__), '{name}'))"
                                   "\n\n\ndef run(steps):\n    print('[]\\ndone')\n    return 0\n").encode()})
    return truth("after-build-for-the-processor", "tensorflow", "libtensorflow_framework", "pip brought tensorflow-cpu",
                 "it was built without CUDA", "it has no GPU")


FRONTEND = '''\
#include <dlfcn.h>
int load_cudart_so(void) {
    return !!dlopen("%s", RTLD_NOW);
}
'''


@kind("after-install", QUIET, weight=2, place=("venv", "container"), host=("package",), framework=("visionkit",),
      era=(8, 9), cuda=("12", "13"), versions=FOR_TWO_CUDAS, demand=False)
def package_went_on_to_the_next_cuda(s):
    """recognize_docker#2: what was installed last is built for CUDA 12, the image has 11. cudnn-frontend#207: the
    release after looks for the libcudart of CUDA 13 alone, and the environment is of 12."""
    w = s.w
    if s.era == 9 and s.cuda == "12":
        asks = f"libcudart.so.{13 if w.faulty else 12}"
        init = ("import ctypes\nimport os\n\n_module = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "
                "'_compiled_module.so'))\n\n\ndef pygraph():\n    if not _module.load_cudart_so():\n"
                "        raise RuntimeError('Unable to load any libcudart.so.* library')\n")
        w.wheel(s.site, "nvidia-cudnn-frontend", "1.19.0" if w.faulty else "1.18.0", {
            "cudnn/_compiled_module.so": library("_compiled_module.so", FRONTEND % asks, "-ldl").read_bytes(),
            "cudnn/__init__.py": init.encode()}, own=True)
        w.write(s.script, f"import sys\nimport {s.module_name}\nimport cudnn\n\n"
                          f"status = {s.module_name}.run(sys.argv[1:])\ncudnn.pygraph()\nsys.exit(status)\n")
        if not w.faulty:
            return None
        return truth("after-other-cuda", (asks, "cudnn-frontend"), "libcudart", "nvidia-cudnn-frontend is 1.19.0",
                     f"it looks for {asks}", "the environment is of CUDA 12")
    has = str(int(s.cuda) - 1) if w.faulty else s.cuda
    from_the_image(s, s.version, has)
    if not w.faulty:
        return None
    return truth("after-other-cuda", (*companions(s), f"CUDA {s.cuda}"), OF_CUDA, f"the image has CUDA {has}",
                 f"{s.dist} is built for CUDA {s.cuda}", f"{companions(s)[0]} is not found")


@kind("after-install", STEPS, weight=5, printed=True, place=("conda", "system", "toolkit"), demand=True, older=1,
      host=("package", "linked", "named"), framework=("tensorflow", "visionkit", "lensflow"), era=(8, 9),
      cuda=("11", "12"), versions=("8.5.0", "8.6.0", "8.9.2", "9.5.1", "9.8.0", "9.13.0"))
def an_older_one_was_brought(s):
    """conda#8736, FBGEMM#1391, codemia (5005 and 5103), codemia (after loading weights), whosebug 2129428: conda's
    solver, or an installation of before, has an older cuDNN than the framework was built with; it prints both."""
    old = s.older()
    if s.host == "package" and s.framework == "tensorflow":  # of which is known what each release was built with
        release, requires, built = ("2.12.0", [], "8.6.0") if s.era == 8 else TENSORFLOW[9, "12"]
        old = "8.5.0" if s.era == 8 else "9.1.0"
        framework_again(s, release, requires)
        verifies(s, built)
        if not s.w.faulty and s.era == 8 and s.version != built:
            whole(s, built)
    if not s.w.faulty:
        return None
    whole(s, old)
    return truth("after-solved-for-an-older", old, "libcudnn", f"cuDNN {old} was brought",
                 "the framework was built with a later one", "it refuses it")


@kind("after-install", (*USUAL, "no-cache"), weight=3, place=("conda",), host=("package",), framework=("tensorflow",),
      era=(8,), cuda=("11",), versions=("8.2.1", "8.5.0", "8.6.0"))
def conda_brought_what_pip_does_not_find(s):
    """tensorflow#60854, resmico#26: conda install cudnn, and TensorFlow, which is pip's, does not look into the
    environment. tensorflow#69838: cuDNN was brought, and of CUDA itself the toolkit was forgotten."""
    w = s.w
    framework_again(s, "2.8.0", [])
    verifies(s, "8.1.0")  # what that was built with
    by_pip_in_conda(s)
    if w.rng.random() < 0.7:
        s.before_steps = ["cpu", *s.before_steps]
    forgotten = w.rng.random() < 0.34
    if not w.faulty:
        return None
    if not forgotten:
        s.llp = w.rng.choice(([], ["/usr/local/cuda/lib64"]))
        return truth("after-not-searched", (s.facade, s.lib, *companions(s)), ("libcudnn", "libcudart"),
                     f"conda has put it into {s.lib}", "LD_LIBRARY_PATH does not name that")
    for name in w.names(s.lib):
        if name.startswith(OF_CUDA):
            w.remove(f"{s.lib}/{name}")
    for name in w.names(f"{s.prefix}/conda-meta"):
        if name.startswith(("libcublas-", "cuda-cudart-", "cuda-nvrtc-")):
            w.remove(f"{s.prefix}/conda-meta/{name}")
    return truth("after-no-cuda", companions(s), OF_CUDA, "the environment has cudnn, and no CUDA",
                 f"{companions(s)[0]} is not found")


@kind("after-install", QUIET, weight=2, place=("venv",), host=("package",), framework=("visionkit",), era=(8,),
      cuda=("12",), demand=False)
def installer_brings_nine(s):
    """GraXpert#205: NVIDIA's installer for Ubuntu 24.04 has cuDNN 9 alone, the program's onnxruntime asks for 8;
    Fun-CosyVoice3#1: vLLM brought 9 into the environment in which onnxruntime 1.18 is."""
    w = s.w
    nine, torch, vllm = w.rng.choice((("9.1.0", "2.5.1", "0.6.6"), ("9.5.1", "2.7.0", "0.9.2"),
                                      ("9.10.2", "2.8.0", "0.10.2")))
    by_apt = w.rng.random() < 0.5
    if by_apt:
        uninstall(s, s.package)
        cuda_of_the_system(s)
    application(s, "main.py", onnxruntime(s, "1.18.1", []))
    if by_apt:
        runtime_deb(s, nine if w.faulty else s.version)
    else:
        s.llp = [*s.llp, s.lib, *s.cuda_dirs]
        if w.faulty:
            whole(s, nine)
            w.wheel(s.site, "torch", torch, {"torch/__init__.py": f"__version__ = '{torch}'\n".encode()},
                    [f"{s.package}=={stock.wheel_version(nine)}"])
            w.wheel(s.site, "vllm", vllm, {"vllm/__init__.py": b"\n"}, [f"torch=={torch}"])
    if not w.faulty:
        return None
    return truth("after-other-major", ("libcudnn.so.8", nine), ("libcudnn", "libonnxruntime_providers_cuda"),
                 f"cuDNN {nine} was brought", "onnxruntime asks for libcudnn.so.8", "it goes on with the processor")


# ---- after-image: an image was built or pulled anew ---------------------------------------------------------------

@kind("after-image", USUAL, weight=2, place=("system",), host=("unversioned",))
def image_for_running_lacks_the_plain_name(s):
    """nvidia-docker#53, tensorflow#2039: the image for running has libcudnn.so.N, the one for developers had
    libcudnn.so as well, and that is asked for."""
    s.w.write("/.dockerenv", "")
    s.w.env.update(NVIDIA_VISIBLE_DEVICES="all", NVIDIA_DRIVER_CAPABILITIES="compute,utility")
    s.llp = ["/usr/local/nvidia/lib", "/usr/local/nvidia/lib64", *s.llp]
    goes_on(s)
    if not s.w.faulty:
        return None
    without_plain_name(s)
    return truth("after-no-plain-name", "libcudnn.so", "libcudnn", f"the image has {s.facade}",
                 "no libcudnn.so leads to it", "that is asked for")


@kind("after-image", USUAL, weight=2, place=("container",), host=("package",), framework=("lensflow",), era=(8, 9),
      cuda=("12",), demand=False, versions=("8.9.2", "8.9.7", "9.1.0", "9.5.1"))
def image_went_on_and_the_wheel_has_a_facade(s):
    """cml#1367: since yesterday the workers are made with another CUDA, and have no libcudnn_ops_infer.so.8;
    tensorflow#20271: in a container the parts are pip's, and nothing exports their directory."""
    w = s.w
    in_wheels = w.rng.random() < 0.5
    if not in_wheels:
        uninstall(s, s.package)
        cuda_of_the_system(s)
    image_of_nvidia(s)
    application(s, "transcribe.py", ctranslate2(s, "4.4.0" if s.era == 8 else "4.5.0"))
    if in_wheels:
        line = f"export LD_LIBRARY_PATH={':'.join((*s.cuda_dirs, s.lib))}"
        started_by(s, w.rng.choice(("/entrypoint.sh", "/app/start.sh")), "set -e", *(() if w.faulty else (line,)))
        if not w.faulty:
            return None
        return truth("after-parts-not-named", (*s.parts, s.lib), ("libcudnn_ops_infer", "libcudnn_graph"),
                     f"the parts lie in {s.lib}", "nothing exports that", "the facade finds none")
    other = w.rng.choice(stock.releases(17 - s.era, "12"))
    if not w.faulty:
        runtime_deb(s, s.version)
        return None
    if w.rng.random() < 0.5:
        runtime_deb(s, other)
    return truth("after-no-parts", s.parts, ("libcudnn_ops_infer", "libcudnn_graph"), f"the image has no cuDNN {s.era}",
                 "the facade in the wheel opens its parts", "it finds none")


@kind("after-image", USUAL, weight=2, place=("system", "toolkit"), host=PROGRAMS, era=(8, 9), versions=FOR_TWO_CUDAS)
def image_brings_cudnn_for_another_cuda(s):
    """nvidia-docker#114: the image of one CUDA got the package of cuDNN for the next; darknet#8601: CUDA and cuDNN were
    installed again, and cuDNN asks for the libcublas of another CUDA."""
    other = next(c for c in stock.RELEASES[s.version][1] if c != s.cuda)
    if not s.w.faulty:
        return None
    whole(s, s.version, other)
    names = stock.companion_names(other)
    return truth("after-cudnn-of-other-cuda", (names["cublas"], names["cublasLt"], f"CUDA {other}"),
                 ("libcublas", "libcublasLt", "libcudnn"), f"cuDNN is the one for CUDA {other}",
                 f"the rest is CUDA {s.cuda}", f"{names['cublasLt']} is not found")


# ---- after-copying: files copied, linked, exported, built anew ----------------------------------------------------

@kind("after-copying", USUAL, weight=4, place=("toolkit", "system"), search=("llp", "cache"), host=("named", "ctypes"),
      cuda=("10", "11", "12"), demand=False)
def guide_had_another_major(s):
    """densecap#27, dl-docker#33, neural-style#201, #299: cuDNN was unpacked into the toolkit as a guide says, of the
    major before the one that the binding opens, or of the next."""
    s.driver(release="580.82.07", gpu="7.5 Tesla T4")  # which all majors know
    other, cuda = neighbour(s)
    if not s.w.faulty:
        return None
    whole(s, other, cuda)
    return truth("after-other-major", (s.facade, other), "libcudnn", f"cuDNN {other} was installed",
                 f"the binding opens {s.facade}", "it is not found")


@kind("after-copying", USUAL, place=("toolkit",), search=("llp", "cache"), host=("linked", "named", "ctypes"),
      era=(8, 9))
def not_all_was_copied(s):
    """faceswap-playground#79: a mistake when cuDNN's files were copied: those of libcudnn.so* came over, and its parts
    did not."""
    if not s.w.faulty:
        return None
    for name in s.w.names(s.lib):
        if name.startswith("libcudnn_"):
            s.w.remove(f"{s.lib}/{name}")
    s.w.system_changed = s.w.system_changed or s.search == "cache"
    return truth("after-copied-in-part", s.parts, ("libcudnn_ops_infer", "libcudnn_graph"),
                 f"{s.lib} has {s.facade}, and none of its parts", "it opens them")


@kind("after-copying", STEPS, weight=2, place=("toolkit", "conda"), host=("linked",), search=("llp", "runpath"),
      era=(9,), cuda=("12",), versions=NEWER[9][1], demand=False, binary={"imports": NEWER[9][0], "built": "9.8.0"})
def built_anew_and_runs_with_an_older_one(s):
    """pytorch#3834: after a build from source the library that is found is of before the header; #3567: a package of
    conda of which nobody thought has the older one."""
    function, old = NEWER[9][0], NEWER[9][2]
    before_calls(s, "extra")
    if not s.w.faulty:
        return None
    if s.place == "toolkit" and s.search == "llp" and s.w.rng.random() < 0.6:
        directory = s.w.rng.choice((f"{s.home}/anaconda3/lib", "/opt/anaconda3/lib"))
        s.w.copy_of_cudnn(directory, old, s.cuda)
        in_front(s, directory)
    else:
        directory = s.lib
        whole(s, old)
    return truth("after-built-with-a-later", (function, old), "libcudnn", f"{directory} has {old}",
                 f"the program calls {function}", "it ends there")


@kind("after-copying", STEPS, weight=3, place=("venv", "conda"), host=("package",), framework=("torch",), era=(8,),
      cuda=("11",), search=("runpath",), versions=("8.5.0", "8.6.0", "8.9.2"), older=1, demand=True)
def toolkit_exported_as_the_guide_says(s):
    """wetts#177, pytorch#121222, theneuralbase (cuDNN 9.x): LD_LIBRARY_PATH was set to the toolkit's, or to an unpacked
    cuDNN, as a guide for installing says; torch, which has all of its own, gets a part, or the cuBLAS, or the cuDNN
    from there. Unsetting the variable helps."""
    w, old = s.w, s.older()
    what = w.rng.choice(("part", "cublas", "cudnn"))
    directory = w.rng.choice(("/usr/local/cuda/lib64", "/usr/local/cuda-11.1/lib64"))
    lt = stock.companion_names(s.cuda)["cublasLt"]
    if what == "part":
        options = ("--internal", f"cnn_infer={LAYER_NORM}", "--imports", f"cnn_train={LAYER_NORM}")
        old = "8.9.7"
        w.copy_of_cudnn(directory, old, s.cuda, *options)
        whole(s, s.version, s.cuda, stock.SEARCHING)
        before_calls(s, *(f"open:{s.lib}/{s.part_name(p)}" for p in ("ops_infer", "cnn_infer")),
                     f"open:{s.part_name('cnn_train')}")
    elif what == "cublas":
        w.place_files(w.versioned(directory, lt, stock.companion("cublasLt", s.cuda, "-DWITHOUT_CREATE"), "11.1.0.229"))
    else:
        directory = w.rng.choice((directory, f"/usr/local/cudnn-linux-x86_64-{old}/lib"))
        w.copy_of_cudnn(directory, old, s.cuda)
    line = f"export LD_LIBRARY_PATH={directory}:$LD_LIBRARY_PATH\n"
    w.write(f"{s.home}/.bashrc", line if w.faulty else "alias ll='ls -l'\n")
    if not w.faulty:
        return None
    s.llp = [directory, *s.llp]
    if what == "cublas":
        return truth("after-an-export-cuda", (directory, lt), "libcublasLt", f".bashrc exports {directory}",
                     f"its {lt} is older than torch's", "cuDNN finds a function missing")
    if what == "part":
        return truth("after-an-export-mixed", (directory, old), ("libcudnn_cnn_train", "libcudnn_cnn_infer"),
                     f".bashrc exports {directory}, which has {old}", f"libcudnn_cnn_infer of torch is {s.version}",
                     "libcudnn_cnn_train wants a function that it has not")
    return truth("after-an-export-older", (directory, old), "libcudnn", f".bashrc exports {directory}",
                 f"that has {old}, torch's own is {s.version}", "torch refuses it")


# ---- after-moving: another node, another installation of the computer, another package ----------------------------

@kind("after-moving", (*USUAL, "no-cache"), weight=5, place=("modules", "toolkit"), host=PROGRAMS, search=("llp",),
      era=(8, 9))
def node_is_not_like_the_other(s):
    """jade-hpc-gpu#30, #91, cbio-cluster#421: the login node, or another partition, has cuDNN, and the node of the job
    has not, or the job does not load its module. condor#3: CUDA is of another release on that node. ArjunaUsers#9: some
    nodes have no driver."""
    w = s.w
    goes_on(s)
    way = w.rng.choice(("cudnn", "cudnn", "cudnn", "cuda", "driver"))
    top, plain = f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}/", "/usr/local/cuda/"
    if s.place == "toolkit":
        s.llp = [d.replace(top, plain) for d in s.llp]
    if way == "driver":
        before_calls(s, "driver")
    if not w.faulty:
        return None
    if way == "driver":
        take_driver_away(s)
        return truth("after-no-driver", ("libcuda", "driver"), "libcuda", "this node has no driver",
                     "no GPU is counted")
    if way == "cuda":
        other = w.rng.choice([c for c in ("11", "12", "13") if c != s.cuda and stock.releases(s.era, c)])
        directory = s.cuda_dirs[0].replace(stock.TOOLKITS[s.cuda], stock.TOOLKITS[other])
        shutil.rmtree(w.at(os.path.dirname(s.cuda_dirs[0])))
        w.copy_of_cuda(directory, other)
        if s.place == "toolkit":
            known = stock.releases(s.era, other)
            w.copy_of_cudnn(directory, s.version if s.version in known else w.rng.choice(known), other)
            w.link("/usr/local/cuda", os.path.dirname(directory))
        else:
            exports(s, s.lib, directory)
        return truth("after-other-cuda", (*companions(s), f"CUDA {s.cuda}"), OF_CUDA,
                     f"this node has CUDA {other} there", f"{companions(s)[0]} is not found")
    if s.place == "toolkit":
        without_cudnn(s)
    elif w.rng.random() < 0.5:
        exports(s, *s.cuda_dirs)  # the module of CUDA alone
        s.wrapper_lines[1] = "export OMP_NUM_THREADS=4"
    else:
        shutil.rmtree(w.at(s.module))
    return truth("after-not-searched", (s.asked, s.lib), "libcudnn", "the job on this node has CUDA alone",
                 f"{s.asked} is not found")


@kind("after-moving", USUAL, weight=4, place=("venv", "conda"), host=("package",), framework=("torch", "visionkit"),
      era=(8,))
def new_system_lacks_a_plain_name(s):
    """sdnext#539, stable-diffusion-webui#10230: the computer was set up anew, and there is no toolkit any more, whose
    libnvrtc.so a part of cuDNN opens; 3DINO#2, TinyLLaVA_Factory#134 (WSL): it opens libcuda.so, and that is nowhere,
    or where nobody looks."""
    w, toolkit = s.w, f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}/lib64"
    asks = w.rng.choice(("libnvrtc.so", "libcuda.so"))
    options = (*((stock.SEARCHING,) if s.place == "venv" else ()), "--probes", f"cnn_infer={asks}")
    w.releases[s.version, s.cuda] = World.cudnn_files(s.version, s.cuda, *options)
    whole(s, s.version, s.cuda, *options)
    wsl = asks == "libcuda.so" and w.rng.random() < 0.5
    if wsl:
        take_driver_away(s)
        w.write("/dev/dxg", "", 0o666)
        for name in ("libcuda.so", "libcuda.so.1", "libcuda.so.1.1"):
            w.put(stock.driver("CUDA"), f"/usr/lib/wsl/lib/{name}")
        w.write("/etc/ld.so.conf.d/ld.wsl.conf", "/usr/lib/wsl/lib\n")
        w.system_changed = True
    elif asks == "libcuda.so":
        w.put(stock.driver("CUDA", 34), f"{toolkit}/stubs/libcuda.so")
    if not w.faulty:
        if asks == "libnvrtc.so":
            w.copy_of_cuda(toolkit, s.cuda, only=("nvrtc", "builtins"))
            w.write("/etc/ld.so.conf.d/cuda.conf", f"{toolkit}\n")
        elif wsl:
            s.llp = [*s.llp, "/usr/lib/wsl/lib"]
        else:
            w.link(f"{SYSTEM}/libcuda.so", "libcuda.so.1")
        w.system_changed = True
        return None
    part = s.part_name("cnn_infer")
    if asks == "libnvrtc.so":
        return truth("after-cuda-by-plain-name", asks, "libnvrtc", f"{part} opens {asks}",
                     "the environment has it with a number alone", "the call ends the process")
    return truth("after-driver-by-plain-name", asks, "libcuda", f"{part} opens {asks}",
                 "the loader's cache has libcuda.so.1 alone", "the call ends the process")


@kind("after-moving", USUAL, place=("toolkit",), host=("path",), era=(8, 9))
def cudnn_was_moved_to_a_package_of_its_own(s):
    """ONNXRunTime.jl#27: since CUDA.jl was upgraded cuDNN is a package of its own; nobody opens it by its path any
    more, and onnxruntime, which asks for it by name, goes without."""
    w = s.w
    old, artifacts = s.lib, f"{s.home}/.julia/artifacts"
    cuda, s.lib = f"{artifacts}/8d4c1ef2b90f1f1c0a35a7/lib", f"{artifacts}/{'7be3c0d1a2f0'}{s.era}b5e1c97f/lib"
    w.copy_of_cuda(cuda, s.cuda)
    shutil.rmtree(w.at(os.path.dirname(old)))
    w.remove("/usr/local/cuda")
    opens = [f"open:{cuda}/{stock.companion_names(s.cuda)[c]}" for c in ("cudart", "cublas", "cublasLt", "nvrtc")]
    s.cuda_dirs = [cuda]
    at = next(i for i, p in enumerate(s.steps) if p.startswith("name="))
    s.steps = [*opens, *([] if w.faulty else [f"open:{s.lib}/{s.facade}"]), f"name={s.facade}", *s.steps[at + 1:]]
    if w.rng.random() < 0.5:
        s.before_steps = ["cpu", *s.before_steps]
    there = w.rng.random() < 0.4
    if there or not w.faulty:
        w.copy_of_cudnn(s.lib, s.version, s.cuda)
    if not w.faulty:
        return None
    return truth("after-not-searched", (s.facade, s.lib), "libcudnn", "no package opens cuDNN by its path",
                 f"{s.facade} is asked for by name", "it is not found")
