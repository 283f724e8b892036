# SPDX-License-Identifier: Apache-2.0
"""Runs one case: the situation bare and watched, the fix that the first finding gives, the twin."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import traceback

from . import fixes, healthy, held, pairs, proposals, rows
from .releases import watch
from .world import World

NO_GPU = ("driver-missing", "gpu-stack-not-reached")  # true of a computer without one
NOT_HERE = 125  # of with-cache: no mount namespace


class Failed(Exception):
    pass


def must(holds, what):
    if not holds:
        raise Failed(what)


class Outcome:
    def __init__(self, name):
        self.name, self.expected, self.got, self.failure, self.skipped = name, "", "", "", ""
        self.said = ""  # why the first fix was not played
        self.printed, self.unplayed = [], []  # repairs of all findings: fixes.py
        self.followed = ""  # the sort of the one that was


def run(world, watched):
    """The program bare, or started by `whichcudnn run`, by which statuses over 128 are signals."""
    environment = {"WHICHCUDNN_STDERR": "off"}
    environment |= {name: str(value) for name, value in world.environment.items()}
    if world.preload:  # with which not even the command would start
        preloads = ([watch.SHIM] if watched else []) + [str(world.preload)]
        command = ["env", f"LD_PRELOAD={':'.join(preloads)}", *world.command()]
        done = watch.Run(command, new_logs(world) if watched else None, **environment)
        done.world = world
        return done
    if not watched:
        return watch.Run(world.command(), **environment)
    logs = new_logs(world)
    os.makedirs(logs)
    done = watch.Run(world.command([watch.COMMAND, "run", "--log", logs, "--quiet", "--"]),
                     **environment)
    done.logs, done.world = logs, world
    done.status = done.status if done.status <= 128 else 128 - done.status
    return done


def new_logs(world):
    return tempfile.mkdtemp(prefix="logs-", dir=world.scratch) + "/logs"


def check_locks(logs):
    """What a lock keeps of each log is, read back, what the log says."""
    for log in sorted(pathlib.Path(logs).glob("whichcudnn-*.jsonl*")):
        with tempfile.NamedTemporaryFile() as lock:
            kept = subprocess.run([watch.COMMAND, "lock", "-o", lock.name, str(log)],
                                  capture_output=True, text=True)
            if kept.returncode == 3 or "processes (" in kept.stderr:
                continue
            must(kept.returncode < 2, f"lock of {log}: {kept.stderr}")
            differs = subprocess.run([watch.COMMAND, "diff", lock.name, str(log)],
                                     capture_output=True, text=True)
            must(differs.returncode == 0, f"a lock and its log: {differs.stdout}{differs.stderr}")


def check_verdicts(watched, documents):
    """Nothing good is said of a run that ended badly; what is unexplained did."""
    verdicts = [one["verdict"] for one in documents]
    if watched.status != 0:
        must({"unexplained", "warnings", "errors"} & {*verdicts} or {*verdicts} == {"not-observed"},
             f"ended with {ending(watched.status)}, and the verdict is {verdicts}")
    else:
        known = [words for one in documents for words in one["known"]]
        must("unexplained" not in verdicts, f"ended well, and is unexplained: {known}")


def check_screen(watched):
    """What people read: which cuDNN first, on one screen, and nothing that they would have to look for elsewhere."""
    done = subprocess.run(watched.world.where([watch.COMMAND, "report", watched.logs]),
                          env=watch.clean_environment(), capture_output=True, text=True)
    screen = done.stdout.splitlines()
    must(len(screen) <= 24, f"a screen of {len(screen)} lines: {done.stdout}")
    must(re.match(r"no cuDNN (was loaded|is found)|(parts of )?cuDNN (\d|between|unknown)|not observed: ", screen[0]),
         f"the first line does not say which cuDNN: {screen[0]}")
    must(not re.search(r"\babove\b|_ctypes\.", done.stdout), f"a screen that refers elsewhere: {done.stdout}")


def report(watched):
    """Where the process ran: its fixes are played over the files and the loader's cache of there."""
    done = subprocess.run(watched.world.where([watch.COMMAND, "report", "--json", watched.logs]),
                          env=watch.clean_environment(), capture_output=True, text=True)
    return watch.valid(json.loads(done.stdout), "report --json")


def told(watched):
    """The findings of all processes of a run; not observed is no finding."""
    if not any(pathlib.Path(watched.logs).iterdir()):
        return []
    document = report(watched)
    check_locks(watched.logs)
    documents = document if isinstance(document, list) else [document]
    check_verdicts(watched, documents)
    check_screen(watched)
    return [finding for one in documents for finding in one["findings"]]


def grave(findings):
    return [f for f in findings if f["severity"] in ("error", "warning")]


def ending(status):
    return signal.Signals(-status).name if status < 0 else str(status)


def words_of(finding):
    texts = [finding["title"]] + [f"{f['name']}: {f['value']}" for f in finding["facts"]]
    return "\n".join(texts + [f"{f['text']} {f['command']}" for f in finding["fix"]])


# What nobody can do: "let libx ask for the name alone", "import torch before torch".
NOBODY = re.compile(r"\blet \S+( \S+)* ask for|\brename\b|(\S+) before \2(?!\S)")


def check_fixes(world, findings):
    """Of all fixes of all findings: none is what it must not be."""
    for finding in findings:
        for fix in finding["fix"]:
            said = f"{fix['text']}\n{fix['command']}"
            bad = [what for what in world.not_said
                   if what == fixes.kinds_of(fix) or (" " in what or "-cu" in what) and what in said]
            must(not bad and not NOBODY.search(said), f"{finding['id']} gives {bad}: {said}")


def check_first(world, findings):
    """The first finding, if it is what was stated, names what it has to and has the fix."""
    first = findings[0] if findings else None
    must(first, f"nothing was found, expected {world.first}")
    ids = " ".join(f["id"] for f in findings)
    must(first["id"] == world.first, f"first finding: {first['title']!r} ({ids})")
    for name in world.names:
        must(name in words_of(first), f"{name} is not named in:\n{words_of(first)}")
    must(world.severity in (None, first["severity"]), f"{first['id']} is {first['severity']}")
    must(len(first["fix"]) > world.road, f"{first['id']} gives {len(first['fix'])} fixes")
    fix = first["fix"][world.road]
    must(fix["action"] in world.action.split(" or ") and world.fix_says in f"{fix['text']} {fix['command']}",
         f"first fix: {fix}, expected {world.action} {world.fix_says}")
    return first


def check_silent(findings, world, when, allowed=()):
    allowed = (*allowed, *(NO_GPU if world.needs_gpu else ()))
    noise = [f"{f['id']}: {f['title']}" for f in grave(findings) if f["id"] not in allowed]
    must(not noise, f"{when}: {'; '.join(noise)}")


def check_healthy(world, when, allowed=()):
    """The program works, with the right file mapped, and nothing is told but what is allowed."""
    healthy = run(world, watched=True)
    must(healthy.status == 0 and "done\n" in healthy.out,
         f"{when}: ended with {ending(healthy.status)}: {(healthy.out + healthy.err)[-600:]}")
    if world.maps:
        mapped = {os.path.realpath(p) for p in re.findall(r"^mapped (.*)$", healthy.out, re.M)}
        must(os.path.realpath(world.maps) in mapped,
             f"{when}: {world.maps} is not mapped: {mapped}")
    findings = told(healthy)
    check_silent(findings, world, when, allowed)
    if not findings and any(pathlib.Path(healthy.logs).iterdir()):
        _, document = watch.report(healthy.logs)
        documents = document if isinstance(document, list) else [document]
        must("ok" in [one["verdict"] for one in documents],
             f"{when}: {[(one['verdict'], one['text']) for one in documents]}")


def check_bare(world):
    """Without anything that watches it the program does what its twin does."""
    bare = run(world, watched=False)
    must(bare.status == 0 and "done\n" in bare.out,
         f"repaired and bare it ended with {ending(bare.status)}: {(bare.out + bare.err)[-600:]}")


def check_fault(world):
    bare, watched = run(world, watched=False), run(world, watched=True)
    if bare.status == NOT_HERE:
        return None, None
    said = bare.out + bare.err
    if world.text is not None:
        must(re.search(world.text, said), f"it said {said!r}, expected {world.text}")
    if world.ends is not None:
        must(ending(bare.status) == str(world.ends), f"it ended with {ending(bare.status)}: {said}")
    must((watched.status, watched.out.partition("mapped")[0], watched.err) ==
         (bare.status, bare.out.partition("mapped")[0], bare.err),
         f"watched it ended with {ending(watched.status)}: {watched.out}{watched.err}")
    return told(watched), watched


def follow(world, finding):
    try:
        fixes.play(world, finding, finding["fix"][world.road])
    except fixes.NotPlayed as error:
        raise Failed(f"the fix cannot be played: {error}") from error


def play_case(outcome, name, seed, root):
    """A case of the field, or of the articles."""
    build = rows.cases()[name]
    world = World(name, seed, root / "a")
    build(world)
    outcome.expected = world.first or "none"
    findings, watched = check_fault(world)
    if findings is None:
        outcome.skipped = "no mount namespace"
        return
    outcome.got = findings[0]["id"] if findings else "none"
    outcome.printed, outcome.unplayed = fixes.printed(findings), fixes.said(findings)
    check_fixes(world, findings)
    if not world.first:
        check_silent(findings, world, "a sound stack")
        return
    first = check_first(world, findings)
    answers = [*proposals.wrong_answers(name, watched, first)]
    must(not answers, "\n".join(answers))
    if first["fix"][world.road]["checked"] == "no":
        outcome.said = first["fix"][world.road]["why"]
    if not outcome.said:
        follow(world, first)
        check_healthy(world, "repaired", world.left)
        check_bare(world)
        outcome.followed = "" if world.by else fixes.sort_of(first, first["fix"][world.road])
    twin = World(name, seed, root / "b", faulty=False)
    build(twin)
    check_healthy(twin, "the healthy twin")


def play_pair(outcome, name, seed, root):
    """Both faults are told, the one that must be repaired first before the other."""
    world = World(name, seed, root / "a")
    faults, ids = pairs.expected(name)
    pairs.Stack(world).build(faults)
    outcome.expected = ids[0]
    findings = told(run(world, watched=True))
    got = [f["id"] for f in findings]
    outcome.got = got[0] if got else "none"
    must([i for i in dict.fromkeys(got) if i in ids] == ids and got[0] == ids[0],
         f"told {' '.join(got)}, expected {' before '.join(ids)}")


def play_healthy(outcome, name, seed, root):
    world = World(name, seed, root / "a")
    healthy.case(world)
    outcome.expected = "none"
    check_healthy(world, "healthy")
    outcome.got = "none"


def agree_case(name, seed, root):
    for label, place, faulty in (("", "a", True), ("twin", "b", False)):
        world = World(name, seed, root / place, faulty=faulty)
        rows.cases()[name](world)
        yield held.play(world, label)


def agree_pair(name, seed, root):
    world = World(name, seed, root / "a")
    pairs.Stack(world).build(pairs.expected(name)[0])
    yield held.play(world, "")


def agree_healthy(name, seed, root):
    world = World(name, seed, root / "a")
    healthy.case(world)
    yield held.play(world, "")


PLAYS = {"C": play_case, "A": play_case, "P": play_pair, "H": play_healthy}


AGREES = {"C": agree_case, "A": agree_case, "P": agree_pair, "H": agree_healthy}


def judge(name, seed):
    """One case with one seed."""
    outcome = Outcome(name)
    root = pathlib.Path(tempfile.mkdtemp(prefix="cases-"))
    try:
        PLAYS[name[0]](outcome, name, seed, root)
    except Failed as error:
        outcome.failure = str(error)
    except Exception:  # a defect of the case or of the harness: that case alone fails
        outcome.failure = traceback.format_exc()
    finally:
        if not os.environ.get("KEEP_CASES"):
            shutil.rmtree(root, ignore_errors=True)
        elif outcome.failure:
            outcome.failure += f"\nkept: {root}"
    return outcome


def agree(name, seed):
    """[Held] of one case with one seed."""
    root = pathlib.Path(tempfile.mkdtemp(prefix="cases-"))
    try:
        return list(AGREES[name[0]](name, seed, root))
    except Exception:
        return [held.Held("", "failed", [traceback.format_exc()])]
    finally:
        if not os.environ.get("KEEP_CASES"):
            shutil.rmtree(root, ignore_errors=True)
