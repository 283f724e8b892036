# SPDX-License-Identifier: Apache-2.0
"""bars.py SUMMARY.json EXCLUDED.txt RAN OUT.tap [LINES BRANCHES]: the table by file on stdout, the bars as TAP. RAN is
0 where all that was run passed: a number from a run that failed says little. LINES, BRANCHES: other bars, in %."""

import json
import sys

LINES, BRANCHES, EXCLUSIONS = 90, 80, 2


def share(part, whole):
    return 100 * part / whole if whole else 0.0


def table(files):
    print(f"{'file':44} {'lines':>12} {'%':>6} {'branches':>12} {'%':>6}")
    for f in files:
        lines = f"{f['line_covered']}/{f['line_total']}"
        branches = f"{f['branch_covered']}/{f['branch_total']}"
        print(
            f"{f['filename']:44} {lines:>12} {share(f['line_covered'], f['line_total']):6.1f} "
            f"{branches:>12} {share(f['branch_covered'], f['branch_total']):6.1f}"
        )


def main(summary, excluded, ran, out, least_lines=LINES, least_branches=BRANCHES):
    least_lines, least_branches = int(least_lines), int(least_branches)
    with open(summary, encoding="utf-8") as file:
        data = json.load(file)
    with open(excluded, encoding="utf-8") as file:
        first, *reasons = file.read().splitlines()
    total, gone = (int(n) for n in first.split("\t"))
    lines = share(data["line_covered"], data["line_total"])
    branches = share(data["branch_covered"], data["branch_total"])
    bars = [
        (ran == "0", "what the coverage was measured with passed"),
        (lines >= least_lines, f"lines >= {least_lines} %: {lines:.1f}"),
        (branches >= least_branches, f"branches >= {least_branches} %: {branches:.1f}"),
        (
            total > 0 and share(gone, total) <= EXCLUSIONS,
            f"exclusions <= {EXCLUSIONS} % of lines, each with its reason: "
            f"{share(gone, total):.1f}",
        ),
    ]
    table(sorted(data["files"], key=lambda f: f["filename"]))
    for reason in filter(None, reasons):
        print("excluded: " + "; ".join(reason.split("\t")))
    with open(out, "w", encoding="utf-8") as file:
        print(f"1..{len(bars)}", file=file)
        for number, (good, name) in enumerate(bars, 1):
            line = f"{'ok' if good else 'not ok'} {number} {name}"
            print(line, file=file)
            print(line)
    sys.exit(not all(good for good, _ in bars))


if __name__ == "__main__":
    main(*sys.argv[1:])
