#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fetches real cuDNN releases, without the hundreds of megabytes that no test needs.

Each release comes out of the wheel that pip would install, laid out as pip would lay it out:

    CACHE/cudnn/nvidia-cudnn-cu12-9.1.0.70/site-packages/nvidia/cudnn/lib/libcudnn.so.9 ...
    CACHE/cudnn/nvidia-cudnn-cu12-9.1.0.70/site-packages/nvidia_cudnn_cu12-9.1.0.70.dist-info/...

By default that is the facade, the part that answers its cudnnGetVersion (graph, in 8.x ops_infer),
every part under 4 MB compressed, and the dist-info; the RECORD names the other parts all the same.
What was fetched before is not fetched again, and an interrupted run leaves nothing half done.
"""

import argparse
import fnmatch
import glob
import json
import os
import re
import shutil
import sys
import tempfile

import wheels

SMALL = 4 * 1000 * 1000  # bytes, compressed
ANSWERS_VERSION = ("graph", "ops_infer")  # without it cudnnGetVersion ends the process
LIBRARY = re.compile(r"libcudnn(?:_(?P<part>\w+))?\.so(\.\d+)*$")
CUPY = "cupy-cuda101"  # the wheel that carries 7.6.5; NVIDIA's own begin with 8.5.0
# Its wheels are for Pythons that this one need not be.
CUPY_OPTIONS = ["--implementation", "cp", "--python-version", "3.8", "--abi", "cp38"]


def platform_options(machine):
    tags = ["2014", "_2_17", "_2_27", "_2_28", "_2_34"] + (["1"] if machine == "x86_64" else [])
    return [word for tag in tags for word in ("--platform", f"manylinux{tag}_{machine}")]


def requested(text):
    """(distribution, version or "", version of cuDNN) of "9.1.0", "nvidia-cudnn-cu11==8.5.0", ..."""
    name, found, version = text.partition("==")
    if found or not re.fullmatch(r"\d+(\.\d+)*", text):
        return re.sub(r"[-_.]+", "-", name).lower(), version
    if text == "7.6.5":
        return CUPY, "7.8.0"
    major, minor = (int(n) for n in (text.split(".") + ["99"])[:2])
    return ("nvidia-cudnn-cu11" if (major, minor) < (8, 9) else "nvidia-cudnn-cu12"), text


def version_key(path):
    return [int(n) for n in re.findall(r"\d+", path.rsplit("-", 1)[1])]


def cached(cache, distribution, version):
    """The newest fetched release that the version, whole or a prefix, names; None if there is none."""
    if not version:
        return None
    found = [d for d in glob.glob(f"{cache}/{distribution}-{version}*")
             if re.fullmatch(re.escape(version) + r"(\.\d+)*", d[len(f"{cache}/{distribution}-"):])
             and os.path.exists(f"{d}/wheel.json")]
    return max(found, key=version_key) if found else None


def requirement(distribution, version):
    if not version:
        return distribution
    whole = distribution == CUPY or version.count(".") >= 3
    return f"{distribution}=={version}" + ("" if whole else ".*")


def wanted(members, options):
    """Names of the members to fetch; members: {name: compressed size}."""
    names = set()
    asked = set(options.parts.split(",")) if options.parts else set()
    for name, size in members.items():
        library = LIBRARY.search(name)
        if library and "/lib" in name:
            part = library["part"] or "facade"
            usual = part in ANSWERS_VERSION or size <= SMALL
            if part == "facade" or part in asked or "all" in asked or \
                    (usual and "facade-only" not in asked) or size <= options.limit:
                names.add(name)
        elif ".dist-info/" in name or (name.endswith("/__init__.py") and name.startswith("nvidia/")):
            names.add(name)
        elif options.headers and "/include/" in name and "cudnn" in name:
            names.add(name)
        elif any(fnmatch.fnmatch(name, pattern) for pattern in options.member):
            names.add(name)
    return names - {name for name in names if name.endswith("/")}


def missing(directory, options):
    with open(f"{directory}/wheel.json", encoding="utf-8") as file:
        members = json.load(file)["members"]
    return {n for n in wanted(members, options)
            if not os.path.exists(f"{directory}/site-packages/{n}")}


def fetch_new(cache, distribution, version, address, options):
    directory = f"{cache}/{distribution}-{version}"
    os.makedirs(cache, exist_ok=True)
    new = tempfile.mkdtemp(prefix=".new-", dir=cache)
    os.chmod(new, 0o755)
    try:
        with wheels.open_wheel(address) as wheel:
            members = {m.filename: m.compress_size for m in wheel.infolist()}
            for name in sorted(wanted(members, options)):
                wheels.extract(wheel, wheel.getinfo(name), f"{new}/site-packages")
        wheels.mark_installer(f"{new}/site-packages", dist_info(f"{new}/site-packages"))
        with open(f"{new}/wheel.json", "w", encoding="utf-8") as file:
            json.dump({"distribution": distribution, "version": version, "members": members}, file,
                      indent=1)
        os.rename(new, directory)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return directory


def fetch_more(directory, address, options):
    with wheels.open_wheel(address) as wheel:
        for name in sorted(missing(directory, options)):
            wheels.extract(wheel, wheel.getinfo(name), f"{directory}/site-packages")


def dist_info(site_packages):
    return next(n for n in sorted(os.listdir(site_packages)) if n.endswith(".dist-info"))


def fetch(text, options):
    distribution, version = requested(text)
    cache = os.path.join(options.cache, "cudnn")
    pip_options = CUPY_OPTIONS if distribution == CUPY else []
    if options.machine != os.uname().machine:
        cache = os.path.join(cache, options.machine)
    if pip_options or options.machine != os.uname().machine:
        pip_options = pip_options + platform_options(options.machine)

    # One lock for all its versions: "9.1" and "9.1.0.70" may be the same release.
    with wheels.locked(f"{cache}/.lock-{distribution}"):
        directory = cached(cache, distribution, version)
        if directory and not missing(directory, options):
            return directory
        found, address = wheels.resolve(requirement(distribution, version), pip_options)
        directory = cached(cache, distribution, found)
        wheels.log(distribution, found)
        if directory:
            wheels.with_retries(text, lambda: fetch_more(directory, address, options))
            return directory
        return wheels.with_retries(
            text, lambda: fetch_new(cache, distribution, found, address, options))


def place(directory, into, prune):
    """Copies a fetched release into somebody's site-packages."""
    site_packages = f"{directory}/site-packages"
    shutil.copytree(site_packages, into, dirs_exist_ok=True)
    if prune:
        wheels.prune_record(into, dist_info(site_packages))


def library_directory(directory):
    found = glob.glob(f"{directory}/site-packages/**/libcudnn.so*", recursive=True) + \
        glob.glob(f"{directory}/site-packages/*/.data/lib/libcudnn.so*")
    return os.path.dirname(found[0])


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Prints one line a release: its directory in the cache (see --print).")
    parser.add_argument("release", nargs="+",
                        help="9.1.0, 9.1.0.70, or with a distribution: nvidia-cudnn-cu13==9.19, "
                             "nvidia-cudnn-jit-cu12. A prefix means its newest release; a version "
                             "alone means -cu12, -cu11 below 8.9, and cupy-cuda101 for 7.6.5")
    parser.add_argument("--parts", metavar="LIST",
                        help="fetch these parts whatever they weigh: ops,adv or all; with "
                             "facade-only the small ones are left out")
    parser.add_argument("--limit", metavar="BYTES", type=int, default=0,
                        help="fetch each part up to this size, compressed")
    parser.add_argument("--headers", action="store_true", help="fetch cudnn*.h as well")
    parser.add_argument("--member", metavar="GLOB", action="append", default=[],
                        help="fetch these files of the wheel as well (may be repeated)")
    parser.add_argument("--machine", default=os.uname().machine,
                        help="x86_64 or aarch64 (default: this one, %(default)s)")
    parser.add_argument("--cache", metavar="DIR",
                        default=os.environ.get("WC_CACHE") or os.path.join(root, "build/cache"),
                        help="default: $WC_CACHE or build/cache of the project")
    parser.add_argument("--print", choices=["directory", "site-packages", "lib"],
                        default="directory", help="what to print of each release")
    parser.add_argument("--into", metavar="SITE_PACKAGES",
                        help="also copy the release there, as an installation")
    parser.add_argument("--prune-record", action="store_true",
                        help="with --into: leave in the copy's RECORD only the files that are there")
    options = parser.parse_args()
    options.cache = os.path.abspath(options.cache)

    for text in options.release:
        try:
            directory = fetch(text, options)
        except wheels.NotFound as error:
            sys.exit(f"fetch_cudnn: {error}")
        if options.into:
            place(directory, options.into, options.prune_record)
        print({"directory": directory, "site-packages": f"{directory}/site-packages",
               "lib": library_directory(directory)}[options.print])


if __name__ == "__main__":
    main()
