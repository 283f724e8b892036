# SPDX-License-Identifier: Apache-2.0
"""Kinds that are a sample of what people ask about. Fifty searches were typed as
somebody with a problem would type them, the first eight answers of each were taken as they came, and each cause that
was known and can be played here is a kind. Its weight is how many of those threads it stands for. As in kinds.py, both
twins share what stands before `if not s.w.faulty: return None`."""
import os

import stock
from kinds import HIDES_ABSENCE, LABELS, in_front, kind, lose_companion, truth, uninstall, whole
from kinds_by_hand import companions, rebuild
from kinds_of_machines import take_driver_away
from kinds_of_routes import cudnn_in
from kinds_of_starts import launched, library, preloading
from scene import SYSTEM
from world import World, deb_name

LABELS.update({
    "none-installed": {"library-not-found"},
    "parts-not-installed": {"part-missing", "installation-incomplete", "library-not-found"},
    "parts-of-next-major": {"part-missing", "installation-incomplete", "library-not-found", "major-differs"},
    "name-not-there": {"wrong-name", "library-not-found"},
    "next-major-installed": {"library-not-found", "major-differs"},
    "next-major-by-a-link": {"wrong-name", "major-differs"},
    "not-listed": {"library-not-found", "search-path-suspect"},
    "nothing-listed": {"library-not-found", "search-path-suspect", "dependency-missing", "cuda-dependency-differs",
                       "gpu-stack-not-reached"},
    "environment-dropped": {"library-not-found", "search-path-suspect", "dependency-missing", "cuda-dependency-differs",
                            "gpu-stack-not-reached", "not-observed"},
    "older-installed": {"runtime-too-old"},
    "older-pinned": {"runtime-too-old", "demands-conflict"},
    "older-in-front": {"runtime-too-old", "shadowed-copy", "own-copy-unused"},
    "older-import-first": {"already-loaded-by-soname", "runtime-too-old", "own-copy-unused", "demands-conflict"},
    "newer-installed": {"runtime-too-new"},
    "older-without-function": {"missing-symbols", "symbol-version-not-found", "runtime-too-old", "shadowed-copy"},
    "module-of-other-cuda": {"cuda-dependency-differs", "dependency-missing", "cuda-major-differs",
                             "gpu-stack-not-reached"},
    "two-sets-mixed": {"parts-differ", "facade-and-parts-differ", "part-from-other-installation",
                       "symbol-version-not-found", "missing-symbols", "shadowed-copy", "own-copy-unused"},
    "parts-under-a-facade": {"parts-differ", "facade-and-parts-differ", "part-from-other-installation",
                             "shadowed-copy", "runtime-too-old"},
    "hole-filled-by-system": {"part-from-other-installation", "installation-incomplete", "parts-differ",
                              "facade-and-parts-differ", "part-missing", "installation-mixed"},
    "part-without-path": {"part-missing", "dependency-missing", "library-not-found", "search-path-suspect"},
    "driver-without-plain-name": {"driver-missing", "dependency-missing", "library-not-found", "wrong-name"},
    "cuda-without-plain-name": {"dependency-missing", "cuda-dependency-differs", "library-not-found", "wrong-name"},
    "older-cuda-in-front": {"cuda-dependency-differs", "dependency-missing", "missing-symbols",
                            "symbol-version-not-found", "two-cuda-copies"},
    "cuda-not-there": {"dependency-missing", "cuda-dependency-differs"},
    "cudnn-of-other-cuda": {"cuda-major-differs", "dependency-missing", "cuda-dependency-differs"},
    "no-driver-at-all": {"driver-missing"},
    "driver-answers-nothing": {"driver-missing", "init-failed"},
    "too-old-driver": {"driver-too-old"},
    "truncated": {"bad-file"},
    "cpu-package": {"cpu-only-build", "gpu-stack-not-reached"},
})

USUAL = ("harmless", "late", "blame", "workers", "wrapper")
WITH_CACHE = (*USUAL, "two")
PROGRAMS = ("linked", "named")
UNTIL_9_19 = ("9.1.0", "9.5.1", "9.8.0", "9.10.2", "9.13.0", "9.19.0")  # later ones find their parts by DT_RPATH
BEFORE_THE_LAST = ("7.4.1", "8.2.1", "8.5.0", "8.6.0", "9.1.0", "9.5.1", "9.8.0", "9.13.0")

# ---- helpers --------------------------------------------------------------------------------------------


def without_cudnn(s):
    """As if nobody had installed it."""
    if s.owner == "deb":
        for dev in (False, True):
            s.w.purge(deb_name(s.version, s.cuda, dev))
    elif s.owner == "wheel":
        uninstall(s, s.package)
    else:
        for name in cudnn_in(s, s.lib):
            s.w.remove(f"{s.lib}/{name}")
        if s.owner == "conda":
            s.w.remove(f"{s.prefix}/conda-meta/cudnn-{stock.wheel_version(s.version)}-cuda{s.cuda}_0.json")
        s.w.system_changed = s.w.system_changed or s.search == "cache"


def without_plain_name(s):
    """The package for developers, which has libcudnn.so, is not installed."""
    if s.owner == "deb":
        s.w.purge(deb_name(s.version, s.cuda, True))
    else:
        s.w.remove(f"{s.lib}/libcudnn.so")


def goes_on(s):
    """Half of those that open cuDNN themselves go on with the processor where they cannot."""
    if s.w.rng.random() < 0.5 and s.host in ("named", "unversioned"):
        s.before_steps = ["cpu", *s.before_steps]


def before_calls(s, *steps):
    at = s.steps.index("version")
    s.steps[at:at] = steps


def exports(s, *directories):
    """What the job's script exports, in place of the scene's."""
    s.wrapper_lines[0] = f"export LD_LIBRARY_PATH={':'.join(directories)}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"


def next_major(s):
    """A release of the next major, and its CUDA."""
    cuda = "11" if s.era == 7 else s.cuda
    return s.w.rng.choice(stock.releases(s.era + 1, cuda)), cuda


def newer(s):
    known = stock.releases(s.era, s.cuda)
    return s.w.rng.choice([v for v in known if stock.numbers(v)[:2] > stock.numbers(s.version)[:2]])


def with_a_facade_of_its_own(s):
    """As CTranslate2's wheel: the facade under a name with a hash, and nothing of what it opens."""
    name = f"libcudnn-74a4c495.so.{s.version}"
    uninstall(s, s.package)
    here = os.path.dirname(s.host_file)
    path = ":".join("$ORIGIN/" + os.path.relpath(d, here) for d in (f"{s.site}/{s.module_name}.libs", *s.cuda_dirs))
    data = stock.host(None, None, False, extra_needs=(name,)).read_bytes()
    facade = World.cudnn_files(s.version, s.cuda, "--soname", name, "--node", s.facade)[name]
    s.w.wheel(s.site, s.dist, s.dist_version, {
        **s.w.index[s.dist][s.dist_version][0],
        os.path.relpath(s.host_file, s.site): stock.set_path(data, s.search, path),
        f"{s.module_name}.libs/{name}": facade})
    s.steps = [f"name={name}" if p.startswith("name=") else p for p in s.steps]


# ---- never-installed: nobody brought it, or not by the name that is asked for -----------------------------------

@kind("never-installed", HIDES_ABSENCE, weight=12, place=("toolkit", "system"), search=("cache", "llp"), host=("linked",
      "named", "unversioned", "ctypes"))
def cuda_came_without_cudnn(s):
    """tensorflow#45200, #46310, #20271, #41736, #24, weiliu89/caffe#546, BVLC/caffe#5550, cudnn.torch#254,
    FaceImageQuality#52, onnxruntime#19616, nixpkgs#158186, jade-hpc-gpu#30: the toolkit is installed, cuDNN is not."""
    goes_on(s)
    if not s.w.faulty:
        return None
    without_cudnn(s)
    return truth("none-installed", s.asked, "libcudnn", "CUDA's toolkit has no cuDNN, and nobody installed it",
                 f"{s.asked} is not found")


@kind("never-installed", WITH_CACHE, weight=5, place=("venv", "container"), host=("package",), framework=("lensflow",),
      era=(8,), demand=False)
def facade_in_the_wheel_alone(s):
    """Whisper-Finetune#16, stream-whisper#18, stt#76, Make-Your-Video#4, whisper_streaming#119: a package brings the
    facade, and the parts are to come from the system."""
    with_a_facade_of_its_own(s)
    if not s.w.faulty:
        s.w.debs(s.version, s.cuda, World.cudnn_files(s.version, s.cuda))
        return None
    return truth("parts-not-installed", s.parts, "libcudnn_ops_infer", "cuDNN 8 is not installed",
                 f"{s.module_name} has a facade of its own, which finds no parts", "it ends the process")


@kind("never-installed", WITH_CACHE, weight=3, place=("venv", "container"), host=("package",), framework=("lensflow",),
      era=(8,), demand=False)
def facade_in_the_wheel_and_nine_beside_it(s):
    """stream-whisper#28, faster-whisper#516, #885: the same, and the system has cuDNN 9."""
    with_a_facade_of_its_own(s)
    new = next_major(s)[0]
    if not s.w.faulty:
        s.w.debs(s.version, s.cuda, World.cudnn_files(s.version, s.cuda))
        return None
    s.w.debs(new, s.cuda, World.cudnn_files(new, s.cuda))
    return truth("parts-of-next-major", s.parts, "libcudnn_ops_infer", f"the system has cuDNN {new}",
                 f"{s.module_name}'s facade is of 8 and opens parts of 8", "it ends the process")


@kind("never-installed", WITH_CACHE, weight=3, place=("container",), host=PROGRAMS)
def image_of_cuda_alone(s):
    """jetson-containers#25, VoiceStreamAI#17, BehaviorMetrics#385: the image is one with CUDA and without cuDNN."""
    goes_on(s)
    if not s.w.faulty:
        return None
    without_cudnn(s)
    return truth("none-installed", s.asked, "libcudnn", "the image has CUDA, and no cuDNN", f"{s.asked} is not found")


@kind("never-installed", WITH_CACHE, weight=3, place=("system", "toolkit"), host=("unversioned",))
def runtime_image_has_no_plain_name(s):
    """nvidia-docker#53, tensorflow#2527, Paddle#39102: the image for running has libcudnn.so.N, and the program asks
    for libcudnn.so."""
    s.w.write("/.dockerenv", "")
    goes_on(s)
    if not s.w.faulty:
        return None
    without_plain_name(s)
    return truth("name-not-there", "libcudnn.so", "libcudnn", f"the image has {s.facade}",
                 "libcudnn.so comes with the package for developers", "the program asks for that")


@kind("never-installed", WITH_CACHE, weight=2, place=("container", "system", "toolkit", "modules"), host=("named",),
      era=(9,))
def list_of_names_ends_before_nine(s):
    """cudarc#529, mistral.rs#1053: a program tries the plain name and those with CUDA's numbers, and not
    libcudnn.so.9."""
    names = ["libcudnn.so", "libcudnn64.so", f"libcudnn64_{s.cuda}.so", "libcudnn64_10.so", "libcudnn64_9.so",
             "libcudnn.so.12", "libcudnn.so.11", "libcudnn.so.10"]
    s.steps = [f"name={','.join(names)}" if p.startswith("name=") else p for p in s.steps]
    if not s.w.faulty:
        return None
    without_plain_name(s)
    return truth("name-not-there", "libcudnn.so", "libcudnn", f"{s.facade} is there",
                 "the program tries eight names, and not that", "no file has one of them")


@kind("never-installed", WITH_CACHE, weight=3, place=("toolkit", "system"), host=("linked", "named", "ctypes"), era=(7,
      8))
def next_major_alone_is_installed(s):
    """tensorflow#44040, mxnet#7567, tensorflow#62: built with one major, and only the next is there."""
    goes_on(s)
    if not s.w.faulty:
        return None
    new, cuda = next_major(s)
    whole(s, new, cuda)
    return truth("next-major-installed", (s.facade,), "libcudnn", f"cuDNN {new} is installed",
                 f"the program asks for {s.facade}", "it is not found")


@kind("never-installed", USUAL, place=("toolkit", "modules"), host=("named", "ctypes"), search=("llp",), era=(7, 8),
      demand=True)
def next_major_under_the_old_number(s):
    """tensorflow#42199: the same, and a link with the old number was made by hand."""
    new, cuda = next_major(s)
    if cuda != s.cuda:
        s.w.copy_of_cuda(s.cuda_dirs[0], cuda)
    if not s.w.faulty:
        return None
    whole(s, new, cuda)
    s.w.link(f"{s.lib}/{s.facade}", f"libcudnn.so.{new}")
    return truth("next-major-by-a-link", (s.facade, new), "libcudnn", f"{s.facade} is a link to libcudnn.so.{new}",
                 "the program gets another major than it was built with")


@kind("never-installed", WITH_CACHE, place=("venv", "container"), host=("package",), framework=("visionkit",), era=(9,),
      cuda=("12",), demand=False)
def built_for_nine_beside_eight(s):
    """HeyGem-Linux-Python-Hack#5: onnxruntime wants 9, and the environment has the package of 8."""
    if not s.w.faulty:
        return None
    old = s.w.rng.choice(stock.releases(8, "12"))
    whole(s, old, "12")
    return truth("next-major-installed", (s.facade,), "libcudnn", f"{s.package} is of {old}",
                 f"the program asks for {s.facade}", "it is not found")


# ---- unlisted: it is there, and nothing leads to it -------------------------------------------------------------

@kind("unlisted", HIDES_ABSENCE, weight=5, place=("venv", "container"), host=("package",), demand=False,
      framework=("visionkit", "lensflow"))
def wheel_that_no_path_leads_to(s):
    """faster-whisper#297, Whisper-WebUI#140, GPT-SoVITS#697, onnxruntime#25609, tensorflow#60646: cuDNN was installed
    by pip, the package has no search path to it, and LD_LIBRARY_PATH was not set; some put it into PATH."""
    here = os.path.dirname(s.host_file)
    rebuild(s, ":".join("$ORIGIN/" + os.path.relpath(d, here) for d in s.cuda_dirs))
    in_path = s.w.rng.random() < 0.3
    if not s.w.faulty:
        s.llp = [s.lib, *s.llp]
        return None
    if in_path:
        s.w.env["PATH"] += f":{s.lib}"
    return truth("not-listed", (s.facade, s.lib), "libcudnn", f"{s.facade} lies in {s.lib}",
                 "LD_LIBRARY_PATH does not name it", f"{s.module_name} has no search path to it")


@kind("unlisted", HIDES_ABSENCE, weight=5, place=("toolkit",), search=("llp",), host=("linked", "named", "unversioned",
      "ctypes"))
def toolkit_not_exported(s):
    """Paddle#11068, tensorRT_Pro#171, BVLC/caffe#5092, tensorflow#4168, #34287: cuDNN lies in the toolkit, and this
    shell does not export LD_LIBRARY_PATH."""
    goes_on(s)
    if not s.w.faulty:
        return None
    s.llp = [d for d in s.llp if d != s.lib]
    return truth("nothing-listed", (s.asked, *companions(s)), ("libcudnn", "libcudart"), "LD_LIBRARY_PATH is not set",
                 f"{s.asked} lies in {s.lib}, and is not found")


@kind("unlisted", USUAL, weight=3, place=("modules",), host=("linked", "named", "ctypes"))
def module_of_cuda_alone_is_loaded(s):
    """cbio-cluster#421, tensorflow#3632, mold#1510: the job, or the shell, has CUDA's directories and not cuDNN's."""
    goes_on(s)
    if not s.w.faulty:
        return None
    exports(s, *s.cuda_dirs)
    s.wrapper_lines[1] = "export CUDA_HOME=" + os.path.dirname(s.cuda_dirs[0])
    return truth("not-listed", (s.asked,), "libcudnn", "only CUDA's module is loaded", f"{s.asked} lies in {s.lib}",
                 "LD_LIBRARY_PATH does not name it")


@kind("unlisted", USUAL, place=("modules",), host=("linked", "named", "ctypes"))
def later_module_sets_the_variable_anew(s):
    """tensorflow#66987: after cuDNN's module another is loaded, which sets LD_LIBRARY_PATH and does not add to it."""
    line = f"export LD_LIBRARY_PATH={':'.join(s.cuda_dirs)}"
    s.wrapper_lines.append(line if s.w.faulty else line + ":$LD_LIBRARY_PATH")
    if not s.w.faulty:
        return None
    return truth("not-listed", (s.asked,), "libcudnn", "cuDNN's module is loaded, and another after it",
                 "that throws away what LD_LIBRARY_PATH was", f"{s.asked} is not found")


@kind("unlisted", HIDES_ABSENCE, place=("conda",), host=("package", "linked"), framework=("tensorflow", "lensflow"))
def build_of_pip_in_conda(s):
    """tensorflow#60854: cuDNN came by conda, the framework by pip; what it was built with does not look into the
    environment's lib."""
    rebuild(s, "$ORIGIN")
    if not s.w.faulty:
        s.llp = [s.lib, *s.llp]
        return None
    return truth("nothing-listed", (s.facade, s.lib, *companions(s)), ("libcudnn", "libcudart"),
                 f"{s.facade} lies in {s.lib}", "the framework has no search path to it",
                 "LD_LIBRARY_PATH is not set")


@kind("unlisted", ("harmless", "late", "blame"), place=("toolkit",), host=PROGRAMS, search=("llp",))
def build_tool_empties_the_environment(s):
    """tensorflow#28497: the program is started by a build tool, with an environment that has PATH alone."""
    kept = [] if s.w.faulty else [f"LD_LIBRARY_PATH={':'.join(s.llp)}"]
    s.w.argv = ["/usr/bin/env", "-", "PATH=/bin:/usr/bin", *kept, *s.w.argv]
    if not s.w.faulty:
        return None
    return truth("environment-dropped", (s.facade, "LD_LIBRARY_PATH", "LD_PRELOAD", "environment", *companions(s)),
                 ("libcudnn", "libcudart"), "env - starts the program", "LD_LIBRARY_PATH is not handed on",
                 f"{s.facade} is not found")


@kind("unlisted", HIDES_ABSENCE, place=("toolkit",), host=("unversioned", "named", "ctypes"), search=("llp",))
def variable_that_nobody_reads(s):
    """Paddle#24953: CUDNN has the file's path, in place of LD_LIBRARY_PATH with its directory."""
    if not s.w.faulty:
        return None
    s.llp = [d for d in s.llp if d != s.lib]
    s.w.env["CUDNN"] = s.file(s.asked)
    return truth("nothing-listed", (s.asked, *companions(s)), ("libcudnn", "libcudart"),
                 "CUDNN is set, which nobody reads", "LD_LIBRARY_PATH is not set", f"{s.asked} is not found")


@kind("unlisted", WITH_CACHE, place=("system", "toolkit"), host=("named", "ctypes"))
def asks_for_the_full_number(s):
    """installTensorFlowTX1#2: the program was built to open libcudnn.so with all of its numbers, and another release is
    installed."""
    if s.place == "toolkit":
        s.llp = [s.lib, *s.llp]
    full = f"libcudnn.so.{s.version}"
    s.steps = [f"name={full}" if p.startswith("name=") else p for p in s.steps]
    if not s.w.faulty:
        return None
    other = s.other()
    whole(s, other)
    return truth("name-not-there", full, "libcudnn", f"cuDNN {other} is installed", f"the program asks for {full}")


@kind("unlisted", USUAL, place=("toolkit", "modules"), host=PROGRAMS, search=("llp",), era=(8, 9))
def links_without_a_number_alone(s):
    """caffe2#959: cuDNN lies elsewhere, and somebody linked its plain names alone: those are for building."""
    where = f"{s.home}/local/cudnn-{s.version}/lib64"
    for name in cudnn_in(s, s.lib):
        s.w.remove(f"{s.lib}/{name}")
    s.w.copy_of_cudnn(where, s.version, s.cuda)
    for name in cudnn_in(s, where):
        if name.endswith(".so") or not s.w.faulty:
            s.w.link(f"{s.lib}/{name}", f"{where}/{name}")
    if not s.w.faulty:
        return None
    return truth("name-not-there", s.facade, "libcudnn", f"{s.lib} has links to {where}, without numbers",
                 f"the program asks for {s.facade}")


# ---- releases: another than the program was built with ------------------------------------------------------------

@kind("releases", WITH_CACHE, weight=8, printed=True, place=("toolkit", "system"), host=PROGRAMS, demand=True, older=1)
def installed_before_the_framework(s):
    """tensorflow#39842, DCGAN-tensorflow#242, jax#1351, #22416, Detectron#574, anaconda-issues#9174, dl-4-tsc#54,
    whosebug.com/question/2129428: what is installed is older than what the program was built with."""
    if not s.w.faulty:
        return None
    old = s.older()
    whole(s, old)
    if s.place == "toolkit":
        s.w.header(f"{os.path.dirname(s.lib)}/include", old)
    return truth("older-installed", old, "libcudnn", f"{old} is installed", f"the program was built with {s.version}",
                 "it refuses it")


@kind("releases", WITH_CACHE, weight=5, printed=True, place=("container",), host=("package",),
      framework=("tensorflow",), demand=True, older=1)
def image_is_older_than_its_framework(s):
    """colabtools#2626, #2329, #2459, Kaggle/docker-python#1435, jax#24180: pip brings a newer framework into an image
    whose cuDNN is the system's."""
    uninstall(s, s.package)
    version = s.older() if s.w.faulty else s.version
    s.w.debs(version, s.cuda, World.cudnn_files(version, s.cuda))
    if not s.w.faulty:
        return None
    return truth("older-installed", version, "libcudnn", f"the image has {version}",
                 f"{s.dist} was built with {s.version}", "it refuses it")


@kind("releases", weight=2, printed=True, place=("conda",), host=("package",), framework=("tensorflow", "jax_plugin"),
      era=(8, 9), demand=True, older=1)
def solver_took_an_older_one(s):
    """jaxlib-feedstock#329, conda#8736: conda's solver chose a cuDNN that is older than what its framework was built
    with."""
    if not s.w.faulty:
        return None
    old = s.older()
    whole(s, old)
    return truth("older-installed", old, "libcudnn", f"conda installed {old}",
                 f"{s.module_name} was built with {s.version}", "it refuses it")


@kind("releases", USUAL, printed=True, place=("modules",), host=PROGRAMS, demand=True, older=1)
def module_of_an_older_release(s):
    """jade-hpc-gpu#86: the cluster's module is older than what the framework was built with."""
    old = s.older()
    module = s.module.replace(f"/{s.version}-", f"/{old}-")
    s.w.copy_of_cudnn(f"{module}/lib", old, s.cuda)
    s.w.header(f"{module}/include", old)
    if not s.w.faulty:
        return None
    exports(s, f"{module}/lib", *s.cuda_dirs)
    s.wrapper_lines[1] = f"export CUDNN_HOME={module} EBROOTCUDNN={module}"
    return truth("older-installed", (old,), "libcudnn", f"{module} is loaded",
                 f"the program was built with {s.version}", "it refuses it")


@kind("releases", USUAL, printed=True, place=("modules",), host=PROGRAMS, demand=True, older=1)
def module_is_older_than_its_name(s):
    """cbio-cluster#427: a module has the number of something else in its name; its cuDNN is older."""
    if not s.w.faulty:
        return None
    old = s.older()
    whole(s, old)
    s.w.header(f"{s.module}/include", old)
    return truth("older-installed", (old,), "libcudnn", f"{s.module} has {old}",
                 f"the program was built with {s.version}", "it refuses it")


@kind("releases", USUAL, weight=2, place=("modules",), host=("linked",), era=(8, 9), versions=("8.9.2", "8.9.7",
      "9.1.0", "9.13.0", "9.19.0", "9.26.0"))
def modules_of_another_cuda(s):
    """sheffield_hpc#894, #1697: the modules that are loaded are of another CUDA than the program's."""
    other = next(c for c in stock.RELEASES[s.version][1] if c != s.cuda)
    root = s.module.rsplit("/cudnn/", 1)[0]
    module, cuda = f"{root}/cudnn/{s.version}-cuda-{other}", f"{root}/cuda/{stock.TOOLKITS[other]}/lib64"
    s.w.copy_of_cudnn(f"{module}/lib", s.version, other)
    s.w.copy_of_cuda(cuda, other)
    if not s.w.faulty:
        return None
    exports(s, f"{module}/lib", cuda)
    s.wrapper_lines[1] = f"export CUDNN_HOME={module} EBROOTCUDNN={module}"
    return truth("module-of-other-cuda", companions(s), ("libcudart", "libcublas", "libcublasLt", "libnvrtc"),
                 f"{module} is loaded, and CUDA {other}", f"the program was built with CUDA {s.cuda}",
                 "the loader does not find that")


@kind("releases", weight=6, place=("venv", "conda"), host=("package",), framework=("torch", "visionkit"),
      search=("runpath",), demand=True, older=1)
def older_one_by_the_variable(s):
    """pytorch#80877, #80637, functorch#926, kohya_ss#1096, Co-GAT#2, gladia#928: LD_LIBRARY_PATH leads to an older
    cuDNN, and the one that the framework brought is not taken."""
    old = s.older()
    directory = s.w.rng.choice(("/usr/local/cuda/lib64", f"/public/apps/cudnn/v{old}/cuda/lib64"))
    s.w.copy_of_cudnn(directory, old, s.cuda)
    if not s.w.faulty:
        return None
    in_front(s, directory)
    return truth("older-in-front", (directory, old), "libcudnn", f"LD_LIBRARY_PATH has {directory}",
                 f"its {s.facade} is {old}, the framework was built with {s.version}", "it refuses it")


@kind("releases", weight=2, place=("venv", "container"), host=("package",), framework=("tensorflow",), demand=True,
      older=1)
def pinned_for_another_framework(s):
    """kohya_ss#2787, pytorch#104757: one environment for two frameworks; what the one pins is older than what the other
    was built with."""
    version = s.older() if s.w.faulty else s.version
    s.w.wheel(s.site, "torch", "2.1.2", {"torch/__init__.py": b"\n"}, [f"{s.package}=={stock.wheel_version(version)}"])
    if not s.w.faulty:
        return None
    whole(s, version)
    return truth("older-pinned", (version, "torch"), "libcudnn", f"torch pins {s.package} {version}",
                 f"{s.dist} wants {s.version}", "it refuses it")


@kind("releases", weight=4, place=("venv", "container"), host=("package",), framework=("tensorflow", "lensflow"),
      demand=True, older=1)
def other_framework_was_imported_first(s):
    """Kaggle/docker-python#363, tensorflow#37606, torch2trt#154, TensorRT#317: another package has an older cuDNN of
    its own, and is imported first: who asks for the same name gets that."""
    old, m = s.older(), s.module_name
    files = {f"fasttorch/lib/{n}": p for n, p in World.cudnn_files(old, s.cuda).items()}
    s.w.wheel(s.site, "fasttorch", "1.0.57", {**files, "fasttorch/__init__.py": (
        "import ctypes, os\n_lib = os.path.join(os.path.dirname(__file__), 'lib')\n"
        f"ctypes.CDLL(os.path.join(_lib, '{s.facade}'), mode=ctypes.RTLD_GLOBAL)\n").encode()})
    run = [f"import {m}", f"status = {m}.run(sys.argv[1:])"]
    lines = ["import fasttorch", *run] if s.w.faulty else [*run, "import fasttorch"]
    s.w.write(s.script, "\n".join(["import sys", *lines, "sys.exit(status)", ""]))
    if not s.w.faulty:
        return None
    return truth("older-import-first", (old, "fasttorch"), "libcudnn",
                 f"fasttorch has loaded its own {s.facade}, {old}",
                 f"{m} asks for {s.facade} and gets it", "it refuses it")


@kind("releases", WITH_CACHE, weight=8, printed=True, place=("toolkit", "system", "conda", "container"), host=PROGRAMS,
      versions=BEFORE_THE_LAST, demand=False)
def installed_after_the_framework(s):
    """tf-faster-rcnn#436, tensorflow#3922, SSD-Tensorflow#340, pytorch#17009, CMPC-Refseg#2, CenterNet#119, aster#19,
    LeoCHANGcn#1: an old framework wants the release that it was built with, and a newer one is installed."""
    before_calls(s, f"verify:exact:{stock.number(s.version)}")
    if not s.w.faulty:
        return None
    new = newer(s)
    whole(s, new)
    return truth("newer-installed", new, "libcudnn", f"{new} is installed", f"the program wants {s.version} exactly",
                 "it refuses it")


@kind("releases", place=("venv", "container"), host=("package",), framework=("torch", "visionkit"), demand=True,
      older=1)
def environment_not_activated(s):
    """neural-style#26: python is that of another environment, whose cuDNN is another."""
    w, base, old = s.w, "/opt/tf-old", s.older()
    site = w.venv(base)
    for wheel in (*World.cuda_wheels(s.cuda), World.cudnn_wheel(old, s.cuda)):
        w.wheel(site, *wheel)
    files, requires = w.index[s.dist][s.dist_version]
    w.wheel(site, s.dist, s.dist_version, files, requires)
    if not w.faulty:
        return None
    w.env["PATH"] = w.env["PATH"].replace(f"{s.prefix}/bin", f"{base}/bin")
    del w.env["VIRTUAL_ENV"]
    return truth("older-pinned", (old, base), "libcudnn", f"{s.prefix} is not activated", f"{base} has {old}",
                 "the framework refuses it")


@kind("releases", printed=True, place=("conda",), host=("named",), demand=True, older=1)
def usual_directory_before_the_environment(s):
    """Paddle#33208: a framework looks into /usr/local/cuda first; the environment has the release that it wants."""
    directory, old = "/usr/local/cuda/lib64", s.older()
    s.steps = [f"name={directory}/{s.facade},{s.facade}" if p.startswith("name=") else p for p in s.steps]
    if not s.w.faulty:
        return None
    s.w.copy_of_cudnn(directory, old, s.cuda)
    return truth("older-in-front", (directory, old), "libcudnn", f"{directory} has {old}",
                 f"the framework looks there before {s.lib}", "it refuses it")


@kind("releases", USUAL, weight=2, place=("conda",), host=("linked",), era=(9,), cuda=("12",), demand=False,
      versions=UNTIL_9_19[1:5], binary={"imports": "cudnnBackendPopulateCudaGraph", "built": "9.8.0"})
def forgotten_package_of_the_environment(s):
    """pytorch#3834, #3567: built with the system's cuDNN, and the environment has an older one that somebody forgot."""
    toolkit = f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}/lib64"
    s.w.copy_of_cudnn(toolkit, s.version, s.cuda)
    s.w.write("/etc/ld.so.conf.d/cuda.conf", f"{toolkit}\n")
    s.w.system_changed = True
    s.steps = [*s.steps[:-1], "extra", *s.steps[-1:]]
    if not s.w.faulty:
        without_cudnn(s)
        return None
    whole(s, "9.1.0")
    return truth("older-without-function", ("cudnnBackendPopulateCudaGraph", "9.1.0"), "libcudnn",
                 f"{s.prefix} has the package cudnn 9.1.0", f"the program was built with {s.version}, in {toolkit}",
                 "it calls a function that 9.1.0 has not")


@kind("releases", USUAL, printed=True, place=("toolkit", "modules"), host=("ctypes",), search=("llp",), era=(7, 9),
      demand=True, older=1)
def looks_into_the_cache_before_the_variable(s):
    """TransformerEngine#2373: a package finds cuDNN by ldconfig -p, and does not look into LD_LIBRARY_PATH."""
    text = s.w.read(s.script).decode().replace("cudnn = None\n", (
        "import re\nimport subprocess\n\nsaid = subprocess.run(['/usr/sbin/ldconfig', '-p'], capture_output=True, "
        f"text=True).stdout\nfound = re.search(r'=> (\\S*/libcudnn\\.so\\.{s.era})$', said, re.M)\ncudnn = None\n"))
    s.w.write(s.script, text.replace("cudnn = ctypes.CDLL(step[5:])",
                                     "cudnn = ctypes.CDLL(found[1] if found else step[5:])"))
    if not s.w.faulty:
        return None
    old = s.older()
    s.w.debs(old, s.cuda, World.cudnn_files(old, s.cuda))
    return truth("older-in-front", (old, f"{SYSTEM}/{s.facade}"), "libcudnn", f"the loader's cache has {old}",
                 f"LD_LIBRARY_PATH leads to {s.version}, and the script does not look there", "it refuses it")


# ---- sets: parts of one release, and of another -------------------------------------------------------------------

GENERIC = "_Z22cudnnGenericOpTensorNdILi2EE13cudnnStatus_tP12cudnnContext16cudnnGenericOp_t"


@kind("sets", weight=6, place=("venv", "conda"), host=("package", "linked", "named"), search=("runpath",), era=(8,),
      cuda=("11",), demand=False, options=("--internal", f"ops_infer={GENERIC}", "--imports", f"cnn_infer={GENERIC}"))
def toolkit_meets_the_wheel(s):
    """pytorch#119989, wetts#177, cog#1430, dlib#2719, Depth-Anything-V2#54, nvidia-container-toolkit#224: a part of the
    framework's own needs another, and that comes from the toolkit in LD_LIBRARY_PATH."""
    before_calls(s, f"open:{s.lib}/{s.part_name('cnn_infer')}")
    s.llp = [s.lib, *s.llp]
    other = s.other()
    directory = s.w.rng.choice(("/usr/local/cuda/lib64", "/usr/local/cuda-11.0/lib64"))
    s.w.copy_of_cudnn(directory, other, s.cuda)
    if not s.w.faulty:
        return None
    in_front(s, directory)
    return truth("two-sets-mixed", (directory, other), ("libcudnn_cnn_infer", "libcudnn_ops_infer"),
                 f"LD_LIBRARY_PATH begins with {directory}, which has {other}",
                 f"{s.part_name('cnn_infer')} is of {s.version} and gets that {s.part_name('ops_infer')}",
                 "a symbol is missing")


@kind("sets", weight=2, place=("venv", "conda"), host=("package", "linked"), search=("rpath",), framework=("torch",
      "visionkit"), era=(9,), versions=UNTIL_9_19, demand=True, older=1)
def older_parts_under_a_newer_facade(s):
    """MinerU#2664, colabtools#5079: the framework gets its own facade, and that gets the parts of the toolkit in
    LD_LIBRARY_PATH."""
    old = s.older()
    s.w.copy_of_cudnn("/usr/local/cuda/lib64", old, s.cuda)
    if not s.w.faulty:
        return None
    in_front(s, "/usr/local/cuda/lib64")
    return truth("parts-under-a-facade", ("/usr/local/cuda/lib64", old), "libcudnn_graph",
                 f"LD_LIBRARY_PATH has /usr/local/cuda/lib64, which has {old}",
                 "the framework's search path comes before it, the facade's comes after it", "parts are older")


@kind("sets", WITH_CACHE, weight=4, place=("venv", "container"), host=("package",), era=(9,), demand=False,
      framework=("torch", "visionkit", "lensflow"))
def hole_in_the_wheel(s):
    """pytorch#188892, #185512, #189043, koharu#694: what was brought lacks one of its parts; the system has that of
    another release."""
    w, part = s.w, s.part_name("engines_precompiled")
    other = s.other()
    w.debs(other, s.cuda, World.cudnn_files(other, s.cuda))
    if not w.faulty:
        return None
    uninstall(s, s.package)
    name, full, files, requires = World.cudnn_wheel(s.version, s.cuda)
    del files[f"nvidia/cudnn/lib/{part}"]
    w.wheel(s.site, name, full, files, requires, own=True)
    return truth("hole-filled-by-system", (part, other), ("libcudnn_engines_precompiled",), f"{name} has no {part}",
                 f"the system's is taken, of {other}", "cuDNN refuses it")


@kind("sets", USUAL, weight=3, place=("venv", "conda", "toolkit"), host=("package", "linked", "named"),
      search=("runpath",), era=(8,))
def part_that_finds_no_other(s):
    """ComputeCanada/software-stack#88, nixpkgs#113105, cupy#5327: parts of 8 have no search path; one is opened before
    those that it needs."""
    names = [s.part_name(p) for p in ("ops_infer", "ops_train", "cnn_infer", "cnn_train")]
    at = s.steps.index("create") + 1
    s.steps[at:at] = [f"open:{s.lib}/{n}" for n in (names[3:] if s.w.faulty else names)]
    if not s.w.faulty:
        return None
    return truth("part-without-path", names[:3], [n.split(".")[0] for n in names], f"{names[3]} is opened by its path",
                 f"it needs {names[1]}, beside it", "it has no search path")


HOOK = """
#define _GNU_SOURCE
#include <dlfcn.h>
void *dlopen(const char *name, int flags) {
    static void *(*real)(const char *, int);
    if (!real)
        real = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    void *volatile handle = real(name, flags);
    return handle;
}
"""


@kind("sets", USUAL, place=("venv", "toolkit", "conda"), host=("package", "linked", "named"), search=("runpath",),
      era=(8, 9))
def profiler_opens_for_the_facade(s):
    """memray#212: a profiler stands before dlopen; the loader heeds its search path in place of the facade's, and parts
    are not found."""
    hook = f"{s.home}/tools/memray/_inject.so"
    s.w.put(library("_inject.so", HOOK, "-ldl"), hook)
    launched(s, preloading(hook) if s.w.faulty else "export MEMRAY=0")
    if not s.w.faulty:
        return None
    return truth("part-without-path", (hook, *s.parts), "libcudnn",
                 f"LD_PRELOAD has {hook}, which calls dlopen in turn",
                 "the facade's search path is not heeded", "its parts are not found")


# ---- beside-it: CUDA, the driver, and packages that do without ------------------------------------------------------

@kind("beside-it", USUAL, weight=8, place=("venv", "conda", "system", "container", "toolkit"), era=(8,),
      options=("--probes", "cnn_infer=libcuda.so"))
def driver_without_its_plain_name(s):
    """SadTalker#323, tensorflow/hub#884, nougat#105, WSL#8587, yolov10#395, pytorch#85773, seamless_communication#167,
    herro#4: a part asks for libcuda.so, and there is libcuda.so.1 alone, as in WSL."""
    directory = SYSTEM
    if s.w.rng.random() < 0.5:
        directory = "/usr/lib/wsl/lib"
        take_driver_away(s, kernel=False)
        s.driver(release="580.82.07", directory=directory)
        s.w.write("/etc/ld.so.conf.d/ld.wsl.conf", f"{directory}\n")
    s.w.system_changed = True
    if not s.w.faulty:
        s.w.link(f"{directory}/libcuda.so", "libcuda.so.1")
        return None
    return truth("driver-without-plain-name", "libcuda.so", "libcuda", f"{directory} has libcuda.so.1",
                 f"{s.part_name('cnn_infer')} asks for libcuda.so", "the facade takes that for a failure")


@kind("beside-it", USUAL, place=("toolkit", "system", "container", "modules"), host=("named",))
def program_asks_for_the_driver_by_its_plain_name(s):
    """candle#2175: the program itself opens libcuda.so."""
    s.before_steps = ["open:libcuda.so", *s.before_steps]
    s.w.system_changed = True
    if not s.w.faulty:
        s.w.link(f"{SYSTEM}/libcuda.so", "libcuda.so.1")
        return None
    return truth("driver-without-plain-name", "libcuda.so", "libcuda", f"{SYSTEM} has libcuda.so.1",
                 "the program asks for libcuda.so")


@kind("beside-it", USUAL, weight=4, place=("toolkit", "system", "container", "venv"), era=(8,), host=PROGRAMS,
      search=("cache", "llp"), options=("--probes", "cnn_infer=libnvrtc.so"))
def nvrtc_with_its_number_alone(s):
    """facefusion-docker#8, #9, pytorch#99451, jax#29462: a part asks for libnvrtc.so, and there is one with a
    number."""
    name = stock.companion_names(s.cuda)["nvrtc"]
    directory = next(d for d in s.cuda_dirs if s.w.exists(f"{d}/{name}"))
    plain = f"{directory}/libnvrtc.so"
    if s.owner == "wheel" and not s.w.faulty:
        s.w.link(plain, name)
    if not s.w.faulty:
        return None
    if s.owner != "wheel":
        s.w.remove(plain)
        s.w.system_changed = s.w.system_changed or s.search == "cache"
    return truth("cuda-without-plain-name", "libnvrtc.so", "libnvrtc", f"{directory} has {name}",
                 f"{s.part_name('cnn_infer')} asks for libnvrtc.so", "the facade takes that for a failure")


@kind("beside-it", USUAL, place=("toolkit", "modules"), host=PROGRAMS, search=("llp",), era=(8, 9), versions=("8.2.1",
      "8.5.0", "8.6.0", "8.9.2", "8.9.7", *UNTIL_9_19), options=("--asks", "libnvrtc.so:nvrtcGetCUBIN"))
def clusters_old_nvrtc_in_front(s):
    """dorado#166: the cluster's LD_LIBRARY_PATH begins with an old CUDA, whose libnvrtc lacks a function."""
    text = "int nvrtcVersion(void) { return 0; }\n"
    s.w.put(library("libnvrtc.so", text + "int nvrtcGetCUBIN(void) { return 0; }\n"), f"{s.cuda_dirs[0]}/libnvrtc.so")
    directory = "/usr/local/Cluster-Apps/cuda/8.0/lib64"
    s.w.put(library("libnvrtc.so", text), f"{directory}/libnvrtc.so")
    if not s.w.faulty:
        return None
    in_front(s, directory)
    return truth("older-cuda-in-front", (directory, "nvrtcGetCUBIN"), "libnvrtc",
                 f"LD_LIBRARY_PATH begins with {directory}", "its libnvrtc.so has no nvrtcGetCUBIN",
                 "cuDNN ends the process")


@kind("beside-it", USUAL, weight=2, place=("system", "container", "toolkit", "modules"), host=("named",), era=(8, 9))
def cublas_that_cudnn_needs_is_not_there(s):
    """nvidia-container-toolkit#254, nixpkgs#236070: cuDNN is there, and the cuBLAS that it wants is not."""
    names = [stock.companion_names(s.cuda)[w] for w in ("cublas", "cublasLt")]
    s.steps = [p for p in s.steps if p not in [f"open:{n}" for n in names]]
    if not s.w.faulty:
        return None
    what = "cublas" if s.era == 8 else "cublasLt"
    name = lose_companion(s, what)
    return truth("cuda-not-there", name, "lib" + what, f"{name} is not installed", "cuDNN needs it")


@kind("beside-it", WITH_CACHE, weight=2, place=("toolkit", "system", "conda"), host=PROGRAMS, era=(8, 9),
      versions=("8.9.2", "8.9.7", "9.1.0", "9.13.0", "9.19.0", "9.26.0"))
def cudnn_of_another_cuda(s):
    """dlib#457, cudarc#113: the cuDNN that is found is the one for another CUDA."""
    if not s.w.faulty:
        return None
    other = next(c for c in stock.RELEASES[s.version][1] if c != s.cuda)
    whole(s, s.version, other)
    names = stock.companion_names(other)
    return truth("cudnn-of-other-cuda", (names["cublas"], names["cublasLt"], f"CUDA {other}"),
                 ("libcublas", "libcublasLt", "libcudnn"), f"cuDNN {s.version} is the one for CUDA {other}",
                 f"the program has CUDA {s.cuda}")


@kind("beside-it", (*USUAL, "toolkit"), weight=3, place=("toolkit", "system", "conda", "venv", "modules"))
def driver_older_than_the_toolkit(s):
    """QANet#5, py-faster-rcnn#667, DIGITS#356: CUDA was installed anew, and the driver is that of before."""
    if not s.w.faulty:
        return None
    release = {"10": "390.77", "11": "418.87.00", "12": "470.57.02", "13": "550.54.15"}[s.cuda]
    take_driver_away(s)
    s.driver(release=release, state=35)
    return truth("too-old-driver", (release, f"CUDA {s.cuda}"), "libcuda", f"the driver is {release}",
                 f"CUDA {s.cuda} wants a newer one", "cudnnCreate fails")


@kind("beside-it", (*USUAL, "toolkit"), weight=4, place=("container",))
def container_started_without_the_driver(s):
    """panda-autograsp#150, apptainer/singularity#5935, acs-engine#385, tensorflow#45882: the container was started
    without --nv, or without NVIDIA's runtime."""
    if not s.w.faulty:
        return None
    take_driver_away(s)
    return truth("no-driver-at-all", ("libcuda", "driver"), "libcuda", "the driver is not in the container",
                 "cudnnCreate fails")


@kind("beside-it", (*USUAL, "toolkit"), weight=2, place=("venv", "container", "toolkit", "modules"))
def driver_in_a_place_of_the_distribution(s):
    """nixpkgs#65515, #366109: the driver lies in /run/opengl-driver/lib, where the loader does not look."""
    directory = "/run/opengl-driver/lib"
    take_driver_away(s, kernel=False)
    s.driver(release="580.82.07", directory=directory)
    if not s.w.faulty:
        in_front(s, directory)
        return None
    return truth("no-driver-at-all", (directory, "libcuda"), "libcuda", f"libcuda.so.1 lies in {directory}",
                 "the loader does not look there", "cudnnCreate fails")


@kind("beside-it", (*USUAL, "toolkit"), place=("toolkit", "container", "modules"), host=("linked", "named", "ctypes"))
def stubs_of_the_toolkit_in_front(s):
    """tensorflow/serving#646: LD_LIBRARY_PATH begins with the toolkit's stubs, and somebody gave its libcuda the name
    that programs ask for."""
    directory = f"{s.cuda_dirs[0]}/stubs"
    s.w.put(stock.driver("CUDA", 34), f"{directory}/libcuda.so")
    s.w.link(f"{directory}/libcuda.so.1", f"{directory}/libcuda.so")
    if not s.w.faulty:
        return None
    in_front(s, directory)
    return truth("driver-answers-nothing", (directory, "stub"), "libcuda", f"LD_LIBRARY_PATH begins with {directory}",
                 "its libcuda.so.1 is the one to link with", "cudnnCreate fails")


@kind("beside-it", USUAL, place=("toolkit", "modules"), host=("linked", "named", "ctypes"), search=("llp", "runpath"))
def copy_was_cut_short(s):
    """CNTK#2213: a copy of cuDNN's file broke off: it is too short to be a library."""
    if not s.w.faulty:
        return None
    s.w.write(s.file(s.facade), b"\x7fELF\2\1\1\0")
    return truth("truncated", s.facade, "libcudnn", f"{s.file(s.facade)} has 8 bytes", "it cannot be loaded")


@kind("beside-it", ("harmless", "wrapper", "toolkit"), weight=4, place=("venv", "container"), host=("package",),
      framework=("visionkit",), demand=False)
def package_for_the_processor(s):
    """g2pW-Cantonese#1, onnxruntime#23736, kokoro-tts#59, pykeio/ort#281: onnxruntime was installed in place of
    onnxruntime-gpu, or over it."""
    w, over = s.w, s.w.rng.random() < 0.5
    core, cuda = "onnxruntime/capi/onnxruntime_pybind11_state.so", "onnxruntime/capi/libonnxruntime_providers_cuda.so"
    here = os.path.dirname(f"{s.site}/{cuda}")
    path = ":".join("$ORIGIN/" + os.path.relpath(d, here) for d in (s.lib, *s.cuda_dirs))
    bridge = library("onnxruntime_pybind11_state.so", "int ort;\n")
    init = ("import ctypes, os\n_capi = os.path.join(os.path.dirname(__file__), 'capi')\n"
            "ctypes.CDLL(os.path.join(_capi, 'onnxruntime_pybind11_state.so'))\n\n\ndef run(steps):\n")
    gpu = {core: bridge, cuda: stock.set_path(stock.host(s.era, s.cuda, False).read_bytes(), s.search, path),
           "onnxruntime/__init__.py": (
               init + "    words = [b'host', *(s.encode() for s in steps)]\n"
               "    cuda = ctypes.CDLL(os.path.join(_capi, 'libonnxruntime_providers_cuda.so'))\n"
               "    return cuda.host_run(len(words), (ctypes.c_char_p * len(words))(*words))\n").encode()}
    cpu = {core: bridge, "onnxruntime/__init__.py": (
        init + "    print(\"providers ['AzureExecutionProvider', 'CPUExecutionProvider']\")\n    return 0\n").encode()}
    if over or not w.faulty:
        w.wheel(s.site, "onnxruntime-gpu", "1.19.0", gpu)
    w.write(s.script, "import sys\nimport onnxruntime\nsys.exit(onnxruntime.run(sys.argv[1:]))\n")
    s.steps = s.calls()
    if not w.faulty:
        return None
    w.wheel(s.site, "onnxruntime", "1.19.0", cpu)
    return truth("cpu-package", "onnxruntime", ("onnxruntime_pybind11_state", "libonnxruntime_providers_cuda"),
                 "onnxruntime is the build for the processor", "it never asks for cuDNN")
