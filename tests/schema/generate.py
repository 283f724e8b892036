#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generate.py log|report|scan|lock|fix|page: what docs/ holds of record.def, on stdout.

log     docs/log.schema.json
report  docs/report.schema.json
scan    docs/scan.schema.json
lock    docs/lock.schema.json
fix     docs/fix.schema.json
page    docs/log.md, its sections between marks made anew
write   all of them into docs/
"""

import json
import sys
import textwrap

import record_def

DRAFT = "https://json-schema.org/draft/2020-12/schema"
DOCS = record_def.INCLUDE.parents[1] / "docs"
LINE = 130


def nullable(kind):
    return {"type": [kind, "null"]}


def closed(properties, required=None, **more):
    return {**more, "type": "object", "additionalProperties": False, "properties": properties,
            "required": list(properties) if required is None else required}


def triple(first, second, third):
    """Only the last may be unknown, but a fact may also lack its value."""
    return closed({first: {"type": "string"}, second: nullable("string"),
                   third: nullable("string")})


def field(one, enums):
    schema = {
        "STR": lambda: nullable("string"),
        "INT": lambda: nullable("integer"),
        "BOOL": lambda: {"type": "boolean"},
        "STRS": lambda: {"type": "array", "items": {"type": "string"}},
        "ENUM": lambda: {"enum": enums[one["enum"]][1:] + [None]},
        "FACTS": lambda: {"type": "array", "items": triple("name", "value", "source")},
    }[one["type"]]()
    return {"description": one["doc"], **schema}


def fields_of(kind, enums, without=()):
    return {f["name"]: field(f, enums) for f in kind["fields"] if f["name"] not in without}


def log_schema():
    enums, kinds = record_def.enums(), record_def.kinds()
    common = {
        "v": {"const": 4},
        "time": {"type": "integer", "minimum": 0},
        "seq": {"type": "integer", "minimum": 1},
        "pid": {"type": "integer", "minimum": 1},
        "tid": {"type": "integer", "minimum": 1},
        "cut": {"type": "integer", "minimum": 0},
    }
    records = {}
    for name, kind in kinds.items():
        head = {key: {"description": doc, **({"const": name} if key == "kind" else common[key])}
                for key, doc in record_def.COMMON.items()}
        records[name] = closed({**head, **fields_of(kind, enums)},
                               [key for key in record_def.COMMON if key != "cut"],
                               description=kind["doc"])
    return {
        "$schema": DRAFT,
        "title": "one line of a whichcudnn log",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in kinds],
        "$defs": records,
    }


def report_schema():
    enums, kinds = record_def.enums(), record_def.kinds()
    number = {"type": "integer"}
    count = {"type": "integer", "minimum": 0}

    def entries(kind):
        properties = {**fields_of(kinds[kind], enums), "seq": nullable("integer")}
        return {"type": "array", "items": closed(properties)}

    def single(kind):
        return {"oneOf": [{"type": "null"}, closed(fields_of(kinds[kind], enums))]}

    stack = closed({
        "fingerprint": {"description": "equal where the stacks are equal", "type": "string",
                        "pattern": "^[0-9a-f]{16}$"},
        "process": single("process"),
        "machine": single("machine"),
        "objects": entries("object"),
        "searches": entries("search"),
        "candidates": entries("candidate"),
        "packages": entries("package"),
        "demands": entries("demand"),
        "bindings": entries("binding"),
        "failures": entries("failure"),
        "files": entries("file"),
        "calls": entries("call"),
        "unobserved": entries("unobserved"),
        "outcome": single("outcome"),
        "requests": {"description": "requests seen", **count},
        "dropped": {"description": "facts that found no room", **count},
    }, description="what is known of the process; each entry is the newest record of its thing, "
                   "seq is that record")
    damaged = closed({"line": {"type": "integer", "minimum": 1}, "reason": {"type": "string"}})
    source = closed({
        "type": {"enum": ["log", "process", "scan", "lock"]},
        "path": {"type": "string"},
        "pid": number,
        "first_time": number,
        "last_time": number,
        "records": count,
        "in_flight": {"description": "last call or request that nothing shows as over",
                      **nullable("string")},
        "damaged_lines": {"description": "lines that could not be read", **count},
        "damaged": {"description": "the first of them", "type": "array", "items": damaged},
        "missing": {"description": "records that were written, by their numbers, and are not there, "
                                   "damaged ones not counted", **count},
        "cut": {"description": "list elements and bytes of text that were left out of records",
                **count},
    })
    texts = ("name", "value", "path", "target", "environment", "by")
    edit = closed({"edit": {"description": "what kind of change", "enum": record_def.edits()},
                   **{name: nullable("string") for name in texts}})
    fix = closed({
        "action": {"type": "string"},
        "text": {"description": "a sentence", **nullable("string")},
        "edits": {"description": "the changes that it consists of, in their order",
                  "type": "array", "items": edit},
        "command": {"description": "to paste; null: there is none", **nullable("string")},
        "checked": {"description": "how far it was played: the process's own requests over files "
                                   "and variables as the edits leave them, or the command itself",
                    "enum": ["no", "replayed", "tried"]},
        "why": {"description": "why it was not", **nullable("string")},
        "gives": {"description": "which cuDNN comes in then, and from where",
                  **nullable("string")},
        "but": {"description": "what it breaks, needs, or what undoes it", **nullable("string")},
    })
    finding = fields_of(kinds["finding"], enums, ("supersedes",))
    finding["fix"] = {"description": "what to do, best first", "type": "array", "items": fix}
    finding["rejected"] = {"description": "changes that take the finding away and are no repair",
                           "type": "array", "items": closed({
                               "text": {"description": "a sentence", **nullable("string")},
                               "because": {"description": "what is against it", "type": "string"}})}
    report = closed({
        "verdict": {"description": "worst of all findings, or what is known without one",
                    "enum": enums["verdict"][1:]},
        "text": {"description": "the verdict as a sentence", **nullable("string")},
        "limits": {"description": "what limits the verdict", "type": "array",
                   "items": {"enum": enums["limit"][1:]}},
        "known": {"description": "of what is unexplained: what was seen, in sentences",
                  "type": "array", "items": {"type": "string"}},
        "next": {"description": "and what to do then", **nullable("string")},
        "findings": {"description": "cause before symptom", "type": "array",
                     "items": closed(finding)},
        "stack": stack,
        "node": {"description": "the computer", **nullable("string")},
        "sources": {"type": "array", "minItems": 1, "items": source},
    })
    return {
        "$schema": DRAFT,
        "title": "whichcudnn report --json",
        "oneOf": [{"$ref": "#/$defs/report"},
                  {"type": "array", "items": {"$ref": "#/$defs/report"}}],
        "$defs": {"report": report},
    }


def scan_schema():
    enums, kinds = record_def.enums(), record_def.kinds()
    count = {"type": "integer", "minimum": 0}
    scan = closed({
        "path": {"description": "the first directory, or the root", "type": "string"},
        "files": {"description": "directory entries seen", **count},
        "libraries": {"description": "files looked into", **count},
        "copies": {"description": "every library of cuDNN's there, whoever takes it",
                   "type": "array", "items": closed(fields_of(kinds["object"], enums))},
        "reports": {"description": "one for each environment with a host: what it would get",
                    "type": "array", "items": report_schema()["$defs"]["report"]},
        "locked": {"description": "packages of cuDNN that a lock file beside an environment names",
                   "type": "array", "items": closed({
                       "environment": {"description": "its site-packages", "type": "string"},
                       "file": {"type": "string"},
                       "package": {"type": "string"},
                       "version": {"type": "string"},
                       "installed": {"description": "its version there; null: it is not installed",
                                     "type": ["string", "null"]},
                       "as_locked": {"description": "one of the file's versions is installed", "type": "boolean"},
                   })},
        "loaders": {"description": "Python packages that look for cuDNN by rules of their own: which file each takes",
                    "type": "array", "items": closed({
                        "environment": {"description": "its site-packages", "type": "string"},
                        "loader": {"type": "string"},
                        "call": {"description": "that looks for it", "type": "string"},
                        "version": {"description": "of the package", "type": "string"},
                        "rule_read_in": {"description": "the newest release whose rule is known", "type": "string"},
                        "unpredicted": {"description": "why no file is named", "type": ["string", "null"]},
                        "path": {"description": "of the cuDNN that it takes", "type": ["string", "null"]},
                        "cudnn_version": {"type": ["string", "null"]},
                        "found_via": {"description": "the package's own word, or the variable or place",
                                      "type": ["string", "null"]},
                        "raises": {"description": "the exception with which the call ends", "type": ["string", "null"]},
                    })},
        "passed_over": {"description": "files that could not be read, or are damaged",
                        "type": "array",
                        "items": closed({"path": {"type": "string"}, "why": {"type": "string"}})},
    })
    return {
        "$schema": DRAFT,
        "title": "whichcudnn scan --json",
        "oneOf": [{"$ref": "#/$defs/scan"},
                  {"type": "array", "items": {"$ref": "#/$defs/scan"}}],
        "$defs": {"scan": scan},
    }


def fix_schema():
    finding = report_schema()["$defs"]["report"]["properties"]["findings"]["items"]["properties"]
    texts = {"type": "array", "items": {"type": "string"}}
    verdict = {"description": "by --check: what the command does", **closed({
        "verdict": {"enum": ["repairs", "nothing", "breaks", "unknown"]},
        "because": {"description": "why it does not repair", **nullable("string")}})}
    nothing = [{"type": "null"}]
    step = closed({"kind": {"enum": ["variable", "command", "said"]}, "text": nullable("string"),
                   "changes": texts, "refused": nullable("string")})
    return {
        "$schema": DRAFT,
        "title": "whichcudnn fix --json",
        **closed({
            "findings": {"type": "array", "items": closed({
                **{name: finding[name] for name in ("id", "severity", "title")},
                "pids": {"type": "array", "items": {"type": "integer"}},
                "fix": finding["fix"], "checked": {"anyOf": [verdict, *nothing]}})},
            "tried": {"description": "by --try", "type": "array", "items": {"type": "object"}},
            "applied": {"anyOf": [closed({"done": {"type": "boolean"},
                                          "steps": {"type": "array", "items": step}}), *nothing]},
            "checked": {"anyOf": [verdict, *nothing]},
            "read": {"description": "by --check: the command as changes",
                     "anyOf": [finding["fix"]["items"], *nothing]},
        }),
    }


def lock_schema():
    enums, kinds, locked = record_def.enums(), record_def.kinds(), record_def.locked()
    texts = {"type": "array", "items": {"type": "string"}}

    def value(one):
        schema = field(one, enums)
        if one["type"] == "ENUM":
            return {**schema, "enum": enums[one["enum"]][1:]}
        types = {"BOOL": {"type": "boolean"}, "STRS": texts}
        return {"description": one["doc"], **types.get(one["type"], {"type": "string"})}

    def optional(properties, required=()):
        return {"type": "object", "additionalProperties": False, "properties": properties,
                **({"required": list(required)} if required else {})}

    def section(kind):
        facts = {f["name"]: value(f) for f in kinds[kind]["fields"] if f["name"] in locked[kind]}
        names = [name for name, is_name in locked[kind].items() if is_name]
        if kind == "object":
            facts, names = {"name": {"description": "how the lock calls it", "type": "string"}, **facts}, ["name"]
        return {"description": kinds[kind]["doc"], "type": "array", "items": optional(facts, names)}

    counted = ("process", "package", "object", "demand", "binding")
    return {
        "$schema": DRAFT,
        "title": "a lock of whichcudnn",
        **optional({
            "whichcudnn-lock": {"description": "the format", "const": 3},
            **{kind: section(kind) for kind in locked},
            "complete": {"description": "as long as there are as many, there are no others",
                         **optional(dict.fromkeys(counted, {"type": "integer", "minimum": 0}))},
        }, ["whichcudnn-lock"]),
    }


def type_words(one):
    return {
        "ENUM": f"`{one['enum']}`", "STR": "text", "INT": "number", "BOOL": "boolean",
        "STRS": "texts", "FACTS": "list of {`name`, `value`, `source`}",
    }[one["type"]]


def item(text):
    return textwrap.fill(f"- {text}", 118, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def entry(key, words, says):
    return item(f"`{key}` ({words}): {says}")


def shared_keys(kinds):
    """{key: [(kind, field), ...]}, of keys that several kinds have."""
    found = {}
    for name, kind in kinds.items():
        for f in kind["fields"]:
            found.setdefault(f["name"], []).append((name, f))
    return {key: fields for key, fields in found.items() if len(fields) > 1}


def shared_row(key, fields):
    """One sentence, and behind it what each kind adds to it."""
    first, *_ = fields[0][1]["doc"].split("; ")
    more = [f"{part} (`{kind}`)" for kind, f in fields for part in f["doc"].split("; ")[1:]]
    return entry(key, type_words(fields[0][1]), "; ".join([first, *more]))


def kinds_section():
    kinds, out = record_def.kinds(), []
    shared = shared_keys(kinds)
    for name, kind in kinds.items():
        own = [f for f in kind["fields"] if f["name"] not in shared]
        others = [f"`{f['name']}`" for f in kind["fields"] if f["name"] in shared]
        out += [f"### `{name}`: {kind['doc']}", ""]
        out += [*(entry(f["name"], type_words(f), f["doc"]) for f in own), ""] if own else []
        out += textwrap.wrap("Shared: " + " ".join(others) + ".", 118) + [""] if others else []
    out += ["### Keys that several kinds share", ""]
    out += [*(shared_row(key, fields) for key, fields in shared.items()), ""]
    out += ["### Words: what a key of a set has", ""]
    used = dict.fromkeys(f["enum"] for kind in kinds.values() for f in kind["fields"] if f["enum"])
    out += [item(f"`{enum}`: {listed(record_def.enums()[enum][1:])}") for enum in used]
    return "\n".join(out) + "\n\n"


def pretty(value, indent=0):
    """JSON with everything on one line that fits there: a line a key."""
    short = json.dumps(value)
    if indent + len(short) <= LINE or not isinstance(value, (dict, list)):
        return short
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        items = [f"{json.dumps(k)}: {pretty(v, indent + 2)}" for k, v in value.items()]
    else:
        items = [pretty(v, indent + 2) for v in value]
    first, last = "{}" if isinstance(value, dict) else "[]"
    return first + "\n" + ",\n".join(inner + i for i in items) + "\n" + " " * indent + last


def as_json(schema):
    return pretty(schema) + "\n"


def common_section():
    rows = [entry(key, "text" if key == "kind" else "number", doc)
            for key, doc in record_def.COMMON.items()]
    return "\n".join(["", *rows, "", ""])


def listed(words):
    return ", ".join(f"`{word}`" for word in words)


def wrapped(text):
    return "\n".join(textwrap.wrap(text, 118, break_long_words=False, break_on_hyphens=False))


def variables_section():
    one, more = record_def.logged_variables()
    return "\n" + wrapped(f"{listed(one)}, and all that begin with {listed(more)}.") + "\n\n"


def hints_section():
    words = record_def.hints()
    anywhere, package = listed(words["ANYWHERE"]), listed(words["PACKAGE"])
    return "\n" + wrapped(f"in any directory or file name: {anywhere}; in a file name, or a "
                          f"directory below `site-packages`: {package}.") + "\n\n"


def between(page, mark, text):
    """The page with what stands between two marks replaced."""
    begin, end = f"<!-- {mark}: begin -->\n", f"<!-- {mark}: end -->\n"
    before, rest = page.split(begin)
    return before + begin + text + end + rest.split(end)[1]


def log_page():
    page = (DOCS / "log.md").read_text(encoding="utf-8")
    page = between(page, "common keys", common_section())
    page = between(page, "hint words", hints_section())
    page = between(page, "variables", variables_section())
    return between(page, "from record.def", "\n" + kinds_section())


def write():
    for name, text in FILES.items():
        (DOCS / name).write_text(text(), encoding="utf-8")


FILES = {
    "log.schema.json": lambda: as_json(log_schema()),
    "report.schema.json": lambda: as_json(report_schema()),
    "scan.schema.json": lambda: as_json(scan_schema()),
    "lock.schema.json": lambda: as_json(lock_schema()),
    "fix.schema.json": lambda: as_json(fix_schema()),
    "log.md": log_page,
}
COMMANDS = {"log": "log.schema.json", "report": "report.schema.json",
            "scan": "scan.schema.json", "lock": "lock.schema.json", "fix": "fix.schema.json",
            "page": "log.md"}


def main():
    what = sys.argv[1] if len(sys.argv) == 2 else ""
    if what == "write":
        write()
    elif what in COMMANDS:
        sys.stdout.write(FILES[COMMANDS[what]]())
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
