# SPDX-License-Identifier: Apache-2.0
"""Reads the cases: groups/*.toml. Whatever is not known is an error, so that no typing slip lets a
case or an exception rest."""

import dataclasses
import fnmatch
import pathlib
import re
import signal
import tomllib


class CaseError(Exception):
    pass


# What a row may be made of or a target may offer, as `needs` words (see rows.features).
NEEDS = {"stub", "real", "threads", "cxx", "glibc", "x86_64", "aarch64", "proc", "dlmopen"}
OBSERVED = {"", "calls", "objects", "nothing"}
KEYS = {"name", "run", "status", "stdout", "stdout_re", "stdout_sorted", "stderr", "stderr_re", "env",
        "needs", "except", "observed", "deterministic", "writes", "small", "limit"}


@dataclasses.dataclass
class Case:
    """One case; the keys are those of the file (tests/README.md, "neutrality")."""
    group: str
    name: str
    run: list
    status: object = 0
    stdout: str = ""
    stdout_re: str = ""
    stdout_sorted: bool = False
    stderr: str = ""
    stderr_re: str = ""
    env: dict = dataclasses.field(default_factory=dict)
    needs: list = dataclasses.field(default_factory=list)
    excepted: dict = dataclasses.field(default_factory=dict)
    observed: str = ""
    deterministic: bool = True
    writes: bool = False
    small: bool = True  # part of --part small
    limit: int = 60  # seconds

    @property
    def returncode(self):
        """As subprocess tells it: below 0 where a signal ends the process."""
        if isinstance(self.status, str):
            return -getattr(signal, self.status)
        return self.status


def check(case, words):
    where = f"{case.group}: {case.name!r}"
    if not case.name or not isinstance(case.run, list) or not case.run:
        raise CaseError(f"{where}: needs a name and what to run")
    if "#" in case.name or case.name != case.name.strip():
        raise CaseError(f"{where}: a name that TAP would not keep")
    if isinstance(case.status, str) and not hasattr(signal, case.status):
        raise CaseError(f"{where}: no signal is called {case.status}")
    if case.stdout and case.stdout_re:
        raise CaseError(f"{where}: stdout and stdout_re")
    for pattern in (case.stdout_re, case.stderr_re):
        re.compile(pattern)
    for need in case.needs:
        name, _, version = need.partition(">=")
        if name not in NEEDS or bool(version) != (name == "glibc"):
            raise CaseError(f"{where}: needs something unknown: {need}")
    for word, reason in case.excepted.items():
        if word not in words:
            raise CaseError(f"{where}: excepted for something unknown: {word}")
        if not isinstance(reason, str) or len(reason) < 8:
            raise CaseError(f"{where}: excepted for {word} without a reason")
    if case.observed not in OBSERVED:
        raise CaseError(f"{where}: observed = {case.observed}")


def read_group(path, words):
    with open(path, "rb") as file:
        try:
            data = tomllib.load(file)
        except tomllib.TOMLDecodeError as error:
            raise CaseError(f"{path.name}: {error}") from error
    if set(data) - {"case"}:
        raise CaseError(f"{path.name}: unknown: {set(data) - {'case'}}")
    cases = []
    for entry in data.get("case", []):
        if set(entry) - KEYS:
            raise CaseError(f"{path.name}: {entry.get('name')!r}: unknown: {set(entry) - KEYS}")
        entry["excepted"] = entry.pop("except", {})
        case = Case(group=path.stem, **entry)
        check(case, words)
        cases.append(case)
    return cases


def read(folder, words, glob="*"):
    """All cases whose name (or "group/name") fits. words: what an exception may name."""
    cases = []
    for path in sorted(pathlib.Path(folder).glob("*.toml")):
        cases += read_group(path, words)
    names = [case.name for case in cases]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise CaseError(f"twice: {sorted(twice)}")
    return [case for case in cases if fnmatch.fnmatch(case.name, glob) or
            fnmatch.fnmatch(f"{case.group}/{case.name}", glob)]
