#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_report.py FORM REPORT.json RENDERED: what a form of the report has to be.

text      every fact of the JSON is in it (RENDERED of --verbose), and nothing that a terminal obeys
narrow    no line is over 100 columns, but a word of what is to be pasted and a directory of the legend; nothing that a terminal obeys
markdown  every fact is in it (RENDERED of --verbose), all within one block of code
prometheus  it counts what is in the JSON, and the format's strict reader takes it
"""

import collections

import json
import pathlib
import re
import sys

WIDTH = 100
# What a terminal obeys, and what nobody sees.
HIDDEN = ("\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
          "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
          "\U000e0000-\U000e0fff")
OBEYED = re.compile(f"[\x00-\x09\x0b-\x1f{HIDDEN}]")


def spelled(text):
    """As terminal.h has it."""
    def one(match):
        c = ord(match.group())
        return f"\\x{c:02x}" if c < 0x80 else f"\\u{c:04x}"
    return re.sub(f"[\x00-\x1f{HIDDEN}]", one, text)


def facts(value, key=""):
    """("key", "value as it is shown") of everything that is known."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from facts(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from facts(inner, key)
    elif isinstance(value, bool):
        yield key, "yes" if value else "no"
    elif value is not None:
        yield key, spelled(str(value))


def lacking(document, text):
    """The JSON of each report is in it."""
    reports = document if isinstance(document, list) else [document]
    pieces = text.split("\neverything that is known, as in --json\n")[1:]
    try:
        told = [json.JSONDecoder().raw_decode(piece)[0] for piece in pieces]
    except ValueError as error:
        told = []
        yield f"no JSON: {error}"
    for report in reports:
        if report not in told:
            yield f"lacks the report of {report['sources']}"
    if len(told) != len(reports):
        yield f"{len(told)} reports, not {len(reports)}"


def obeyed(text):
    for number, line in enumerate(text.split("\n"), 1):
        if OBEYED.search(line):
            yield f"line {number} has {OBEYED.search(line).group()!r}"


def too_wide(document, text):
    reports = document if isinstance(document, list) else [document]
    commands = {spelled(fix["command"]) for report in reports for finding in report["findings"]
                for fix in finding["fix"] if fix["command"]}
    paths = [value for report in reports for _, value in facts(report)]
    for line in text.split("\n"):
        legend = re.fullmatch(r" *[A-Z][0-9]* = (/.*)", line)
        if legend and any(legend[1] in path for path in paths):
            continue
        piece = re.sub(r"^ *(fix|or) +", "", line.removesuffix(" \\")).strip(" ")
        if len(line) > WIDTH and not any(piece in command for command in commands):
            yield f"{len(line)} columns: {line!r}"


def foreign(text):
    """What does not stand in the one block of code, as CommonMark has it."""
    lines = text.split("\n")
    fence = lines[0]
    if not re.fullmatch("`{3,}", fence) or lines[-2:] != [fence, ""]:
        yield f"no block from {fence[:200]!r} to {lines[-2:]!r}"
    for number, line in enumerate(lines[1:-2], 2):
        if re.fullmatch(f" {{0,3}}{fence}`*[ \t]*", line):
            yield f"line {number} ends the block: {line[:200]!r}"


# ---- Prometheus ----

LONGEST = 80


def counted(value):
    """A label's value; where it is too long, that alone."""
    return "long" if len(value) > LONGEST or "..." in value else value


def release_of(one):
    if re.fullmatch(r"\d+(\.\d+){0,3}", one["version"] or ""):
        return ".".join(one["version"].split(".")[:3])
    floor, ceiling = one["version_floor"], one["version_ceiling"]
    between = f"{floor} to {ceiling}" if floor and ceiling else f"not older than {floor}" if floor else None
    return one["version"] or between or (f"not newer than {ceiling}" if ceiling else "unknown")


def expected_counts(reports):
    """{(family, label values by name...): count}, and how many processes there are."""
    counts = collections.Counter()
    for report in reports:
        facades = {(counted(spelled(release_of(one))),
                    counted(spelled(" ".join(filter(None, (one["installation_kind"], one["installation"])))
                                    or "unknown")))
                   for one in report["stack"]["objects"] if one["role"] == "facade" and one["mapped"]}
        counts.update(("processes", *sorted({"version": v, "source": s}.items())) for v, s in facades)
        counts.update({("findings", *sorted({"id": f["id"], "severity": f["severity"]}.items()))
                       for f in report["findings"]})
        counts["verdicts", ("verdict", report["verdict"])] += 1
    return counts


def miscounted(document, text):
    # Whose strict reader is that of OpenMetrics, which is the same where there are but gauges.
    from prometheus_client.openmetrics.parser import text_string_to_metric_families
    reports = document if isinstance(document, list) else [document]
    counts = expected_counts(reports)
    for row, times in collections.Counter(line.rpartition(" ")[0] for line in text.splitlines()).items():
        if times > 1:  # of which the reader takes one
            yield f"{times} times {row}"
    families = {f.name: f for f in text_string_to_metric_families(text + "# EOF\n")}
    for name, family in families.items():
        if family.type != "gauge" or not family.documentation or not name.startswith("whichcudnn_"):
            yield f"{name}: {family.type}, {family.documentation!r}"
        if any(sample.timestamp is not None for sample in family.samples):
            yield f"{name} has a time stamp"
    told = collections.Counter()
    for name in ("processes", "findings", "verdicts"):
        for sample in families[f"whichcudnn_{name}"].samples:
            labels = {key: counted(value) for key, value in sample.labels.items()}
            told[(name, *sorted(labels.items()))] += int(sample.value)
    for key in sorted(set(counts) | set(told)):
        if counts[key] != told[key]:
            yield f"{key}: {told[key]}, not {counts[key]}"
    newest = max(one["last_time"] for report in reports for one in report["sources"]) // 10 ** 6
    alone = {"build_info": 1, "newest_record_timestamp_seconds": newest, "logs_unreadable": 0}
    for name, value in alone.items():
        samples = families[f"whichcudnn_{name}"].samples
        if [sample.value for sample in samples] != [value]:
            yield f"{name}: {samples}, not {value}"


def main():
    form, document, text = sys.argv[1], sys.argv[2], sys.argv[3]
    document = json.loads(pathlib.Path(document).read_text(encoding="utf-8"))
    text = pathlib.Path(text).read_bytes().decode("utf-8")
    errors = list(obeyed(text))
    if form == "prometheus":
        errors += miscounted(document, text)
    elif form == "narrow":
        errors += too_wide(document, text)
    else:
        errors += lacking(document, text)
    if form == "markdown":
        errors += foreign(text)
    for error in errors[:20]:
        print(error)
    sys.exit(bool(errors))


if __name__ == "__main__":
    main()
