# SPDX-License-Identifier: Apache-2.0
"""What a scan says of a world, from the variables with which its process started."""
import json
import os
import re

COMMAND = "/opt/whichcudnn/whichcudnn"
PREFIXES = ("VIRTUAL_ENV", "CONDA_PREFIX")


def is_interpreter(path):
    return re.match(r"python[\d.]*$|_ctypes|_cffi", os.path.basename(path))


def what(w, reports):
    """Its environment, and each program and host that lies outside of it."""
    paths = [w.env[name] for name in PREFIXES if name in w.env][:1]
    named = []
    for r in reports:
        stack = r["stack"]
        named += [(stack["process"] or {}).get("executable")]
        named += [o["path"] for o in stack["objects"] or [] if o["role"] == "host"]
        named += [f[key] for f in stack["failures"] or [] for key in ("caller", "name")]
    for path in named:
        inside = path and any(path.startswith(f"{p}/") or path == p for p in paths)
        if path and path.startswith("/") and not inside and not is_interpreter(path) and \
                "libcudnn" not in path and w.exists(path) and not w.at(path).is_dir():
            paths.append(path)
    return paths or [w.cwd]


def scan(w, reports):
    first = next((r for r in reports if r["stack"]["process"]), None)
    variables = first["stack"]["process"]["environment"] if first else []
    w.write("/tmp/environment", "".join(f"{v}\0" for v in variables or ["NONE="]))
    _, out, err = w.play([COMMAND, "scan", "--json", "--env", "/tmp/environment", *what(w, reports)],
                         {"PATH": w.env["PATH"]}, seconds=60)
    scans = json.loads(out)
    return [r for s in (scans if isinstance(scans, list) else [scans]) for r in s["reports"]]
