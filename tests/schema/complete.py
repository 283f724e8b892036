#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""complete.py < PARTIAL > LOG: a log from records that hold only what matters to a test.
complete.py LOG < PARTIAL: likewise; and it is held against the schema.

Each line of PARTIAL is a JSON object with a kind and some keys; all others get the value for "not
known". Blank lines and lines that begin with # are passed over.
"""

import json
import pathlib
import sys

import record_def

UNKNOWN = {"STR": None, "INT": None, "ENUM": None, "BOOL": False, "STRS": [], "FACTS": []}


def complete(partial, seq):
    """The whole record, its keys in the order that the writer gives them."""
    kind = record_def.kinds()[partial["kind"]]
    head = {"v": 4, "kind": None, "time": 1700000000000000 + seq, "seq": seq, "pid": 4711,
            "tid": 4711, "cut": 0}
    record = {**head, **{f["name"]: UNKNOWN[f["type"]] for f in kind["fields"]}}
    extra = set(partial) - set(record)
    if extra:
        raise KeyError(f"{partial['kind']} has no {', '.join(sorted(extra))}")
    return {**record, **partial}


def lines_of(partials):
    seq = 0
    for line in partials:
        if line.strip() and not line.startswith("#"):
            seq += 1
            record = complete(json.loads(line), seq)
            yield json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n"


def main():
    if len(sys.argv) == 1:
        return sys.stdout.writelines(lines_of(sys.stdin))
    import validate  # what it needs takes longer than the rest

    log = pathlib.Path(sys.argv[1])
    log.write_text("".join(lines_of(sys.stdin)), encoding="utf-8")
    errors = validate.log_errors(validate.validator("log"), log)
    sys.exit("\n".join(errors) or None)


if __name__ == "__main__":
    main()
