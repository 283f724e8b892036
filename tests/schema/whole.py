#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whole.py FILE...: the lines of logs with all keys, and with whole paths, as docs/log.md says what a line leaves out.

What is no record stays as it is.
"""

import json
import pathlib
import re
import sys

import record_def

KINDS = record_def.kinds()
UNKNOWN = {"STR": None, "INT": None, "ENUM": None, "BOOL": False, "STRS": [], "FACTS": []}
SHORT = re.compile(r"(\d{1,18})/(\d{1,18})/(.*)", re.DOTALL)
ALWAYS = ("v", "kind", "seq")


def usual(record, how, value):
    if how == "USUAL":
        return value
    other = record[value]
    return other.rpartition("/")[2] if other and how == "FILE_OF" else other


def unknown(record):
    return {f["name"]: UNKNOWN[f["type"]] for f in KINDS[record["kind"]]["fields"]}


def is_path(record, how):
    return how != "WHOLE" or record["kind"] == "object" and record.get("role") == "cuda-dependency"


class Log:
    """Records of one log, in their order."""

    def __init__(self):
        self.pid = self.time = None
        self.paths = {}

    def whole_path(self, text):
        """LookupError where it is written by a line that is not there."""
        match = SHORT.fullmatch(text)
        if not match:
            return text
        other, parts, rest = int(match[1]), int(match[2]), match[3]
        if not other:
            return rest
        kept = self.paths[other]
        if parts:
            kept = "".join(f"{part}/" for part in kept.split("/")[:-parts])
        return kept + rest

    def whole_member(self, text):
        word, blank, path = text[:text.find("/") + 1].rpartition(" ")
        return word + blank + self.whole_path(text[len(word + blank):]) if path else text

    def whole(self, record):
        """With every key of its kind, in the order of record.def."""
        if record["kind"] == "process":
            self.__init__()
        kind = KINDS[record["kind"]]
        head = {key: record.get(key) for key in record_def.COMMON}
        head["pid"] = record.get("pid", self.pid)
        head |= {"time": record.get("time", self.time), "tid": record.get("tid", head["pid"]), "cut": record.get("cut", 0)}
        full = {**head, **unknown(record), **record}
        for name, how in kind["paths"].items():
            if record.get(name) and is_path(record, how):
                full[name] = ([self.whole_member(text) for text in record[name]] if how == "PATHS"
                              else self.whole_path(record[name]))
        for name, (how, value) in kind["usual"].items():
            if name not in record:
                full[name] = usual(full, how, value)
        self.note(full, kind["paths"])
        return full

    def note(self, full, paths):
        self.pid, self.time = full["pid"], full["time"]
        for name, how in paths.items():
            if how != "PATHS" and (full[name] or "").startswith("/"):
                self.paths.setdefault(full["seq"], full[name])


def short(record):
    """Without what a line leaves out where nothing is known of those before it."""
    full = {**unknown(record), "tid": record.get("pid"), "cut": 0}
    for name, (how, value) in KINDS[record["kind"]]["usual"].items():
        full[name] = usual(record, how, value)
    return {key: value for key, value in record.items() if key not in full or value != full[key]}


def records(text):
    """The records of a log."""
    log = Log()
    return [log.whole(json.loads(line)) for line in text.splitlines()]


def main():
    for name in sys.argv[1:] or ["/dev/stdin"]:
        log = Log()
        for line in pathlib.Path(name).read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            try:
                line = json.dumps(log.whole(json.loads(line)), separators=(",", ":"), ensure_ascii=False)
            except (ValueError, LookupError, TypeError):
                pass
            print(line)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    main()
