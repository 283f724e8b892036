# SPDX-License-Identifier: Apache-2.0
"""Environments of real frameworks, made with uv out of wheels: hard links into one cache, so that ten of
them cost little more than one. And what breaks one: five ways that people meet.
"""

import os
import pathlib
import shutil
import subprocess
import sys

CACHE = os.path.join(os.environ["WC_CACHE"], "uv")
CACHE_MOST = 20 << 30
PREFIX = "nvidia/cudnn/lib"


def uv(*words):
    environment = {**os.environ, "UV_CACHE_DIR": CACHE, "UV_LINK_MODE": "hardlink", "UV_PYTHON_DOWNLOADS": "never"}
    done = subprocess.run([sys.executable, "-m", "uv", "-q", *map(str, words)], env=environment,
                          text=True, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"uv {' '.join(map(str, words))}: {done.stderr.strip()}")


def trim():
    """Wheels that are fetched once more cost less than a full disk."""
    sizes = [os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(CACHE) for name in names]
    if sum(sizes) > CACHE_MOST:
        uv("cache", "clean")


def copied(source, target):
    """The same files under other names: who changes one there takes its name away first."""
    shutil.copytree(source, target, symlinks=True, copy_function=os.link)


class Environment:
    """What the row's packages make, and another release of cuDNN beside it."""

    def __init__(self, row, directory):
        self.row = row
        self.directory = pathlib.Path(directory)
        self.venv = self.directory / "venv"
        uv("venv", "--python", sys.executable, self.venv)
        self.install("--python", self.venv / "bin/python", *row["packages"],
                     excludes=row.get("excludes", []), overrides=row.get("overrides", []))
        self.other = self.directory / "other"
        self.install("--target", self.other, "--no-deps", row["other"])
        self.site = next(self.venv.glob("lib/python3*/site-packages"))
        for site in self.site, self.other:
            for name, target in row.get("links", {}).items():
                if (site / name).parent.exists():
                    (site / name).symlink_to(target)

    def install(self, *words, **lists):
        for name, packages in lists.items():
            (self.directory / name).write_text("\n".join([*packages, ""]), encoding="ascii")
            words = [f"--{name}", self.directory / name, *words]
        uv("pip", "install", *words)

    def saved(self):
        copied(self.venv, self.directory / "saved")

    def restored(self):
        shutil.rmtree(self.venv)
        copied(self.directory / "saved", self.venv)

    def variables(self):
        return {name: value.format(site=self.site) for name, value in self.row.get("variables", {}).items()}

    def part(self):
        return next((self.site / PREFIX).glob(f"libcudnn_{self.row['part']}.so.?"))

    def remove_package(self):
        shutil.rmtree(self.site / "nvidia/cudnn")
        for info in self.site.glob("nvidia_cudnn_cu*.dist-info"):
            shutil.rmtree(info)


# ---- what breaks it: each returns the variables of the program ----------------------------------


def healthy(_):
    return {}


def another_release(place):
    place.remove_package()
    copied(place.other / "nvidia/cudnn", place.site / "nvidia/cudnn")
    info = next(place.other.glob("nvidia_cudnn_cu*.dist-info"))
    copied(info, place.site / info.name)
    return {}


def path_variable(place):
    own = place.variables().get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": f"{place.other / PREFIX}{':' + own if own else ''}"}


def part_missing(place):
    place.part().unlink()
    return {}


def part_of_another(place):
    path = place.part()
    path.unlink()
    os.link(place.other / PREFIX / path.name, path)
    return {}


def absent(place):
    place.remove_package()
    return {}


WAYS = {
    "healthy": healthy,
    "release": another_release,
    "path": path_variable,
    "missing": part_missing,
    "mixed": part_of_another,
    "absent": absent,
}
