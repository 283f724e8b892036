# SPDX-License-Identifier: Apache-2.0
"""The first step of action.yml: the command of a release, for the steps that follow.

WHEEL: the path or the address of a wheel; without it that of this release, from the repository of the action.
SHA256: what it must be; without it what SHA256SUMS says, which lies beside it. A wheel without either, or
another one, is not installed. Only files of the wheel are unpacked, and nothing of it runs here."""

import hashlib
import os
import pathlib
import platform
import re
import sys
import urllib.error
import urllib.request
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def released():
    """The address of this release's wheel for this machine."""
    repository = os.environ.get("REPOSITORY")
    if not repository:
        sys.exit("::error::the action does not know its repository: name a wheel (`wheel:`)")
    version = re.search(r"^VERSION := (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)[1]
    machine = platform.machine()
    return (f"{os.environ['GITHUB_SERVER_URL']}/{repository}/releases/download/v{version}/"
            f"whichcudnn-{version}-py3-none-manylinux_2_17_{machine}.manylinux2014_{machine}.whl")


def read(place):
    """The bytes of a file or of an address."""
    try:
        if "://" not in place:
            return pathlib.Path(place).read_bytes()
        with urllib.request.urlopen(place, timeout=120) as answer:
            return answer.read()
    except (OSError, urllib.error.URLError) as e:
        return sys.exit(f"::error::{place} could not be read: {e}")


def wanted(place):
    """The checksum of the wheel, from the one who uses the action or from its release."""
    if os.environ.get("SHA256"):
        return os.environ["SHA256"].lower()
    folder, name = os.path.split(place)
    sums = dict(reversed(line.split("  ", 1)) for line in read(os.path.join(folder, "SHA256SUMS")).decode().splitlines())
    if name not in sums:
        sys.exit(f"::error::SHA256SUMS beside the wheel does not name {name}")
    return sums[name]


def unpack(wheel, into):
    """As pip --target lays it out: bin/whichcudnn, whichcudnn/libwhichcudnn.so."""
    (into / "bin").mkdir(parents=True)
    (into / "whichcudnn").mkdir()
    with zipfile.ZipFile(wheel) as archive:
        script = next(name for name in archive.namelist() if name.endswith(".data/scripts/whichcudnn"))
        (into / "bin/whichcudnn").write_bytes(archive.read(script))
        (into / "whichcudnn/libwhichcudnn.so").write_bytes(archive.read("whichcudnn/libwhichcudnn.so"))
    (into / "bin/whichcudnn").chmod(0o755)


def main():
    place = os.environ.get("WHEEL") or released()
    expected = wanted(place)
    content = read(place)
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        sys.exit(f"::error::{place} has the checksum {found}, not {expected}")
    into = pathlib.Path(os.environ["RUNNER_TEMP"]) / f"whichcudnn-{found[:12]}"
    if not into.is_dir():
        wheel = into.with_suffix(".whl")
        wheel.write_bytes(content)
        unpack(wheel, into)
        wheel.unlink()
    with open(os.environ["GITHUB_PATH"], "a", encoding="utf-8") as path:
        path.write(f"{into}/bin\n")


main()
