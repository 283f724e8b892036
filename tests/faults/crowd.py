#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""crowd.py LOG COUNTS DIR: what the log of a crowd (crowd.c) must hold, record by record

Each thing that a thread did has a name of its own, and COUNTS says how often it did it.
REPEATS_RECORDED and OBJECT_RECORDS_MOST of SECURITY.md bound how often that is told: up to there the log has
exactly as many records, of that very thread, and none beyond. So no record is lost or doubled, and
the log's size is bounded however long the host goes on. LOG-PID.jsonl of each child is looked at, too.
"""

import collections
import pathlib
import sys

sys.dont_write_bytecode = True
import kills  # noqa: E402
import whole  # noqa: E402

THREADS, FACADES, NAMES, LOST = 64, 8, 8, 2
TOLD = 16  # REPEATS_RECORDED and OBJECT_RECORDS_MOST
# From half time on: two pieces of the shim's arena, since names that are new come all the time.
GROWTH = 512  # KiB of private memory
MAPPINGS = 4
FUNCTIONS = """cudnnCreate cudnnGetVersion cudnnGetCudartVersion cudnnGetProperty
    cudnnGraphVersionCheck cudnnOpsVersionCheck cudnnCnnVersionCheck cudnnAdvVersionCheck
    cudnnConvolutionForward cudnnConvolutionBackwardData cudnnConvolutionBackwardFilter
    cudnnBackendExecute cudnnGetErrorString cudnnBatchNormalizationForwardInference
    cudnnRNNForward cudnnMultiHeadAttnForward""".split()
QUIET, LOUD = "cudnnBatchNormalizationBackward", "cudnnBatchNormalizationForwardTraining"

wrong = []


def check(good, text):
    if not good:
        wrong.append(text)


def records_of(log):
    text = log.read_bytes()
    check(text.endswith(b"\n"), f"{log.name}: the last line is not whole")
    records = whole.records(text)
    check([r["seq"] for r in records] == list(range(1, len(records) + 1)),
          f"{log.name}: numbers are not 1 to {len(records)}")
    return records


def about(record):
    """What a record says of one of the threads' own things."""
    kind = record["kind"]
    if kind == "request":
        return kind, record["name"]
    if kind == "failure":
        return kind, record["function"] or record["name"]
    if kind == "object":
        return kind, record["path"]
    if kind == "binding" and record["how"] == "dlsym":
        return kind, record["target_path"], ",".join(record["functions"])
    if kind == "call":
        return kind, record["target_path"], record["function"], record["phase"]
    return kind,


def expected_of(number, counts, folder):
    """What must be there of a thread, and how often."""
    cycles, rest = counts[0], counts[1:]
    asked, missed, called = rest[:NAMES], rest[NAMES:NAMES + LOST], rest[NAMES + LOST:]
    own = f"{folder}/own/{number}/libcublas.so.12"
    facade = f"{folder}/facade/{number % FACADES}/libcudnn.so.9"
    yield ("object", own), min(2 * cycles, TOLD)
    for i, n in enumerate(asked):
        name = f"libcudnn_crowd_{number}_{i}.so.9"
        yield ("request", name), min(n, TOLD)
        yield ("failure", name), min(n, TOLD)
    for i, n in enumerate(missed):
        yield ("failure", f"cudnnCrowd_{number}_{i}"), min(n, TOLD)
    for i, n in enumerate(called):
        function = FUNCTIONS[number // FACADES + i * FACADES]
        yield ("binding", facade, function), min(n, 1)
        for phase in "before", "after":
            yield ("call", facade, function, phase), min(n, 1)


def look_at_parent(records, threads, folder):
    got = collections.Counter()
    by = collections.defaultdict(set)
    for record in kills.once(records):
        got[about(record)] += 1
        by[about(record)].add(record["tid"])
    for number, (tid, *counts) in enumerate(threads):
        for what, n in expected_of(number, counts, folder):
            check(got[what] == n, f"{what}: {got[what]} records, not {n}")
            check(by[what] <= {tid} or what[0] == "object", f"{what}: by another thread")
        # Twice in each cycle, told apart by flags: RTLD_NOLOAD is another question.
        own = ("request", f"{folder}/own/{number}/libcublas.so.12")
        check(got[own] == 2 * min(counts[0], TOLD), f"{own}: {got[own]} records")
    for kind in ("process", "machine", "summary"):
        check(got[kind,] == 1, f"{got[kind,]} records of kind {kind}")
    unobserved = [r for r in records if r["kind"] == "unobserved"]
    check(not unobserved, f"not observed: {unobserved}")
    findings = collections.Counter((r["id"], r["title"], r["predicted"], r["object"], r["host"])
                                   for r in records if r["kind"] == "finding")
    check(findings, "no finding was told")
    check(set(findings.values()) <= {1}, f"findings told again: {findings.most_common(3)}")
    numbers = [r["request"] for r in records if r["kind"] == "request"]
    check(len(set(numbers)) == len(numbers), "a request was told twice")
    check(records[-1]["kind"] != "summary" or not records[-1]["dropped"], "facts were dropped")


def look_at_child(log, parent):
    """Which kind of child it was."""
    records = records_of(log)
    check(records[0]["parent_log"] == str(parent), f"{log.name}: another parent")
    own = collections.Counter(about(r) for r in records if r["pid"] == records[0]["pid"])
    fresh = [what for what in own if what[0] == "call" and what[2] in (QUIET, LOUD)]
    check(len(fresh) == 2 and {own[what] for what in fresh} == {1}, f"{log.name}: calls {fresh}")
    loud = any(what[2] == LOUD for what in fresh)
    check(own["summary",] == loud, f"{log.name}: summary")
    for kind in "request", "failure":
        check(own[kind, "libcudnn_crowd_child.so.9"] == loud, f"{log.name}: no {kind}")
    return loud


def main():
    log, counts = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).read_text().splitlines()
    said = [line.split() for line in counts]
    threads = [[int(n) for n in words[1:]] for words in said if words[0] == "thread"]
    memory = {words[0]: [int(n) for n in words[1:]] for words in said if len(words) == 4}
    children = int(said[-1][1])
    check(len(threads) == THREADS, "threads are missing")
    records = records_of(log)
    look_at_parent(records, threads, sys.argv[3])
    logs = sorted(log.parent.glob(log.stem + "-*.jsonl"))
    loud = sum(look_at_child(child, log) for child in logs)
    check(len(logs) == children, f"{len(logs)} logs of {children} children")
    check(loud == children // 2, f"{loud} of {children} children asked the loader")
    half, late = memory["half"], memory["late"]
    check(late[0] - half[0] <= GROWTH, f"private memory grew from {half[0]} to {late[0]} KiB")
    check(late[1] - half[1] <= MAPPINGS, f"mappings became more: {half[1]}, {late[1]}")
    check(late[2] == half[2], f"descriptors are kept open: {half[2]}, {late[2]}")
    print(f"{sum(t[1] for t in threads)} cycles (least {min(t[1] for t in threads)}), "
          f"{children} children, {len(records)} records, {log.stat().st_size // 1024} KiB of log; "
          f"KiB of memory, mappings, next descriptor: {half}, then {late}")
    for text in wrong[:20]:
        print(text)
    sys.exit(bool(wrong))


main()
