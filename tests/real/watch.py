# SPDX-License-Identifier: Apache-2.0
"""What the tests on real files share: a program run bare and watched, its log, and the facts that
other means tell about the same files (readelf, stat, /proc/PID/maps), to hold the log against.
"""

import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = os.environ.get("WC_BUILD", str(ROOT / "build"))
SHIM, COMMAND = f"{BUILD}/libwhichcudnn.so", f"{BUILD}/whichcudnn"
LIBRARY = re.compile(r"libcudnn(_\w+)?\.so[.\d]*$")

sys.path.insert(0, str(ROOT / "tests" / "schema"))
import validate  # noqa: E402
import whole  # noqa: E402

# What the library itself looks for; all else is judged by the command.
LIVE = set(re.findall(r'^LIVE\(\w+, "([a-z-]+)"', (ROOT / "core/demand/findings.def").read_text(), re.M))

SCHEMA = validate.validator("log")
REPORT_SCHEMA = validate.validator("report")


class Checks:
    """Gathers what does not hold, each with the case that it belongs to."""

    def __init__(self):
        self.case, self.failures, self.made = "", [], 0

    def that(self, holds, what):
        self.made += 1
        if not holds:
            self.failures.append(f"{self.case}: {what}")
        return holds

    def equal(self, what, got, expected):
        return self.that(got == expected, f"{what}: got {got!r}, expected {expected!r}")

    def finish(self):
        """Prints all and ends the program; a run that checked nothing has failed."""
        for failure in self.failures:
            print(f"FAILED {failure}")
        print(f"{self.made} checks, {len(self.failures)} failed")
        sys.exit(bool(self.failures) or not self.made)


# ---- running -------------------------------------------------------------------------------------


def clean_environment(**more):
    """Ours without a person's own settings, as in tests/setup/helper.bash."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("WHICHCUDNN_", "LD_", "CUDNN_LOG", "CONDA_", "PYTHON"))
            and name not in ("CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "VIRTUAL_ENV",
                             "GLIBC_TUNABLES", "NO_COLOR")}
    return {**kept, "LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1", **more}


class Run:
    """A finished program: status (negative: the signal), out, err; watched ones have a log."""

    def __init__(self, command, logs=None, **environment):
        if logs:
            os.makedirs(logs)
            environment.update(LD_PRELOAD=SHIM, WHICHCUDNN_LOG=logs, WHICHCUDNN_STDERR="off")
        done = subprocess.run(command, env=clean_environment(**environment), capture_output=True,
                              text=True, timeout=600, errors="replace", stdin=subprocess.DEVNULL)
        self.status, self.out, self.err, self.logs = done.returncode, done.stdout, done.stderr, logs

    def log(self):
        """The log of the one process that left one."""
        found = sorted(pathlib.Path(self.logs).glob("*.jsonl"))
        if len(found) != 1:
            raise AssertionError(f"{len(found)} logs: {found}")
        return Log(found[0])

    def said(self):
        """Standard output up to the host's maps, which no two processes have in common."""
        return self.out.partition("maps\n")[0]

    def mapped(self):
        """Files that the host's own /proc/self/maps named, without the preload."""
        maps = self.out.partition("maps\n")[2]
        return {line.split(None, 5)[5] for line in maps.splitlines()
                if line.count("/")} - {os.path.realpath(SHIM)}


def run_both(command, **environment):
    """(bare, watched) of one command."""
    logs = tempfile.mkdtemp(prefix="logs-", dir=os.environ.get("BATS_TEST_TMPDIR"))
    return Run(command, **environment), Run(command, f"{logs}/logs", **environment)


def valid(document, what):
    error = validate.jsonschema.exceptions.best_match(REPORT_SCHEMA.iter_errors(document))
    if error:
        raise AssertionError(f"{what}: {error.message}")
    return document


def report(logs):
    """(exit status, document) of `whichcudnn report --json`."""
    done = subprocess.run([COMMAND, "report", "--json", logs], env=clean_environment(),
                          capture_output=True, text=True)
    return done.returncode, valid(json.loads(done.stdout), "report --json")


def grave(findings):
    """Ids of the errors and warnings; notes are no complaint."""
    return [f["id"] for f in findings if f["severity"] != "note"]


def driver_is_there():
    return os.path.exists("/proc/driver/nvidia/version")


# ---- logs ----------------------------------------------------------------------------------------


class Log:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.errors = validate.log_errors(SCHEMA, self.path)
        self.records = whole.records(self.path.read_text())

    def of(self, kind, **wanted):
        return [r for r in self.records if r["kind"] == kind
                and all(r[key] == value for key, value in wanted.items())]

    def objects(self, role):
        """Each object of that role, as it was told last."""
        last = {r["object"]: r for r in self.of("object")}
        return [r for r in last.values() if r["role"] == role]


# ---- facts from elsewhere ------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, path], capture_output=True, text=True,
                          check=True).stdout


def dynamic(tag, path):
    return re.findall(rf"\({tag}\) .*\[(.*)\]", readelf("-d", path))


EVERYWHERE = re.compile(r"lib(c|m|dl|rt|pthread|util|stdc\+\+|gcc_s)\.so|ld-linux")


def needed(path):
    """Its DT_NEEDED, without what every system has."""
    return [name for name in dynamic("NEEDED", path) if not EVERYWHERE.match(name)]


def search_path(path):
    """[(tag, value)] of its DT_RUNPATH or DT_RPATH."""
    return [(tag, value) for tag in ("RUNPATH", "RPATH") for value in dynamic(tag, path)]


def build_id(path):
    found = re.search(r"Build ID: ([0-9a-f]+)", readelf("-n", path))
    return found.group(1) if found else None


@functools.lru_cache(maxsize=None)
def symbols(path):
    """(defined, undefined) global names of the dynamic table, without versions: name -> type."""
    defined, undefined = {}, {}
    for line in readelf("--dyn-syms", path).splitlines():
        words = line.split()
        if len(words) >= 8 and words[4] in ("GLOBAL", "WEAK"):
            (undefined if words[6] == "UND" else defined)[words[7].split("@")[0]] = words[3]
    return defined, undefined


def functions(path):
    return {name for name, kind in symbols(path)[0].items()
            if kind == "FUNC" and name.startswith("cudnn")}


def imports(path):
    return {name for name in symbols(path)[1] if name.startswith("cudnn")}


def has_version_symbol(path):
    return any(re.fullmatch(r"cudnn_\w+_version", name) for name in symbols(path)[0])


def from_number(number):
    """(major, minor, patch) of what cudnnGetVersion returns: 8907, 90100."""
    weight = 1000 if number < 10000 else 10000
    return number // weight, number % weight // 100, number % 100


def fields(text):
    """(9, 1, 0, 70) of "9.1.0.70"."""
    return tuple(int(field) for field in text.split("."))
