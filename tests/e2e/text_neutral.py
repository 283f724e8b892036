#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""text_neutral.py WHICHCUDNN [ROW...]: each program of the table alone and under `run --text`, with its output
in two pipes, in one, on a terminal under a small shell with job control, and in two files. What comes out of each
stream, in which order, and the status are the same."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

PIPES, JOINED, TERMINAL, FILES = "pipes", "joined", "terminal", "files"
EVERYWHERE = (PIPES, JOINED, TERMINAL, FILES)
NO_TERMINAL = (PIPES, JOINED, FILES)

# On a terminal <key X> is answered with that key, <size> with another window size; elsewhere and there <send SIG>
# with that signal for the job.
SH = {
    "exit 0": "exit 0",
    "exit 7": "exit 7",
    "exit 255": "exit 255",
    "killed by TERM": "kill -TERM $$",
    "killed by KILL": "kill -KILL $$",
    "killed by SEGV": "ulimit -c 0; kill -SEGV $$",
    "killed by ABRT": "ulimit -c 0; kill -ABRT $$",
    "killed by HUP": "kill -HUP $$",
    "killed by USR1": "kill -USR1 $$",
    "killed by PIPE": "kill -PIPE $$",
    "not found": "no-such-command-anywhere",
    "a child is killed": "exec 4>&2 2>/dev/null; sh -c 'kill -KILL $$'; echo $? >&4",
    "one line": "echo out; echo err >&2",
    "no line end": "printf out; printf err >&2",
    "two streams in turn": "i=0; while [ $i -lt 200 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done",
    "1 MB": "yes 'a line of text' | head -c 1000000",
    "1 MB on each": "yes out | head -c 1000000; yes err | head -c 1000000 >&2; exit 3",
    "words after much": "head -c 300000 /dev/zero | tr '\\0' x; echo; echo end; exit 4",
    "a progress bar": "for i in 1 2 3; do printf 'step %d\\r' $i >&2; done; echo >&2",
    "colours": "printf '\\033[1;31mred\\033[0m\\n\\033[2K'",
    "exec": "echo one; exec sh -c 'echo two; exit 5'",
    "closed input": "exec <&-; cat 2>/dev/null; echo $?",
    "closed output": "exec >&-; echo lost 2>/dev/null; echo $? >&2",
    "closed errors": "exec 2>&-; echo lost >&2; echo out",
    "all closed": "exec <&- >&- 2>&-; exit 6",
    "another descriptor": "exec 3>&1; echo three >&3",
    "swapped": "exec 3>&1 1>&2 2>&3 3>&-; echo out; echo err >&2",
    "a full device": "echo lost >/dev/full; echo $?",
    "a limit of size": "ulimit -f 1; trap '' XFSZ; head -c 100000 /dev/zero | tr '\\0' x; echo $?",
    "opened once more": "echo more >/dev/stdout; echo other >/dev/stderr",
    "a child prints later": "(sleep 0.3; echo late; echo later >&2) & echo now; exit 8",
    "a child holds the streams": "sleep 0.5 & echo now; exit 9",
    "a daemon prints later": "setsid sh -c 'sleep 0.3; echo late' & echo now; exit 2",
    "a child prints in a flood": "(yes | head -c 300000; echo flooded) & exit 1",
    "kinds of descriptors": "for i in 0 1 2; do [ -t $i ] && echo t$i; [ -p /dev/fd/$i ] && echo p$i; "
                            "[ -f /dev/fd/$i ] && echo f$i; done; true",
    "signal TERM to the job": "trap 'echo got; exit 11' TERM; echo '<send TERM>'; while :; do sleep 0.02; done",
    "signal INT to the job": "trap 'echo got; exit 12' INT; echo '<send INT>'; while :; do sleep 0.02; done",
    "signal USR2, by default": "echo '<send USR2>'; while :; do sleep 0.02; done",
    "signal QUIT, by default": "ulimit -c 0; echo '<send QUIT>'; exec sleep 5",
}
ON_TERMINAL = {
    "Ctrl-C": "echo '<key C>'; exec sleep 5",
    "Ctrl-C, taken": "trap 'echo got; exit 13' INT; echo '<key C>'; while :; do sleep 0.02; done",
    "Ctrl-\\": "ulimit -c 0; echo '<key \\>'; exec sleep 5",
    "Ctrl-Z and fg": "echo '<key Z>'; sleep 0.3; echo awake; exit 14",
    "Ctrl-Z, twice": "echo '<key Z>'; sleep 0.3; echo '<key Z>'; sleep 0.3; echo awake; exit 15",
    "Ctrl-Z after much": "yes 'a line of text' | head -c 500000; echo '<key Z>'; sleep 0.3; echo awake",
    "stops itself": "echo before; kill -TSTP $$; echo after; exit 16",
    "a typed line": "echo '<key line>'; read x; echo \"read $x\"",
    "Ctrl-D": "echo '<key D>'; cat; echo $?",
    "a password": "stty -echo; echo '<key line>'; read x; stty echo; echo; echo \"read $x\"",
    "its terminal": "exec >/dev/null 2>&1; echo out >/dev/tty",
    "size": "stty size <&0; stty size <&1; stty size <&2",
}
PYTHON = {
    "all bytes": "import os; os.write(1, bytes(range(256)) * 300); os.write(2, bytes(range(255, -1, -1)))",
    "zeros": "import os; os.write(1, bytes(100000))",
    "text of no ASCII": "import os; os.write(1, 'Größe \\u4e2d\\n'.encode())",
    "terminals": "import os; print([os.isatty(i) for i in (0, 1, 2)])",
    "no position": "import os\ntry: print(os.lseek(1, 0, 1) >= 0)\nexcept OSError as e: print(e.errno)",
    "capacity and mode": "import fcntl, os, stat\nprint(fcntl.fcntl(1, fcntl.F_GETFL) & 3)\n"
                         "if stat.S_ISFIFO(os.fstat(1).st_mode): print(fcntl.fcntl(1, 1032))",
    "ready to be written": "import select; print(select.select([], [1, 2], [], 0)[1])",
    "sendfile": "import os, sys; f = open(sys.executable, 'rb')\ntry: print(os.sendfile(2, f.fileno(), 0, 4) == 4)\n"
                "except OSError as e: print(e.errno)",
    "many small writes": "import os\nfor i in range(20000): os.write(1 + i % 2, b'%d ' % i)",
    "threads": "import os, threading\nt = [threading.Thread(target=os.write, args=(1, b'x' * 999)) for _ in range(20)]\n"
               "[x.start() for x in t]; [x.join() for x in t]",
    "no descriptor more": "import os; print(sorted(os.listdir('/proc/self/fd')))",
    "no child more": "import os\ntry: os.waitpid(-1, 0)\nexcept OSError as e: print(e.errno)",
    "signals": "import re; print(re.findall('Sig(?:Blk|Ign|Cgt).*', open('/proc/self/status').read()))",
}
PYTHON_ON_TERMINAL = {
    "another size": "import os, signal, time\nsignal.signal(signal.SIGWINCH, lambda *_: None)\nprint('<size>', flush=True)\n"
                    "while os.get_terminal_size(1).columns == 80: time.sleep(0.01)\nprint(os.get_terminal_size(1))",
    "a key, by its output": "import os, time, tty\ntty.setcbreak(1); print('<key one>', flush=True)\n"
                            "print(os.read(0, 1))",
    "modes put back": "import os, termios, tty, time\nold = termios.tcgetattr(1); tty.setcbreak(1); print('x', flush=True)\n"
                      "time.sleep(0.05); termios.tcsetattr(1, termios.TCSADRAIN, old)\n"
                      "for _ in range(500):\n  if termios.tcgetattr(0)[3] & termios.ECHO: break\n  time.sleep(0.01)\n"
                      "print(termios.tcgetattr(0)[3] & termios.ECHO != 0)",
    "in the foreground": "import os; print(os.tcgetpgrp(0) == os.getpgrp())",
}
GONE = {  # the reader of the first stream goes after ten bytes
    "the reader goes": ("sh", "yes"),
    "the reader goes, ignored": ("sh", "trap '' PIPE; yes; echo $? >&2"),
}
KEYS = {"C": b"\x03", "\\": b"\x1c", "Z": b"\x1a", "D": b"\x04", "line": b"typed\n", "one": b"k"}


def rows():
    for table, shell, where in ((SH, "sh", EVERYWHERE), (ON_TERMINAL, "sh", (TERMINAL,)),
                                (PYTHON, "py", EVERYWHERE), (PYTHON_ON_TERMINAL, "py", (TERMINAL,))):
        for name, program in table.items():
            yield name, argv(shell, program), where
    for name, (shell, program) in GONE.items():
        yield name, argv(shell, program), ("gone",)


def argv(shell, program):
    return ["bash", "-c", program] if shell == "sh" else [sys.executable, "-S", "-c", program]


def status_of(returned):
    return 128 - returned if returned < 0 else returned


def answer(text, done, act):
    """Each marker in the text so far is answered once."""
    for marker in list(re.finditer(rb"<(key|send|size) ?([^>\r\n]*)>", text))[done:]:
        act(marker[1].decode(), marker[2].decode())
        done += 1
    return done


def signal_to(pid):
    def act(what, name):
        if what == "send":
            time.sleep(0.05)
            os.kill(pid, getattr(signal, "SIG" + name))
    return act


def read_all(process, streams):
    """To the end of each; what was read, by stream."""
    texts, done = {s: b"" for s in streams}, 0
    deadline = time.monotonic() + 30
    while streams and time.monotonic() < deadline:
        for s in select.select(streams, [], [], 1)[0]:
            got = os.read(s, 1 << 16)
            texts[s] += got
            if not got:
                streams = [x for x in streams if x != s]
        done = answer(b"".join(texts.values()), done, signal_to(process.pid))
    return list(texts.values()) + (["HANGS"] if streams else [])


def in_pipes(command, joined):
    p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT if joined else subprocess.PIPE, start_new_session=True)
    texts = read_all(p, [f.fileno() for f in (p.stdout, p.stderr) if f])
    return texts, status_of(p.wait(30))


def in_files(command):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
        done = 0
        while p.poll() is None:
            done = answer(os.pread(out.fileno(), 1 << 24, 0), done, signal_to(p.pid))
            time.sleep(0.01)
        time.sleep(1 if "&" in command[-1] else 0)  # what it left may print
        return [os.pread(f.fileno(), 1 << 24, 0) for f in (out, err)], status_of(p.returncode)


def with_a_reader_that_goes(command):
    p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
    first = os.read(p.stdout.fileno(), 10)
    p.stdout.close()
    return [first, p.stderr.read()], status_of(p.wait(30))


def serve(command, gate):
    """The shell: the command is a job in the foreground; where it stops, it is woken."""
    os.read(gate, 1)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.closerange(3, 100)
        os.execvp(command[0], command)
    os.write(1, b"<job %d>\n" % job)
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            break
        os.tcsetpgrp(0, os.getpgrp())
        os.write(1, b"[stopped %d]\n" % os.WSTOPSIG(status))
        os.tcsetpgrp(0, job)
        os.killpg(job, signal.SIGCONT)
    os.tcsetpgrp(0, os.getpgrp())
    os.write(1, b"[end %d]\n" % status_of(os.waitstatus_to_exitcode(status)))
    os.close(0), os.close(1), os.close(2)
    signal.pause() if not os.fork() else None  # a session without its leader loses its terminal


def on_terminal(command):
    gate, go = os.pipe()
    pid, master = pty.fork()
    if pid == 0:
        try:
            serve(command, gate)
        finally:
            signal.alarm(3)
            signal.pause()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.write(go, b"x")
    text, done, ended = b"", 0, 0
    job = []

    def act(what, name):
        if what == "key":
            time.sleep(0.05)
            os.write(master, KEYS[name])
        elif what == "size":
            fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        else:
            signal_to(job[0])(what, name)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and (not ended or time.monotonic() < ended + 5):
        if select.select([master], [], [], 0.1)[0]:
            try:
                text += os.read(master, 1 << 16)
            except OSError:
                break
        job = job or [int(x) for x in re.findall(rb"<job (\d+)>", text)]
        if job:
            done = answer(text, done, act)
        ended = ended or (time.monotonic() if b"[end " in text else 0)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    for fd in (master, gate, go):
        os.close(fd)
    text = re.sub(rb"<job \d+>\r\n", b"", text)
    end = re.findall(rb"\[end \d+\]\r\n", text)
    if "&" in command[-1]:  # what it left prints before or after
        text = re.sub(rb"\[end \d+\]\r\n", b"", text)
    return [text] + ([] if ended else ["HANGS"]), end


HOW = {PIPES: lambda c: in_pipes(c, False), JOINED: lambda c: in_pipes(c, True), TERMINAL: on_terminal,
       FILES: in_files, "gone": with_a_reader_that_goes}


def main():
    # Whoever started this in the background may ignore them, and no shell traps what it was told to ignore.
    for ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(ignored, signal.SIG_DFL)
    under = [sys.argv[1], "run", "--text", "--quiet", "--log", "/dev/null", "--"]
    count = different = 0
    for name, command, where in rows():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        for how in where:
            bare, watched = HOW[how](command), HOW[how](under + command)
            count += 1
            if bare != watched:
                different += 1
                show = lambda r: repr(r)[:600]
                print(f"{name}, {how}:\n  bare     {show(bare)}\n  --text   {show(watched)}")
    print(f"{len(list(rows()))} programs, {count} comparisons, {different} differ")
    return different > 0


if __name__ == "__main__":
    sys.exit(main())
