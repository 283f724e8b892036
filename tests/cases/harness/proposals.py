# SPDX-License-Identifier: Apache-2.0
"""What `whichcudnn fix --check` says of the commands that proposals.tsv has for a case."""

import functools
import json
import pathlib
import subprocess

from .releases import watch

TABLE = pathlib.Path(__file__).resolve().parents[1] / "proposals.tsv"


@functools.cache
def table():
    """[(case, or the part of its name before the first "-"; right or wrong; command)]"""
    lines = TABLE.read_text().splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def words(world, first):
    """What stands for {word} in a command."""
    fix = first["fix"][world.road]
    edit = fix["edits"][0] if fix["edits"] else {"name": None, "value": None}
    imports = [e["name"] for other in first["fix"] for e in other["edits"] if e["edit"] == "import-first"]
    host = world.hosts[0].library
    maps = pathlib.Path(world.maps or host)
    return {"fix": fix["command"], "module": imports[0] if imports else None, "name": edit["name"], "variable": edit["name"],
            "assignment": f"{edit['name']}={edit['value']}", "python": world.venv / "bin/python",
            "program": world.program, "maps": maps, "lib": maps.parent, "host": host,
            "hostdir": host.parent}


def checked(watched, command):
    done = subprocess.run(watched.world.where([watch.COMMAND, "fix", "--json", "--check", command,
                                               watched.logs]),
                          env=watch.clean_environment(), capture_output=True, text=True)
    document = json.loads(done.stdout)
    assert done.returncode == {"repairs": 0, "nothing": 1, "unknown": 4,
                               "breaks": 5}[document["checked"]["verdict"]], done
    return document["checked"]


def wrong_answers(name, watched, first):
    """What is accepted and wrong, or right and not accepted."""
    for case, truth, template in table():
        if case not in (name, name.partition("-")[0]):
            continue
        command = template.replace("$LD", "\0").format(**words(watched.world, first)).replace("\0", "$LD")
        answer = checked(watched, command)
        if (answer["verdict"] == "repairs") != (truth == "right"):
            yield f"{truth}: {command}: {answer}"
