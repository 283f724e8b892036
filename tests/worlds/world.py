# SPDX-License-Identifier: Apache-2.0
"""A world: a root directory with places, copies of cuDNN and of CUDA's libraries, packages and their lists, a host; and
how a command is played in it. Nothing of the computer's own cuDNN or CUDA is seen from inside."""
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import stock

PYTHON = f"python{sys.version_info[0]}.{sys.version_info[1]}"
PLAIN = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/ada", "LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1",
         "TERM": "dumb"}


def _link_tree(source, into):
    """As cp -al: files of the stock are shared, and never written to in place."""
    into.mkdir()
    into.chmod(os.stat(source).st_mode & 0o7777)
    with os.scandir(source) as entries:
        for entry in entries:
            to = into / entry.name
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), to)
            elif entry.is_dir():
                _link_tree(entry.path, to)
            else:
                os.link(entry.path, to)


class World:
    def __init__(self, root, rng, faulty):
        self.root, self.rng, self.faulty = Path(root), rng, faulty
        self.argv, self.cwd, self.env, self.stage = [], "/home/ada", dict(PLAIN), []
        self.limits = ""            # shell lines before the program: ulimit
        self.system_changed = False  # the loader's cache has to be made anew
        self.index = {}             # wheels of this world alone: name -> [(version, files, requires)]
        self.releases = {}          # cuDNN as it is in this world, wherever it is had from: (version, CUDA) -> files
        self.notes = []             # what was done, for people
        _link_tree(stock.base(), self.root)
        os.makedirs(self.root / "home/ada/work")

    # ---- files ----------------------------------------------------------------------------------

    def at(self, path):
        return self.root / str(path).lstrip("/")

    def write(self, path, data, mode=0o644):
        to = self.at(path)
        to.parent.mkdir(parents=True, exist_ok=True)
        if to.is_symlink() or to.exists():
            to.unlink()
        if isinstance(data, str):
            data = data.encode()
        to.write_bytes(data)
        to.chmod(mode)

    def put(self, source, path):
        """A copy of a stock file, or bytes."""
        if isinstance(source, bytes):
            return self.write(path, source, 0o755)
        to = self.at(path)
        to.parent.mkdir(parents=True, exist_ok=True)
        if to.is_symlink() or to.exists():
            to.unlink()
        shutil.copyfile(source, to)
        to.chmod(0o755)

    def link(self, path, target):
        to = self.at(path)
        to.parent.mkdir(parents=True, exist_ok=True)
        if to.is_symlink() or to.exists():
            to.unlink()
        to.symlink_to(target)

    def remove(self, path):
        self.at(path).unlink()

    def read(self, path):
        return self.at(path).read_bytes()

    def exists(self, path):
        return os.path.lexists(self.at(path))

    def names(self, directory):
        return sorted(os.listdir(self.at(directory)))

    # ---- packages -------------------------------------------------------------------------------

    def wheel(self, site, name, version, files, requires=(), own=False):
        """files: path in site-packages -> file of the stock, or bytes. As pip leaves it. own: what the world's index has
        of that name and version is this."""
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        if own or not name.startswith("nvidia-"):
            self.index.setdefault(name, {})[version] = (files, requires)
        record = []
        for path, source in files.items():
            self.put(source, f"{site}/{path}")
            if isinstance(source, bytes):
                import base64
                value = base64.urlsafe_b64encode(hashlib.sha256(source).digest()).rstrip(b"=").decode(), len(source)
            else:
                value = stock.digest(str(source))
            record.append(f"{path},sha256={value[0]},{value[1]}")
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        metadata += "".join(f"Requires-Dist: {r}\n" for r in requires)
        for path, text in (("METADATA", metadata), ("INSTALLER", "pip\n"), ("WHEEL", "Wheel-Version: 1.0\n")):
            self.write(f"{site}/{info}/{path}", text)
            record.append(f"{info}/{path},,{len(text)}")
        self.write(f"{site}/{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,"]) + "\n")

    def conda_package(self, prefix, name, version, build, files, depends=()):
        for path, source in files.items():
            if isinstance(source, str):
                self.link(f"{prefix}/{path}", source)
            else:
                self.put(source, f"{prefix}/{path}")
        self.write(f"{prefix}/conda-meta/{name}-{version}-{build}.json", json.dumps({
            "name": name, "version": version, "build": build, "build_number": 0, "channel": "conda-forge",
            "depends": list(depends), "files": list(files), "paths_data": {"paths_version": 1, "paths": [
                {"_path": path, "path_type": "softlink"} if isinstance(source, str) else
                {"_path": path, "path_type": "hardlink", "size_in_bytes": os.path.getsize(source)}
                for path, source in files.items()]}}))
        self.write(f"{prefix}/conda-meta/history", "==> 2026-01-01 00:00:00 <==\n")

    def deb(self, name, version, files):
        listed = []
        for path, source in files.items():
            if isinstance(source, str):
                self.link(path, source)
            else:
                self.put(source, path)
            listed.append(path)
        self.write(f"/var/lib/dpkg/info/{name}.list", "/.\n" + "".join(f"{p}\n" for p in listed))
        status = self.read("/var/lib/dpkg/status").decode()
        self.write("/var/lib/dpkg/status", status + f"Package: {name}\nStatus: install ok installed\n"
                   f"Architecture: amd64\nVersion: {version}\n\n")
        self.system_changed = True

    def debs(self, version, cuda, files):
        """cuDNN's packages of NVIDIA's repository: the library's, and the one for developers with the plain names."""
        for name, full, laid in deb_packages(version, cuda, files):
            self.deb(name, full, laid)

    def purge(self, name):
        """A package's list and its entry in the status; its files, too."""
        for path in self.read(f"/var/lib/dpkg/info/{name}.list").decode().splitlines()[1:]:
            if self.exists(path):
                self.remove(path)
        self.remove(f"/var/lib/dpkg/info/{name}.list")
        status = self.read("/var/lib/dpkg/status").decode().split("\n\n")
        self.write("/var/lib/dpkg/status", "\n\n".join(s for s in status if not s.startswith(f"Package: {name}\n")))
        self.system_changed = True

    # ---- copies of cuDNN and CUDA ---------------------------------------------------------------

    @staticmethod
    def cudnn_files(version, cuda, *options):
        d = stock.cudnn(version, cuda, *options)
        return {p.name: p for p in sorted(d.iterdir())}

    @staticmethod
    def cudnn_wheel(version, cuda, *options, build=None):
        files = {f"nvidia/cudnn/lib/{n}": p for n, p in World.cudnn_files(version, cuda, *options).items()}
        major, minor, patch = stock.numbers(version)
        files["nvidia/cudnn/include/cudnn_version.h"] = (
            f"#define CUDNN_MAJOR {major}\n#define CUDNN_MINOR {minor}\n#define CUDNN_PATCHLEVEL {patch}\n").encode()
        full = f"{version}.{build}" if build else stock.wheel_version(version)
        return f"nvidia-cudnn-cu{cuda}", full, files, cuda_requires(cuda, "cublas")

    @staticmethod
    def cuda_wheels(cuda):
        names = stock.companion_names(cuda)
        full = stock.FULL[cuda]
        for what, parts in (("cublas", ("cublas", "cublasLt")), ("cuda-runtime", ("cudart",)),
                            ("cuda-nvrtc", ("nvrtc", "builtins"))):
            folder = "nvidia/cu13" if cuda == "13" else f"nvidia/{what.replace('-', '_')}"
            yield cuda_wheel_name(what, cuda), full, {f"{folder}/lib/{names[p]}": stock.companion(p, cuda)
                                                      for p in parts}, ()

    @staticmethod
    def cuda_dirs(cuda):
        if cuda == "13":
            return ["nvidia/cu13/lib"]
        return ["nvidia/cublas/lib", "nvidia/cuda_runtime/lib", "nvidia/cuda_nvrtc/lib"]

    @staticmethod
    def versioned(directory, name, source, version, links=True):
        """As toolkits and Debian lay a library out: NAME.so.9.1.0, and NAME.so.9 and NAME.so as links."""
        stem, _, rest = name.partition(".so.")
        real = f"{stem}.so.{version}"
        files = {f"{directory}/{real}": source}
        if real != name:
            files[f"{directory}/{name}"] = real
        if links:
            files[f"{directory}/{stem}.so"] = name
        return files

    def place_files(self, files):
        for path, source in files.items():
            if isinstance(source, str):
                self.link(path, source)
            else:
                self.put(source, path)

    def header(self, directory, version):
        major, minor, patch = stock.numbers(version)
        self.write(f"{directory}/cudnn_version.h", f"#define CUDNN_MAJOR {major}\n#define CUDNN_MINOR {minor}\n"
                                                   f"#define CUDNN_PATCHLEVEL {patch}\n")

    def copy_of_cudnn(self, directory, version, cuda, *options, links=True, only=None):
        """A set of files in a directory that no package knows."""
        for name, source in self.cudnn_files(version, cuda, *options).items():
            if only is None or name in only:
                self.place_files(self.versioned(directory, name, source, version, links))

    def copy_of_cuda(self, directory, cuda, only=None):
        for what, name in stock.companion_names(cuda).items():
            if only is None or what in only:
                self.place_files(self.versioned(directory, name, stock.companion(what, cuda), stock.FULL[cuda]))

    def driver(self, release="550.54.15", gpu="8.0 NVIDIA A100-SXM4-40GB", directory=None, module=None, devices=1,
               state=0):
        """libcuda, the kernel module's words and device files. directory: elsewhere than where the system looks."""
        to = directory or f"/usr/lib/{stock.multiarch()}"
        self.put(stock.driver("CUDA"), f"{to}/libcuda.so.{release}")
        self.link(f"{to}/libcuda.so.1", f"libcuda.so.{release}")
        self.put(stock.driver("NVML"), f"{to}/libnvidia-ml.so.{release}")
        self.link(f"{to}/libnvidia-ml.so.1", f"libnvidia-ml.so.{release}")
        if module != "":
            self.write("/.driver/nvidia/version", f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {module or release}"
                       "  Wed Jan 1 00:00:00 UTC 2026\nGCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n")
            self.write("/.driver/nvidia/gpu", gpu + "\n")
            self.write("/.driver/nvidia/cuInit", f"{state}\n")
        for n in range(devices):
            self.write(f"/dev/nvidia{n}", "", 0o666)
        if devices:
            for name in ("nvidiactl", "nvidia-uvm"):
                self.write(f"/dev/{name}", "", 0o666)
        self.system_changed = self.system_changed or not directory

    # ---- environments ---------------------------------------------------------------------------

    def venv(self, prefix):
        python, base = stock.interpreter()
        inside = base / "bin" / python.name if str(base) != "/usr" else Path("/usr/bin") / python.name
        self.write(f"{prefix}/pyvenv.cfg", f"home = {inside.parent}\ninclude-system-site-packages = false\n"
                   f"version = {'.'.join(map(str, sys.version_info[:3]))}\n")
        for name in ("python", "python3", PYTHON):
            self.link(f"{prefix}/bin/{name}", str(inside))
        site = f"{prefix}/lib/{PYTHON}/site-packages"
        self.at(site).mkdir(parents=True)
        return site

    def conda(self, prefix):
        """A prefix with a Python of its own, whose library is the computer's."""
        python, base = stock.interpreter()
        self.put(python, f"{prefix}/bin/{PYTHON}")
        for name in ("python", "python3"):
            self.link(f"{prefix}/bin/{name}", PYTHON)
        library = f"{prefix}/lib/{PYTHON}"
        self.at(f"{library}/site-packages").mkdir(parents=True)
        own = base / "lib" / PYTHON
        for entry in os.listdir(own):
            if entry not in ("site-packages", "dist-packages", "test", "idlelib"):
                os.symlink(own / entry, self.at(f"{library}/{entry}"))
        self.conda_package(prefix, "python", "3.11.7", "h955ad1f_0", {})
        return f"{library}/site-packages"

    # ---- playing --------------------------------------------------------------------------------

    def finish(self):
        """The loader's cache, where the world has libraries of the system."""
        if self.system_changed and self.exists("/etc/ld.so.cache"):
            stage, self.stage = self.stage, []
            self.play(["/usr/sbin/ldconfig", "-X"], {}, check=True, cwd="/")
            self.stage = stage
            self.system_changed = False

    def stage_command(self, command, env, cwd=None):
        python, base = stock.interpreter()
        binds = [f"bind={stock.BUILD}:/opt/whichcudnn", f"bind={stock.BUILD / 'worlds'}:/opt/stock"]
        if str(base) != "/usr":
            binds.append(f"bind={base}:{base}")
        else:
            binds.append(f"bind={base}/lib/{PYTHON}:{base}/lib/{PYTHON}")
        # What the loader heeds is meant for those inside alone.
        binds += [f"set={n}={v}" for n, v in env.items() if n.startswith("LD_")]
        return [str(stock.stage()), str(self.root), *binds, *self.stage, f"cwd={cwd or self.cwd}", "--", *command]

    def play(self, command, env=None, check=False, seconds=20, cwd=None):
        """(status, standard output, standard error); a signal is a negative status, as a shell's parent sees it."""
        env = self.env if env is None else env
        outer = {n: v for n, v in env.items() if not n.startswith("LD_")}
        child = subprocess.Popen(self.stage_command(command, env, cwd), env=outer, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            out, err = child.communicate()
            return "timeout", out.decode(errors="replace"), err.decode(errors="replace")
        if check and child.returncode:
            raise RuntimeError(f"{command}: {child.returncode}: {err.decode(errors='replace')}")
        return child.returncode, out.decode(errors="replace"), err.decode(errors="replace")

    def bare(self):
        return self.play(self.program())

    def program(self, before=()):
        """The argument vector, behind the shell that sets its limits where it has some."""
        if not self.limits:
            return [*before, *self.argv]
        return ["/bin/bash", "-c", self.limits + '; exec "$@"', "bash", *before, *self.argv]


def deb_name(version, cuda, dev=False):
    major = version.split(".")[0]
    return f"libcudnn{major}" + ("-dev" if dev else "") + (f"-cuda-{cuda}" if major == "9" else "")


def deb_packages(version, cuda, files):
    full = f"{stock.wheel_version(version)}-1" + ("" if version[0] == "9" else f"+cuda{stock.TOOLKITS[cuda]}")
    laid = {}
    for name, source in files.items():
        laid.update(World.versioned(f"/usr/lib/{stock.multiarch()}", name, source, version))
    yield deb_name(version, cuda), full, {p: s for p, s in laid.items() if not p.endswith(".so")}
    yield deb_name(version, cuda, True), full, {p: s for p, s in laid.items() if p.endswith(".so")}


def cuda_wheel_name(what, cuda):
    return f"nvidia-{what}" if cuda == "13" else f"nvidia-{what}-cu{cuda}"


def cuda_requires(cuda, *whats):
    return tuple(cuda_wheel_name(w, cuda) for w in whats)
