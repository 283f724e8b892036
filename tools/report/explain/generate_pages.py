#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generate_pages.py docs/findings.md: prints the C table that tools/report/explain/explain.c includes.

Each section of the page whose heading is an id becomes a row PAGE("id", "its text", "for a terminal").

For a terminal of 80 columns paragraphs are filled, and blocks of code indented. What docs/findings.md uses is known:
paragraphs, lists, blocks between ```, tables (as they are), **bold**, `code`, [links](there). What is marked stands
between one of BEGIN and END.
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


WIDTH, INDENT = 80, 4
BEGIN, END = {"error": "\2", "warning": "\3", "note": "\4"}, "\5"
LINK = re.compile(r"\[([^\]]*)\]\(([^)]*)\)")


def without_marks(paragraph):
    """As one line. Of a link the text is left, and where it leads if that is elsewhere on the net. What is marked in
    a paragraph that begins with a severity is painted as that is."""
    severity = re.match(r"\*\*(\w+)\*\*", paragraph)
    begin = BEGIN.get(severity[1], "\1") if severity else "\1"

    def link(found):
        text = found[1].replace("`", "").replace("**", "")
        return f"{text} ({found[2]})" if found[2].startswith("http") else text

    line = LINK.sub(link, re.sub(r"\n *", " ", paragraph))
    parts = re.split(r"`|\*\*", line)
    return "".join(part + (begin if i % 2 == 0 else END) for i, part in enumerate(parts))[:-1]


def fill(text, indent, hang):
    """Lines of its words: the first one begins at indent, the others at hang. A longer word has a line of its own."""
    lines, column = "", 0
    for space, word in re.findall(r"( *)([^ ]+)", text):
        width = len(re.sub("[\1-\5]", "", word))
        if column == 0:
            space = " " * indent
            column = indent
        elif column + len(space) + width > WIDTH:
            space = "\n" + " " * hang
            column = hang
        else:
            column += len(space)
        lines += space + word
        column += width
    return lines


def for_a_terminal(body):
    """The page, line by line."""
    blocks = re.split(r"^```[^\n]*\n(.*?)^```$", body + "\n", flags=re.MULTILINE | re.DOTALL)
    for i, block in enumerate(blocks):
        if i % 2:
            for line in block.split("\n")[:-1]:
                own = INDENT + len(line) - len(line.lstrip(" "))
                yield fill(line, own, own + 2)
            continue
        for paragraph in re.findall(r"\|.*\n|\n|(?:.+\n)(?:(?!\||- |\n).+\n)*", block.removeprefix("\n")
                                    if i else block):
            text = paragraph[:-1]
            if not text or text.startswith("|"):
                yield text
            else:
                yield fill(without_marks(text), 0, 2 if text.startswith("- ") else 0)


def literal(line):
    line = line.replace("\\", "\\\\").replace('"', '\\"')
    return '    "' + re.sub("[\1-\5]", lambda mark: f"\\{ord(mark[0]):03o}", line) + '\\n"'


def main():
    with open(sys.argv[1], encoding="ascii") as f:
        rows = list(sections(f.read()))
    if not rows:
        sys.exit(f"{sys.argv[1]}: no section of a finding")
    for name, body in rows:
        print(f'PAGE("{name}",')
        print("\n".join(map(literal, body.split("\n"))) + ",")
        print("\n".join(map(literal, "\n".join(for_a_terminal(body)).split("\n"))) + ")")


main()
