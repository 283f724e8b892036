# SPDX-License-Identifier: Apache-2.0
"""steps.py WORKFLOW_OR_ACTION [NAME=VALUE]...: plays its steps here, as GitHub's runner does on Linux.

Of an action NAME=VALUE are inputs. `OWNER/whichcudnn` is the action of this tree; actions/upload-artifact copies
into $ARTIFACTS, and any other action does nothing. A step has GITHUB_OUTPUT, GITHUB_PATH, GITHUB_STEP_SUMMARY (all
of them go to the file SUMMARY of the environment) and RUNNER_TEMP; what it sets holds for the steps after it.
Exit status: 1 if a step failed. What a step prints is printed, and ahead of it `##[group]NAME`."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(os.environ["WC_ROOT"])
SHELLS = {"bash": ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail"], None: ["bash", "-e"]}
WORD = re.compile(r"'(?:[^']|'')*'|always\(\)|[a-z_][\w.-]*|==|!=|&&|\|\||!")


class Runner:
    def __init__(self, temporary):
        self.temporary = temporary
        self.failed = False
        self.path = []

    def evaluated(self, expression, scope):
        """The little of the language of expressions that is used here."""
        def word(found):
            text = found[0]
            if text == "always()":
                return "True"
            if text[0] == "'":
                return repr(text[1:-1].replace("''", "'"))
            if text in ("&&", "||", "!"):
                return {"&&": " and ", "||": " or ", "!": " not "}[text]
            return text if text in ("==", "!=") else repr(scope.get(text, ""))
        return eval(WORD.sub(word, expression), {"__builtins__": {}})  # only strings and operators are left

    def filled(self, text, scope):
        return re.sub(r"\$\{\{(.*?)\}\}", lambda found: str(self.evaluated(found[1], scope)), str(text))

    def command(self, step, scope, environment):
        files = {name: self.temporary / f"{name}-{len(os.listdir(self.temporary))}"
                 for name in ("GITHUB_OUTPUT", "GITHUB_PATH")}
        for file in files.values():
            file.touch()
        script = self.temporary / f"script-{len(os.listdir(self.temporary))}"
        script.write_text(self.filled(step["run"], scope))
        done = subprocess.run([*SHELLS[step.get("shell")], script], check=False, env={
            **environment, **{name: self.filled(value, scope) for name, value in step.get("env", {}).items()},
            **files, "PATH": ":".join([*self.path, environment["PATH"]]), "RUNNER_TEMP": self.temporary,
            "GITHUB_STEP_SUMMARY": os.environ["SUMMARY"], "GITHUB_SERVER_URL": os.environ.get("SERVER", "")})
        self.path[:0] = files["GITHUB_PATH"].read_text().split()
        for line in files["GITHUB_OUTPUT"].read_text().splitlines():
            name, _, value = line.partition("=")
            scope[f"steps.{step.get('id')}.outputs.{name}"] = value
        return done.returncode == 0

    def other(self, step, scope):
        """Another action."""
        given = {name: self.filled(value, scope) for name, value in step.get("with", {}).items()}
        name = step["uses"].split("@")[0]
        if name.endswith("/whichcudnn"):
            return self.play(ROOT / "action.yml", given)
        if name == "actions/upload-artifact":
            shutil.copytree(given["path"], pathlib.Path(os.environ["ARTIFACTS"]) / given["name"])
        return True

    def play(self, file, given=None):
        document = yaml.safe_load(file.read_text())
        steps = document["runs"]["steps"] if "runs" in document else document["jobs"]["test"]["steps"]
        unknown = set(given or {}) - set(document.get("inputs", {}))
        assert not unknown, f"no inputs of the action: {unknown}"
        scope = {f"inputs.{name}": (given or {}).get(name, row.get("default", ""))
                 for name, row in document.get("inputs", {}).items()}
        scope["github.action_repository"] = "OWNER/whichcudnn"
        environment = {**os.environ, "GITHUB_ACTION_PATH": str(file.parent)}
        well = True
        for step in steps:
            condition = str(step.get("if", ""))
            if not well and "always()" not in condition or condition and not self.evaluated(condition, scope):
                continue
            print(f"##[group]{step.get('name', step.get('uses'))}", flush=True)
            well = (self.command(step, scope, environment) if "run" in step else self.other(step, scope)) and well
        for name, row in document.get("outputs", {}).items():
            print(f"##[output]{name}={self.filled(row['value'], scope)}")
        return well


with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as directory:
    played = Runner(pathlib.Path(directory)).play(pathlib.Path(sys.argv[1]), dict(word.split("=", 1) for word in sys.argv[2:]))
sys.exit(not played)
