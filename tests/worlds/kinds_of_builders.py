# SPDX-License-Identifier: Apache-2.0
"""Kinds that are a sample of what people ask about who build programs themselves, or come from another language than
Python: OpenCV, Caffe, Darknet, libtorch, TensorRT, ONNX Runtime from C++, C# and Rust, Lua, Java, R, Julia, and what
Spack, Nix and distributions have built. Seventeen searches (fifteen among threads, two among pages), the first eight
answers of each as they came: 132, of which 41 tell a cause that can be played here. Four of these were met on Windows;
their cause is of no system, and it is played as it would be on Linux. Written by somebody who has not read the rules.
As in kinds_of_threads.py a kind's weight is how many threads it stands for, and both twins share what stands before
`if not s.w.faulty: return None`."""
import hashlib
import os
import subprocess

import stock
from kinds import HIDES_ABSENCE, LABELS, kind, truth, uninstall, whole
from kinds_by_hand import companions, rebuild
from kinds_of_machines import take_driver_away
from kinds_of_routes import cudnn_in
from kinds_of_starts import launched, library
from kinds_of_surroundings import from_the_system
from kinds_of_threads import (BEFORE_THE_LAST, USUAL, WITH_CACHE, before_calls, exports, goes_on, newer, next_major,
                              without_cudnn)
from scene import SYSTEM
from world import World

LABELS.update({
    "library-before-the-header": {"runtime-too-old"},
    "library-after-the-header": {"runtime-too-new"},
    "site-in-front-of-the-bundle": {"runtime-too-old", "shadowed-copy", "own-copy-unused"},
    "metadata-before-the-build": {"runtime-too-old"},
    "torch-in-front-of-the-toolkit": {"runtime-too-new", "shadowed-copy"},
    "cuda-and-no-cudnn": {"library-not-found", "dependency-missing", "gpu-stack-not-reached"},
    "next-to-the-one-asked-for": {"library-not-found", "major-differs", "dependency-missing"},
    "provider-of-the-next-major": {"library-not-found", "major-differs", "dependency-missing",
                                   "gpu-stack-not-reached"},
    "header-of-another-major": {"major-differs", "runtime-too-old"},
    "list-not-exported": {"library-not-found", "dependency-missing", "cuda-dependency-differs"},
    "copied-without-links": {"library-not-found", "wrong-name"},
    "prefix-not-exported": {"part-missing", "dependency-missing", "library-not-found"},
    "plain-driver-name": {"driver-missing", "dependency-missing", "cuda-dependency-differs", "library-not-found",
                          "wrong-name"},
    "driver-not-in-the-path": {"driver-missing", "dependency-missing", "cuda-dependency-differs",
                               "gpu-stack-not-reached"},
    "binding-without-driver": {"driver-missing", "dependency-missing", "gpu-stack-not-reached"},
    "linked-with-other-cuda": {"dependency-missing", "cuda-dependency-differs", "cuda-major-differs"},
    "archive-of-other-cuda": {"cuda-major-differs", "dependency-missing", "cuda-dependency-differs"},
    "runtime-for-the-processor": {"cpu-only-build", "gpu-stack-not-reached"},
})

OF_TWO_CUDAS = ("8.9.2", "8.9.7", "9.1.0", "9.13.0", "9.19.0", "9.26.0")

# ---- helpers --------------------------------------------------------------------------------------------

ORT = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As a program with onnxruntime in it: opens the runtime, and the provider for CUDA that lies beside it. */
static int without(const char *why) {
    fprintf(stderr, "An error occurred when attempting to register `CUDAExecutionProvider`: %s\\n", why);
    if (getenv("ORT_STRICT"))
        return 1;
    puts("CPUExecutionProvider");
    return 0;
}

int main(int argc, char **argv) {
    const char *path = getenv("ORT_DYLIB_PATH"), *slash = path ? strrchr(path, '/') : NULL;
    void *runtime = path ? dlopen(path, RTLD_NOW) : NULL;
    char provider[4096];
    if (!runtime)
        return fprintf(stderr, "%s\\n", path ? dlerror() : "ORT_DYLIB_PATH is not set"), 2;
    if (!dlsym(runtime, "OrtSessionOptionsAppendExecutionProvider_CUDA"))
        return without("CUDA execution provider is not enabled in this build.");
    snprintf(provider, sizeof provider, "%.*s/libonnxruntime_providers_cuda.so", (int)(slash - path), path);
    void *cuda = dlopen(provider, RTLD_NOW);
    int (*run)(int, char **) = cuda ? (int (*)(int, char **))dlsym(cuda, "host_run") : NULL;
    if (!run)
        return without(dlerror());
    puts("CUDAExecutionProvider");
    fflush(stdout);
    return run(argc, argv);
}
"""


def ort_program():
    def make(into):
        subprocess.run([stock.CC, "-std=gnu11", "-O1", "-o", str(into / "program"), "-x", "c", "-", "-ldl"], input=ORT,
                       text=True, check=True)
    return stock._kept(f"made-{hashlib.sha256(ORT.encode()).hexdigest()[:8]}", make) / "program"


def onnxruntime(s, directory, release, cuda=True, of=None):
    """The archive of a release, as it is unpacked for C, C# or Rust. of: the CUDA that its provider was built with."""
    text = "int OrtGetApiBase;\n" + ("int OrtSessionOptionsAppendExecutionProvider_CUDA;\n" if cuda else "")
    s.w.put(library("libonnxruntime.so.1", text), f"{directory}/libonnxruntime.so.{release}")
    s.w.link(f"{directory}/libonnxruntime.so.1", f"libonnxruntime.so.{release}")
    s.w.link(f"{directory}/libonnxruntime.so", "libonnxruntime.so.1")
    if cuda:
        provider = f"{directory}/libonnxruntime_providers_cuda.so"
        kept = s.search if s.search in ("rpath", "runpath") else "none"
        path = s.search_path(provider)
        s.w.put(stock.set_path(stock.host(s.era, of or s.cuda, False).read_bytes(), kept, path), provider)


def runs_onnxruntime(s, directory, release):
    """The scene's program is one with onnxruntime in it, which looks for cuDNN by its provider."""
    s.w.put(ort_program(), s.host_file)
    s.w.env["ORT_DYLIB_PATH"] = f"{directory}/libonnxruntime.so.{release}"
    if s.w.rng.random() < 0.4:
        s.w.env["ORT_STRICT"] = "1"
    s.steps = s.calls()


def bundled(s):
    """As the framework's wheels of that time, and libtorch: cuDNN and CUDA lie in its own directory."""
    w, here = s.w, f"{s.module_name}/lib"
    if s.owner == "wheel":
        uninstall(s, s.package)
        for wheel in World.cuda_wheels(s.cuda):
            uninstall(s, wheel[0])
    else:
        without_cudnn(s)
    names = stock.companion_names(s.cuda)
    files, _ = w.index[s.dist][s.dist_version]
    files = {**files, **{f"{here}/{n}": p for n, p in World.cudnn_files(s.version, s.cuda, *s.options).items()},
             **{f"{here}/{name}": stock.companion(what, s.cuda) for what, name in names.items()}}
    w.wheel(s.site, s.dist, s.dist_version, files, ())
    s.lib = f"{s.site}/{here}"
    s.cuda_dirs = [s.lib]
    rebuild(s, "$ORIGIN")


# ---- built-with-releases: the header that it was compiled with, and the library that it gets ----------------------

@kind("built-with-releases", WITH_CACHE, weight=3, printed=True, place=("toolkit", "container"), demand=True,
      host=("linked", "named", "unversioned"), older=1)
def library_is_of_before_the_header(s):
    """Detectron#574, colabtools#2329, whosebug.com/question/2129428: compiled against one minor on the machine of
    whoever built it; the server, or the image with its driver in /usr/lib64-nvidia, has the minor before."""
    if s.place == "container":
        directory = "/usr/lib64-nvidia"
        take_driver_away(s, kernel=False)
        s.driver(release="580.82.07", directory=directory)
        s.llp = [directory, *s.llp]
    if not s.w.faulty:
        return None
    old = s.older()
    whole(s, old)
    if s.place == "toolkit":
        s.w.header(f"{os.path.dirname(s.lib)}/include", old)
    return truth("library-before-the-header", (old,), "libcudnn", f"{old} is what is there",
                 f"the program was compiled with {s.version}", "it refuses it")


@kind("built-with-releases", WITH_CACHE, weight=3, printed=True, place=("venv", "conda"), host=("package",),
      framework=("visionkit", "lensflow"), versions=BEFORE_THE_LAST, demand=False)
def library_is_of_after_the_header(s):
    """SSD-Tensorflow#340, tf-faster-rcnn#436, CenterNet#119: an old framework accepts the minor alone with which it
    was compiled; what the system has, or what conda installed, is newer."""
    before_calls(s, f"verify:exact:{stock.number(s.version)}")
    version = newer(s) if s.w.faulty else s.version
    if s.place == "venv":
        from_the_system(s, version)
    elif s.w.faulty:
        whole(s, version)
    if not s.w.faulty:
        return None
    return truth("library-after-the-header", version, "libcudnn", f"{version} is what is there",
                 f"{s.dist} was compiled with {s.version}, and accepts no other", "it refuses it")


@kind("built-with-releases", weight=5, printed=True, place=("venv",), host=("package",), framework=("torch",),
      search=("runpath",), era=(8,), demand=True, older=1)
def site_stands_before_the_bundle(s):
    """pytorch#80637, #80877, #81881, functorch#926, kohya_ss#1096: the framework has cuDNN in its own lib, by a
    RUNPATH; the cluster's profile, or the desktop's, exports a directory with an older one, and that comes first."""
    bundled(s)
    old = s.older()
    toolkit = stock.TOOLKITS[s.cuda]
    directory = s.w.rng.choice((f"/public/apps/cudnn/v{old}-cuda.{toolkit}/cuda/lib64",
                                f"/usr/local/cuda-{toolkit}/lib64", "/usr/local/cuda/lib64"))
    s.w.copy_of_cudnn(directory, old, s.cuda)
    slurm = f"/public/slurm/20.11.8/lib:{s.home}/lib"
    line = f"export LD_LIBRARY_PATH={directory}:{slurm}" if s.w.faulty else f"export LD_LIBRARY_PATH={slurm}"
    for d in slurm.split(":"):
        s.w.at(d).mkdir(parents=True, exist_ok=True)
    s.w.write("/etc/profile.d/apps.sh", line + "\n")
    launched(s, ". /etc/profile.d/apps.sh")
    if not s.w.faulty:
        return None
    return truth("site-in-front-of-the-bundle", (directory, old), "libcudnn",
                 f"/etc/profile.d/apps.sh exports {directory}", f"its {s.facade} is {old}",
                 f"{s.dist} was compiled with {s.version}, which it has brought", "it refuses it")


@kind("built-with-releases", printed=True, place=("venv",), host=("package",), framework=("torch",), era=(8, 9),
      demand=True, older=1)
def metadata_of_before_the_build(s):
    """pytorch#104757: the framework was built with the next release already, and its wheel still requires the one
    before: pip has done what it was told."""
    if not s.w.faulty:
        return None
    old = s.older()
    files, requires = s.w.index[s.dist][s.dist_version]
    pinned = [f"{s.package}=={stock.wheel_version(old)}" if r.startswith(f"{s.package}==") else r for r in requires]
    s.w.wheel(s.site, s.dist, s.dist_version, files, pinned)
    whole(s, old)
    return truth("metadata-before-the-build", (old,), "libcudnn", f"{s.dist} requires {s.package} {old}",
                 f"it was compiled with {s.version}", "it refuses it")


@kind("built-with-releases", USUAL, printed=True, place=("toolkit",), host=("ctypes",), versions=BEFORE_THE_LAST,
      demand=False)
def torch_was_activated(s):
    """Theano#5581: Lua's torch has put a newer cuDNN into its own directory, and torch-activate puts that in front; the
    binding, which asks Python's ctypes, wants the number of its header."""
    w, directory = s.w, f"{s.home}/torch/install"
    new = newer(s)
    text = w.read(s.script).decode().split("\n")
    at = next(i for i, line in enumerate(text) if "if got // base" in line)
    text[at] = "        if got != built:"
    w.write(s.script, "\n".join(text))
    before_calls(s, f"verify:exact:{stock.number(s.version)}")
    w.write(f"{directory}/bin/torch-activate", "\n".join([
        f"export PATH={directory}/bin:$PATH",
        f"export LD_LIBRARY_PATH={directory}/lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}", ""]))
    w.put(library("libluajit.so", "int luajit;\n"), f"{directory}/lib/libluajit.so")
    launched(s, f". {directory}/bin/torch-activate")
    if not w.faulty:
        return None
    w.copy_of_cudnn(f"{directory}/lib", new, s.cuda)
    return truth("torch-in-front-of-the-toolkit", (f"{directory}/lib", new), "libcudnn",
                 f"torch-activate puts {directory}/lib in front", f"it has {new}",
                 f"the header is of {s.version}", "the binding refuses it")


# ---- built-with-majors: the one that it asks for, and the one that is there ---------------------------------------

@kind("built-with-majors", HIDES_ABSENCE, weight=3, place=("system",), host=("linked", "named"))
def cuda_by_apt_and_nothing_more(s):
    """darknet#1744, cudnn.torch#254, onnxruntime#19616: CUDA came by apt into the system's directory, which the
    variable names, too; cuDNN is another package, or another version than CUDA's, and nobody installed it."""
    s.w.copy_of_cuda(SYSTEM, s.cuda)
    s.w.system_changed = True
    s.llp = [f"{SYSTEM}/", "/usr/lib/", "/lib"]
    kind_of = s.w.rng.choice(("lua", "provider")) if s.host == "named" else "darknet"
    if kind_of == "lua":
        s.steps = [f"name={s.facade},libcudnn.{s.era}.dylib" if p.startswith("name=") else p for p in s.steps]
    elif kind_of == "provider":
        directory = f"{s.home}/onnxruntime-linux-x64-gpu-1.17.0/lib"
        onnxruntime(s, directory, "1.17.0")
        runs_onnxruntime(s, directory, "1.17.0")
    if not s.w.faulty:
        return None
    without_cudnn(s)
    return truth("cuda-and-no-cudnn", s.facade, ("libcudnn", "libonnxruntime_providers_cuda"), "apt brought CUDA alone",
                 f"{s.facade} is not found")


@kind("built-with-majors", USUAL, weight=3, place=("conda", "container", "toolkit"), host=("linked", "named"), era=(8,))
def eight_is_asked_for_and_nine_is_there(s):
    """tita_rl#2, dl-docker#33, onnxruntime#20223: TensorRT's plugin, a binding of Lua, a program with onnxruntime ask
    for the major that they were built with; the environment, the image, the toolkit has the next."""
    new = next_major(s)[0]
    if s.place == "conda":  # by its path, as `trtexec --plugins` does
        plugin = f"{s.prefix}/lib/libnvinfer_plugin.so.8"
        s.w.put(stock.set_path(stock.host(8, None, False).read_bytes(), "runpath", "$ORIGIN"), plugin)
        s.before_steps = [*s.before_steps, f"open:{plugin}"] if s.host == "named" else s.before_steps
    else:
        goes_on(s)
    if not s.w.faulty:
        return None
    whole(s, new, s.cuda)
    return truth("next-to-the-one-asked-for", (s.facade,), ("libcudnn", "libnvinfer_plugin"), f"cuDNN {new} is there",
                 f"what was built asks for {s.facade}", "it is not found")


@kind("built-with-majors", HIDES_ABSENCE, weight=3, place=("venv", "toolkit", "system"), host=("named",), era=(9,),
      cuda=("12",))
def provider_wants_the_next_major(s):
    """onnxruntime#22491, YoloSharp#74, HeyGem-Linux-Python-Hack#5: onnxruntime was upgraded (NuGet, pip) to the first
    that is built with 9; 8.9.7 is installed, and the release before it worked."""
    directory = s.w.rng.choice((f"{s.home}/work/bin/Release/net8.0/runtimes/linux-x64/native",
                                f"{s.home}/work/build/onnxruntime/lib"))
    release = s.w.rng.choice(("1.19.0", "1.19.2", "1.20.1"))
    onnxruntime(s, directory, release)
    runs_onnxruntime(s, directory, release)
    if not s.w.faulty:
        return None
    old = s.w.rng.choice(("8.9.2", "8.9.7"))
    whole(s, old, "12")
    return truth("provider-of-the-next-major", (s.facade,), ("libcudnn", "libonnxruntime_providers_cuda"),
                 f"cuDNN {old} is installed", f"libonnxruntime_providers_cuda.so needs {s.facade}",
                 "the provider is not loaded")


@kind("built-with-majors", USUAL, printed=True, place=("system",), host=("linked",), era=(9,), cuda=("12",),
      demand=True)
def header_of_one_and_library_of_another(s):
    """caffe_rtpose#9: two majors are installed; the compiler took the header in /usr/include, and the linker the
    library of the toolkit, which the Makefile names first."""
    old, toolkit = s.w.rng.choice(("8.9.2", "8.9.7")), f"/usr/local/cuda-{stock.TOOLKITS[s.cuda]}"
    s.w.copy_of_cudnn(f"{toolkit}/lib64", old, "12")
    s.w.header(f"{toolkit}/include", old)
    s.w.header("/usr/include", s.version)
    s.w.system_changed = True
    if not s.w.faulty:
        return None
    s.w.write(s.host_file, stock.set_path(stock.host(8, s.cuda).read_bytes(), "none", ""), 0o755)
    return truth("header-of-another-major", (old, "libcudnn.so.8"), "libcudnn",
                 f"{toolkit}/lib64 has libcudnn.so of {old}", "the program is linked with that",
                 f"it was compiled with the header of {s.version}", "it refuses what it is linked with")


# ---- built-with-paths: where it was when it was built, and where it is looked for ---------------------------------

@kind("built-with-paths", HIDES_ABSENCE, place=("venv", "conda"), host=("package",), framework=("visionkit",),
      demand=False)
def list_of_directories_not_exported(s):
    """tensorRT_Pro#171: a project keeps CUDA, cuDNN and TensorRT in its own tree and builds a module for Python; where
    they are stands in library_path.txt, which is to be put into LD_LIBRARY_PATH."""
    w, lean = s.w, s.w.rng.choice(("/datav/lean", f"{s.home}/projects/lean"))
    if s.owner == "wheel":
        uninstall(s, s.package)
        for wheel in World.cuda_wheels(s.cuda):
            uninstall(s, wheel[0])
    else:
        without_cudnn(s)
    s.lib, s.cuda_dirs = f"{lean}/cudnn-{s.version}/lib", [f"{lean}/cuda-{stock.TOOLKITS[s.cuda]}/lib64"]
    w.copy_of_cudnn(s.lib, s.version, s.cuda)
    w.copy_of_cuda(s.cuda_dirs[0], s.cuda)
    rebuild(s, "$ORIGIN")
    w.write(f"{s.home}/work/library_path.txt", f"{s.lib}:{s.cuda_dirs[0]}\n")
    if s.owner == "conda":  # nothing of CUDA is in the prefix
        for name in stock.companion_names(s.cuda).values():
            w.remove(f"{s.prefix}/lib/{name}")
        for entry in w.names(f"{s.prefix}/conda-meta"):
            if entry.startswith(("libcublas-", "cuda-cudart-", "cuda-nvrtc-")):
                w.remove(f"{s.prefix}/conda-meta/{entry}")
    if not w.faulty:
        s.llp = [s.lib, *s.cuda_dirs]
        return None
    return truth("list-not-exported", (s.facade, s.lib, *companions(s)), ("libcudnn", "libcudart", "libcublas"),
                 f"{s.facade} lies in {s.lib}", "LD_LIBRARY_PATH does not name it", f"{s.module_name} is not loaded")


@kind("built-with-paths", USUAL, place=("toolkit",), host=("linked",), era=(8,), search=("runpath", "llp"))
def copied_file_by_file(s):
    """tensorrtx#1028: the archive's files were copied into the toolkit, and its links were not: libcudnn.so.8.x.x is
    there, libcudnn.so.8 is not."""
    if not s.w.faulty:
        return None
    every = s.w.rng.random() < 0.5
    for name in cudnn_in(s, s.lib):
        if s.w.at(f"{s.lib}/{name}").is_symlink() and (every or name in (s.facade, "libcudnn.so")):
            s.w.remove(f"{s.lib}/{name}")
    return truth("copied-without-links", s.facade, "libcudnn", f"{s.lib} has libcudnn.so.{s.version}",
                 "the archive's links were not copied", f"{s.facade} is not found")


@kind("built-with-paths", USUAL, weight=4, place=("modules",), host=("linked",), era=(8,))
def module_without_the_prefix(s):
    """spack#51912, #36466, spack-packages#3399, nixpkgs#113105: what was built has a search path to cuDNN's prefix, its
    parts have none to each other. `spack load` exports the prefix, the module that it has written does not."""
    kept = s.search_path(s.host_file)
    s.w.write(s.host_file, stock.set_path(stock.host(8, s.cuda).read_bytes(), "runpath", kept), 0o755)
    names = [s.part_name(p) for p in ("ops_infer", "ops_train", "cnn_infer", "cnn_train")]
    at = s.steps.index("create") + 1
    s.steps[at:at] = [f"open:{s.lib}/{names[3]}"]
    if not s.w.faulty:
        return None
    exports(s, *s.cuda_dirs)
    return truth("prefix-not-exported", names, [n.split(".")[0] for n in names],
                 "the module does not export cuDNN's lib", f"{s.facade} is found by the program's search path",
                 f"{names[3]} needs {names[1]}, and has none")


@kind("built-with-paths", (*USUAL, "toolkit"), weight=3, place=("venv",), host=("package", "named"), search=("rpath",
      "runpath"))
def hook_took_the_drivers_path_out(s):
    """nixpkgs#65515, dream2nix#698, #675: on NixOS the driver lies in /run/opengl-driver/lib, which the framework's
    search path has to name; a library that the hook passes over, or patches once more, is without it."""
    directory = "/run/opengl-driver/lib"
    take_driver_away(s, kernel=False)
    s.driver(release="580.82.07", directory=directory)
    s.w.write("/etc/os-release", 'ID=nixos\nPRETTY_NAME="NixOS 23.11 (Tapir)"\n')
    path = s.search_path(s.host_file)
    s.linked = s.host == "package" and s.linked_framework
    goes = s.w.rng.random() < 0.5 and not s.linked
    s.before_steps = [*(["cpu"] if goes else []), "open:libcuda.so.1", *s.before_steps]
    rebuild(s, path if s.w.faulty else f"{path}:{directory}")
    if not s.w.faulty:
        return None
    return truth("driver-not-in-the-path", ("libcuda", directory), "libcuda", f"libcuda.so.1 lies in {directory}",
                 f"the search path of {s.host_file} does not name it", "it is not found")


# ---- built-with-cuda: CUDA and the driver, as they were where it was built ----------------------------------------

@kind("built-with-cuda", USUAL, weight=2, place=("toolkit", "modules"), host=("linked",), era=(8, 9),
      versions=OF_TWO_CUDAS)
def linked_with_a_cuda_that_is_gone(s):
    """spack#39134, onnxruntime#21049: the build found the system's CUDA, of another major, and linked with that; it was
    removed since. Or the archive is the one for the major before."""
    other = next(c for c in stock.RELEASES[s.version][1] if c != s.cuda)
    names = stock.companion_names(other)
    if not s.w.faulty:
        return None
    kept = s.search if s.search == "runpath" else "none"
    data = stock.host(s.era, other).read_bytes()
    s.w.write(s.host_file, stock.set_path(data, kept, s.search_path(s.host_file)), 0o755)
    if s.w.rng.random() < 0.5:  # what is left of it
        s.w.write(f"/usr/local/cuda-{stock.TOOLKITS[other]}/version.txt", f"CUDA Version {stock.FULL[other]}\n")
    return truth("linked-with-other-cuda", tuple(names[w] for w in ("cudart", "cublas", "cublasLt", "nvrtc")),
                 ("libcudart", "libcublas", "libcublasLt", "libnvrtc"), f"it is linked with CUDA {other}",
                 f"CUDA {s.cuda} alone is there", "the loader does not find that")


@kind("built-with-cuda", USUAL, weight=3, place=("toolkit",), host=("linked", "named"), search=("llp", "cache"),
      era=(8, 9), versions=OF_TWO_CUDAS)
def archive_for_another_cuda(s):
    """NVIDIA/caffe#237, terrapkg/packages#11766, darknet#8601: cuDNN's archive, or the distribution's package in
    /usr/lib64, was made for another major of CUDA than the one that is installed beside it."""
    w, other = s.w, next(c for c in stock.RELEASES[s.version][1] if c != s.cuda)
    if w.rng.random() < 0.5:  # as Fedora has it
        for name in cudnn_in(s, s.lib):
            w.remove(f"{s.lib}/{name}")
        w.write("/etc/ld.so.conf.d/lib64.conf", "/usr/lib64\n")
        w.write("/etc/os-release", 'ID=fedora\nPRETTY_NAME="Fedora Linux 43"\n')
        w.copy_of_cudnn("/usr/lib64", s.version, s.cuda)
        w.system_changed = True
        s.llp, s.lib = [d for d in s.llp if d != s.lib or d in s.cuda_dirs], "/usr/lib64"
    if not w.faulty:
        return None
    whole(s, s.version, other)
    w.system_changed = True
    names = stock.companion_names(other)
    return truth("archive-of-other-cuda", (names["cublas"], names["cublasLt"], f"CUDA {other}"),
                 ("libcublas", "libcublasLt", "libcudnn"), f"cuDNN {s.version} is the one for CUDA {other}",
                 f"CUDA {s.cuda} alone is there", "what it needs is not found")


@kind("built-with-cuda", USUAL, place=("conda",), host=("package",), framework=("torch",), era=(8,),
      options=("--probes", "cnn_infer=libcuda.so"))
def bundle_asks_for_the_drivers_plain_name(s):
    """mmdetection3d#2132: torch by pip in a conda environment, with cuDNN in its own lib: a part of it asks for
    libcuda.so, which comes with what one builds with; the computer has libcuda.so.1."""
    bundled(s)
    s.w.system_changed = True
    if not s.w.faulty:
        s.w.link(f"{SYSTEM}/libcuda.so", "libcuda.so.1")
        return None
    return truth("plain-driver-name", "libcuda.so", "libcuda", f"{SYSTEM} has libcuda.so.1 alone",
                 f"{s.part_name('cnn_infer')} asks for libcuda.so", "the facade takes that for a failure")


@kind("built-with-cuda", (*USUAL, "toolkit"), place=("toolkit", "container"), host=("named",))
def binding_of_java_skips_its_backend(s):
    """deeplearning4j#7982: JavaCPP unpacks libjnicudart.so into its cache; that is linked with libcuda.so.1, which this
    computer has not: the backend is skipped."""
    w = s.w
    cache = f"{s.home}/.javacpp/cache/cuda-platform-redist-linux-x86_64.jar/org/bytedeco/cuda/linux-x86_64"
    stub = ("libcuda.so.1", "int cuInit(unsigned flags) { return (int)flags; }\n")
    w.put(library("libjnicudart.so", "extern int cuInit(unsigned);\nint jni(void) { return cuInit(0); }\n",
                  beside=(stub,)), f"{cache}/libjnicudart.so")
    skips = ["cpu"] if w.rng.random() < 0.7 else []
    s.before_steps = [*skips, f"open:{cache}/libjnicudart.so", *s.before_steps]
    if not w.faulty:
        return None
    take_driver_away(s)
    return truth("binding-without-driver", ("libcuda", "driver"), ("libcuda", "libjnicudart"),
                 "there is no driver", "libjnicudart.so needs libcuda.so.1", "the backend is skipped")


@kind("built-with-cuda", ("harmless", "late", "wrapper", "toolkit"), weight=2, place=("toolkit", "system"),
      host=("named",), era=(8, 9), cuda=("11", "12"))
def crate_got_the_build_for_the_processor(s):
    """pykeio/ort#281, usls#57: the crate's features say cuda, and the libonnxruntime.so that it loads is of the archive
    for the processor: downloaded into its cache, or named by ORT_DYLIB_PATH."""
    release = s.w.rng.choice(("1.19.2", "1.20.1"))
    cached = s.w.rng.random() < 0.5
    hashed = "dfbin/x86_64-unknown-linux-gnu/C718EFE9677E093BCD986A27EBE83BDDD0DAFD69"
    base = f"{s.home}/.cache/ort.pyke.io/{hashed}" if cached else f"{s.home}/temp"
    gpu, cpu = (f"{base}/onnxruntime-linux-x64{flavour}-{release}/lib" for flavour in ("-gpu", ""))
    runs_onnxruntime(s, cpu if s.w.faulty else gpu, release)
    if not s.w.faulty or not cached:
        onnxruntime(s, gpu, release)
    if s.w.faulty or not cached:
        onnxruntime(s, cpu, release, cuda=False)
    if not s.w.faulty:
        return None
    return truth("runtime-for-the-processor", ("onnxruntime",), ("libonnxruntime", "libonnxruntime_providers_cuda"),
                 f"{cpu} has the build for the processor", "it has no provider for CUDA", "nothing asks for cuDNN")
