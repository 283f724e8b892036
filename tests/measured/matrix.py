#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""matrix.py check|write [--table FILE] [ROW...]: real frameworks, each healthy and broken in five ways.

Each cell is one environment, played once: `whichcudnn run` of the program, `inspect` while it is held at its
end, `scan` of its directory. The first finding must be the one that matrix.toml names, in a healthy cell
none; run, inspect and scan must agree on files, versions and packages (tests/cases/agreement.py). `write`
puts what was told into tests/measured/frameworks.md; `check` holds the page against it.
"""

import argparse
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tomllib
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent / folder) for folder in ("real", "cases", "setup")]
import agreement  # noqa: E402
import environments  # noqa: E402
import watch  # noqa: E402
import without_cuda  # noqa: E402

PAGE = watch.ROOT / "tests/measured/frameworks.md"
MARKS = re.compile(r"(<!-- matrix: begin -->\n).*?(<!-- matrix: end -->)", re.DOTALL)
HEAD = """
| framework | healthy | another release | `LD_LIBRARY_PATH` | a part missing | a part of another | no cuDNN | on a GPU |
|---|---|---|---|---|---|---|---|
"""
WORK = pathlib.Path(watch.BUILD) / "matrix"
# Held at its end, with all that it has mapped, until it may read a byte.
HELD = """
import os
try:
    exec({line!r})
finally:
    print("\\nheld", os.getpid(), flush=True)
    os.read(0, 1)
"""
# A process has the parts that it asked for so far, a scan all that are there: the same fault.
SAME = {"parts-differ": "facade-and-parts-differ"}


# ---- one cell ------------------------------------------------------------------------------------


def whichcudnn(*words, **variables):
    done = subprocess.run([watch.COMMAND, *map(str, words)], env=watch.clean_environment(**variables),
                          text=True, capture_output=True, check=False)
    if done.returncode == 2 or not done.stdout:
        raise AssertionError(f"{words}: {done.stderr}")
    return json.loads(done.stdout)


def first(findings, verdict):
    """The first error, else the first warning, else ok: that there is no driver is no fault of the environment."""
    told = [(f["severity"], f["id"]) for f in findings
            if f["severity"] != "note" and (f["id"] != "driver-missing" or watch.driver_is_there())]
    told.sort(key=lambda one: one[0] != "error")
    silent = "ok" if verdict in ("ok", "notes", "warnings", "errors") else verdict
    return told[0][1] if told else silent


class Cell:
    """The program in that environment: what it did, what run, inspect and scan said."""

    def __init__(self, place, variables):
        self.out, self.held = "", []
        self.logs = logs = place.directory / "logs"
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir()
        program = place.directory / "program.py"
        program.write_text(HELD.format(line=place.row["line"]), encoding="utf-8")
        self.status = self.run([watch.COMMAND, "run", "--log", logs, "--", place.venv / "bin/python",
                                *place.row.get("launcher", []), program], place, variables)
        self.scanned = whichcudnn("scan", "--json", place.venv, **variables)

    def run(self, command, place, variables):
        environment = watch.clean_environment(**variables)
        del environment["PYTHONDONTWRITEBYTECODE"]
        with open(place.directory / "stderr", "w+", encoding="utf-8", errors="replace") as err:
            with subprocess.Popen([*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err,
                                  text=True, errors="replace", env=environment) as process:
                for line in process.stdout:
                    self.out += line
                    if line.startswith("held "):
                        self.held += self.seen(int(line.split()[1]))
                        process.stdin.write("\n")
                        process.stdin.flush()
            err.seek(0)
            self.err = err.read()
        return process.returncode

    def seen(self, pid):
        """[(number, what its log says by now, what inspect says)] of a process: at its end it closes libraries.
        None where torchrun has ended it for what another one did."""
        documents = whichcudnn("report", "--json", self.logs) if any(self.logs.iterdir()) else []
        documents = documents if isinstance(documents, list) else [documents]
        report = next((d for d in documents if any(s["pid"] == pid for s in d["sources"])), None)
        try:
            return [(pid, report, whichcudnn("inspect", "--json", pid))]
        except AssertionError:
            if pathlib.Path(f"/proc/{pid}").exists():
                raise
            return []

    def ends(self):
        if self.status > 128:
            return signal.Signals(self.status - 128).name
        return str(self.status) if self.status else ""

    def told_by_run(self):
        """What the answer at its end begins with, behind which cuDNN it was."""
        answer = re.split(r"^whichcudnn: (?:no )?cuDNN ", self.err, maxsplit=1, flags=re.M)[-1]
        told = re.findall(r"^(?:whichcudnn: )?(error|warning)\[([\w-]+)", answer, re.M)
        silent = re.search(r"^(?:whichcudnn: )?(unexplained|not observed)\b", self.err, re.M)
        return first([{"severity": s, "id": i} for s, i in told], silent[1] if silent else "ok")

    def told_by_scan(self):
        findings = [f for report in self.scanned["reports"] for f in report["findings"]]
        verdicts = {report["verdict"] for report in self.scanned["reports"]} or {"not-observed"}
        return first(findings, "ok" if "ok" in verdicts else min(verdicts))

    def differences(self, foretold):
        """Between run, inspect and scan; foretold: what a scan alone can know."""
        told, told_by_scan = self.told_by_run(), self.told_by_scan()
        expected = foretold or told
        if SAME.get(told_by_scan, told_by_scan) != SAME.get(expected, expected):
            yield f"scan says {told_by_scan}, run {told}"
        for pid, report, inspected in self.held:
            yield from self.from_report(report, inspected, told) if report else [f"no log of {pid}"]

    def from_report(self, report, inspected, told):
        yield from agreement.different(report, inspected)
        for difference in agreement.different_from_scan(report, self.scanned):
            if not self.status or not difference.endswith("which was not loaded"):  # it ended before
                yield difference
        told_by_inspect = first(inspected["findings"], inspected["verdict"])
        if told_by_inspect != told and not report["stack"]["failures"]:  # which only a log has
            yield f"inspect says {told_by_inspect}, run {told}"


# ---- one row -------------------------------------------------------------------------------------


class Row:
    """One framework: its line in the table, and what is wrong with what was told."""

    def __init__(self, row):
        self.row, self.cells, self.wrong = row, [row["name"]], []

    def play(self, place, way):
        """The cell's words."""
        expected, _, foretold = {"healthy": "ok", **self.row["expect"]}[way].partition(", scan ")
        cell = Cell(place, {**place.variables(), **environments.WAYS[way](place)})
        told = cell.told_by_run()
        wrong = [f"first is {told}, expected {expected}"] if told != expected else []
        wrong += cell.differences(foretold)
        if way == "healthy":
            wrong += [f"it said {cell.out!r}"] if not re.search(self.row["says"], cell.out) else []
            wrong += [f"it ended with {cell.ends()}"] if cell.status else []
        if wrong:
            print(cell.out, cell.err, sep="\n")
        self.wrong += [f"{self.row['name']}, {way}: {what}" for what in wrong]
        ends = f" ({cell.ends()})" if cell.status else ""
        return (told if told == "ok" else f"`{told}`") + ends + (f", scan `{foretold}`" if foretold else "")

    def play_all(self):
        if "cannot" in self.row:
            self.cells += [self.row["cannot"], *["-"] * (len(environments.WAYS) - 1), "not run"]
            return
        directory = WORK / re.sub(r"\W+", "-", self.row["name"])
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        try:
            place = environments.Environment(self.row, directory)
            for way in environments.WAYS:
                self.cells.append(self.play(place, way))
                print(f"{self.row['name']}, {way}: {self.cells[-1]}", flush=True)
                place.saved() if way == "healthy" else place.restored()
        except Exception:  # pylint: disable=broad-except  # the other rows go on
            self.wrong.append(f"{self.row['name']}: {traceback.format_exc()}")
        finally:
            shutil.rmtree(directory, ignore_errors=True)
            environments.trim()
        self.cells.append("not run")

    def line(self):
        return "| " + " | ".join(self.cells) + " |"


def on_page(rows, played):
    """The page with the lines of what was played in their places; the others stay."""
    text = PAGE.read_text(encoding="utf-8")
    lines = {line.split(" | ")[0][2:]: line for line in MARKS.search(text)[0].splitlines() if line.startswith("| ")}
    lines.update({row.row["name"]: row.line() for row in played})
    table = HEAD + "\n".join(lines[row["name"]] for row in rows if row["name"] in lines) + "\n\n"
    return text, MARKS.sub(lambda marks: marks[1] + table + marks[2], text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["check", "write"])
    parser.add_argument("--table", type=pathlib.Path, default=HERE / "matrix.toml")
    parser.add_argument("row", nargs="*")
    options = parser.parse_intermixed_args()
    rows = tomllib.loads(options.table.read_text(encoding="utf-8"))["row"]
    without_cuda.enter(WORK / "alone")
    played = [Row(row) for row in rows if not options.row or row["name"] in options.row]
    for row in played:
        row.play_all()
    wrong = [what for row in played for what in row.wrong]
    text, new = on_page(rows, [row for row in played if not row.wrong])
    if options.mode == "write":
        PAGE.write_text(new, encoding="utf-8")
    elif text != new:
        wrong.append(f"{PAGE} is out of step: make frameworks")
    print(*(f"FAILED {what}" for what in wrong), sep="\n")
    print(f"{len(played)} rows, {len(wrong)} failed")
    sys.exit(bool(wrong) or not played)


if __name__ == "__main__":
    main()
