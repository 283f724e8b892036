# SPDX-License-Identifier: Apache-2.0
"""A situation: directories with cuDNN, a framework that wants one, an environment; all of it drawn
from a seed. A case builds it twice, with its fault and without (`faulty`)."""

import hashlib
import os
import pathlib
import random
import re
import shutil
import subprocess

from . import releases
from .releases import KEPT, ROOT, digest, libraries

HERE = pathlib.Path(__file__).resolve().parent
CC = os.environ.get("CC", "gcc")
NO_NAMES = b"no names: host.c, names_that_it_opens"
WITHOUT_DRIVER = ()
WITH_GPU = ("--create-status", "0")  # as if there were one: cudnnCreate succeeds

# What stands where in a framework's package: library, distribution, version, framework's check.
FRAMEWORKS = {
    "torch": ("torch/lib/libtorch_cuda.so", "torch", "2.{}.1", "torch"),
    "torch-old": ("torch/lib/libtorch.so", "torch", "0.4.{}", "torch-old"),
    "tensorflow-old": ("tensorflow/libtensorflow_framework.so", "tensorflow_gpu", "1.2.{}",
                       "tensorflow-old"),
    "tensorflow-1.6": ("tensorflow/libtensorflow_framework.so", "tensorflow_gpu", "1.9.{}", "xla"),
    "tensorflow": ("tensorflow/libtensorflow_framework.so.2", "tensorflow", "2.1{}.0", "xla"),
    "jax": ("jax_plugins/xla_cuda12/xla_cuda_plugin.so", "jax_cuda12_plugin", "0.4.3{}", "xla"),
    "paddle": ("paddle/libs/libphi.so", "paddlepaddle_gpu", "2.{}.0", "paddle"),
    "onnxruntime": ("onnxruntime/capi/libonnxruntime_providers_cuda.so", "onnxruntime_gpu",
                    "1.2{}.0", "xla"),
    "ctranslate2": ("ctranslate2.libs/libctranslate2.so", "ctranslate2", "4.7.{}", "xla"),
    "mxnet": ("mxnet/libmxnet.so", "mxnet_cu101", "1.5.{}", "mxnet"),
    "plain": ("libengine.so", "", "", ""),  # nobody's package
    "cupy": ("cupy_backends/cuda/libs/cudnn.so", "cupy_cuda12x", "13.{}.0", "xla"),
}
TEXTS = {  # where a framework writes the version that it was built with
    "tensorflow": ("tensorflow/python/platform/build_info.py",
                   "build_info = {{'cudnn_version': '{}'}}\n"),
    "paddle": ("paddle/version/__init__.py", "cudnn_version = '{}'\n"),
    "plain": ("libengine.so", "", "", ""),  # nobody's package
    "cupy": ("cupy/.data/_wheel.json", '{{"cudnn": "{}"}}\n'),
}


def place(source, target):
    """A copy: the loader would take two names of one file for one library."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    shutil.copy2(source, target)


def hashed(*what):
    return hashlib.sha256(repr(what).encode()).hexdigest()[:24]


def compiled(source, *flags):
    """An object file, kept."""
    text = (HERE / source).read_text()
    kept = KEPT / "objects" / f"{hashed(CC, flags, text)}.o"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        new = kept.with_suffix(f".{os.getpid()}")
        subprocess.run([CC, "-O1", "-w", "-fPIC", *flags, "-c", HERE / source, "-o", new],
                       check=True)
        new.rename(kept)
    return kept


def link(target, *words):
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([CC, "-o", target, *words], check=True)


NVML = """
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 1; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { *d = (void *)1; return 0; }
int nvmlDeviceGetName(void *d, char *s, unsigned n) { snprintf(s, n, "NAME"); return 0; }
int nvmlDeviceGetCudaComputeCapability(void *d, int *a, int *b) {
    *a = MAJOR; *b = MINOR; return 0;
}
"""
MODULE = """mount -t tmpfs none /proc/driver && mkdir /proc/driver/nvidia || exit 125
echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  $0  Fri Jan  1 00:00:00 UTC 2021" \
    >/proc/driver/nvidia/version
mount -t tmpfs none /mnt && cp -a /dev/{null,zero,full,random,urandom,tty,fd,std*} /mnt && mkdir /mnt/shm /mnt/pts &&
    : >/mnt/nvidia0 >/mnt/nvidiactl >/mnt/nvidia-uvm && mount --rbind /dev/shm /mnt/shm &&
    mount --rbind /dev/pts /mnt/pts && mount --move /mnt /dev || exit 125
exec "$@" """
NO_EXECUTION = """mount --bind "$0" "$0" && mount -o remount,bind,noexec "$0" || exit 125
exec "$@" """
# Root may enter what it likes, but for these.
CLOSED = """chmod 0 "$0"
[ "$(id -u)" -ne 0 ] || without=(setpriv --inh-caps=-dac_override,-dac_read_search
                                 --bounding-set=-dac_override,-dac_read_search)
"${without[@]}" "$@"
status=$?
chmod 755 "$0"
exit $status"""


class Host:
    """A framework's library in its package and what it is asked to do."""

    def __init__(self, world, kind, built, cuda, site, options):
        self.world, self.kind, self.built, self.cuda = world, kind, built, cuda
        self.options, self.words = options, []
        place_in_site, self.distribution, version, self.rule = FRAMEWORKS[kind]
        self.library = site / place_in_site
        self.version, self.site = version.format(world.rng.randint(0, 4)), site
        if kind == "ctranslate2" and built.major < 9:
            self.version = "2.24.0"
        self.version = options["version"] or self.version
        self.make()

    def make(self):
        """Library and metadata, also again after somebody took another release of it."""
        o = self.options
        flags, words = [], []
        for directory in o["search"]:
            words.append(f"-Wl,-rpath,{directory}")
        words.append("-Wl,--disable-new-dtags" if o["tag"] == "rpath" else "-Wl,--enable-new-dtags")
        for name in o["needs"]:
            words += ["-Wl,--no-as-needed", self.world.cuda_dependency(name, self.world.scratch)]
        if o["linked"]:
            facade = libraries(self.built, () if self.built.real else o["of"])["facade"]
            flags += ["-DHOST_LINKED",
                      "-DHOST_IMPORTS=" + " ".join(f"CALL({name})" for name in o["imports"])]
            words += ["-Wl,--no-as-needed", facade, "-Wl,--allow-shlib-undefined"]
        if o["refuses"]:
            flags.append(f'-DHOST_REFUSES="{o["refuses"]}"')
        link(self.library, "-shared", f"-Wl,-soname,{self.library.name}", *o["binding"],
             compiled("host.c", *flags), *words, "-ldl")
        if o["metadata"] and self.distribution:
            self.write_metadata()

    def write_metadata(self):
        files = [self.library]
        kind = self.distribution.partition("_")[0]
        where, text = TEXTS.get({"paddlepaddle": "paddle"}.get(kind, kind), (None, None))
        states = self.options["states"]
        if where and states != "":
            files.append(self.site / where)
            files[-1].parent.mkdir(parents=True, exist_ok=True)
            files[-1].write_text(text.format(states or self.built))
        self.world.record(self.site, self.distribution, self.version, files, self.requirements())

    def requirements(self):
        b, package = self.built, f"nvidia-cudnn-cu{self.cuda}"
        if self.options["requires"] is not None:
            return self.options["requires"]
        return {"torch": [f'{package}=={b.wheel} ; platform_system == "Linux"'],
                "jax": [f"{package}<{b.major + 1}.0,>={b.major}.{b.minor}"],
                "onnxruntime": [f'{package}~={b.major}.0 ; extra == "cudnn"']}.get(self.kind, [])

    def does(self, *words):
        self.words += [str(word) for word in words]

    @property
    def checks(self):
        return f"check:{self.rule}:{self.built.number}"

    def rebuild(self, release):
        """Another release of the framework, built with that cuDNN."""
        old = self.checks
        for info in self.site.glob(f"{self.distribution}-*.dist-info"):
            shutil.rmtree(info)
        self.built = release
        self.words = [self.checks if word == old else word for word in self.words]
        self.make()


class World:
    def __init__(self, name, seed, root, faulty=True):
        self.rng, self.faulty = random.Random(f"{seed} {name}"), faulty
        self.seed = seed
        self.root, self.scratch = pathlib.Path(root), pathlib.Path(root) / "scratch"
        self.scratch.mkdir(parents=True)
        self.create = WITH_GPU
        self.environment, self.cache, self.hosts, self.known = {}, [], [], []
        self.text, self.ends = None, None
        self.first, self.names, self.severity = None, [], None
        self.action, self.maps, self.program = None, None, None
        self.conda_prefix = None  # for fixes.py
        self.needs_gpu, self.folder = False, None  # folder: that the program is started in
        self.road, self.left = 0, []
        self.module, self.preload, self.by = None, None, None
        self.limits, self.no_execution = None, None  # of the shell; a directory mounted noexec
        self.closed = None  # a directory that nobody may enter
        self.fetched = set()  # what pip download put where: (folder, name as it was given)
        self.not_said, self.fix_says = (), ""
        self.python = f"python3.{self.rng.randint(9, 13)}"
        self.cuda_now = self.rng.choice([12, 13])
        self.venv = self.root / self.word("home", "srv", "work") / self.word("venv", "env", "ml")
        self.site = self.venv / "lib" / self.python / "site-packages"
        self.venv.mkdir(parents=True)
        (self.venv / "pyvenv.cfg").touch()  # else it is a folder of packages that no pip installs into

    # ---- what is drawn ----

    def word(self, *words):
        letter, number = self.rng.choice("abcdefghkmnprstw"), self.rng.randint(1, 99)
        return f"{self.rng.choice(words)}{letter}{number}"

    def cuda(self, release):
        """The CUDA major that wheels of this release are for."""
        old = 11 if release.major < 9 else 12
        return old if release.major < 9 or release.minor < 12 else self.cuda_now

    def release(self, low, high):
        return releases.draw(self.rng, self.seed, low, high)

    def real(self, text):
        return releases.real(text)

    def two(self, low, high):
        """(older, newer) of one major, of two minors."""
        while True:
            a, b = sorted((self.release(low, high), self.release(low, high)))
            if a.minor < b.minor:
                return a, b

    # ---- where cuDNN lies ----

    def files(self, release, only=(), without=(), options=()):
        """{part: file} of a release, and known as one that can be installed."""
        self.known.append(release)
        found = libraries(release, tuple(only) if release.real else self.create + tuple(options))
        return {part: path for part, path in found.items()
                if (not only or part in only) and part not in without}

    def directory(self, release, path=None, **which):
        """A directory of its own, such as a module system of a cluster has."""
        path = path or self.root / self.word("opt", "apps", "sw") / self.word("cudnn", "local")
        for source in self.files(release, **which).values():
            place(source, path / source.name)
        return path

    def toolkit(self, release, cuda=None, **which):
        """lib64 of a CUDA toolkit, with links and header."""
        cuda = cuda or self.cuda(release)
        home = self.root / "usr/local" / f"cuda-{cuda}.{self.rng.randint(0, 9)}"
        for source in self.files(release, **which).values():
            stem = source.name.partition(".so")[0]
            place(source, home / "lib64" / f"{stem}.so.{release}")
            for link_name in (f"{stem}.so.{release.major}", f"{stem}.so"):
                (home / "lib64" / link_name).unlink(missing_ok=True)
                (home / "lib64" / link_name).symlink_to(f"{stem}.so.{release}")
        self.header(release, home / "lib64")
        return home / "lib64"

    def header(self, release, lib):
        """What programs are compiled with, beside a directory of libraries."""
        header = lib.parent / "include/cudnn_version.h"
        header.parent.mkdir(exist_ok=True)
        header.write_text("".join(f"#define CUDNN_{name} {n}\n" for name, n in (
            ("MAJOR", release.major), ("MINOR", release.minor), ("PATCHLEVEL", release.patch))))

    def wheel(self, release, cuda=None, site=None, **which):
        """NVIDIA's wheel in site-packages; its RECORD names what is there."""
        site, cuda = site or self.site, cuda or self.cuda(release)
        lib = self.directory(release, site / "nvidia/cudnn/lib", **which)
        self.record(site, f"nvidia-cudnn-cu{cuda}", release.wheel, sorted(lib.glob("libcudnn*")))
        return lib

    def record(self, site, distribution, version, files, requires=()):
        info = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True, exist_ok=True)
        lines = ["Metadata-Version: 2.1", f"Name: {distribution.replace('_', '-')}",
                 f"Version: {version}", *(f"Requires-Dist: {text}" for text in requires)]
        (info / "METADATA").write_text("\n".join(lines) + "\n")
        (info / "INSTALLER").write_text("pip\n")
        lines = [f"{os.path.relpath(path, site)},sha256={digest(path)},{path.stat().st_size}"
                 for path in [*files, info / "METADATA", info / "INSTALLER"]]
        (info / "RECORD").write_text("\n".join([*lines, f"{info.name}/RECORD,,"]) + "\n")

    def conda(self, release, prefix=None, build=None, **which):
        """lib of a conda environment, with its record."""
        prefix = prefix or self.root / self.word("miniconda", "conda") / "envs" / self.word("e")
        self.conda_prefix = prefix
        lib = self.directory(release, prefix / "lib", **which)
        self.conda_record(prefix, f"cudnn-{release}-{build or 'cuda12_0'}",
                          [path.name for path in sorted(lib.glob("libcudnn*"))])
        return lib

    def conda_record(self, prefix, name, files, depends=()):
        meta = prefix / "conda-meta"
        meta.mkdir(parents=True, exist_ok=True)
        listed = ",\n".join(f'    "lib/{file}"' for file in files)
        wanted = ",\n".join(f'    "{text}"' for text in depends)
        (meta / f"{name}.json").write_text(
            f'{{\n  "depends": [\n{wanted}\n  ],\n  "files": [\n{listed}\n  ]\n}}\n')

    def cuda_dependency(self, soname, directory, functions=(), text=""):
        """A library of that name with those functions, which do nothing; text: more of them, in C.
        """
        text += "".join(f"int {name}(void) {{ return 0; }}\n" for name in functions)
        kept = KEPT / "cuda_dependencies" / hashed(soname, text)
        if not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            new = kept.with_suffix(f".{os.getpid()}")
            subprocess.run([CC, "-shared", "-fPIC", f"-Wl,-soname,{soname}", "-o", new, "-x", "c",
                            "-"], input=text, text=True, check=True)
            new.rename(kept)
        place(kept, directory / soname)
        return directory / soname

    def nvidia(self, name, soname, functions=()):
        """A library of one of NVIDIA's wheels beside cuDNN's: nvidia/cublas/lib, ..."""
        return self.cuda_dependency(soname, self.site / "nvidia" / name / "lib", functions).parent

    def needing(self, name, needs):
        """A library of somebody else's with those DT_NEEDED."""
        target = self.root / "opt" / name
        link(target, "-shared", "-Wl,--no-as-needed", "-x", "c", "/dev/null", "-x", "none",
             *(self.cuda_dependency(need, self.scratch) for need in needs))
        return target

    def versioned(self, soname, functions, imports=(), of=None):
        """A library whose functions carry its SONAME as version node; imports: what it takes of
        another one."""
        target = self.scratch / f"{soname}-{len(functions)}" / soname
        text = "".join(f"int {name}(void) {{ return 0; }}\n" for name in functions)
        text += "".join(f"extern int {name}(void);\nint (*use_{name})(void) = {name};\n"
                        for name in imports)
        target.parent.mkdir()
        (target.parent / "text.c").write_text(text + "int present;\n")
        (target.parent / "map").write_text(f"{soname} {{ global: *; }};\n")
        link(target, "-shared", "-fPIC", f"-Wl,-soname,{soname}", target.parent / "text.c",
             f"-Wl,--version-script={target.parent}/map", *([of] if of else []))
        return target

    def newer_libc(self, path):
        """The library there wants a version of libc that is not out yet; which."""
        def number(name):
            value = 0
            for c in name:
                value = (value << 4) + c
                value = (value ^ (value & 0xF0000000) >> 24) & 0x0FFFFFFF
            return value.to_bytes(4, "little")

        data = path.read_bytes()
        old = re.search(rb"GLIBC_2[.\d]+(?=\0)", data)[0]
        new = old[:8] + re.sub(rb"\d", b"9", old[8:])
        path.write_bytes(data.replace(old + b"\0", new + b"\0").replace(number(old), number(new)))
        return new.decode()

    def put(self, source, target):
        place(source, target)

    def again(self, release, lib):
        """The same files from a computer on which cudnnCreate succeeds."""
        self.create = WITH_GPU
        self.directory(release, lib)

    def driver(self, version):
        """A kernel module of that release, as /proc shows it."""
        self.module = version

    def gpu(self, name, capability, driver="580.65.06"):
        """A GPU, as NVML and libcuda's presence tell of it; its driver's release."""
        major, minor = capability.split(".")
        lib = self.root / "usr/lib/nvidia"
        self.cuda_dependency("libcuda.so.1", lib)
        text = NVML.replace("NAME", name).replace("MAJOR", major).replace("MINOR", minor)
        link(lib / "libnvidia-ml.so.1", "-shared", "-fPIC", "-w", self.source("nvml.c", text))
        self.environment["LD_LIBRARY_PATH"] = lib
        self.driver(driver)

    def source(self, name, text):
        (self.scratch / name).write_text(text)
        return self.scratch / name

    def broken(self, path, how):
        """A file of that name that is no library for this computer."""
        data = bytearray(libraries(self.known[0], self.create)["facade"].read_bytes())
        if how == "empty":
            data = b""
        elif how == "pointer":
            data = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n" % (
                b"5e" * 32, 2 ** 20)
        elif how == "text":
            data = b"<html><head><title>404 Not Found</title></head></html>\n" * 2
        elif how == "32-bit":
            data[4] = 1
        elif how == "other-machine":
            data[18:20] = b"\xb7\0" if data[18] == 62 else b"\x3e\0"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(bytes(data))
        return path

    def damage(self, path, how):
        """A copy of it that did not get to its end; "zeros": room was made for all of it before."""
        data = path.read_bytes()
        end = len(data) * self.rng.randint(5, 60) // 100
        path.unlink()
        path.write_bytes(data[:end] + (bytes(len(data) - end) if how == "zeros" else b""))

    # ---- who wants it ----

    def host(self, kind, built, search=(), tag="runpath", linked=True, imports=(), needs=(),
             cuda=None, site=None, refuses=None, metadata=True, requires=None, binding=(), of=None,
             version=None, states=None):
        """A framework's library in its package. search: its DT_RPATH or DT_RUNPATH; needs: its
        other DT_NEEDED; refuses: what it says when a status is not 0; version: of the wheel;
        states: the cuDNN that its files name, "" none."""
        options = dict(search=search, tag=tag, linked=linked, imports=imports, needs=needs,
                       refuses=refuses, metadata=metadata, requires=requires, binding=list(binding),
                       of=self.create if of is None else of, version=version, states=states)
        host = Host(self, kind, built, cuda or self.cuda(built), site or self.site, options)
        self.hosts.append(host)
        return host

    def start(self, linked_to=None):
        """The program; linked_to: a host that it needs from the start."""
        program = self.venv / "bin" / "app"
        words = []
        if linked_to:
            words = ["-Wl,--no-as-needed", linked_to.library, "-Wl,--allow-shlib-undefined",
                     f"-Wl,-rpath,{linked_to.library.parent}"]
        link(program, compiled("program.c", *(["-DPROGRAM_LINKED"] if linked_to else [])), *words,
             "-ldl")
        return program

    def command(self, watcher=()):
        """What is run; watcher: what comes before the program itself."""
        if not self.program:
            self.program = self.start()
        words = [*watcher, str(self.program)]
        for number, host in enumerate(self.hosts):
            words += (["--"] if number else []) + [str(host.library), *host.words]
        return self.where([*words, "maps"])

    def where(self, words):
        """The command where the world is as it is made: its loader cache, directory, driver."""
        if self.cache:
            words = [str(ROOT / "tests/neutrality/with-cache"), str(self.cache[0]), *words]
        if self.folder:
            words = ["env", "-C", str(self.folder), *words]
        if self.limits:
            words = ["bash", "-c", f'{self.limits}; exec "$@"', "bash", *words]
        if self.closed:
            words = ["bash", "-c", CLOSED, str(self.closed), *words]
        if self.no_execution:
            words = ["unshare", "--mount", "bash", "-c", NO_EXECUTION, str(self.no_execution),
                     *words]
        if self.module:
            words = ["unshare", "--mount", "bash", "-c", MODULE, self.module, *words]
        return words

    def constants(self):
        """The names that hosts open stand in them, as in a framework; here they come as words."""
        for host in self.hosts:
            names = [word.split(":")[1] for word in host.words
                     if word.startswith(("open:", "try:"))]
            text = b"\0" + b"\0".join(name.encode() for name in names if "/" not in name)
            data = host.library.read_bytes() if host.library.is_file() else b""
            at = data.find(NO_NAMES)
            if at >= 0 and len(text) < 512:
                with host.library.open("r+b") as file:
                    file.seek(at)
                    file.write(text.ljust(512, b"\0"))

    # ---- what is expected, stated before anything runs ----

    def says(self, text, ends=None):
        """What people saw: a part of standard output or error of the bare program."""
        self.text, self.ends = re.escape(text), ends

    def finds(self, first, *names, severity=None):
        """The id of the first finding, and what that finding has to name; severity: where it is not
        that of all findings of its kind."""
        self.first, self.names, self.severity = first, [str(name) for name in names], severity

    def leaves(self, *findings):
        """Warnings that still hold when the fix was followed."""
        self.left = findings

    def never(self, *what):
        """What no fix of any finding may be: its edits ("install", "remove+install": these and no
        others), or what stands in its text or command."""
        self.not_said = what

    def repairs(self, action, maps, by=None, road=0, says=""):
        """The kind of the first fix, and the file that is mapped when it was followed. by: what a
        person does where that cannot be played here. road: the fix that is followed. says: what its
        text or command has."""
        self.action, self.maps, self.by, self.road = action, maps and str(maps), by, road
        self.fix_says = says
