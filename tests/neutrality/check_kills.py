#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_kills.py DIR < STEPS: what kill_each left in DIR.

STEPS are the requests and calls of a whole run, in order, one a line:

    request libcudnn.so.9  opened
    before cudnnGetVersion
    after cudnnGetVersion  written 90100

What follows is how the run itself shows that it has got there: the loader opened a file of that
name, or the host wrote that text. At each system call of the whole run, and of each killed run, this
holds of the log as it was then:

- every line is whole and valid by docs/log.schema.json, and numbered without a gap;
- it is the beginning of the whole run's log at its end;
- its requests and calls are the first of STEPS, down to the step that the run shows (or further,
  but not past the next one that would show): the last of them is what was in flight.
"""

import collections
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "schema"))
import validate  # noqa: E402  (found by the line above)
import whole  # noqa: E402

LOADER = 0x80000  # O_RDONLY|O_CLOEXEC and nothing else: the loader opens so, the shim does not
# What differs from run to run.
VARYING = re.compile(rb'"(time|pid|tid|start_ticks|parent_pid)":\d+|"base":"0x[0-9a-f]+"')


class Bad(Exception):
    pass


class Step:
    def __init__(self, line):
        self.text, _, shown = line.strip().partition("  ")
        how, _, what = shown.strip().partition(" ")
        self.opened = self.text.split()[-1] if how == "opened" else None
        self.written = what if how == "written" else None

    def shows(self):
        return bool(self.opened or self.written)

    def shown_by(self, line):
        kind, _, rest = line.partition(" ")
        if kind == "open" and self.opened:
            flags, _, path = rest.partition(" ")
            return int(flags, 16) == LOADER and path.rsplit("/", 1)[-1] == self.opened
        return kind == "write" and bool(self.written) and self.written in rest


def steps_of(records):
    """What a log says, in the words of STEPS."""
    said = []
    for r in records:
        if r["kind"] == "request":
            said.append(f"request {(r['name'] or '').rsplit('/', 1)[-1]}")
        elif r["kind"] == "call":
            said.append(f"{r['phase']} {r['function']}")
    return said


class Progress:
    """How many steps a log must have at least, and at most, behind the calls of a trace so far."""

    def __init__(self, steps):
        self.steps, self.waiting, self.least = steps, [i for i, s in enumerate(steps) if s.shows()], 0

    def goes_on(self, line):
        if self.waiting and self.steps[self.waiting[0]].shown_by(line):
            self.least = self.waiting.pop(0) + 1

    def check(self, said):
        most = self.waiting[0] + 1 if self.waiting else len(self.steps)
        expected = [step.text for step in self.steps]
        if said != expected[:len(said)] or not self.least <= len(said) <= most:
            raise Bad(f"in flight: {expected[self.least - 1] if self.least else 'nothing'}; "
                      f"the log says {said}")
        return said[-1] if said else "nothing"


class Logs:
    def __init__(self):
        self.schema = validate.validator("log")
        self.valid = {}  # line without what varies -> errors: most lines come in every run

    def errors_of(self, line, plain):
        if plain not in self.valid:
            self.valid[plain] = validate.line_errors(self.schema, line, set())
        return self.valid[plain]

    def read(self, files, directory):
        """(records, lines without what varies) of a run's log, if there is one."""
        if len(files) > 1:
            raise Bad(f"{len(files)} files")
        lines = files[0].read_bytes().splitlines(keepends=True) if files else []
        lines = [json.dumps(whole.whole(validate.parse(line)), separators=(",", ":")).encode() + line[-1:] for line in lines]
        plain = [VARYING.sub(rb'"\1"', line).replace(str(directory).encode(), b"DIR")
                 for line in lines]
        for number, (line, short) in enumerate(zip(lines, plain), 1):
            for error in self.errors_of(line, short):
                raise Bad(f"line {number}: {error}")
        records = [validate.parse(line) for line in lines]
        if [r["seq"] for r in records] != list(range(1, len(records) + 1)):
            raise Bad("a gap in seq")
        return records, plain


class Kills:
    """What the whole run, and those that were killed, left in a directory."""

    def __init__(self, directory, steps):
        self.logs, self.steps, self.whole = Logs(), steps, directory / "whole"
        records, self.lines = self.logs.read(list(self.whole.iterdir()), self.whole)
        self.check_end(records)

    def check_end(self, records):
        end = self.trace(self.whole)[-1]
        if end != "end 0":
            raise Bad(end)
        if steps_of(records) != [step.text for step in self.steps]:
            raise Bad(f"the whole run says {steps_of(records)}")
        if not records or records[-1]["kind"] != "summary":
            raise Bad("no summary at its end")

    @staticmethod
    def trace(run):
        text = run.with_suffix(".trace").read_text(encoding="utf-8", errors="replace")
        return text.splitlines()

    def said(self, files, directory):
        records, plain = self.logs.read(files, directory)
        if plain != self.lines[:len(plain)]:
            raise Bad("not the beginning of the whole log: " + next(
                (a.decode() for a, b in zip(plain, self.lines) if a != b), "longer"))
        return steps_of(records)

    def at_each_call(self):
        """(number of a call, what was in flight) in the whole run."""
        progress, number, last, said = Progress(self.steps), 0, "0", []
        for line in self.trace(self.whole):
            if not line.startswith("call "):
                progress.goes_on(line)
                continue
            number, log = number + 1, line.split()[1]
            if log != last:
                last, said = log, self.said([self.whole.with_name(f"whole.{log}")], self.whole)
            try:
                yield number, progress.check(said)
            except Bad as bad:
                raise Bad(f"system call {number}: {bad}") from bad

    def killed(self, run):
        """What was in flight when that one was killed."""
        progress = Progress(self.steps)
        for line in self.trace(run):
            progress.goes_on(line)
        return progress.check(self.said(list(run.iterdir()), run))


def check(directory, steps):
    kills = Kills(directory, steps)
    in_flight = dict(kills.at_each_call())
    runs = [p for p in directory.iterdir() if p.is_dir() and p != kills.whole]
    for run in runs:
        try:
            kills.killed(run)
        except Bad as bad:
            raise Bad(f"killed at system call {run.name}: {bad}") from bad
    last_words = collections.Counter(in_flight.values())
    missing = [step.text for step in steps if not last_words[step.text]]
    if missing:
        raise Bad(f"never the last word of a log: {missing}")
    if not runs:
        raise Bad("no run was killed")
    print(f"{len(in_flight)} system calls, killed at {len(runs)}; " +
          ", ".join(f"{n} after '{s}'" for s, n in last_words.items()))


def main():
    try:
        check(pathlib.Path(sys.argv[1]), [Step(line) for line in sys.stdin if line.strip()])
    except Bad as bad:
        sys.exit(str(bad))


if __name__ == "__main__":
    main()
