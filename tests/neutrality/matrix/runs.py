# SPDX-License-Identifier: Apache-2.0
"""Runs one program once, under the settings of a row."""

import dataclasses
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile

from . import compare, rows

PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclasses.dataclass
class Outcome:
    status: object        # None: it did not end
    stdout: str
    stderr: str
    log: str = ""         # what the shim logged
    trace: str = ""       # LD_DEBUG
    audit: object = None
    valgrind: object = None
    said: str = ""        # command line, for whoever wants to repeat it
    stdout_sorted: bool = False
    threads: bool = False  # the program has several
    binds_once: bool = True  # no LD_BIND_NOT

    @property
    def stdout_lines(self):
        lines = compare.whole(self.stdout)
        return sorted(lines) if self.stdout_sorted else lines


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def read_all(folder, pattern):
    def number(path):
        digits = path.name.rpartition(".")[2]
        return (int(digits) if digits.isdigit() else 0, path.name)
    return "".join(path.read_text(errors="backslashreplace")
                   for path in sorted(folder.glob(pattern), key=number))


def by_process(trace):
    """The loader's trace, process by process: a fork's two write to one file at a time of their own."""
    processes = {}
    for line in trace.splitlines(True):
        processes.setdefault(line.partition(":")[0], []).append(line)
    return "".join(line for lines in processes.values() for line in lines)


class Runner:
    """Runs of one row."""

    def __init__(self, row, scratch):
        self.row, self.target = row, row.target
        self.scratch = pathlib.Path(scratch)

    def preloads(self, shim):
        """(front, behind): all preloads of a run, in order; shim may be None."""
        row = self.row
        return [*self.target.first(row),
                *([self.target.preload(row.before)] if row.before != "none" else []),
                *([shim] if shim else []),
                *([self.target.preload(row.after)] if row.after != "none" else [])]

    def run(self, case, fill, shim=None, traced=False, hidden=()):
        """hidden: names of the shim's files, which messages may hold."""
        work = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
        try:
            return self.run_in(work, case, fill, shim, traced)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def run_in(self, work, case, fill, shim, traced):
        built = cwd = self.target.directory(self.row)
        if case.writes:
            # Always by the same name, which the shimmed run tells like the bare one.
            cwd = work / "copy"
            shutil.copytree(built, cwd, symlinks=True)
        (work / "logs").mkdir()
        own = {key: fill(str(value), False).replace("{dir}", str(cwd))
               for key, value in case.env.items()}
        env = {"PATH": PATH, "LC_ALL": "C", "HOME": "/", "WHICHCUDNN_STDERR": "off",
               "WHICHCUDNN_LOG": str(work / "logs"), **self.target.environment(self.row), **own}
        if traced:
            env.update(LD_DEBUG="files,libs,bindings,scopes", LD_DEBUG_OUTPUT=str(work / "trace"))
        if self.row.observer == "audit":
            env["NEUTRALITY_AUDIT"] = str(work / "audit")
        argv = [fill(a, False).replace("{dir}", str(cwd)) for a in case.run]
        binds_once = "LD_BIND_NOT" not in env
        argv, env = self.target.command(argv, env, self.preloads(shim), cwd)
        tool = rows.VALGRINDS.get(self.row.observer)
        if tool:
            argv = ["valgrind", f"--tool={tool}", *(["--leak-check=no"] if tool == "memcheck" else []),
                    "--vgdb=no", f"--log-file={work}/valgrind.%p", *argv]
        if self.row.observer == "uftrace":
            # It tells whether the program's status is 0, no more; the shell that it starts keeps it.
            argv = ["uftrace", "record", "--force", "--no-event", "-d", str(work / "uftrace"), "/bin/sh",
                    "-c", '"$@"; echo $? >"$0"', str(work / "status"), *argv]
        status, out, err = self.execute(argv, env, cwd, case.limit)
        if (work / "status").exists():
            status = int((work / "status").read_text())
            status = 128 - status if status > 128 else status

        def text(data):
            return data.decode(errors="backslashreplace").replace(str(cwd), "{dir}")
        return Outcome(
            status, text(out), self.target.errors(text(err)), stdout_sorted=case.stdout_sorted,
            threads="threads" in case.needs,
            log=read_all(work / "logs", "*"), trace=by_process(text(read_all(work, "trace*").encode())),
            audit=text(read_all(work, "audit*").encode()) if self.row.observer == "audit" else None,
            valgrind=read_all(work, "valgrind.*") if tool else None,
            binds_once=binds_once,
            said=f"cd {cwd}; env -i " + " ".join(f"{k}='{v}'" for k, v in env.items()) + " " +
                 " ".join(argv))

    def execute(self, argv, env, cwd, limit):
        limit *= self.target.patience * (5 if self.row.observer in rows.VALGRINDS else 1)
        # Its output goes to files: a program that leaves children would keep pipes open.
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            try:
                process = subprocess.Popen(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                                           stdout=out, stderr=err, start_new_session=True,
                                           preexec_fn=no_core)
            except OSError as error:
                return 127, b"", f"{argv[0]}: {error.strerror}".encode()
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            out.seek(0)
            err.seek(0)
            return status, out.read(), err.read()
