# SPDX-License-Identifier: Apache-2.0
"""Kinds that are a sample of what people ask in forums and read on pages that tell how it was repaired. Eighteen
searches were typed as somebody with such a problem would type them, all of them for pages; for three that gave no
thread of the symptom (WSL, an old ImportError, an undefined symbol) the same words were sought among issues. The first
eight answers of each were taken as they came: 167 answers, which are 111 pages and threads when each is counted once;
60 of them are used. Each is used where what is shown of it tells a cause that is a matter of which cuDNN, CUDA, driver
or build of a framework the process got. Written by somebody who has not read the rules. As in
kinds_of_threads.py a kind's weight is how many threads it stands for, and both twins share what stands before
`if not s.w.faulty: return None`. A site is named by its short name and the number of its page."""
import os

import stock
from kinds import HIDES_ABSENCE, LABELS, NEWER, in_front, kind, replace, truth, uninstall, whole
from kinds_by_hand import companions
from kinds_of_applications import (application, ctranslate2, cuda_of_the_system, engine, image_of_nvidia, onnxruntime,
                                   onnxruntime_of_the_processor, runtime_deb)
from kinds_of_machines import take_driver_away
from kinds_of_science import cuda_torch, not_in_the_environment, processor_torch
from kinds_of_starts import library
from kinds_of_surroundings import conda_framework, often_the_processor
from kinds_of_threads import UNTIL_9_19, before_calls, goes_on, without_cudnn
from kinds_of_upgrades import FOR_TWO_CUDAS, another_cuda, framework_again, from_the_image
from scene import SYSTEM
from world import World

NOT_THERE = {"library-not-found", "dependency-missing", "cuda-dependency-differs", "gpu-stack-not-reached"}

LABELS.update({
    "forum-compiled-with-a-later": {"runtime-too-old"},
    "forum-guide-exports-an-older": {"runtime-too-old", "shadowed-copy", "own-copy-unused"},
    "forum-parts-of-the-image": {"parts-differ", "facade-and-parts-differ", "part-from-other-installation",
                                 "runtime-too-old"},
    "forum-part-of-another-release": {"parts-differ", "facade-and-parts-differ", "symbol-version-not-found",
                                      "installation-mixed"},
    "forum-part-of-the-toolkit": {"parts-differ", "facade-and-parts-differ", "symbol-version-not-found",
                                  "part-from-other-installation", "missing-symbols", "shadowed-copy",
                                  "own-copy-unused"},
    "forum-lt-of-the-toolkit": {"symbol-version-not-found", "cuda-dependency-differs", "dependency-missing"},
    "forum-other-major": {"library-not-found", "major-differs", "gpu-stack-not-reached"},
    "forum-link-to-other-major": {"wrong-name", "major-differs"},
    "forum-never-installed": NOT_THERE,
    "forum-loader-not-told": {"library-not-found", "dependency-missing", "cuda-dependency-differs",
                              "search-path-suspect"},
    "forum-wheels-not-searched": NOT_THERE | {"search-path-suspect"},
    "forum-toolkit-of-other-cuda": {"dependency-missing", "cuda-dependency-differs", "cuda-major-differs",
                                    "gpu-stack-not-reached"},
    "forum-facade-without-its-parts": {"part-missing", "installation-incomplete", "library-not-found",
                                       "major-differs"},
    "forum-driver-behind": {"driver-too-old"},
    "forum-build-for-the-processor": {"cpu-only-build", "gpu-stack-not-reached"},
    "forum-no-runtime-of-nvidia": {"driver-missing", "dependency-missing", "gpu-stack-not-reached"},
    "forum-driver-in-the-image-alone": {"driver-missing", "init-failed"},
    "forum-card-after-the-build": {"gpu-unsupported"},
    "forum-later-headers": {"missing-symbols", "symbol-version-not-found", "runtime-too-old"},
    "forum-plain-name-of-the-driver": {"driver-missing", "dependency-missing", "library-not-found", "wrong-name"},
})

CALLS = ("harmless", "late", "workers", "wrapper")       # the program comes to its calls, and prints what is wrong
USUAL = ("harmless", "late", "blame", "workers", "wrapper")
QUIET = ("harmless", "wrapper")                          # the faulty program comes to none of its steps

# ---- helpers ------------------------------------------------------------------------------------------------------


def counts(s):
    if s.host != "ctypes":
        before_calls(s, "driver")


def without_the_toolkit(s):
    """CUDA was never installed here: the driver alone."""
    w = s.w
    if s.owner == "conda":
        not_in_the_environment(s)
        return
    without_cudnn(s)
    for directory in s.cuda_dirs:
        for name in w.names(directory):
            w.remove(f"{directory}/{name}")
    for path in ("/usr/local/cuda", f"/etc/ld.so.conf.d/cuda-{s.cuda}.conf"):
        if w.exists(path):
            w.remove(path)
    w.system_changed = True


def neighbour(s):
    """A release of the major before, or of the next, for this CUDA where there is one, and its CUDA."""
    if s.era == 7:
        return "8.2.1", "11"
    if s.era == 9:
        return s.w.rng.choice(stock.releases(8, s.cuda)), s.cuda
    if s.w.rng.random() < 0.5:
        return s.w.rng.choice(stock.releases(7, "10")), "10"
    return s.w.rng.choice(stock.releases(9, s.cuda)), s.cuda


# ---- forum-versions: the number that is printed, and another one -------------------------------------------------

@kind("forum-versions", CALLS, weight=4, printed=True, place=("system", "toolkit", "conda"), demand=True, older=1,
      host=("linked", "named", "package"), framework=("visionkit", "lensflow", "jax_plugin"))
def compiled_with_a_later_than_runs(s):
    """whosebug/2129428, codemia (5005 and 5103), codemia (after loading weights), openillumi (jax): `Loaded runtime
    CuDNN library: X but source was compiled with Y`: what the system, or the environment, has is of a lower minor."""
    if not s.w.faulty:
        return None
    old = s.older()
    whole(s, old)
    return truth("forum-compiled-with-a-later", old, "libcudnn", f"cuDNN {old} is installed",
                 f"the program was compiled with {s.version}", "it refuses it, and prints both")


@kind("forum-versions", CALLS, weight=2, place=("venv",), host=("package",), framework=("torch",), era=(8, 9),
      search=("runpath",), older=1, demand=True)
def guide_exports_its_own_copy(s):
    """yongjin360/278999, theneuralbase (cuDNN 9.x installation): a guide unpacks cuDNN and exports its directory in
    .bashrc; torch, by pip, has a later one of its own and gets the guide's."""
    old = s.older()
    directory = s.w.rng.choice((f"/usr/local/cudnn-linux-x86_64-{old}/lib", "/usr/local/cuda/lib64"))
    s.w.copy_of_cudnn(directory, old, s.cuda)
    s.w.write(f"{s.home}/.bashrc", f"export LD_LIBRARY_PATH={directory}:$LD_LIBRARY_PATH\n" if s.w.faulty else "\n")
    if not s.w.faulty:
        return None
    in_front(s, directory)
    return truth("forum-guide-exports-an-older", (directory, old), "libcudnn", f".bashrc exports {directory}",
                 f"that has {old}, torch's own is {s.version}", "torch refuses it")


@kind("forum-versions", CALLS, place=("venv", "container"), host=("package",), framework=("torch",), search=("rpath",),
      era=(9,), versions=UNTIL_9_19, demand=True, older=1)
def parts_come_from_the_image(s):
    """MinerU#2664: torch opens its own facade, and libcudnn_graph.so.9 comes from /usr/local/cuda/lib64, which
    LD_LIBRARY_PATH names."""
    old, directory = s.older(), "/usr/local/cuda/lib64"
    s.w.copy_of_cudnn(directory, old, s.cuda)
    if not s.w.faulty:
        return None
    in_front(s, directory)
    return truth("forum-parts-of-the-image", (directory, old), ("libcudnn_graph", "libcudnn_ops"),
                 f"LD_LIBRARY_PATH names {directory}, with {old}", f"the facade is torch's own, {s.version}",
                 "its RUNPATH comes behind the variable")


NEIGHBOURS = "_Z22cudnnGenericOpTensorNdILi2EE13cudnnStatus_tP12cudnnContext16cudnnGenericOp_t"


@kind("forum-versions", CALLS, weight=2, place=("conda", "venv"), host=("package",), framework=("torch",), era=(8,),
      cuda=("11",), options=("--internal", f"ops_infer={NEIGHBOURS}", "--imports", f"ops_train={NEIGHBOURS}"))
def part_for_training_beside_another(s):
    """nvidia-container-toolkit#224, pytorch#119989: `undefined symbol ..., version libcudnn_ops_infer.so.8`: in the
    environment's lib one part is of another release than the one that asks for it; or it comes from the toolkit."""
    other = s.other()
    s.before_steps = [*s.before_steps, f"open:{s.lib}/{s.part_name('ops_train')}"]
    s.llp = [s.lib, *s.llp]  # parts of 8 have no search path
    directory = s.w.rng.choice((None, "/usr/local/cuda/lib64"))
    if directory:
        s.w.copy_of_cudnn(directory, other, s.cuda)
    if not s.w.faulty:
        return None
    if directory:
        in_front(s, directory)
        return truth("forum-part-of-the-toolkit", (directory, other), ("libcudnn_ops_infer", "libcudnn_ops_train"),
                     f"LD_LIBRARY_PATH begins with {directory}, which has {other}",
                     f"libcudnn_ops_train.so.8 of torch is of {s.version}", "it imports what the other has not")
    replace(s, s.part_name("ops_infer"), other)
    return truth("forum-part-of-another-release", ("ops_infer", other), ("libcudnn_ops_infer", "libcudnn_ops_train"),
                 f"{s.part_name('ops_infer')} in {s.lib} is of {other}", f"the rest is of {s.version}",
                 "libcudnn_ops_train.so.8 imports what that has not")


@kind("forum-versions", USUAL, place=("venv",), host=("package",), framework=("torch",), era=(8,), cuda=("11",),
      search=("runpath",))
def toolkit_has_an_older_cublaslt(s):
    """openillumi/73910: `symbol cublasLtHSHMatmulAlgoInit ... not defined in file libcublasLt.so.11`: libcublas is
    pip's, its libcublasLt is that of the system's older toolkit, which a variable names."""
    w, names = s.w, stock.companion_names(s.cuda)
    lt, blas = names["cublasLt"], names["cublas"]

    def make(into):
        (into / "old").mkdir()
        (into / "node").write_text(f"{lt} {{ global: *; }};\n")
        common = ("-shared", "-fPIC", "-Wl,-rpath,$ORIGIN")
        for place, more in ((into / "old", ()), (into, ("-DNEWER_LT",))):
            stock._compile("companion.c", place / lt, *common, f"-DCUBLASLT={s.cuda}0400", f"-Wl,-soname,{lt}",
                           f"-Wl,--version-script={into / 'node'}", *more)
        stock._compile("companion.c", into / blas, *common, "-DCUBLAS", "-DNEWER_LT", f"-Wl,-soname,{blas}",
                       "-Wl,--no-as-needed", str(into / lt))
    made = stock._kept(f"cublas-of-the-forum-{s.cuda}", make)
    name, full, files, requires = next(World.cuda_wheels(s.cuda))
    uninstall(s, name)
    w.wheel(s.site, name, full, {path: made / os.path.basename(path) for path in files}, requires, own=True)
    directory = w.rng.choice(("/usr/local/cuda-11.2/lib64", "/usr/local/cuda-11.0/targets/x86_64-linux/lib"))
    w.place_files(w.versioned(directory, lt, made / "old" / lt, "11.2.0.252"))
    if not w.faulty:
        return None
    in_front(s, directory)
    return truth("forum-lt-of-the-toolkit", (directory, lt), ("libcublasLt", "libcublas"),
                 f"LD_LIBRARY_PATH begins with {directory}", f"its {lt} is older than pip's {blas} wants",
                 "the loader refuses it")


@kind("forum-versions", USUAL, weight=6, place=("system", "toolkit", "conda"), search=("cache", "llp", "runpath"),
      host=("linked", "named", "package"), framework=("lensflow",), cuda=("10", "11", "12"), demand=True)
def another_major_is_installed(s):
    """tensorflow#12416, #8898, cdsw-demo-env#25, CADE#2, gitcode/caecd3fb, onnxruntime.ai (CUDA provider): cuDNN is
    there, of the major before or of the next; somebody makes a link from the one name to the other."""
    s.driver(release="580.82.07", gpu="7.5 Tesla T4")  # which all majors know
    if s.host == "package":
        often_the_processor(s)
    goes_on(s)
    linked = s.w.rng.random() < 0.17 and s.owner != "conda"
    other, cuda = neighbour(s)
    if not s.w.faulty:
        return None
    whole(s, other, cuda)
    have = f"libcudnn.so.{other[0]}"
    if not linked:
        return truth("forum-other-major", (s.facade, other), "libcudnn", f"cuDNN {other} is installed",
                     f"the program asks for {s.facade}", "it is not found")
    s.w.link(f"{s.lib}/{s.facade}", f"libcudnn.so.{other}")
    if s.search == "cache":  # ldconfig heeds no link whose SONAME is another
        s.llp = [s.lib, *s.llp]
    return truth("forum-link-to-other-major", (s.facade, have, other), "libcudnn", f"cuDNN {other} is installed",
                 f"somebody linked {s.facade} to it", "that is another library")


@kind("forum-versions", USUAL, weight=2, place=("toolkit", "conda"), host=("linked",), era=(8,), cuda=("11",),
      versions=NEWER[8][1], demand=False, binary={"imports": NEWER[8][0], "built": "8.6.0"})
def headers_of_a_later_one_were_found(s):
    """pytorch#3834, #3831: it was built from source: the header that was found is of a later cuDNN than the library,
    and the function is missing when it is called."""
    function, old = NEWER[8][0], NEWER[8][2]
    before_calls(s, "extra")
    if not s.w.faulty:
        return None
    whole(s, old)
    return truth("forum-later-headers", (function, old), "libcudnn", f"the library is of {old}",
                 f"the program calls {function}", "it ends there")


# ---- forum-not-found: cannot open shared object file --------------------------------------------------------------

@kind("forum-not-found", HIDES_ABSENCE[:-1], weight=5, place=("system", "toolkit", "conda"),
      host=("linked", "named", "package"), framework=("lensflow",))
def nothing_but_what_the_driver_brings(s):
    """newbe.dev (is cudnn optional), tensorflow#45200, Make-Your-Video#4, mynw/469360, mynw/620525: nvidia-smi shows
    the card; cuDNN was never installed, or CUDA was not either."""
    if s.host == "package":
        often_the_processor(s)
    goes_on(s)
    cuda_too = s.w.rng.random() < 0.4
    if not s.w.faulty:
        return None
    (without_the_toolkit if cuda_too else without_cudnn)(s)
    return truth("forum-never-installed", (s.facade, *(companions(s) if cuda_too else ())),
                 ("libcudnn", "libcudart"), "the driver is installed",
                 "no CUDA and no cuDNN are" if cuda_too else "CUDA is, cuDNN is not", "it is not found")


@kind("forum-not-found", HIDES_ABSENCE[:-1], weight=3, place=("toolkit",), search=("llp", "cache"),
      host=("linked", "named", "unversioned", "ctypes"))
def installed_where_the_loader_does_not_look(s):
    """nshx/28629, yongjin360/163562, openillumi/60734: it lies in /usr/local/cuda/lib64, and neither ld.so.conf.d nor
    LD_LIBRARY_PATH says so; or cuDNN was unpacked and never copied there."""
    unpacked = s.w.rng.random() < 0.34
    if not s.w.faulty:
        return None
    if unpacked:
        without_cudnn(s)
        directory = f"{s.home}/Downloads/cudnn-linux-x86_64-{stock.wheel_version(s.version)}/lib"
        s.w.copy_of_cudnn(directory, s.version, s.cuda)
    else:
        directory = s.lib
        if s.search == "llp":
            s.llp = []
        else:
            s.w.remove(f"/etc/ld.so.conf.d/cuda-{s.cuda}.conf")
            s.w.system_changed = True
    return truth("forum-loader-not-told", (s.asked, directory, *(() if unpacked else companions(s))),
                 ("libcudnn", "libcudart"), f"it lies in {directory}", "the loader does not look there",
                 "it is not found")


@kind("forum-not-found", QUIET, place=("venv",), host=("package",), framework=("visionkit",), era=(9,), cuda=("12",),
      demand=False)
def provider_does_not_look_into_the_wheels(s):
    """semanticdiff (onnxruntime#23674): NVIDIA's wheels are in the environment; onnxruntime-gpu has no path to them,
    and nobody calls preload_dlls(), or exports it."""
    application(s, "detect.py", onnxruntime(s, s.w.rng.choice(("1.19.2", "1.20.1")), []))
    if not s.w.faulty:
        s.llp = [s.lib, *s.cuda_dirs]
        return None
    return truth("forum-wheels-not-searched", (s.facade, s.lib, *companions(s)),
                 ("libcudnn", "libcublasLt", "libcublas", "libcudart", "libnvrtc", "libonnxruntime_providers_cuda"),
                 f"the libraries lie below {s.site}/nvidia", "the provider has no path to them",
                 "onnxruntime goes on with the processor")


@kind("forum-not-found", USUAL, weight=4, place=("venv", "container"), host=("package",), era=(8, 9),
      framework=("tensorflow", "lensflow"), cuda=("11", "12"), versions=FOR_TWO_CUDAS)
def toolkit_is_of_another_cuda(s):
    """mynw/469653, mynw/556650, mynw/553604, maplevalley/127584: TensorFlow was built with one CUDA; on the server, or
    in the image, another one was installed for something else, with its cuDNN."""
    often_the_processor(s)
    cuda = s.cuda
    if s.w.faulty:
        cuda = "11" if (s.era, s.cuda) == (8, "12") else another_cuda(s)
    directory = from_the_image(s, s.version, cuda)
    framework_again(s, "2.15.1" if (s.framework, s.era, s.cuda) == ("tensorflow", 8, "12") else s.dist_version, [])
    if not s.w.faulty:
        return None
    return truth("forum-toolkit-of-other-cuda", (*companions(s), f"CUDA {s.cuda}"),
                 ("libcudart", "libcublas", "libcublasLt", "libnvrtc"), f"CUDA {cuda} is installed",
                 f"{s.dist} was built with CUDA {s.cuda}", f"{companions(s)[0]} is not found, for all of {directory}")


@kind("forum-not-found", USUAL, weight=3, place=("container",), host=("package",), framework=("lensflow",),
      demand=False, era=(8, 9), cuda=("12",), versions=("8.9.2", "8.9.7", "9.1.0", "9.5.1"))
def whisper_has_a_facade_of_another_major(s):
    """gitcode/95368726, gitcode/e8733957, theneuralbase (faster-whisper, requirements): CTranslate2 brings the facade
    of one major; the notebook's image has the parts of the other, or has none."""
    uninstall(s, s.package)
    cuda_of_the_system(s)
    image_of_nvidia(s)
    other = s.w.rng.choice(stock.releases(17 - s.era, "12"))
    none = s.w.rng.random() < 0.34
    application(s, s.w.rng.choice(("transcribe.py", "colab_kernel_launcher.py")),
                ctranslate2(s, "4.4.0" if s.era == 8 else "4.5.0"))
    if not s.w.faulty:
        runtime_deb(s, s.version)
        return None
    if not none:
        runtime_deb(s, other)
    return truth("forum-facade-without-its-parts", s.parts, ("libcudnn_ops_infer", "libcudnn_graph", "libcudnn_ops"),
                 "the image has no cuDNN" if none else f"the image has cuDNN {other}",
                 f"CTranslate2's facade is of {s.era}", "it finds no parts")


# ---- forum-machines: the driver, the card, the container ----------------------------------------------------------

DRIVERS = {"10": ("387.128", "390.48", "396.26"), "11": ("410.48", "418.87.00", "440.33.01"),
           "12": ("470.57.02", "510.47.03", "515.43.04"), "13": ("535.104.05", "550.54.15", "570.86.15")}


@kind("forum-machines", ("harmless", "late", "workers", "wrapper"), weight=6, place=("venv", "conda", "toolkit"),
      host=("package", "linked"), framework=("torch", "visionkit", "lensflow"), driver=False)
def driver_insufficient_for_the_runtime(s):
    """errorcanon (cuda-driver-version-mismatch), umatechnology (387.128), vs9.top, altinix/572, theneuralbase (yolo),
    theneuralbase (pytorch): CUDA driver version is insufficient for CUDA runtime version; or False, and no word."""
    gpu = "7.0 Tesla V100-SXM2-16GB" if s.era == 7 else "7.5 NVIDIA GeForce RTX 2080 Ti"
    counted = s.w.rng.random() < 0.6 or s.era == 7
    silent = s.w.rng.random() < 0.5
    if counted:
        counts(s)
    if silent and counted:
        s.before_steps = ["cpu", *s.before_steps]
    if not s.w.faulty:
        s.driver(release="580.82.07", gpu=gpu)
        return None
    release = s.w.rng.choice(DRIVERS[s.cuda])
    s.driver(release=release, state=35, gpu=gpu)
    return truth("forum-driver-behind", (release, f"CUDA {s.cuda}"), ("libcuda", "libcudart"),
                 f"the driver is {release}", f"the program comes with CUDA {s.cuda}",
                 "no GPU is counted" if counted else "cudnnCreate fails")


@kind("forum-machines", ("harmless", "late", "workers", "wrapper"), weight=4, place=("container",), era=(8, 9),
      host=("package", "linked"), framework=("torch", "tensorflow", "visionkit"))
def plain_docker_and_the_images_driver(s):
    """pwwt/135740, stackoverflow/55962311, syntaxfix/8110, abhik.ai (GPU containers): nvidia-smi works on the computer;
    the container was started without --gpus: nothing is mounted, and a driver that the image installs finds no
    device."""
    s.w.env.update(NVIDIA_VISIBLE_DEVICES="all")
    own = s.w.rng.random() < 0.25
    counts(s)
    if s.w.rng.random() < 0.5:
        s.before_steps = ["cpu", *s.before_steps]
    if not s.w.faulty:
        return None
    take_driver_away(s)
    if not own:
        return truth("forum-no-runtime-of-nvidia", ("libcuda", "driver"), "libcuda",
                     "docker was told nothing of GPUs", "libcuda.so.1 is not in the container", "no GPU is counted")
    for name, data in (("libcuda.so", stock.driver("CUDA", 100)), ("libnvidia-ml.so", stock.driver("NVML"))):
        s.w.put(data, f"{SYSTEM}/{name}.535.183.01")
        s.w.link(f"{SYSTEM}/{name}.1", f"{name}.535.183.01")
    return truth("forum-driver-in-the-image-alone", ("/dev/nvidia", "/proc/driver/nvidia", "kernel module"), "libcuda",
                 "the image has a driver's libraries", "the container has no device", "cuInit finds none")


@kind("forum-machines", ("harmless", "late", "wrapper"), weight=5, place=("venv", "conda"), driver=False,
      host=("package", "linked"), framework=("torch", "visionkit"), era=(7, 9), cuda=("10", "12"), demand=False,
      versions=("7.4.1", "7.6.0", "7.6.5", "9.1.0", "9.5.1"))
def card_is_newer_than_the_build(s):
    """duoke360/35079, cnblogs/19214922, tencent/2630678, errorcanon (device-incompatible-cubin), fixpedia (209): no
    kernel image is available for execution on the device: the card came out after the build."""
    fits = "7.5 NVIDIA GeForce RTX 2080 Ti" if s.era == 7 else "8.9 NVIDIA GeForce RTX 4090"
    new = s.w.rng.choice(("8.6 NVIDIA GeForce RTX 3090", "8.6 NVIDIA RTX A6000") if s.era == 7 else
                         ("12.0 NVIDIA GeForce RTX 5090", "12.0 NVIDIA GeForce RTX 5080"))
    s.driver(release="580.82.07", gpu=new if s.w.faulty else fits)
    if not s.w.faulty:
        return None
    whole(s, s.version, s.cuda, "--status", "cudnnConvolutionForward=" + ("8" if s.era == 7 else "5000"))
    number, _, name = new.partition(" ")
    return truth("forum-card-after-the-build", (name, number), "libcudnn", f"the card is {new}",
                 f"{s.version} has no code for it", "the convolution fails")


@kind("forum-machines", ("harmless", "late", "wrapper"), weight=5, place=("venv",), host=("package",),
      framework=("torch", "visionkit"), era=(8,), options=(stock.SEARCHING, "--probes", "cnn_infer=libcuda.so"),
      driver=False)
def wsl_has_the_driver_under_one_name(s):
    """nougat#105, hub#884, yolov10#395, seamless_communication#167, AudioLDM#57: WSL: `libcudnn_cnn_infer.so.8.
    Error: libcuda.so: cannot open shared object file`; torch says that the GPU is there."""
    directory, w = "/usr/lib/wsl/lib", s.w
    s.driver(release="537.58", directory=directory, gpu="8.6 NVIDIA GeForce RTX 3060 Ti")
    w.write("/dev/dxg", "", 0o666)
    w.write("/etc/ld.so.conf.d/ld.wsl.conf", f"{directory}\n")
    w.system_changed = True
    w.finish()
    w.link(f"{directory}/libcuda.so", "libcuda.so.1")
    before_calls(s, "driver")
    beside = w.rng.random() < 0.5
    if not w.faulty:
        if beside:
            w.link(f"{s.lib}/libcuda.so", f"{directory}/libcuda.so.1")
        else:
            s.llp = [*s.llp, directory]
        return None
    return truth("forum-plain-name-of-the-driver", "libcuda.so", "libcuda", f"the cache knows {directory}'s "
                 "libcuda.so.1", f"{s.part_name('cnn_infer')} asks for libcuda.so", "it is not found")


# ---- forum-builds: which build it is -----------------------------------------------------------------------------

@kind("forum-builds", QUIET, weight=3, place=("venv", "conda"), host=("package",), framework=("torch",), era=(9,),
      cuda=("12",))
def build_is_that_for_the_processor(s):
    """lzwjava (CPU and CUDA wheels), mynw/541220, semanticdiff (onnxruntime#23744): is_available() is False: torch came
    from the index, or by the package, for the processor; onnxruntime lies over onnxruntime-gpu."""
    w = s.w
    runtime = w.rng.random() < 0.34
    if runtime:
        release = w.rng.choice(("1.20.1", "1.21.0"))
        application(s, "detect.py", onnxruntime(s, release, [s.lib, *s.cuda_dirs]))
    elif s.place == "venv":
        w.wheel(s.site, "torch", s.dist_version, cuda_torch(s), s.requires)
    elif not w.faulty:
        conda_framework(s, "pytorch", f"py3.10_cuda12.4_cudnn{s.version}_0", cuda_torch(s))
    if not w.faulty:
        return None
    if runtime:
        onnxruntime_of_the_processor(s, release)
        return truth("forum-build-for-the-processor", "onnxruntime",
                     ("onnxruntime_pybind11_state", "libonnxruntime_providers_cuda"),
                     "onnxruntime and onnxruntime-gpu are one directory", "that for the processor came last")
    if s.place == "venv":
        uninstall(s, "torch")
        s.dist_version += "+cpu"
        w.wheel(s.site, "torch", s.dist_version, processor_torch(s))
    else:
        w.conda_package(s.prefix, "cpuonly", "2.0", "0", {})
        conda_framework(s, "pytorch", "py3.10_cpu_0", processor_torch(s))
    return truth("forum-build-for-the-processor", ("torch", "cpu"), ("libtorch_cpu", "libtorch_cuda"),
                 "torch is the build for the processor", "it has nothing of CUDA", "the program goes on with that")


@kind("forum-builds", QUIET, weight=3, place=("venv", "container"), host=("package",), framework=("visionkit",),
      era=(8, 9), cuda=("11", "12"), demand=False)
def opencv_is_pips(s):
    """errorcanon (dnn-cuda-backend-missing), openillumi/67963, forum.opencv.org/3020: DNN module was not built with
    CUDA backend; switching to CPU: pip's opencv-python knows nothing of CUDA, whatever is installed beside it."""
    words = "DNN module was not built with CUDA backend; switching to CPU"
    directory = from_the_image(s, s.version, s.cuda)
    dirs = [directory, f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}/lib64"]
    built = engine(s, "opencv-contrib-python", "4.10.0", "cv2/cv2.abi3.so", dirs, linked=(s.era, s.cuda))
    application(s, "yolo.py", built)
    if not s.w.faulty:
        return None
    uninstall(s, "opencv-contrib-python")
    init = ("import ctypes\nimport os\nimport sys\n\nctypes.CDLL(os.path.join(os.path.dirname(__file__), "
            f"'cv2.abi3.so'))\n\n\ndef run(steps):\n    print('[ WARN:0@0.1] global net_impl.cpp:178 {words}',\n"
            "          file=sys.stderr)\n    print('device cpu')\n    return 0\n")
    s.w.wheel(s.site, "opencv-python", "4.10.0.84", {
        "cv2/cv2.abi3.so": library("cv2.abi3.so", f'const char *cv_dnn = "{words}";\n').read_bytes(),
        "cv2/__init__.py": init.encode()})
    return truth("forum-build-for-the-processor", ("opencv", "cv2"), ("cv2", "libopencv_dnn"),
                 "opencv-python is pip's", "it was built without CUDA", "the network runs on the processor")
