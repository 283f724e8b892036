# SPDX-License-Identifier: Apache-2.0
"""Kinds that are a sample of what people ask about after something changed: an upgrade, another package, a new image,
a new driver. Sixteen searches were typed as somebody with a problem would type them, the first eight answers of each
were taken as they came; written by somebody who has not read the rules. As in kinds_of_threads.py a kind's weight is
how many threads it stands for, and both twins share what stands before `if not s.w.faulty: return None`."""
import stock
from kinds import HIDES_ABSENCE, LABELS, NEWER, in_front, kind, truth, uninstall, whole
from kinds_by_hand import companions
from kinds_of_surroundings import often_the_processor
from kinds_of_threads import USUAL, WITH_CACHE, before_calls, exports, next_major, with_a_facade_of_its_own
from scene import SYSTEM
from world import World

LABELS.update({
    "upgraded-past-the-image": {"runtime-too-old"},
    "asks-for-the-major-before": {"library-not-found", "major-differs", "gpu-stack-not-reached"},
    "requirement-went-on": {"library-not-found", "major-differs", "gpu-stack-not-reached"},
    "toolkit-went-on": {"dependency-missing", "cuda-dependency-differs", "cuda-major-differs", "gpu-stack-not-reached"},
    "parts-went-on": {"part-missing", "installation-incomplete", "library-not-found", "major-differs"},
    "parts-nowhere": {"part-missing", "installation-incomplete", "library-not-found"},
    "parts-not-told-of": {"part-missing", "library-not-found", "search-path-suspect"},
    "pin-behind-the-build": {"runtime-too-old"},
    "jax-went-on": {"runtime-too-old"},
    "variable-stayed": {"runtime-too-old", "shadowed-copy", "own-copy-unused"},
    "local-part-stayed": {"parts-differ", "facade-and-parts-differ", "part-from-other-installation",
                          "symbol-version-not-found", "missing-symbols", "shadowed-copy", "own-copy-unused"},
    "built-with-a-later-one": {"missing-symbols", "symbol-version-not-found", "runtime-too-old"},
    "release-without-the-gpu": {"gpu-unsupported"},
    "driver-stayed": {"driver-too-old"},
    "driver-of-the-flake": {"driver-mixed"},
    "driver-name-of-wsl": {"driver-missing", "dependency-missing", "library-not-found", "wrong-name"},
})

BUILT_FOR = ("8.2.1", "8.5.0", "8.6.0", "8.9.2", "8.9.7", "9.5.1", "9.8.0", "9.13.0", "9.19.0", "9.26.0")  # TensorFlow
FOR_TWO_CUDAS = ("8.9.2", "8.9.7", "9.13.0", "9.19.0", "9.26.0")  # for 11 and 12, or for 12 and 13
OF_CUDA = ("libcudart", "libcublas", "libcublasLt", "libnvrtc")

# ---- helpers --------------------------------------------------------------------------------------------


def another_cuda(s):
    """The next one, but where no cuDNN of this major is made for it."""
    return "11" if s.era == 8 and s.cuda == "12" else str(int(s.cuda) + 1)


def from_the_image(s, version, cuda):
    """Nothing of NVIDIA is pip's: CUDA is a toolkit, cuDNN came by apt or lies in the toolkit."""
    w = s.w
    for name in (s.package, *(wheel[0] for wheel in World.cuda_wheels(s.cuda))):
        uninstall(s, name)
    directory = f"/usr/local/cuda-{stock.TOOLKITS[cuda]}/lib64"
    w.copy_of_cuda(directory, cuda)
    w.link("/usr/local/cuda", f"cuda-{stock.TOOLKITS[cuda]}")
    w.write("/etc/ld.so.conf.d/988_cuda.conf", f"{directory}\n")
    w.system_changed = True
    if s.place == "container" or w.rng.random() < 0.5:
        w.debs(version, cuda, World.cudnn_files(version, cuda))
        return SYSTEM
    w.copy_of_cudnn(directory, version, cuda)
    return directory


def framework_again(s, version, requires):
    """The framework in another release, the same files."""
    files = s.w.index[s.dist][s.dist_version][0]
    uninstall(s, s.dist)
    s.w.wheel(s.site, s.dist, version, files, requires)


def verifies(s, version):
    s.steps = [f"verify:minor:{stock.number(version)}" if p.startswith("verify:") else p for p in s.steps]


def started_by(s, path, *lines):
    """A script of the image, or of the project, starts it."""
    s.w.write(path, "\n".join(["#!/bin/bash", *lines, 'exec "$@"', ""]), 0o755)
    s.w.argv = [path, *s.w.argv]


# ---- upgraded-framework: the framework moved, what lies below it did not ---------------------------------------

@kind("upgraded-framework", WITH_CACHE, weight=8, printed=True, place=("container",), host=("package",),
      framework=("tensorflow",), era=(8,), cuda=("11",), versions=("8.6.0",), demand=True)
def notebook_image_behind_pip(s):
    """colabtools#765, #2626, #2459, #3086, #2329, tensorflow/models#10360, TensorFlowObjectDetectionTutorial#103,
    openillumi.com/?p=97931: a package of the notebook brings a newer TensorFlow than the image has cuDNN for."""
    w, rng = s.w, s.w.rng
    old = rng.choice(("8.2.1", "8.5.0"))
    from_the_image(s, old, s.cuda)
    w.env.update(COLAB_GPU="1", CUDA_HOME="/usr/local/cuda")
    s.llp = [*s.llp, "/usr/local/nvidia/lib", "/usr/local/nvidia/lib64"]
    release = rng.choice(("2.12.0", "2.13.1")) if w.faulty else rng.choice(("2.8.2", "2.9.2", "2.11.0"))
    framework_again(s, release, [])
    if not w.faulty:
        verifies(s, "8.1.0")
        return None
    w.wheel(s.site, "object-detection", "0.1", {"object_detection/__init__.py": b"\n"}, ["tensorflow"])
    return truth("upgraded-past-the-image", old, "libcudnn", f"pip upgraded tensorflow to {release}",
                 f"the image has cuDNN {old}", "tensorflow was built with 8.6.0 and refuses it")


@kind("upgraded-framework", USUAL, weight=3, place=("venv", "container"), host=("package",), framework=("tensorflow",),
      cuda=("11", "12"), versions=BUILT_FOR)
def pinned_to_a_release_of_last_year(s):
    """tensorflow#44040, #42199, blog.gitcode.com/caecd3fb...: a TensorFlow of before is installed where the system has
    the next major already; it goes on without the GPU, or does not."""
    w = s.w
    last, cuda, release = ("libcudnn.so.7", "10", "2.3.1") if s.era == 8 else ("libcudnn.so.8", s.cuda, "2.15.1")
    directory = from_the_image(s, s.version, s.cuda)
    often_the_processor(s)
    if s.era == 8:
        s.driver(gpu="7.0 Tesla V100-SXM2-16GB")  # cuDNN 7 has code for it, and no such function
        s.steps.remove("finalize")
        w.copy_of_cuda("/usr/local/cuda-10.1/lib64", "10")
        w.write("/etc/ld.so.conf.d/987_cuda-10.conf", "/usr/local/cuda-10.1/lib64\n")
    built = "2.15.1" if (s.era, s.cuda) == (8, "12") else s.dist_version
    framework_again(s, release if w.faulty else built, [])
    if not w.faulty:
        return None
    cudart = stock.companion_names(cuda)["cudart"]
    calls = s.steps[s.steps.index("version"):]  # without the check, which is of the next major
    s.steps = [f"open:{cudart}", f"name={last}", *calls]
    return truth("asks-for-the-major-before", (last, s.version), "libcudnn", f"tensorflow {release} asks for {last}",
                 f"{directory} has cuDNN {s.version}", "it is not found")


@kind("upgraded-framework", printed=True, masks=("harmless", "late", "workers", "wrapper", "no-cache"),
      place=("venv", "container"), host=("package",), framework=("torch",), era=(8, 9), cuda=("11", "12"), older=1,
      demand=True)
def nightly_pins_what_it_was_not_built_with(s):
    """pytorch#104757: the wheel of a night is built with the next cuDNN, and still requires the last one."""
    if not s.w.faulty:
        return None
    old = s.older()
    whole(s, old)
    night = "2.7.0.dev20250211+cu" if s.era == 9 else "2.1.0.dev20230707+cu"
    framework_again(s, night + ("118" if s.cuda == "11" else "126" if s.era == 9 else "121"), [
        r.replace(stock.wheel_version(s.version), stock.wheel_version(old)) for r in s.requires])
    return truth("pin-behind-the-build", (old, s.package), "libcudnn", f"torch requires {s.package} {old}",
                 f"it was built with {s.version}", "it refuses it")


@kind("upgraded-framework", printed=True, masks=("harmless", "late", "workers", "wrapper", "no-cache"), weight=5,
      place=("venv", "conda", "container"), host=("package",), framework=("jax_plugin",), era=(9,), older=1,
      demand=True)
def jax_ahead_of_the_environment(s):
    """jax#16167, #15361, #16901, gcbfplus#1, jaxlib-feedstock#329: pip leaves what torch has pinned, conda's solver is
    content with an older one: jax was built with a newer."""
    old = s.older()
    if s.place != "conda":
        pinned = old if s.w.faulty else s.version
        s.w.wheel(s.site, "torch", "2.4.1", {"torch/__init__.py": b"__version__ = '2.4.1'\n"},
                  [f"{s.package}=={stock.wheel_version(pinned)}"])
    if not s.w.faulty:
        return None
    whole(s, old)
    return truth("jax-went-on", old, "libcudnn", f"the environment has cuDNN {old}",
                 f"{s.dist} was built with {s.version}", "it refuses it")


@kind("upgraded-framework", weight=4, masks=("harmless", "late", "workers", "wrapper", "no-cache", "two"), printed=True,
      place=("venv", "conda", "container"), host=("package",), framework=("torch",), search=("runpath",), older=1,
      era=(8, 9), demand=True)
def variable_of_before_the_upgrade(s):
    """functorch#926, pytorch#81881, kohya_ss#1096, gladia#928: LD_LIBRARY_PATH has had that directory for years: the
    cluster's, the image's, one that sudo keeps. torch of before was content with it."""
    w, old = s.w, s.older()
    directory = "/usr/local/cuda/lib64" if s.place == "container" else w.rng.choice((
        f"/public/apps/cudnn/v{old}-cuda.{s.cuda}.0/cuda/lib64", f"/usr/local/cuda-{s.cuda}.2/lib64",
        f"{s.home}/cuda/lib64"))
    w.copy_of_cudnn(directory, old, s.cuda)
    in_front(s, directory)
    if not w.faulty:
        whole(s, old)
        if s.requires:
            requires = [r.replace(stock.wheel_version(s.version), stock.wheel_version(old)) for r in s.requires]
            framework_again(s, "2.4.1" if s.era == 9 else "2.0.1", requires)
        verifies(s, old)
        return None
    return truth("variable-stayed", (directory, old), "libcudnn", "torch was upgraded, and its cuDNN with it",
                 f"LD_LIBRARY_PATH begins with {directory}, which has {old}", "torch refuses it")


# ---- upgraded-cudnn: cuDNN moved -------------------------------------------------------------------------------

@kind("upgraded-cudnn", USUAL, weight=2, place=("venv", "conda"), host=("package",),
      framework=("visionkit", "lensflow"), era=(8,), demand=False)
def requirement_lets_the_next_major_in(s):
    """deepmd-kit#3610, jax#22626: nothing says below 9, and the next installation brings 9."""
    if s.place == "venv":
        framework_again(s, s.dist_version, [s.package])
        often_the_processor(s)
    if not s.w.faulty:
        return None
    new = next_major(s)[0]
    whole(s, new)
    return truth("requirement-went-on", (s.facade, new), "libcudnn", f"the environment has cuDNN {new}",
                 f"{s.dist} asks for {s.facade}", "it is not found")


@kind("upgraded-cudnn", HIDES_ABSENCE, weight=2, place=("container", "venv"), host=("package",),
      framework=("lensflow",), era=(8,), cuda=("12",), demand=False)
def torch_or_image_took_the_parts_along(s):
    """faster-whisper#998, whisperX-FastAPI#31: a wheel's facade of 8 had its parts from the image, or from torch's
    package; both go on to 9."""
    w = s.w
    with_a_facade_of_its_own(s)
    version = next_major(s)[0] if w.faulty else s.version
    if s.place == "container":
        w.debs(version, s.cuda, World.cudnn_files(version, s.cuda))
        where = "the image"
    else:
        release = "2.5.1" if w.faulty else "2.3.1"
        w.wheel(s.site, *World.cudnn_wheel(version, s.cuda))
        w.wheel(s.site, "torch", release, {"torch/__init__.py": f"__version__ = '{release}'\n".encode()},
                [f"{s.package}=={stock.wheel_version(version)}"])
        s.llp = [f"{s.site}/nvidia/cudnn/lib", *s.llp]
        where = f"torch {release}"
    if not w.faulty:
        return None
    return truth("parts-went-on", s.parts, "libcudnn_ops_infer", f"{where} has cuDNN {version}",
                 f"{s.module_name}'s facade opens parts of 8", "they are not found")


@kind("upgraded-cudnn", ("harmless", "wrapper", "no-cache"), weight=2, place=("venv", "conda"), host=("package",),
      framework=("torch",), search=("runpath",), era=(8,), cuda=("11",), versions=("8.5.0", "8.6.0", "8.9.2"))
def part_of_the_local_installation(s):
    """pytorch#119989, GPT-SoVITS#490: torch went on, /usr/local/cuda/lib64 did not; what torch has opened is its own,
    what is opened later is that of LD_LIBRARY_PATH."""
    w, local = s.w, "8.9.7"
    inner = "_ZN5cudnn3cnn34layerNormFwd_execute_internal_implERKNS_7backend11VariantPackEP11CUstream_st"
    options = ("--internal", f"cnn_infer={inner}", "--imports", f"cnn_train={inner}")
    directory = w.rng.choice(("/usr/local/cuda/lib64", f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}/lib64"))
    w.copy_of_cudnn(directory, local, s.cuda, *options)
    s.llp = [*s.llp, directory]
    before_calls(s, f"open:{s.lib}/{s.part_name('ops_infer')}", f"open:{s.lib}/{s.part_name('cnn_infer')}",
                 f"open:{s.part_name('cnn_train')}")
    if not w.faulty:
        whole(s, local, s.cuda, *options)
        if s.requires:
            framework_again(s, s.dist_version, [r.replace(stock.wheel_version(s.version), stock.wheel_version(local))
                                                for r in s.requires])
        verifies(s, local)
        return None
    return truth("local-part-stayed", (directory, local), ("libcudnn_cnn_train", "libcudnn_cnn_infer"),
                 f"LD_LIBRARY_PATH has {directory}, with {local}", f"libcudnn_cnn_infer of torch is {s.version}",
                 "libcudnn_cnn_train wants a function that it has not")


@kind("upgraded-cudnn", ("harmless", "late", "workers", "wrapper"), weight=2, place=("system", "container"),
      host=("linked",), era=(9,), cuda=("12",), versions=NEWER[9][1], demand=False,
      binary={"imports": NEWER[9][0], "built": "9.8.0"})
def built_with_headers_of_a_later_one(s):
    """jetson-inference#746, pytorch#3834: it was built where cuDNN is newer than on the device that runs it."""
    function, old = NEWER[9][0], NEWER[9][2]
    before_calls(s, "extra")
    if not s.w.faulty:
        return None
    whole(s, old)
    return truth("built-with-a-later-one", (function, old), "libcudnn", f"the system has cuDNN {old}",
                 f"the program imports {function}", "it ends at the call")


@kind("upgraded-cudnn", ("harmless", "late", "blame", "wrapper", "no-cache"), place=("conda",), era=(9,), cuda=("12",),
      versions=("9.1.0", "9.5.1", "9.8.0", "9.10.2"), demand=False, driver=False)
def update_left_the_old_card_behind(s):
    """conda-forge/admin-requests#1687: conda update brings a cuDNN that has no code for GPUs before Turing."""
    gpu = s.w.rng.choice(("6.1 NVIDIA GeForce GTX 1080 Ti", "6.0 Tesla P100-PCIE-16GB", "7.0 Tesla V100-SXM2-16GB"))
    s.driver(gpu=gpu, release=s.w.rng.choice(("550.54.15", "570.86.15", "580.82.07")))
    if not s.w.faulty:
        return None
    new = s.w.rng.choice(("9.13.0", "9.19.0", "9.26.0"))
    whole(s, new, s.cuda, "--status", "cudnnConvolutionForward=3007")
    return truth("release-without-the-gpu", (gpu[4:], gpu[:3]), "libcudnn", f"conda brought cuDNN {new}",
                 f"the GPU is {gpu}", "the convolution has no code for it")


# ---- changed-image: what starts it, and what it starts from -----------------------------------------------------

@kind("changed-image", HIDES_ABSENCE, weight=3, place=("container",), host=("package",), framework=("lensflow",),
      era=(8,), demand=False)
def base_tag_without_cudnn(s):
    """faster-whisper#729, Make-Your-Video#4, Whisper-Finetune#16: the image is built on the tag -base, or the
    environment was made anew where nobody installed cuDNN: a wheel has the facade alone."""
    w = s.w
    with_a_facade_of_its_own(s)
    w.env["NV_CUDA_LIB_VERSION"] = f"{stock.FULL[s.cuda]}-1"
    w.copy_of_cuda(f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}/lib64", s.cuda, only=("cudart",))
    s.llp = [*s.llp, f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}/lib64"]
    if not w.faulty:
        w.env["NV_CUDNN_VERSION"] = stock.wheel_version(s.version)
        w.debs(s.version, s.cuda, World.cudnn_files(s.version, s.cuda))
        return None
    return truth("parts-nowhere", s.parts, "libcudnn_ops_infer", "the image has no cuDNN",
                 f"{s.module_name}'s facade opens parts", "they are not found")


@kind("changed-image", HIDES_ABSENCE, weight=3, place=("container", "venv"), host=("package",), framework=("lensflow",),
      era=(8, 9), demand=False)
def start_script_of_the_image_says_nothing(s):
    """docker-faster-whisper#15, faster-whisper#543, #1182: the parts are pip's, in the same environment; what starts
    the server does not put them into LD_LIBRARY_PATH."""
    w = s.w
    with_a_facade_of_its_own(s)
    w.wheel(s.site, *World.cudnn_wheel(s.version, s.cuda))
    path = w.rng.choice(("/etc/s6-overlay/s6-rc.d/svc-whisper/run", "/entrypoint.sh", f"{s.home}/work/serve.sh"))
    line = f'export LD_LIBRARY_PATH="{":".join((*s.cuda_dirs, s.lib))}"'
    started_by(s, path, "set -e", *(() if w.faulty else (line,)))
    if not w.faulty:
        return None
    return truth("parts-not-told-of", (*s.parts, s.lib), ("libcudnn_ops", "libcudnn_ops_infer", "libcudnn_graph",
                                                          "libcudnn_cnn"),
                 f"the parts lie in {s.lib}", f"{path} does not export it", "they are not found")


@kind("changed-image", HIDES_ABSENCE, place=("container", "venv"), host=("package",), framework=("lensflow",),
      era=(8, 9), demand=False)
def package_has_no_file_of_its_own(s):
    """docker-faster-whisper#42: the script asks Python where nvidia.cudnn.lib is; the packages of the new image are
    namespaces, whose __file__ is None, and nothing is exported."""
    w = s.w
    with_a_facade_of_its_own(s)
    name, version, files, requires = World.cudnn_wheel(s.version, s.cuda)
    if not w.faulty:
        files = {**files, **{f"nvidia/{d}__init__.py": b"" for d in ("", "cudnn/", "cudnn/lib/")}}
    w.wheel(s.site, name, version, files, requires)
    started_by(s, w.rng.choice(("/etc/s6-overlay/s6-rc.d/svc-whisper/run", "/run.sh")),
               "export LD_LIBRARY_PATH=$(python3 -c 'import os; import nvidia.cudnn.lib; "
               "print(os.path.dirname(nvidia.cudnn.lib.__file__))')")
    if not w.faulty:
        return None
    return truth("parts-not-told-of", (*s.parts, s.lib), ("libcudnn_ops", "libcudnn_ops_infer", "libcudnn_graph",
                                                          "libcudnn_cnn"),
                 "nvidia.cudnn.lib has no __file__", "LD_LIBRARY_PATH is empty", f"the parts in {s.lib} are not found")


# ---- changed-machine: CUDA's toolkit and the driver moved, or did not --------------------------------------------

@kind("changed-machine", USUAL, weight=3, place=("toolkit", "modules"), search=("llp", "cache"),
      host=("linked", "named"), era=(8, 9), cuda=("11", "12"), versions=FOR_TWO_CUDAS)
def toolkit_of_the_next_cuda(s):
    """tensorflow#15236, #15050, sheffield_hpc#894: the toolkit, or the module, is the next one, with its cuDNN; the
    program is linked with the libraries of the last, or opens them."""
    w, cuda = s.w, another_cuda(s)
    new = f"/usr/local/cuda-{stock.TOOLKITS[cuda]}/lib64" if s.place == "toolkit" else \
        f"/usr/local/packages/libs/CUDA/{stock.TOOLKITS[cuda]}/lib64"
    if not w.faulty:
        return None
    w.copy_of_cuda(new, cuda)
    w.copy_of_cudnn(new, s.version, cuda)
    if s.place == "modules":
        exports(s, new)
    else:
        for name in w.names(s.lib):
            w.remove(f"{s.lib}/{name}")
        w.link("/usr/local/cuda", new.removesuffix("/lib64"))
        s.llp = [new if d == s.lib else d for d in s.llp]
        if s.search == "cache":
            w.write(f"/etc/ld.so.conf.d/cuda-{cuda}.conf", f"{new}\n")
            w.system_changed = True
    return truth("toolkit-went-on", (*companions(s), f"CUDA {s.cuda}"), OF_CUDA,
                 f"{new} has CUDA {cuda}", f"the program wants CUDA {s.cuda}", "its libraries are not found")


@kind("changed-machine", USUAL, weight=6, place=("container", "venv"), host=("package",),
      framework=("visionkit", "lensflow"), era=(8, 9), cuda=("11", "12"), versions=FOR_TWO_CUDAS, demand=False)
def package_for_the_cuda_of_before(s):
    """pytorch#41975, jetson-inference#622, jetson-containers#9, onnxruntime#21684, sd-webui-reactor#503,
    whisper-diarization#97: the package is built for one CUDA, the system (a JetPack, an image) has another."""
    often_the_processor(s)
    cuda = another_cuda(s) if s.w.faulty else s.cuda
    directory = from_the_image(s, s.version, cuda)
    if not s.w.faulty:
        return None
    return truth("toolkit-went-on", (*companions(s), f"CUDA {s.cuda}"), OF_CUDA,
                 f"the system has CUDA {cuda}, and in {directory} the cuDNN for it",
                 f"{s.dist} is built for CUDA {s.cuda}", "its libraries are not found")


@kind("changed-machine", ("harmless", "late", "blame", "wrapper", "toolkit"), weight=3, place=("venv", "conda"),
      host=("package",), framework=("torch", "visionkit"), era=(8, 9), driver=False)
def upgrade_that_the_driver_did_not_follow(s):
    """InvokeAI#25, pytorch#28195, #31243: torch comes with a later CUDA; the driver is that of the year before, or may
    not be touched because others work there."""
    counts = s.w.rng.random() < 0.6
    if counts:
        before_calls(s, "driver")
    gpu = s.w.rng.choice(("7.5 NVIDIA GeForce RTX 2080 Ti", "8.6 NVIDIA GeForce RTX 3090"))
    if not s.w.faulty:
        s.driver(release="580.82.07", gpu=gpu)
        return None
    release = s.w.rng.choice({"11": ("410.48", "418.87.00"), "12": ("450.119.03", "470.57.02", "470.161.03"),
                              "13": ("535.104.05", "550.54.15", "570.86.15")}[s.cuda])
    if release.startswith("4"):
        gpu = "7.5 NVIDIA GeForce RTX 2080 Ti"
    s.driver(release=release, state=35, gpu=gpu)
    return truth("driver-stayed", (release, f"CUDA {s.cuda}"), ("libcuda", "libcudart"), f"the driver is {release}",
                 f"{s.dist} comes with CUDA {s.cuda}", "no GPU is counted" if counts else "cudnnCreate fails")


@kind("changed-machine", ("harmless", "late", "blame", "wrapper"), place=("venv", "conda"), era=(8, 9),
      cuda=("11", "12"), driver=False, search=("rpath", "runpath"))
def flake_with_a_driver_of_its_own(s):
    """automatic1111-webui-nix#6: the flake brings a driver's libraries; the kernel has the module of another since the
    system was rebuilt."""
    w, release = s.w, s.w.rng.choice(("545.29.02", "550.54.15", "560.35.03", "570.86.15"))
    s.driver(release=release)
    other = w.rng.choice(("535.129.03", "545.29.06", "550.78"))
    key = w.rng.choice(("7x4yq1hw", "k0d9c2vz", "w3nnm8la"))
    fits = f"/nix/store/{key}0p6fzr5s9m1bqd2j8g4i-nvidia-x11-{release}-6.6.10/lib"
    wrong = f"/nix/store/{key}5c1hxk7v3y0lwa9r2n6f-nvidia-x11-{other}/lib"
    for directory, number, answer in ((fits, release, 0), (wrong, other, 803)):
        w.put(stock.driver("CUDA", answer), f"{directory}/libcuda.so.{number}")
        w.put(stock.driver("NVML"), f"{directory}/libnvidia-ml.so.{number}")
        for stem in ("libcuda", "libnvidia-ml"):
            w.link(f"{directory}/{stem}.so.1", f"{stem}.so.{number}")
    w.link("/run/opengl-driver/lib", fits)
    taken = wrong if w.faulty else w.rng.choice((fits, "/run/opengl-driver/lib"))
    started_by(s, f"{s.home}/work/webui.sh", f"export LD_LIBRARY_PATH={taken}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}")
    if not w.faulty:
        return None
    return truth("driver-of-the-flake", (other, wrong), "libcuda", f"LD_LIBRARY_PATH begins with {wrong}",
                 f"libcuda is {other}, the module {release}", "cudnnCreate fails")


@kind("changed-machine", ("harmless", "late", "wrapper"), weight=3, place=("venv",), host=("package",),
      framework=("torch", "visionkit"), era=(8,), options=(stock.SEARCHING, "--probes", "cnn_infer=libcuda.so"),
      driver=False)
def new_torch_in_wsl(s):
    """nougat#105, #115, yolov10#395: WSL: a part of the cuDNN that torch brings asks for libcuda.so; the cache has
    libcuda.so.1. A link beside the parts cured it."""
    directory = "/usr/lib/wsl/lib"
    s.driver(release="537.42", directory=directory)
    s.w.write("/etc/ld.so.conf.d/ld.wsl.conf", f"{directory}\n")
    s.w.system_changed = True
    s.w.finish()
    s.w.link(f"{directory}/libcuda.so", "libcuda.so.1")
    if not s.w.faulty:
        s.w.link(f"{s.lib}/libcuda.so", f"{directory}/libcuda.so.1")
        return None
    return truth("driver-name-of-wsl", "libcuda.so", "libcuda", f"{directory} is searched by the cache alone",
                 f"{s.part_name('cnn_infer')} asks for libcuda.so", "the cache has libcuda.so.1")
