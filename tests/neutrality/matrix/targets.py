# SPDX-License-Identifier: Apache-2.0
"""Where the cases run: this machine, an emulated one, another distribution's userland.

A module target_NAME.py in this folder holds a subclass of Target named as `TARGET = Name()`, or, where
there are several, `TARGETS = [...]`; it is found by its file name.
"""

import fnmatch
import importlib
import os
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BUILD = pathlib.Path(os.environ.get("WC_BUILD") or ROOT / "build")


class Unavailable(Exception):
    """This target, or what a row asks of it, cannot be had; the row fails and says so."""


class Target:
    name = ""
    arch = ""                # x86_64, aarch64
    cc, cxx = "gcc", "g++"   # of the host programs
    cflags = ldflags = ""
    glibc = ()               # (2, 36); () where the libc is another
    words = ()               # further words that exceptions may call it by
    features = {"cxx", "threads", "proc", "dlmopen"}  # what cases may need: cases.NEEDS
    patience = 1             # how many times as long as here a case may take
    ld_debug = True          # does its loader heed LD_DEBUG
    small = False            # has a part in --part small
    spread = False           # has so many rows that each case gets some of them
    cases = "*"              # which cases (a pattern of "group/name"); in --part small:
    small_cases = "*"

    def rows(self, part):
        """The rows for --part small or all; rows.Row(target=self, ...)."""
        raise NotImplementedError

    def takes(self, case, part):
        """Does the case run here in --part small, or all?"""
        pattern = self.small_cases if part == "small" else self.cases
        return fnmatch.fnmatch(f"{case.group}/{case.name}", pattern)

    def prepare(self):
        """Called once, before anything else, if any of its rows is to run."""

    def shim(self, row):
        """Path of the shim built for the target as row.shim says."""
        raise NotImplementedError

    def cudnn(self, name):
        """Directory of the libraries of real8 or real9, with the parts that cudnnGetVersion takes."""
        raise Unavailable(f"{self.name} has no {name}")

    def compilers(self, row):
        """(CC, CXX, CFLAGS, LDFLAGS) for row.host."""
        return self.cc, self.cxx, self.cflags, self.ldflags

    def preload(self, word):
        """Path of the library that row.before or row.after names."""
        raise Unavailable(f"{self.name} has no preload {word}")

    def first(self, row):
        """Libraries that must stand before all other preloads (a sanitizer's)."""
        return []

    def environment(self, row):
        """Variables that the row brings, for the bare run as for the shimmed one."""
        return {}

    def command(self, argv, env, preloads, cwd):
        """(argv, env) that run it: env holds the program's own variables, without LD_PRELOAD."""
        env = dict(env)
        if preloads:
            env["LD_PRELOAD"] = ":".join(str(p) for p in preloads)
        return argv, env

    def errors(self, text):
        """What the program wrote to standard error, of what arrived there."""
        return text

    def directory(self, row):
        """Where the programs of the row are built; one for all rows that share them."""
        return BUILD / "neutral" / "-".join([self.name, row.host, row.cudnn])

    def build(self, row, groups):
        """Builds the programs of these groups, and says what the build said where it failed."""
        directory = self.directory(row)
        cc, cxx, cflags, ldflags = self.compilers(row)
        environment = dict(os.environ, CC=cc, CXX=cxx, CFLAGS=cflags, LDFLAGS=ldflags, ARCH=self.arch,
                           GROUPS_ONLY=" ".join(sorted(groups)))
        if row.cudnn.startswith("stub"):
            environment["MAJOR"] = row.cudnn.removeprefix("stub")
        else:
            environment["CUDNN"] = str(self.cudnn(row.cudnn))
        done = subprocess.run([HERE.parent / "build", directory], env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.stdout if done.returncode else ""

    def version(self, row):
        """(major, what cudnnGetVersion says)."""
        if row.cudnn.startswith("stub"):
            return int(row.cudnn.removeprefix("stub")), 90100
        release = next(re.search(r"-(\d+)\.(\d+)\.(\d+)", part)
                       for part in reversed(self.cudnn(row.cudnn).parts) if "cudnn-" in part)
        major, minor, patch = (int(n) for n in release.groups())
        return major, major * (1000 if major < 9 else 10000) + minor * 100 + patch


def find(name=None):
    """All targets, native first; with a name, that one (or those whose name begins with it)."""
    targets = []
    for path in sorted(HERE.glob("target_*.py")):
        module = importlib.import_module(f"matrix.{path.stem}")
        targets += getattr(module, "TARGETS", None) or [module.TARGET]
    targets.sort(key=lambda target: target.name != "native")
    if name is None:
        return targets
    found = [t for t in targets if t.name == name] or \
            [t for t in targets if t.name.startswith(name)]
    if not found:
        raise Unavailable(f"no target is called {name}; there are " +
                          ", ".join(t.name for t in targets))
    return found
