#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each text of field.tsv is recognized by the rows that it names, and what explain --text then says
has the finding by which tests/cases judges the same case. Of each text of first.tsv the likeliest
finding is one of those that it names.

The findings of a row stand in the order of what the texts with its words came from, as these tables
count it: none stands behind one that two causes fewer had. How well that order tells a text that it was not learnt from: for each text the rows are
ordered by all others (leave-one-out).

Usage: check.py COMMAND. Prints what is wrong, a line each, then how much was looked at; status 1 if
anything is wrong.
"""
import collections
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
    return set(re.findall(r'^MESSAGE\(\s*"([^"]+)"', text, re.M))


def check_row(command, source, ids, text, expected, judged):
    said = explain(command, text)
    seen = list(dict.fromkeys(m["id"] for m in said["messages"]))
    if seen != ids:
        yield f"{source}: recognized as {seen}, not {ids}: {text}"
    if expected and expected not in BESIDE_THE_TEXT and source not in TWO_FAULTS:
        judged.append(source)
        if expected not in said["findings"]:
            yield f"{source}: {expected} is not among {said['findings']}"


def firsts():
    """[(source, [ids], pattern or "", pattern or "", text)]"""
    for line in (HERE / "first.tsv").read_text().splitlines():
        if not line.startswith("#"):
            source, ids, words, never, text = line.split("\t")
            yield source, ids.split(","), words, never, text.replace("\\n", "\n")


def check_first(command, source, ids, words, never, text):
    said = explain(command, text)
    done = subprocess.run([command, "explain", "--text", "-"], input=text, text=True,
                          capture_output=True, check=False)
    page = done.stdout + done.stderr
    if (said["findings"] or ["-"])[0] not in ids:
        yield f"{source}: {said['findings']} does not begin with one of {ids}: {text}"
    if words and not re.search(words, page):
        yield f"{source}: nothing says {words}: {page}"
    if never and re.search(never, page):
        yield f"{source}: says {never}: {page}"


# ---- what was learnt, and from what ----

EFFECTS = {"fatal": 4, "fallback": 2, "depends": 1, "noise": 0, "elsewhere": 0}  # as weight() of explain.c


def ranked(messages, order):
    score = collections.Counter()
    if any(m["effect"] == "elsewhere" for m in messages) and not any(m["library"] for m in messages):
        return "-"
    for m in messages:
        weight = EFFECTS[m["effect"]] * (2 if m["library"] or m["found"] else 1)
        for place, finding in enumerate(order(m), 1):
            score[finding] += 60 * weight // place
    return max(score, key=score.get, default="-")


def key(m):
    return m["id"], *m["findings"]


def learnt(command, expected):
    """[(the messages of a text, the ids of which one was its cause)], each text once"""
    texts = {text: [expected[source]] for source, ids, text in rows()
             if expected.get(source, "none") not in ("none", *BESIDE_THE_TEXT)
             and source not in TWO_FAULTS and ids != ["-"]}
    texts |= {text: ids for _, ids, _, _, text in firsts() if ids != ["-"]}
    return [(explain(command, text)["messages"], ids) for text, ids in texts.items()]


def check_orders(texts, right):
    counts = collections.defaultdict(collections.Counter)
    for messages, ids in texts:
        for m in messages:
            counts[key(m)].update({finding: 1 / len(ids) for finding in ids})
    for (row, *findings), count in counts.items():
        for one, next_one in zip(findings, findings[1:]):
            if count[next_one] >= count[one] + 2:
                yield f"{row}: {next_one} ({count[next_one]:.1f}) stands behind {one} ({count[one]:.1f})"
    for messages, ids in texts:
        def without(m):
            of = counts[key(m)]
            return sorted(m["findings"], key=lambda f: -of[f] + (f in ids) / len(ids))
        right.append(ranked(messages, without) in ids)


def main():
    wrong, reached, judged, seen, findings = [], set(), [], set(), expected()
    for source, ids, text in rows():
        seen.add(source)
        reached |= set(ids)
        if ids != ["-"]:
            wrong += check_row(sys.argv[1], source, ids, text, findings.get(source), judged)
    right = []
    for first in firsts():
        wrong += check_first(sys.argv[1], *first)
        reached |= {m["id"] for m in explain(sys.argv[1], first[-1])["messages"]}
    wrong += check_orders(learnt(sys.argv[1], findings), right)
    wrong += [f"no text for the row {i}" for i in sorted(table() - reached)]
    for line in (CASES / "field.tsv").read_text().splitlines():
        if line.startswith("C") and line.split("\t")[0] not in seen:
            wrong.append(f"no text of {line.split()[0]}")
    print("\n".join([*wrong, f"{sum(right)} of {len(right)} told by what the others teach",
                     f"{len(seen)} sources, {len(judged)} judged as tests/cases does"]))
    return 1 if wrong else 0


sys.exit(main())
