# SPDX-License-Identifier: Apache-2.0
"""What was expected against what was told first, over all that was played."""

import collections

BEGIN, END = "<!-- cases: begin -->", "<!-- cases: end -->"


def count(outcomes):
    table = collections.defaultdict(collections.Counter)
    for outcome in outcomes:
        if not outcome.skipped and outcome.expected:
            table[outcome.expected][outcome.got or "did not run"] += 1
    return table


def rows(outcomes):
    """(expected, how many, as such, what else) by expected finding."""
    for expected, got in sorted(count(outcomes).items()):
        other = ", ".join(f"{name} {n}" for name, n in got.most_common() if name != expected)
        yield expected, sum(got.values()), got[expected], other


def text(outcomes):
    lines = [f"{'expected first':28} {'played':>6} {'as such':>7}  told instead"]
    lines += [f"{e:28} {n:6} {same:7}  {other}" for e, n, same, other in rows(outcomes)]
    return "\n".join(lines)


def write(path, outcomes, seed):
    """Between the markers of a page."""
    before, _, rest = path.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    lines = ["| expected first | played | told as such | told instead |", "|---|---|---|---|"]
    for expected, n, same, other in rows(outcomes):
        name = expected if expected == "none" else f"`{expected}`"
        lines.append(f"| {name} | {n} | {same} | {other or '-'} |")
    path.write_text(before + BEGIN + f"\nSeed {seed}:\n\n" + "\n".join(lines) + "\n" + END + after)
