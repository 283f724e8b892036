#!/usr/bin/env python3
"""check_kills.py DIR < STEPS: what the runs of kill_each left in DIR.

STEPS are the requests and calls of a whole run, in order, one a line:

    request libcudnn.so.9  opened
    before cudnnGetVersion
    after cudnnGetVersion  written 90100

What follows is how the run itself shows that it has got there: the loader opened a file of that
name, or the host wrote that text. Of each killed run's log this holds:

- every line is whole and valid by docs/log.schema.json, and numbered without a gap;
- it is the beginning of the log of the run that was not killed;
- its requests and calls are the first of STEPS, down to the step that the run shows (or further,
  but not past the next one that would show): the last of them is what was in flight.
"""

import collections
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "schema"))
import validate  # noqa: E402  (found by the line above)

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


def bounds(steps, trace):
    """How many steps the log must have at least, and at most."""
    waiting = [i for i, step in enumerate(steps) if step.shows()]
    least = 0
    for line in trace:
        if waiting and steps[waiting[0]].shown_by(line):
            least = waiting.pop(0) + 1
    return least, waiting[0] + 1 if waiting else len(steps)


class Logs:
    def __init__(self):
        self.schema = validate.validator("log")
        self.valid = {}  # line without what varies -> errors: most lines come in every run

    def errors_of(self, line, plain):
        if plain not in self.valid:
            self.valid[plain] = validate.line_errors(self.schema, line, set())
        return self.valid[plain]

    def read(self, directory):
        """(records, lines without what varies) of the log in a run's directory; of none: empty."""
        files = list(directory.iterdir())
        if len(files) > 1:
            raise Bad(f"{len(files)} files")
        lines = files[0].read_bytes().splitlines(keepends=True) if files else []
        plain = [VARYING.sub(rb'"\1"', line).replace(str(directory).encode(), b"DIR")
                 for line in lines]
        for number, (line, short) in enumerate(zip(lines, plain), 1):
            for error in self.errors_of(line, short):
                raise Bad(f"line {number}: {error}")
        records = [validate.parse(line) for line in lines]
        if [r["seq"] for r in records] != list(range(1, len(records) + 1)):
            raise Bad("a gap in seq")
        return records, plain


def check_killed(run, steps, whole):
    records, plain = run.log
    if plain != whole[:len(plain)]:
        raise Bad("not the beginning of the whole log: " +
                  next((a.decode() for a, b in zip(plain, whole) if a != b), "longer"))
    said = steps_of(records)
    expected = [step.text for step in steps]
    least, most = bounds(steps, run.trace)
    if said != expected[:len(said)] or not least <= len(said) <= most:
        raise Bad(f"in flight: {expected[least - 1] if least else 'nothing'}; the log says {said}")
    return said[-1] if said else "nothing"


def check_whole(run, steps):
    records, _ = run.log
    if run.trace[-1] != "end 0":
        raise Bad(run.trace[-1])
    if steps_of(records) != [step.text for step in steps]:
        raise Bad(f"the whole run says {steps_of(records)}")
    if not records or records[-1]["kind"] != "summary":
        raise Bad("no summary at its end")


Run = collections.namedtuple("Run", "n trace log")


def main():
    directory = pathlib.Path(sys.argv[1])
    steps = [Step(line) for line in sys.stdin if line.strip()]
    logs, runs, errors = Logs(), [], []
    for file in sorted(directory.glob("*.trace"), key=lambda f: int(f.stem)):
        try:
            trace = file.read_text(encoding="utf-8", errors="replace").splitlines()
            runs.append(Run(int(file.stem), trace, logs.read(file.with_suffix(""))))
        except Bad as bad:
            errors.append(f"{file.stem}: {bad}")
    whole = [run for run in runs if run.trace and run.trace[-1].startswith("end ")]
    if not whole:
        sys.exit("\n".join(errors + ["no run came to its end"]))
    last_words = collections.Counter()
    for run in runs:
        try:
            if run in whole:
                check_whole(run, steps)
            else:
                last_words[check_killed(run, steps, whole[0].log[1])] += 1
        except Bad as bad:
            errors.append(f"killed at system call {run.n}: {bad}")
    errors += [f"no run was killed with '{step.text}' as its last word" for step in steps
               if not last_words[step.text]]
    print(f"{len(runs)} runs; " + ", ".join(f"{n} after '{s}'" for s, n in last_words.items()))
    sys.exit("\n".join(errors[:20]) or 0)


if __name__ == "__main__":
    main()
