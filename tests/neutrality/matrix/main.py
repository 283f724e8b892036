"""Each case under each row: bare and shimmed, plainly and with the loader's trace, and what differs."""

import argparse
import concurrent.futures
import dataclasses
import fnmatch
import json
import os
import pathlib
import re
import sys
import tempfile
import threading

from . import cases, compare, planted, rows, runs, targets

GROUPS = targets.HERE.parent / "groups"
SHIM_NAMES = ["libwhichcudnn"]


class Tap:
    """One file of results; also on stdout what failed."""

    def __init__(self, path, verbose):
        self.path, self.verbose = path, verbose
        self.lines, self.failed, self.count = [], 0, 0
        self.lock = threading.Lock()

    def result(self, name, wrong, notes=()):
        with self.lock:
            self.count += 1
            self.failed += bool(wrong)
            mine = [f"{'not ok' if wrong else 'ok'} {self.count} - {name}"]
            mine += [f"# {line}" for text in (*notes, wrong) for line in (text or "").splitlines()]
            self.lines += mine
            if wrong or self.verbose:
                print("\n".join(mine), flush=True)

    def write(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        new.write_text("\n".join([*self.lines, f"1..{self.count}", ""]))
        new.rename(self.path)


def observed(case, log):
    """"" if the shim's log holds what the case says that it saw."""
    kinds = []
    for line in log.splitlines():
        try:
            kinds.append(json.loads(line)["kind"])
        except (ValueError, KeyError) as error:
            return f"the shim's log holds what is no record: {line[:200]} ({error})"
    if case.observed == "calls" and "call" not in kinds:
        return f"the shim told no call, only {sorted(set(kinds))}"
    if case.observed == "objects" and "object" not in kinds:
        return f"the shim told no object, only {sorted(set(kinds))}"
    if case.observed == "nothing" and kinds:
        return f"the shim told {sorted(set(kinds))}"
    return ""


class RowRun:
    """All cases of one row."""

    def __init__(self, row, all_cases, scratch, options):
        self.row, self.target = row, row.target
        self.cases = [c for c in all_cases if not row.lacks(c)]
        self.runner = runs.Runner(row, scratch)
        self.options = options
        self.missing = {}
        self.values = {}

    def prepare(self):
        """Builds; what the build said where it failed, which fails the cases of that group."""
        major, version = self.target.version(self.row)
        self.values = {"facade": f"libcudnn.so.{major}", "major": str(major),
                       "version": str(version)}
        said = self.target.build(self.row, {case.group for case in self.cases})
        self.shim = self.target.shim(self.row)
        for path in pathlib.Path(self.target.directory(self.row)).glob("cannot.*"):
            for line in path.read_text().splitlines():
                name, _, reason = line.partition("\t")
                self.missing[name] = reason
        return said

    def fill(self, text, pattern):
        for key, value in self.values.items():
            text = text.replace("{" + key + "}", re.escape(value) if pattern else value)
        return text.replace("{dir}", re.escape("{dir}")) if pattern else text

    def check(self, case):
        """(what is wrong, notes) of one case."""
        for word in case.run:
            if os.path.basename(word) in self.missing:
                return f"not built here, and no exception says so: {self.missing[os.path.basename(word)]}", []
        wrong = []
        shim = self.shim
        bare = self.runner.run(case, self.fill)
        said = compare.expectation(case, bare, self.fill)
        if said:
            return f"the bare run is not what is expected\n{said}\n{bare.said}", []
        shimmed = self.runner.run(case, self.fill, shim)
        said = compare.expectation(case, shimmed, self.fill)
        if said:
            wrong.append(f"the shimmed run is not what is expected\n{said}")
        for channel, diff in compare.of_plain(bare, shimmed, case).items():
            wrong.append(f"{channel} differs:\n{diff}")
        told = observed(case, shimmed.log)
        if told:
            wrong.append(told)
        if not wrong and case.deterministic and self.traces():
            pair = [self.runner.run(case, self.fill, s, traced=True) for s in (None, shim)]
            told = compare.of_plain(*pair, case) | compare.of_traces(*pair, SHIM_NAMES)
            for channel, diff in told.items():
                wrong.append(f"traced, {channel} differs:\n{diff}")
            more = compare.of_shim(pair[1].trace, SHIM_NAMES)
            if more and self.row.shim != "coverage":  # gcov's run-time calls libc
                wrong.append("\n".join(["the shim is bound to", *more]))
        if wrong:
            wrong.append(shimmed.said)
        return "\n".join(wrong), []

    def traces(self):
        return self.target.ld_debug and self.row.observer != "valgrind"


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
        tap.result(case.name, *results[case.name])
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
    small in one of the rows that can, in turn (in two of them if all can). Where --row names rows,
    or the target does not spread them, each has all cases."""
    planned = []
    for target in chosen:
        small = options.part == "small"
        own = [c for c in all_cases if target.takes(c, options.part) and (c.small or not small)]
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
                times = 2 if len(able) == len(target_rows) else 1
                able = {runs_it[(number + i) % len(runs_it)] for i in range(times)}
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


class Exceptions:
    """Is each exception of the closed lists still needed? A case that would pass under it, in the two
    rows that it is tried in, makes it stale. Not tried is what is true at times alone, or takes long;
    the reason says so at its beginning."""
    NOT_TRIED = ("at times: ", "slow: ")
    LIMIT = 20

    def __init__(self, chosen, all_cases, scratch, options):
        self.rows = [row for target in chosen for row in target.rows("all")
                     if fnmatch.fnmatch(row.name, options.row)]
        self.cases = [case for case in all_cases if case.excepted]
        self.scratch, self.options = scratch, options
        self.everything = not options.target and options.row == "*"
        self.prepared = {}

    def candidates(self, case, word):
        """Rows that the word keeps the case from, those first that no other word does."""
        def others(row):
            return len(row.words & set(case.excepted))
        return sorted((row for row in self.rows if word in row.words and not row.lacks(case) and
                       row.target.takes(case, "all")), key=others)

    def in_row(self, row):
        if row not in self.prepared:
            self.prepared[row] = RowRun(row, self.cases, self.scratch, self.options)
            self.prepared[row].prepare()
        return self.prepared[row]

    def stale(self, case, word):
        """(what is wrong, notes)"""
        reason = case.excepted[word]
        if reason.startswith(self.NOT_TRIED):
            return "", [f"{word}, not tried: {reason}"]
        found = self.candidates(case, word)
        if not found:
            return f"{word}: no row is called so" if self.everything else "", []
        short = dataclasses.replace(case, limit=min(case.limit, self.LIMIT))
        # Hosts before others: what a word for several of them says may be true of one.
        tried = list({row.host: row for row in reversed(found)}.values())[::-1][:2]
        for row in tried:
            if self.in_row(row).check(short)[0]:
                return "", [f"{word}: {reason}"]
        return f"{word}: not needed in {', '.join(row.name for row in tried)}: {reason}", []

    def run(self):
        tap = Tap(pathlib.Path(f"{self.options.prefix}-exceptions.tap"), self.options.verbose)
        print("# exceptions", flush=True)

        def one(case):
            answers = [self.stale(case, word) for word in case.excepted]
            return ("\n".join(wrong for wrong, _ in answers if wrong),
                    [note for _, notes in answers for note in notes])
        try:
            for row in {row for case in self.cases for word in case.excepted
                        for row in self.candidates(case, word)}:
                self.in_row(row)
            with concurrent.futures.ThreadPoolExecutor(max_workers=self.options.jobs) as pool:
                for case, result in zip(self.cases, pool.map(one, self.cases)):
                    tap.result(case.name, *result)
        except targets.Unavailable as error:
            tap.result("the rows can be run", str(error))
        tap.write()
        return [tap] if tap.count else []


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
            done += Exceptions(chosen, all_cases, scratch, options).run()
    done += rests(pairs, all_cases, options)
    failed, count = sum(t.failed for t in done), sum(t.count for t in done)
    print(f"# {count - failed} passed, {failed} failed")
    return 1 if failed or not count else 0
