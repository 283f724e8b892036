# SPDX-License-Identifier: Apache-2.0
"""A cell: a virtual environment with one release of a framework and one wheel of cuDNN, in a root with what is
there besides, all of stand-ins; and what `whichcudnn scan` says of it.
"""

import csv
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess

import elf
import watch

SITE = "venv/lib/python3.11/site-packages"
SYSTEM = "usr/lib/x86_64-linux-gnu"
DRIVER = "libcuda.so.1"
UNUSED = "no use of cuDNN"
WAYS = ("alone", "older copy", "newer copy")


def plain(name, needed=()):
    return {"soname": name, "needed": list(needed), "rpath": "", "runpath": "", "verneed": {}, "verdef": [],
            "symbols": [], "constants": []}


def of_release(path, facts, version):
    """Facts with a text that tells the release, as in those parts whose code or texts tell it."""
    part = re.fullmatch(r"libcudnn_(\w+)\.so\.\d+", os.path.basename(path))
    if not part or part[1] in ("heuristic", "ext") or any(
            re.fullmatch(r"cudnn_\w+_version", one[0]) and one[3] for one in facts["symbols"]):
        return facts
    return {**facts, "constants": [*facts["constants"], f"cudnn_version_{version.replace('.', '_')}"]}


def write_new(path, content, size=0):
    """size: of what it stands for; what is more than its content is a hole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.truncate(path, max(size, len(content)))


class Stock:
    """Stand-ins and parts of environments, made once."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        shutil.rmtree(self.directory, ignore_errors=True)

    def site(self, pieces_of):
        """The directory with what a wheel puts below site-packages, with a RECORD of that."""
        name, version = pieces_of["wheel"], pieces_of["version"]
        directory = self.directory / f"{name}-{version}"
        if directory.exists():
            return directory
        for path, one in pieces_of["libraries"].items():
            facts = one["facts"] or plain(os.path.basename(path))
            content = bytes.fromhex(one["content"]) if "content" in one else \
                elf.stand_in(of_release(path, facts, version))
            write_new(directory / path, content, one["size"])
        for path, text in pieces_of["texts"].items():
            write_new(directory / path, text.encode())
        info = next(directory.glob("*.dist-info"))
        (info / "INSTALLER").write_text("pip\n", encoding="ascii")
        files = sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())
        with open(info / "RECORD", "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(
                [*([path, "", (directory / path).stat().st_size] for path in files), [f"{info.name}/RECORD", "", ""]])
        return directory


def link_tree(source, target):
    for path in source.rglob("*"):
        to = target / path.relative_to(source)
        if path.is_dir():
            to.mkdir(parents=True, exist_ok=True)
        else:
            to.parent.mkdir(parents=True, exist_ok=True)
            os.link(path, to)


class Roots:
    """Roots of file systems, each with another cuDNN in the loader's cache, or none. One environment moves
    through them."""

    def __init__(self, directory, needed):
        self.directory = pathlib.Path(directory)
        shutil.rmtree(self.directory, ignore_errors=True)
        self.system = self.directory / "system"
        self.system.mkdir(parents=True)
        for name in sorted({*needed, DRIVER}):
            (self.system / name).write_bytes(elf.stand_in(plain(name)))
        self.venv, self.installed = None, None

    @functools.lru_cache(None)
    def root(self, copy):
        """copy: a directory with libraries of cuDNN; None."""
        root = self.directory / f"root-{copy.parents[2].name if copy else 'alone'}"
        link_tree(self.system, root / SYSTEM)
        if copy:
            link_tree(copy, root / SYSTEM)
        (root / "etc").mkdir()
        (root / "etc/ld.so.conf").write_text(f"/{SYSTEM}\n", encoding="ascii")
        subprocess.run(["/sbin/ldconfig", "-X", "-r", str(root)], check=True)
        return root

    def enter(self, sites):
        """Makes the environment anew, with what those directories hold."""
        if self.venv:
            shutil.rmtree(self.venv)
        self.venv = self.directory / "venv"
        (self.venv / "bin").mkdir(parents=True)
        (self.venv / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n", encoding="ascii")
        for site in sites:
            link_tree(site, self.directory / SITE)

    def install(self, site):
        """Puts there what a wheel of cuDNN holds, until uninstall()."""
        there = self.venv / SITE.partition("/")[2]
        (there / "nvidia").mkdir(exist_ok=True)
        self.installed = ["nvidia/cudnn", *(info.name for info in site.glob("*.dist-info"))]
        for name in self.installed:
            shutil.copytree(site / name, there / name, copy_function=os.link)

    def uninstall(self):
        for name in self.installed:
            shutil.rmtree(self.venv / SITE.partition("/")[2] / name)

    def put(self, copy):
        """Moves the environment into the root with that copy, which it returns."""
        root = self.root(copy)
        if self.venv.parent != root:
            os.rename(self.venv, root / "venv")
            self.venv = root / "venv"
        return root


def scan(root, path, *options):
    """path: with cuDNN's directory in LD_LIBRARY_PATH."""
    options = [*options, *(["--ld-library-path", f"/{SITE}/nvidia/cudnn/lib"] if path else [])]
    return subprocess.run([watch.COMMAND, "scan", *options, "--root", str(root), "/venv"], text=True,
                          capture_output=True, check=False, env=watch.clean_environment())


def outcome(root, path):
    """(word, its title) of a cell: "fits", "error ID" or "warning ID"."""
    done = scan(root, path, "--json")
    if done.returncode == 2:
        raise AssertionError(done.stderr)
    document = json.loads(done.stdout)
    found = [f for report in document["reports"] for f in report["findings"] if f["severity"] != "note"]
    found.sort(key=lambda one: one["severity"] != "error")
    if found:
        return f"{found[0]['severity']} {found[0]['id']}", found[0]["title"]
    verdicts = {report["verdict"] for report in document["reports"]} or {"not-observed"}
    return {"ok": "fits", "notes": "fits", "not-observed": UNUSED}.get(min(verdicts), min(verdicts)), ""
