# SPDX-License-Identifier: Apache-2.0
"""Each case under each row: bare and shimmed, plainly and with the loader's trace, and what differs."""

import argparse
import concurrent.futures
import fnmatch
import pathlib
import sys
import tempfile

from . import cases, planted, rows, targets
from .check import RowRun, Tap
from .exceptions import Exceptions

GROUPS = targets.HERE.parent / "groups"


def run_row(row, all_cases, scratch, options, prefix):
    tap = Tap(pathlib.Path(f"{prefix}-{row.name}.tap"), options.verbose)
    print(f"# {row.name}", flush=True)
    row_run = RowRun(row, all_cases, scratch, options)
    try:
        said = row_run.prepare()
    except targets.Unavailable as error:
        tap.result("the row can be run", str(error))
        tap.write()
        return tap
    if said:
        tap.result("the programs can be built", said)
    todo = []
    for case in row_run.cases:
        reason = row.exception(case)
        if reason:
            with tap.lock:
                tap.lines.append(f"# not here: {case.name}: {reason}")
        else:
            todo.append(case)
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        futures = {pool.submit(row_run.check, case): case for case in todo}
        results = {futures[f].name: f.result() for f in concurrent.futures.as_completed(futures)}
    for case in todo:
        if results[case.name]:
            tap.result(case.name, *results[case.name])
        else:
            tap.lines.append(f"# not compared: {case.name}: {row.observer} changes it, also without the shim")
    if row.observer in rows.CHANGING and options.case == "*":
        compared = sum(result is not None for result in results.values())
        tap.result("three of four cases are compared",
                   "" if 4 * compared >= 3 * len(todo) else f"{compared} of {len(todo)}")
    tap.write()
    return tap


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prefix", help="results are written to PREFIX-ROW.tap")
    parser.add_argument("--part", choices=["small", "all"], default="all")
    parser.add_argument("--target", help="native, aarch64, ... (default: all)")
    parser.add_argument("--case", default="*", help="pattern of names, or of group/name")
    parser.add_argument("--row", default="*", help="pattern of names")
    parser.add_argument("--planted", action="store_true", help="the self-test alone")
    parser.add_argument("--check-exceptions", action="store_true",
                        help="is each exception needed? (--part all asks that anyhow)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-v", "--verbose", action="store_true", help="tell of every case")
    return parser.parse_args(arguments)


def spread(case, able, number):
    """Of the rows that can run the case, some in which it meets each value that they have, beginning
    with another one for each case."""
    free = [row for row in able if not row.exception(case)]
    able = free[number % len(free):] + free[:number % len(free)] if free else []
    wanted = {value for row in able for value in row.settings.items()}
    chosen = []
    while wanted:
        best = max(able, key=lambda row: len(wanted & set(row.settings.items())))
        wanted -= set(best.settings.items())
        chosen.append(best)
    return chosen


def plan(chosen, all_cases, options):
    """[(row, its cases)]. In --part all a case is run in as many of the target's rows as it needs to
    meet each value of each factor, while all cases together meet each pair of values; in --part
    small in one of the rows that can, in turn (in two of them if all can), or what the draw draws of that. Where --row
    names rows, or the target does not spread them, each has all cases."""
    planned = []
    for target in chosen:
        small = options.part == "small"
        own = [c for c in all_cases if target.takes(c, options.part) and (c.small and rows.draws(c) or not small)]
        target_rows = target.rows(options.part)
        taken = {row: [] for row in target_rows}
        for number, case in enumerate(own):
            able = [row for row in target_rows if not row.lacks(case)]
            if not able:
                continue
            if options.row == "*" and not small and target.spread:
                able = spread(case, able, number)
            elif small:
                runs_it = [row for row in able if not row.exception(case)] or able
                times = 2 if len(able) == len(target_rows) and rows.draw() is None else 1
                able = {runs_it[(number + (rows.draw() or 0) + i) % len(runs_it)] for i in range(times)}
            for row in able:
                taken[row].append(case)
        planned += taken.items()
    return planned


def self_test(chosen, all_cases, scratch, options):
    """Of the comparators, by what is planted; on this machine."""
    native = [target for target in chosen if target.name == "native"]
    if not native:
        return []
    tap = Tap(pathlib.Path(f"{options.prefix}-planted.tap"), options.verbose)
    print("# planted differences", flush=True)
    row_run = RowRun(rows.Row(target=native[0]), all_cases, scratch, options)
    said = row_run.prepare()
    if said:
        tap.result("the programs can be built", said)
    planted.run(row_run, all_cases, tap, options.part)
    tap.write()
    return [tap]


def rests(planned, all_cases, options):
    """A case that runs nowhere is an error; of --part all, where every row is there to run it."""
    if options.part != "all" or options.target or options.row != "*" or not planned:
        return []
    tap = Tap(pathlib.Path(f"{options.prefix}-cases.tap"), options.verbose)
    resting = [f"{case.group}/{case.name}" for case in all_cases
               if not any(case in own and not row.exception(case) for row, own in planned)]
    tap.result("every case runs somewhere", "\n".join(resting))
    idle = [row.name for row, own in planned if not own]
    tap.result("every row has cases", "\n".join(idle))
    tap.write()
    return [tap]


def main(arguments):
    options = parse(arguments)
    try:
        every = targets.find()
        chosen = targets.find(options.target) if options.target else \
            [t for t in every if options.part == "all" or t.small]
        all_cases = cases.read(GROUPS, rows.words(every), options.case)
    except (cases.CaseError, targets.Unavailable) as error:
        sys.exit(f"neutrality: {error}")
    pairs = [] if options.planted else plan(chosen, all_cases, options)
    done = []
    with tempfile.TemporaryDirectory(prefix="neutrality-") as scratch:
        for row, own in pairs:
            if own and fnmatch.fnmatch(row.name, options.row):
                done.append(run_row(row, own, scratch, options, options.prefix))
        if options.case == "*" and options.row == "*":
            done += self_test(chosen, all_cases, scratch, options)
        if options.check_exceptions or (options.part == "all" and not options.planted and
                                        options.row == "*"):
            every_row = [row for target in chosen for row in target.rows("all")]
            done += Exceptions(every_row, all_cases, scratch, options).run()
    done += rests(pairs, all_cases, options)
    failed, count = sum(t.failed for t in done), sum(t.count for t in done)
    print(f"# {count - failed} passed, {failed} failed")
    return 1 if failed or not count else 0
