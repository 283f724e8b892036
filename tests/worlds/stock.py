# SPDX-License-Identifier: Apache-2.0
"""What worlds are made of, made once and kept: stand-ins of cuDNN and of CUDA's libraries, hosts, and a root with what
a program needs of a system. All of it lies in $WC_BUILD/worlds/stock; a world takes copies and patches them."""
import base64
import fcntl
import hashlib
import os
import shutil
import struct
import subprocess
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path

ROOT = Path(os.environ.get("WC_ROOT") or Path(__file__).resolve().parents[2])
BUILD = Path(os.environ.get("WC_BUILD") or ROOT / "build").resolve()
HERE = Path(__file__).resolve().parent
CC = os.environ.get("CC") or "gcc"

# Releases, with the fourth number of their wheels, and the CUDA majors that they are made for.
RELEASES = {
    "7.4.1": ("5", ("10",)),
    "7.6.0": ("64", ("10",)),
    "7.6.5": ("32", ("10",)),
    "8.2.1": ("32", ("11",)),
    "8.5.0": ("96", ("11",)),
    "8.6.0": ("163", ("11",)),
    "8.9.2": ("26", ("11", "12")),
    "8.9.7": ("29", ("11", "12")),
    "9.1.0": ("70", ("11", "12")),
    "9.5.1": ("17", ("12",)),
    "9.8.0": ("87", ("12",)),
    "9.10.2": ("21", ("11", "12")),
    "9.13.0": ("50", ("12", "13")),
    "9.19.0": ("56", ("12", "13")),
    "9.26.0": ("51", ("12", "13")),
}
TOOLKITS = {"10": "10.1", "11": "11.8", "12": "12.4", "13": "13.0"}
FULL = {"10": "10.1.243", "11": "11.8.89", "12": "12.4.127", "13": "13.0.48"}


def numbers(version):
    return tuple(int(n) for n in version.split("."))


def number(version):
    major, minor, patch = numbers(version)[:3]
    return major * (1000 if major < 9 else 10000) + minor * 100 + patch


def wheel_version(version):
    return f"{version}.{RELEASES[version][0]}"


def releases(major, cuda):
    return [v for v, (_, cudas) in RELEASES.items() if v.split(".")[0] == str(major) and cuda in cudas]


# ---- made once --------------------------------------------------------------------------------------

@lru_cache(None)
def _directory():
    """Stock of other sources than these would be another stock."""
    parts = [HERE / "stock.py", *sorted((HERE / "hosts").iterdir()), *sorted((ROOT / "tests/fixtures/standin").iterdir())]
    digest = hashlib.sha256(b"".join(p.read_bytes() for p in parts) + CC.encode()).hexdigest()[:12]
    path = BUILD / "worlds" / f"stock-{digest}"
    path.mkdir(parents=True, exist_ok=True)
    return path


def _kept(name, make):
    """The directory of that name in the stock; make(directory) fills it where it is not there yet."""
    into = _directory() / name
    if into.is_dir():
        return into
    with open(_directory() / f".lock-{name}", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not into.is_dir():
            new = into.with_name(into.name + ".new")
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(parents=True)
            make(new)
            new.rename(into)
    return into


def _compile(source, out, *flags):
    subprocess.run([CC, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Wno-unused-parameter", *flags, "-o", str(out),
                    str(HERE / "hosts" / source), "-ldl"], check=True)


SEARCHING = "parts with a search path"  # an option of cudnn()


@lru_cache(None)
def cudnn(version, cuda, *options):
    """Directory with libcudnn.so.N and its parts, as a sound release for that CUDA has them."""
    era = int(version.split(".")[0])
    usual = ["--driver", "--create-status", "0"]
    if era > 7:
        usual += ["--asks", f"libcublasLt.so.{cuda}:cublasLtCreate", "--compiles", f"libnvrtc.so.{nvrtc_number(cuda)}"]
    if era == 8:
        usual += ["--parts-no-path"] if SEARCHING not in options else []
        for part in ("ops_infer", "cnn_infer"):
            usual += ["--needs", f"{part}=libcublas.so.{cuda}"]
    key = hashlib.sha256(repr(options).encode()).hexdigest()[:8] if options else "plain"

    def make(into):
        own = [o for o in options if o != SEARCHING]
        subprocess.run([str(ROOT / "tests/fixtures/standin/make-standin"), *usual, *own, version, str(into)],
                       check=True, env={**os.environ, "CC": CC, "WC_BUILD": str(BUILD)})
        for file in into.iterdir():  # those of two releases are never of one size
            with open(file, "ab") as out:
                out.write(b"\0" * (number(version) % 4093 + int(cuda)))
    return _kept(f"cudnn-{version}-{cuda}-{key}", make)


def nvrtc_number(cuda):
    return {"10": "10.1", "11": "11.2"}.get(cuda, cuda)


def companion_names(cuda):
    """File name of each CUDA library, by what it is."""
    builtins = {"10": "10.1", "11": "11.8", "12": "12.4", "13": "13.0"}[cuda]
    return {
        "cudart": f"libcudart.so.{ {'10': '10.1', '11': '11.0'}.get(cuda, cuda)}",
        "cublas": f"libcublas.so.{cuda}",
        "cublasLt": f"libcublasLt.so.{cuda}",
        "nvrtc": f"libnvrtc.so.{nvrtc_number(cuda)}",
        "builtins": f"libnvrtc-builtins.so.{builtins}",
    }


@lru_cache(None)
def companion(what, cuda, *flags):
    name = companion_names(cuda)[what]
    macros = {
        "cudart": f"CUDART={cuda}000", "cublas": "CUBLAS", "cublasLt": f"CUBLASLT={cuda}0400", "builtins": "EMPTY",
        "nvrtc": 'NVRTC="%s"' % companion_names(cuda)["builtins"],
    }
    key = hashlib.sha256(repr(flags).encode()).hexdigest()[:8] if flags else "plain"
    return _kept(f"cuda-{what}-{cuda}-{key}", lambda into: _compile(
        "companion.c", into / name, "-shared", "-fPIC", f"-D{macros[what]}", f"-Wl,-soname,{name}", "-Wl,-rpath,$ORIGIN", *flags)) / name


@lru_cache(None)
def driver(what, value=0):
    """libcuda.so.1, libnvidia-ml.so.1, and the libcuda.so.1 of a toolkit's stubs, which does nothing."""
    name = "libnvidia-ml.so.1" if what == "NVML" else "libcuda.so.1"
    return _kept(f"driver-{what}-{value}", lambda into: _compile(
        "companion.c", into / name, "-shared", "-fPIC", f"-D{what}={value}", f"-Wl,-soname,{name}")) / name


ROOM = 400  # for a search path


@lru_cache(None)
def host(era=None, cuda=None, program=True, imports=None, built=None, flags=(), extra_needs=()):
    """A host of hosts/host.c: linked with cuDNN of that era (and with that CUDA), or one that opens it. Its search path
    is room for one: see set_path. imports: a function that it imports beside the usual, built with that release."""
    out = "host" if program else "libhost.so"
    key = "-".join(str(p) for p in (era or "open", cuda or "plain", "program" if program else "library"))
    if imports or flags or extra_needs:
        key += "-" + hashlib.sha256(repr((imports, built, flags, extra_needs)).encode()).hexdigest()[:8]

    def make(into):
        options = ["-DPROGRAM"] if program else ["-shared", "-fPIC"]
        options.append("-Wl,--no-as-needed")
        options += ["-Wl,-z,lazy", "-Wl,--allow-shlib-undefined", "-Wl,-rpath," + "R" * ROOM, *flags]
        if era:
            options.append("-DLINKED")
            if era == 7:
                options.append("-DNO_FINALIZE")
            version = built or {7: "7.6.5", 8: "8.9.7", 9: "9.26.0"}[era]
            link = cudnn(version, RELEASES[version][1][-1])
            options.append(str(link / f"libcudnn.so.{era}"))
        if imports:
            options.append(f"-DIMPORTS={imports}")
        if cuda:
            options += [str(companion(w, cuda)) for w in ("cudart", "cublas", "cublasLt", "nvrtc")]
        for need in extra_needs:
            empty = into / need
            subprocess.run([CC, "-shared", "-fPIC", f"-Wl,-soname,{need}", "-o", str(empty), "-x", "c", "/dev/null"],
                           check=True)
            options.append(str(empty))
        _compile("host.c", into / out, *options)
    return _kept(f"host-{key}", make) / out


@lru_cache(None)
def digest(path):
    """sha256 as RECORD has it, and the size."""
    data = Path(path).read_bytes()
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), len(data)


# ---- ELF, patched -----------------------------------------------------------------------------------

DT_NEEDED, DT_STRTAB, DT_SONAME, DT_RPATH, DT_RUNPATH, IGNORED = 1, 5, 14, 15, 29, 0x6000_0FFF


def _dynamic(data):
    """Offset, tag and value of each entry of the dynamic section, and where its strings begin."""
    (phoff,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    entries = []
    for i in range(count):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, phoff + i * size)
        if kind == 2:
            for at in range(offset, offset + length, 16):
                entries.append((at, *struct.unpack_from("<QQ", data, at)))
    strings = next(value for _, tag, value in entries if tag == DT_STRTAB)
    return entries, strings


def set_path(data, kind, path):
    """data with that search path; kind: rpath, runpath or none."""
    data = bytearray(data)
    entries, strings = _dynamic(data)
    tag = {"rpath": DT_RPATH, "runpath": DT_RUNPATH, "none": IGNORED}[kind]
    for at, old, value in entries:
        if old in (DT_RPATH, DT_RUNPATH, IGNORED):
            struct.pack_into("<Q", data, at, tag)
            start = strings + value
            room = data.index(b"\0", start) - start
            new = path.encode() if kind != "none" else b""
            assert len(new) <= room or kind == "none", path
            data[start:start + room] = new + b"\0" * (room - len(new))
    return bytes(data)


def without_path(data):
    """data whose search path is not heeded; its string may be shared with other names."""
    data = bytearray(data)
    for at, tag, _ in _dynamic(data)[0]:
        if tag in (DT_RPATH, DT_RUNPATH):
            struct.pack_into("<Q", data, at, IGNORED)
    return bytes(data)


def replace_string(data, old, new):
    """A name of the same length in the dynamic strings."""
    assert len(old) == len(new), (old, new)
    return data.replace(old.encode() + b"\0", new.encode() + b"\0")


def other_machine(data):
    return data[:18] + struct.pack("<H", 183) + data[20:]  # aarch64


def other_class(data):
    return data[:4] + b"\1" + data[5:]


# ---- the root ---------------------------------------------------------------------------------------

PROGRAMS = ("bash", "env", "rm", "ln", "cp", "mv", "ls", "mkdir", "cat", "sed", "grep", "chmod", "touch", "unlink",
            "readlink", "find", "true", "false", "test", "sleep", "dirname", "basename", "head", "rmdir", "id", "uname")


def _needs(path):
    """What ldd says a program is made of, the loader too."""
    said = subprocess.run(["ldd", str(path)], capture_output=True, text=True).stdout
    for line in said.splitlines():
        words = line.split()
        if "=>" in words and len(words) > 2 and words[2].startswith("/"):
            yield words[2], words[0]
        elif words and words[0].startswith("/"):
            yield words[0], None


@lru_cache(None)
def interpreter():
    """The Python that worlds have: the one below the project's venv; and its prefix."""
    return Path(os.path.realpath(sys.executable)), Path(sysconfig.get_config_var("installed_base"))


@lru_cache(None)
def multiarch():
    said = subprocess.run([CC, "-print-multiarch"], capture_output=True, text=True).stdout.strip()
    return said or "x86_64-linux-gnu"


@lru_cache(None)
def base():
    """A root directory with a shell, its tools and what they are linked with; no cuDNN, no CUDA."""
    def make(root):
        libraries = f"usr/lib/{multiarch()}"
        for d in ("usr/bin", "usr/sbin", "usr/lib64", libraries, "usr/local/bin", "usr/local/lib", "etc/ld.so.conf.d",
                  "proc", "dev/shm", "tmp", "root", "home", "opt/whichcudnn", "opt/stock", "var/lib/dpkg/info",
                  ".driver", "log"):
            (root / d).mkdir(parents=True)
        for name in ("bin", "sbin", "lib", "lib64"):
            (root / name).symlink_to(f"usr/{name}")
        (root / "tmp").chmod(0o1777)
        for device in ("null", "zero", "urandom", "full"):
            (root / "dev" / device).touch()
        python, prefix = interpreter()
        programs = [p for p in (shutil.which(n) for n in PROGRAMS) if p]
        for program in (*programs, BUILD / "whichcudnn", python, *_extensions(prefix)):
            for path, name in _needs(program):
                if path.startswith(str(prefix)):
                    continue
                if name is None:  # the loader, where programs expect it
                    to = root / libraries / Path(path).name
                    link = root / "usr" / Path(path).relative_to("/")
                    if not link.exists() and link.parent != to.parent:
                        link.parent.mkdir(parents=True, exist_ok=True)
                        link.symlink_to(os.path.relpath(to, link.parent))
                else:
                    to = root / libraries / name
                if not to.exists():
                    to.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(os.path.realpath(path), to)
        for program in programs:
            shutil.copy(os.path.realpath(program), root / "usr/bin" / Path(program).name)
        (root / "usr/bin/sh").symlink_to("bash")
        for path in ("/sbin/ldconfig", "/usr/sbin/ldconfig"):
            if os.path.exists(path):
                shutil.copy(path, root / "usr/sbin/ldconfig")
                break
        python_in = root / "usr/bin/python3"
        shown = prefix / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" if str(prefix) == "/usr" else prefix
        (root / shown.relative_to("/")).mkdir(parents=True, exist_ok=True)
        if str(prefix) == "/usr":  # then there is no prefix of its own to show
            shutil.copy(python, root / "usr/bin" / python.name)
            python_in.symlink_to(python.name)
        else:
            python_in.symlink_to(python)
        (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/bash\nada:x:1000:1000::/home/ada:/bin/bash\n")
        (root / "etc/group").write_text("root:x:0:\nada:x:1000:\n")
        (root / "etc/os-release").write_text('ID=debian\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n')
        (root / "etc/ld.so.conf").write_text(f"include /etc/ld.so.conf.d/*.conf\n/usr/local/lib\n/lib/{multiarch()}\n"
                                             f"/usr/lib/{multiarch()}\n")
        (root / "var/lib/dpkg/status").write_text("")
        subprocess.run([str(stage()), str(root), "--", "/usr/sbin/ldconfig"], check=True)
    return _kept("root", make)


def _extensions(prefix):
    """Python's own modules in C that these tests import, by whatever they are linked with."""
    found = [p for p in prefix.glob("lib/python3*/lib-dynload/*.so")
             if p.name.split(".")[0] in ("_ctypes", "_hashlib", "_json", "_posixsubprocess", "_socket", "select", "math",
                                         "_struct", "fcntl", "_multiprocessing", "_posixshmem", "_pickle", "_queue",
                                         "_random", "_bisect", "_sha512", "_sha2", "array", "binascii", "zlib", "_opcode",
                                         "_datetime", "_heapq", "_csv")]
    return found


@lru_cache(None)
def stage():
    return _kept("stage", lambda into: _compile("stage.c", into / "stage")) / "stage"
