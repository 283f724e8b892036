#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generate_pages.py docs/findings.md: prints the C table that tools/explain/page.c includes.

Each section of the page whose heading is an id becomes a row PAGE("id", "its text").
"""

import re
import sys


def sections(text):
    """(id, text below the heading up to the next heading of that level)"""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        found = re.fullmatch(r"`([a-z-]+)`", heading)
        if found:
            yield found[1], body.strip()


def literal(line):
    return '    "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'


def main():
    with open(sys.argv[1], encoding="ascii") as f:
        rows = list(sections(f.read()))
    if not rows:
        sys.exit(f"{sys.argv[1]}: no section of a finding")
    for name, body in rows:
        print(f'PAGE("{name}",')
        print("\n".join(map(literal, body.split("\n"))) + ")")


main()
