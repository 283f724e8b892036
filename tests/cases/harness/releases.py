# SPDX-License-Identifier: Apache-2.0
"""Releases of cuDNN: drawn ones, made as stand-ins, and real ones out of the cache."""

import base64
import dataclasses
import functools
import hashlib
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "real"))
import check_measured  # noqa: E402
import watch  # noqa: E402

KEPT = pathlib.Path(watch.BUILD) / "cases"
MAKE_STANDIN = ROOT / "tests/fixtures/standin/make-standin"
DEFECT = {(9, 10, 0)}  # releases with a documented defect are no healthy set-up


@dataclasses.dataclass(frozen=True, order=True)
class Release:
    major: int
    minor: int
    patch: int
    build: int = 0  # of the wheel
    real: str = ""  # what fetch_cudnn calls it

    def __str__(self):
        return f"{self.major}.{self.minor}.{self.patch}"

    @property
    def wheel(self):
        return f"{self}.{self.build}"

    @property
    def number(self):
        return self.major * (1000 if self.major < 9 else 10000) + self.minor * 100 + self.patch

    @property
    def tuple(self):
        return f"({self.major}, {self.minor}, {self.patch})"

    @property
    def soname(self):
        return f"libcudnn.so.{self.major}"

    @property
    def answers(self):
        """The part that answers cudnnGetVersion."""
        return {8: "ops_infer", 9: "graph"}.get(self.major)

    def file(self, part):
        return self.soname if part == "facade" else f"libcudnn_{part}.so.{self.major}"


def real(text):
    """"9.1.0.70", "nvidia-cudnn-cu13==9.19.0.56": with its whole version, as the cache knows it."""
    numbers = [int(n) for n in text.rpartition("=")[2].split(".")]
    return Release(*numbers, real=text)


def draw(rng, seed, low, high):
    """A release between two minors such as "8.1" and "8.4". Patch and build of a minor are the same
    for all cases of a seed: making a stand-in takes a second."""
    (major, first), (_, last) = ([int(n) for n in text.split(".")] for text in (low, high))
    minor = rng.randint(first, last)
    own = random.Random(f"{seed} {major}.{minor}")
    patch, build = own.randint(0, 5), own.randint(10, 99)
    return Release(major, minor, patch + ((major, minor, patch) in DEFECT), build)


def part_of(path):
    return (re.match(r"libcudnn_(\w+)\.so", path.name) or [None, "facade"])[1]


@functools.cache
def sources():
    """What stand-ins are made from: another text, other stand-ins."""
    files = sorted(MAKE_STANDIN.parent.iterdir())
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


@functools.cache
def libraries(release, options=()):
    """{part: file} of a whole release: nothing in there is ever written to."""
    if release.real:
        _, paths = check_measured.fetched(release.real, options or ("facade", release.answers))
        return {part_of(path): path for path in paths}
    key = hashlib.sha256(repr((str(release), options, sources())).encode()).hexdigest()[:16]
    kept = KEPT / "releases" / f"{release}-{key}"
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        new = tempfile.mkdtemp(dir=kept.parent)
        subprocess.run([MAKE_STANDIN, *options, str(release), new], check=True)
        try:
            pathlib.Path(new).rename(kept)
        except OSError:
            pass  # another one was faster
    return {part_of(path): path for path in sorted(kept.iterdir())}


def digest(path):
    """As RECORD has it."""
    data = pathlib.Path(path).read_bytes()
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
