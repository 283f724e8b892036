#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""validate.py log FILE...      every line against docs/log.schema.json, and the whole files
validate.py report FILE...   JSON documents against docs/report.schema.json; scan, lock, fix: likewise
validate.py schemas          these five against what a schema has to be

Says what is wrong, and fails then. Needs jsonschema.
"""

import json
import pathlib
import sys

sys.modules["rfc3987_syntax"] = None  # jsonschema does without; its grammar takes longer than all the rest
import jsonschema  # noqa: E402

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
LINE_MOST = 16384


def validator(name):
    schema = json.loads((DOCS / f"{name}.schema.json").read_text(encoding="utf-8"))
    return jsonschema.validators.validator_for(schema)(schema)


def branch(log, record):
    """The validator of the record's own kind: its messages name the key that is wrong."""
    kind = record.get("kind") if isinstance(record, dict) else None
    definition = log.schema["$defs"].get(kind) if isinstance(kind, str) else None
    return log.evolve(schema=definition) if definition else log


def record_errors(log, record):
    """Messages for one record; the whole schema has the last word."""
    errors = [error.message for error in branch(log, record).iter_errors(record)]
    if not errors and not log.is_valid(record):
        errors = ["no kind of record, or more than one"]
    return errors


def unique_object(pairs):
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def no_constant(word):
    raise ValueError(word)


def parse(line):
    return json.loads(line, object_pairs_hook=unique_object, parse_constant=no_constant)


def line_errors(log, line, seen):
    if not line.endswith(b"\n"):
        return ["no newline at the end"]
    if len(line) > LINE_MOST:
        return [f"{len(line)} bytes"]
    try:
        record = parse(line.decode("utf-8"))
    except ValueError as error:
        return [f"no JSON: {error}"]
    errors = record_errors(log, record)
    if not errors:
        if record["kind"] == "process":
            seen.clear()
        if record["seq"] in seen:
            errors.append(f"seq {record['seq']} twice")
        seen.add(record["seq"])
    return errors


def log_errors(log, path):
    """What is wrong with a whole file: whole lines, first the process, each seq once."""
    seen, errors = set(), []
    lines = path.read_bytes().splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        errors += [f"{path}:{number}: {error}" for error in line_errors(log, line, seen)]
    if not lines:
        errors.append(f"{path}: empty")
    elif not errors and parse(lines[0])["kind"] not in ("process", "outcome"):
        errors.append(f"{path}:1: the first record is not the process")
    return errors


def report_errors(report, path):
    document = parse(path.read_text(encoding="utf-8"))
    return [f"{path}: {jsonschema.exceptions.best_match([error]).message}"
            for error in report.iter_errors(document)]


def check_schemas():
    for name in ("log", "report", "scan", "lock", "fix"):
        checked = validator(name)
        checked.check_schema(checked.schema)


def main():
    if sys.argv[1:] == ["schemas"]:
        return check_schemas()
    if len(sys.argv) < 3 or sys.argv[1] not in ("log", "report", "scan", "lock", "fix"):
        sys.exit(__doc__)
    schema = validator(sys.argv[1])
    check = log_errors if sys.argv[1] == "log" else report_errors
    errors = [e for name in sys.argv[2:] for e in check(schema, pathlib.Path(name))]
    for error in errors:
        print(error)
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
