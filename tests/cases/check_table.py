#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_table.py field|open|findings|literals [FOLDER]: what must hold of the cases without playing them.

field: each case of field.tsv is re-created or left out for a reason of the closed list, not both.
open: open.tsv names cases only, each with what is told instead.
findings [FOLDER]: core/demand/findings.def, what the cases (of FOLDER) expect and the table of
    tests/cases/confusion.md speak of the same. What comes first nowhere stands in not-first.tsv, with a
    reason of the closed list.
literals: no version, library, package or function of a case stands in a string of core/ or shim/ (of
    FOLDER).
"""

import ast
import collections
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REASONS = {"needs-gpu", "windows", "release-not-to-be-had"}
LEFT_OUT_MOST = 30
# Why no case expects it first: it stands behind its cause, or it is no failure.
NOT_FIRST = {"behind-its-cause", "note"}
# Names that are fixed for everybody: cuDNN's own functions that are watched, the driver's and libc's
# SONAME, and the mark of glibc's cache file.
KNOWN = {"", "torch", "tensorflow", "ctranslate2"}  # the model speaks of them by these names
FIXED = {"cudnnGetVersion", "cudnnCreate", "cudnnBackendFinalize", "libcuda.so.1", "libc.so.6",
         "ld.so-1.7.0"}
# Tables of public facts, each row with its source, that stand beside the code that reads them.
TABLES = {"core/packages/metadata.c", "core/packages/file_version.c"}
TABLE = re.compile(r"static const (?:struct \w* ?\{[^}]*\} )?[^;={}]*\[\] = \{.*?\};", re.S)
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))

from harness import confusion, healthy, pairs, rows, world  # noqa: E402


def table(name, columns):
    rows = []
    for line in (HERE / name).read_text().splitlines():
        if not line.startswith("#"):
            fields = line.split("\t")
            assert len(fields) == columns and all(fields), f"{name}: {line}"
            rows.append(fields)
    return rows


def check_field():
    known = {row[0] for row in table("field.tsv", 6)}
    left_out = {row[0]: row[1] for row in table("left-out.tsv", 3)}
    played = {name.partition("-")[0] for name in rows.cases() if name[0] == "C"}
    bad = [f"{i}: neither re-created nor left out" for i in known - played - set(left_out)]
    bad += [f"{i}: not in field.tsv" for i in (played | set(left_out)) - known]
    bad += [f"{i}: re-created and left out" for i in played & set(left_out)]
    bad += [f"{i}: {why} is no reason" for i, why in left_out.items() if why not in REASONS]
    bad += [f"{len(left_out)} are left out"] if len(left_out) > LEFT_OUT_MOST else []
    bad += [f"{name}: not told by a sentence" for name in rows.cases() if name.count("-") < 2]
    return bad


def check_open():
    ids = {name.partition("-")[0] for name in rows.cases()}
    return [f"{row[0]}: no such case" for row in table("open.tsv", 2) if row[0] not in ids]


# ---- findings ------------------------------------------------------------------------------------


def severities():
    text = (ROOT / "core/demand/findings.def").read_text()
    return dict(re.findall(r'^(?:FINDING|LIVE)\(\w+, "([a-z-]+)", ([A-Z]+),', text, re.M))


def table_of_page():
    """(seed, rows) between the markers: expected, played, told as such, told instead."""
    text = (ROOT / "tests/cases/confusion.md").read_text().partition(confusion.BEGIN)[2]
    text = text.partition(confusion.END)[0]
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    fields = [[field.strip().strip("`") for field in line] for line in lines[2:]]
    return int(re.search(r"Seed (\d+):", text)[1]), fields


def check_page(first, known):
    """The table counts what the cases state, the pairs and the healthy set-ups of its seed."""
    options = (HERE / "run").read_text()
    most = {name: int(re.search(rf'"--{name}", type=int, default=(\d+)', options)[1])
            for name in ("pairs", "healthy")}
    seed, lines = table_of_page()
    wanted = collections.Counter(first.values())
    wanted.update(pairs.expected(name)[1][0] for name in pairs.pairs(seed, most["pairs"]))
    wanted["none"] += len(healthy.names(most["healthy"]))
    on_page = {line[0]: int(line[1]) for line in lines}
    bad = [f"tests/cases/confusion.md: {on_page.get(i, 0)} played that expect {i}, the cases have "
           f"{wanted[i]}; make confusion writes it anew"
           for i in sorted(wanted.keys() | on_page) if on_page.get(i, 0) != wanted[i]]
    for expected, played, same, instead in lines:
        others = re.findall(r"([a-z-]+(?: [a-z]+)*) (\d+)", instead)
        if int(same) + sum(int(n) for _, n in others) != int(played):
            bad.append(f"tests/cases/confusion.md: {expected}: the numbers do not add up")
        bad += [f"tests/cases/confusion.md: {name} is no finding" for name, _ in others
                if name not in known and name not in ("none", "did not run")]
    return bad


def check_findings(folder=rows.SITUATIONS):
    known, not_first = severities(), {row[0]: row[1:] for row in table("not-first.tsv", 4)}
    told = {row[0]: rows.told_by(*row) for row in rows.sources(folder)}
    first = {name: stated for name, (stated, _) in told.items()}
    expected = set(first.values()) | set(pairs.FAULTS.values())
    named = expected | set(pairs.ORDER) | {i for _, others in told.values() for i in others}
    bad = [f"{name}: states no first finding" for name, stated in first.items() if not stated]
    bad += [f"{i}: no finding is called so" for i in named | set(not_first) if i and
            i not in known and i != "none"]
    bad += [f"{i}: expected first nowhere, and not in not-first.tsv: it needs a case in "
            "tests/cases/situations/, or a row there"
            for i in known if i not in expected and i not in not_first]
    for i, (reason, file, _) in not_first.items():
        bad += [f"{i}: in not-first.tsv, and expected by a case"] if i in expected else []
        bad += [f"{i}: {reason} is no reason"] if reason not in NOT_FIRST else []
        bad += [f"{i}: it is no note"] if reason == "note" and known.get(i) != "NOTE" else []
        bad += [f"{i}: {file} does not speak of it"] if i not in (ROOT / file).read_text() else []
    return bad + check_page(first, known)


# ---- literals ------------------------------------------------------------------------------------


def strings_of_c(path, tables):
    """String constants, without comments and, where told so, without tables."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.S)
    text = re.sub(r"#\s*include[^\n]*", "", text)
    text = TABLE.sub("", text) if tables else text
    return re.findall(r'"((?:[^"\\\n]|\\.)*)"', text)


def strings_of_python(path):
    return {node.value for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def literals():
    found = {row[0].rpartition("/")[2] for row in world.FRAMEWORKS.values()}
    found |= {row[1] for row in world.FRAMEWORKS.values()} - KNOWN
    for path in rows.SITUATIONS.glob("*.py"):
        for text in strings_of_python(path):
            found |= set(re.findall(r"lib\w+\.so\.[\d.]*\d", text))
            found |= set(re.findall(r"\b\d+\.\d+\.\d+(?:\.\d+)?\b", text))
            found |= set(re.findall(r"\b_Z\w+|\bcudnn[A-Z]\w+", text))
    return found - FIXED


def check_literals(root=ROOT):
    root = pathlib.Path(root)
    names, bad = literals(), []
    for folder in ("core", "shim"):
        for path in sorted((root / folder).rglob("*.[chS]")):
            for text in strings_of_c(path, str(path.relative_to(root)) in TABLES):
                if text in FIXED:
                    continue
                if re.search(r"\d+\.\d+\.\d+", text) or any(
                        re.search(rf"(?<![\w.]){re.escape(n)}(?![\w.])", text) for n in names):
                    bad.append(f"{path.relative_to(root)}: {text!r}")
    return bad + ([] if len(names) > 20 else ["hardly a literal was found in the cases"])


if __name__ == "__main__":
    checks = {"field": check_field, "open": check_open, "findings": check_findings,
              "literals": check_literals}
    failures = checks[sys.argv[1]](*sys.argv[2:])
    print("\n".join(failures))
    sys.exit(bool(failures))
