#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generate_man.py DIRECTORY COMMAND: the man pages, into DIRECTORY.

What they say stands elsewhere: the pages of the command are its --help, and every page has the
sections of README.md and docs/*.md that name it below their heading:

    ## A whole shell
    <!-- man: whichcudnn-env.1 -->

Below a first heading it stands for the text up to the next one, and for every section that names
none. pandoc converts them, by tools/man/man.lua.
"""

import datetime
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LIBRARY = "libwhichcudnn.7"
LOG = "whichcudnn-log.5"
SEE = ["whichcudnn.1", LIBRARY, LOG]
SYNOPSIS = {
    LIBRARY: "LD_PRELOAD=.../libwhichcudnn.so COMMAND [argument...]",
    LOG: "whichcudnn-<node>-<pid>-<start ticks>.jsonl",
}
WHAT = {
    LIBRARY: "preloaded, it logs which cuDNN a process really gets, and what does not match",
    LOG: "what libwhichcudnn.so writes of a process",
}


def output(command, text=""):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def roff(text):
    """Text as it is, for groff and mandoc."""
    for plain, escaped in (("\\", "\\e"), ("-", "\\-"), ("'", "\\(aq"), ("`", "\\(ga"),
                           ("^", "\\(ha"), ("~", "\\(ti")):
        text = text.replace(plain, escaped)
    return re.sub(r"^\.", r"\\&.", text, flags=re.MULTILINE)


# ---- --help ------------------------------------------------------------------------------------

def verbatim(lines):
    return "\n".join([".nf", *map(roff, lines), ".fi"])


def term(text):
    """`-v, --verbose` bold, the word for a value in italics"""
    found = re.fullmatch(r"(-.*?)(?:([ =])([A-Za-z]+))?", text)
    names, gap, value = found.groups() if found else (text, None, None)
    return (rf"\fB{roff(names)}\fR".replace(", ", r"\fR, \fB") +
            (rf"{gap}\fI{value}\fR" if value else ""))


def definitions(lines):
    """Lines `  TERM  text`, and what is further in goes on."""
    items = []
    for line in lines:
        if line.startswith("   "):
            items[-1][1].append(line.strip())
        else:
            head, _, text = line.strip().partition("  ")
            items.append((head, [text.strip()] if text else []))
    return items


def as_list(items):
    return "\n".join(f".TP\n{term(head)}\n{roff(chr(10).join(text)) or '.'}"
                     for head, text in items)


def read_help(text):
    """Sections of a page, from the text of --help: {heading: roff}"""
    usage, *blocks = text.strip("\n").split("\n\n")
    description, options, status = [], [], []
    for block in blocks:
        lines = block.split("\n")
        if block.startswith("Exit status: "):
            status.append(roff(block.partition(": ")[2]))
        elif block.startswith("    "):
            description.append(".RS 4\n" + verbatim(line[4:] for line in lines) + "\n.RE")
        elif block.startswith("  -"):
            options += definitions(lines)
        elif block.startswith("  "):
            description.append(as_list(definitions(lines)))
        else:
            description.append(".PP\n" + roff(block))
    synopsis = [re.sub("^(Usage:|      ) ", "", line) for line in usage.split("\n")]
    return {"SYNOPSIS": verbatim(synopsis), "DESCRIPTION": "\n".join(description),
            "OPTIONS": as_list(options), "EXIT STATUS": "\n".join(status)}


# ---- docs/ -------------------------------------------------------------------------------------

def marked_sections():
    """{page: Markdown}"""
    pages = {}
    for source in SOURCES:
        of_file = []
        for part in re.split(r"^(?=##? )", source.read_text(encoding="utf-8"), flags=re.MULTILINE):
            heading, _, body = part.partition("\n")
            mark = re.match(r"\n*<!-- man: (.*) -->\n", body)
            named = mark[1].split() if mark else of_file
            if heading.startswith("# "):
                of_file, heading = named, "## Description"
            for page in named:
                pages[page] = pages.get(page, "") + f"{heading.upper()}\n\n{body}\n"
    return pages


def convert(markdown):
    return output(["pandoc", "-f", "gfm", "-t", "man", "--shift-heading-level-by=-1",
                   "--columns=78", "-L", ROOT / "tools/man/man.lua"], markdown)


# ---- pages -------------------------------------------------------------------------------------

def date():
    newest = max(path.stat().st_mtime for path in SOURCES)
    seconds = float(os.environ.get("SOURCE_DATE_EPOCH") or newest)
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).date()


def see_also(page, pages):
    others = [other for other in pages if other != page] if page == SEE[0] else \
             [other for other in SEE if other != page]
    return ",\n".join(".BR {} ({})".format(*other.rsplit(".", 1)).replace("-", "\\-")
                      for other in others).replace(",\n", " ,\n")


def write_page(directory, page, what, release, sections, markdown):
    name, number = page.rsplit(".", 1)
    status = {key: sections.pop(key) for key in ("EXIT STATUS", "SEE ALSO") if key in sections}
    parts = [f'.TH {name.upper()} {number} {date()} "{release}"', ".SH NAME",
             f"{roff(name)} \\- {roff(what)}"]
    parts += [f".SH {key}\n{text}" for key, text in sections.items() if text]
    parts += [convert(markdown).rstrip("\n")] if markdown else []
    parts += [f".SH {key}\n{text}" for key, text in status.items() if text]
    # What begins a section needs no macro for that.
    text = re.sub(r"^(\.SH .*\n)\.PP\n", r"\1", "\n".join(parts) + "\n", flags=re.MULTILINE)
    (directory / page).write_text(text, encoding="utf-8")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    directory, command = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2])

    def said(*arguments):
        return output([command, *arguments])

    release, overview, marked = said("--version").partition("\n")[0], said("--help"), marked_sections()
    intro = SOURCES[0].read_text(encoding="utf-8").partition("\n")[2].partition("\n## ")[0]
    commands = dict(re.findall(r"^  ([a-z]+)  +(.*)$", overview, flags=re.MULTILINE))
    pages = {SEE[0]: "which cuDNN did a process really get, and is it the right one?",
             **{f"whichcudnn-{name}.1": what for name, what in commands.items()}, **WHAT}
    unknown = set(marked) - set(pages)
    if unknown:
        sys.exit(f"no such page: {', '.join(sorted(unknown))}")
    directory.mkdir(parents=True, exist_ok=True)
    for page, what in pages.items():
        name = page[len("whichcudnn-"):-2]
        if page in SYNOPSIS:
            sections = {"SYNOPSIS": verbatim([SYNOPSIS[page]])}
        else:
            sections = read_help(said(*([name] if name in commands else []), "--help"))
        if page == LIBRARY:
            sections["DESCRIPTION"] = convert(intro)
        sections["SEE ALSO"] = see_also(page, pages)
        write_page(directory, page, what, release, sections, marked.get(page, ""))


main()
