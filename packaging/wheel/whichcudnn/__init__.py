# SPDX-License-Identifier: Apache-2.0
"""Which cuDNN did a process really get?

The command `whichcudnn` comes with this package; `python -m whichcudnn` runs it. For programs that start
others there is the environment that watches them:

    subprocess.run(command, env={**os.environ, **whichcudnn.env()})
    ray.init(runtime_env={"env_vars": whichcudnn.env(log="/shared/logs/")})

And for a notebook, where nothing can be preloaded any more, what this very process has:

    whichcudnn.inspect()["verdict"]
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["NotAvailable", "command", "env", "inspect", "library"]

_HERE = Path(__file__).resolve().parent
_PR_SET_PTRACER = 0x59616D61  # linux/prctl.h


class NotAvailable(RuntimeError):
    """The library, or the command, is not there or could not do its work; the text says why."""


def library() -> str:
    """The absolute path of libwhichcudnn.so, for LD_PRELOAD."""
    path = _HERE / "libwhichcudnn.so"
    if not path.is_file():
        raise NotAvailable(f"{path} is not there: install whichcudnn again")
    if any(c in str(path) for c in " :\t\n"):
        raise NotAvailable(f"{path} cannot be preloaded: LD_PRELOAD splits at spaces and colons")
    return str(path)


def command() -> str:
    """The absolute path of the program `whichcudnn` that came with this package."""
    beside = [
        _HERE.parent / "bin",  # pip install --target
        *[parent / "bin" for parent in list(_HERE.parents)[3:4]],  # PREFIX/lib/python3.N/site-packages/whichcudnn
        Path(sysconfig.get_path("scripts")),
    ]
    for directory in beside:
        path = directory / "whichcudnn"
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    found = shutil.which("whichcudnn")
    if not found:
        raise NotAvailable("the program whichcudnn is neither beside this Python nor in PATH: install it again")
    return os.path.abspath(found)


def env(base: Mapping[str, str] | None = None, *, log: str | os.PathLike[str] | None = None) -> dict[str, str]:
    """The variables by which a process that is started with them is watched.

    base: the environment that they will be added to; default: this process's. What its LD_PRELOAD holds
    stays, in front, as `whichcudnn run` has it: a sanitizer must come first. Where the library is in there
    already, it is not added again.
    log: WHICHCUDNN_LOG, too: a directory, or a file name with %p (pid), %n (node), %r (rank).
    """
    before = (os.environ if base is None else base).get("LD_PRELOAD", "")
    ours = library()
    names = [os.path.basename(one) for one in before.replace(" ", ":").split(":")]
    if os.path.basename(ours) in names:
        preload = before
    else:
        preload = f"{before}:{ours}" if before else ours
    found = {"LD_PRELOAD": preload}
    if log is not None:
        place = os.fspath(log)
        found["WHICHCUDNN_LOG"] = os.path.abspath(place) + ("/" if place.endswith("/") else "")
    return found


def _is_read_by_parents_alone() -> bool:
    try:
        return Path("/proc/sys/kernel/yama/ptrace_scope").read_text() == "1\n"
    except OSError:
        return False


def _let_children_read(on: bool) -> None:
    """Where Yama lets a process be read by its parents alone: whether a child may, too."""
    try:
        import ctypes

        anyone = ctypes.c_ulong(-1 if on else 0)
        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, anyone, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


def inspect(pid: int | None = None) -> dict[str, Any]:
    """What `whichcudnn inspect --json` says of a process; default: this one.

    The keys are those of docs/report.schema.json. Nothing in the process is changed, with one exception: where
    /proc/sys/kernel/yama/ptrace_scope is 1, this process lets others of its user read it (PR_SET_PTRACER) until
    the answer is there. Whom the program had named there before cannot be asked of the kernel, and is forgotten:
    a crash handler that relies on it has to say so again.
    """
    arguments = [command(), "inspect", "--json", str(os.getpid() if pid is None else pid)]
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    named = pid is None and _is_read_by_parents_alone()
    if named:
        _let_children_read(True)
    try:
        done = subprocess.run(arguments, capture_output=True, stdin=subprocess.DEVNULL, env=environment, check=False)
    finally:
        if named:
            _let_children_read(False)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        words = done.stderr.decode(errors="replace").strip()
        raise NotAvailable(words or f"whichcudnn inspect ended with status {done.returncode}")
    return answer
