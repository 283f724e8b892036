#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_loaders.py WORK WHICHCUDNN CACHE SEED DRAWS [LOADER...]
python_loaders.py --call LOADER SITE

Does a scan name the file that the packages of tools/knowledge/python_loaders.def take? Each of them is fetched, in the
release in which its rule was read, and its own function is run in environments that are drawn: wheels, a second and
a damaged one, the user's and conda's directories, toolkits, variables. The libraries are stand-ins."""

import ast
import ctypes
import functools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/setup"))

# name -> the distribution that is fetched, its files
LOADERS = {
    "cuda-pathfinder": ("cuda-pathfinder", r"cuda/.*\.py"),
    "nvidia-cudnn-frontend": ("nvidia-cudnn-frontend", r"cudnn/__init__\.py"),
    "transformer-engine": ("transformer-engine", r"transformer_engine/common/__init__\.py"),
    "onnxruntime": ("onnxruntime-gpu", r"onnxruntime/__init__\.py|onnxruntime/capi/build_and_package_info\.py"),
    "cupy-cuda12x": ("cupy-cuda12x", r"cupy/_environment\.py|cupy/\.data/_wheel\.json|"
                             r"cupy_backends/cuda/libs/cudnn\.[^/]*\.so"),
}


def known_rules():
    """The release in which each rule was read."""
    table = (ROOT / "tools/knowledge/python_loaders.def").read_text(encoding="ascii")
    found = dict(re.findall(r'PYTHON_LOADER\("([^"]+)".*?\.read = "([^"]+)"', table, re.S))
    return {**found, "cupy-cuda12x": re.search(r'define CUPY.*?\.read = "([^"]+)"', table, re.S)[1]}


# ---- in the environment: the package's own function -------------------------------------------------------------


def functions_of(path, names="", **known):
    """The functions of a module whose names fit, without what it does when it is imported."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    module.body = [node for node in module.body
                   if isinstance(node, ast.FunctionDef) and re.match(names, node.name)
                   or isinstance(node, (ast.Import, ast.ImportFrom)) and not getattr(node, "level", 0)
                   and "onnxruntime" not in (getattr(node, "module", None) or "")]
    space = {"__name__": "loader", "__file__": str(path), **known}
    exec(compile(module, str(path), "exec"), space)  # noqa: S102  its own functions are what is tested
    return types.SimpleNamespace(**space)


def file_of(handle):
    """By the loader's own list."""
    link_map = ctypes.POINTER(ctypes.c_void_p * 2)()
    ctypes.CDLL(None).dlinfo(ctypes.c_void_p(handle), 2, ctypes.byref(link_map))
    return ctypes.cast(link_map.contents[1], ctypes.c_char_p).value.decode()


def by_pathfinder(_site, _opened):
    from cuda import pathfinder
    got = pathfinder.load_nvidia_dynamic_lib("cudnn")
    return got.abs_path, got.found_via


def by_frontend(site, opened):
    shim = types.SimpleNamespace(_set_dlhandle_cudnn=lambda handle: None)
    functions_of(site / "cudnn/__init__.py", "_dlopen_cudnn$", _pybind_module=shim)._dlopen_cudnn()
    return opened[-1] if opened else None, None


def by_transformer_engine(site, opened):
    functions_of(site / "transformer_engine/common/__init__.py")._load_cuda_library("cudnn")
    return next((path for path in opened if os.path.basename(path).startswith("libcudnn.so")), opened[0]), None


def by_onnxruntime(site, opened):
    about = functions_of(site / "onnxruntime/capi/build_and_package_info.py")
    exec((site / "onnxruntime/capi/build_and_package_info.py").read_text(), vars(about))
    space = functions_of(site / "onnxruntime/__init__.py", cuda_version=about.cuda_version,
                         package_name=about.package_name, __version__=about.__version__)
    space.preload_dlls.__globals__["_register_bundled_cuda_plugin_ep"] = lambda **_: None
    space.preload_dlls(cuda=True, cudnn=True)
    return next((path for path in opened if "libcudnn" in path), None), None


def by_cupy(site, opened):
    import importlib.util
    spec = importlib.util.spec_from_file_location("environment", site / "cupy/_environment.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module._preload_library("cudnn")
    if not [path for path in opened if re.search(r"/libcudnn\.so\.", path)]:
        extension = next((site / "cupy_backends/cuda/libs").glob("cudnn.*.so"))
        try:
            ctypes.CDLL(str(extension))
        except OSError as error:
            raise ImportError(str(error)) from None
        return file_of(ctypes.CDLL("libcudnn.so.8", mode=os.RTLD_NOLOAD)._handle), None
    return next(path for path in opened if re.search(r"/libcudnn\.so\.", path)), None


CALLS = {"cuda-pathfinder": by_pathfinder, "nvidia-cudnn-frontend": by_frontend,
         "transformer-engine": by_transformer_engine, "onnxruntime": by_onnxruntime, "cupy-cuda12x": by_cupy}


def call(name, site):
    opened, cdll = [], ctypes.CDLL

    class Seen(cdll):
        def __init__(self, path, *arguments, **named):
            super().__init__(path, *arguments, **named)
            if path and self._handle:
                opened.append(file_of_seen(self._handle))

    def file_of_seen(handle):
        ctypes.CDLL = cdll
        try:
            return file_of(handle)
        finally:
            ctypes.CDLL = Seen

    if name != "cuda-pathfinder":
        ctypes.CDLL = Seen
    try:
        path, words = CALLS[name](pathlib.Path(site), opened)
        said = {"path": path, "found_via": words, "raises": None}
    except Exception as error:  # noqa: BLE001  which one is the answer
        said = {"path": None, "found_via": None, "raises": type(error).__name__, "why": str(error)}
    print("\n" + json.dumps(said))


# ---- the environments -------------------------------------------------------------------------------------------


def standin(*arguments):
    subprocess.run([ROOT / "tests/fixtures/standin/make-standin", *map(str, arguments)], check=True,
                   stdout=subprocess.DEVNULL)


def make_pool(pool):
    for version in ("9.8.0", "9.20.0", "8.8.1", "8.9.7"):
        if not (pool / version).is_dir():
            standin("--only", "facade,graph,ops,ops_infer,ops_train", version, pool / version)
    for name in ("libcublasLt.so.12", "libcublasLt.so.13", "libnvrtc.so.12", "libnvrtc.so.13"):
        if not (pool / "cuda" / name).exists():
            standin("--empty", name, pool / "cuda")


def fetch(cache, name, version):
    import wheels
    distribution, files = LOADERS[name]
    wanted = re.compile(rf"{files}|[^/]+\.dist-info/(METADATA|RECORD|WHEEL)")
    python = f"{sys.version_info[0]}{sys.version_info[1]}"
    return wheels.small_files(f"{cache}/python-loaders/{distribution}-{version}-{python}",
                              lambda: wheels.resolve(f"{distribution}=={version}")[1], wanted)


@functools.cache
def pythons():
    """This one, and the system's if it is of the same release: an extension is fetched for it."""
    asks = "import sys, venv; print(sys.version_info[:2])"
    own = subprocess.run([sys.executable, "-c", asks], capture_output=True).stdout
    return [sys.executable] + ["/usr/bin/python3"] * (
        os.path.exists("/usr/bin/python3") and
        subprocess.run(["/usr/bin/python3", "-c", asks], capture_output=True).stdout == own)


class Environment:
    def __init__(self, work, pool, package, name, seed):
        self.pool, self.rng, self.name = pool, random.Random(f"{name} {seed}"), name
        self.work = work
        shutil.rmtree(work, ignore_errors=True)
        self.env = {"PATH": os.environ["PATH"], "HOME": f"{work}/home", "LC_ALL": "C.UTF-8"}
        system = ["--system-site-packages"] if self.chance(0.3) else []
        python = self.rng.choice(pythons())
        subprocess.run([python, "-m", "venv", "--without-pip", *system, work / "env"], check=True)
        self.site = next((work / "env/lib").glob("python3*")) / "site-packages"
        shutil.copytree(package, self.site, dirs_exist_ok=True)
        self.user = self.directory(f"home/.local/lib/{self.site.parent.name}/site-packages")
        if self.chance(0.2):
            self.env["PYTHONUSERBASE"] = f"{work}/base"
            self.user = self.directory(f"base/lib/{self.site.parent.name}/site-packages")
        if self.chance(0.1):
            self.env["PYTHONNOUSERSITE"] = "1"
        self.draw()

    def chance(self, p):
        return self.rng.random() < p

    def directory(self, name):
        (self.work / name).mkdir(parents=True, exist_ok=True)
        return self.work / name

    def put(self, directory, version, link=False):
        """A cuDNN, now and then one that no loader takes."""
        directory.mkdir(parents=True, exist_ok=True)
        for path in sorted((self.pool / version).iterdir()):
            shutil.copy(path, directory)
        facade = directory / f"libcudnn.so.{version[0]}"
        if self.chance(0.3):  # as an archive has it
            facade.rename(f"{facade}{version[1:]}")
            facade.symlink_to(f"{facade.name}{version[1:]}")
        if link:
            (directory / "libcudnn.so").symlink_to(facade.name)
        if self.chance(0.08):
            facade.unlink()
            self.rng.choice((facade.touch, lambda: facade.symlink_to("gone"), lambda: facade.write_text("none"),
                             lambda: None))()

    def cuda(self, directory, major, of):
        directory.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.pool / f"cuda/lib{of}.so.{major}", directory)

    def wheels(self, site):
        nine = self.rng.choice(("9.8.0", "9.20.0"))
        if self.chance(0.6):
            self.put(site / "nvidia/cudnn/lib", nine)
        if self.chance(0.1):
            self.put(site / "nvidia/cudnn/lib", self.rng.choice(("8.8.1", "8.9.7")))
        if self.chance(0.1):
            self.put(site / self.rng.choice(("nvidia/cudnn_jit/lib", "nvidia/cu13/lib", "nvidia/cu13/cudnn/lib",
                                             "nvidia/cuda_cudnn/lib")), nine)
        for of, folder in (("cublasLt", "cublas"), ("nvrtc", "cuda_nvrtc")):
            if self.chance(0.8):
                self.cuda(site / f"nvidia/{folder}/lib", "12", of)
            if self.chance(0.3):
                self.cuda(site / "nvidia/cu13/lib", "13", of)

    def toolkit(self, name, release=None):
        top = self.directory(name)
        inner = top / self.rng.choice(("lib64", "lib", "targets/x86_64-linux/lib"))
        self.put(inner, release or self.rng.choice(("9.8.0", "9.20.0", "8.9.7")), self.chance(0.5))
        if inner.parts[-3:-2] == ("targets",) or inner.parent != top:
            (top / "lib64").symlink_to("targets/x86_64-linux/lib")
        for of in ("cublasLt", "nvrtc"):
            if self.chance(0.6):
                self.cuda(inner, self.rng.choice(("12", "13")), of)
        if self.chance(0.2):
            self.put(inner / "stubs", "9.8.0", True)
        return top

    def draw(self):
        if self.chance(0.7):
            self.wheels(self.site)
        if self.chance(0.3):
            self.wheels(self.user)
        if self.chance(0.25):
            self.env["CONDA_PREFIX"] = str(self.toolkit("conda"))
        for variable in ("CUDA_PATH", "CUDA_HOME", "CUDNN_PATH", "CUDNN_HOME"):
            if self.chance(0.25):
                self.env[variable] = str(self.toolkit(variable.lower()))
            elif self.chance(0.1):
                self.env[variable] = f"{self.work}/nowhere"
            elif self.chance(0.1) and self.name != "transformer-engine":  # it would look through the whole disk
                self.env[variable] = ""
        found = []
        for i in range(self.rng.choice((0, 0, 1, 2))):
            self.put(self.directory(f"path{i}"), self.rng.choice(("9.8.0", "9.20.0", "8.8.1", "8.9.7")),
                     self.chance(0.4))
            for of in ("cublasLt", "nvrtc"):
                if self.chance(0.7):
                    self.cuda(self.work / f"path{i}", self.rng.choice(("12", "13")), of)
            found.append(f"{self.work}/path{i}")
        if found:
            self.env["LD_LIBRARY_PATH"] = self.rng.choice(("", f"{self.work}/nowhere:")) + ":".join(found)
        if self.chance(0.1):
            self.put(self.directory("preloaded"), "9.20.0")
            self.env["LD_PRELOAD"] = f"{self.work}/preloaded/libcudnn.so.9"
        if self.name == "cupy-cuda12x" and self.chance(0.4):
            self.draw_cupy()

    def draw_cupy(self):
        above = self.directory("home/.cupy/cuda_lib")
        if self.chance(0.4):
            above = self.directory("cuda_lib")
            self.env["CUPY_CUDA_LIB_PATH"] = str(above)
        directory = above / "12.x/cudnn" / self.rng.choice(("8.8.1", "8.8.1", "8.9.7")) / self.rng.choice(("lib", "lib64"))
        self.put(directory, "8.8.1")
        if not (directory / "libcudnn.so.8.8.1").exists():
            (directory / "libcudnn.so.8.8.1").symlink_to("libcudnn.so.8")

    def real(self):
        python = next((self.work / "env/bin").glob("python3.*"))
        done = subprocess.run([python, __file__, "--call", self.name, self.site], env=self.env, text=True,
                              capture_output=True, timeout=100)
        try:
            return json.loads(done.stdout.strip().splitlines()[-1])
        except (IndexError, ValueError):
            return {"path": None, "found_via": None, "raises": f"{done.returncode} {done.stderr}"}

    def predicted(self, command):
        (self.work / "variables").write_text("".join(f"{k}={v}\n" for k, v in self.env.items()))
        done = subprocess.run([command, "scan", "--json", "--env", self.work / "variables", self.work / "env"],
                              capture_output=True, text=True, timeout=100)
        return next(l for l in json.loads(done.stdout)["loaders"] if l["loader"] == self.name)


def same(real, said, name):
    if (real["path"] is None) != (said["path"] is None) or real["raises"] != said["raises"] or said["unpredicted"]:
        return False
    if real["path"] is None:
        return True
    if name == "cuda-pathfinder":
        return os.path.normpath(real["path"]) == os.path.normpath(said["path"]) and \
            real["found_via"] == said["found_via"]
    return os.path.samefile(real["path"], said["path"]) and real["path"].split("/")[-1] == said["path"].split("/")[-1]


def main(work, command, cache, seed, draws, *names):
    import wheels
    import without_cuda
    without_cuda.enter(pathlib.Path(work) / "alone")
    print(f"# seed {seed}")
    pool, rules, bad = pathlib.Path(work) / "pool", known_rules(), 0
    make_pool(pool)
    for name in names or LOADERS:
        equal, kinds = 0, {}
        try:
            package = fetch(cache, name, rules[name])
        except wheels.NotFound as error:  # for this Python, or this architecture
            print(f"# {name}: {error}")
            continue
        for i in range(int(draws)):
            e = Environment(pathlib.Path(work) / "drawn", pool, package, name, f"{seed} {i}")
            real, said = e.real(), e.predicted(command)
            kind = said["found_via"] or said["raises"] or "none"
            kinds[kind] = kinds.get(kind, 0) + 1
            if same(real, said, name):
                equal += 1
            else:
                print(f"# {name} seed {seed} {i}: it is {real}\n#   scan: {said}")
                shutil.rmtree(f"{work}/kept-{name}-{i}", ignore_errors=True)
                if os.environ.get("KEEP"):
                    shutil.copytree(e.work, f"{work}/kept-{name}-{i}", symlinks=True)
        bad += int(draws) - equal
        print(f"{name} {rules[name]}: {equal} of {draws} ({', '.join(f'{k} {n}' for k, n in sorted(kinds.items()))})")
    return bad > 0


if sys.argv[1] == "--call":
    call(*sys.argv[2:])
else:
    sys.exit(main(*sys.argv[1:]))
