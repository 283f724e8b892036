# SPDX-License-Identifier: Apache-2.0
"""Kinds that are a sample of what people paste who see what a framework prints. Twenty-four searches by the words of
frameworks, the first eight answers of each; a kind's weight is how many of those threads it stands for. As in kinds.py,
both twins share what stands before `if not s.w.faulty: return None`."""
import os

import stock
from kinds import HIDES_ABSENCE, LABELS, in_front, kind, truth, uninstall, whole
from kinds_by_hand import companions
from kinds_of_machines import take_driver_away
from kinds_of_threads import PROGRAMS, USUAL, WITH_CACHE, before_calls, goes_on, without_cudnn
from world import World, deb_name

LABELS.update({
    "parts-beside-no-path": {"part-missing", "library-not-found", "search-path-suspect", "dependency-missing"},
    "parts-of-other-major": {"part-missing", "installation-incomplete", "library-not-found", "major-differs"},
    "in-another-environment": {"library-not-found", "search-path-suspect"},
    "folders-apart": {"library-not-found", "dependency-missing", "cuda-dependency-differs", "gpu-stack-not-reached",
                      "search-path-suspect"},
})

# ---- helpers --------------------------------------------------------------------------------------------


def bundled(s):
    """The package's wheel has cuDNN's facade in its own .libs, under a name with a hash; its parts are another's."""
    name = f"libcudnn-{s.w.rng.choice(('74a4c495', '8774e9b2'))}.so.{s.version}"
    here = os.path.dirname(s.host_file)
    path = ":".join("$ORIGIN/" + os.path.relpath(d, here) for d in (f"{s.site}/{s.module_name}.libs", *s.cuda_dirs))
    data = stock.host(None, None, False, extra_needs=(name,)).read_bytes()
    facade = World.cudnn_files(s.version, s.cuda, "--soname", name, "--node", s.facade)[name]
    s.w.wheel(s.site, s.dist, s.dist_version, {
        **s.w.index[s.dist][s.dist_version][0],
        os.path.relpath(s.host_file, s.site): stock.set_path(data, s.search, path),
        f"{s.module_name}.libs/{name}": facade})
    s.steps = [f"name={name}" if p.startswith("name=") else p for p in s.steps]


def other_framework(s, version):
    """torch, beside it, that pins the environment's cuDNN."""
    s.w.wheel(s.site, "torch", "2.4.1" if version[0] == "9" else "2.3.1", {"torch/__init__.py": b"\n"},
              [f"{s.package}=={stock.wheel_version(version)}"])


def of_the_system(s, version, cuda):
    """Not of the environment: by apt, or unpacked into the toolkit."""
    if s.w.rng.random() < 0.5:
        s.w.debs(version, cuda, World.cudnn_files(version, cuda))
        return deb_name(version, cuda)
    s.w.copy_of_cudnn("/usr/local/cuda/lib64", version, cuda)
    s.w.write("/etc/ld.so.conf.d/000_cuda.conf", "/usr/local/cuda/lib64\n")
    s.w.system_changed = True
    return "/usr/local/cuda/lib64"


# ---- own-facade: a wheel has a facade, and what the facade opens comes from elsewhere ----------------------------

@kind("own-facade", HIDES_ABSENCE, weight=5, place=("venv", "container"), host=("package",), framework=("lensflow",),
      era=(8, 9), demand=False)
def parts_lie_in_the_environment(s):
    """xtts-finetune-webui#31, whisperX#902, faster-whisper#1182, #1285, CTranslate2#1826: pip installed cuDNN in the
    same environment, and LD_LIBRARY_PATH does not lead there."""
    bundled(s)
    in_path = s.w.rng.random() < 0.3
    if not s.w.faulty:
        s.llp = [s.lib, *s.llp]
        return None
    if in_path:
        s.w.env["PATH"] += f":{s.lib}"
    return truth("parts-beside-no-path", (s.lib, *s.parts), [n.split(".")[0] for n in s.parts],
                 f"{s.lib} has the parts", "LD_LIBRARY_PATH does not name it",
                 f"the facade of {s.module_name} finds none of them")


@kind("own-facade", HIDES_ABSENCE, place=("venv", "container"), host=("package",), framework=("lensflow",), era=(8,),
      cuda=("12",), demand=False)
def environment_went_on_to_nine(s):
    """Whisper-WebUI#294 (#271, #318): a newer torch brought cuDNN 9, and CTranslate2's facade is of 8."""
    bundled(s)
    s.llp = [s.lib, *s.llp]
    version = s.w.rng.choice(stock.releases(9, s.cuda)) if s.w.faulty else s.version
    other_framework(s, version)
    if not s.w.faulty:
        return None
    whole(s, version)
    return truth("parts-of-other-major", (*s.parts, version), [n.split(".")[0] for n in s.parts],
                 f"torch brought {s.package} {version}", f"{s.module_name}'s facade is of {s.version}",
                 "it finds no parts of 8")


@kind("own-facade", WITH_CACHE, place=("venv", "container"), host=("package",), framework=("lensflow",), era=(9,),
      cuda=("12",), demand=False)
def system_stayed_with_eight(s):
    """whisper-ctranslate2#115: the package was upgraded, its facade is of 9 now, and the machine has cuDNN 8."""
    bundled(s)
    uninstall(s, s.package)
    old = s.w.rng.choice(stock.releases(8, s.cuda))
    of_the_system(s, old if s.w.faulty else s.version, s.cuda)
    if not s.w.faulty:
        return None
    return truth("parts-of-other-major", (*s.parts, old), [n.split(".")[0] for n in s.parts],
                 f"the machine has cuDNN {old}", f"{s.module_name}'s facade is of {s.version}",
                 "it finds no parts of 9")


# ---- asked-in-vain: it is not found by who asks -------------------------------------------------------------------

@kind("asked-in-vain", HIDES_ABSENCE, weight=4, place=("toolkit", "system"), host=("unversioned", "named", "linked",
      "ctypes"))
def nobody_installed_it(s):
    """PP-YOLOE#5, foundry-dev-tools#75, chainer#6134, multinerf#14: CUDA was installed, and cuDNN was not."""
    goes_on(s)
    if not s.w.faulty:
        return None
    without_cudnn(s)
    return truth("none-installed", s.asked, "libcudnn", "CUDA is installed, cuDNN is not", f"{s.asked} is not found")


@kind("asked-in-vain", WITH_CACHE, place=("container",), host=PROGRAMS)
def image_without_it(s):
    """onnxruntime#19631: the image was made from one with CUDA alone; NVIDIA's own has a step for cuDNN."""
    goes_on(s)
    if not s.w.faulty:
        return None
    without_cudnn(s)
    return truth("none-installed", s.asked, "libcudnn", "the image has CUDA, and no cuDNN", f"{s.asked} is not found")


@kind("asked-in-vain", HIDES_ABSENCE, place=("conda",), host=("package",), framework=("visionkit", "lensflow"))
def other_framework_has_it_inside(s):
    """onnxruntime#3632: torch of the image has cuDNN built in; who needs libcudnn as a file does not find any."""
    s.w.write("/.dockerenv", "")
    s.w.conda_package(s.prefix, "pytorch", "1.5.0", "py3.7_cuda10.1.243_cudnn7.6.3_0", {})
    if not s.w.faulty:
        return None
    without_cudnn(s)
    return truth("none-installed", s.asked, "libcudnn", "conda's package cudnn is not installed",
                 f"{s.module_name} wants {s.asked}", "it is not found")


@kind("asked-in-vain", HIDES_ABSENCE, weight=4, place=("toolkit",), search=("llp",), host=("unversioned", "named",
      "linked"))
def toolkit_has_it_and_nobody_says_so(s):
    """Paddle#36238, #24728, PaddleOCR#300, TensorRT#1747: it lies in the toolkit's lib64, which LD_LIBRARY_PATH does
    not name; some put the file into PATH."""
    goes_on(s)
    in_path = s.w.rng.random() < 0.3
    if not s.w.faulty:
        return None
    s.llp = [d for d in s.llp if d != s.lib]
    if in_path:
        s.w.env["PATH"] = f"{s.file(s.asked)}:{s.w.env['PATH']}"
    return truth("nothing-listed", (s.asked, *companions(s)), ("libcudnn", "libcudart"),
                 f"{s.asked} lies in {s.lib}", "LD_LIBRARY_PATH does not name that", "it is not found")


@kind("asked-in-vain", HIDES_ABSENCE, place=("toolkit",), search=("llp", "cache"), host=("unversioned", "named"),
      era=(8, 9))
def environment_of_another_project_has_it(s):
    """Paddle#59011: locate shows one libcudnn, in the environment of another framework; the toolkit has none."""
    prefix = s.w.rng.choice(("/usr/local/mambaforge/envs/pytorch", f"{s.home}/miniconda3/envs/torch2"))
    site = s.w.venv(prefix)
    for wheel in (*World.cuda_wheels(s.cuda), World.cudnn_wheel(s.version, s.cuda)):
        s.w.wheel(site, *wheel)
    if not s.w.faulty:
        return None
    without_cudnn(s)
    return truth("in-another-environment", (s.asked, f"{site}/nvidia/cudnn/lib"), "libcudnn",
                 f"only {prefix} has cuDNN", "nothing leads from this program to it", f"{s.asked} is not found")


@kind("asked-in-vain", HIDES_ABSENCE, place=("conda",), host=("linked", "named", "package"), framework=("visionkit",
      "lensflow"), era=(8,))
def environment_was_made_with_nine(s):
    """tita_rl#2: conda chose cuDNN 9 for the environment, and TensorRT's plugins want libcudnn.so.8."""
    if not s.w.faulty:
        return None
    new = s.w.rng.choice(stock.releases(9, s.cuda))
    whole(s, new)
    return truth("next-major-installed", (s.facade,), "libcudnn", f"the environment has cuDNN {new}",
                 f"the program asks for {s.facade}", "it is not found")


@kind("asked-in-vain", HIDES_ABSENCE, place=("venv",), host=("package",), framework=("lensflow",), era=(8,),
      cuda=("12",), demand=False)
def requirement_without_an_end(s):
    """jax#20519: the package requires cuDNN from 8.9 on, pip takes 9, and the package asks for libcudnn.so.8."""
    files, _ = s.w.index[s.dist][s.dist_version]
    s.w.wheel(s.site, s.dist, s.dist_version, files, [f"{s.package}>={stock.wheel_version(s.version)}"])
    if s.w.rng.random() < 0.5:
        s.before_steps = ["cpu", *s.before_steps]
    if not s.w.faulty:
        return None
    new = s.w.rng.choice(stock.releases(9, "12"))
    whole(s, new)
    return truth("next-major-installed", (s.facade,), "libcudnn", f"pip took {s.package} {new}",
                 f"{s.module_name} asks for {s.facade}", "it is not found")


@kind("asked-in-vain", HIDES_ABSENCE, weight=2, place=("venv",), host=("package",), framework=("torch", "visionkit"))
def framework_in_lib64(s):
    """pytorch#165812, #104259: lib64 is a folder of its own; pip puts the framework there, and nvidia/ into lib."""
    w = s.w
    lib64 = s.site.replace("/lib/", "/lib64/")
    if not w.faulty:
        w.link(f"{s.prefix}/lib64", "lib")
        return None
    w.at(lib64).mkdir(parents=True)
    for name in w.names(s.site):
        if not name.startswith("nvidia"):
            w.at(f"{s.site}/{name}").rename(w.at(f"{lib64}/{name}"))
    w.env["PYTHONPATH"] = lib64  # as Pythons of such systems look into both
    return truth("folders-apart", (s.facade, s.lib, *companions(s)), ("libcudnn", "libcudart", "libcublas"),
                 f"{s.module_name} lies in lib64, nvidia/ in lib", "its search path leads nowhere",
                 f"{s.facade} is not found")


# ---- another-number: another release than it was built with ------------------------------------------------------

@kind("another-number", WITH_CACHE, weight=2, printed=True, place=("container", "venv"), host=("package",),
      framework=("tensorflow", "jax_plugin"), demand=True, older=1)
def machine_is_behind_the_framework(s):
    """tensorflow/text#554, jax#15268: the framework came by pip, cuDNN is the machine's, and older than what the
    framework was built with."""
    uninstall(s, s.package)
    version = s.older() if s.w.faulty else s.version
    where = of_the_system(s, version, s.cuda)
    if not s.w.faulty:
        return None
    return truth("older-installed", (version, where), "libcudnn", f"the machine has {version}",
                 f"{s.dist} was built with {s.version}", "it refuses it")


@kind("another-number", printed=True, place=("conda",), host=("package",), framework=("jax_plugin",), era=(9,),
      demand=True, older=1)
def environment_is_behind_jax(s):
    """jax#16901: an environment of before has an older cuDNN than the new jax was built with."""
    if not s.w.faulty:
        return None
    old = s.older()
    whole(s, old)
    return truth("older-installed", old, "libcudnn", f"{s.prefix} has {old}",
                 f"{s.module_name} was built with {s.version}", "it refuses it")


@kind("another-number", place=("venv", "conda"), host=("package",), framework=("torch",), search=("runpath",), era=(9,),
      demand=True, older=1)
def download_before_the_frameworks_own(s):
    """whisperX#1297: somebody unpacked the release that a message named, and LD_LIBRARY_PATH leads to it: torch was
    built with a later one."""
    old = s.older()
    full = stock.wheel_version(old)
    directory = s.w.rng.choice((f"{s.home}/Downloads/cudnn-linux-x86_64-{full}_cuda{s.cuda}-archive/lib",
                                f"/opt/cudnn-linux-x86_64-{full}_cuda{s.cuda}-archive/lib"))
    s.w.copy_of_cudnn(directory, old, s.cuda)
    if not s.w.faulty:
        return None
    in_front(s, directory)
    return truth("older-in-front", (directory, old), "libcudnn", f"LD_LIBRARY_PATH has {directory}",
                 f"its {s.facade} is {old}, torch was built with {s.version}", "torch refuses it")


NEW = "cudnnBackendPopulateCudaGraph"


@kind("another-number", USUAL, place=("toolkit", "conda"), host=("linked",), search=("runpath", "rpath"), era=(9,),
      cuda=("12",), demand=False, versions=("9.5.1", "9.8.0", "9.10.2", "9.13.0"),
      binary={"imports": NEW, "built": "9.8.0"})
def another_directory_of_the_build_first(s):
    """pytorch#3251: of the directories that the build was given another stands before cuDNN's, and has an older one."""
    first = s.w.rng.choice(("/usr/local/magma/lib", f"{s.home}/local/lib64", "/opt/rh/cuda-libs/lib64"))
    s.w.put(b"!<arch>\n", f"{first}/libmagma.a")
    data = stock.host(9, s.cuda, True, imports=NEW, built="9.8.0").read_bytes()
    s.w.write(s.host_file, stock.set_path(data, s.search, f"{first}:{s.search_path(s.host_file)}"), 0o755)
    s.steps = [*s.steps[:-1], "extra", *s.steps[-1:]]
    if not s.w.faulty:
        return None
    s.w.copy_of_cudnn(first, "9.1.0", s.cuda)
    return truth("older-without-function", (NEW, first, "9.1.0"), "libcudnn",
                 f"{first} has 9.1.0, and comes first in the search path", f"the program was built with {s.version}",
                 "it calls a function that 9.1.0 has not")


JOIN = "_ZN5cudnn3ops26JoinInternalPriorityStreamEP12cudnnContexti"


@kind("another-number", place=("conda",), host=("package", "linked", "named"), search=("runpath",), era=(8,),
      cuda=("11",), demand=False, framework=("visionkit", "lensflow"),
      options=("--internal", f"ops_infer={JOIN}", "--imports", f"ops_train={JOIN}"))
def environments_part_and_the_toolkits(s):
    """PaddleSlim#1619: libcudnn_ops_train of the environment gets libcudnn_ops_infer of the toolkit that
    LD_LIBRARY_PATH names, of another release."""
    before_calls(s, f"open:{s.lib}/{s.part_name('ops_train')}")
    s.llp = [s.lib, *s.llp]
    other = s.other()
    directory = s.w.rng.choice(("/usr/local/cuda-11.3/lib64", "/usr/local/cuda/lib64"))
    s.w.copy_of_cudnn(directory, other, s.cuda)
    if not s.w.faulty:
        return None
    in_front(s, directory)
    return truth("two-sets-mixed", (directory, other), ("libcudnn_ops_train", "libcudnn_ops_infer"),
                 f"LD_LIBRARY_PATH begins with {directory}, which has {other}",
                 f"{s.part_name('ops_train')} of {s.lib} is of {s.version}", "a symbol is missing")


# ---- another-stack: CUDA and the driver ---------------------------------------------------------------------------

@kind("another-stack", WITH_CACHE, place=("system", "container"), host=("named", "package"), framework=("lensflow",
      "tensorflow"), era=(8,), cuda=("11",), versions=("8.9.2", "8.9.7"), demand=False)
def apts_cudnn_is_for_the_next_cuda(s):
    """jax#14931: apt installed the newest cuDNN, which is the one for CUDA 12; the framework is built for CUDA 11."""
    cuda = "12" if s.w.faulty else s.cuda
    if s.owner == "wheel":
        uninstall(s, s.package)
    else:
        for dev in (False, True):
            s.w.purge(deb_name(s.version, s.cuda, dev))
    s.w.debs(s.version, cuda, World.cudnn_files(s.version, cuda))
    if not s.w.faulty:
        return None
    names = stock.companion_names("12")
    return truth("cudnn-of-other-cuda", (names["cublas"], names["cublasLt"], "CUDA 12"),
                 ("libcublas", "libcublasLt", "libcudnn"), f"cuDNN {s.version} is the one for CUDA 12",
                 "the framework has CUDA 11", f"{names['cublasLt']} is not found")


@kind("another-stack", (*USUAL, "toolkit"), place=("venv", "conda"), host=("package",), framework=("jax_plugin",),
      era=(9,))
def driver_behind_jax(s):
    """phlash#31: jax brought its own CUDA, and the server's driver is older than that wants."""
    if not s.w.faulty:
        return None
    before = {"12": ("470.57.02", "510.108.03", "515.65.01"), "13": ("535.129.03", "550.54.15")}
    release = s.w.rng.choice(before[s.cuda])
    take_driver_away(s)
    s.driver(release=release, state=35)
    return truth("too-old-driver", (release, f"CUDA {s.cuda}"), "libcuda", f"the driver is {release}",
                 f"CUDA {s.cuda} wants a newer one", "cudnnCreate fails")
