#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""columns.py write|check: the parts of examples/fleet/*.sql that are made from the project's tables.

columns      every key of the log with its type, in duckdb.sql and spark.sql, from record.def
bad releases the rows of bad_release in views.sql, from core/knowledge/bad_releases.def
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1] / "schema"))
import generate  # noqa: E402
import record_def  # noqa: E402

FLEET = record_def.ROOT / "examples" / "fleet"
TYPES = {
    "integer": ('"BIGINT"', "BIGINT"),
    "text": ('"VARCHAR"', "STRING"),
    "boolean": ('"BOOLEAN"', "BOOLEAN"),
    "texts": ('["VARCHAR"]', "ARRAY<STRING>"),
    "facts": ('[{"name": "VARCHAR", "value": "VARCHAR", "source": "VARCHAR"}]',
              "ARRAY<STRUCT<name: STRING, value: STRING, source: STRING>>"),
}


def type_of(schema):
    if "enum" in schema:
        return "text"
    if "const" in schema:
        return "integer" if isinstance(schema["const"], int) else "text"
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    kind = next(one for one in kinds if one != "null")
    if kind == "array":
        return "texts" if schema["items"].get("type") == "string" else "facts"
    return {"string": "text"}.get(kind, kind)


def keys():
    """{key: type}, in the order of record.def; a key has one type in all kinds."""
    found = {}
    for kind in generate.log_schema()["$defs"].values():
        for key, schema in kind["properties"].items():
            if found.setdefault(key, type_of(schema)) != type_of(schema):
                raise ValueError(f"{key} has two types")
    return {**found, "log_file": "text"}


def wrapped(items):
    lines = [""]
    for item in items:
        if len(lines[-1]) + len(item) > 100:
            lines.append("")
        lines[-1] += ("" if not lines[-1] else " ") + item
    return "".join(f"    {line}\n" for line in lines)


def columns(engine):
    form = '"{key}": {type}' if engine == 0 else "`{key}` {type}"
    items = [form.format(key=key, type=TYPES[kind][engine]) for key, kind in keys().items()]
    text = wrapped([item + "," for item in items[:-1]] + items[-1:])
    return f"    '{{\n{text}    }}'\n" if engine == 0 else text


# ---- releases with a known defect ----

ROW = re.compile(r'BAD_RELEASE\("([^"]*)", (NULL|"[^"]*"), (NULL|"[^"]*"),((?:\s*"[^"]*")+),\s*"[^"]*",((?:\s*"[^"]*")+)\)')


def span(spec):
    """("9", "9.15"): at least, and below."""
    if match := re.fullmatch(r"==(\d+)\.(\d+)\.(\d+)", spec):
        release = tuple(map(int, match.groups()))
        return ".".join(map(str, release)), ".".join(map(str, (*release[:2], release[2] + 1)))
    match = re.fullmatch(r">=([\d.]+),<([\d.]+)", spec)
    if not match:
        raise ValueError(f"bad_releases.def: {spec}: teach columns.py to read it")
    return match.groups()


def key(release):
    """What sorts as releases do."""
    return "".join(f"{int(part):04}" for part in (release.split(".") + ["0", "0"])[:3])


def quoted(text):
    return "NULL" if text is None else "'" + text.replace("'", "''") + "'"


def bad_releases():
    path = record_def.ROOT / "core" / "knowledge" / "bad_releases.def"
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    if text.count("BAD_RELEASE(") != len(ROW.findall(text)):
        raise ValueError("bad_releases.def: teach columns.py to read it")
    for releases, framework, versions, what, _ in ROW.findall(text):
        least, below = span(releases)
        joined = "".join(re.findall(r'"([^"]*)"', what))
        row = [least if releases.startswith("==") else f"{least} to {below}", joined, key(least), key(below)]
        if framework == "NULL":
            row += [None] * 4
        else:
            name = framework.strip('"')
            of_least, of_below = span(versions.strip('"'))
            row += [f"{name} {of_least} to {of_below}", name, key(of_least), key(of_below)]
        yield "    (" + ", ".join(map(quoted, row)) + ")"


def parts():
    return [("duckdb.sql", "columns", columns(0)), ("spark.sql", "columns", columns(1)),
            ("views.sql", "bad releases", ",\n".join(bad_releases()) + "\n")]


def main():
    stale = 0
    for name, mark, text in parts():
        path = FLEET / name
        old = path.read_text(encoding="utf-8")
        begin, end = f"    -- {mark}: begin (make schema)\n", f"    -- {mark}: end\n"
        new = old.split(begin)[0] + begin + text + end + old.split(end)[1]
        if sys.argv[1:] == ["write"]:
            path.write_text(new, encoding="utf-8")
        elif old != new:
            print(f"examples/fleet/{name} is not what the tables say: make schema writes it anew")
            stale = 1
    sys.exit(stale)


if __name__ == "__main__":
    main()
