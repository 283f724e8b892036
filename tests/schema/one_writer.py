#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""one_writer.py [ROOT]: every field of what a library, a search, a package is logged as is assigned in
one source file, so that it means the same whoever saw it. Copies of whole records are no assignment, but
of that which a description holds (u.process = p->r): of the fields that nobody else assigns.
Prints the fields with more writers, or none; status 1 if there are any."""

import collections
import pathlib
import re
import sys

import record_def

KINDS = "process machine object search candidate file package demand binding unobserved".split()
# The model, the findings, the lock and the replay of repairs change copies of their own, which are
# never logged.
OWN_COPIES = ("core/model/stack.c", "core/demand/", "tools/report/lock/", "tools/diagnose/")

VARIABLE = re.compile(r"\bstruct wc_(\w+)_record\s+\*?(?:const\s+)?(\w+)")
WHOLE = re.compile(r"\bu\.(\w+)\.(\w+)(?:\.[pn])?\s*(?:[-+|]?=(?!=)|\+\+)")
HELD = re.compile(r"\bu\.(\w+) = \w+->r;")
MEMBER = r"\b%s(?:->|\.)(\w+)(?:\.[pn])?\s*(?:[-+|]?=(?!=)|\+\+)"
MACRO = re.compile(r"#define (\w+)\(record\b(?:[^\n]*\\\n)*[^\n]*")
MACRO_MEMBER = re.compile(r"\(record\)->(\w+)\s*=(?!=)")


def assigned(text):
    """(kind, field) for each assignment of a member of a record."""
    macros = {m[1]: MACRO_MEMBER.findall(m[0]) for m in MACRO.finditer(text)}
    for function in re.split(r"^}", text, flags=re.MULTILINE):
        yield from WHOLE.findall(function)
        for kind, variable in set(VARIABLE.findall(function)):
            for field in re.findall(MEMBER % variable, function):
                yield kind, field
            for name, fields in macros.items():
                if re.search(rf"\b{name}\({variable}\b", function):
                    yield from ((kind, field) for field in fields)


def writers(root):
    found, held = collections.defaultdict(set), collections.defaultdict(set)
    for folder in ("core", "shim", "tools"):
        for path in sorted((root / folder).rglob("*.c")):
            name = str(path.relative_to(root))
            if name.startswith(OWN_COPIES):
                continue
            text = path.read_text(encoding="utf-8")
            for what in assigned(text):
                found[what].add(name)
            for kind in HELD.findall(text):
                held[kind].add(name)
    for kind, names in held.items():
        for field in record_def.kinds()[kind]["fields"]:
            found[kind, field["name"]] = found[kind, field["name"]] or names
    return found


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else record_def.ROOT
    found = writers(root)
    kinds = record_def.kinds()
    wrong = 0
    for kind in KINDS:
        for field in (f["name"] for f in kinds[kind]["fields"]):
            if len(found[kind, field]) != 1:
                wrong += 1
                print(f"{kind}.{field}: {', '.join(sorted(found[kind, field])) or 'nobody'}")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
