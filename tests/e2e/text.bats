#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn run --text: what comes through a pipe or a terminal is evidence, and comes as without it.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export TMPDIR=$PWD ASAN_OPTIONS=verify_asan_link_order=0
    make_standin --create-status 0 9.1.0 cudnn
    cat >opens.py <<END
import ctypes, os, sys
ctypes.CDLL("$PWD/cudnn/libcudnn.so.9")
os.write(int(sys.argv[1]), b"Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0\n")
sys.exit(1)
END
}

opens() { "$CMD" run --log logs/ "$@" -- "$PY" -S opens.py "${stream:-2}"; }

@test "70 programs with pipes, on a terminal and with files: output, order, status and job control are the same" {
    run "$PY" "$WC_ROOT/tests/e2e/text_neutral.py" "$CMD"
    echo "$output"
    [[ $output == *" comparisons, 0 differ" ]]
}

@test "versions from a pipe explain its end; without --text nothing is read" {
    piped() { "$@" 2>&1 | cat; return "${PIPESTATUS[0]}"; }
    run -1 piped opens
    [[ $output == *"whichcudnn: unexplained: "* ]]
    rm -r logs
    run -1 piped opens --text
    [[ ${lines[0]} == "Loaded runtime CuDNN library: 9.1.0 "* ]]
    [[ $output == *$'\n'"whichcudnn: error[runtime-too-old]: "*"standard error, line 1"* ]]
    is "$(field outcome words_read "$(the_log logs)")" true
    rm -r logs
    stream=1 run -1 bash -c '"$@" 2>errors | cat; exit ${PIPESTATUS[0]}' - "$CMD" run --text --log logs/ -- \
        "$PY" -S opens.py 1
    grep -q 'standard output, line 1' errors
}

@test "versions from a terminal explain its end, and the verdict comes behind them" {
    cat >on_terminal.py <<'END'
import os, pty, sys
status = pty.spawn(sys.argv[1:])
sys.exit(os.waitstatus_to_exitcode(status))
END
    run -1 python3 on_terminal.py "$CMD" run --text --log logs/ -- "$PY" -S opens.py 2 </dev/null
    [[ $output == "Loaded runtime"*"whichcudnn: "*"error"*"runtime-too-old"*"standard error, line 1"* ]]
}

@test "a child that holds the stream does not hold run, and can still print" {
    cat >holds.py <<'END'
import os, subprocess, sys, time
run = subprocess.Popen([sys.argv[1], "run", "--text", "--quiet", "--log", "/dev/null", "--", "sh", "-c",
                        "(sleep 3; echo late) & echo now; exit 3"], stdout=subprocess.PIPE)
begin = time.monotonic()
print(run.wait(timeout=20), time.monotonic() - begin < 2, run.stdout.read())
END
    run -0 python3 holds.py "$CMD"
    is "$output" "3 True b'now\\nlate\\n'"
}

@test "what is left to copy holds no other descriptor" {
    # shellcheck disable=SC2016
    run -0 timeout 20 bash -c '(exec 9>lock; flock 9; "$0" run --text --quiet --log /dev/null -- \
        sh -c "exec 9>&-; sleep 3 & exit 0"; exec 9>&-; flock -w 1 lock echo free) | cat' "$CMD"
    is "$output" free
}

@test "streams that are nothing of these stay as they are, and one line says so" {
    cat >socket_too.py <<'END'
import socket, subprocess, sys
ours, theirs = socket.socketpair()
run = subprocess.run([sys.argv[1], "run", "--text", "--log", "/dev/null", "--", sys.executable, "-S", "-c",
                      "import os; os.write(2, '\\n'.join([*map(os.readlink, ('/proc/self/fd/1', '/proc/self/fd/2')), '']).encode()); os._exit(3)"],
                     stdout=subprocess.DEVNULL, stderr=theirs)
theirs.close()
print(run.returncode, ours.makefile().read())
END
    run -0 python3 socket_too.py "$CMD"
    [[ ${lines[0]} == "3 whichcudnn: --text: standard error is not read: it is not a terminal, pipe or regular file"* ]]
    [[ ${lines[1]} == /dev/null && ${lines[2]} == socket:* ]]
}

@test "no process for the copier: one line says so, and the command has its own streams" {
    "${CC:-gcc}" -shared -fPIC -o fails.so -x c - <<'END'
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
pid_t fork(void) {
    static int before;
    if (before++)
        return (pid_t)syscall(SYS_clone, 17, 0, 0, 0, 0);
    errno = EAGAIN;
    return -1;
}
END
    run -0 bash -c 'LD_PRELOAD=$PWD/fails.so "$0" run --text --quiet --log /dev/null -- /bin/echo out 2>&1 | cat' "$CMD"
    is "$output" "whichcudnn: --text: standard error is not read: Resource temporarily unavailable
out"
}
