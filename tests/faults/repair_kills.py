# SPDX-License-Identifier: Apache-2.0
"""repair_kills.py COMMAND ENVIRONMENT HOST WHEELS WORK MOMENTS [SEED]: `fix --apply` of two wheels that own the same
files, ended at random moments by SIGINT, SIGTERM and SIGKILL, with the index there, away, slow and cut in the middle of
a file, and with a disk that is full from some moment on. Afterwards the environment is as it was or as repaired, or
`fix --undo` brings it back; the host runs in each of them. Prints how many of each; fails if it is not all."""
import collections
import fcntl
import hashlib
import http.server
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

command, base, host, wheels, work = (Path(os.path.abspath(a)) for a in sys.argv[1:6])
moments, seed = int(sys.argv[6]), int((sys.argv[7:] or ["1"])[0])
disk, logs = work / "disk", work / "logs"
environment, temporary = disk / "venv", disk / "tmp"
INDEXES = ("there", "away", "slow", "cut", "disk")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


class Index(http.server.BaseHTTPRequestHandler):
    """/MODE/NAME/ lists wheels; their files lie below."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        mode, name, *file = self.path.strip("/").split("/")
        if file:
            data = (wheels / file[0]).read_bytes()
        else:
            stem = name.replace("-", "_") + "-"
            found = [f.name for f in wheels.iterdir() if f.name.startswith(stem)]
            data = "".join(f'<a href="/{mode}/{name}/{f}">{f}</a>' for f in found).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/zip" if file else "text/html")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        pieces = 20 if mode == "slow" else 2
        size = len(data) // pieces + 1
        for n in range(pieces):
            if mode == "cut" and file and n == 1:
                return
            try:
                self.wfile.write(data[n * size:(n + 1) * size])
                self.wfile.flush()
            except OSError:
                return
            if mode == "slow":
                time.sleep(0.1)


def variables(index, port):
    kept = {k: v for k, v in os.environ.items()
            if not k.startswith(("PIP_", "WHICHCUDNN")) and not k.lower().endswith("_proxy")}
    port = 9 if index == "away" else port
    mode = "there" if index == "disk" else index
    return {**kept, "PIP_INDEX_URL": f"http://127.0.0.1:{port}/{mode}", "PIP_RETRIES": "0", "PIP_NO_CACHE_DIR": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_COMPILE": "1", "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(work), "TMPDIR": str(temporary)}


def state():
    """Names, modes, targets and content, but not what a cut repair saved."""
    whole = hashlib.sha256()
    for directory, names, files in os.walk(environment):
        names[:] = sorted(n for n in names if n not in (".whichcudnn-undo", "__pycache__"))
        for name in sorted(files) + names:
            path = Path(directory) / name
            facts = path.lstat()
            content = os.readlink(path) if path.is_symlink() else path.read_bytes() if name in files else ""
            whole.update(repr((str(path.relative_to(environment)), facts.st_mode, content)).encode())
    return whole.hexdigest()


def host_runs():
    run = subprocess.run([environment / host.relative_to(base), "version"], capture_output=True, text=True, check=False)
    return run.returncode == 0 and run.stdout == "version 8902\n"


def site():
    return next(environment.glob("lib/python3*/site-packages"))


def renew():
    shutil.rmtree(environment, ignore_errors=True)
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    subprocess.run(["cp", "-a", base, environment], check=True)
    for link in logs.glob("whichcudnn-undo-*"):
        link.unlink()


def start(index, port):
    return subprocess.Popen([command, "fix", "--apply", "--yes", logs], env=variables(index, port), cwd=work,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            start_new_session=True, text=True)


def at_rest():
    """What a killed command has started holds this lock."""
    fd = os.open(site(), os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    os.close(fd)


def wait_for_change(process, before):
    end = time.time() + 60
    while process.poll() is None and time.time() < end and sorted(os.listdir(site())) == before:
        time.sleep(0.001)


def fill():
    with open(disk / "filler", "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 20))
        except OSError:
            pass
        try:
            while True:
                file.write(bytes(512))
        except OSError:
            pass


def play(draw, index, number, port, took):
    """(what came of it, what was said)"""
    renew()
    before = sorted(os.listdir(site()))
    process = start(index, port)
    said = []
    reader = threading.Thread(target=lambda: said.append(process.stdout.read()))
    reader.start()
    if draw.random() < 0.5:
        time.sleep(draw.uniform(0, took * (2 if index == "slow" else 1.1)))
    else:
        wait_for_change(process, [*before, ".whichcudnn-undo"] if draw.random() < 0.8 else before)
        time.sleep(draw.uniform(0, took / 2))
    if index == "disk":
        fill()
        time.sleep(draw.uniform(0, took / 2))
    whole = draw.random() < 0.5
    try:
        (os.killpg if whole else os.kill)(process.pid, number)
    except ProcessLookupError:
        pass
    process.wait(timeout=120)
    at_rest()
    reader.join()
    (disk / "filler").unlink(missing_ok=True)
    text = said[0]
    journal = list(site().glob(".whichcudnn-undo/journal.json"))
    outcome = {original: "as before", repaired: "as repaired"}.get(state())
    if journal and number != signal.SIGKILL and index != "disk":
        return None, text + "\na journal is left without SIGKILL"
    if not journal:
        return (outcome if host_runs() else None), text
    where = draw.choice([logs, journal[0], None])
    undo = subprocess.run([command, "fix", "--undo", "--yes", *([where] if where else [])], cwd=work,
                          capture_output=True, text=True, check=False,
                          env={**variables(index, port), "WHICHCUDNN_LOG": f"{logs}/"})
    text += undo.stderr
    good = undo.returncode == 0 and state() == original and host_runs() and not list(logs.glob("*undo*")) \
        and not (site() / ".whichcudnn-undo").exists()
    return ("undone" if good else None), text


draw = random.Random(seed)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
threading.Thread(target=server.serve_forever, daemon=True).start()
shutil.rmtree(work, ignore_errors=True)
disk.mkdir(parents=True)
logs.mkdir()
can_mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m", "none", disk], check=False).returncode == 0
renew()
subprocess.run([command, "run", "--quiet", "--log", f"{logs}/", "--", environment / host.relative_to(base), "version"],
               check=True, stdout=subprocess.DEVNULL)
original = state()
begin = time.time()
whole = start("there", server.server_port)
output = whole.communicate()[0]
took = time.time() - begin
repaired = state()
if whole.returncode or original == repaired or not host_runs():
    sys.exit(f"it does not repair at all: {output}")
indexes = INDEXES if can_mount else INDEXES[:-1]
counts, bad = collections.Counter(), 0
for n in range(moments):
    index, number = indexes[n % len(indexes)], SIGNALS[n // len(indexes) % 3]
    outcome, said = play(random.Random(f"{seed} {n}"), index, number, server.server_port, took)
    counts[index, number.name, outcome or "BROKEN"] += 1
    if not outcome:
        bad += 1
        print(f"moment {n} of seed {seed}: {index}, {number.name}:\n{said}")
if can_mount:
    subprocess.run(["umount", disk], check=False)
for index in indexes:
    for number in SIGNALS:
        row = {o: c for (i, s, o), c in sorted(counts.items()) if (i, s) == (index, number.name)}
        print(f"index {index:5}  {number.name:7}  " + ", ".join(f"{c} {o}" for o, c in row.items()))
print(f"{moments - bad} of {moments} (a repair takes {took:.1f} s here"
      f"{'' if can_mount else '; no full disk: nothing can be mounted'})")
sys.exit(bad != 0)
