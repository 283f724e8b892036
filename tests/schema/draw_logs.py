#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""draw_logs.py DIRECTORY N [SEED]: N logs of processes that could have been, drawn; prints the seed.

Every kind of record and every field is drawn, wrong combinations among them: what renders a report
must not depend on what the shim would write. Some texts are such as people choose who mean harm.
"""

import json
import pathlib
import random
import sys

import complete
import record_def

USERS = ["alice.smith", "bobby_tables", "carol-ann"]
NODES = ["gpu-node-7.cluster.example", "gpu-node-70.cluster.example", "wn0815"]
HARMFUL = [
    "<script>alert(1)</script>", "</summary></details><img src=x onerror=alert(1)>", "a\nb\r\nc\td",
    "\x1b[31mred\x1b[0m\x07", "\u009b31m", "\u202egnp.so", "`rm -rf`", "``` ```` `", "a|b\\|c||",
    "*bold* _it_ [x](http://e.example/) @someone #1", "&lt;&amp;", "'\"$(id)`id`", "x" * 4000,
    "/" + "deep/" * 600 + "libcudnn.so.9", "\ufffd\ufffd", "\u00e9\u4e2d\U0001f600", "\\", "%s%n", " ",
    "-->", "]]>", "{{x}}", "\x7f", "javascript:alert(1)",
]
LIBRARIES = ["libcudnn.so.9", "libcudnn.so.8", "libcudnn_graph.so.9", "libcudnn_ops.so.9",
             "libcublasLt.so.12", "libcudart.so.12", "libtorch_cuda.so", "_versions.so"]


class Draw:
    """One log."""

    def __init__(self, dice, user, node):
        self.dice, self.user, self.node = dice, user, node
        self.enums = record_def.enums()
        self.place = dice.choice([f"/home/{user}/venv", "/opt/venv", f"/Users/{user}/x",
                                  f"/scratch/{user}", "/usr/local/cuda-12.4"])

    def version(self):
        return ".".join(str(self.dice.randint(0, 99)) for _ in range(self.dice.randint(2, 4)))

    def path(self):
        middle = self.dice.choice(["lib", "lib/python3.11/site-packages/nvidia/cudnn/lib", "lib64",
                                   self.dice.choice(HARMFUL).replace("\0", "")])
        return f"{self.place}/{middle}/{self.dice.choice(LIBRARIES)}"

    def text(self, name):
        if name == "node":
            return self.node
        if self.dice.random() < 0.08:
            return self.dice.choice(HARMFUL)
        if "version" in name:
            return self.version()
        if "path" in name or name in ("caller", "asked_by", "of", "takes", "executable", "directory"):
            return self.path()
        return self.dice.choice([
            self.dice.choice(LIBRARIES), f"nvidia-cudnn-cu{self.dice.randint(11, 13)}", self.version(),
            f"{self.path()}: cannot open shared object file", f"on {self.node}: {self.user} did it",
            f"word{self.dice.randint(0, 10 ** 6)}"])

    def value(self, field):
        kind, name = field["type"], field["name"]
        if kind == "BOOL":
            return self.dice.random() < 0.5
        if kind == "STRS":
            return [self.text(name) for _ in range(self.dice.randint(0, 4))]
        if kind == "FACTS":
            keys = ("name", "value", "source")
            return [{key: self.text(key) for key in keys} for _ in range(self.dice.randint(0, 3))]
        if self.dice.random() < 0.2:
            return None
        if kind == "ENUM":
            return self.dice.choice(self.enums[field["enum"]][1:] + [None])
        if kind == "INT":
            small = name in ("object", "host", "target", "search", "request", "caller_object",
                             "asked_by_object")
            return self.dice.randint(1, 12) if small else self.dice.randint(-5, 10 ** 12)
        return self.text(name)

    def record(self, kind):
        fields = record_def.kinds()[kind]["fields"]
        return {"kind": kind, **{field["name"]: self.value(field) for field in fields}}

    def records(self):
        kinds = [k for k in record_def.kinds() if k not in ("process", "machine", "summary", "outcome")]
        process = self.record("process")
        process |= {"node": self.node, "directory": f"/home/{self.user}/work"}
        drawn = [self.record(self.dice.choice(kinds)) for _ in range(self.dice.randint(0, 40))]
        ends = [self.record(kind) for kind in ("summary", "outcome") if self.dice.random() < 0.5]
        return [process, self.record("machine"), *drawn, *ends]


def draw_log(dice, number):
    draw = Draw(dice, dice.choice(USERS), dice.choice(NODES))
    draw.process = 4000 + number
    for seq, record in enumerate(draw.records(), 1):
        whole = complete.complete(record, seq)
        whole |= {"pid": draw.process, "tid": draw.process + dice.randint(0, 2),
                  "time": whole["time"] + dice.randint(0, 5000)}
        yield json.dumps(whole, separators=(",", ":"), ensure_ascii=dice.random() < 0.2)


def main():
    directory = pathlib.Path(sys.argv[1])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(10 ** 9)
    print(f"seed {seed}")
    dice = random.Random(seed)
    directory.mkdir(parents=True, exist_ok=True)
    for number in range(int(sys.argv[2])):
        text = "\n".join(draw_log(dice, number)) + "\n"
        (directory / f"whichcudnn-n-{number}-1.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
