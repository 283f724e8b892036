# SPDX-License-Identifier: Apache-2.0
"""Is what report, inspect and scan say of one situation the same: the first finding and its first repair?

Where they differ, a row of REASONS says why they may: what only a run can know. Any other difference is a
defect. `share` is what `make test-agreement` and tests/worlds/run --agreement hold against the bar."""

import collections
import os
import re

BAR = 0.97
GRAVE = {"error": 0, "warning": 1}

# Findings of the machine on which a process ran: of its driver, its GPUs, its limits.
MACHINE = {"driver-missing", "driver-mixed", "driver-too-old", "gpu-unsupported", "gpu-stack-not-reached",
           "refused-by-system", "init-failed"}
# Findings of one process: of what came first in it, what it called or printed, what became of its files meanwhile.
PROCESS = {"already-loaded-by-soname", "two-copies-loaded", "two-cuda-copies", "call-failed", "expectation-not-met",
           "replaced-on-disk"}
# Findings of what cuDNN itself did not get.
BY_CUDNN = {"wrong-name", "bad-file", "cuda-dependency-differs", "cuda-major-differs", "part-missing",
            "dependency-missing", "driver-missing"}


class Said:
    """Of one command: its reports, and the first finding that is an error or a warning."""

    def __init__(self, documents):
        self.documents = documents
        found = [f for d in documents for f in d["findings"] if f["severity"] in GRAVE]
        found.sort(key=lambda f: GRAVE[f["severity"]])
        self.first = found[0] if found else None
        self.id = found[0]["id"] if found else None
        self.verdicts = {d["verdict"] for d in documents}
        self.is_process = any(s["type"] == "process" for d in documents for s in d["sources"])

    def facades(self):
        return {os.path.basename(o["real_path"] or o["path"]) + " " + str(o["version"]) for d in self.documents
                for o in d["stack"]["objects"] or [] if o["role"] == "facade" and o["mapped"]}

    def cuda(self):
        return {o["soname"] for d in self.documents for o in d["stack"]["objects"] or []
                if o["role"] == "cuda-dependency" and o["mapped"]}

    def hosts(self):
        return {o["path"] for d in self.documents for o in d["stack"]["objects"] or [] if o["role"] == "host"}

    def has(self, finding):
        return any(f["id"] == finding for d in self.documents for f in d["findings"])

    def failed(self):
        """A process that ended badly: findings that matter only then are warnings."""
        ends = [d["stack"]["outcome"] or {} for d in self.documents]
        return any(e.get("exit_status") or e.get("signal") for e in ends)

    def repair(self):
        """The edits of the first repair that was replayed; None: there is none, or words alone."""
        fixes = (self.first or {}).get("fix") or [None]
        return fixes[0]["edits"] if fixes[0] and fixes[0]["checked"] == "replayed" else None


def vain(said, by_cudnn):
    """Names that were asked for in vain, by cuDNN itself or by others."""
    return {f["name"] for d in said.documents for f in d["stack"]["failures"] or []
            if os.path.basename(f["caller"] or "").startswith("libcudnn") == by_cudnn}


def asked_by_cudnn(run, other):
    """cuDNN opens parts, CUDA's libraries, the compiler and the driver when it is called, and may never be."""
    return run.id in BY_CUDNN and bool(vain(run, True) - vain(other, True))


def is_asked_otherwise(run, other):
    """A script, or a host that puts names together, opens cuDNN or a part by a name that stands in no file."""
    return (run.id == "library-not-found" and " asked for lib" in run.first["title"] or
            run.id == "dependency-missing" and run.first["title"].startswith("libcudnn")) and \
        bool(vain(run, False) - vain(other, False))


def is_no_host(run):
    """What was opened has nothing of cuDNN itself: an extension of PyTorch, say."""
    refused = re.match(r"(\S+) could not be loaded", run.first["title"]) if run.first else None
    return bool(refused and refused[1] not in {os.path.basename(h) for h in run.hosts()} and
                not refused[1].startswith("libcudnn"))


def opens_cuda(run):
    """A host that opens CUDA's libraries before cuDNN: by names that it puts together."""
    return run.id == "cuda-dependency-differs" and " asked for lib" in run.first["title"]


REASONS = {  # of a run and another command: may the findings differ?
    "the other command says that it does not know": lambda run, other:
        run.first and not other.first and "ok" not in other.verdicts,
    "the driver, a GPU or a limit of the machine": lambda run, other: run.id in MACHINE,
    "one process: order, calls, output, files replaced meanwhile": lambda run, other:
        run.id in PROCESS or other.id in PROCESS,
    "how the process ended": lambda run, other:
        run.first and (other.has(run.id) or run.first["severity"] == "warning" and run.failed())
        or other.first and run.has(other.id),
    "a request that failed leaves nothing in the process": lambda run, other:
        other.is_process and bool(vain(run, True) | vain(run, False)),
    "cuDNN was called, and looked for it then": asked_by_cudnn,
    "opened, and no host of cuDNN": lambda run, other: is_no_host(run),
    "CUDA is opened by names that stand in no file": lambda run, other: opens_cuda(run) or (
        run.id == "cuda-major-differs" and bool(run.cuda() - other.cuda())),
    "opened by a name that stands in no file": is_asked_otherwise,
    "a script, or another host, had loaded another cuDNN": lambda run, other:
        bool(run.facades() - other.facades()),
}
REPAIRS = {  # of the same finding: may the repairs differ?
    "a process shows no requests, which would be replayed": lambda run, other:
        other.is_process and not other.repair(),
    "CUDA is opened by names that stand in no file": lambda run, other: bool(run.cuda() - other.cuda()),
    "who sets a variable": lambda run, other:
        any(e["by"] for e in run.repair() or ()),
}


def bare(edits):
    return edits and [(e["edit"], e["name"], e["value"], e["path"]) for e in edits]


def shown(said):
    """For people: the edits, or why there are none."""
    fixes = (said.first or {}).get("fix") or [None]
    return bare(said.repair()) or (fixes[0] and fixes[0]["why"])


def compare(run, other):
    """(agrees, reason or difference): of the reports of a run and of another command."""
    run, other = Said(run), Said(other)
    if run.id != other.id:
        reason = next((r for r, holds in REASONS.items() if holds(run, other)), None)
        return bool(reason), reason or f"report says {run.id or 'nothing'}, not {other.id or 'nothing'}"
    if bare(run.repair()) != bare(other.repair()):
        reason = next((r for r, holds in REPAIRS.items() if holds(run, other)), None)
        return bool(reason), reason or f"{run.id}: other repairs: {shown(run)}, {shown(other)}"
    return True, None


def table(compared):
    """compared: [(who, agrees, reason)]. Prints who agrees how often, and why the others may not; the share that
    agrees of those that may not differ."""
    for who in sorted({name for name, _, _ in compared}):
        mine = [c for c in compared if c[0] == who]
        same = sum(agrees and not reason for _, agrees, reason in mine)
        bad = sum(not agrees for _, agrees, _ in mine)
        print(f"{who}: finding and repair as report says them in {same} of {len(mine)}, "
              f"{len(mine) - same - bad} may differ, {bad} differ")
        for reason, n in collections.Counter(r for _, agrees, r in mine if agrees and r).most_common():
            print(f"    {n:4} {reason}")
    return share(compared)


def share(compared):
    bad = sum(not agrees for _, agrees, _ in compared)
    judged = sum(not (agrees and reason) for _, agrees, reason in compared)
    return 1 - bad / judged if judged else 1
