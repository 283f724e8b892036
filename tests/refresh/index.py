# SPDX-License-Identifier: Apache-2.0
"""What a package index has of cuDNN and of its hosts, read by range and kept in the cache."""

import ast
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types

import elf
import fetch_cudnn
import packaging.version
import pypi_simple
import watch
import wheels


class Trouble(Exception):
    """Why nothing was written, for people."""


ERRORS = (*wheels.ERRORS, ValueError)  # ValueError: no JSON, no number


@contextlib.contextmanager
def explained(what):
    try:
        yield
    except ERRORS as error:
        raise Trouble(f"{what}: {error}") from error


def key(text):
    """(9, 28, 1) of "9.28.1.4": releases of cuDNN are told apart by three numbers."""
    return (watch.fields(text) + (0, 0, 0))[:3]


def configured(name):
    done = subprocess.run([sys.executable, "-m", "pip", "config", "get", name],
                          capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def address():
    """Of the index that pip is configured for."""
    return os.environ.get("PIP_INDEX_URL") or configured("install.index-url") or \
        configured("global.index-url") or pypi_simple.PYPI_SIMPLE_ENDPOINT


class Index:
    """The releases of the index, for Linux x86-64."""

    def __init__(self, cache):
        self.cache = cache
        self.client = pypi_simple.PyPISimple(address(), session=wheels.session())

    def wheels_of(self, distribution):
        """{release: its wheel}, oldest first, without pre-releases and what was withdrawn."""
        def ask():
            return self.client.get_project_page(distribution, timeout=60)
        try:
            page = wheels.with_retries(distribution, ask)
        except pypi_simple.NoSuchProjectError as error:
            raise Trouble(f"the index has no {distribution}") from error
        except (*ERRORS, pypi_simple.UnsupportedContentTypeError) as error:
            raise Trouble(f"the index does not answer for {distribution}: {error}") from error
        found = {}
        for wheel in sorted(page.packages, key=lambda one: one.filename):
            if wheel.package_type == "wheel" and not wheel.is_yanked and \
                    re.search(r"manylinux\w*_x86_64\.whl$", wheel.filename) and \
                    re.fullmatch(r"\d+(\.\d+)*", wheel.version):
                found[wheel.version] = wheel
        return dict(sorted(found.items(), key=lambda one: packaging.version.Version(one[0])))

    def nvidia(self, distribution, wheel, limit):
        """A Release: of cuDNN facade, headers and each part up to `limit` bytes (compressed)."""
        machine = "" if os.uname().machine == "x86_64" else "x86_64"
        cache = os.path.join(self.cache, "cudnn", machine).rstrip("/")
        options = types.SimpleNamespace(parts="facade-only", headers=True, member=[], limit=limit)
        directory = f"{cache}/{distribution}-{wheel.version}"
        with explained(f"{distribution} {wheel.version}"), \
                wheels.locked(f"{cache}/.lock-{distribution}"):
            if not os.path.exists(directory):
                wheels.log(distribution, wheel.version)
                wheels.with_retries(distribution, lambda: fetch_cudnn.fetch_new(
                    cache, distribution, wheel.version, wheel.url, options))
                self.whole(directory, f"{directory}/site-packages", new=True)
            self.whole(directory, f"{directory}/site-packages")
            if fetch_cudnn.missing(directory, options):
                wheels.log(distribution, wheel.version)
                wheels.with_retries(distribution, lambda: fetch_cudnn.fetch_more(
                    directory, wheel.url, options))
                self.whole(directory, f"{directory}/site-packages")
            return Release(directory)

    def host(self, distribution, wheel):
        """The directory with the small files of a host's wheel."""
        directory = f"{self.cache}/hosts/{distribution}-{wheel.version}"
        with explained(f"{distribution} {wheel.version}"), \
                wheels.locked(f"{self.cache}/hosts/.lock-{distribution}"):
            def fetch():
                wheels.log(distribution, wheel.version)
                return wheel.url
            there = os.path.exists(directory)
            files = wheels.with_retries(distribution,
                                        lambda: wheels.small_files(directory, fetch))
            self.whole(directory, directory, new=not there)
            return files

    @staticmethod
    def whole(directory, site_packages, new=False):
        """Is each file what its RECORD says? A new one that is not does not stay."""
        with contextlib.suppress(FileNotFoundError):
            damaged = wheels.damaged(site_packages)
            if damaged == []:
                return
            damaged = damaged or ["its RECORD"]
            if new:
                shutil.rmtree(directory)
                raise Trouble(f"the wheel is damaged: {damaged[0]} is not what its RECORD says")
            raise Trouble(f"half-written: {damaged[0]} is not what its RECORD says; "
                          f"remove {directory}")
        raise Trouble(f"half-written: remove {directory}")


def read(*path):
    return pathlib.Path(*path).read_text(encoding="utf-8", errors="replace")


class Release:
    """What was read of one wheel of NVIDIA's."""

    def __init__(self, directory):
        wheel = json.loads(read(directory, "wheel.json"))
        self.site = f"{directory}/site-packages"
        self.distribution, self.version = wheel["distribution"], wheel["version"]
        self.name = ".".join(map(str, key(self.version)))
        self.sizes = {name: size for name, size in wheel["members"].items()
                      if re.search(r"\.so(\.\d+)*$", name)}
        self.files = {name: os.path.join(self.site, name) for name in self.sizes
                      if os.path.exists(os.path.join(self.site, name))}
        self.facade = next((path for path in self.files.values()
                            if re.fullmatch(r"libcudnn\.so\.\d+", os.path.basename(path))), None)
        self.functions = watch.functions(self.facade) if self.facade else set()

    def __str__(self):
        return f"{self.distribution} {self.version}"

    def declared(self):
        """The functions that its headers declare."""
        headers = (pathlib.Path(self.facade).parents[1] / "include").glob("*.h")
        return set(re.findall(r"\b(cudnn[A-Z]\w+)\s*\(", "\n".join(map(read, sorted(headers)))))

    def parts(self):
        return {found[1] for name in self.sizes if (found := re.search(r"/libcudnn_(\w+)\.so\.\d+$", name))}

    def asked(self):
        """The parts whose names its facade and graph have as constants."""
        read = [path for path in self.files.values()
                if re.fullmatch(r"libcudnn(_graph)?\.so\.\d+", os.path.basename(path))]
        names = {name for path in read for name in elf.constants(pathlib.Path(path).read_bytes())}
        return {found[1] for name in names if (found := re.match(r"libcudnn_(\w+)\.so", name))}

    def required(self):
        """The distributions that pip installs with it."""
        text = read(self.site, fetch_cudnn.dist_info(self.site), "METADATA")
        return {re.sub(r"[-_.]+", "-", name).lower() for name in
                re.findall(r"^Requires-Dist: ([\w.-]+)(?![^\n]*extra ==)", text, re.M)}

    def sources(self):
        """{library: (version, where it is read from)} by `whichcudnn scan`, by the files alone."""
        with tempfile.TemporaryDirectory() as alone:
            for path in self.files.values():
                shutil.copy(path, alone)
            done = subprocess.run([watch.COMMAND, "scan", "--json", alone], text=True,
                                  capture_output=True, env=watch.clean_environment())
        copies = json.loads(done.stdout)["copies"]
        return {os.path.basename(one["path"]): (one["version"], one["version_source"])
                for one in copies}


def checks_in(text):
    """The functions of a Python module that speak of cuDNN and of versions, without comments."""
    found = []

    def look(node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef):
                words = ast.unparse(child)
                if re.search("cudnn", words, re.I) and re.search("version", words, re.I):
                    found.append(words)
            else:
                look(child)
    look(ast.parse(text))
    return "\n\n".join(found)
