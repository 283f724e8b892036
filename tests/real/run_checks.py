# SPDX-License-Identifier: Apache-2.0
"""What the log of one run must say: the files, versions, bindings, calls and findings, each held
against what the host printed and what other tools say about the same files.
"""

import os
import pathlib
import re

import watch


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
    checks.equal(f"{name}: DT_NEEDED", told["needed"], watch.needed(path))
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
    """Facade and parts that were told are those that the host had mapped. Gives the facade."""
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


# Releases with a documented defect, which is told of them: by the number of cudnnGetVersion.
DEFECTS = {91000: ["known-bad-release"]}


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


def holes(facade):
    """What was fetched is a part of a wheel: the finding where its RECORD names more."""
    site = pathlib.Path(facade).parents[3]
    listed = [line.split(",")[0] for record in site.glob("nvidia_cudnn*.dist-info/RECORD")
              for line in record.read_text(encoding="utf-8").splitlines()]
    gone = [name for name in listed if "/libcudnn" in name and not (site / name).exists()]
    return ["installation-incomplete"] if gone else []


def check_findings(checks, log, run, expected, warnings=()):
    """In the report, in the summary, and live, unless superseded; expected: the errors."""
    status, document = watch.report(run.logs)
    errors, expected = expected, [*expected, *warnings]
    checks.equal("findings", watch.grave(document["findings"]), expected)
    checks.equal("exit status of report", status, 1 if errors else 0)
    checks.equal("verdict", document["verdict"] in ("ok", "notes"), not expected)
    checks.equal("findings of the summary", log.of("summary")[-1]["findings"],
                 [f["id"] for f in document["findings"] if f["id"] in watch.LIVE])
    live = log.of("finding")
    superseded = {f["supersedes"] for f in live}
    checks.equal("live findings",
                 sorted(watch.grave(f for f in live if f["seq"] not in superseded)),
                 sorted(watch.LIVE.intersection(expected)))
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
    check_call(checks, log, host, told, "cudnnGetVersion", {"returned_version": number})
    failed = "create" in words and status != 0
    if "create" in words:
        check_call(checks, log, host, told, "cudnnCreate",
                   {"status": status, "status_name": names.get(status)})
    expected = ["driver-missing"] if failed and not watch.driver_is_there() else []
    document = check_findings(checks, log, run, expected,
                              [*holes(facade), *DEFECTS.get(number, ())])
    if expected:
        facts = [fact["value"] for fact in document["findings"][0]["facts"]]
        checks.that(any(f" {status} {names.get(status)}" in fact for fact in facts),
                    f"driver-missing does not tell the status: {facts}")
    return told


def extra_lookups(words):
    return {"cudnnGetErrorString"} if "create" in words else set()  # of ctypes_host.py
