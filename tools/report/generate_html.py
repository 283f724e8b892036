#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generate_html.py PAGE.html STYLE.css SCRIPT.js: prints what tools/report/render_html.c includes.

{{style}}, {{script}} and {{policy}} are filled in here, {{version}} by the compiler; any other
{{name}} is a place that the program fills: a row HOLE(name) between rows TEXT("..."). The policy lets this very style and script
run, by their hashes, and nothing else.
"""

import base64
import hashlib
import pathlib
import re
import sys


def source_hash(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode("ascii")).digest()).decode() + "'"


def literal(line):
    escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    return '    "' + escaped.replace("{{version}}", '" WHICHCUDNN_VERSION "') + '\\n"'


def rows(text):
    for i, piece in enumerate(re.split(r"\{\{(?!version\}\})(\w+)\}\}\n?", text)):
        if i % 2:
            yield f"HOLE({piece})"
        elif piece:
            lines = piece.removesuffix("\n").split("\n")
            yield "TEXT(\n" + "\n".join(literal(line) for line in lines) + ")"


def main():
    page, style, script = (pathlib.Path(name).read_text(encoding="ascii") for name in sys.argv[1:])
    policy = (f"default-src 'none'; script-src {source_hash(script)}; "
              f"style-src {source_hash(style)}; base-uri 'none'; form-action 'none'")
    for name, text in ("style", style), ("script", script), ("policy", policy):
        if page.count("{{" + name + "}}") != 1 or "</" in (text if name != "policy" else ""):
            sys.exit(f"{name}: wanted once in the page, and without </ in it")
        page = page.replace("{{" + name + "}}", text)
    print("\n".join(rows(page)))


main()
