# SPDX-License-Identifier: Apache-2.0
"""The pieces of wheels from which cells are made, fetched by range and kept: METADATA, the small texts that
tables are made from, and of each library what elf.py reads of it. Never a whole wheel.
"""

import json
import lzma
import os
import re

import elf
from index import explained
import packaging.version
import tables
import watch
import wheels

NVIDIA = ("nvidia-cudnn-cu13", "nvidia-cudnn-cu12", "nvidia-cudnn-cu11")
WHOLE = 160 << 20     # compressed: of a larger library the beginning is read
BEGINNING = 64 << 20  # of that, unpacked
PART_WHOLE = 6 << 20  # compressed, of a part of cuDNN that asks for no other: of a larger one the table tells
TEXTS = re.compile(wheels.HOST_FILES.pattern.replace("|RECORD", "") + r"|torch/version\.py|paddle/version/__init__\.py|"
                   r"cupy/\.data/_wheel\.json|tensorflow/python/platform/build_info\.py")
CUDNN = re.compile(r"nvidia/cudnn/lib/libcudnn(_\w+)?\.so\.\d+")
FORM = 3  # of what is kept


def of_host(name):
    return re.match(r"cudnn[A-Z]|dlopen$", name)


def of_cudnn(name):
    return re.match(r"cudnn", name) or name == "dlopen"


def read_library(wheel, member, wanted):
    """Its facts, and its size; of a large one out of its beginning, if that tells."""
    with wheel.open(member) as file:
        if member.compress_size <= WHOLE:
            facts = elf.facts_of_file(file.read(), wanted)
        else:
            name = os.path.basename(member.filename)
            facts = elf.facts_of_beginning(file.read(BEGINNING), name, wanted)
    return {"size": member.file_size, "facts": facts}


class Pieces:
    """Of an index, in a cache."""

    def __init__(self, index):
        self.directory, self.index = os.path.join(index.cache, "matrix"), index
        self.fetched = 0
        self.rows = list(tables.rows_of_text((tables.ROOT / "tools/knowledge/wheel_files.def").read_text(encoding="utf-8"),
                                             "WHEEL_FILE", "WHEEL_PATH"))

    def kept(self, distribution, wheel, modules, read):
        """{"wheel", "version", "texts": {path: text}, "libraries": {path: facts, or a reason}}"""
        path = f"{self.directory}/{distribution}-{wheel.version}.json.xz"
        if os.path.exists(path):
            with lzma.open(path, "rt", encoding="utf-8") as file:
                kept = json.load(file)
            if (kept["form"], kept["modules"]) == (FORM, modules):
                return kept

        def fetch():
            with wheels.open_wheel(wheel.url) as archive:
                texts = {name: archive.read(name).decode("utf-8", "replace")
                         for name in archive.namelist() if TEXTS.fullmatch(name)}
                libraries = {member.filename: read(archive, member) for member in archive.infolist()
                             if re.fullmatch(modules, member.filename)}
            return {"form": FORM, "modules": modules, "wheel": distribution, "version": wheel.version, "texts": texts,
                    "libraries": libraries}
        wheels.log(distribution, wheel.version)
        with explained(f"{distribution} {wheel.version}"):
            new = wheels.with_retries(f"{distribution} {wheel.version}", fetch)
        self.fetched += 1
        os.makedirs(self.directory, exist_ok=True)
        with lzma.open(f"{path}.new{os.getpid()}", "wt", encoding="utf-8", preset=1) as file:
            json.dump(new, file)
        os.replace(f"{path}.new{os.getpid()}", path)
        return new

    # ---- cuDNN ----

    def cudnn(self, distribution, wheel):
        def read(archive, member):
            part = CUDNN.fullmatch(member.filename)[1]
            if member.compress_size <= PART_WHOLE or part == "_graph":
                one = read_library(archive, member, of_cudnn)
                if not part:
                    one["content"] = archive.read(member).hex()
                return one
            return {"size": member.file_size, "facts": self.by_table(distribution, wheel.version, member.filename)}
        return self.kept(distribution, wheel, CUDNN.pattern, read)

    def by_table(self, distribution, version, path):
        """Of a part that is too large to be read: what the table of the wheels has."""
        number, name = watch.fields(version), os.path.basename(path)

        def holds(row):
            return row[0] == distribution and (not row[1] or watch.fields(row[1]) <= number) and \
                (not row[2] or number < watch.fields(row[2]))
        rows = [row[1:] for row in self.rows if row[0] == "WHEEL_FILE" and holds(row[1:])]
        needs = next((row[4].split() for row in rows if row[3] == path), [])
        where = next((row[4:] for row in (row[1:] for row in self.rows if row[0] == "WHEEL_PATH") if holds(row)
                      and row[3] in ("", name)), ("", ""))
        return {"soname": name, "needed": needs, "rpath": where[1] if where[0] == "RPATH" else "",
                "runpath": where[1] if where[0] == "RUNPATH" else "", "verneed": {}, "verdef": [name],
                "symbols": [], "constants": [], "whole": False}

    def all_of_cudnn(self):
        """[(distribution, its wheel on the index)], newest first."""
        return [(name, wheel) for name in NVIDIA for wheel in reversed(self.index.wheels_of(name).values())]

    # ---- frameworks ----

    def host(self, distribution, wheel, modules):
        return self.kept(distribution, wheel, modules, lambda archive, member: read_library(archive, member, of_host))


def minors(page, since):
    """The newest of each minor release, newest first."""
    newest = {}
    for version, wheel in page.items():
        if packaging.version.Version(version) >= packaging.version.Version(since):
            newest[watch.fields(version)[:2]] = wheel
    return list(reversed(newest.values()))
