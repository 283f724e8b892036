# SPDX-License-Identifier: Apache-2.0
"""A healthy scene: one host that finds its cuDNN in one place, in one of the ways in which that is done. What a kind of
fault wants of it is drawn from what it allows; the rest is drawn freely."""
import os

import stock
from world import World, cuda_requires, deb_name

SYSTEM = f"/usr/lib/{stock.multiarch()}"

# place -> host -> ways of searching
WAYS = {
    "venv": {"package": ("rpath", "runpath"), "linked": ("runpath", "rpath"), "named": ("runpath", "llp"),
             "ctypes": ("llp",), "path": ("path",)},
    "conda": {"package": ("rpath", "runpath"), "linked": ("runpath", "rpath"), "named": ("runpath",),
              "ctypes": ("llp",)},
    "system": {"linked": ("cache",), "named": ("cache",), "unversioned": ("cache",), "ctypes": ("cache",)},
    "toolkit": {"linked": ("llp", "cache", "runpath"), "named": ("llp", "cache"), "unversioned": ("llp", "cache"),
                "ctypes": ("llp", "cache"), "path": ("path",)},
    "modules": {"linked": ("llp",), "named": ("llp",), "ctypes": ("llp",)},
    "container": {"package": ("rpath", "runpath"), "linked": ("cache",), "named": ("cache",)},
    "two": {"package": ("rpath", "runpath"), "linked": ("runpath", "rpath")},
}

USERS = ("ada", "lin", "omar", "priya")
ENVIRONMENTS = ("venv", "work/.venv", "envs/train", "work/env", ".virtualenvs/vision")

# import name -> distribution, file below site-packages, linked, its release, eras
FRAMEWORKS = {
    "torch": ("torch", "torch/lib/libtorch_cuda.so", True, (8, 9)),
    "tensorflow": ("tensorflow", "tensorflow/libtensorflow_framework.so.2", False, (8, 9)),
    "jax_plugin": ("jax-cuda{cuda}-plugin", "jax_cuda{cuda}_plugin/_versions.so", False, (9,)),
    "visionkit": ("visionkit", "visionkit/_engine.so", True, (7, 8, 9)),
    "lensflow": ("lensflow", "lensflow/lib/liblensflow.so", False, (7, 8, 9)),
}


class Scene:
    """w, and what is in it: place, host, search, era, cuda, version, lib (directory of cuDNN), cuda_dirs, site, prefix,
    owner (wheel, conda, deb or none), package, steps of the host, demand (True: it has one and checks it)."""

    def __init__(self, w, want):
        self.w, rng = w, w.rng
        choices = [(p, h, s) for p, hosts in WAYS.items() for h, searches in hosts.items() for s in searches
                   if p in want.get("place", WAYS) and h in want.get("host", (h,)) and s in want.get("search", (s,))]
        places = sorted({p for p, _, _ in choices})
        self.place = rng.choice(places)
        hosts = sorted({h for p, h, _ in choices if p == self.place})
        self.host = rng.choice(hosts)
        self.search = rng.choice([s for p, h, s in choices if (p, h) == (self.place, self.host)])
        era_of = {7: ("10",), 8: ("11", "12"), 9: ("12", "13")}
        least = 8 if self.place in ("venv", "two") or (self.place, self.host) == ("container", "package") else 7
        fits = {}  # no wheels before 8
        for era in (7, 8, 9):
            for cuda in era_of[era]:
                known = stock.releases(era, cuda)
                some = [v for v in known if v in want.get("versions", known)
                        and self._lower_minors(known, v) >= want.get("older", 0)]
                if some and era >= least and era in want.get("era", (era,)) and cuda in want.get("cuda", (cuda,)):
                    fits.setdefault(era, {})[cuda] = some
        self.era = rng.choice([e for e in (7, 8, 9, 9, 9) if e in fits])
        self.cuda = rng.choice(sorted(fits[self.era]))
        self.version = rng.choice(fits[self.era][self.cuda])
        self.options = tuple(want.get("options", ()))
        self.user = rng.choice(USERS)
        w.env["HOME"] = self.home = f"/home/{self.user}"
        w.at(f"{self.home}/work").mkdir(parents=True, exist_ok=True)
        w.cwd = f"{self.home}/work"
        self.demand = want.get("demand", rng.random() < 0.5)
        self.framework, self.owner, self.package, self.site, self.prefix = None, "none", None, None, None
        self.llp, self.steps, self.before_steps = [], [], []
        self.mode = want.get("mode", "plain")
        if want.get("driver", True):
            self.driver(release="580.82.07")
        getattr(self, "_" + self.place)()
        self._host(want)

    @staticmethod
    def _lower_minors(known, version):
        return sum(stock.numbers(v)[:2] < stock.numbers(version)[:2] for v in known)

    def driver(self, **options):
        """With a GPU that each release of this era has code for."""
        options.setdefault("gpu", "7.0 Tesla V100-SXM2-16GB" if self.era == 7 else "8.0 NVIDIA A100-SXM4-40GB")
        self.w.driver(**options)

    def older(self):
        """A release of the same major with a lower minor."""
        key = stock.numbers(self.version)[:2]
        return self.w.rng.choice([v for v in stock.releases(self.era, self.cuda) if stock.numbers(v)[:2] < key])

    def other(self):
        """Another release of the same major and CUDA."""
        return self.w.rng.choice([v for v in stock.releases(self.era, self.cuda) if v != self.version])

    @property
    def facade(self):
        return f"libcudnn.so.{self.era}"

    @property
    def asked(self):
        """The name of cuDNN by which the host asks for it."""
        return "libcudnn.so" if self.host == "unversioned" else self.facade

    @property
    def parts(self):
        return [n for n in World.cudnn_files(self.version, self.cuda) if n != self.facade]

    def part_name(self, part):
        return f"libcudnn_{part}.so.{self.era}"

    def file(self, name):
        """The real file behind a name in cuDNN's directory."""
        path = f"{self.lib}/{name}"
        while self.w.at(path).is_symlink():
            path = f"{self.lib}/{self.w.at(path).readlink()}"
        return path

    # ---- places -------------------------------------------------------------------------------------

    def _venv(self):
        w = self.w
        self.prefix = f"{self.home}/{w.rng.choice(ENVIRONMENTS)}"
        self.site = w.venv(self.prefix)
        self.owner = "wheel"
        name, version, files, requires = World.cudnn_wheel(self.version, self.cuda, *self.options)
        self.package = name
        w.wheel(self.site, name, version, files, requires, own=bool(self.options))
        for wheel in World.cuda_wheels(self.cuda):
            w.wheel(self.site, *wheel)
        self.lib = f"{self.site}/nvidia/cudnn/lib"
        self.cuda_dirs = [f"{self.site}/{d}" for d in World.cuda_dirs(self.cuda)]
        w.env.update(VIRTUAL_ENV=self.prefix, PATH=f"{self.prefix}/bin:{w.env['PATH']}")

    def _conda(self):
        w = self.w
        self.prefix = w.rng.choice(("/opt/conda", f"{self.home}/miniconda3/envs/ml", "/opt/miniforge3/envs/train"))
        self.site = w.conda(self.prefix)
        self.owner, self.package = "conda", "cudnn"
        files = {f"lib/{n}": p for n, p in World.cudnn_files(self.version, self.cuda, *self.options).items()}
        w.conda_package(self.prefix, "cudnn", wheel_like(self.version), f"cuda{self.cuda}_0", files)
        names = stock.companion_names(self.cuda)
        for package, parts in (("libcublas", ("cublas", "cublasLt")), ("cuda-cudart", ("cudart",)),
                               ("cuda-nvrtc", ("nvrtc", "builtins"))):
            w.conda_package(self.prefix, package, stock.FULL[self.cuda], "0",
                            {f"lib/{names[p]}": stock.companion(p, self.cuda) for p in parts})
        self.lib = f"{self.prefix}/lib"
        self.cuda_dirs = [self.lib]
        w.env.update(CONDA_PREFIX=self.prefix, PATH=f"{self.prefix}/bin:{w.env['PATH']}", CONDA_DEFAULT_ENV="ml")

    def _toolkit_of_cuda(self, cached=True):
        directory = f"/usr/local/cuda-{stock.TOOLKITS[self.cuda]}"
        self.w.copy_of_cuda(f"{directory}/lib64", self.cuda)
        self.w.link("/usr/local/cuda", directory)
        if cached:
            self.w.write(f"/etc/ld.so.conf.d/cuda-{self.cuda}.conf", f"{directory}/lib64\n")
            self.w.system_changed = True
        return directory

    def _system(self):
        w = self.w
        directory = self._toolkit_of_cuda()
        self.owner = "deb"
        self.package = deb_name(self.version, self.cuda)
        w.debs(self.version, self.cuda, World.cudnn_files(self.version, self.cuda, *self.options))
        self.lib = SYSTEM
        self.cuda_dirs = [f"{directory}/lib64"]

    def _toolkit(self):
        w = self.w
        directory = self._toolkit_of_cuda(cached=self.search == "cache")
        self.lib = f"{directory}/lib64"
        w.copy_of_cudnn(self.lib, self.version, self.cuda, *self.options)
        w.header(f"{directory}/include", self.version)
        self.cuda_dirs = [self.lib]

    def _modules(self):
        w = self.w
        root = w.rng.choice(("/apps", "/sw/easybuild/software", "/cvmfs/hpc/spack"))
        self.module = f"{root}/cudnn/{self.version}-cuda-{self.cuda}"
        self.lib = f"{self.module}/lib"
        w.copy_of_cudnn(self.lib, self.version, self.cuda, *self.options)
        w.header(f"{self.module}/include", self.version)
        self.cuda_dirs = [f"{root}/cuda/{stock.TOOLKITS[self.cuda]}/lib64"]
        w.copy_of_cuda(self.cuda_dirs[0], self.cuda)

    def _container(self):
        self.w.write("/.dockerenv", "")
        if self.host == "package":
            self._venv()
        else:
            self._system()

    def _two(self):
        self._venv()
        w = self.w
        self.second = self.other()
        directory = f"/usr/local/cuda-{stock.TOOLKITS[self.cuda]}"
        w.copy_of_cudnn(f"{directory}/lib64", self.second, self.cuda)
        w.copy_of_cuda(f"{directory}/lib64", self.cuda)
        w.write("/etc/ld.so.conf.d/cuda.conf", f"{directory}/lib64\n")
        w.system_changed = True

    # ---- the host -----------------------------------------------------------------------------------

    def search_path(self, of):
        """cuDNN's and CUDA's directories, as written into the file `of`."""
        here = os.path.dirname(of)
        dirs = list(dict.fromkeys([self.lib, *self.cuda_dirs]))
        if self.prefix and of.startswith(self.prefix):
            return ":".join("$ORIGIN/" + os.path.relpath(d, here) for d in dirs)
        return ":".join(dirs)

    def binary(self, path, program, linked, **options):
        """A host at that path, with the search path that the scene has."""
        cuda = self.cuda if linked and self.era > 7 else None
        source = stock.host(self.era if linked else None, cuda, program, **options)
        kind = self.search if self.search in ("rpath", "runpath") else "none"
        self.w.write(path, stock.set_path(source.read_bytes(), kind, self.search_path(path)), 0o755)
        self.host_file = path

    def cuda_first(self):
        """What a host that is not linked with CUDA opens before cuDNN, so that cuDNN finds it in the process."""
        if self.era == 7:
            return []
        names = stock.companion_names(self.cuda)
        return [f"open:{names[w]}" for w in ("cudart", "cublas", "cublasLt", "nvrtc")]

    def calls(self):
        return ["version", "create", "conv"] + (["finalize"] if self.era > 7 else [])

    def _host(self, want):
        w, rng = self.w, self.w.rng
        self.linked = self.host == "linked"
        options = want.get("binary", {})
        check = [f"verify:minor:{stock.number(self.version)}"] if self.demand else []
        if self.search == "llp":
            self.llp = list(dict.fromkeys([self.lib, *self.cuda_dirs]))
        if self.host == "package":
            self._package(want, rng)
            self.linked = self.linked_framework
            self.steps = ([] if self.linked else [*self.cuda_first(), f"name={self.facade}"]) + check + self.calls()
        elif self.host == "ctypes":
            self._script()
            self.steps = [f"name={self.facade}"] + check + self.calls()
        else:
            directory = f"{self.prefix}/bin" if self.place == "conda" else \
                rng.choice((f"{self.home}/work/build", "/opt/vision/bin"))
            path = f"{directory}/{rng.choice(('detect', 'infer', 'engine', 'train_net'))}"
            self.binary(path, True, self.linked, **options)
            w.argv = [path]
            name = {"unversioned": "libcudnn.so", "path": f"{self.lib}/{self.facade}"}.get(self.host, self.facade)
            first = [f"open:{d}/{n}" for d, n in self._companion_paths()] if self.host == "path" else self.cuda_first()
            self.steps = ([] if self.linked else [*first, f"name={name}"]) + check + self.calls()
        if self.place == "modules":
            self._wrapper()

    def _companion_paths(self):
        names = stock.companion_names(self.cuda)
        for what in ("cudart", "cublas", "cublasLt", "nvrtc") if self.era > 7 else ():
            for d in self.cuda_dirs:
                if self.w.exists(f"{d}/{names[what]}"):
                    yield d, names[what]

    def _package(self, want, rng):
        w = self.w
        names = [n for n, f in FRAMEWORKS.items() if self.era in f[3] and n in want.get("framework", FRAMEWORKS)
                 and ("linked" not in want or want["linked"] == f[2])
                 and (n != "jax_plugin" or self.cuda in ("12", "13"))
                 # TensorFlow 2.18 was built with 9.3, 2.11 with 8.1, and says so where no package requires less.
                 and (n != "tensorflow" or self.owner == "wheel" or stock.numbers(self.version) >= (8, 1, 0)
                      and not (9, 0, 0) <= stock.numbers(self.version) < (9, 3, 0))]
        self.framework = rng.choice(sorted(names))
        dist, file, self.linked_framework, _ = FRAMEWORKS[self.framework]
        self.dist = dist.format(cuda=self.cuda)
        file = file.format(cuda=self.cuda)
        self.module_name = file.split("/")[0]
        full = stock.wheel_version(self.version)
        major, minor, _ = stock.numbers(self.version)
        cudnn_package = f"nvidia-cudnn-cu{self.cuda}"
        requires = {
            "torch": [f'{cudnn_package}=={full}; platform_system == "Linux"'],
            "tensorflow": [f'{cudnn_package}<{major + 1}.0,>={full}; extra == "and-cuda"'],
            "jax_plugin": [f'{cudnn_package}<{major + 1}.0,>={major}.{minor}; extra == "with-cuda"'],
        }.get(self.framework, [f"{cudnn_package}=={full}"] if self.demand else [])
        if self.framework in ("torch", "tensorflow", "jax_plugin"):
            self.demand = True
            requires += [f"{n}=={stock.FULL[self.cuda]}" for n in cuda_requires(self.cuda, "cublas", "cuda-runtime",
                                                                                "cuda-nvrtc")]
        if self.owner != "wheel":
            requires = []
        version = {"torch": "2.5.1" if self.era == 9 else "2.1.2", "tensorflow": "2.18.0" if self.era == 9 else "2.11.0",
                   "jax_plugin": "0.5.3"}.get(self.framework, "1.4.2")
        self.requires, self.dist_version = requires, version
        path = f"{self.site}/{file}"
        stubs = {"flags": ("-DSTUBS",)} if self.framework == "tensorflow" else {}
        self.binary(path, False, self.linked_framework, **{**stubs, **want.get("binary", {})})
        init = (f"import ctypes, os\n_engine = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "
                f"{file.split('/', 1)[1]!r}))\n\n\ndef run(steps):\n    words = [b'host', *(s.encode() for s in steps)]\n"
                f"    return _engine.host_run(len(words), (ctypes.c_char_p * len(words))(*words))\n").encode()
        files = {file: w.read(path), f"{self.module_name}/__init__.py": init}
        w.wheel(self.site, self.dist, version, files, requires)
        self.script = f"{self.home}/work/train.py"
        w.write(self.script, f"import sys\nimport {self.module_name}\nsys.exit({self.module_name}.run(sys.argv[1:]))\n")
        w.argv = ["python", self.script]

    def _script(self):
        """A Python that opens cuDNN itself."""
        w = self.w
        self.script = f"{self.home}/work/infer.py"
        w.write(self.script, CTYPES)
        w.argv = ["python3", self.script]

    def _wrapper(self):
        """What `module load` does, and the job's script."""
        w = self.w
        self.wrapper = f"{self.home}/work/job.sh"
        self.wrapper_lines = [f"export LD_LIBRARY_PATH={':'.join(self.llp)}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}",
                              f"export CUDNN_HOME={self.module} EBROOTCUDNN={self.module}"]
        self.inner = list(w.argv)

    def finish(self):
        """The command as it is to be run: called when the fault is in."""
        w = self.w
        steps = [*self.before_steps, *self.steps]
        if self.place == "modules":
            lines = ["#!/bin/bash", *self.wrapper_lines, f'exec {" ".join(self.inner)} "$@"', ""]
            w.write(self.wrapper, "\n".join(lines), 0o755)
            w.argv = [self.wrapper]
        elif self.llp:
            w.env["LD_LIBRARY_PATH"] = ":".join(self.llp)
        w.argv = [*w.argv, *steps]
        w.finish()


def wheel_like(version):
    return stock.wheel_version(version)


CTYPES = '''\
import ctypes
import sys

cudnn = None
for step in sys.argv[1:]:
    if step.startswith("name="):
        cudnn = ctypes.CDLL(step[5:])
    elif step.startswith("open:"):
        ctypes.CDLL(step[5:])
    elif step == "version":
        print("version", ctypes.c_size_t(cudnn.cudnnGetVersion()).value, flush=True)
    elif step.startswith("verify:"):
        built, got = int(step.split(":")[2]), cudnn.cudnnGetVersion()
        base = 1000 if got < 10000 else 10000
        if got // base != built // (1000 if built < 10000 else 10000) or got % base // 100 < built % base // 100:
            sys.exit(f"Mixed dnn version. The header is version {built} while the library is version {got}.")
    elif step in ("create", "conv", "finalize"):
        if step == "create":
            status = cudnn.cudnnCreate(ctypes.byref(ctypes.c_void_p()))
        elif step == "finalize":
            status = cudnn.cudnnBackendFinalize(None)
        else:
            v = ctypes.c_void_p
            status = cudnn.cudnnConvolutionForward(*map(v, (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)))
        print(step, status, flush=True)
        if status:
            sys.exit(f"{step} failed: {status}")
print("done")
'''
