# SPDX-License-Identifier: Apache-2.0
"""The .def tables that docs/log.md tells of, read apart from the C preprocessor."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include" / "whichcudnn"
COMMON = {
    "v": "format of the log: 4",
    "kind": "what the record says",
    "time": "microseconds since 1970, UTC",
    "seq": "number of the record in its file, from 1",
    "pid": "process that wrote it",
    "tid": "thread that wrote it",
    "cut": "list elements and bytes of text that were left out to keep the line short; not there: 0",
}

TEXT = r'"((?:[^"\\]|\\.)*)"'
ENUM_LINE = re.compile(r"^(?:ENUM\((\w+)\)|VALUE\((\w+), (\w+), " + TEXT + r"\)|END_ENUM\(\w+\))$")
KIND_LINE = re.compile(
    r"^(?:KIND\((?P<kind>\w+), " + TEXT.replace("(", "(?P<kind_doc>", 1) + r"\)"
    r"|(?P<type>STR|INT|BOOL|STRS|FACTS)\(\w+, (?P<name>\w+), "
    + TEXT.replace("(", "(?P<doc>", 1) + r"\)"
    r"|ENUM_\(\w+, (?P<enum>\w+), (?P<enum_name>\w+), "
    + TEXT.replace("(", "(?P<enum_doc>", 1) + r"\)"
    r"|END_KIND\(\w+\))$"
)


def lines_of(path):
    """Lines of a .def file without its comments and the preprocessor's; empty ones left out."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def enums():
    """{enumeration: [word, ...]}, the word for "not known" first."""
    found = {}
    for line in lines_of(INCLUDE / "enums.def"):
        match = ENUM_LINE.match(line)
        if not match:
            raise ValueError(f"enums.def: {line}")
        if match[1]:
            found[match[1]] = []
        elif match[2]:
            found[match[2]].append(match[4])
    return found


def kinds():
    """{kind: {"doc": text, "fields": [{"name", "type", "enum", "doc"}, ...]}} in file order."""
    found = {}
    for line in lines_of(INCLUDE / "record.def"):
        match = KIND_LINE.match(line)
        if not match:
            raise ValueError(f"record.def: {line}")
        if match["kind"]:
            fields = []
            found[match["kind"]] = {"doc": match["kind_doc"], "fields": fields}
        elif match["enum"]:
            fields.append({"name": match["enum_name"], "type": "ENUM", "enum": match["enum"],
                           "doc": match["enum_doc"]})
        elif match["type"]:
            fields.append({"name": match["name"], "type": match["type"], "enum": None,
                           "doc": match["doc"]})
    return found


def edits():
    """The words of tools/diagnose/edit.def, in its order."""
    text = "".join(lines_of(ROOT / "tools" / "diagnose" / "edit.def"))
    return re.findall(r"EDIT\(\w+, " + TEXT, text)


def locked():
    """{kind: {field: is it told from others by that}}: what a lock keeps."""
    found = {}
    for line in lines_of(ROOT / "tools" / "report" / "lock" / "lock.def"):
        row, kind, name = re.fullmatch(r"(LOCKED|NAMED)\((\w+), (\w+)\)", line).groups()
        found.setdefault(kind, {})[name] = row == "NAMED"
    return found


def logged_variables():
    """(names, beginnings of names) of the environment variables that the log keeps."""
    text = "\n".join(lines_of(ROOT / "core" / "records" / "logged_variables.def"))
    return (re.findall(r'^LOGGED\("(\w+)"\)$', text, re.MULTILINE),
            re.findall(r'^LOGGED_ALL\("(\w+)"\)$', text, re.MULTILINE))


def hints():
    """{"ANYWHERE": [word, ...], "PACKAGE": [...]}: words that let a path hint at CUDA."""
    found = {"ANYWHERE": [], "PACKAGE": []}
    for table in ("names.def", "frameworks.def"):
        text = "\n".join(lines_of(ROOT / "core" / "knowledge" / table))
        for word, where, end in re.findall(r'HINT\("(\w+)", (\w+), (PREFIX|WHOLE)\)', text):
            found[where].append(word + ("..." if end == "PREFIX" else ""))
    return found
