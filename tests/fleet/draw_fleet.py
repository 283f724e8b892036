#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""draw_fleet.py DIRECTORY N [--nodes 40] [--days 28] [--seed S]: logs of N processes, and truth.json.

Nodes that run three images for some weeks, DIRECTORY/logs/NODE/whichcudnn-*.jsonl. What goes wrong is
planted in the plan, before any log is written: a node that finds an older cuDNN by LD_LIBRARY_PATH, one
that misses an upgrade, some that get a release with a known defect, one whose package is broken. The
answers to the questions of examples/fleet/ are worked out from that plan alone. Logs are as untidy as
real ones: killed in the middle of a line, packed, with findings that no longer hold, with libraries that
were unloaded again, beside files that are no logs.
"""

import argparse
import collections
import functools
import gzip
import json
import pathlib
import random
import re
import sys

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1] / "schema"))
import complete  # noqa: E402
import record_def  # noqa: E402
from whole import short  # noqa: E402

record_def.kinds = functools.cache(record_def.kinds)

DAY = 86_400_000_000
BEGIN = 1_790_812_800_000_000  # 2026-10-01, UTC
PARTS = ["graph", "ops", "cnn", "adv", "engines_precompiled", "engines_runtime_compiled", "heuristic"]
COMPANIONS = ["libcublas.so.12", "libcublasLt.so.12", "libcudart.so.12", "libnvrtc.so.12", "libcufft.so.11",
              "libcurand.so.10", "libcusolver.so.11", "libcusparse.so.12", "libnccl.so.2", "libnvJitLink.so.12"]


def releases():
    """{release: the same with its build}, of the wheels that there are."""
    table = (record_def.ROOT / "tools" / "knowledge" / "wheel_files.def").read_text(encoding="utf-8")
    found = re.findall(r'^CUDNN_RELEASE\("(\d+\.\d+\.\d+)(\.\d+)"', table, re.MULTILINE)
    return {release: release + build for release, build in found}


BUILDS = releases()


class Image:
    """What its processes have in common."""

    def __init__(self, name, container, system, environment, executable, framework, host, library, demand):
        self.name, self.container, self.system = name, container, system
        self.environment, self.executable = environment, executable
        self.framework, self.host, self.library, self.demand = framework, host, library, demand

    @property
    def prefix(self):
        return self.environment.partition("=")[2] or "/usr"

    @property
    def site(self):
        return f"{self.prefix}/lib/python3.11/site-packages"


IMAGES = {
    "torch": Image("torch", "docker", "Debian GNU/Linux 12 (bookworm)", "VIRTUAL_ENV=/opt/torch",
                   "/usr/bin/python3.11", ("torch", "2.8.0"), "torch/lib/libtorch_python.so",
                   "torch/lib/libtorch_cpu.so", "==9.10.2.21"),
    "jax": Image("jax", "podman", "Ubuntu 24.04.3 LTS", "CONDA_PREFIX=/opt/conda/envs/jax",
                 "/opt/conda/envs/jax/bin/python3.11", ("jax", "0.7.2"), "jax_plugins/xla_cuda12/xla_cuda_plugin.so",
                 "jaxlib/libjax_common.so", "<10.0,>=9.8"),
    "onnx": Image("onnx", None, "Rocky Linux 9.6 (Blue Onyx)", "", "/usr/bin/python3.11",
                  ("onnxruntime", "1.22.0"), "onnxruntime/capi/libonnxruntime_providers_cuda.so",
                  "onnxruntime/capi/onnxruntime_pybind11_state.so", ">=9,<10"),
}


class Got:
    """A cuDNN that a process gets."""

    def __init__(self, release, kind, name, directory, rule):
        self.release, self.kind, self.name, self.directory, self.rule = release, kind, name, directory, rule

    @property
    def facade(self):
        return f"{self.directory}/libcudnn.so.9"


def wheel(image, release):
    return Got(release, "wheel", "nvidia-cudnn-cu12", f"{IMAGES[image].site}/nvidia/cudnn/lib", "DT_RUNPATH")


def package(release):
    return Got(release, "rpm", "libcudnn9-cuda-12", "/usr/lib64", "ld.so.cache")


def toolkit(release):
    return Got(release, "cuda-toolkit", "cuda-12.1", "/usr/local/cuda-12.1/lib64", "LD_LIBRARY_PATH")


# ---- the plan ----

class Fleet:
    """Who runs what when. Days are counted from 0."""

    def __init__(self, dice, nodes, days):
        self.dice, self.days = dice, days
        self.nodes = [f"gpu{number:03}" for number in range(1, nodes + 1)]
        odd = dice.sample(self.nodes, 7)
        self.toolkit_always, self.toolkit_sometimes, self.not_upgraded, self.broken = odd[:4]
        self.known_bad = odd[4:6]
        self.newer_torch = odd[6]
        self.upgrade = BEGIN + days // 2 * DAY
        self.toolkit_from = BEGIN + (days * 3 // 7) * DAY + 10 * 3_600_000_000
        # Both of them in the afternoon of a day.
        self.bad_from = {node: BEGIN + (days * 5 // 7) * DAY + (12 + 3 * i) * 3_600_000_000
                         for i, node in enumerate(self.known_bad)}

    def got(self, image, node, time):
        """The cuDNN, None: none was found."""
        if image == "torch":
            late = time >= self.toolkit_from
            if late and (node == self.toolkit_always or
                         (node == self.toolkit_sometimes and self.dice.random() < 0.5)):
                return toolkit("9.1.0")
            return wheel("torch", "9.10.2")
        if image == "jax":
            if node == self.broken:
                return None
            upgraded = time >= self.upgrade and node != self.not_upgraded
            return wheel("jax", "9.16.0" if upgraded else "9.14.0")
        bad = node in self.bad_from and time >= self.bad_from[node]
        return package("9.10.0" if bad else "9.8.0")

    def process(self, number):
        image = self.dice.choices(list(IMAGES), [5, 3, 2])[0]
        node = self.dice.choice(self.nodes)
        time = BEGIN + self.dice.randrange(self.days * DAY)
        got = self.got(image, node, time)
        framework = IMAGES[image].framework
        if image == "torch" and node == self.newer_torch:
            framework = ("torch", "2.9.1")
        findings = set()
        if got is None:
            findings.add(("library-not-found", "error"))
        elif got.release == "9.1.0":
            findings.add(("runtime-too-old", "error"))
        elif got.release == "9.10.0":
            findings.add(("known-bad-release", "warning"))
        if framework == ("torch", "2.9.1"):
            findings.add(("known-bad-release", "note"))
        pid = 2000 + number
        ticks = self.dice.randrange(10 ** 5, 10 ** 8)
        return Process(image, node, time, got, framework, findings, pid, ticks, self.dice)


class Process:
    def __init__(self, image, node, time, got, framework, findings, pid, ticks, dice):
        self.image, self.node, self.time, self.got = image, node, time, got
        self.framework, self.findings, self.pid, self.ticks = framework, findings, pid, ticks
        # How its log ends; what a log of this sort says besides, which must not count.
        self.ending = dice.choices(["summary", "open", "torn"], [85, 10, 5])[0]
        self.packed = dice.random() < 0.05
        self.oddity = dice.choices([None, "withdrawn", "unloaded", "said twice"], [85, 5, 5, 5])[0]
        if findings and dice.random() < 0.25:  # what was guessed first is only told to hold no longer by what replaced it
            self.oddity, self.ending = "said twice", "open"
        if got is None and self.oddity == "unloaded":  # that would be the one that it got
            self.oddity = None
        self.file = f"whichcudnn-{node}-{pid}-{ticks}.jsonl"

    @property
    def release(self):
        return self.got and self.got.release


# ---- its log ----

def library(image, number, path, **more):
    return {"kind": "object", "object": number, "path": path, "real_path": path, "mapped": True,
            "soname": path.rpartition("/")[2], "device": 65024, "inode": 5_600_000 + number, "size": 104_664 * number,
            "mtime": 1_785_000_000, "build_id": f"{number:02x}{len(image) % 16}" * 10,
            "base": f"{0x7f56e3000000 + number * 0x200000:x}", "needed": ["libdl.so.2", "libm.so.6", "libc.so.6"], **more}


def cudnn(process, number, part, got):
    name = f"libcudnn_{part}.so.9" if part else "libcudnn.so.9"
    build = BUILDS[got.release]
    return library(process.image, number, f"{got.directory}/{name}", role="part" if part else "facade", part=part,
                   version=got.release, version_source="data symbol" if part else "names it asks for",
                   installation_kind=got.kind, installation=got.name,
                   installation_version=build if got.kind == "wheel" else got.release,
                   installation_path=got.directory, asked_by_object=2 if part else 1, asked_how="dlopen", request=9)


def finding(identity, severity, title, **more):
    facts = [{"name": name, "value": f"{title}: {name}", "source": "link map"} for name in ("got", "version", "host")]
    return {"kind": "finding", "id": identity, "severity": severity, "title": title, "facts": facts, **more}


def wants(process, host):
    """What the framework's package requires, and what the host imports."""
    image, (framework, version) = IMAGES[process.image], process.framework
    base = {"kind": "demand", "host": 1, "host_path": host, "source_path": host}
    yield base | {"demand_kind": "needed", "spec": "==9.*", "source": "DT_NEEDED"}
    yield base | {"demand_kind": "symbols", "spec": ">=9.0.0", "source": "imported functions", "function_count": 41}
    yield base | {"demand_kind": "required", "spec": image.demand, "package": "nvidia-cudnn-cu12",
                  "built": "9.10.2" if framework == "torch" else None, "framework": framework,
                  "compatibility_rule": "torch" if framework == "torch" else "nvidia", "framework_version": version,
                  "source": f"METADATA of {framework} {version}"}


def beginning(process):
    image = IMAGES[process.image]
    environment = [text for text in (image.environment, "LD_PRELOAD=/usr/lib/libwhichcudnn.so") if text]
    if process.got and process.got.kind == "cuda-toolkit":
        environment.append(f"LD_LIBRARY_PATH={process.got.directory}")
    yield {"kind": "process", "node": process.node, "start_ticks": process.ticks, "parent_pid": 1, "parent_name": "bash",
           "executable": image.executable, "arguments": [f"{image.prefix}/bin/python", "train.py"], "directory": "/work",
           "environment": environment, "shim_version": "0.1.0", "shim_path": "/usr/lib/libwhichcudnn.so"}
    yield {"kind": "machine", "kernel": "6.1.0-40-amd64", "architecture": "x86_64", "operating_system": image.system,
           "glibc": "2.36", "container": image.container, "driver": "570.172.08", "gpu_devices": 8,
           "gpus": ["NVIDIA H100 80GB HBM3, 9.0"]}
    for number, name in enumerate(COMPANIONS, 1):
        path = f"{image.site}/nvidia/{name.split('.')[0][3:]}/lib/{name}"
        yield {"kind": "request", "request": number, "operation": "dlopen", "name": path, "flags": 258,
               "caller": f"{image.site}/{image.host}"}
        yield library(process.image, 20 + number, path, role="cuda-dependency", part=name.split(".")[0][3:],
                      version=f"12.8.{number}", version_source="file name", installation_kind="wheel",
                      installation=f"nvidia-{name.split('.')[0][3:]}-cu12", installation_version=f"12.8.{number}",
                      installation_path=path.rpartition("/")[0], asked_how="dlopen", request=number)


def middle(process):
    image, (framework, version) = IMAGES[process.image], process.framework
    host, main = f"{image.site}/{image.host}", f"{image.site}/{image.library}"
    got = process.got
    of_framework = {"installation_kind": "wheel", "installation": framework, "installation_version": version,
                    "installation_path": f"{image.site}/{framework}"}
    yield library(process.image, 3, main, framework=framework, gpu_library=host, **of_framework)
    yield library(process.image, 1, host, role="host", is_host=True, **of_framework)
    yield from wants(process, host)
    if process.oddity == "withdrawn":  # told, and at the end it no longer holds
        yield finding("library-not-found", "error", "libcudnn.so.9 was not found")
    if process.oddity == "unloaded":  # another cuDNN, for a moment
        early = cudnn(process, 40, None, package("9.4.0"))
        yield early
        yield early | {"mapped": False}
    yield {"kind": "request", "request": 11, "operation": "dlopen", "name": "libcudnn.so.9", "flags": 2, "caller": host,
           "caller_object": 1}
    if got is None:
        yield {"kind": "failure", "request": 11, "operation": "dlopen", "name": "libcudnn.so.9", "caller": host,
               "caller_object": 1, "text": "libcudnn.so.9: cannot open shared object file: No such file or directory"}
        return
    yield cudnn(process, 2, None, got)
    if got.kind == "wheel":
        yield {"kind": "package", "installation_kind": "wheel", "package": got.name, "package_version": BUILDS[got.release],
               "installation_path": got.directory, "prefix": image.site, "package_state": "complete", "file_count": 8}
    yield {"kind": "search", "search": 1, "name": "libcudnn.so.9", "caller": host, "caller_object": 1, "request": 11,
           "object": 2, "rule": got.rule, "takes": got.facade, "searched": [f"{got.rule} {image.site}/torch/lib"] * 3}
    for number, part in enumerate(PARTS, 4):
        yield cudnn(process, number, part, got)
    for function in ("cudnnGetVersion", "cudnnCreate", "cudnnSetStream", "cudnnBackendFinalize"):
        base = {"kind": "call", "function": function, "host": 1, "host_path": host, "target": 2, "target_path": got.facade}
        yield base | {"phase": "before"}
        yield base | {"phase": "after", **({"status": 0, "status_name": "CUDNN_STATUS_SUCCESS"}
                                           if function != "cudnnGetVersion" else {})}
    yield {"kind": "binding", "host": 1, "host_path": host, "target": 2, "target_path": got.facade, "how": "slot",
           "functions": [f"cudnnFunction{i}" for i in range(40)], "wrapped": 30}
    if process.oddity == "unloaded":  # told once more, with all that is known by now
        yield cudnn(process, 2, None, got)


def records(process):
    yield from beginning(process)
    yield from middle(process)
    seq_of_first = None
    for identity, severity in sorted(process.findings):
        release = process.release or "none"
        title = f"{identity} of {release}"
        if process.oddity == "said twice" and seq_of_first is None:
            # A first guess, of another id, and what replaces it.
            yield finding("not-observed", "note", "what will be loaded is not known yet", predicted=True)
            seq_of_first = "LAST"
            yield finding(identity, severity, title, supersedes=seq_of_first)
        else:
            yield finding(identity, severity, title)
    if process.ending == "summary":
        yield {"kind": "summary", "findings": [identity for identity, _ in sorted(process.findings)],
               "first_finding": next((identity for identity, _ in sorted(process.findings)), None),
               "fingerprint": "7876cbbf197b7e9c", "requests": 11, "calls": 8}


def lines(process):
    for seq, record in enumerate(records(process), 1):
        if record.get("supersedes") == "LAST":
            record = record | {"supersedes": seq - 1}
        whole = complete.complete(record, seq)
        whole |= {"time": process.time + seq * 3000, "pid": process.pid, "tid": process.pid}
        yield json.dumps(short(whole), separators=(",", ":"))


def torn(process):
    """The beginning of a line that would make it another cuDNN, did it count."""
    seq = 90
    whole = complete.complete(cudnn(process, 2, None, package("9.0.0")), seq)
    text = json.dumps(whole | {"time": process.time + seq * 3000, "pid": process.pid}, separators=(",", ":"))
    return text[:-20]


def forget(process):
    """What a log that ends before its summary cannot say any more."""
    if process.ending != "summary" and process.oddity == "withdrawn":
        process.oddity = None


def write(process, directory):
    forget(process)
    text = "\n".join(lines(process)) + "\n" + (torn(process) if process.ending == "torn" else "")
    place = directory / process.node / process.file
    place.parent.mkdir(parents=True, exist_ok=True)
    if process.packed:
        with gzip.open(f"{place}.gz", "wt", encoding="utf-8", compresslevel=1) as to:
            to.write(text)
    else:
        place.write_text(text, encoding="utf-8")


def decoys(directory):
    """What a directory of logs may hold besides."""
    (directory / "gpu001").mkdir(parents=True, exist_ok=True)
    (directory / "gpu001" / "notes.jsonl").write_text('{"kind":"object","role":"facade","mapped":true}\n', encoding="utf-8")
    (directory / "gpu001" / "whichcudnn-gpu001-1-1.jsonl").write_text("", encoding="utf-8")


# ---- the answers ----

def image_of(process):
    image = IMAGES[process.image]
    return " ".join(filter(None, (image.container, image.system, image.environment.partition("=")[2] or image.executable)))


def moment(time):
    return time // 1_000_000


def first_record(process):
    return process.time + 3000


def which_nodes(processes):
    nodes = collections.defaultdict(set)
    for p in processes:
        if p.got:
            nodes[p.image, p.time // DAY, p.release].add(p.node)
    usual = {}
    for (image, day, release), names in nodes.items():
        usual[image, day] = max(usual.get((image, day), (0, ())), (len(names), key(release)))
    rows = collections.defaultdict(list)
    for p in processes:
        if p.got and key(p.release) != usual[p.image, p.time // DAY][1]:
            was = ".".join(map(str, usual[p.image, p.time // DAY][1]))
            rows[image_of(p), p.node, p.release, p.got.facade, was].append(first_record(p))
    return [(*row, len(times), moment(min(times)), moment(max(times))) for row, times in rows.items()]


def since_when(processes):
    runs, rows = collections.defaultdict(list), collections.defaultdict(list)
    for p in processes:
        if p.got:
            runs[image_of(p), p.node].append(p)
    for (image, node), those in runs.items():
        those.sort(key=lambda p: p.time)
        for before, now in zip(those, those[1:]):
            if before.release != now.release:
                rows[image, before.release, now.release].append((first_record(now), node))
    return [(*row, len({node for _, node in those}), len(those), moment(min(those)[0]), moment(max(those)[0]), min(those)[1])
            for row, those in rows.items()]


def which_images(processes):
    rows = collections.defaultdict(list)
    for p in processes:
        if p.got:
            image = IMAGES[p.image]
            installed = (BUILDS if p.got.kind == "wheel" else {p.release: p.release})[p.release]
            rows[image.container, image.system, image.environment.partition("=")[2] or image.executable, p.release, p.got.kind,
                 f"{p.got.name} {installed}"].append(p)
    return [(*row, len({p.node for p in those}), len(those), sum(any(s == "error" for _, s in p.findings) for p in those),
             moment(min(map(first_record, those))), moment(max(map(first_record, those)))) for row, those in rows.items()]


def which_findings(processes):
    rows = collections.defaultdict(list)
    for p in processes:
        for one in p.findings:
            rows[one].append(p)
    return [(*row, len(those), len({p.node for p in those}), len({p.image for p in those}),
             min(p.file for p in those)) for row, those in rows.items()]


def key(release):
    return tuple(map(int, release.split(".")))


def is_known_bad(process):
    """By the releases that this drawer uses of core/knowledge/bad_releases.def."""
    if process.got and process.release == "9.10.0":
        yield "9.10.0", None
    if process.got and process.framework == ("torch", "2.9.1") and (9,) <= key(process.release) < (9, 15):
        yield "9 to 9.15", "torch 2.9 to 2.10"


def known_bad(processes):
    rows = collections.defaultdict(list)
    for p in processes:
        for releases_, framework in is_known_bad(p):
            rows[releases_, framework, p.release, image_of(p), p.node].append(p)
    return [(*row, len(those), moment(min(map(first_record, those))), moment(max(map(first_record, those))))
            for row, those in rows.items()]


def truth(fleet, processes):
    """Each question's rows, in any order; and what was planted."""
    in_reach = [p for p in processes if p.got]
    per_release = collections.Counter(
        (p.release, f"{p.got.kind} {p.got.name}") for p in in_reach)
    per_finding = collections.Counter(one for p in processes for one in p.findings)
    return {
        "questions": {"which-nodes": which_nodes(processes), "since-when": since_when(processes),
                      "which-images": which_images(processes), "which-findings": which_findings(processes),
                      "known-bad": known_bad(processes)},
        "planted": {"other cuDNN": sorted({fleet.toolkit_always, fleet.toolkit_sometimes, fleet.not_upgraded,
                                           *fleet.known_bad}),
                    "known bad": sorted({fleet.newer_torch, *fleet.known_bad})},
        "metrics": {"processes": [[*row, n] for row, n in sorted(per_release.items())],
                    "findings": [[*row, n] for row, n in sorted(per_finding.items())]},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("processes", type=int)
    parser.add_argument("--nodes", type=int, default=40)
    parser.add_argument("--days", type=int, default=28)
    parser.add_argument("--seed", type=int, default=random.randrange(10 ** 9))
    args = parser.parse_args()
    print(f"seed {args.seed}")
    fleet = Fleet(random.Random(args.seed), args.nodes, args.days)
    processes = [fleet.process(number) for number in range(args.processes)]
    decoys(args.directory / "logs")
    for process in processes:
        write(process, args.directory / "logs")
    text = json.dumps(truth(fleet, processes), indent=1)
    (args.directory / "truth.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
