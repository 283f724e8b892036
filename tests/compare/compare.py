#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py print|write: what whichcudnn says beside the tools that people use, of JAX's plugin in twelve
broken environments: `make compare`. `write` puts the table between its marks in README.md.

A cell counts in how many of them the output names the guilty file, its release, the rule that chose it,
what the host requires, says that something is wrong (and does not say so of the healthy twin), and
prints a command that repairs: the first one printed is typed, then the plugin must get a release that it
accepts, all of it from the environment. A fault without a file has no release and no rule.
"""

import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.environ["WC_ROOT"]
sys.path.insert(0, os.path.join(ROOT, "tests", "setup"))
import wheels  # noqa: E402
import without_cuda  # noqa: E402

BUILT_WITH = 90800
LINE = "from jax_cuda12_plugin import _versions as v; v.cudnn_get_version()"
PROOF = (LINE + "; print(v.cudnn_get_version());"
         "[print(line.split()[-1]) for line in open('/proc/self/maps') if 'libcudnn' in line]")
COMMAND = re.compile(r"(?:^|\s{2,}|: )((?:\S+ -m )?(?:\S*/)?pip install .+|find .+|unset [A-Z_ ]+|export [A-Z_]+=.*)$", re.M)


class Fault:
    """The guilty file, which release it is (None: no file is there), and the variables of the program."""

    def __init__(self, file, release, variables=None):
        self.file, self.release, self.variables = file, release, variables or {}

    def told(self, text):
        """{fact: is it in the text, or None where there is no such fact}"""
        number = self.release and "%d%02d00" % tuple(map(int, self.release.split(".")[:2]))
        file = os.path.dirname(self.file) in text or os.path.realpath(self.file) in text
        return {
            "file": file,
            "release": self.release and (self.release in text or number in text),
            "rule": self.release and file and bool(re.search(r"(?i)rpath|runpath|LD_LIBRARY_PATH|LD_PRELOAD", text)),
            "required": bool(re.search(r">=9\.8\b|built with 9\.8", text)),
        }


def bash(script, *arguments):
    """Runs a line of bash that knows tests/setup/helper.bash and broken.bash; its output."""
    return subprocess.run(
        ["bash", "-euc", f'. "{ROOT}/tests/setup/helper.bash"; . "{ROOT}/tests/setup/broken.bash"; {script}',
         "bash", *arguments], check=True, text=True, stdout=subprocess.PIPE).stdout.strip()


def unfolded(text):
    """What "V = /directory" stands for in its place, and a command in one line."""
    for letter, directory in re.findall(r"^  ([VW]) = (/.*)$", text, re.M):
        text = re.sub(rf"(?<!\w){letter}(?=/)", lambda _, d=directory: d, text)
    text = re.sub(r"/[^\s:]*/\.\./[^\s:]*", lambda path: os.path.normpath(path[0]), text)
    return text.replace(" \\\n            ", " ")


class Place:
    """An environment that fits, what it takes to break it, and the tools."""

    def __init__(self, directory):
        self.venv = os.path.join(directory, "venv")
        self.wheels = os.path.join(directory, "wheels")
        self.logs = os.path.join(directory, "logs")
        bash('wheelhouse "$1" 9.1.0 nvidia-cudnn-cu12==9.8.0.87 nvidia-cudnn-cu13==9.12.0.46; jax_packages "$1"; '
             'jax_environment "$2" "$1" 9.8.0.87', self.wheels, self.venv)
        self.python = os.path.join(self.venv, "bin", "python")
        # What cuda-pathfinder loads before cuDNN; the real ones are 600 MB.
        bash('for name in libcublasLt.so.12 libcublas.so.12; do make_standin --empty "$name" "$1"; done',
             glob.glob(f"{self.venv}/lib/python3*/site-packages/nvidia")[0] + "/cublas/lib")
        # Beside the environment, by the same Python: what is judged stays as it is.
        self.beside = {"PYTHONPATH": os.path.join(directory, "tools")}
        bash('"$1" -m pip install -q --disable-pip-version-check --target "$2" nvidia-cudnn-frontend env-doctor '
             'cuda-doctor cuda-pathfinder onnxruntime-gpu psutil uv', self.python, self.beside["PYTHONPATH"])
        self.site = self.run([self.python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"])[1].strip()
        self.lib = os.path.join(self.site, "nvidia", "cudnn", "lib")
        self.old = bash('cp -a "$(fetch_cudnn 9.1.0 --print lib)/../../.." "$1"; echo "$1/nvidia/cudnn/lib"',
                        os.path.join(directory, "old"))  # a repair may write there
        self.alone = os.path.join(directory, "alone")
        self.saved = os.path.join(directory, "saved")
        self.copy(self.site, self.saved)
        _, address = wheels.resolve("torch==2.15.0")
        with wheels.open_wheel(address) as wheel:
            wheels.extract(wheel, wheel.getinfo("torch/utils/collect_env.py"), directory)
        self.collect_env = os.path.join(directory, "torch", "utils", "collect_env.py")

    def beside_it(self, program):
        return os.path.join(self.beside["PYTHONPATH"], "bin", program)

    def run(self, command, variables=None):
        environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": self.wheels,
                       "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONDONTWRITEBYTECODE": "1",
                       "WHICHCUDNN_LOG": self.logs, **(variables or {})}
        done = subprocess.run(command, env=environment, text=True, errors="replace", check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, unfolded(done.stdout)

    @staticmethod
    def copy(site, to):
        """cuDNN and what pip knows of it."""
        for path in [*glob.glob(f"{to}/nvidia/cudnn"), *glob.glob(f"{to}/nvidia_cudnn_cu12-*")]:
            shutil.rmtree(path)
        for path in [*glob.glob(f"{site}/nvidia/cudnn"), *glob.glob(f"{site}/nvidia_cudnn_cu12-*")]:
            shutil.copytree(path, os.path.join(to, os.path.relpath(path, site)))

    def restore(self):
        self.copy(self.saved, self.site)

    def healthy(self):
        return Fault(os.path.join(self.lib, "libcudnn.so.9"), "9.8.0")

    def pip(self, *arguments):
        self.run([self.python, "-m", "pip", "-q", *arguments])

    def part(self, name="libcudnn_graph.so.9"):
        return os.path.join(self.lib, name)

    def old_wheel(self):
        self.pip("install", "--no-deps", "nvidia-cudnn-cu12==9.1.0.70")
        return Fault(self.healthy().file, "9.1.0")

    def path_variable(self):
        return Fault(os.path.join(self.old, "libcudnn_graph.so.9"), "9.1.0", {"LD_LIBRARY_PATH": self.old})

    def preloaded(self):
        file = os.path.join(self.old, "libcudnn.so.9")
        return Fault(file, "9.1.0", {"LD_PRELOAD": file})

    def one_part_before(self):
        """Only a part of an old release is in front of the wheel's."""
        os.makedirs(self.alone, exist_ok=True)
        file = shutil.copy(os.path.join(self.old, "libcudnn_graph.so.9"), self.alone)
        return Fault(file, "9.1.0", {"LD_LIBRARY_PATH": self.alone})

    def copied_over(self):
        for name in ("libcudnn.so.9", "libcudnn_graph.so.9"):
            shutil.copy(os.path.join(self.old, name), self.part(name))
        return Fault(self.healthy().file, "9.1.0")

    def cut_part(self):
        os.truncate(self.part(), os.path.getsize(self.part()) // 2)
        return Fault(self.part(), "9.8.0")

    def other_machine(self):
        """A part for aarch64: e_machine, two bytes at 18, is EM_AARCH64, 183."""
        with open(self.part(), "r+b") as file:
            file.seek(18)
            file.write((183).to_bytes(2, "little"))
        return Fault(self.part(), "9.8.0")

    def part_gone(self):
        os.unlink(self.part())
        return Fault(self.part(), None)

    def facade_gone(self):
        os.unlink(self.healthy().file)
        return Fault(self.healthy().file, None)

    def link_to_nowhere(self):
        os.unlink(self.healthy().file)
        os.symlink("libcudnn.so.9.8.0", self.healthy().file)
        return Fault(self.healthy().file, None)

    def uninstalled(self):
        self.pip("uninstall", "-y", "nvidia-cudnn-cu12")
        return Fault(self.healthy().file, None)

    def taken_along(self):
        """The wheel for CUDA 13 has the same names: it came over these, and took them along when it went."""
        self.pip("install", "--no-deps", "nvidia-cudnn-cu13==9.12.0.46")
        self.pip("uninstall", "-y", "nvidia-cudnn-cu13")
        return Fault(self.healthy().file, None)

    def breaks(self):
        return (self.old_wheel, self.path_variable, self.preloaded, self.one_part_before, self.copied_over,
                self.cut_part, self.other_machine, self.part_gone, self.facade_gone, self.link_to_nowhere,
                self.uninstalled, self.taken_along)

    def tools(self):
        host = os.path.join(self.site, "jax_cuda12_plugin", "_versions.so")
        program = [self.python, "-c", LINE]
        return {
            "`whichcudnn run`": ([os.environ["WHICHCUDNN"], "run", "--", *program], {}),
            "`LD_DEBUG=libs`": (program, {"LD_DEBUG": "libs"}),
            "`libtree`": (["libtree", "-vvv", "-p", host], {}),
            "torch's collect_env": ([self.python, self.collect_env], {}),
            "cudnn-frontend's collect_env": ([self.python, "-m", "cudnn.collect_env"], self.beside),
            "`env-doctor check`": ([self.beside_it("env-doctor"), "check"], self.beside),
            "`env-doctor cudnn-info`": ([self.beside_it("env-doctor"), "cudnn-info"], self.beside),
            "`cuda-doctor diagnose`": ([self.beside_it("cuda-doctor"), "diagnose"], self.beside),
            "cuda-pathfinder": ([self.python, "-c", "from cuda import pathfinder; "
                                 "print(pathfinder.load_nvidia_dynamic_lib('cudnn'))"], self.beside),
            "onnxruntime's print_debug_info": ([self.python, "-c", "import onnxruntime; "
                                                "onnxruntime.print_debug_info()"], self.beside),
            "`pip check`": ([self.python, "-m", "pip", "check"], {}),
            "`uv pip check`": ([self.beside_it("uv"), "pip", "check", "--python", self.python], {}),
        }

    def repairs(self, text, variables):
        """Is the first command in it one that repairs?"""
        found = COMMAND.search(text)
        if not found:
            return False
        status, output = self.run(
            ["bash", "-c", f'{found[1]} >/dev/null 2>&1 || exit; exec "$0" -c "$1"', self.python, PROOF], variables)
        number, *files = output.split() or ["0"]
        return (status == 0 and number.isdigit() and int(number) >= BUILT_WITH
                and all(file.startswith(self.venv) for file in files))


def alarmed(status, text):
    return status != 0 or re.search(r"(?i)\b(error|warning|mismatch|incompatib\w+|conflict\w*|has requirement)\b", text)


def measure(place):
    """{tool: {fact: [is it told, for each fault that has it]}}, and how many lines each prints at most."""
    score, lines = {}, {}
    calm = {}
    for name, (command, variables) in place.tools().items():
        calm[name] = not alarmed(*place.run(command, variables))
    for breaks in place.breaks():
        for name, (command, variables) in place.tools().items():
            fault = breaks()
            status, text = place.run(command, {**fault.variables, **variables})
            told = fault.told(text)
            told["wrong"] = bool(calm[name] and alarmed(status, text))
            told["repair"] = place.repairs(text, fault.variables)
            if os.environ.get("COMPARE_SHOW"):
                print(f"--- {breaks.__name__}, {name}: {status} {told}\n{text[-1500:]}", file=sys.stderr)
            for fact, is_told in told.items():
                if is_told is not None:
                    score.setdefault(name, {}).setdefault(fact, []).append(bool(is_told))
            lines[name] = max(lines.get(name, 0), len(text.splitlines()))
            place.restore()
    return score, lines


HEADS = {"file": "the file", "release": "its release", "rule": "the rule", "required": "what is required",
         "wrong": "that it is wrong", "repair": "a repair that repairs"}


def table(score, lines):
    of = next(iter(score.values()))
    heads = [f"{head} (of {len(of[fact])})" for fact, head in HEADS.items()]
    yield "| tool | " + " | ".join(heads) + " | lines to read |"
    yield "|---" * (len(heads) + 2) + "|"
    for name, facts in score.items():
        yield f"| {name} | " + " | ".join(str(sum(facts[fact])) for fact in HEADS) + f" | {lines[name]} |"


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in ("print", "write"):
        sys.exit(__doc__)
    without_cuda.enter(pathlib.Path(os.environ["WC_BUILD"], "compare"))
    with tempfile.TemporaryDirectory(prefix="compare-") as directory:
        rows = "\n".join(table(*measure(Place(directory))))
    if sys.argv[1] == "print":
        print(rows)
        return
    path = os.path.join(ROOT, "README.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    new, times = re.subn(r"(?s)(<!-- compare: begin -->\n).*?(<!-- compare: end -->)",
                         lambda marks: f"{marks[1]}\n{rows}\n\n{marks[2]}", text)
    if times != 1:
        sys.exit("README.md has no place for the comparison")
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(new)
    os.replace(path + ".new", path)


if __name__ == "__main__":
    main()
