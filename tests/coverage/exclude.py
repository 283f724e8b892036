# SPDX-License-Identifier: Apache-2.0
"""exclude.py LIST FROM.json TO.json: a gcovr tracefile without the lines that the list excludes;
prints how many lines there were and how many went, and each entry with its count and reason. An
entry is PATH, PATTERN (found in the line) and REASON, by tabs; one without a reason or that fits no
line is an error. With LIST alone it looks for the lines in the sources."""

import json
import re
import sys


def entries(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            parts = line.split("\t")
            if len(parts) != 3 or not all(part.strip() for part in parts):
                sys.exit(f"{path}:{number}: not PATH, PATTERN and REASON by tabs")
            yield parts


def fitting(path, pattern):
    with open(path, encoding="utf-8") as file:
        return {n for n, line in enumerate(file, 1) if re.search(pattern, line)}


def main(listed, source=None, target=None):
    if not source:
        for path, pattern, _ in entries(listed):
            if not fitting(path, pattern):
                sys.exit(f"{listed}: no line of {path} fits {pattern!r}")
        return
    with open(source, encoding="utf-8") as file:
        data = json.load(file)
    total = len({(f["file"], line["line_number"]) for f in data["files"] for line in f["lines"]})
    report, gone_in_all = [], 0
    for path, pattern, reason in entries(listed):
        found = [f for f in data["files"] if f["file"] == path]
        fits = fitting(path, pattern)
        gone = set()
        for f in found:
            gone |= {line["line_number"] for line in f["lines"]} & fits
            f["lines"] = [line for line in f["lines"] if line["line_number"] not in fits]
        if not gone:
            sys.exit(f"{listed}: no line of code in {path} fits {pattern!r}")
        gone_in_all += len(gone)
        report.append(f"{path}\t{len(gone)}\t{reason}")
    with open(target, "w", encoding="utf-8") as file:
        json.dump(data, file)
    print(f"{total}\t{gone_in_all}")
    print("\n".join(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
