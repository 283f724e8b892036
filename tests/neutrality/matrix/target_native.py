# SPDX-License-Identifier: Apache-2.0
"""This machine."""

import functools
import glob
import os
import pathlib
import platform
import re
import subprocess
import sys
import threading

from . import rows
from .targets import BUILD, HERE, ROOT, Target, Unavailable

VARIANTS = {"gcc-O2": "O2", "gcc-O0": "O0", "clang-O2": "clang", "clang-O0": "clang-O0",
            "coverage": "coverage"}
RELEASES = {"real8": "8.9.7", "real9": "9.28.0"}
HOSTS = {
    "gcc": ("gcc", "g++", ""), "gcc-O0": ("gcc", "g++", "-O0"), "gcc-O2": ("gcc", "g++", "-O2"),
    "clang": ("clang", "clang++", "-O2"),
    "asan": ("gcc", "g++", "-fsanitize=address"), "tsan": ("gcc", "g++", "-fsanitize=thread"),
}
HOSTS["asan-behind"] = HOSTS["asan"]
BUILDING = threading.Lock()
LIBRARIES = {"jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4",
             "eatmydata": "libeatmydata.so"}


class Native(Target):
    name = "native"
    arch = platform.machine()
    small = spread = True
    variants = VARIANTS   # names for shim-variant
    own_cc = "gcc"

    @property
    def glibc(self):
        return tuple(int(n) for n in re.findall(r"\d+", os.confstr("CS_GNU_LIBC_VERSION")))

    def rows(self, part):
        return rows.native(self, part)

    @functools.cache
    def _variant(self, name):
        done = subprocess.run([HERE.parent / "shim-variant", name], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            raise Unavailable(f"shim-variant {name}: {done.stderr[-2000:]}")
        return pathlib.Path(done.stdout.strip())

    def shim(self, row):
        return self._variant(self.variants[row.shim])

    @functools.cache
    def cudnn(self, name):
        done = subprocess.run([sys.executable, ROOT / "tests/setup/fetch_cudnn.py", RELEASES[name],
                               "--print", "lib"], text=True, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        if done.returncode:
            raise Unavailable(f"cuDNN {RELEASES[name]}: {done.stderr[-2000:]}")
        return pathlib.Path(done.stdout.strip())

    def compilers(self, row):
        return *HOSTS[row.host], ""

    def directory(self, row):
        host = "asan" if row.host == "asan-behind" else row.host
        return BUILD / "neutral" / f"{self.name}-{host}-{row.cudnn}"

    @functools.cache
    def preload(self, word):
        if word == "forwards":
            return self.own("forwards")
        found = glob.glob(f"/usr/lib/*/{LIBRARIES[word]}") + glob.glob(f"/usr/lib/{LIBRARIES[word]}")
        if not found:
            raise Unavailable(f"{LIBRARIES[word]} is not installed")
        return pathlib.Path(found[0])

    def own(self, name):
        """A library of planted/, built once a run."""
        with BUILDING:
            return self._own(name)

    @functools.cache
    def _own(self, name):
        source = HERE.parent / "planted" / f"{name}.c"
        source = source.resolve()
        out = BUILD / "neutral" / f"planted-{self.arch}" / f"lib{source.stem}.so"
        out.parent.mkdir(parents=True, exist_ok=True)
        new = out.with_suffix(f".{os.getpid()}")
        done = subprocess.run([self.own_cc, "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra",
                               "-fPIC", "-shared", "-Wl,-z,now", "-o", new, source,
                               "-ldl"], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise Unavailable(done.stdout)
        new.rename(out)
        return out

    def first(self, row):
        library = {"asan": "libasan.so", "tsan": "libtsan.so"}.get(row.host)
        if not library:
            return []
        path = subprocess.run(["gcc", f"-print-file-name={library}"], text=True, check=True,
                              stdout=subprocess.PIPE).stdout.strip()
        return [os.path.realpath(path)]

    def environment(self, row):
        variables = {}
        if row.host in rows.SANITIZED and not row.cudnn.startswith("stub"):
            # cuDNN's parts are found by the RUNPATH of those that open them, and with a sanitizer it
            # is that one's library that opens them.
            variables["LD_LIBRARY_PATH"] = str(self.cudnn(row.cudnn))
        if row.host.startswith("asan"):
            # What the cases leave to the process's end is not looked for.
            variables["ASAN_OPTIONS"] = "detect_leaks=0" + (
                ":verify_asan_link_order=0" if row.host == "asan-behind" else "")
        if row.host == "tsan":
            variables["TSAN_OPTIONS"] = f"suppressions={HERE.parent}/tsan.suppressions"
        if row.binding != "default":
            variables[{"bind-now": "LD_BIND_NOW", "bind-not": "LD_BIND_NOT"}[row.binding]] = "1"
        if row.observer == "audit":
            variables["LD_AUDIT"] = str(self.own("audits"))
            if "jemalloc" in (row.before, row.after):  # there is no room for its variables otherwise
                variables["GLIBC_TUNABLES"] = "glibc.rtld.optional_static_tls=16384"
        return variables


TARGET = Native()
