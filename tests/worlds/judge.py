# SPDX-License-Identifier: Apache-2.0
"""Plays a twin bare and under `whichcudnn run`, and says whether what was told first is the truth."""
import json
import pathlib
import re
import sys
from dataclasses import dataclass

import kinds

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "schema"))
import whole  # noqa: E402

COMMAND = "/opt/whichcudnn/whichcudnn"
SCORE = {"right": 1, "unexplained": 0, "wrong": -2, "error on healthy": -8, "ok on broken": -16}
TOLD = re.compile(r"^(?:whichcudnn: )?(error|warning|note)\[([a-z-]+)\]", re.M)


@dataclass
class Telling:
    """What `whichcudnn run` said of a program: its status and output, the findings in the order of its text."""
    status: object
    out: str
    err: str
    first: tuple      # (severity, id) or None
    verdict: str      # ok, findings, unexplained, not observed
    reports: list     # of `report --json`, one a process

    def findings(self):
        """All of them, the one that was told first in front."""
        found = [f for r in self.reports for f in r.get("findings", [])]
        if self.first:
            found.sort(key=lambda f: f["id"] != self.first[1])
        return found


def outcome(play):
    """What a fault must change: how it ended and what it printed."""
    status, out, _ = play
    return 128 - status if isinstance(status, int) and status < 0 else status, out


def tell(w, log="/log"):
    """The world's program under `whichcudnn run`, and the reports of its logs."""
    for name in w.names(log):
        w.remove(f"{log}/{name}")
    status, out, err = w.play(w.program((COMMAND, "run", "--color=never", "--log", log, "--")))
    first = TOLD.search(err)
    reports = []
    if w.names(log):
        _, text, _ = w.play([COMMAND, "report", "--json", log], {"PATH": w.env["PATH"]})
        try:
            reports = json.loads(text)
        except ValueError:
            reports = []
        reports = reports if isinstance(reports, list) else [reports]
    if first:
        verdict = "findings"
    elif re.search(r"^whichcudnn: ok\b", err, re.M):
        verdict = "ok"
    elif "unexplained" in err:
        verdict = "unexplained"
    else:
        verdict = "not observed"
    return Telling(status, out, err, first and first.groups(), verdict, reports)


def tell_text(w, telling, truths):
    """Where the run could not explain it, the step that it names: its log and what the program printed, together."""
    said = telling.out + re.split("^whichcudnn: ", telling.err, maxsplit=1, flags=re.M)[0]
    w.write("/tmp/said.txt", said)
    logs = [f"/log/{n}" for n in w.names("/log")]
    _, out, err = w.play([COMMAND, "explain", "--color=never", "--text", "/tmp/said.txt", *logs],
                         {"PATH": w.env["PATH"]})
    first = TOLD.search(out + err)
    return any(first and first[2] in kinds.LABELS[t.label] and any(g in out + err for g in t.guilty) for t in truths)


def words_of(finding):
    """All that a finding says, as one text."""
    facts = [str(v) for fact in finding.get("facts", []) for v in fact.values()]
    fixes = [str(v) for fix in (finding.get("fix") or finding.get("fixes") or []) for v in fix.values()]
    return " ".join([finding["title"], *facts, *fixes])


def names(telling, truth):
    """Whether the first finding is one of those that name this cause, and says what is guilty."""
    if not telling.first or telling.first[1] not in kinds.LABELS[truth.label]:
        return False
    text = telling.err + " ".join(words_of(f) for f in telling.findings() if f["id"] == telling.first[1])
    return any(g in text for g in truth.guilty)


def judge(telling, truths):
    """right, unexplained, wrong, or ok on broken: of a twin with the fault."""
    if any(names(telling, t) for t in truths):
        return "right"
    if telling.verdict == "ok":
        return "ok on broken"
    if telling.verdict in ("unexplained", "not observed"):
        return "unexplained"
    quiet = all(f["severity"] == "note" for f in telling.findings())
    if quiet and re.search(r"^whichcudnn: ok\b", telling.err, re.M):
        return "ok on broken"
    return "wrong"


def judge_healthy(telling, bare):
    """error on healthy, changed (the shim changed what came out), or fine."""
    if any(f["severity"] == "error" for f in telling.findings()) or telling.first and telling.first[0] == "error":
        return "error on healthy"
    if outcome((telling.status, telling.out, "")) != outcome(bare):
        return "changed"
    return "fine"


# ---- the baseline ---------------------------------------------------------------------------------------

def stem(path):
    """libcudnn_graph of /x/libcudnn_graph.so.9.1.0"""
    return path.rsplit("/", 1)[-1].split(".so")[0]


def baseline(w, telling):
    """The first library that failed, else the older of two releases: no more than a log and the loader's words say."""
    records = []
    for name in w.names("/log"):
        for line in w.read(f"/log/{name}").decode(errors="replace").splitlines():
            try:
                records.append(whole.whole(json.loads(line)))
            except (ValueError, LookupError):
                pass
    records.sort(key=lambda r: r["time"])
    for r in records:
        if r["kind"] == "failure":
            found = re.match(r"(\S+\.so\S*): ", r.get("text") or "")
            return stem(found.group(1) if found else r.get("name") or "")
    found = re.search(r"(?:libraries: |error: )(\S+\.so[^:\s]*): ", telling.err)
    if found:
        return stem(found.group(1))
    versions = {}
    for r in records:
        if r["kind"] in ("object", "candidate") and r.get("version") and "cudnn" in (r.get("path") or ""):
            versions.setdefault(tuple(int(n) for n in re.findall(r"\d+", r["version"])), r["path"])
    if len(versions) > 1:
        return stem(versions[min(versions)])
    return None
