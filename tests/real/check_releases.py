#!/usr/bin/env python3
"""check_releases.py hosts|neutral|exports DIRECTORY...: what whichcudnn tells of real releases, each a
directory that fetch_cudnn.py printed, held against what the hosts themselves print and what other
tools say about the same files. No number of a release is known here.

hosts    five hosts each: bound lazily, at once, without PLT, by dlopen and dlsym, by ctypes
neutral  the same libraries alone in a directory, the facade under a name that tells nothing
exports  the facade's functions against core/data/cudnn_symbols.tsv
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

HERE = pathlib.Path(__file__).resolve().parent
BUILD_HOST = watch.ROOT / "tests/fixtures/hosts/build-host"
MAKE_STANDIN = watch.ROOT / "tests/fixtures/standin/make-standin"
TABLE = watch.ROOT / "core/data/cudnn_symbols.tsv"
MODES = {"lazy": "lazy slot", "now": "slot", "no-plt": "slot", "dlopen": "dlsym"}
GUESSES = ("package metadata", "cudnn_version.h", "file name")  # nothing of these without a package


class Release:
    def __init__(self, directory):
        wheel = json.loads(pathlib.Path(directory, "wheel.json").read_text())
        self.distribution, self.version = wheel["distribution"], wheel["version"]
        self.facade = str(next(path for path in sorted(pathlib.Path(directory).rglob("libcudnn.so.*"))
                               if watch.LIBRARY.match(path.name)))
        self.lib = os.path.dirname(self.facade)

    def __str__(self):
        return f"{self.distribution} {self.version}"


class Host:
    """A way to reach cuDNN: command, how it is bound, the file whose slots or lookups those are."""

    def __init__(self, name, command, how, file=None):
        self.name, self.command, self.how, self.file = name, command, how, file


def needed_companions(lib, into):
    """Empty libraries of the CUDA names that the release's files need: they are not the subject."""
    for path in pathlib.Path(lib).glob("libcudnn*.so*"):
        for name in watch.dynamic("NEEDED", str(path)):
            if re.match(r"lib(cu|nv)(?!dnn)", name) and not os.path.exists(f"{into}/{name}"):
                subprocess.run([MAKE_STANDIN, "--companion", name, into], check=True)
    return into


def ctypes_host(library):
    return Host("ctypes", [sys.executable, str(HERE / "ctypes_host.py"), library], "dlsym")


def build_hosts(facade, scratch):
    for mode, how in MODES.items():
        file = f"{scratch}/{mode}"
        subprocess.run([BUILD_HOST, mode, os.path.dirname(facade), file], check=True)
        yield Host(mode, [file], how, file)
    yield ctypes_host(facade)


# ---- what a log says about one run ----------------------------------------------------------------


def check_file(checks, told, path):
    """What an object record says about its file, against the file."""
    stat = os.stat(path)
    name = os.path.basename(path)
    soname = watch.dynamic("SONAME", path)
    checks.equal(f"{name}: path", os.path.realpath(told["path"]), path)
    checks.equal(f"{name}: real path", told["real_path"], path)
    checks.equal(f"{name}: file", [told[key] for key in ("device", "inode", "size", "mtime")],
                 [stat.st_dev, stat.st_ino, stat.st_size, int(stat.st_mtime)])
    checks.equal(f"{name}: SONAME", told["soname"], soname[0] if soname else None)
    checks.equal(f"{name}: build-id", told["build_id"], watch.build_id(path))
    checks.equal(f"{name}: DT_NEEDED", told["needed"], watch.dynamic("NEEDED", path))
    checks.equal(f"{name}: RPATH", told["rpath"], next(iter(watch.dynamic("RPATH", path)), None))
    checks.equal(f"{name}: RUNPATH", told["runpath"],
                 next(iter(watch.dynamic("RUNPATH", path)), None))


def check_version(checks, told, release):
    """release: (major, minor, patch) as the host said it."""
    name = os.path.basename(told["path"])
    checks.equal(f"{name}: version", fields_or_none(told["version"]), release)
    checks.that(told["version_source"], f"{name}: the version has no source")


def fields_or_none(text):
    return watch.fields(text)[:3] if text else None


def check_package(checks, told, release):
    kind = "wheel" if release.distribution.startswith("nvidia-") else "bundled"
    checks.equal(f"{os.path.basename(told['path'])}: installation",
                 [told[k] for k in ("installation_kind", "installation", "installation_version")],
                 [kind, release.distribution, release.version])


def check_libraries(checks, log, run, check_one):
    """Facade and parts that were told are those that the host itself had mapped. Gives the facade."""
    mapped = sorted(path for path in run.mapped() if os.path.basename(path).startswith("libcudnn_")
                    or path == os.path.realpath(run.facade))
    told = log.objects("facade") + log.objects("part")
    checks.equal("libraries", sorted(t["real_path"] for t in told), mapped)
    for t in told:
        if t["real_path"] in mapped:
            check_file(checks, t, t["real_path"])
            check_one(t)
    facades = log.objects("facade")
    checks.equal("facades", [t["real_path"] for t in facades], [os.path.realpath(run.facade)])
    return facades[0] if facades else None


def check_bindings(checks, log, host, facade, wanted, called):
    """wanted: the functions that the host imports or looks up; called: those of them it called."""
    bindings = log.of("binding", how=host.how)
    bound = {name for b in bindings for name in b["functions"]}
    checks.equal(f"functions of the bindings ({host.how})", sorted(bound), sorted(wanted))
    if host.file:
        checks.equal("hosts of the bindings", {b["host_path"] for b in bindings}, {host.file})
    if host.how == "lazy slot":  # nobody has bound these yet
        bindings = log.of("binding", how="slot")
        bound = {name for b in bindings for name in b["functions"]}
        checks.equal("functions bound by being called", bound, called)
    checks.equal("target of the bindings", {b["target_path"] for b in bindings}, {facade["path"]})


def check_call(checks, log, host, facade, function, result):
    """One call: before and after, in this order, to that facade, with that result."""
    calls = log.of("call", function=function)
    if not checks.equal(f"{function}: records", [c["phase"] for c in calls], ["before", "after"]):
        return
    before, after = calls
    checks.equal(f"{function}: target", after["target_path"], facade["path"])
    expected = {None, facade["path"]} if host.how == "lazy slot" else {facade["path"]}
    checks.that(before["target_path"] in expected, f"{function}: to {before['target_path']} before")
    checks.equal(f"{function}: caller", {before["host_path"], after["host_path"]}, {host.file})
    for key, value in result.items():
        checks.equal(f"{function}: {key}", after[key], value)
        checks.equal(f"{function}: {key} before", before[key], None)


def check_findings(checks, log, run, expected):
    """In the report, in the summary, and live, unless superseded."""
    status, document = watch.report(run.logs)
    checks.equal("findings", watch.grave(document["findings"]), expected)
    checks.equal("exit status of report", status, 1 if expected else 0)
    checks.equal("verdict", document["verdict"] in ("ok", "notes"), not expected)
    checks.equal("findings of the summary", log.of("summary")[-1]["findings"],
                 [f["id"] for f in document["findings"]])
    live = log.of("finding")
    superseded = {f["supersedes"] for f in live}
    checks.equal("live findings", watch.grave(f for f in live if f["seq"] not in superseded), expected)
    return document


def watch_host(checks, host, words, facade, environment):
    """Bare and watched; gives the watched run and its log, None where it left none."""
    bare, run = watch.run_both(host.command + words + ["maps"], **environment)
    for name in ("status", "err"):
        checks.equal(f"{name} with the shim", getattr(run, name), getattr(bare, name))
    checks.equal("output with the shim", run.said(), bare.said())
    checks.equal("mapped files with the shim", sorted(run.mapped()), sorted(bare.mapped()))
    checks.equal("status", bare.status, 0)
    run.facade = facade
    log = run.log()
    checks.that(not log.errors, f"log: {log.errors}")
    return run, log


def said(run, word):
    """The number behind a word that the host printed."""
    found = re.search(rf"\b{word} (-?\d+)", run.said())
    return int(found.group(1)) if found else None


def check_run(checks, host, words, facade, environment, check_one, wanted, names):
    """One host that makes the calls `words`; check_one(record, release) is for each library."""
    run, log = watch_host(checks, host, words, facade, environment)
    number, status = said(run, "version"), said(run, "create")
    if not checks.that(number, f"the host said {run.said()!r}"):
        return None
    told = check_libraries(checks, log, run, lambda t: check_one(t, watch.from_number(number)))
    if not told:
        return None
    called = {"cudnnGetVersion"} | ({"cudnnCreate"} if "create" in words else set())
    check_bindings(checks, log, host, told, wanted or called | extra_lookups(words), called)
    check_call(checks, log, host, told, "cudnnGetVersion", {"version": number})
    failed = "create" in words and status != 0
    if "create" in words:
        check_call(checks, log, host, told, "cudnnCreate",
                   {"status": status, "status_name": names.get(status)})
    expected = ["driver-missing"] if failed and not watch.driver_is_there() else []
    document = check_findings(checks, log, run, expected)
    if expected:
        facts = [fact["value"] for fact in document["findings"][0]["facts"]]
        checks.that(any(f" {status} {names.get(status)}" in fact for fact in facts),
                    f"driver-missing does not tell the status: {facts}")
    return told


def extra_lookups(words):
    return {"cudnnGetErrorString"} if "create" in words else set()  # of ctypes_host.py


def status_names(facade, environment):
    """{status: name} of what cudnnCreate returns here, by the library's own cudnnGetErrorString."""
    run = watch.Run(ctypes_host(facade).command + ["version", "create"], **environment)
    found = re.search(r"create (\d+) (\w+)", run.out)
    return {int(found.group(1)): found.group(2)} if found else {}


# ---- the three commands ---------------------------------------------------------------------------


def check_hosts(checks, release, scratch):
    environment = {"LD_LIBRARY_PATH": needed_companions(release.lib, f"{scratch}/companions")}
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
    environment = {"LD_LIBRARY_PATH": needed_companions(release.lib, f"{scratch}/companions")}
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
    environment = {"LD_LIBRARY_PATH": needed_companions(release.lib, f"{scratch}/companions")}
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


# ---- all releases ---------------------------------------------------------------------------------

CHECKS = {"hosts": check_hosts, "neutral": check_neutral, "exports": check_exports}


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
