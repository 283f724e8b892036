#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn run where something is missing: the command does what it does without run, one line says what is
# missing, and SIGTERM ends run.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    gcc -std=gnu11 -D_GNU_SOURCE -o "$BATS_FILE_TMPDIR/filtered" "$WC_ROOT/tests/faults/filtered.c"
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export TMPDIR=$PWD ASAN_OPTIONS=verify_asan_link_order=0
    # The command: what it prints, and its status.
    does='echo ran; grep SigBlk /proc/self/status; exit 7'
    expected=$(sh -c "$does") || true
    unsupervised="whichcudnn: not supervised: no process could be made: "
}

run_it() { "$CMD" run "$@"; }

# does_the_same COMMAND...: the one line that is said, beside a next step.
does_the_same() {
    run -7 --separate-stderr timeout -k 1 20 "$@" 3>&- 4>&- 5>&-
    is "$output" "$expected"
    is "$(grep -vc '^  next ' <<<"$stderr")" 1
}
# As before, and the line begins with that.
says() { # TEXT COMMAND...
    does_the_same "${@:2}"
    [[ $stderr == "$1"* ]] || {
        echo "$stderr"
        return 1
    }
}

@test "four and five descriptors: not supervised; the verdict says so, too" {
    for n in 4 5; do
        # shellcheck disable=SC2016 # for that shell
        says "$unsupervised"'Too many open files' sh -c 'ulimit -n '"$n"'; exec "$@"' sh "$CMD" run --verdict-file v -- sh -c "$does"
        is "$(cat v)" "not supervised: no process could be made: Too many open files"
        rm v
    done
    says 'whichcudnn: not observed: no cuDNN' sh -c 'ulimit -n 6; exec "$@"' sh "$CMD" run -- sh -c "$does"
}

@test "not supervised it is watched all the same: the library keeps a log, and says errors by itself" {
    make_standin 9.1.0 set
    make_standin 9.5.0 set --without facade
    build_host lazy set host
    for option in '' --quiet '--log /dev/null'; do
        rm -rf logs && mkdir logs
        # shellcheck disable=SC2016,SC2086 # for that shell; words
        WHICHCUDNN_LOG=$PWD/logs run -0 --separate-stderr sh -c 'ulimit -n 5; exec "$@"' sh \
            "$CMD" run $option -- ./host version 3>&-
        is "$output" "version 90500"
        is "$(find logs -type f | wc -l)" "$([[ $option == *null ]] && echo 0 || echo 1)"
        is "$(grep -c 'error\[facade-and-parts-differ\]' <<<"$stderr")" "$([ "$option" = --quiet ] && echo 0 || echo 1)"
        [[ $option == *null ]] || is "$(field process run_pid "$(the_log logs)")" null
    done
    is "$(ls -d whichcudnn-* 2>/dev/null)" "" # no passing place stays
    run -127 --separate-stderr sh -c 'ulimit -n 5; exec "$@"' sh "$CMD" run -- no-such-command 3>&-
    [[ $stderr == *"no-such-command: No such file or directory" ]]
}

@test "no other process: RLIMIT_NPROC" {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    cp "$CMD" "$SHIM" .
    chmod a+rwx . && chmod a+x "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR/.." "$BATS_FILE_TMPDIR"
    does="echo ran; exit 7" expected=ran
    # shellcheck disable=SC2016 # for that shell
    says "$unsupervised"'Resource temporarily unavailable' setpriv --reuid 65533 --regid 65533 --clear-groups \
        sh -c 'ulimit -u 0 2>/dev/null || ulimit -p 0; exec "$@"' sh ./whichcudnn run -- sh -c "$does"
}

@test "no other process: a full pids cgroup" {
    local group
    [ "$(id -u)" -eq 0 ] || skip "not root"
    for group in /sys/fs/cgroup/pids /sys/fs/cgroup; do
        group=$group/whichcudnn-$$
        mkdir "$group" 2>/dev/null && echo 1 2>/dev/null >"$group/pids.max" && break
        rmdir "$group" 2>/dev/null || true
        group=
    done
    [ -n "$group" ] || skip "no pids cgroup can be made"
    does="echo ran; exit 7" expected=ran
    # shellcheck disable=SC2016 # for that shell
    says "$unsupervised"'Resource temporarily unavailable' \
        sh -c 'echo $$ >"$0" && exec "$@"' "$group/cgroup.procs" "$CMD" run -- sh -c "$does"
    rmdir "$group"
}

# refused CALL ERRNO COMMAND...: under a filter that refuses it.
refused() {
    "$BATS_FILE_TMPDIR/filtered" "$(printf '#include <sys/syscall.h>\nSYS_%s\n' "$1" | gcc -E -P - | tail -n 1):$2" "${@:3}"
}

@test "system calls that a sandbox refuses" {
    does="echo ran; exit 7" expected=ran
    export -f refused
    local call
    for call in 'clone 1' 'signalfd4 38' 'pipe2 24'; do
        # shellcheck disable=SC2016,SC2086 # for that shell; words
        says "$unsupervised" bash -c 'refused "$@"' bash $call "$CMD" run -- sh -c "$does"
    done
    for call in 'inotify_init1 38' 'pidfd_open 1' 'clone3 38' 'prctl 1'; do
        # shellcheck disable=SC2016,SC2086 # for that shell; words
        says 'whichcudnn: not observed: no cuDNN' bash -c 'refused "$@"' bash $call "$CMD" run -- sh -c "$does"
    done
}

@test "a verdict file that cannot be written" {
    mkfifo fifo
    mkdir directory
    says "whichcudnn: fifo: the verdict was not written: no process reads from it" \
        "$CMD" run --quiet --verdict-file fifo -- sh -c "$does"
    says "whichcudnn: /dev/full: the verdict was not written: No space left on device" \
        "$CMD" run --quiet --verdict-file /dev/full -- sh -c "$does"
    says "whichcudnn: directory: the verdict was not written: Is a directory" \
        "$CMD" run --quiet --verdict-file directory -- sh -c "$does"
    # A file that may hold no more: the reason of the rest, not of the beginning.
    # shellcheck disable=SC2016 # for that shell
    run -0 bash -c 'prlimit --fsize=8 "$@" 2>&1 | cat; exit "${PIPESTATUS[0]}"' bash \
        "$CMD" run --quiet --verdict-file short -- true
    is "$output" "whichcudnn: short: the verdict was not written: File too large"
    # What reads from it gets it.
    exec 8<>fifo
    run -7 run_it --quiet --verdict-file fifo -- sh -c "$does"
    read -r -t 5 -u 8 got
    exec 8>&-
    is "$got" "not observed: no cuDNN was loaded or asked for"
}

@test "a verdict file on a full and on a read-only disk" {
    unshare --mount true 2>/dev/null || skip "no mount namespace"
    mkdir full
    # shellcheck disable=SC2016 # for that shell
    for how in 'dd if=/dev/zero of=full/x bs=4k status=none 2>/dev/null; touch full/v 2>/dev/null' 'mount -o remount,ro full'; do
        says "whichcudnn: full/v: the verdict was not written: " unshare --mount sh -c \
            'mount -t tmpfs -o size=64k,nr_inodes=3 none full; '"$how"'; exec "$@"' sh "$CMD" run --quiet --verdict-file full/v -- sh -c "$does"
    done
}

@test "no directory that can be written, and no /proc" {
    unshare --mount true 2>/dev/null || skip "no mount namespace"
    does="echo ran; exit 7" expected=ran
    # shellcheck disable=SC2016 # for that shell
    says 'whichcudnn: not observed: no cuDNN' unshare --mount sh -c \
        'mount -t tmpfs none /proc && exec "$@"' sh env -u WHICHCUDNN_SHIM "$CMD" run -- sh -c "$does"
    # shellcheck disable=SC2016 # for that shell
    run -7 --separate-stderr unshare --mount sh -c 'for d in "$PWD" /tmp; do
        mount --bind "$d" "$d" && mount -o remount,bind,ro "$d"; done; cd . && exec "$@"' sh "$CMD" run -- sh -c "$does"
    is "$output" ran
    [[ $stderr == *": logs cannot be written here"* ]]
}

@test "descriptors 0, 1 and 2 that are closed stay closed" {
    sh -c 'for i in 0 1 2 3 4 5 6 7; do [ -e /proc/$$/fd/$i ] && echo $i >>bare; done; exit 0' 0<&- 1>&- 2>&- 3>&-
    "$CMD" run --verdict-file v -- \
        sh -c 'for i in 0 1 2 3 4 5 6 7; do [ -e /proc/$$/fd/$i ] && echo $i >>ours; done; exit 7' 0<&- 1>&- 2>&- 3>&- || status=$?
    is "$status" 7
    is "$(cat ours 2>&1)" "$(cat bare 2>&1)"
    is "$(cat v)" "not observed: it failed, and its script does not name the program that it starts"
}

@test "a complaint before the start into a pipe that was closed: the command starts, with the signals as they were" {
    run -0 python3 - "$CMD" "$does" <<'END'
import os, subprocess, sys
reader, writer = os.pipe()
os.close(reader)
for options in (["--log", "/no/such/log"], ["--log", "/no/such/log", "--verdict-file", "/dev/full"]):
    for limit in ([], ["prlimit", "--nofile=5"]):
        done = subprocess.run([*limit, sys.argv[1], "run", *options, "--", "sh", "-c", sys.argv[2]],
                              stdout=subprocess.PIPE, stderr=writer, timeout=20)
        print(done.returncode, done.stdout.decode().split())
END
    for line in "${lines[@]}"; do is "$line" "7 ['ran', 'SigBlk:', '0000000000000000']"; done
    is "${#lines[@]}" 4
}

# ---- memory ----

@test "no more memory while the command runs, and at its end: it goes on, its status counts" {
    make_child
    # shellcheck disable=SC2016 # for the child's shell
    run -7 --separate-stderr run_it -- ./child sick 'prlimit --pid $PPID --as=1; exit 7'
    is "$stderr" "whichcudnn: out of memory"
    # shellcheck disable=SC2016 # for the child's shell
    run -7 --separate-stderr run_it --quiet --stop-on error -- bash -c 'prlimit --pid $PPID --as=1; sleep 1; echo ran; exit 7'
    is "$output|$stderr" "ran|whichcudnn: out of memory"
}

# ---- signals ----

# blocked SIGNALS SECONDS COMMAND...: its status; standard error is a pipe that nothing empties. After so many seconds
# it is sent so many SIGTERMs.
blocked() {
    python3 - "$@" <<'END'
import fcntl, os, signal, subprocess, sys, time
reader, writer = os.pipe()
fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
os.write(writer, bytes(4096))
process = subprocess.Popen(sys.argv[3:], stderr=writer, stdout=subprocess.DEVNULL)
time.sleep(float(sys.argv[2]))
began, signals = time.monotonic(), 0
while process.poll() is None and time.monotonic() - began < 20:
    if signals < int(sys.argv[1]):
        process.send_signal(signal.SIGTERM)
        signals += 1
    time.sleep(1.5)
print(process.poll())
process.kill()
END
}

@test "SIGTERM ends run while it waits to say what it has to say at the end; the status is the command's" {
    make_child
    is "$(blocked 1 1.5 "$CMD" run -- ./child sick 'exit 7')" 7
}

@test "SIGTERM reaches the command while run waits to say an error of it" {
    make_child
    is "$(blocked 2 5 "$CMD" run -- ./child sick 'sleep 100')" 143
}

@test "a timer that was set before run ends the command" {
    command -v perl >/dev/null || skip "no perl"
    run -142 perl -e 'alarm 1; exec @ARGV' "$CMD" run --quiet -- sleep 20
}
