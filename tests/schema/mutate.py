#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutate.py LOG: shows that the schema is tight.

LOG has records of every kind, all valid. Each key of each kind is renamed, and given a value of
another type; what no line leaves out is removed; one key more is added; the schema must refuse each of these. Prints how many
mutants there were; fails if one passes or a kind is missing. Needs jsonschema.
"""

import json
import pathlib
import sys

import record_def
import validate


def mutants(record):
    """(what was done, mutant) for every key of the record."""
    for key in record:
        rest = {k: v for k, v in record.items() if k != key}
        if key in record_def.COMMON and key != "cut":
            yield f"without {key}", rest
        yield f"{key} renamed", {**rest, key + "_": record[key]}
        yield f"{key} of another type", {**record, key: {"no": "such"}}
    yield "with a key more", {**record, "more": None}


def main():
    log = validate.validator("log")
    left = set(record_def.kinds())
    count, survivors = 0, []
    for line in pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        errors = validate.record_errors(log, record)
        if errors:
            sys.exit(f"{record['kind']} is not valid itself: {errors[0]}")
        left.discard(record["kind"])
        for what, mutant in mutants(record):
            count += 1
            if not validate.record_errors(log, mutant):
                survivors.append(f"{record['kind']} {what}")
    print(f"{count} mutants")
    for survivor in survivors:
        print(f"passed: {survivor}")
    for kind in sorted(left):
        print(f"no record of kind {kind}")
    sys.exit(bool(survivors or left or not count))


if __name__ == "__main__":
    main()
