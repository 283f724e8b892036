#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py TRUTH ANSWERS...: does each say what was drawn, and in the order that it promises?

TRUTH is of draw_fleet.py, ANSWERS of ask.py. Prints each row that is too many or too few; exits 1 then.
"""

import json
import pathlib
import sys


def read(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def sortable(row):
    return tuple((value is not None, str(value)) for value in row)


def differences(name, expected, got):
    expected, got = (sorted(map(tuple, rows), key=sortable) for rows in (expected, got))
    for row in got:
        if row in expected:
            expected.remove(row)
        else:
            yield f"{name}: not drawn: {row}"
    for row in expected:
        yield f"{name}: missing: {row}"


def main():
    truth, found = read(sys.argv[1]), []
    for path in sys.argv[2:]:
        answers = read(path)["questions"]
        if set(answers) != set(truth["questions"]):
            found.append(f"{path}: {sorted(answers)}, not {sorted(truth['questions'])}")
        for name, rows in truth["questions"].items():
            got = answers.get(name, {"rows": []})["rows"]
            if not rows:
                found.append(f"{name}: nothing was drawn for it")
            found += [f"{path}: {one}" for one in differences(name, rows, got)]
    # Between engines the order counts, too.
    for path in sys.argv[3:]:
        first, other = read(sys.argv[2])["questions"], read(path)["questions"]
        found += [f"{path}: {name}: another order than {sys.argv[2]}" for name in first
                  if first[name]["rows"] != other[name]["rows"] or first[name]["columns"] != other[name]["columns"]]
    print("\n".join(found[:40]) or f"{len(truth['questions'])} questions, {len(sys.argv) - 2} answers each: as drawn")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
