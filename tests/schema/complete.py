#!/usr/bin/env python3
"""complete.py < PARTIAL > LOG: a log from records that hold only what matters to a test.

Each line of PARTIAL is a JSON object with a kind and some keys; all others get the value for "not
known". Blank lines and lines that begin with # are passed over.
"""

import json
import sys

import record_def

UNKNOWN = {"STR": None, "INT": None, "ENUM": None, "BOOL": False, "STRS": [], "FACTS": [],
           "FIXES": []}


def complete(partial, seq):
    """The whole record, its keys in the order that the writer gives them."""
    kind = record_def.kinds()[partial["kind"]]
    head = {"v": 1, "kind": None, "time": 1700000000000000 + seq, "seq": seq, "pid": 4711,
            "tid": 4711, "cut": 0}
    record = {**head, **{f["name"]: UNKNOWN[f["type"]] for f in kind["fields"]}}
    extra = set(partial) - set(record)
    if extra:
        raise KeyError(f"{partial['kind']} has no {', '.join(sorted(extra))}")
    return {**record, **partial}


def main():
    seq = 0
    for line in sys.stdin:
        if line.strip() and not line.startswith("#"):
            seq += 1
            record = complete(json.loads(line), seq)
            print(json.dumps(record, separators=(",", ":"), ensure_ascii=False))


if __name__ == "__main__":
    main()
