# SPDX-License-Identifier: Apache-2.0
"""Still more kinds of fault, of the routes by which the loader comes to a file, of what installations and upgrades leave
behind, of the CUDA beneath cuDNN, and of several in one process. Each names the thread where it happened. As in
kinds.py, both twins share what stands before `if not s.w.faulty: return None`."""
import json
import os
import shutil

import stock
from kinds import ALONE, HIDES_ABSENCE, LABELS, kind, lose, truth, uninstall, whole
from kinds_by_hand import companions
from kinds_of_machines import WITHOUT_CACHE
from scene import SYSTEM
from world import World

LABELS.update({
    "plugin-finds-none": {"library-not-found", "dependency-missing"},
    "older-behind-a-name": {"runtime-too-old", "shadowed-copy", "wrong-name"},
    "package-of-nothing": {"library-not-found", "installation-incomplete"},
    "package-lost-and-older-taken": {"installation-incomplete", "runtime-too-old"},
    "of-the-next-cuda": {"cuda-dependency-differs", "dependency-missing", "cuda-major-differs"},
    "plain-name-of-cuda": {"cuda-dependency-differs", "dependency-missing", "wrong-name"},
    "other-cuda-by-plain-name": {"cuda-dependency-differs", "cuda-major-differs"},
    "brought-by-an-import": {"cuda-dependency-differs", "already-loaded-by-soname"},
    "part-loaded-before": {"facade-and-parts-differ", "parts-differ", "part-from-other-installation",
                           "already-loaded-by-soname"},
    "next-major-taken": {"major-differs", "missing-symbols", "runtime-too-new"},
})

WITHOUT_SECOND = ("harmless", "late", "blame", "workers", "wrapper", "no-cache")

# ---- helpers --------------------------------------------------------------------------------------------


def program(s, tag, path):
    """The scene's program anew, with that search path under that tag."""
    linked = (s.era, s.cuda if s.era > 7 else None) if s.linked else (None, None)
    s.w.write(s.host_file, stock.set_path(stock.host(*linked).read_bytes(), tag, path), 0o755)


def cudnn_in(s, directory):
    return [n for n in s.w.names(directory) if n.startswith("libcudnn")]


def exported(s):
    """What a job's script sets is what the scene has."""
    if s.place == "modules":
        s.wrapper_lines[0] = f"export LD_LIBRARY_PATH={':'.join(s.llp)}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"


def imported(s, name, first):
    """The script imports that package, too: before or after its own."""
    names = [name, s.module_name] if first else [s.module_name, name]
    s.w.write(s.script, "import sys\n" + "".join(f"import {n}\n" for n in names)
              + f"sys.exit({s.module_name}.run(sys.argv[1:]))\n")


# ---- route: where the loader is told to look, and where it does ------------------------------------------------

@kind("route", ALONE, place=("toolkit", "modules"), host=("linked", "named"), search=("llp",), era=(7, 9), demand=True,
      older=1)
def rpath_beats_the_variable(s):
    """Paddle#34987, pytorch/builder#1150: LD_LIBRARY_PATH is set to the right one, and the program has the directory of
    an older one as DT_RPATH, which comes before the variable; DT_RUNPATH comes behind it. (A facade of 8 would take its
    parts by the variable.)"""
    old, first = s.older(), s.w.rng.choice(("/opt/vision/thirdparty/cudnn/lib", "/home/ci/deps/cudnn/lib64"))
    s.w.copy_of_cudnn(first, old, s.cuda)
    program(s, "rpath" if s.w.faulty else "runpath", first)
    if not s.w.faulty:
        return None
    return truth("older-first-unsaid", (first, old), "libcudnn", f"the program's DT_RPATH is {first}, which has {old}",
                 f"LD_LIBRARY_PATH has {s.version} and comes behind it", "the host refuses it")


@kind("route", WITHOUT_SECOND, place=("venv", "conda"), host=("named",), search=("runpath",))
def runpath_is_not_inherited(s):
    """Paddle#78285, spack-packages#3399: a plugin without a search path is linked with cuDNN and lives on that of the
    program, which was linked anew: DT_RPATH counts for those whom it loads, DT_RUNPATH does not."""
    plugin = s.w.rng.choice(("/opt/vision/plugins/libvision_conv.so", f"{s.home}/work/plugins/libconv_op.so"))
    s.w.write(plugin, stock.set_path(stock.host(s.era, None, False).read_bytes(), "none", ""), 0o755)
    program(s, "runpath" if s.w.faulty else "rpath", s.search_path(s.host_file))
    s.before_steps = [*s.before_steps, f"open:{plugin}"]
    if not s.w.faulty:
        return None
    return truth("plugin-finds-none", (s.facade, plugin), "libcudnn", "the program's search path is a DT_RUNPATH",
                 f"it does not count for what {plugin} needs", f"{s.facade} is not found")


@kind("route", WITHOUT_CACHE, place=("toolkit",), host=("linked", "named", "unversioned", "ctypes"),
      search=("llp", "cache"))
def copied_beside_the_directory(s):
    """neural-style#154, cudnn.torch#293: cuDNN's archive has lib, or lib64 was copied as a whole into lib64: it lies
    next to the directory that is searched."""
    if not s.w.faulty:
        return None
    other = s.w.rng.choice((f"{s.lib}/lib64", f"{os.path.dirname(s.lib)}/lib"))
    s.w.at(other).mkdir()
    for name in cudnn_in(s, s.lib):
        s.w.at(f"{s.lib}/{name}").rename(s.w.at(f"{other}/{name}"))
    s.w.system_changed = s.w.system_changed or s.search == "cache"
    return truth("not-found", (s.asked, other), "libcudnn", f"cuDNN was copied to {other}", f"{s.lib} is searched",
                 f"{s.asked} is not found")


@kind("route", WITHOUT_CACHE, place=("toolkit",), host=("linked", "named", "unversioned", "ctypes"), search=("cache",))
def conf_file_not_written(s):
    """caffe#5550: `sudo echo DIRECTORY > /etc/ld.so.conf.d/cuda.conf` writes nothing, since the shell is not root's;
    ldconfig then makes a cache without that directory."""
    if not s.w.faulty:
        return None
    s.w.remove(f"/etc/ld.so.conf.d/cuda-{s.cuda}.conf")
    s.w.system_changed = True
    return truth("not-found-nor-cuda", (s.asked, *companions(s)), ("libcudnn", "libcudart"),
                 f"no file of /etc/ld.so.conf.d names {s.lib}", f"the cache has no {s.asked}", "it is not found")


@kind("route", ALONE, place=("conda",), host=("ctypes", "named", "package"), search=("llp", "runpath"), era=(8, 9),
      demand=True, older=1)
def conda_lib_before_the_wheel(s):
    """tensorflow/docs#2251, tensorflow#60750: a script of activate.d sets $CONDA_PREFIX/lib:$CUDNN_PATH/lib; conda's
    cuDNN is older than that of the wheel in the same environment."""
    old, wheel = s.older(), f"{s.site}/nvidia/cudnn/lib"
    whole(s, old)
    s.w.wheel(s.site, *World.cudnn_wheel(s.version, s.cuda))
    s.w.write(f"{s.prefix}/etc/conda/activate.d/env_vars.sh", "export LD_LIBRARY_PATH="
              f"$LD_LIBRARY_PATH:{'$CONDA_PREFIX/lib:' + wheel if s.w.faulty else wheel + ':$CONDA_PREFIX/lib'}\n")
    s.llp = [s.lib, wheel] if s.w.faulty else [wheel, s.lib]
    if not s.w.faulty:
        return None
    return truth("older-first-unsaid", (f"{s.lib}/libcudnn", old), "libcudnn",
                 f"LD_LIBRARY_PATH begins with {s.lib}, where conda's cudnn is {old}",
                 f"the wheel with {s.version} comes behind it", "the host refuses it")


@kind("route", ("harmless", "late", "blame", "workers"), place=("modules",), host=("linked",), search=("llp",))
def preload_names_what_is_gone(s):
    """dlib#2719, nvidia-docker#1162: a job's script preloads cuDNN by its path, which an upgrade of the module took
    away: the loader says that it is ignored, and the directory is not searched."""
    root = s.module.rsplit("/", 1)[0]
    s.llp = list(s.cuda_dirs)
    exported(s)
    path = f"{root}/{s.other()}-cuda-{s.cuda}/lib/{s.facade}" if s.w.faulty else f"{s.lib}/{s.facade}"
    s.wrapper_lines.append(f"export LD_PRELOAD=${{LD_PRELOAD:+$LD_PRELOAD:}}{path}")
    if not s.w.faulty:
        return None
    return truth("not-found", (s.facade, path, "LD_PRELOAD"), "libcudnn", f"LD_PRELOAD names {path}, which is gone",
                 f"{s.lib} is not searched", f"{s.facade} is not found")


# ---- upkeep: what installations and upgrades leave behind --------------------------------------------------------

@kind("upkeep", ("harmless", "blame", "workers", "wrapper"), printed=True, place=("toolkit", "modules"),
      host=("linked", "named", "ctypes"), search=("llp", "runpath"), demand=True, older=1)
def names_are_no_links(s):
    """tensorflow#4827, easybuild-easyconfigs#13771: `cp` made files of links ('is not a symbolic link'); a newer
    release was put beside them by its full name, and the short names are still files of the older one."""
    if not s.w.faulty:
        return None
    old = s.older()
    for name, source in World.cudnn_files(old, s.cuda).items():
        s.w.put(source, f"{s.lib}/{name}")
    return truth("older-behind-a-name", (old, f"{s.lib}/{s.facade}"), "libcudnn",
                 f"{s.lib}/{s.facade} is a file of {old}, no link to libcudnn.so.{s.version}", "the host refuses it")


@kind("upkeep", HIDES_ABSENCE, place=("toolkit", "modules"), era=(8, 9))
def facade_alone_was_copied(s):
    """nvidia-docker#152, #675: `libcudnn.so*` is unpacked or copied into an image, as was enough before 8: the parts
    have other names."""
    if not s.w.faulty:
        return None
    parts = s.parts
    for name in parts:
        lose(s, name)
    s.w.system_changed = s.w.system_changed or s.search == "cache"
    stems = tuple(n.split(".")[0] for n in parts)
    return truth("part-missing", stems, stems, "only libcudnn.so* was copied", "no part is there")


@kind("upkeep", HIDES_ABSENCE, place=("venv",), host=("package", "linked", "ctypes", "path"))
def placeholder_of_the_index(s):
    """long-form-factuality#12, ssvp_slt#5: of NVIDIA's packages the public index, or a mirror, has a placeholder alone,
    0.0.1.dev5, which has no libraries; the installer took that."""
    if not s.w.faulty:
        return None
    uninstall(s, s.package)
    name = s.package.replace("-", "_")
    s.w.wheel(s.site, s.package, "0.0.1.dev5", {f"{name}/__init__.py": b"# a placeholder\n"})
    return truth("package-of-nothing", (s.facade, s.package), "libcudnn", f"{s.package} 0.0.1.dev5 is a placeholder",
                 f"{s.facade} is not found")


@kind("upkeep", HIDES_ABSENCE, place=("venv",), host=("package", "linked", "ctypes", "path"))
def renamed_aside_by_pip(s):
    """pip#11849, Stable-Diffusion-WebUI-TensorRT#12: before pip uninstalls, it renames directories to ~ and
    the rest of their name; it was killed then."""
    if not s.w.faulty:
        return None
    w = s.w
    w.at(f"{s.site}/nvidia/cudnn").rename(w.at(f"{s.site}/nvidia/~udnn"))
    for name in w.names(s.site):
        if name.startswith("nvidia_cudnn") and name.endswith(".dist-info"):
            w.at(f"{s.site}/{name}").rename(w.at(f"{s.site}/~{name[1:]}"))
    return truth("package-of-nothing", (s.facade, s.package, "~udnn"), "libcudnn",
                 "nvidia/cudnn was renamed to nvidia/~udnn by a pip that was killed", f"{s.facade} is not found")


@kind("upkeep", ALONE, place=("venv",), host=("package",), framework=("torch", "visionkit"), era=(8, 9), demand=True,
      older=1)
def system_steps_in(s):
    """sglang#22719, colabtools#2329: a package's files are gone, and its entry is there; the loader goes on to the
    system, which has an older release."""
    old = s.older()
    s.w.debs(old, s.cuda, World.cudnn_files(old, s.cuda))
    if not s.w.faulty:
        return None
    for name in s.w.names(s.lib):
        s.w.remove(f"{s.lib}/{name}")
    return truth("package-lost-and-older-taken", (s.package, old, f"{SYSTEM}/libcudnn"), "libcudnn",
                 f"the files of {s.package} are gone", f"the loader finds {old} in {SYSTEM}", "the host refuses it")


# ---- beneath: the CUDA that cuDNN stands on ----------------------------------------------------------------------

@kind("beneath", WITHOUT_CACHE, place=("toolkit", "modules", "system"), era=(8, 9),
      host=("linked", "named", "unversioned", "ctypes"), search=("llp", "cache"))
def only_the_next_cuda(s):
    """ort#548, whisper-diarization#307, jetson-containers#164: CUDA was upgraded by a major, cuDNN and the host were
    not."""
    if not s.w.faulty:
        return None
    other = {"11": "12", "12": "13", "13": "12"}[s.cuda]
    for d in s.cuda_dirs:
        for name in s.w.names(d):
            if name.startswith(("libcudart", "libcublas", "libnvrtc")):
                s.w.remove(f"{d}/{name}")
        s.w.copy_of_cuda(d, other)
    s.w.system_changed = s.w.system_changed or s.search == "cache"
    return truth("of-the-next-cuda", (*companions(s), f"CUDA {s.cuda}"), ("libcudart", "libcublasLt"),
                 f"{s.cuda_dirs[0]} has CUDA {other}", f"cuDNN and the host are made for CUDA {s.cuda}",
                 "the first of its libraries is not found")


@kind("beneath", ("harmless", "blame", "workers"), place=("toolkit", "modules"), era=(8,), search=("llp", "cache"),
      host=("linked", "named", "ctypes"))
def nvrtc_without_its_plain_name(s):
    """sdnext#539, stable-diffusion-webui#10230, facefusion-docker#9: a part of cuDNN 8 opens libnvrtc.so, without a
    number; only packages for developers have that name."""
    whole(s, s.version, s.cuda, "--compiles", "libnvrtc.so")
    if not s.w.faulty:
        return None
    for d in s.cuda_dirs:
        s.w.remove(f"{d}/libnvrtc.so")
    s.w.system_changed = s.w.system_changed or s.search == "cache"
    return truth("plain-name-of-cuda", "libnvrtc.so", "libnvrtc",
                 f"{companions(s)[3]} is there, libnvrtc.so is not", "cuDNN asks for libnvrtc.so", "a call fails")


@kind("beneath", ("harmless", "blame", "workers"), place=("toolkit", "modules"), era=(8,), search=("llp",),
      host=("linked", "named", "ctypes"))
def nvrtc_of_an_old_module(s):
    """dorado#166: libnvrtc.so without a number is found in the module of an old CUDA, which has not the functions that
    cuDNN looks up."""
    whole(s, s.version, s.cuda, "--compiles", "libnvrtc.so")
    if not s.w.faulty:
        return None
    old = "libnvrtc.so.8.0"
    directory = s.w.rng.choice(("/usr/local/Cluster-Apps/cuda/8.0/lib64", "/usr/local/cuda-8.0/lib64"))
    made = stock._kept("nvrtc-of-8.0", lambda into: stock._compile(
        "companion.c", into / old, "-shared", "-fPIC", '-DNVRTC="libnvrtc-builtins.so.8.0"', f"-Wl,-soname,{old}",
        "-DnvrtcCompileProgram=nvrtcCompileProgram_8"))
    s.w.put(made / old, f"{directory}/libnvrtc.so.8.0.61")
    for name in (old, "libnvrtc.so"):
        s.w.link(f"{directory}/{name}", "libnvrtc.so.8.0.61")
    s.llp = [directory, *s.llp]
    exported(s)
    return truth("other-cuda-by-plain-name", (directory, old), "libnvrtc", f"LD_LIBRARY_PATH begins with {directory}",
                 "cuDNN asks for libnvrtc.so and gets that of CUDA 8.0", "a function is not in it")


@kind("beneath", ("harmless", "blame", "no-cache"), place=("venv",), host=("package",), era=(8, 9),
      framework=("torch", "visionkit"))
def import_brings_an_older_cublaslt(s):
    """pytorch#174320, CTranslate2#1806: a package with a libcublasLt of its own is imported first; cuDNN asks for that
    name, which is there already."""
    name = stock.companion_names(s.cuda)["cublasLt"]
    s.w.wheel(s.site, "imagekit", "3.1", {
        f"imagekit.libs/{name}": stock.companion("cublasLt", s.cuda, "-DWITHOUT_CREATE"),
        "imagekit/__init__.py": ("import ctypes, os\nctypes.CDLL(os.path.join(os.path.dirname(os.path.dirname("
                                 f"__file__)), 'imagekit.libs/{name}'))\n").encode()})
    imported(s, "imagekit", s.w.faulty)
    if not s.w.faulty:
        return None
    return truth("brought-by-an-import", ("imagekit", name), "libcublasLt", "imagekit is imported first",
                 f"its {name} is of an older release", "cuDNN finds no cublasLtCreate in it")


# ---- company: several in one process, workers, containers ------------------------------------------------------

@kind("company", ("harmless", "blame", "no-cache"), place=("venv",), host=("package",), linked=True, era=(8, 9),
      demand=True, older=1)
def download_of_another_package(s):
    """cupy#3731, tensorflow#37606: a package fetches a cuDNN into the user's home and opens it when it is imported; the
    framework was upgraded since, the download was not."""
    release = s.older() if s.w.faulty else s.version
    directory = f"{s.home}/.cupy/cuda_lib/{stock.TOOLKITS[s.cuda]}/cudnn/{release}/lib64"
    s.w.copy_of_cudnn(directory, release, s.cuda)
    s.w.wheel(s.site, f"arraykit-cuda{s.cuda}", "9.6.0", {
        "arraykit/_wheel.json": json.dumps({"cudnn": {"version": release, "filename": s.facade}}).encode(),
        "arraykit/__init__.py": (
            "import ctypes, json, os\nwith open(os.path.join(os.path.dirname(__file__), '_wheel.json')) as f:\n"
            "    _wanted = json.load(f)['cudnn']\nctypes.CDLL(os.path.join(os.path.expanduser('~/.cupy/cuda_lib/"
            f"{stock.TOOLKITS[s.cuda]}/cudnn'), _wanted['version'], 'lib64', _wanted['filename']))\n").encode()})
    imported(s, "arraykit", True)
    if not s.w.faulty:
        return None
    return truth("older-in-another-place", (directory, release, "arraykit"), "libcudnn",
                 f"arraykit is imported first and opens {release} in {directory}",
                 f"{s.facade} is satisfied by it", f"{s.module_name} refuses it")


@kind("company", ("harmless", "blame", "no-cache"), place=("venv",), host=("package", "linked", "named"), era=(9,),
      search=("runpath", "rpath"), versions=("9.1.0", "9.5.1", "9.8.0", "9.10.2", "9.13.0", "9.19.0"))
def extension_brings_a_part(s):
    """pyinstaller#8269, onnxruntime#23643: what was bundled has parts of another release, and is linked with one;
    cuDNN asks for its own, and the name is there already."""
    known, part = stock.releases(9, s.cuda), s.part_name("graph")
    other = s.w.rng.choice(known[known.index(s.version) + 1:])
    data = stock.host(None, None, False, extra_needs=(part,)).read_bytes()
    path = "$ORIGIN/../fusedattn.libs" if s.w.faulty else "$ORIGIN/../nvidia/cudnn/lib"
    s.w.wheel(s.site, "fusedattn", "2.3.0", {
        "fusedattn/__init__.py": b"\n", "fusedattn/_C.so": stock.set_path(data, "runpath", path),
        **{f"fusedattn.libs/{n}": p for n, p in World.cudnn_files(other, s.cuda).items() if n != s.facade}})
    s.before_steps = [*s.before_steps, f"open:{s.site}/fusedattn/_C.so"]
    if not s.w.faulty:
        return None
    return truth("part-loaded-before", ("libcudnn_graph", "fusedattn", other), ("libcudnn_graph", "libcudnn"),
                 f"fusedattn brings {part} of {other}", f"{s.facade} is of {s.version} and gets that part",
                 "cuDNN is a mixed set")


@kind("company", ("harmless", "blame", "wrapper"), place=("venv",), host=("package",), search=("runpath",),
      framework=("torch", "visionkit", "lensflow"), demand=True, older=1)
def worker_keeps_an_old_variable(s):
    """alpa#805, jupyter/notebook#5871: workers are started by a service, whose LD_LIBRARY_PATH is of a time before an
    upgrade, whatever the user's shell says."""
    old = s.older()
    directory, worker = f"/usr/local/cudnn-{old}/lib", f"{s.home}/work/worker.py"
    s.w.copy_of_cudnn(directory, old, s.cuda)
    s.w.write(worker, s.w.read(s.script))
    s.w.write(s.script, "import os\nimport subprocess\nimport sys\n"
              f"env = dict(os.environ, LD_LIBRARY_PATH={(directory if s.w.faulty else s.lib)!r})\n"
              f"sys.exit(subprocess.run([sys.executable, {worker!r}, *sys.argv[1:]], env=env).returncode)\n")
    if not s.w.faulty:
        return None
    return truth("older-first-unsaid", (directory, old), "libcudnn",
                 f"the workers' LD_LIBRARY_PATH is {directory}, which has {old}", "it comes before the host's own path",
                 "the host refuses it")


@kind("company", WITHOUT_CACHE, place=("toolkit", "modules"), host=("linked", "named", "ctypes", "path"))
def mount_hides_the_directory(s):
    """jetson-containers#164, #222: the computer's CUDA is mounted over the image's directory, and has no cuDNN: that of
    the image is beneath the mount."""
    source = s.w.root.with_name(f"{s.w.root.name}-computer-cuda")
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    if s.lib in s.cuda_dirs:
        for what, name in stock.companion_names(s.cuda).items():
            shutil.copy(stock.companion(what, s.cuda), source / name)
    if not s.w.faulty:
        return None
    s.w.stage.append(f"bind={source}:{s.lib}")
    return truth("not-found", (s.facade, s.lib), "libcudnn", f"a directory without cuDNN is mounted over {s.lib}",
                 f"{s.facade} is not found")


@kind("company", ("harmless",), place=("system",), host=("ctypes",), era=(8,), cuda=("12",), demand=False)
def find_library_takes_the_next_major(s):
    """cudnn.torch#75, Theano#5370: a binding asks for `cudnn` and no number (ctypes.util.find_library), and takes what
    the loader's cache names first; two majors are installed beside each other, and it knows the older."""
    function = "cudnnOpsInferVersionCheck"
    text = s.w.read(s.script).decode()
    s.w.write(s.script, text.replace("import ctypes\n", "import ctypes\nimport ctypes.util\n").replace(
        "cudnn = ctypes.CDLL(step[5:])",
        f"cudnn = ctypes.CDLL(ctypes.util.find_library('cudnn'))\n        cudnn.{function}"))
    if not s.w.faulty:
        return None
    new = s.w.rng.choice(stock.releases(9, s.cuda))
    s.w.debs(new, s.cuda, World.cudnn_files(new, s.cuda))
    return truth("next-major-taken", (function, new, "libcudnn.so.9"), "libcudnn",
                 f"cuDNN {new} was installed beside 8",
                 "the cache has libcudnn.so.9 in front of libcudnn.so.8", f"{function} is not in it")
