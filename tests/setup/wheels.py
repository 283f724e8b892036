# SPDX-License-Identifier: Apache-2.0
"""Reads single files out of wheels on a package index, without downloading the wheels.

A wheel is a zip and an index serves byte ranges, so the listing of a 700 MB cuDNN wheel costs a few
hundred KB, and one library of it what that library weighs. Which wheel is meant is left to pip, so
that indexes, mirrors, proxies and credentials are those of the user's pip.
"""

import base64
import contextlib
import csv
import fcntl
import glob
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib

import remotezip
import requests
import urllib3

TRIES = int(os.environ.get("WC_FETCH_TRIES", 4))

# Of wheels of hosts: what they require, and the texts that tables are made from.
HOST_FILES = re.compile(r"[^/]+\.dist-info/(METADATA|RECORD)|onnxruntime/__init__\.py|"
                        r"onnxruntime/capi/build_and_package_info\.py|"
                        r"torch/backends/cudnn/__init__\.py|jax_plugins/xla_cuda\d+/__init__\.py")


ERRORS = (requests.RequestException, urllib3.exceptions.HTTPError, remotezip.RemoteIOError,
          zipfile.BadZipFile, zlib.error, OSError, subprocess.SubprocessError)


class NotFound(Exception):
    """The index has no such distribution or version for this platform; trying again is useless."""


def log(*words):
    print("  FETCH   ", *words, file=sys.stderr)


def with_retries(what, action):
    for attempt in range(1, TRIES + 1):
        try:
            return action()
        except ERRORS as error:
            if attempt == TRIES:
                raise
            log(f"{what}: {error}; trying again")
            time.sleep(2 ** attempt)


def resolve(requirement, pip_options=()):
    """(version, address) of the wheel that pip would install for the requirement."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps",
               "--ignore-installed", "--quiet", "--only-binary=:all:", "--use-feature=fast-deps",
               "--report", "-", *pip_options, requirement]

    def ask():
        with tempfile.TemporaryDirectory() as nowhere:
            extra = ["--target", nowhere] if pip_options else []
            done = subprocess.run(command + extra, capture_output=True, text=True, timeout=600)
        if "No matching distribution" in done.stderr:
            raise NotFound(f"no wheel for {requirement}: {done.stderr.strip().splitlines()[-1]}")
        done.check_returncode()
        item = json.loads(done.stdout)["install"][0]
        return item["metadata"]["version"], item["download_info"]["url"]

    return with_retries(requirement, ask)


def session():
    new = requests.Session()
    new.verify = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("PIP_CERT") or True
    return new


@contextlib.contextmanager
def open_wheel(address):
    if address.startswith("file://"):
        with zipfile.ZipFile(address[len("file://"):]) as wheel:
            yield wheel
    else:
        with remotezip.RemoteZip(address, session=session(), timeout=60) as wheel:
            yield wheel


def extract(wheel, member, root):
    """Puts one member below root under its own name. The file is there whole or not at all."""
    path = os.path.join(root, member.filename)
    if not os.path.realpath(path).startswith(os.path.realpath(root) + os.sep):
        raise ValueError(f"{member.filename} leaves the wheel's directory")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    part = f"{path}.part{os.getpid()}"
    try:
        with wheel.open(member) as source, open(part, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        os.chmod(part, 0o755 if (member.external_attr >> 16) & 0o111 else 0o644)
        os.replace(part, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)


def small_files(directory, address, wanted=HOST_FILES):
    """The directory with those files of a wheel, fetched once; address(): where the wheel is."""
    if not glob.glob(f"{directory}/*.dist-info/RECORD"):
        os.makedirs(os.path.dirname(directory), exist_ok=True)
        with tempfile.TemporaryDirectory(dir=os.path.dirname(directory)) as new:
            with open_wheel(address()) as wheel:
                for member in filter(wanted.fullmatch, wheel.namelist()):
                    extract(wheel, wheel.getinfo(member), f"{new}/files")
            shutil.rmtree(directory, ignore_errors=True)
            os.rename(f"{new}/files", directory)
    return pathlib.Path(directory)


def damaged(site_packages):
    """Files there that are not what the RECORD of their wheel says; None: there is no RECORD."""
    rows = {}
    for record in glob.glob(f"{site_packages}/*.dist-info/RECORD"):
        with open(record, newline="", encoding="utf-8") as file:
            rows.update({row[0]: row for row in csv.reader(file) if len(row) == 3})
    there = [str(path.relative_to(site_packages)) for path in pathlib.Path(site_packages).rglob("*")
             if path.is_file()]
    return sorted(name for name in there if not name.endswith(".dist-info/RECORD")
                  and rows.get(name) != record_line(site_packages, name)) if rows else None


def cudnn_required(metadata):
    """{(wheel, its releases, extra)} of the Requires-Dist lines for cuDNN."""
    found = set()
    for line in re.findall(r"^Requires-Dist: (nvidia-cudnn-cu.*)$", metadata, re.M):
        wheel, releases = re.match(r"([\w-]+)\s*\(?([^;)]*)", line).groups()
        extra = re.search(r"extra == ['\"]([\w-]+)", line)
        found.add((wheel, frozenset(releases.replace(" ", "").split(",")),
                   extra[1].replace("_", "-") if extra else ""))
    return found


@contextlib.contextmanager
def locked(path):
    """Others who want the same thing wait, then find it there. Freed by the kernel if we die."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def record_line(site_packages, name):
    with open(os.path.join(site_packages, name), "rb") as file:
        content = file.read()
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return [name, f"sha256={digest}", str(len(content))]


def mark_installer(site_packages, dist_info):
    """What pip adds to a wheel's own dist-info when it installs it."""
    name = f"{dist_info}/INSTALLER"
    with open(os.path.join(site_packages, name), "w", encoding="ascii") as file:
        file.write("pip\n")
    with open(os.path.join(site_packages, dist_info, "RECORD"), "a", newline="",
              encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerow(record_line(site_packages, name))


def prune_record(site_packages, dist_info):
    """Leaves in RECORD what is there: a small installation that is complete by its own account."""
    path = os.path.join(site_packages, dist_info, "RECORD")
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file)
                if row and os.path.exists(os.path.join(site_packages, row[0]))]
    with open(path + ".new", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    os.replace(path + ".new", path)
