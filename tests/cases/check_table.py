#!/usr/bin/env python3
"""check_table.py field|open|literals: what must hold of the cases without playing them.

field: each case of field.tsv is a folder or left out for a reason of the closed list, not both.
open: open.tsv names folders only, each with what is told instead.
literals: no version, library, package or function of a case stands in a string of core/ or shim/.
"""

import ast
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REASONS = {"needs-gpu", "windows", "release-not-to-be-had"}
LEFT_OUT_MOST = 30
# Names that are fixed for everybody: cuDNN's own functions that are watched, the driver's SONAME,
# and the mark of glibc's cache file.
KNOWN = {"", "torch", "tensorflow", "ctranslate2"}  # the model speaks of them by these names
FIXED = {"cudnnGetVersion", "cudnnCreate", "cudnnBackendFinalize", "libcuda.so.1", "ld.so-1.7.0"}
sys.dont_write_bytecode = True


def table(name, columns):
    rows = []
    for line in (HERE / name).read_text().splitlines():
        if not line.startswith("#"):
            fields = line.split("\t")
            assert len(fields) == columns and all(fields), f"{name}: {line}"
            rows.append(fields)
    return rows


def folders():
    return [p.parent.name for p in HERE.glob("[CA]*-*/case.py")]


def check_field():
    known = {row[0] for row in table("field.tsv", 6)}
    left_out = {row[0]: row[1] for row in table("left-out.tsv", 3)}
    played = {name.partition("-")[0] for name in folders() if name[0] == "C"}
    bad = [f"{i}: neither re-created nor left out" for i in known - played - set(left_out)]
    bad += [f"{i}: not in field.tsv" for i in (played | set(left_out)) - known]
    bad += [f"{i}: re-created and left out" for i in played & set(left_out)]
    bad += [f"{i}: {why} is no reason" for i, why in left_out.items() if why not in REASONS]
    bad += [f"{len(left_out)} are left out"] if len(left_out) > LEFT_OUT_MOST else []
    bad += [f"{name}: not told by a sentence" for name in folders() if name.count("-") < 2]
    return bad


def check_open():
    ids = {name.partition("-")[0] for name in folders()}
    return [f"{row[0]}: no such case" for row in table("open.tsv", 2) if row[0] not in ids]


# ---- literals ------------------------------------------------------------------------------------


def strings_of_c(path):
    """String constants, without comments; tables (.def) hold public facts with their sources."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.S)
    text = re.sub(r"#\s*include[^\n]*", "", text)
    return re.findall(r'"((?:[^"\\\n]|\\.)*)"', text)


def strings_of_case(path):
    return {node.value for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def literals():
    sys.path.insert(0, str(HERE))
    from harness import world

    found = {row[0].rpartition("/")[2] for row in world.FRAMEWORKS.values()}
    found |= {row[1] for row in world.FRAMEWORKS.values()} - KNOWN
    for path in HERE.glob("[CA]*-*/case.py"):
        for text in strings_of_case(path):
            found |= set(re.findall(r"lib\w+\.so\.[\d.]*\d", text))
            found |= set(re.findall(r"\b\d+\.\d+\.\d+(?:\.\d+)?\b", text))
            found |= set(re.findall(r"\b_Z\w+|\bcudnn[A-Z]\w+", text))
    return found - FIXED


def check_literals():
    names, bad = literals(), []
    for folder in ("core", "shim"):
        for path in sorted((ROOT / folder).rglob("*.[chS]")):
            for text in strings_of_c(path):
                if text in FIXED:
                    continue
                if re.search(r"\d+\.\d+\.\d+", text) or any(
                        re.search(rf"(?<![\w.]){re.escape(n)}(?![\w.])", text) for n in names):
                    bad.append(f"{path.relative_to(ROOT)}: {text!r}")
    return bad + ([] if len(names) > 20 else ["hardly a literal was found in the cases"])


if __name__ == "__main__":
    failures = {"field": check_field, "open": check_open, "literals": check_literals}[sys.argv[1]]()
    print("\n".join(failures))
    sys.exit(bool(failures))
