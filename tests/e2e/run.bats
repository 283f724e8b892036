#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn run: the child lives as without it, and its end is told.
#
# Most children here write their log themselves, under an empty library in the shim's place: what is
# tested is the parent. The last tests run it with the shim.

bats_require_minimum_version 1.5.0
load helpers

# These tests are where logs go by default.
setup() {
    mkdir "$BATS_TEST_TMPDIR/whichcudnn" && cd "$BATS_TEST_TMPDIR/whichcudnn" || return
    echo | "${CC:-gcc}" -shared -fPIC -x c - -o empty.so
    export WHICHCUDNN_SHIM=$PWD/empty.so
    # A command built with a sanitizer minds a preload that comes before its own.
    export ASAN_OPTIONS=verify_asan_link_order=0
    export TMPDIR=$PWD XDG_STATE_HOME=$BATS_TEST_TMPDIR # nothing of these tests in /tmp
}

run_it() { "$CMD" run "$@"; }

# ---- the child is left alone ----

@test "status, output and input are the child's" {
    run -0 --separate-stderr run_it --quiet -- sh -c 'echo out; echo err >&2'
    is "$output|$stderr" "out|err"
    run -7 run_it --quiet -- sh -c 'exit 7'
    run -255 run_it --quiet sh -c 'exit 255'
    run -137 run_it --quiet -- sh -c 'kill -9 $$'
    run -139 run_it --quiet -- sh -c 'kill -SEGV $$'
    run -130 run_it --quiet -- python3 -c 'import os, signal
signal.signal(signal.SIGINT, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGINT)'
    is "$(echo in | run_it --quiet -- cat)" in
    : >nine
    is "$(run_it --quiet -- readlink /proc/self/fd/9 9<nine)" "$PWD/nine"
    # No descriptor more than without it.
    is "$(run_it --quiet -- sh -c 'ls /proc/self/fd | wc -l')" "$(sh -c 'ls /proc/self/fd | wc -l')"
}

@test "what cannot be started: 127 and 126, with the reason" {
    run -127 run_it -- no-such-command-anywhere
    is "$output" "whichcudnn: no-such-command-anywhere: No such file or directory"
    run -126 run_it -- /
    is "$output" "whichcudnn: /: Permission denied"
    : >plain
    run -126 run_it -- ./plain
    is "$output" "whichcudnn: ./plain: Permission denied"
    run -1 compgen -G 'whichcudnn-*'
}

@test "broken libraries in LD_LIBRARY_PATH, of which the command needs two, do not stop it" {
    mkdir broken
    : >broken/libz.so.1
    : >broken/libjansson.so.4
    LD_LIBRARY_PATH=$PWD/broken run -3 --separate-stderr "$WHICHCUDNN" run -- sh -c 'exit 3'
    [[ $stderr != *"error while loading"* ]]
}

@test "LD_PRELOAD: others first, ours last and once" {
    cp empty.so other.so
    is "$(LD_PRELOAD='' run_it --quiet -- printenv LD_PRELOAD)" "$PWD/empty.so"
    is "$(LD_PRELOAD=$PWD/other.so run_it --quiet -- printenv LD_PRELOAD)" \
        "$PWD/other.so:$PWD/empty.so"
    is "$(LD_PRELOAD="$PWD/empty.so $PWD/other.so" run_it --quiet -- printenv LD_PRELOAD)" \
        "$PWD/empty.so $PWD/other.so"
}

@test "the library: named, beside the command, in ../lib; a clear word where it is not" {
    mkdir -p bin lib 'a b'
    cp "$CMD" bin/
    cp empty.so bin/libwhichcudnn.so
    unset WHICHCUDNN_SHIM
    is "$(bin/whichcudnn run --quiet -- printenv LD_PRELOAD)" "$PWD/bin/libwhichcudnn.so"
    mv bin/libwhichcudnn.so lib/
    is "$(bin/whichcudnn run --quiet -- printenv LD_PRELOAD)" "$PWD/lib/libwhichcudnn.so"
    rm lib/libwhichcudnn.so
    if [ ! -e /usr/local/lib/libwhichcudnn.so ]; then
        run -2 bin/whichcudnn run -- true
        [[ $output == *"libwhichcudnn.so is neither next to this program"*"WHICHCUDNN_SHIM"* ]]
    fi
    WHICHCUDNN_SHIM=$PWD/nowhere.so run -2 bin/whichcudnn run -- true
    cp empty.so 'a b/libwhichcudnn.so'
    WHICHCUDNN_SHIM="$PWD/a b/libwhichcudnn.so" run -2 bin/whichcudnn run -- true
    [[ $output == *"splits at spaces"* ]]
}

@test "the child knows its own pid as the one that was asked for" {
    # shellcheck disable=SC2016 # for the child's shell
    run -0 run_it --quiet -- sh -c 'echo $$ $WHICHCUDNN_RUN_PID; sh -c "echo \$WHICHCUDNN_RUN_PID; :"'
    read -r own mark <<<"${lines[0]}"
    is "$mark ${lines[1]}" "$own $own"
}

@test "the place of logs: a directory of the user's own, or as named, always absolute" {
    place() { run_it --quiet "$@" -- printenv WHICHCUDNN_LOG; }
    is "$(WHICHCUDNN_LOG=x/%p.log place)" "$PWD/x/%p.log"
    is "$(place --log logs/)" "$PWD/logs/"
    [ -d logs ]
    is "$(WHICHCUDNN_LOG=/elsewhere place --log one.jsonl)" "$PWD/one.jsonl"
    export XDG_STATE_HOME=$PWD/home/state
    mkdir home elsewhere
    is "$(umask 0; place)" "$XDG_STATE_HOME/whichcudnn"
    is "$(stat -c %a home/state/whichcudnn)" 700
    # Not where others may write, or where a link or another user leads.
    chmod 770 home/state/whichcudnn
    is "$(place)" "$XDG_STATE_HOME/whichcudnn.2"
    rmdir home/state/whichcudnn.2
    ln -s "$PWD/elsewhere" home/state/whichcudnn.2
    is "$(place)" "$XDG_STATE_HOME/whichcudnn.3"
    if [ "$(id -u)" = 0 ]; then
        chown nobody home/state/whichcudnn.3
        is "$(place)" "$XDG_STATE_HOME/whichcudnn.4"
    fi
    is "$(ls -A elsewhere)" ""
    # Nor where another user may rename it, or nothing can be made.
    mkdir -m 777 open
    mkdir -m 700 'of %p'
    for state in "$PWD/open" '' state /proc/nowhere "$PWD/of %p"; do
        [[ $(XDG_STATE_HOME=$state place) == /tmp/whichcudnn-$(id -u)?(.?) ]]
    done
}

@test "an ok leaves nothing in the working directory, and report finds what it left" {
    make_child
    mkdir work
    cd work
    run -0 --separate-stderr run_it -- ../child ../fine :
    [[ $stderr == *"log      $XDG_STATE_HOME/whichcudnn/whichcudnn-n-"* ]]
    is "$(ls -A)" ""
    run -0 "$CMD" report
    [[ $output == *"cuDNN 9.1.0"*"/v/libcudnn.so.9"* ]]
}

@test "a place where logs cannot be is told, and the command runs all the same" {
    run -5 --separate-stderr run_it --log /no/such/place/log.jsonl -- sh -c 'echo ran; exit 5'
    is "$output" ran
    [[ $stderr == *"/no/such/place: logs cannot be written here"* ]]
}

# ---- signals ----

@test "each signal sent to run reaches the child, and its answer is the status" {
    cat >sender.py <<'END'
import signal, subprocess, sys
child = """
import signal, sys, time
def answer(number, frame):
    sys.exit(number + 40)
for name in ("INT", "TERM", "HUP", "QUIT", "USR1", "USR2"):
    signal.signal(getattr(signal, "SIG" + name), answer)
signal.alarm(30) # not for ever, whatever goes wrong
print("ready", flush=True)
while True: # a pause would not end by a signal that came just before it
    time.sleep(0.01)
"""
for name in ("INT", "TERM", "HUP", "QUIT", "USR1", "USR2"):
    run = subprocess.Popen([sys.argv[1], "run", "--quiet", "--", sys.executable, "-c", child],
                           stdout=subprocess.PIPE)
    assert run.stdout.readline() == b"ready\n"
    number = getattr(signal, "SIG" + name)
    run.send_signal(number)
    status = run.wait(timeout=10)
    assert status == number + 40, (name, status)
    run.stdout.close()
print("all")
END
    run -0 python3 sender.py "$CMD"
    is "$output" all
}

@test "a key on the terminal reaches the child once, and run stays to its end" {
    cat >terminal.py <<'END'
import os, pty, re, sys
# Busy, so that each signal has arrived before run could add one to it.
child = r"""
import signal, sys, time
seen = 0
def count(number, frame):
    global seen
    seen += 1
signal.signal(signal.SIGINT, count)
for press in range(1, 11):
    print("press", flush=True)
    end = time.monotonic() + 10
    while seen < press and time.monotonic() < end:
        pass
    time.sleep(0.02)
print("seen", seen, flush=True)
sys.exit(33)
"""
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "run", "--quiet", "--", sys.executable, "-c", child])
text, pressed = b"", 0
while not re.search(rb"seen \d+\r\n", text):
    text += os.read(terminal, 1000)
    while pressed < text.count(b"press\r\n"):
        pressed += os.write(terminal, b"\x03")
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print("seen 10" if b"seen 10\r\n" in text else text, status)
END
    run -0 python3 terminal.py "$CMD"
    is "$output" "seen 10 33"
}

@test "one process group, ignored signals and SIGCHLD's way stay as they were" {
    cat >inherit.py <<'END'
import os, signal, subprocess, sys
show = ("import os, signal; print(os.getpgid(0) == os.getpgid(os.getppid()),"
        " signal.getsignal(signal.SIGHUP) == signal.SIG_IGN,"
        " signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN,"
        " sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])) == [signal.SIGUSR1])")
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
os.execv(sys.argv[1], [sys.argv[1], "run", "--quiet", "--", sys.executable, "-c",
                       show + "; raise SystemExit(9)"])
END
    run -9 python3 inherit.py "$CMD"
    is "$output" "True True True True"
}

# ---- the end ----

@test "the end is in the log: status, and nothing in flight where the call came back" {
    make_child
    echo '{"kind":"call","function":"cudnnCreate","phase":"after","status":1001}' >>sick
    run -4 --separate-stderr run_it -- ./child sick 'exit 4'
    is "$(field outcome ending whichcudnn-*.jsonl)" exited
    is "$(last_record outcome whichcudnn-*.jsonl | jq -c '[.exit_status, .signal, .during, .observed]')" \
        '[4,null,null,true]'
    validate_log whichcudnn-*.jsonl
    is "$(tail -n 1 whichcudnn-*.jsonl | jq -r .kind)" outcome
    [[ $stderr == "whichcudnn: cuDNN 9.1.0 "*$'\n'"whichcudnn: error["*"9.1.0"*"suggestion "*"9.8"*"log "*"$PWD/whichcudnn-n-"* ]]
    [[ $stderr == *$'\nprocess  '*", ended with status 4"$'\n'* && $stderr != *during* ]]
}

@test "the end after SIGKILL: by what, during what, and what was found" {
    make_child
    run -137 --separate-stderr run_it -- ./child sick 'kill -9 $$'
    is "$(last_record outcome whichcudnn-*.jsonl |
        jq -c '[.ending, .signal, .signal_name, .exit_status, .during, .during_seq]')" \
        '["signaled",9,"SIGKILL",null,"cudnnCreate",8]'
    validate_log whichcudnn-*.jsonl
    [[ $stderr == *"error["*"9.1.0"* ]]
    [[ $stderr == *$'\nprocess  '*", killed by SIGKILL, during cudnnCreate"* ]]
    is "$(grep -c SIGKILL <<<"$stderr")" 1
    run -1 "$CMD" report .
    [[ $output == *"process  "*", killed by SIGKILL, during cudnnCreate"* ]]
}

@test "half a line that the child left is closed, and the end stands on its own" {
    make_child
    # shellcheck disable=SC2016 # for the child's shell
    run -0 run_it --quiet -- ./child sick 'printf "{\"v\":1,\"ki" >>$WHICHCUDNN_LOG/whichcudnn-n-$$-1.jsonl'
    is "$(tail -n 1 whichcudnn-*.jsonl | jq -r .kind)" outcome
    run -1 "$CMD" report .
    [[ $output == *"line 9 could not be read"* && $output == *"process  "*", exited 0"* ]]
}

@test "a healthy run: which cuDNN, ok, the log; quiet is quiet" {
    make_child
    run -0 --separate-stderr run_it -- ./child fine :
    # shellcheck disable=SC2154 # of bats
    is "${stderr_lines[0]}" "whichcudnn: cuDNN 9.1.0 from /v for _versions.so"
    is "${stderr_lines[1]}" "whichcudnn: ok"
    is "${#stderr_lines[@]}" 3
    run -0 --separate-stderr run_it --quiet -- ./child sick :
    is "$output$stderr" ""
}

@test "children of the child are told too, logs of others are not" {
    make_child
    sed 's/RUN_PID/1/' sick | make_log whichcudnn-n-1-1.jsonl # an old one
    before=$(cat whichcudnn-n-1-1.jsonl)
    run -0 --separate-stderr run_it -- sh -c './child sick :; ./child fine :; :'
    is "$(grep -c '^whichcudnn: ' <<<"$stderr")" 3
    [[ $stderr == "whichcudnn: cuDNN "*"error["*"whichcudnn: ok in "* ]]
    # The child itself wrote no log; how it ended is in those of its children, which end no worse.
    is "$(records outcome whichcudnn-*.jsonl | jq -c '[.pid == .child, .exit_status]' | sort -u)" '[false,0]'
    is "$(cat whichcudnn-n-1-1.jsonl)" "$before"
    [[ $stderr != *whichcudnn-n-1-1* ]]
}

@test "an old log is not the child's, although it has its number" {
    make_child
    run -0 run_it -- bash -c "sed \"s/RUN_PID/\$\$/\" sick |
        '$PY' '$WC_ROOT/tests/schema/complete.py' >whichcudnn-n-1-1.jsonl"
    [[ $(jq .run_pid whichcudnn-n-1-1.jsonl | head -n 1) =~ ^[0-9]+$ ]]
    [[ $output == "whichcudnn: not observed: "* ]]
    is "$(records outcome whichcudnn-n-1-1.jsonl)" ""
}

@test "a log under the name that was given" {
    make_child
    # shellcheck disable=SC2016 # for the child's shell
    sed -i 's|\$WHICHCUDNN_LOG/whichcudnn-n-\$\$-1.jsonl|${WHICHCUDNN_LOG/\\%p/$$}|' child
    run -0 --separate-stderr run_it --log one.jsonl -- ./child sick :
    [[ $stderr == *"log         $PWD/one.jsonl"* ]]
    is "$(field outcome ending one.jsonl)" exited
    run -0 --separate-stderr run_it --log job-%p.log -- ./child sick :
    [[ $stderr == *"log         $PWD/job-"[0-9]*".log"* ]]
    is "$(field outcome ending job-*.log)" exited
}

# ---- nothing observed ----

# A program that needs a host, which needs a cuDNN that no search of the loader finds; and a copy.
make_stopped() {
    mkdir -p conda/lib stopped
    # The second one came with 8.
    echo 'int cudnnCreate(void **h) { return !h; } int cudnnBackendFinalize(void *d) { return !d; }' |
        "${CC:-gcc}" -shared -fPIC -Wl,-soname,libcudnn.so.8 -x c - -o conda/lib/libcudnn.so.8
    echo 'int cudnnCreate(void **); int host(void) { void *h; return cudnnCreate(&h); }' |
        "${CC:-gcc}" -shared -fPIC -Wl,-soname,libhost.so -x c - -x none conda/lib/libcudnn.so.8 \
            -o stopped/libhost.so
    echo 'int host(void); int main(void) { return host(); }' |
        "${CC:-gcc}" -x c - -x none stopped/libhost.so -o stopped/app \
            -Wl,-rpath,"\$ORIGIN" -Wl,--allow-shlib-undefined
    is "$(LD_LIBRARY_PATH=conda/lib stopped/app && echo well)" well
    unset LD_LIBRARY_PATH CONDA_PREFIX CUDA_HOME
}

@test "a program that ends in the loader: what its files say is missing, and where a copy is" {
    make_stopped
    CONDA_PREFIX=$PWD/conda run -127 without_cache "$CMD" run --log logs/ -- stopped/app
    [[ $output == *"error["*"]: libhost.so needs libcudnn.so.8, which was not found"* ]]
    [[ $output == *"  fix       export "*"LD_LIBRARY_PATH=$PWD/conda/lib"* ]]
    [[ $output == *"it ended in the loader"* ]]
    log=$(the_log logs)
    validate_log "$log"
    is "$(field failure operation "$log") $(field failure inferred "$log")" "needed true"
    is "$(field candidate path "$log")" "$PWD/conda/lib/libcudnn.so.8"
    is "$(field outcome observed "$log") $(field process executable "$log")" \
        "false $PWD/stopped/app"
    # What is not on the list of the log is not in it.
    run -1 grep -E '"(PATH|HOME)=' "$log"
    # Our own library, which is preloaded, wants nothing.
    run -1 grep -E '"(path|caller|host_path)":"[^"]*libwhichcudnn' "$log"
    # A name of logs that only a process completes: there is none, and no line about it.
    run -127 without_cache "$CMD" run --log 'own-%p.jsonl' -- stopped/app
    [[ $output != *"whichcudnn: :"* && $output != *$'\nlog '* ]]
    "$CMD" report --json "$log" >report.json || true
    validate_report report.json
    # Where the variable is set there is nothing to tell.
    LD_LIBRARY_PATH=$PWD/conda/lib run -0 run_it --log well/ -- stopped/app
    [[ $output != *error* ]]
}

@test "a program that ends in the loader: by a damaged file, or by a library of nobody's" {
    make_stopped
    cp conda/lib/libcudnn.so.8 kept.so
    : >conda/lib/libcudnn.so.8
    LD_LIBRARY_PATH=$PWD/conda/lib run -127 run_it --log logs/ -- stopped/app
    [[ $output == *"error["*"]: libhost.so"*"libcudnn.so.8, which is empty"* ]]
    validate_log "$(the_log logs)"
    # Its segments do not lie on pages; it is a program.
    cp kept.so conda/lib/libcudnn.so.8
    printf '\010' | dd of=conda/lib/libcudnn.so.8 bs=1 seek=136 conv=notrunc status=none
    LD_LIBRARY_PATH=$PWD/conda/lib run -127 run_it --log torn/ -- stopped/app
    [[ $output == *"error["*"]: libhost.so"*"libcudnn.so.8, which is a library whose segments do"* ]]
    cp "$CMD" conda/lib/libcudnn.so.8
    LD_LIBRARY_PATH=$PWD/conda/lib run -127 run_it --log program/ -- stopped/app
    [[ $output == *"error["*"]: libhost.so"*"libcudnn.so.8, which is a program"* ]]
    rm stopped/libhost.so
    run -127 run_it --log other/ -- stopped/app
    [[ $output == *"not observed: it ended in the loader: libhost.so, which $PWD/stopped/app needs, was not found"* ]]
    is "$(field outcome observed "$(the_log other)")" false
    # What works with cuDNN itself is our affair, whatever it lacks.
    cp kept.so conda/lib/libcudnn.so.8
    echo 'int other(void) { return 0; }' |
        "${CC:-gcc}" -shared -fPIC -Wl,-soname,libother.so -x c - -o stopped/libother.so
    echo 'int other(void); int main(void) { return other(); }' |
        "${CC:-gcc}" -x c - -x none -Wl,--no-as-needed conda/lib/libcudnn.so.8 stopped/libother.so \
            -o stopped/own -Wl,--allow-shlib-undefined
    rm stopped/libother.so
    LD_LIBRARY_PATH=$PWD/conda/lib run -127 run_it --log own/ -- stopped/own
    [[ $output == *"error[dependency-missing]: own could not be loaded: it needs libother.so,"* ]]
    [[ $output == *"  suggestion install the package that contains libother.so where the loader finds it"* ]]
    WHICHCUDNN_DISABLE=1 run -127 run_it -- stopped/app
    [[ $output == *"WHICHCUDNN_DISABLE is set"* ]]
    # It is the loader's status, but not the loader's doing.
    WHICHCUDNN_SHIM=$SHIM run -127 run_it -- sh -c 'exit 127'
    is "${lines[0]}" "whichcudnn: not observed: no cuDNN was loaded or asked for"
}

# Bash starts what it is given; what the script sets counts, and what nobody can know is not guessed.
@test "a program that ends in the loader behind a script" {
    make_stopped
    printf '#!/bin/sh\nset -e\n"$@"\n' >waits
    printf '#!/bin/sh\nexport LD_LIBRARY_PATH=%s${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\nexec %s\n' \
        "$PWD/conda/lib" "$PWD/stopped/app" >execs
    printf '#!/bin/sh\nmodule() { :; }\nmodule load cudnn\nstopped/app\n' >loads
    chmod +x waits execs loads
    refused() { # STATUS COMMAND...
        rm -rf logs
        run -"$1" run_it --log logs/ -- "${@:2}"
        [[ $output == *"error["*"]: libhost.so needs libcudnn.so.8, which was not found"* ]]
        [[ $output == *"what a script started ended in the loader"* ]]
        validate_log "$(the_log logs)"
        is "$(field process executable "$(the_log logs)")" "$PWD/stopped/app"
    }
    refused 127 ./waits stopped/app
    refused 127 ./waits env A=b stopped/app
    refused 5 sh -c 'stopped/app || exit 5'
    refused 1 sh -c 'timeout 20 stopped/app; exit 1'
    refused 1 sh -c 'timeout 20 stopped/app 2>&1 | cat >out; grep -q fine out'
    refused 3 sh -c 'echo on && nohup nice -n 1 env A=b stopped/app; exit 3'
    # A program that starts what it is given, and passes its status on.
    echo 'import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)' >starts.py
    run -127 run_it --log passed/ -- "$WC_PYTHON" starts.py stopped/app
    [[ $output == *"error["*"]: libhost.so needs libcudnn.so.8, which was not found"* ]]
    echo 'import sys; sys.exit(3)' >looks.py
    run -3 run_it --log looked/ -- "$WC_PYTHON" looks.py stopped/app
    [[ $output == "whichcudnn: not observed: "* ]]
    mv conda/lib/libcudnn.so.8 kept
    refused 127 ./execs
    mv kept conda/lib/libcudnn.so.8
    run -0 run_it --log well/ -- ./execs
    [[ $output != *error* ]]
    run -127 run_it --log other/ -- ./loads
    [[ $output == *"whichcudnn: not observed: the library left no log of the command"* ]]
    WHICHCUDNN_SHIM=$SHIM run -5 run_it --log other/ -- sh -c 'if true; then stopped/app; fi; exit 5'
    [[ $output == *"whichcudnn: not observed: it failed, and its script does not name the program that it starts"$'\n'"  next  "* ]]
    # What the script sets is the script's to change.
    echo 'int cudaFree;' | "${CC:-gcc}" -shared -fPIC -Wl,-soname,libcudart.so.11.0 -x c - -o gone.so
    echo 'extern int cudaFree; int *hook = &cudaFree;' | "${CC:-gcc}" -shared -fPIC -x c - -x none ./gone.so -o hook.so
    rm gone.so
    printf '#!/bin/sh\nexport LD_PRELOAD=$LD_PRELOAD:%s\nexec stopped/app\n' "$PWD/hook.so" >hooks
    chmod +x hooks
    LD_LIBRARY_PATH=conda/lib run -127 run_it --log hooked/ -- ./hooks
    [[ $output == *"suggestion sed -i "*"$PWD/hook.so#"*" $PWD/hooks"*"not replayed: whether the program needs hook.so is not known"* ]]
    sh -c "$("$CMD" report --json hooked | jq -r '[.. | .command? // empty] | first')"
    LD_LIBRARY_PATH=conda/lib run -0 ./hooks
}

# What a script makes of it says nothing then; what may not have been started is nobody's fault.
@test "a program that ends in the loader behind a script that goes on and ends well" {
    make_stopped
    export WHICHCUDNN_SHIM=$SHIM
    passed_over() { # COMMAND...
        rm -rf logs
        run -0 run_it --log logs/ -- "$@"
        [[ $output == *"error["*"]: libhost.so needs libcudnn.so.8, which was not found"* ]]
        [[ $output == *"and the script went on"* ]]
        [[ $output != *ok:* ]]
        validate_log "$(the_log logs)"
        run -1 "$CMD" report logs/
    }
    printf '#!/bin/bash\n%s/app >out 2>&1\necho done\n' "$PWD/stopped" >goes_on
    chmod +x goes_on
    passed_over ./goes_on
    passed_over sh -c 'stopped/app || true'
    passed_over sh -c './goes_on; stopped/app | cat'
    passed_over bash -c '(stopped/app; exit 0) | cat || true; { time stopped/app; } >out; echo'
    passed_over bash -ec 'echo starting; if ! stopped/app 2>out; then echo; fi'
    passed_over bash -ec 'while stopped/app; do echo; done'
    # Beside one that does well.
    run -0 run_it --log beside/ -- sh -c "LD_LIBRARY_PATH=$PWD/conda/lib stopped/app; stopped/app; true"
    [[ $output == *"error["*"]: libhost.so needs libcudnn.so.8, which was not found"* ]]
    validate_log beside/*
    run -127 run_it --log last/ -- sh -c "LD_LIBRARY_PATH=$PWD/conda/lib stopped/app; stopped/app"
    [[ $output == *"error["*"]: libhost.so needs libcudnn.so.8, which was not found"* ]]
    run -0 run_it --log well/ -- sh -c "LD_LIBRARY_PATH=$PWD/conda/lib stopped/app; [ -e none ] && stopped/app; true"
    [[ $output == *"whichcudnn: ok"* ]]
    # A probe, by a program that works, or whose message is discarded.
    local script well="LD_LIBRARY_PATH=$PWD/conda/lib stopped/app"
    for script in "if stopped/app; then true; else $well; fi" "stopped/app || $well" "! stopped/app; $well"; do
        run -0 run_it --log probe/ -- sh -c "$script"
        [[ $output == *"whichcudnn: ok"* && $output != *"whichcudnn: error"* ]]
    done
    run -0 run_it --log muted/ -- sh -c 'if stopped/app 2>/dev/null; then echo a GPU; fi'
    [[ $output == *"not observed: no cuDNN was loaded or asked for" ]]
    run -3 run_it --log last/ -- sh -c "$well; stopped/app 2>/dev/null || exit 3"
    [[ $output == *"error["*"]: libhost.so needs libcudnn.so.8, which was not found"* ]]
    run -0 run_it --log ignored/ -- sh -c 'stopped/app 2>/dev/null; echo done'
    [[ $output == *"error["*"]: libhost.so needs libcudnn.so.8, which was not found"* ]]
    for script in 'if false; then stopped/app; fi; echo' '[ -e none ] && stopped/app; echo' 'exit 0; stopped/app'; do
        run -0 run_it --log handled/ -- sh -c "$script"
        [[ $output == *"not observed: no cuDNN was loaded or asked for" ]]
    done
    # Well, and of nothing to do with cuDNN.
    echo 'int main(void) { return 0; }' | "${CC:-gcc}" -x c - -o plain -L conda/lib
    run -0 run_it -- sh -c './plain; echo'
    [[ $output == *"not observed: no cuDNN was loaded or asked for" ]]
}

# With -z now, which is usual, the loader looks for all functions before anything runs.
@test "a program that ends in the loader for want of a function" {
    make_standin 8.9.2 new
    make_standin 8.2.0 old
    mkdir lib
    cp new/* lib/
    echo 'int cudnnGetMaxDeviceVersion(void); int main(int n, char **v) { return n > 7 ? cudnnGetMaxDeviceVersion() : 0; }' >c.c
    "${CC:-gcc}" c.c lib/libcudnn.so.8 -o app -Wl,-z,now,-rpath,"$PWD/lib",--allow-shlib-undefined
    run -0 run_it --log well/ -- ./app
    [[ $output != *error* ]]
    cp old/* lib/
    run -127 run_it --log logs/ -- ./app
    [[ $output == *"error[missing-symbols]: app imports cudnnGetMaxDeviceVersion, which libcudnn.so.8"* ]]
    validate_log "$(the_log logs)"
    run -127 run_it --log more/ -- sh -c './app; exit $?'
    [[ $output == *"error[missing-symbols]"* ]]
}

# libcublas of one release, and before the libcublasLt that it was built with that of an older one.
@test "a program that ends in the loader for want of a function of CUDA's" {
    mkdir -p old new
    echo 'libcublasLt.so.13 { global: *; };' >lt.map
    lt() { "${CC:-gcc}" -shared -fPIC -Wl,-soname,libcublasLt.so.13,--version-script=lt.map -x c - -o "$1/libcublasLt.so.13"; }
    echo 'int cublasLtCreate(void) { return 0; }' | lt old
    echo 'int cublasLtCreate(void) { return 0; } int cublasLtGetStatusString(void) { return 0; }' | lt new
    echo 'int cublasLtGetStatusString(void); int cublasCreate(void) { return cublasLtGetStatusString(); }' |
        "${CC:-gcc}" -shared -fPIC -Wl,-soname,libcublas.so.13,-z,now,-rpath,"\$ORIGIN",--enable-new-dtags \
            -x c - -x none new/libcublasLt.so.13 -o new/libcublas.so.13
    echo 'int cublasCreate(void); int cudnnCreate(void **h) { *h = 0; return cublasCreate(); }' |
        "${CC:-gcc}" -shared -fPIC -Wl,-soname,libcudnn.so.9,-rpath,"\$ORIGIN" -x c - -x none new/libcublas.so.13 \
            -o new/libcudnn.so.9
    echo 'int cudnnCreate(void **); int main(void) { void *h; return cudnnCreate(&h); }' |
        "${CC:-gcc}" -x c - -x none new/libcudnn.so.9 -o app -Wl,-rpath,"$PWD/new",--allow-shlib-undefined
    run -0 run_it --log well/ -- ./app
    LD_LIBRARY_PATH=$PWD/old run -127 run_it --log logs/ -- ./app
    [[ $output == *"error[symbol-version-not-found]: libcublas.so.13 was linked with another"*"cublasLtGetStatusString is not in it"* ]]
    [[ $output == *"$PWD/old/libcublasLt.so.13"* ]]
    log=$(the_log logs)
    validate_log "$log"
    grep -q "\"kind\":\"candidate\".*\"path\":\"$PWD/new/libcublasLt.so.13\"" "$log"
    # What another library defines in its place is there.
    echo 'int cublasLtGetStatusString(void) { return 0; }' | "${CC:-gcc}" -shared -fPIC -x c - -o instead.so
    LD_PRELOAD=$PWD/instead.so LD_LIBRARY_PATH=$PWD/old run -0 run_it --log instead/ -- ./app
}

# A library of another major under the name: glibc refuses the program with status 1.
@test "a program that is refused for a symbol version" {
    echo 'int cudnnCreate(void **h) { return !h; }' >c.c
    echo 'libcudnn.so.8 { global: *; };' >8.map
    echo 'libcudnn.so.9 { global: *; };' >9.map
    local major
    mkdir lib
    for major in 8 9; do
        "${CC:-gcc}" -shared -fPIC -Wl,-soname,libcudnn.so.$major,--version-script,$major.map c.c -o lib/libcudnn.so.$major
    done
    echo 'int cudnnCreate(void **); int main(void) { void *h; return cudnnCreate(&h); }' |
        "${CC:-gcc}" -x c - -x none lib/libcudnn.so.8 -o app -Wl,-rpath,"$PWD/lib"
    run -0 run_it --log well/ -- ./app
    ln -sf libcudnn.so.9 lib/libcudnn.so.8
    run -1 run_it --log logs/ -- ./app
    [[ $output == *"error[wrong-name]: app needs libcudnn.so.8 and got libcudnn.so.9 under that name"* ]]
    validate_log "$(the_log logs)"
    is "$(field failure text "$(the_log logs)")" \
        "$PWD/lib/libcudnn.so.8: version \`libcudnn.so.8' not found (required by $PWD/app)"
    # By a name of its own: then it is the symbol version alone.
    "${CC:-gcc}" -shared -fPIC -Wl,-soname,libcudnn.so.8.9.7,--version-script,9.map c.c -o other
    rm lib/libcudnn.so.8
    mv other lib/libcudnn.so.8
    run -1 run_it --log third/ -- sh -c './app; exit $?'
    [[ $output == *"error[symbol-version-not-found]: app was linked with another libcudnn.so.8"* ]]
    run -0 run_it --log fourth/ -- sh -c './app; true'
    [[ $output == *"error[symbol-version-not-found]: app was linked with another libcudnn.so.8"* ]]
}

@test "why nothing was observed: a static program, a script of one, another machine" {
    echo 'int main(void) { return 3; }' | "${CC:-gcc}" -static -x c - -o static
    run -3 run_it -- ./static
    [[ $output == "whichcudnn: not observed: "*"/static is linked statically"* ]]
    echo 'int main(void) { return 3; }' | "${CC:-gcc}" -static-pie -fPIE -x c - -o static-pie
    run -3 run_it -- ./static-pie
    [[ $output == "whichcudnn: not observed: "*"/static-pie is linked statically"* ]]
    printf '#! %s/static an argument\n' "$PWD" >script
    chmod +x script
    run -3 run_it -- ./script
    [[ $output == *"/static is linked statically"* ]]
    PATH=$PWD:$PATH run -3 run_it -- static
    [[ $output == *"/static is linked statically"* ]]
    WHICHCUDNN_SHIM=$SHIM run -0 run_it -- /bin/true
    is "$output" "whichcudnn: not observed: no cuDNN was loaded or asked for"
    # A library that is none of ours leaves no log of a command that ended well.
    run -0 run_it -- /bin/true
    is "$output" "whichcudnn: not observed: the library left no log of the command: it was not preloaded there, or could write none"
    run -1 run_it --fail-on error -- /bin/true
    WHICHCUDNN_DISABLE=1 run -0 run_it -- /bin/true
    is "$output" "whichcudnn: not observed: WHICHCUDNN_DISABLE is set"
    run -1 compgen -G 'whichcudnn-*'
}

@test "why nothing was observed: a set-user-ID program" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to make one"
    chmod 755 . "$BATS_RUN_TMPDIR" "$(dirname "$BATS_RUN_TMPDIR")" "$(dirname "$PWD")"
    cp /bin/true suid
    chmod 4755 suid
    cp "$CMD" whichcudnn
    run -0 setpriv --reuid=65534 --regid=65534 --clear-groups ./whichcudnn run -- ./suid
    [[ $output == *"/suid runs with another user's or group's rights"* ]]
    [[ $output != *LD_LIBRARY_PATH* ]]
    # By a script, and for root as well.
    chmod 755 suid
    chgrp 65534 suid
    chmod 2755 suid
    printf 'export LD_LIBRARY_PATH=%s\nexec %s/suid\n' "$PWD" "$PWD" >script
    run -0 ./whichcudnn run -- sh script
    [[ $output == *"not observed: "*"/suid runs with another user's or group's rights"*", and ignores LD_LIBRARY_PATH" ]]
    # A script that goes on after it has been another program.
    printf '%s/suid\nexec true\n' "$PWD" >script
    run -0 ./whichcudnn run -- sh script
    [[ $output == *"not observed: "* && $output != *"/suid runs"* ]]
}

@test "why nothing was observed: a set-user-ID or set-group-ID program whose cuDNN LD_LIBRARY_PATH alone leads to" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to make one"
    [ "${COVERAGE:-}" != 1 ] || skip "gcov prints which of its files another user cannot open"
    local as=(setpriv --reuid=65534 --regid=65534 --clear-groups env "LD_LIBRARY_PATH=$PWD/lib" ./whichcudnn run --)
    chmod 755 . "$BATS_RUN_TMPDIR" "$(dirname "$BATS_RUN_TMPDIR")" "$(dirname "$PWD")"
    mkdir lib
    echo 'int cudnnCreate(void) { return 0; }' | "${CC:-gcc}" -shared -fPIC -Wl,-soname,libcudnn.so.5 -o lib/libcudnn.so.5 -x c -
    echo 'int cudnnCreate(void); int main(void) { return cudnnCreate(); }' >host.c
    "${CC:-gcc}" host.c -o host lib/libcudnn.so.5
    "${CC:-gcc}" host.c -o whole lib/libcudnn.so.5 -Wl,-rpath,"$PWD/lib"
    echo 'int main(void) { return 127; }' | "${CC:-gcc}" -x c - -o fails
    cp "$CMD" whichcudnn
    for rights in 4755 2755; do
        chmod "$rights" host whole fails
        run -127 "${as[@]}" ./host
        [[ $output == *"the loader ignores LD_LIBRARY_PATH for it; it ended in the loader: libcudnn.so.5, which "*"/host needs, was not found"* ]]
        run -0 "${as[@]}" ./whole
        [[ $output == *"preloads nothing into it" ]]
        run -127 "${as[@]}" ./fails
        [[ $output == *"preloads nothing into it" ]]
    done
}

@test "why nothing was observed is left where a log was named" {
    echo 'int main(void) { return 3; }' | "${CC:-gcc}" -static -x c - -o static
    mkdir logs
    run -3 run_it --quiet --log logs -- ./static
    is "$(records outcome logs/whichcudnn-*-outcome.jsonl | jq -c '[.ending, .exit_status, .observed]')" '["exited",3,false]'
    validate_log logs/*
    run -3 "$CMD" report logs
    [[ $output == "not observed: "*"/static is linked statically"* ]]

    run -3 run_it --quiet --log one.jsonl -- ./static
    run -3 run_it --quiet --log one.jsonl -- ./static # not into the log of another run
    is "$(cat one.jsonl one-*.jsonl | wc -l)" 2
    validate_log one*.jsonl

    run -127 run_it --quiet --log never.jsonl -- no-such-command-anywhere
    is "$(jq -r '.ending, .reason' never.jsonl | xargs)" "not-started No such file or directory"
    validate_log never.jsonl
}

@test "usage" {
    run -0 --separate-stderr run_it --help
    [[ $output == "Usage: whichcudnn run"* && -z $stderr ]]
    run -2 run_it
    run -2 run_it --
    run -2 run_it --no-such -- true
    run -2 run_it --color=perhaps -- true
    run -2 run_it --log
}

# ---- with the shim ----

real_shim() { cp "$SHIM" empty.so; }

@test "a host with the shim in it: the log, its end, the verdict" {
    real_shim
    make_standin 9.1.0 cudnn
    build_host now cudnn host
    run -0 --separate-stderr run_it -- ./host version
    log=$(the_log)
    validate_log "$log"
    is "$(head -n 1 "$log" | jq -c '[.kind, .eager, .run_pid == .pid]')" '["process",true,true]'
    is "$(last_record outcome "$log" | jq -c '[.exit_status, .observed, .during]')" '[0,true,null]'
    is "$(records object "$log" | jq -r 'select(.role == "facade") | .real_path' | tail -n 1)" \
        "$PWD/cudnn/libcudnn.so.9"
    [[ $stderr == *"log      $log"* || $stderr == *"log      $PWD/${log#./}"* ]]
}

@test "programs that give way to others by exec leave no logs, the last one has the end" {
    real_shim
    make_standin 9.1.0 cudnn
    build_host now cudnn host
    run -0 --separate-stderr run_it -- bash -c 'exec env bash -c "exec ./host version"'
    validate_log "$(the_log)"
    is "$(field process executable "$(the_log)")" "$PWD/host"
    is "$(field outcome exit_status "$(the_log)")" 0
    is "$(grep -c '^whichcudnn: ' <<<"$stderr")" 2
    rm whichcudnn-*
    # A signal ends the last program: its log is kept, although it came to nothing.
    run -137 --separate-stderr run_it -- bash -c 'exec bash -c "kill -9 \$\$"'
    validate_log "$(the_log)"
    is "$(field outcome signal_name "$(the_log)")" SIGKILL
}

@test "a cuDNN that aborts as it is loaded: the end names the request" {
    real_shim
    make_standin --constructor abort 9.1.0 cudnn
    build_host dlopen cudnn host
    run -134 --separate-stderr env LD_LIBRARY_PATH="$PWD/cudnn" "$CMD" run -- ./host version
    validate_log "$(the_log)"
    is "$(last_record outcome "$(the_log)" | jq -r '.signal_name, .during' | xargs)" \
        "SIGABRT dlopen libcudnn.so.9"
    [[ $stderr == *"ended    killed by SIGABRT, last request: dlopen libcudnn.so.9"* ]]
}

@test "a program without cuDNN leaves nothing behind" {
    real_shim
    run -0 --separate-stderr run_it -- python3 -c 'import ctypes, json, ssl; print("done")'
    is "$output" "done"
    is "$stderr" "whichcudnn: not observed: no cuDNN was loaded or asked for"
    run -1 compgen -G 'whichcudnn-*'
}
