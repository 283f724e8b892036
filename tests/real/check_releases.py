#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_releases.py hosts|neutral|exports|wheels DIRECTORY...: what whichcudnn tells of real
releases, each a directory that fetch_cudnn.py printed, held against what the hosts themselves print
and what other tools say about the same files. No number of a release is known here.

hosts    five hosts each: bound lazily, at once, without PLT, by dlopen and dlsym, by ctypes
neutral  the same libraries alone in a directory, the facade under a name that tells nothing
exports  the facade's functions against core/data/cudnn_symbols.tsv
wheels   the wheel's libraries, their DT_NEEDED and DT_RUNPATH against tools/knowledge/wheel_files.def
"""

import csv
import itertools
import json
import multiprocessing
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

import watch
from run_checks import check_package, check_run, check_version, said

sys.path.insert(0, str(watch.ROOT / "tests" / "setup"))
import tables  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
BUILD_HOST = watch.ROOT / "tests/fixtures/hosts/build-host"
MAKE_STANDIN = watch.ROOT / "tests/fixtures/standin/make-standin"
TABLE = watch.ROOT / "core/data/cudnn_symbols.tsv"
MODES = {"lazy": "lazy slot", "now": "slot", "no-plt": "slot", "dlopen": "dlsym"}
GUESSES = ("package metadata", "cudnn_version.h", "file name")  # nothing of these without a package


class Release:
    def __init__(self, directory):
        wheel = json.loads(pathlib.Path(directory, "wheel.json").read_text())
        self.directory = directory
        self.distribution, self.version = wheel["distribution"], wheel["version"]
        self.facade = str(next(path for path in pathlib.Path(directory).rglob("libcudnn.so.*")
                               if watch.LIBRARY.match(path.name)))
        self.lib = os.path.dirname(self.facade)

    def __str__(self):
        return f"{self.distribution} {self.version}"


class Host:
    """A way to reach cuDNN: command, how it is bound, the file whose slots or lookups those are."""

    def __init__(self, name, command, how, file=None):
        self.name, self.command, self.how, self.file = name, command, how, file


def needed_libraries(lib, into):
    """Empty libraries of the CUDA names that the release's files need: they are not the subject."""
    for path in pathlib.Path(lib).glob("libcudnn*.so*"):
        for name in watch.dynamic("NEEDED", str(path)):
            if re.match(r"lib(cu|nv)(?!dnn)", name) and not os.path.exists(f"{into}/{name}"):
                subprocess.run([MAKE_STANDIN, "--empty", name, into], check=True)
    return into


def ctypes_host(library):
    return Host("ctypes", [sys.executable, str(HERE / "ctypes_host.py"), library], "dlsym")


def build_hosts(facade, scratch):
    for mode, how in MODES.items():
        file = f"{scratch}/{mode}"
        subprocess.run([BUILD_HOST, mode, os.path.dirname(facade), file], check=True)
        yield Host(mode, [file], how, file)
    yield ctypes_host(facade)


def status_names(facade, environment):
    """{status: name} of what cudnnCreate returns here, by the library's own cudnnGetErrorString."""
    run = watch.Run(ctypes_host(facade).command + ["version", "create"], **environment)
    found = re.search(r"create (\d+) (\w+)", run.out)
    return {int(found.group(1)): found.group(2)} if found else {}


# ---- the three commands --------------------------------------------------------------------------


def check_hosts(checks, release, scratch):
    environment = {"LD_LIBRARY_PATH": needed_libraries(release.lib, f"{scratch}/needed")}
    names = status_names(release.facade, environment)

    def check_one(told, number):
        check_version(checks, told, number)
        check_package(checks, told, release)

    for host in build_hosts(release.facade, scratch):
        wanted = host.file and watch.imports(f"{scratch}/lazy")
        if host.how == "dlsym" and wanted:
            wanted = wanted & watch.functions(release.facade)
        for words in (["version"], ["version", "create", "version"]):  # each told once
            checks.case = f"{release}, {host.name}, {' '.join(words)}"
            check_run(checks, host, words, release.facade, environment, check_one, wanted, names)
    print(f"{release}: {', '.join([*MODES, 'ctypes'])}")


def place_neutral(release, into):
    """Only libraries, no package, no header, and the facade under another name."""
    os.makedirs(into)
    for path in pathlib.Path(release.lib).glob("libcudnn*.so*"):
        name = "libneutral.so" if str(path) == release.facade else path.name
        try:
            os.link(path, f"{into}/{name}")
        except OSError:
            shutil.copy(path, f"{into}/{name}")
    return f"{into}/libneutral.so"


def check_neutral(checks, release, scratch):
    environment = {"LD_LIBRARY_PATH": needed_libraries(release.lib, f"{scratch}/needed")}
    facade = place_neutral(release, f"{scratch}/only")
    names = status_names(facade, environment)

    def check_one(told, number):
        name = os.path.basename(told["path"])
        checks.equal(f"{name}: installation", told["installation_kind"], "directory")
        if told["version"] or knows_itself(facade, told["path"]):
            check_version(checks, told, number)
            checks.that(told["version_source"] not in GUESSES, f"{name}: {told['version_source']}")
        if told["role"] == "facade":
            check_range(checks, told, facade, number)

    host = ctypes_host(facade)
    for words in (["version"], ["version", "create"]):
        checks.case = f"{release}, neutral, {' '.join(words)}"
        told = check_run(checks, host, words, facade, environment, check_one, None, names)
    if told:
        print(f"{release}: {told['version'] or 'no version'} ({told['version_source']}), "
              f"{told['version_floor']} to {told['version_ceiling'] or 'any newer'} by functions")


def knows_itself(facade, path):
    """Whether a library holds its version: parts with their symbol, and from 9 on the facade."""
    node = int(watch.dynamic("SONAME", facade)[0].rsplit(".", 1)[1])
    return watch.has_version_symbol(path) or (path == facade and node >= 9)


def table():
    with open(TABLE, newline="", encoding="ascii") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return {r["symbol"]: (padded(r["first"], 0), padded(r["last"], 999) if r["last"] else None)
            for r in rows}


def padded(text, filler):
    return (watch.fields(text) + (filler, filler))[:3]


def check_range(checks, told, facade, number):
    """Floor and ceiling are exactly what the table makes of what the facade has and lacks."""
    functions, rows = watch.functions(facade), table()
    known = {name: rows[name] for name in functions & set(rows)}
    floor = max(first for first, _ in known.values())
    later = [first for name, (first, _) in rows.items() if name not in functions and first > floor]
    gone = [last for _, last in known.values() if last]

    def told_has(release):
        low, high = told["version_floor"], told["version_ceiling"]
        return (low is None or padded(low, 0) <= release) and \
            (high is None or release <= padded(high, 999))

    releases = list(itertools.product(range(1, 12), range(40), range(12)))
    wrong = [r for r in releases
             if told_has(r) != (floor <= r and all(r < first for first in later)
                                and all(r <= last for last in gone))]
    checks.that(told_has(number), f"{number} is not in its range")
    checks.equal("releases on the wrong side of floor or ceiling", wrong[:5], [])


def explained():
    """Functions of the releases in releases.tsv that the table leaves out, and why."""
    lines = (HERE / "exports.tsv").read_text().splitlines()
    return dict(line.split("\t") for line in lines if not line.startswith("#"))


def is_listed(release):
    return f"{release.distribution}\t{release.version}\t" in (HERE / "releases.tsv").read_text()


def check_exports(checks, release, scratch):
    environment = {"LD_LIBRARY_PATH": needed_libraries(release.lib, f"{scratch}/needed")}
    run = watch.Run(ctypes_host(release.facade).command + ["version"], **environment)
    number = watch.from_number(said(run, "version"))
    has = watch.functions(release.facade)
    listed = {name for name, (first, last) in table().items()
              if first <= number and (not last or number <= last)}
    more, fewer = sorted(has - listed), sorted(listed - has)
    print(f"{release}: {len(has & listed)} functions as listed" +
          "".join(f", +{name}" for name in more) + "".join(f", -{name}" for name in fewer))
    checks.case = str(release)
    checks.that(len(has & listed) > 100, "hardly any function of the table")
    checks.equal("functions that it lacks", fewer, [])
    if is_listed(release):  # of any other the table need not know what is new
        checks.equal("functions that the table does not know", sorted(set(more) - set(explained())),
                     [])
    return set(more)


# ---- wheels --------------------------------------------------------------------------------------

def wheel_rows():
    """{name of a macro: its rows} of the table."""
    rows = {"CUDNN_RELEASE": [], "WHEEL_FILE": [], "WHEEL_PATH": []}
    for kind, *values in tables.rows("tools/knowledge/wheel_files.def", *rows):
        rows[kind].append(tuple(values))
    return rows


def rows_of(release, rows):
    """Those of a distribution's releases that hold for this one."""
    number = watch.fields(release.version)
    return [row[3:] for row in rows if row[0] == release.distribution
            and (not row[1] or watch.fields(row[1]) <= number)
            and (not row[2] or number < watch.fields(row[2]))]


def check_wheels(checks, release, scratch):
    del scratch
    rows, checks.case = wheel_rows(), str(release)
    if not release.distribution.startswith("nvidia-"):
        return
    files, site = dict(rows_of(release, rows["WHEEL_FILE"])), pathlib.Path(release.directory)
    members = json.loads((site / "wheel.json").read_text())["members"]
    checks.equal("libraries", sorted(files), sorted(m for m in members if ".so" in m))
    cuda = re.fullmatch(r"nvidia-cudnn-cu(\d+)", release.distribution)
    if cuda:
        has = {row[0]: row[1:] for row in rows["CUDNN_RELEASE"]}.get(release.version, (0, 0, 0))
        checks.that(has[int(cuda[1]) - 11], "not among the releases")
    for file, needs in files.items():
        path = site / "site-packages" / file
        if not path.exists():
            continue
        needed = watch.needed(str(path))
        checks.equal(f"{file}: DT_NEEDED", sorted(needs.split()), sorted(needed))
        ways = [row[1:] for row in rows_of(release, rows["WHEEL_PATH"])
                if row[0] in ("", path.name)][:1]
        checks.equal(f"{file}: where it looks", ways, watch.search_path(str(path)))
    print(f"{release}: {len(files)} libraries")


# ---- all releases --------------------------------------------------------------------------------

CHECKS = {"hosts": check_hosts, "neutral": check_neutral, "exports": check_exports,
          "wheels": check_wheels}


def check_release(what, directory):
    """(failures, checks made, result) of one release; an error is a failure of that release."""
    checks, release, result = watch.Checks(), Release(directory), None
    with tempfile.TemporaryDirectory(dir=os.environ.get("BATS_TEST_TMPDIR")) as scratch:
        try:
            result = CHECKS[what](checks, release, scratch)
        except Exception:  # pylint: disable=broad-except  # the other releases go on
            checks.that(False, f"{release}: {traceback.format_exc()}")
    sys.stdout.flush()
    return checks.failures, checks.made, result


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in CHECKS:
        sys.exit(__doc__)
    what, directories = sys.argv[1], sys.argv[2:]
    checks, results = watch.Checks(), []
    with multiprocessing.Pool(min(os.cpu_count(), 4)) as pool:
        for failures, made, result in pool.starmap(
                check_release, [(what, d) for d in directories], chunksize=1):
            checks.failures += failures
            checks.made += made
            results.append(result)
    if what == "exports":
        unseen = set(explained()) - set().union(*filter(None, results))
        checks.case = "exports.tsv"
        checks.equal("functions that no release has", sorted(unseen), [])
    checks.finish()


if __name__ == "__main__":
    main()
