# SPDX-License-Identifier: Apache-2.0
"""aarch64: programs and shim cross-built, run by qemu-user; in --part small on the libraries that the
cross compiler brings, else on those of Debian's packages."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

from . import rows
from .target_native import RELEASES, Native
from .targets import BUILD, ROOT, Unavailable

MACHINE = "aarch64"
TRIPLE = "aarch64-linux-gnu"
HOSTS = {"gcc": ("gcc", ""), "gcc-O0": ("gcc", "-O0"), "gcc-O2": ("gcc", "-O2"),
         "clang": ("clang", "-O2")}
# What comes from Debian's packages of that architecture.
PRELOADS = {"jemalloc": ("libjemalloc2", "libjemalloc.so.2"),
            "eatmydata": ("libeatmydata1", "libeatmydata.so")}
SMALL = [{"binding": "bind-now", "before": "forwards"}, {"after": "forwards"}]
ALL = [
    *SMALL,
    {"shim": "gcc-O0"},
    {"host": "gcc-O2", "observer": "audit"},
    {"shim": "clang-O2", "host": "clang", "before": "eatmydata", "after": "jemalloc"},
    {"shim": "clang-O0", "host": "gcc-O0", "binding": "bind-not"},
    {"host": "clang", "cudnn": "real9", "binding": "bind-now", "before": "jemalloc"},
    {"shim": "gcc-O0", "cudnn": "real9", "after": "eatmydata"},
]
# What is the architecture's own: entries, lazy slots and bound ones, the program's PLT, a resolver
# before relocation, threads.
SMALL_CASES = {
    "RUNPATH of a library that the program opened",
    "a success in between takes the error away, a second failure takes its place",
    "program's lazy slots are resolved once",
    "16 threads make their first calls at once",
    "threads resolve one slot at once, whose resolver is slow",
    "resolver of a start-up library calls dlsym",
    "address in an address slot, where gold made a jump slot, too",
    "address that is an entry of the program's PLT",
    "host calls cuDNN in its constructor: opened",
    "forked child makes a first call of its own",
}


class Aarch64(Native):
    name = MACHINE
    arch = MACHINE
    patience = 5
    variants = {"gcc-O2": "aarch64", "gcc-O0": "aarch64-O0", "clang-O2": "aarch64-clang",
                "clang-O0": "aarch64-clang-O0"}
    own_cc = f"{TRIPLE}-gcc"

    whole = False

    @functools.cached_property
    def sysroot(self):
        return self.userland() if self.whole else pathlib.Path("/usr") / TRIPLE

    @functools.cached_property
    def glibc(self):
        said = next(self.sysroot.glob("**/libc.so.6")).read_bytes()
        return tuple(int(n) for n in re.search(rb"release version (\d+)\.(\d+)", said).groups())

    def rows(self, part):
        self.whole = part == "all"
        return [rows.Row(target=self, **settings) for settings in (ALL if self.whole else SMALL)]

    def takes(self, case, part):
        return part == "all" or case.name in SMALL_CASES

    @functools.cache
    def cudnn(self, name):
        done = subprocess.run([sys.executable, ROOT / "tests/setup/fetch_cudnn.py", RELEASES[name],
                               "--machine", MACHINE, "--print", "lib"], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            raise Unavailable(f"cuDNN {RELEASES[name]} of {MACHINE}: {done.stderr[-2000:]}")
        return pathlib.Path(done.stdout.strip())

    @functools.cached_property
    def tools(self):
        """A folder with clang as a cross compiler, by one word, and lld where gcc finds it."""
        folder = BUILD / "neutral" / f"{MACHINE}-tools"
        folder.mkdir(parents=True, exist_ok=True)
        lld = folder / "ld.lld"
        if not lld.exists():
            lld.unlink(missing_ok=True)
            lld.symlink_to(shutil.which("ld.lld") or "ld.lld")
        for compiler in ("clang", "clang++"):
            text = f'#!/bin/sh\nexec {compiler} --target={TRIPLE} "$@"\n'
            script = folder / compiler
            if not script.exists() or script.read_text() != text:
                script.write_text(text)
                script.chmod(0o755)
        return folder

    def compilers(self, row):
        name, flags = HOSTS[row.host]
        if name == "clang":
            return str(self.tools / "clang"), str(self.tools / "clang++"), flags, ""
        return f"{TRIPLE}-gcc", f"{TRIPLE}-g++", f"{flags} -B{self.tools}".strip(), ""

    @functools.cache
    def preload(self, word):
        if word == "forwards":
            return self.own("forwards")
        package, name = PRELOADS[word]
        return next(self.userland(package).glob(f"usr/lib/**/{name}"))

    @functools.cache
    def userland(self, *packages):
        done = subprocess.run([ROOT / "tests/setup/userland-aarch64", *packages], text=True,
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            raise Unavailable(f"userland-aarch64 {' '.join(packages)}: {done.stderr[-2000:]}")
        return pathlib.Path(done.stdout.strip())

    def command(self, argv, env, preloads, cwd):
        """What the loader heeds is not for qemu's own loader; all else both may have, and
        /proc/self/environ, which is qemu's, then tells of it, too."""
        argv, env = super().command(argv, env, preloads, cwd)
        emulator = [shutil.which("qemu-aarch64") or "qemu-aarch64", "-L", str(self.sysroot)]
        for name in [name for name in env if name.startswith("LD_")]:
            # A comma would begin another variable; the loader takes a colon as well.
            emulator += ["-E", f"{name}={env.pop(name).replace(',', ':')}"]
        return emulator + argv, env

    def errors(self, text):
        """Without what qemu adds when a signal ends the program."""
        return re.sub(r"^qemu: uncaught target signal \d+ .*\n", "", text, flags=re.MULTILINE)


TARGET = Aarch64()
