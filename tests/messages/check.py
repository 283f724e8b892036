#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each text of field.tsv is recognized by the rows that it names, and what explain --text then says
has the finding by which tests/cases judges the same case.

Usage: check.py COMMAND. Prints what is wrong, a line each, then how much was looked at; status 1 if
anything is wrong.
"""
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE.parent / "cases"
sys.dont_write_bytecode = True
sys.path.insert(0, str(CASES))

from harness import rows as cases  # noqa: E402  (found by the line above)

# Cases that are judged by more than what is printed: the expectation that a user stated, and one in
# which two faults come together and the text is of the second.
BESIDE_THE_TEXT = ("expectation-not-met",)
TWO_FAULTS = ("C82",)


def rows():
    """[(source, [ids], text)]"""
    for line in (HERE / "field.tsv").read_text().splitlines():
        if not line.startswith("#"):
            source, ids, text = line.split("\t")
            yield source, ids.split(","), text.replace("\\n", "\n")


def explain(command, text):
    done = subprocess.run([command, "explain", "--json", "--text", "-"], input=text, text=True,
                          capture_output=True, check=False)
    return json.loads(done.stdout)


def expected():
    """{case: the finding that tests/cases expects first} of those that are not healthy."""
    told = {row[0].partition("-")[0]: cases.told_by(*row)[0] for row in cases.sources()}
    return {case: finding for case, finding in told.items() if finding != "none"}


def table():
    text = (HERE.parents[1] / "tools/knowledge/messages.def").read_text()
    return set(re.findall(r'^MESSAGE\("([^"]+)"', text, re.M))


def check_row(command, source, ids, text, expected, judged):
    said = explain(command, text)
    seen = list(dict.fromkeys(m["id"] for m in said["messages"]))
    if seen != ids:
        yield f"{source}: recognized as {seen}, not {ids}: {text}"
    if expected and expected not in BESIDE_THE_TEXT and source not in TWO_FAULTS:
        judged.append(source)
        if expected not in said["findings"]:
            yield f"{source}: {expected} is not among {said['findings']}"


def main():
    wrong, reached, judged, seen, findings = [], set(), [], set(), expected()
    for source, ids, text in rows():
        seen.add(source)
        reached |= set(ids)
        if ids != ["-"]:
            wrong += check_row(sys.argv[1], source, ids, text, findings.get(source), judged)
    wrong += [f"no text for the row {i}" for i in sorted(table() - reached)]
    for line in (CASES / "field.tsv").read_text().splitlines():
        if line.startswith("C") and line.split("\t")[0] not in seen:
            wrong.append(f"no text of {line.split()[0]}")
    print("\n".join([*wrong, f"{len(seen)} sources, {len(judged)} judged as tests/cases does"]))
    return 1 if wrong else 0


sys.exit(main())
