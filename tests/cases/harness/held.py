# SPDX-License-Identifier: Apache-2.0
"""Do a log, the process itself and a look at its files say the same? Each situation runs once more:
held at its end, inspected, let go; then its log is reported."""

import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile

from .releases import watch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import agreement  # noqa: E402
import judgements  # noqa: E402

PATIENCE = 120  # seconds
EMPTY = {"stack": {"objects": [], "searches": [], "failures": []}}


class Held:
    """What came of one situation. state: agrees..., differs, failed,
    died... (before it could be asked). compared: what each command judged, as judgements.py has it."""

    def __init__(self, label, state, differences=(), compared=()):
        self.label, self.state, self.differences = label, state, list(differences)
        self.compared = list(compared)


def wait_for_end(pipe, process):
    """The number of the host that is held; None: the command ended before."""
    for _ in range(PATIENCE * 10):
        if select.select([pipe], [], [], 0.1)[0]:
            text = os.read(pipe, 64)
            if text:
                return int(text)
        if process.poll() is not None:
            return None
    raise TimeoutError("the host neither ended nor was held")


def inspect(pid):
    done = subprocess.run([watch.COMMAND, "inspect", "--json", str(pid)], capture_output=True,
                          text=True, env=watch.clean_environment())
    if done.returncode == 2:
        raise AssertionError(f"inspect: {done.stderr}")
    return watch.valid(json.loads(done.stdout), "inspect --json")


def reported(world, logs, pid):
    """What the log of that process says, where its repairs can be replayed; a process that left none
    has nothing of cuDNN."""
    if not os.path.isdir(logs) or not os.listdir(logs):
        return EMPTY
    done = subprocess.run(world.where([watch.COMMAND, "report", "--json", logs]), text=True,
                          capture_output=True, env=watch.clean_environment())
    document = watch.valid(json.loads(done.stdout), "report --json")
    documents = document if isinstance(document, list) else [document]
    found = [d for d in documents if pid is None or any(s["pid"] == pid for s in d["sources"])]
    return found[0] if found else EMPTY


def start(command, logs, folder, environment):
    variables = {name: str(value) for name, value in environment.items()}
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL,
                            env=watch.clean_environment(
                                WHICHCUDNN_STDERR="off", WHICHCUDNN_LOG=logs, HELD_AT_END=folder,
                                **variables))


def watched_command(world):
    preloads = [watch.SHIM, world.preload, world.environment.get("LD_PRELOAD")]
    preloads = [str(preload) for preload in preloads if preload]
    return world.command(["/usr/bin/env", f"LD_PRELOAD={':'.join(preloads)}"])


def scan(world, folder):
    """What a scan of its hosts foretells. The environment comes as a file: some of it would keep
    the command itself from starting."""
    variables = {**watch.clean_environment(), **world.environment}
    if world.preload:
        variables["LD_PRELOAD"] = world.preload
    pathlib.Path(f"{folder}/environment").write_text(
        "".join(f"{name}={value}\0" for name, value in variables.items()))
    world.constants()
    program = world.program or world.start()
    words = [watch.COMMAND, "scan", "--json", "--env", f"{folder}/environment", str(program)]
    done = subprocess.run(world.where(words + [str(host.library) for host in world.hosts]),
                          capture_output=True, text=True, env=watch.clean_environment())
    if done.returncode == 2:
        raise AssertionError(f"scan: {done.stderr}")
    return json.loads(done.stdout)


def play(world, label):
    """The situation once more, held."""
    folder = tempfile.mkdtemp(prefix="held-", dir=world.scratch)
    logs = f"{folder}/logs"
    for name in ("ends", "goes-on"):
        os.mkfifo(f"{folder}/{name}")
    os.mkdir(logs)
    scanned = scan(world, folder)
    pipe = os.open(f"{folder}/ends", os.O_RDONLY | os.O_NONBLOCK)
    process = start(watched_command(world), logs, folder, world.environment)
    try:
        pid = wait_for_end(pipe, process)
        if pid is None:
            judged = reported(world, logs, None)
            return Held(label, f"died: {ending(process.returncode)}", (),
                        compared(judged, [("scan", scanned["reports"])]) if judged is not EMPTY else ())
        inspected = inspect(pid)
        os.close(os.open(f"{folder}/goes-on", os.O_WRONLY))
        process.wait(PATIENCE)
    finally:
        os.close(pipe)
        if process.poll() is None:
            process.kill()
            process.wait()
    report = reported(world, logs, pid)
    others = [(inspected, agreement.different), (scanned, agreement.different_from_scan)]
    judged = [("inspect", [inspected])] + [("scan", scanned["reports"])] * (not beyond_scan(world))
    agrees = "agrees"
    if (why := beyond_scan(world)):
        others.pop()
        agrees += f", but for scan: {why}"
    if (why := beyond_inspect(world)):
        others.pop(0)
        agrees += f", but for inspect: {why}"
    differences = [d for other, compare in others for d in compare(report, other)]
    if not differences:
        differences = [f"planted, and not told: {plant}" for other, compare in others
                       for plant in agreement.not_told(report, other, compare)]
    return Held(label, "differs" if differences else agrees, differences,
                compared(report, judged) if report is not EMPTY else ())


def compared(report, others):
    return [(who, *judgements.compare([report], documents)) for who, documents in others]


def beyond_inspect(world):
    """What a process that runs does not show."""
    words = [word for host in world.hosts for word in host.words]
    if any(word.startswith("swap:") for word in words):
        return "what is mapped has another name by now"
    if any(word.startswith("open:libcudnn_") for word in words):
        return "the host asks for a part, too, and who was first does not show"
    return ""


def beyond_scan(world):
    """What its files cannot tell, or tell otherwise of the framework whose name a host has."""
    for host in world.hosts:
        if any(word.startswith(("open:", "try:")) and "/" in word.split(":")[1]
               for word in host.words):
            return "a path is opened that stands in no file"
        if host.kind == "jax" and (host.site / "nvidia/cudnn").exists():
            return "JAX opens the wheel's library by its path, and this host of its name does not"
    return ""


def ending(status):
    return f"signal {-status}" if status < 0 else f"status {status}"


def has_died(outcome):
    return outcome.state.startswith("died")
