#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn run between a shell and its command: job control, other signals, process 1, core files.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    echo | "${CC:-gcc}" -shared -fPIC -x c - -o empty.so
    export WHICHCUDNN_SHIM=$PWD/empty.so ASAN_OPTIONS=verify_asan_link_order=0 TMPDIR=$PWD WHICHCUDNN_LOG=$PWD
    cat >shell.py <<'END'
# A small shell on a terminal of its own: what one with job control does to a job, step by step.
import os, pty, re, select, signal, sys, time

def start(command, child):
    """(pid of the job, terminal): the job is a process group of its own, in the foreground."""
    ready, go = os.pipe()
    shell, terminal = pty.fork()
    if shell == 0:
        os.close(ready)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        try:
            serve(command, child)
        finally:
            os._exit(0)
    return terminal

def serve(command, child):
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execv(command, [command, "run", "--quiet", "--", sys.executable, "-c", child])
    for how in sys.argv[2:] + ["foreground"]:
        _, status = os.waitpid(job, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            break
        os.tcsetpgrp(0, os.getpgrp())
        print("stopped", signal.Signals(os.WSTOPSIG(status)).name, states(job), flush=True)
        if how == "foreground":
            os.tcsetpgrp(0, job)
            os.killpg(job, signal.SIGCONT)
        else: # it alone is woken
            os.tcsetpgrp(0, job)
            os.kill(job, signal.SIGCONT)
    print("end", os.waitstatus_to_exitcode(status), flush=True)

def states(job):
    with open(f"/proc/{job}/task/{job}/children") as children:
        child = children.read().split()[0]
    for _ in range(100): # the last of the group may be on its way
        found = [open(f"/proc/{p}/stat").read().rsplit(")", 1)[1].split()[0] for p in (job, child)]
        if found == ["T", "T"]:
            break
        time.sleep(0.02)
    return "".join(found)

def talk(terminal, keys):
    """Everything printed; a key is pressed at each line that ends with 'press'."""
    text, pressed, deadline = b"", 0, time.monotonic() + 20
    while not re.search(rb"^end .*\n", text, re.M) and time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.5)[0]:
            try:
                text += os.read(terminal, 1000)
            except OSError:
                break
        while pressed < text.count(b"press\r\n") and pressed < len(keys):
            os.write(terminal, keys[pressed])
            pressed += 1
    return [l for l in text.decode().replace("\r", "").replace("^Z", "").split("\n")
            if l.startswith(("stopped", "end", "woken"))]
END
}

run_it() { "$CMD" run "$@"; }

@test "Ctrl-Z stops command and run, fg goes on with both, each woken once" {
    cat >job.py <<'END'
import sys
from shell import *
child = """
import signal, time
woken = 0
def count(*_):
    global woken
    woken += 1
signal.signal(signal.SIGCONT, count)
for press in (1, 2):
    print('press', flush=True)
    while woken < press: time.sleep(0.01)
time.sleep(0.2)
print('woken', woken, flush=True)
raise SystemExit(21)
"""
print(talk(start(sys.argv[1], child), [b"\x1a", b"\x1a"]))
END
    run -0 python3 job.py "$CMD" foreground foreground
    is "$output" "['stopped SIGTSTP TT', 'stopped SIGTSTP TT', 'woken 2', 'end 21']"
}

@test "a command that stops itself alone is seen to be stopped, and woken with run" {
    cat >job.py <<'END'
import sys
from shell import *
child = """
import os, signal
os.kill(os.getpid(), signal.SIGSTOP)
os.kill(os.getpid(), signal.SIGTSTP)
raise SystemExit(22)
"""
print(talk(start(sys.argv[1], child), []))
END
    run -0 python3 job.py "$CMD" alone alone
    is "$output" "['stopped SIGSTOP TT', 'stopped SIGTSTP TT', 'end 22']"
}

@test "a command that takes Ctrl-Z for itself goes on, and so does run" {
    cat >job.py <<'END'
import sys
from shell import *
child = """
import signal, time
seen = []
signal.signal(signal.SIGTSTP, lambda *_: seen.append(1))
print('press', flush=True)
while not seen: time.sleep(0.01)
time.sleep(0.2)
print('woken', len(seen), flush=True)
raise SystemExit(23)
"""
print(talk(start(sys.argv[1], child), [b"\x1a"]))
END
    run -0 python3 job.py "$CMD"
    is "$output" "['woken 1', 'end 23']"
}

@test "a read in the background stops both" {
    cat >job.py <<'END'
import sys
from shell import *
child = """
import os
os.setpgid(0, 0)   # its own group, which nobody put into the foreground
try:
    os.read(0, 1)
except OSError:
    pass
raise SystemExit(24)
"""
print(talk(start(sys.argv[1], child), []))
END
    run -0 python3 job.py "$CMD" alone
    [[ $output == "['stopped SIGTTIN TT', "* ]]
}

@test "without a terminal, who stops the command alone wakes it alone" {
    cat >stopped.py <<'END'
import os, signal, subprocess, sys, time
run = subprocess.Popen([sys.argv[1], "run", "--quiet", "--", "sleep", "0.5"],
                       start_new_session=True)
def child():
    with open(f"/proc/{run.pid}/task/{run.pid}/children") as children:
        return int((children.read().split() or [0])[0])
while not child() or open(f"/proc/{child()}/comm").read() != "sleep\n":
    time.sleep(0.01)
pid = child()
os.kill(pid, signal.SIGSTOP)
time.sleep(0.3)
state = open(f"/proc/{run.pid}/stat").read().rsplit(")", 1)[1].split()[0]
os.kill(pid, signal.SIGCONT)
print(state, run.wait(timeout=10))
END
    run -0 python3 stopped.py "$CMD"
    is "$output" "S 0"
}

@test "every other signal is handed on, too, with the value it carries" {
    cat >sender.py <<'END'
import ctypes, signal, subprocess, sys
child = """
import signal
known = [s for s in range(1, signal.SIGRTMAX + 1)
         if s not in (9, 17, 18, 19, 32, 33)]
signal.pthread_sigmask(signal.SIG_BLOCK, known)
print("ready", flush=True)
while True:
    info = signal.sigwaitinfo(known)
    print(info.si_signo, flush=True)
    if info.si_signo == signal.SIGTERM:
        break
"""
run = subprocess.Popen([sys.argv[1], "run", "--quiet", "--", sys.executable, "-c", child],
                       stdout=subprocess.PIPE, text=True)
assert run.stdout.readline() == "ready\n"
sent = ["ALRM", "PIPE", "WINCH", "ABRT", "SEGV", "TSTP", "TTIN", "RTMIN", "RTMAX", "URG", "TERM"]
for name in sent:
    number = int(getattr(signal, "SIG" + name))
    ctypes.CDLL(None).sigqueue(run.pid, number, ctypes.c_void_p(5))
    assert run.stdout.readline() == f"{number}\n", name
print(run.wait(timeout=10))
END
    run -0 python3 sender.py "$CMD"
    is "$output" 0
}

@test "the command does not outlive a run that was killed" {
    cat >killed.py <<'END'
import os, subprocess, sys, time
run = subprocess.Popen([sys.argv[1], "run", "--quiet", "--", "sh", "-c", "echo $$; exec sleep 30"],
                       stdout=subprocess.PIPE, text=True)
pid = int(run.stdout.readline())
run.kill()
run.wait()
for _ in range(100):
    try:
        if open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] == "Z":
            break
    except FileNotFoundError:
        break
    time.sleep(0.05)
else:
    sys.exit("it lives")
END
    run -0 python3 killed.py "$CMD"
}

@test "a fault of run's own costs the command neither its life nor its status" {
    make_child
    gcc -shared -fPIC -o fault.so -x c - <<<'void *open_memstream(void) { __builtin_trap(); }'
    for command in "sleep 2; touch went-on; exit 6" "exit 6"; do
        run -6 env LD_PRELOAD="$PWD/fault.so" "$CMD" run -- ./child sick "$command"
        is "${lines[-1]}" "whichcudnn: failed over the log, which is kept"
    done
    [ -e went-on ]
    compgen -G 'whichcudnn-*.jsonl'
}

@test "a reader that has gone changes neither status nor what is kept" {
    make_child
    # shellcheck disable=SC2016
    run -0 bash -c '{ "$0" run -- ./child sick "exit 6" 2>&1; echo $? >status; } | true' "$CMD"
    is "$(cat status)" 6
    is "$(field outcome exit_status whichcudnn-*.jsonl)" 6
}

@test "limits are handed on, a core file is written" {
    is "$(ulimit -Sc 0; run_it --quiet -- bash -c 'ulimit -Sc')" 0
    [ "$(ulimit -Hc)" = unlimited ] || skip "core files are forbidden here"
    [[ $(cat /proc/sys/kernel/core_pattern) == core* ]] || skip "core files go elsewhere"
    ulimit -Sc unlimited
    export ASAN_OPTIONS=$ASAN_OPTIONS:disable_coredump=0 # which it hands on, else
    # shellcheck disable=SC2016
    run -139 run_it --quiet -- bash -c 'kill -SEGV $$'
    compgen -G 'core*'
}

# ---- process 1 of a container ----

unshared() {
    unshare --pid --fork --mount-proc true 2>/dev/null || skip "no process namespace can be made"
    timeout -k 1 20 unshare --pid --fork --kill-child --mount-proc "$@"
}

@test "as process 1 it reaps the orphans" {
    # shellcheck disable=SC2016
    run -9 unshared "$CMD" run --quiet -- bash -c '
        for i in 1 2 3; do (sleep 0.1 & exec true); done
        sleep 0.5
        cat /proc/[0-9]*/stat | sed "s/.*) //" | grep -c "^Z"
        echo $PPID
        exit 9'
    is "$output" "0
1"
}

@test "as process 1 it hands signals on, and its end is the command's" {
    cat >inside.py <<'END'
import os, signal, sys
os.kill(1, signal.SIGTERM) # comes back to the only child of process 1
signal.pause()
END
    run -143 unshared "$CMD" run --quiet -- python3 inside.py
    make_child
    run -137 unshared "$CMD" run -- ./child sick 'kill -9 $$'
    [[ $output == *"process     2 on "*", killed by SIGKILL, during cudnnCreate"* ]]
}
