#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whole.py FILE...: the lines of logs with all keys, as docs/log.md says what a line leaves out.

What is no record stays as it is.
"""

import json
import pathlib
import sys

import record_def

KINDS = record_def.kinds()
UNKNOWN = {"STR": None, "INT": None, "ENUM": None, "BOOL": False, "STRS": [], "FACTS": []}


def usual(record, how, value):
    if how == "USUAL":
        return value
    other = record[value]
    return other.rpartition("/")[2] if other and how == "FILE_OF" else other


def whole(record):
    """With every key of its kind, in the order of record.def."""
    kind = KINDS[record["kind"]]
    head = {key: record.get(key) for key in record_def.COMMON} | {"tid": record.get("tid", record["pid"]),
                                                                  "cut": record.get("cut", 0)}
    full = {**head, **{f["name"]: UNKNOWN[f["type"]] for f in kind["fields"]}, **record}
    for name, (how, value) in kind["usual"].items():
        if name not in record:
            full[name] = usual(full, how, value)
    return full


def short(record):
    """Without what a line leaves out, as the writer has it."""
    usual_ones = whole({key: record[key] for key in ("kind", "pid")})
    for name, (how, value) in KINDS[record["kind"]]["usual"].items():
        usual_ones[name] = usual(record, how, value)
    return {key: value for key, value in record.items() if key not in usual_ones or value != usual_ones[key]
            or key in ("v", "kind", "time", "seq", "pid")}


def records(text):
    """The records of a log."""
    return [whole(json.loads(line)) for line in text.splitlines()]


def whole_line(line):
    try:
        return json.dumps(whole(json.loads(line)), separators=(",", ":"), ensure_ascii=False)
    except (ValueError, KeyError, TypeError):
        return line


def main():
    for name in sys.argv[1:] or ["/dev/stdin"]:
        for line in pathlib.Path(name).read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            print(whole_line(line))


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    main()
