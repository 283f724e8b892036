#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whole.py FILE...: the lines of logs with all keys: a line leaves out what is null, false or an empty list.

What is no record stays as it is.
"""

import json
import pathlib
import sys

import record_def

KINDS = record_def.kinds()
UNKNOWN = {"STR": None, "INT": None, "ENUM": None, "BOOL": False, "STRS": [], "FACTS": []}


def unknown(record):
    return {"cut": 0, **{f["name"]: UNKNOWN[f["type"]] for f in KINDS[record["kind"]]["fields"]}}


def whole(record):
    """With every key of its kind, in the order of record.def."""
    head = {key: record.get(key) for key in record_def.COMMON}
    return {**head, **unknown(record), **record}


def short(record):
    """Without what a line leaves out."""
    empty = unknown(record)
    return {key: value for key, value in record.items() if key not in empty or value != empty[key]}


def records(text):
    """The records of a log."""
    return [whole(json.loads(line)) for line in text.splitlines()]


def main():
    for name in sys.argv[1:] or ["/dev/stdin"]:
        for line in pathlib.Path(name).read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            try:
                line = json.dumps(whole(json.loads(line)), separators=(",", ":"), ensure_ascii=False)
            except (ValueError, LookupError, TypeError):
                pass
            print(line)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    main()
