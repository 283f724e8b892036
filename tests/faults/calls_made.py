#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""calls_made.py TRACE OBJECT: the system calls that code of that object made, by their names.

TRACE: of `strace -f -i -y -o TRACE`, from the start of the process on; OBJECT: how its file's path
ends. With --all: those of everybody."""

import re
import sys

MAPPED = re.compile(r"mmap\(.*, (\d+), [A-Z_|]*PROT_EXEC.*<(.*)>, .*\) = 0x([0-9a-f]+)$")
CALL = re.compile(r"^\d+ +\[([0-9a-f]+)\] (\w+)\(")


def main():
    trace, name = sys.argv[1:]
    ranges, made = [], set()
    for line in open(trace, errors="replace"):
        mapped = MAPPED.search(line)
        if mapped and mapped[2].endswith(name):
            start = int(mapped[3], 16)
            ranges.append((start, start + int(mapped[1])))
        call = CALL.match(line)
        if not call:
            continue
        at = int(call[1], 16)
        if name == "--all" or any(start <= at < end for start, end in ranges):
            made.add(call[2])
    print("\n".join(sorted(made)))


main()
