# SPDX-License-Identifier: Apache-2.0
"""One row: what it takes to say of a case under it what is wrong; and the file of results."""

import json
import os
import pathlib
import re
import threading

from . import compare, rows, runs

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
        """(what is wrong, notes) of one case; None where the observer changes what it does, also
        without the shim."""
        for word in case.run:
            if os.path.basename(word) in self.missing:
                return f"not built here, and no exception says so: {self.missing[os.path.basename(word)]}", []
        wrong = []
        shim = self.shim
        bare = self.runner.run(case, self.fill)
        said = compare.expectation(case, bare, self.fill)
        if said and self.row.observer in rows.CHANGING:
            return None
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
            gcov = self.row.shim == "coverage"
            told = compare.of_plain(*pair, case) | compare.of_traces(*pair, SHIM_NAMES, gcov)
            for channel, diff in told.items():
                wrong.append(f"traced, {channel} differs:\n{diff}")
            more = compare.of_shim(pair[1].trace, SHIM_NAMES)
            if more and not gcov:  # its run-time calls libc
                wrong.append("\n".join(["the shim is bound to", *more]))
        if wrong:
            wrong.append(shimmed.said)
        return "\n".join(wrong), []

    def traces(self):
        return self.target.ld_debug and self.row.observer not in {*rows.CHANGING, *rows.VALGRINDS}
