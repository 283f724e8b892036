#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""part_locks.py LOCK DIRECTORY [N [SEED]]: parts of a lock, each a file of its own.

Without N: LOCK without each of its facts, records and sections in turn. With it: N parts, drawn.
Each is of the lock's own format: what is left out is not said.
"""

import copy
import json
import pathlib
import random
import sys

# By these a record is told from others; a lock that lacks one says something else, or is refused.
NAMES = {"whichcudnn-lock", "name", "package", "demand_kind", "host_path", "target_path"}
LISTS = {"gpus"}  # a fact, however many there are


def places(value, at=()):
    """The keys and numbers that lead to each entry that may be left out."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if key not in NAMES:
            yield (*at, key)
            if isinstance(inner, (dict, list)) and key not in LISTS:
                yield from places(inner, (*at, key))


def without(lock, *some):
    """From behind, so that what is left of a list keeps its numbers."""
    left = copy.deepcopy(lock)
    for *way, last in reversed(some):
        inner = left
        for key in way:
            inner = inner[key]
        del inner[last]
    return left


def drawn(lock, dice):
    everything = list(places(lock))
    share = dice.choice([0.02, 0.1, 0.3, 0.6, 0.9])
    return without(lock, *(place for place in everything if dice.random() < share))


def main():
    lock = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    directory = pathlib.Path(sys.argv[2])
    directory.mkdir(parents=True, exist_ok=True)
    if len(sys.argv) > 3:
        dice = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else None)
        parts = [drawn(lock, dice) for _ in range(int(sys.argv[3]))]
    else:
        parts = [without(lock, place) for place in places(lock)]
    for number, part in enumerate(parts):
        text = json.dumps(part, indent=2, sort_keys=True) + "\n"
        (directory / f"{number}.lock").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
