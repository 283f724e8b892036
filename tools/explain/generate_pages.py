#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generate_pages.py docs/findings.md: prints the C table that tools/explain/page.c includes.

Each section of the page whose heading is an id becomes a row PAGE("id", "its text", "for a terminal").
For a terminal, paragraphs are filled up to 80 columns, blocks of code are indented and marks are left
out; what is one word longer than a line stays one. \\1 begins bold text there, \\2 to \\4 that of an
error, a warning or a note, \\5 ends it. Known is what docs/findings.md uses: paragraphs, lists, blocks
between ```, tables (as they are), **bold**, `code`, [links](there).
"""

import itertools
import re
import sys

WIDTH = 80
INDENT = 4
END = "\5"
BOLD = {"**error**": "\2", "**warning**": "\3", "**note**": "\4"}


def sections(text):
    """(id, text below the heading up to the next heading of that level)"""
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        found = re.fullmatch(r"`([a-z-]+)`", heading)
        if found:
            yield found[1], body.strip()


def columns(text):
    return len(re.sub("[\1-\5]", "", text))


def fill(text, indent, hang):
    """Lines of the words: the first one begins at `indent`, the others at `hang`."""
    lines, line = [], " " * indent
    for space, word in re.findall(r"( *)([^ ]+)", text):
        if not line.strip(" "):
            line += word
        elif columns(line) + len(space) + columns(word) > WIDTH:
            lines.append(line)
            line = " " * hang + word
        else:
            line += space + word
    return lines + [line]


def link(found):
    """Where it leads is printed if that is elsewhere on the net."""
    text, target = found[1].replace("`", ""), found[2]
    return f"{text} ({target})" if target.startswith("http") else text


def without_marks(text):
    begin = next((mark for start, mark in BOLD.items() if text.startswith(start)), "\1")
    marks = itertools.cycle([begin, END])
    text = re.sub(r"\[([^]]*)\]\(([^)]*)\)", link, text)
    return re.sub(r"`|\*\*", lambda _: next(marks), text)


def paragraph(lines):
    text = without_marks(" ".join(lines))
    return fill(text, 0, 2 if text.startswith("- ") else 0)


def code(line):
    own = INDENT + len(line) - len(line.lstrip(" "))
    return fill(line, own, own + 2) if line else [""]


def for_terminal(text):
    out, words, in_code = [], [], False
    for line in text.split("\n") + [""]:
        fence = line.startswith("```")
        if words and (fence or in_code or not line or line.startswith(("|", "- "))):
            out += paragraph(words)
            words = []
        if fence:
            in_code = not in_code
        elif in_code:
            out += code(line)
        elif not line or line.startswith("|"):
            out.append(line)
        else:
            words.append(line.lstrip(" "))
    return out[:-1]


def literal(lines):
    def quoted(line):
        line = line.replace("\\", "\\\\").replace('"', '\\"')
        return re.sub("[\1-\5]", lambda mark: f"\\{ord(mark[0]):03o}", line)
    return "\n".join(f'    "{quoted(line)}\\n"' for line in lines)


def main():
    with open(sys.argv[1], encoding="ascii") as f:
        rows = list(sections(f.read()))
    if not rows:
        sys.exit(f"{sys.argv[1]}: no section of a finding")
    for name, body in rows:
        print(f'PAGE("{name}",')
        print(literal(body.split("\n")) + ",")
        print(literal(for_terminal(body)) + ")")


main()
