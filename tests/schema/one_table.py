#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""one_table.py DIRECTORY: do all its logs load into one table?

A column of a table has one type and one meaning. So each key has one type over all kinds of
record, in record.def and in the records themselves, and what docs/log.md says of it begins with
the same sentence for each kind. Says what does not fit, and fails then.
"""

import json
import pathlib
import sys

import record_def


def columns():
    """{key: {(type, enumeration, sentence): [kind, ...]}}"""
    found = {}
    for kind, definition in record_def.kinds().items():
        for f in definition["fields"]:
            meaning = f["type"], f["enum"], f["doc"].split(";")[0]
            found.setdefault(f["name"], {}).setdefault(meaning, []).append(kind)
    for key in record_def.COMMON:
        found.setdefault(key, {})[("common", None, "")] = ["every kind"]
    return found


def value_type(value):
    """As a loader infers it; None: null and the empty list tell no type."""
    if isinstance(value, list):
        inner = {value_type(one) for one in value} - {None}
        return f"list of {', '.join(sorted(inner))}" if inner else None
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: text" for k in value) + "}"
    return {bool: "true or false", int: "number", str: "text"}.get(type(value))


def types_in(directory):
    """{key: {type: {kind, ...}}} of all records in all logs there."""
    found = {}
    for path in sorted(pathlib.Path(directory).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            for key, value in record.items():
                if value_type(value):
                    kinds = found.setdefault(key, {}).setdefault(value_type(value), set())
                    kinds.add(record["kind"])
    return found


def main():
    errors = [f"{key}: {meaning} in {', '.join(kinds)}" for key, meanings in columns().items()
              if len(meanings) > 1 for meaning, kinds in meanings.items()]
    seen = types_in(sys.argv[1])
    errors += [f"{key}: {kind} in {', '.join(sorted(kinds))}" for key, types in seen.items()
               if len(types) > 1 for kind, kinds in types.items()]
    errors += [f"{key}: no value of it was seen" for key in columns() if key not in seen]
    for error in errors:
        print(error)
    sys.exit(bool(errors))


if __name__ == "__main__":
    main()
