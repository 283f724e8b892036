#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kills.py SHIM COUNTED SET WORK KILLS [SEED]: SIGKILL at random moments

COUNTED (counted.c) is started with the SHIM and killed KILLS times. Its threads count in shared
memory what they have begun and done; what the log says must be what was counted:

- of each thread the records of all steps that were done, in order, none missing, none twice, and
  beyond them at most those of the one step that was under way;
- each line whole, with numbers from 1 on without a gap; after the last one there may be what the
  kernel had copied of a write, which ends with a page.

SET is a stand-in cuDNN, of which each thread opens a copy of its own. A run that is not killed
comes first: its log has all records, and its duration says when to kill.
"""

import collections
import mmap
import os
import pathlib
import random
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "schema"))
from whole import records as records_of_log  # noqa: E402

THREADS = 4
PAGE = mmap.PAGESIZE
ROOM = 8 * 12  # counts of eight threads: tid, begun, done
FUNCTIONS = """cudnnCreate cudnnGetVersion cudnnGetCudartVersion cudnnGetProperty
    cudnnGraphVersionCheck cudnnOpsVersionCheck cudnnCnnVersionCheck cudnnAdvVersionCheck
    cudnnConvolutionForward cudnnConvolutionBackwardData cudnnConvolutionBackwardFilter
    cudnnBackendExecute cudnnGetErrorString cudnnBatchNormalizationForwardInference
    cudnnRNNForward cudnnMultiHeadAttnForward""".split()


def plan_of(thread, facade):
    """Steps of a thread, each with the records that it leaves, known by what they are about."""
    yield f"open {facade}", [("request", facade)]
    for i, function in enumerate(FUNCTIONS):
        name = f"libcudnn_killed_{thread}_{i}.so.9"
        missing = f"cudnnKilled_{thread}_{i}"
        yield f"try {name}", [("request", name)]
        yield "words", [("failure", name)]
        yield f"find {function}", [("binding", facade, function)]
        yield "call", [("call", facade, function, "before"), ("call", facade, function, "after")]
        yield f"miss {missing}", [("failure", missing)]
        yield "words", []  # told at once, see once()


def about(record, host):
    """What a record is about, None where no step of a plan leaves it."""
    kind = record["kind"]
    if kind == "request" and record["caller"] == host:
        return kind, record["name"]
    if kind == "failure" and record["caller"] == host:
        return kind, record["function"] or record["name"]
    if kind == "binding" and record["host_path"] == host:
        return kind, record["target_path"], *record["functions"]
    if kind == "call" and record["host_path"] == host:
        return kind, record["target_path"], record["function"], record["phase"]
    return None


def once(records):
    """A lookup in vain is told at once, and by the same number with the loader's words."""
    lookups = set()
    for record in records:
        lookup = record["kind"] == "failure" and record["function"] and record["request"]
        if not lookup or lookup not in lookups:
            yield record
        lookups.add(lookup)


def first_difference(got, expected):
    at = next((i for i, pair in enumerate(zip(got, expected)) if pair[0] != pair[1]),
              min(len(got), len(expected)))
    return f"at {at}: log has {got[at:at + 3]}, expected {expected[at:at + 3]}"


class Host:
    def __init__(self, shim, program, cudnn, work):
        self.program = os.path.realpath(program)
        self.work = work
        self.halves = 0  # logs whose last line was cut
        self.log = work / "log.jsonl"
        facades = [self.copy_of(cudnn, thread) for thread in range(THREADS)]
        self.plans = [list(plan_of(thread, facades[thread])) for thread in range(THREADS)]
        self.plan_file = work / "plan"
        self.plan_file.write_text("".join(
            f"{thread} {step}\n" for thread, plan in enumerate(self.plans) for step, _ in plan))
        counts = work / "counts"
        counts.write_bytes(bytes(ROOM))
        with open(counts, "r+b") as file:
            self.counts = mmap.mmap(file.fileno(), ROOM)
        self.environment = {
            "PATH": os.environ["PATH"], "LD_PRELOAD": shim, "COUNTS": str(counts),
            "WHICHCUDNN_LOG": str(self.log), "WHICHCUDNN_STDERR": "off"}

    def copy_of(self, cudnn, thread):
        """The path of a facade of its own; the parts are everybody's."""
        folder = self.work / str(thread)
        folder.mkdir()
        for file in pathlib.Path(cudnn).glob("libcudnn*"):
            if file.name == "libcudnn.so.9":
                shutil.copy(file, folder)
            else:
                (folder / file.name).symlink_to(file)
        return str(folder / "libcudnn.so.9")

    def start(self):
        self.log.unlink(missing_ok=True)
        self.counts[:] = bytes(ROOM)
        return subprocess.Popen([self.program, self.plan_file], env=self.environment,
                                stdin=subprocess.DEVNULL)

    def counted(self, thread):
        return struct.unpack_from("III", self.counts, thread * 12)

    def lines(self):
        """The log's records; an error where a line is not whole."""
        text = self.log.read_bytes() if self.log.exists() else b""
        whole = text.rfind(b"\n") + 1
        if whole != len(text):
            # The kernel copies a write page by page, and leaves off between two where it is to kill.
            if len(text) % PAGE:
                raise ValueError(f"a half line: {text.splitlines()[-1]!r}")
            self.halves += 1
            text = text[:whole]
        records = records_of_log(text)
        if [r["seq"] for r in records] != list(range(1, len(records) + 1)):
            raise ValueError(f"numbers are {[r['seq'] for r in records]}")
        return records

    def check(self):
        """Returns how many records there were; says what is wrong by a ValueError."""
        records = self.lines()
        told = collections.defaultdict(list)
        objects = set()
        for record in once(records):
            if record["kind"] == "object":
                objects.add(record["path"])
            what = about(record, self.program)
            if what:
                told[record["tid"]].append(what)
        known = set()
        for thread in range(THREADS):
            tid, begun, done = self.counted(thread)
            known.add(tid)
            steps = [leaves for _, leaves in self.plans[thread]]
            sure = [what for leaves in steps[:done] for what in leaves]
            maybe = [what for leaves in steps[done:begun] for what in leaves]
            got = told.get(tid, [])
            if got != (sure + maybe)[:len(got)] or len(got) < len(sure):
                raise ValueError(f"thread {thread}: {done} steps done, {begun} begun; "
                                 + first_difference(got, sure + maybe))
            facade = self.plans[thread][0][0].split()[1]
            if done and facade not in objects:
                raise ValueError(f"{facade} was opened, and the log has no object record")
        strangers = set(told) - known
        if strangers:
            raise ValueError(f"records of other threads: {[told[tid] for tid in strangers]}")
        return len(records)


def run_whole(host):
    """A run that is not killed: how long it takes. Its log has everything."""
    begin = time.monotonic()
    status = host.start().wait(60)
    took = time.monotonic() - begin
    if status != 0:
        sys.exit(f"kills: without being killed it ended with {status}")
    host.check()
    for thread in range(THREADS):
        if host.counted(thread)[2] != len(host.plans[thread]):
            sys.exit(f"kills: thread {thread} did not finish")
    if host.lines()[-1]["kind"] != "summary":
        sys.exit("kills: no summary at the end")
    return took


def kill_once(host, moment):
    """Where in its life it was killed: in steps done by all threads, -1 before the log began."""
    child = host.start()
    time.sleep(moment)
    child.send_signal(signal.SIGKILL)
    status = child.wait(60)
    if status not in (0, -signal.SIGKILL):
        raise ValueError(f"it ended with {status}")
    host.check()
    if not host.log.exists():
        return "before the log"
    if status == 0 or all(host.counted(t)[2] == len(host.plans[t]) for t in range(THREADS)):
        return "after all steps"
    return "in between" if any(host.counted(t)[1] for t in range(THREADS)) else "before the steps"


def main():
    shim, program, cudnn, work, kills = sys.argv[1:6]
    seed = int(sys.argv[6]) if len(sys.argv) > 6 else random.randrange(10**6)
    draw = random.Random(seed)
    host = Host(shim, program, cudnn, pathlib.Path(work))
    whole = statistics.median(run_whole(host) for _ in range(3))
    print(f"seed {seed}, a whole run takes {whole * 1000:.0f} ms")
    when = collections.Counter()
    for number in range(int(kills)):
        try:
            where = kill_once(host, draw.uniform(0, 1.1 * whole))
            when[where] += 1
            # The machine may have more to do than then, or less.
            whole *= {"after all steps": 0.95, "in between": 1.01}.get(where, 1)
        except ValueError as error:
            print(f"kill {number}: {error}")
            kept = host.work / "kept.jsonl"
            if host.log.exists():
                host.log.rename(kept)
            sys.exit(1)
    print(f"killed {sum(when.values())} times: " + ", ".join(
        f"{n} {where}" for where, n in when.most_common()) +
        f"; {host.halves} in the middle of a write")
    if when["in between"] < int(kills) / 4:
        sys.exit("kills: too few of them hit a thread at work")


if __name__ == "__main__":
    main()
