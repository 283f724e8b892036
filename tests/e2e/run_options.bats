#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn run: its options, and that what is found is said once.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    echo | "${CC:-gcc}" -shared -fPIC -x c - -o empty.so
    export WHICHCUDNN_SHIM=$PWD/empty.so ASAN_OPTIONS=verify_asan_link_order=0 TMPDIR=$PWD WHICHCUDNN_LOG=$PWD
    make_child
    cat >note <<'END'
{"kind":"finding","id":"runtime-too-old","severity":"error","title":"x got cuDNN 9.1.0, requires >=9.8","facts":[]}
END
    cat sick note >told
}

run_it() { "$CMD" run "$@"; }
real_shim() { cp "$SHIM" empty.so; }
# What a host is told at the end: a plugin that wants another cuDNN than it gets.
make_host() {
    real_shim
    make_standin 9.1.0 cudnn
    build_host now cudnn host
}

# ---- --expect ----

@test "--expect: the version that should be there" {
    make_host
    run -0 --separate-stderr run_it --expect 9.1 -- ./host version
    [[ $stderr != *expect* ]]
    rm whichcudnn-*
    run -0 --separate-stderr run_it --expect '>=9.8,<10' -- ./host version
    [[ $stderr == *"error["*"9.1.0"*"9.8"* ]]
    is "$(field summary first_finding "$(the_log)")" expectation-not-met
    is "$(WHICHCUDNN_EXPECT=8 run_it --quiet --expect 9.1 -- printenv WHICHCUDNN_EXPECT)" 9.1
    is "$(WHICHCUDNN_EXPECT=8 run_it --quiet -- printenv WHICHCUDNN_EXPECT)" 8
    for bad in nine '>=' @lock ''; do
        run -2 run_it --expect "$bad" -- true
        [[ $output == *"--expect takes a version"* ]]
    done
}

@test "WHICHCUDNN_EXPECT that is no version is told, by the library alone, too" {
    make_host
    WHICHCUDNN_EXPECT=foo run -0 --separate-stderr run_it -- ./host version
    [[ $stderr == *"]: WHICHCUDNN_EXPECT is not a version, not compared: foo"* ]]
    [[ $stderr == *"fix  "*"unset WHICHCUDNN_EXPECT"*"replayed"*"write it as 9.1"* ]]
    rm whichcudnn-*
    WHICHCUDNN_EXPECT=foo WHICHCUDNN_LOG=$PWD/alone.jsonl LD_PRELOAD=$SHIM ./host version
    is "$(records finding alone.jsonl | jq -r '.id + " " + .severity')" "expectation-not-met warning"
}

# ---- --log ----

@test "--log /dev/null: all is said, and no log is left" {
    make_host
    for place in --log=/dev/null --quiet; do
        WHICHCUDNN_LOG=/dev/null run -1 --separate-stderr run_it "$place" --fail-on error \
            --verdict-file verdict --expect '>=9.8,<10' -- ./host version
        [[ $(cat verdict) == "cuDNN 9.1.0 from "*"; error: "*"9.8"* && $(cat verdict) != *log* ]]
        [[ $place == --quiet && -z $stderr ]] ||
            [[ $stderr == *"error["*"9.1.0"*"9.8"* && $stderr != *"  log "* ]]
        is "$(find . -name '*.jsonl*' -o -name 'whichcudnn-*')" ''
    done
    is "$(find /dev -maxdepth 1 -name 'null?*')" ''
}

# ---- --fail-on ----

@test "--fail-on: 1 where the command gave 0, its own status else" {
    run -0 run_it -- ./child sick :
    run -1 run_it --fail-on=error -- ./child sick :
    run -1 run_it --quiet --fail-on warning -- ./child sick :
    run -7 run_it --fail-on error -- ./child sick 'exit 7'
    run -137 run_it --fail-on error -- ./child sick 'kill -9 $$'
    run -0 run_it --fail-on warning -- ./child well :
    WHICHCUDNN_SHIM=$SHIM run -0 run_it --fail-on error -- true
    run -1 run_it --fail-on error -- true # without a library of ours
    # A directory of PATH that may not be read would make it EACCES, and 126.
    PATH=$(getconf PATH) run -127 run_it --fail-on error -- no-such-command-anywhere
}

@test "--fail-on: a warning is no error" {
    # A copy of a release with a documented defect is a warning.
    sed 's/9\.1\.0/9.10.0/; s/>=9\.8/>=9.8/' sick >warned
    run -0 run_it --fail-on error -- ./child warned :
    run -1 run_it --fail-on warning -- ./child warned :
    [[ $output == *"warning["* ]]
    for bad in note none nothing; do
        run -2 run_it --fail-on $bad -- true
        [[ $output == *"--fail-on takes error or warning, not $bad"* ]]
    done
}

# ---- --stop-on ----

@test "--stop-on: the first error ends the command, and what started it" {
    # shellcheck disable=SC2016
    run -1 --separate-stderr timeout 20 "$CMD" run --stop-on error -- ./child told 'sleep 15'
    [[ $stderr == *"error["*"9.1.0"*"ended    by --stop-on, killed by SIGTERM"* ]]
    is "$(grep -c 'error\[' <<<"$stderr")" 1
    is "$(field outcome signal_name whichcudnn-*.jsonl)" SIGTERM
}

@test "--stop-on: nothing but an error that still holds" {
    sed 's/"severity":"error"/"severity":"warning"/' told >warned
    run -5 run_it --stop-on error -- ./child warned 'sleep 1.5; exit 5'
    cat told - >revised <<'END'
{"kind":"finding","id":"runtime-too-old","severity":"note","title":"now better","supersedes":9}
END
    run -6 run_it --stop-on error -- ./child revised 'sleep 1.5; exit 6'
    # Of another command, in the same place.
    # shellcheck disable=SC2016
    run -7 run_it --stop-on error -- bash -c 'WHICHCUDNN_RUN_PID=1 ./child told :; sleep 1.5; exit 7'
    for bad in warning all; do
        run -2 run_it --stop-on $bad -- true
        [[ $output == *"--stop-on takes error, not $bad"* ]]
    done
}

@test "--stop-on: a command that minds SIGTERM may end as it likes; it is 1" {
    run -1 --separate-stderr timeout 20 "$CMD" run --stop-on=error -- ./child told \
        'for i in $(seq 150); do sleep 0.1; done' 'trap "echo saved; exit 0" TERM'
    is "$output" saved
}

@test "--stop-on: after 10 seconds without an answer it is killed" {
    run -1 --separate-stderr timeout 30 "$CMD" run --stop-on=error -- ./child told \
        'for i in $(seq 250); do sleep 0.1; done' 'trap "" TERM'
    [[ $stderr == *"by --stop-on, killed by SIGKILL"* ]]
}

@test "--stop-on: the process that has the error ends, although another one started it" {
    make_host
    cat >deep.sh <<'END'
trap 'echo ended; exit 3' TERM
setsid --wait python3 slow.py &
wait
wait
END
    cat >slow.py <<'END'
import ctypes, os, time
open("pid", "w").write(str(os.getpid()))
ctypes.CDLL(os.getcwd() + "/cudnn/libcudnn.so.9").cudnnGetVersion()
time.sleep(20)
END
    run -1 --separate-stderr timeout 20 "$CMD" run --expect 8 --stop-on error -- bash deep.sh
    is "${lines[-1]}" ended
    for _ in $(seq 50); do
        kill -0 "$(cat pid)" 2>/dev/null || return 0
        sleep 0.1
    done
    false
}

# ---- said once ----

@test "an error is said once: at the end, or while the command goes on" {
    run -0 --separate-stderr run_it -- ./child told :
    is "$(grep -c 'error\[' <<<"$stderr")" 1
    [[ $stderr == *"  suggestion "* ]]
    rm whichcudnn-*
    run -0 --separate-stderr run_it -- ./child told 'sleep 4; echo later >&2'
    # In the words that it is found with now: those of the log are no one's to believe.
    title=']: _versions.so got cuDNN 9.1.0'
    is "$(grep -c '^  got ' <<<"$stderr")" 1
    # Before what came later; the end has its title alone.
    [[ $stderr == *"$title"*"  suggestion "*"explain runtime-too-old"*later*"whichcudnn: cuDNN "*"$title"* ]]
}

@test "the shim is silent, for run says it; unless it was told to speak, or no log can be" {
    show() { run_it --quiet -- printenv WHICHCUDNN_STDERR; }
    is "$(show)" off
    is "$(WHICHCUDNN_STDERR=all show)" all
    run -1 run_it --log /no/such/place/log -- printenv WHICHCUDNN_STDERR
    make_host
    WHICHCUDNN_STDERR=finding run -0 --separate-stderr run_it --expect 9.8 -- ./host version
    is "$(grep -c 'error\[.*9\.1\.0' <<<"$stderr")" 2
    is "$(grep -c '^  got ' <<<"$stderr")" 1
    [[ $stderr == *$'\nwhichcudnn: error[expectation-not-met]: '*$'\n  log '* ]]
    run -0 --separate-stderr run_it --expect 9.8 -- ./host version
    is "$(grep -c 'error\[' <<<"$stderr")" 1
    run -0 --separate-stderr run_it --quiet --expect 9.8 -- ./host version
    is "$stderr" ""
}

@test "processes that find the same are told once" {
    run -0 --separate-stderr run_it -- bash -c 'for i in 1 2 3; do ./child sick :; done; ./child fine :'
    is "$(grep -c 'error\[' <<<"$stderr")" 1
    [[ $stderr == *$'\nprocesses   3: all killed'* && $stderr == *$'\nwhichcudnn: ok in process '* ]]
    rm whichcudnn-*
    run -0 --separate-stderr run_it -- bash -c \
        './child well "kill -9 \$\$"; for i in $(seq 9); do ./child fine :; done'
    [[ $stderr == *"whichcudnn: unexplained: it ended within cudnnCreate"*$'\n  process  '[0-9]*", killed"* ]]
    is "$(grep -c '^whichcudnn: ok in 9 processes' <<<"$stderr")" 1
    is "$(grep -c '^whichcudnn: ' <<<"$stderr")" 3
    [[ $stderr == *"  log      $PWD (10 logs)" ]]
}

# ---- --verdict-file ----

@test "--verdict-file: one line, whatever the end" {
    verdict() {
        run_it --quiet --verdict-file verdict "$@" || true
        is "$(wc -l <verdict)" 1
        cat verdict
    }
    [[ $(verdict -- ./child sick :) == "cuDNN 9.1.0 from "*" for _versions.so; error: "*"9.1.0"*"; suggestion: "*"9.8"*"; log: $PWD/whichcudnn-n-"*.jsonl ]]
    [[ $(verdict -- ./child sick 'kill -9 $$') == *"; error: "*"; ended killed by SIGKILL, during cudnnCreate; log: "* ]]
    [[ $(verdict -- ./child fine :) == "ok: cuDNN 9.1.0 from /v for _versions.so; log: "* ]]
    is "$(WHICHCUDNN_SHIM=$SHIM verdict -- true)" "not observed: no cuDNN was loaded or asked for"
    is "$(PATH=$(getconf PATH) verdict -- no-such-command-anywhere)" "no-such-command-anywhere: No such file or directory"
    # Of several processes the worst one.
    [[ $(verdict -- bash -c './child well :; ./child sick :; ./child well :') == "cuDNN 9.1.0 "*"; error: "* ]]
}

@test "--verdict-file: escaped, cut where a pod's message is cut, and no reason to fail" {
    long=$(printf 'x%.0s' $(seq 4000))
    sed "s|/v/_versions.so|/v/a\\\\nb\\\\u001b/$long/_versions.so|; s|/v/libcudnn|/v/$long/libcudnn|" sick >hostile
    run -0 run_it --quiet --verdict-file verdict -- ./child hostile :
    [ "$(wc -c <verdict)" -le 4096 ]
    is "$(wc -l <verdict)" 1
    run -1 grep -P '[\x00-\x09\x0b-\x1f]' verdict
    run -3 run_it --verdict-file /no/such/place -- sh -c 'exit 3'
    [[ $output == *"/no/such/place: the verdict was not written: No such file or directory"* ]]
    mkfifo pipe
    run -0 timeout 10 "$CMD" run --quiet --verdict-file /dev/null -- true
}

# ---- the loader's end ----

@test "a loader that gives up within a call: the end says which" {
    make_child
    run -127 --separate-stderr run_it -- ./child sick 'exit 127'
    [[ $stderr == *$'\nprocess  '*", ended with status 127, during cudnnCreate"* ]]
}

@test "why nothing was observed: the environment was cleared on the way" {
    real_shim
    run -0 run_it -- env -i sleep 0.6
    [[ $output == "whichcudnn: not observed: the command continued without the library: LD_PRELOAD was removed"* ]]
    run -0 run_it -- sleep 0.6
    is "$output" "whichcudnn: not observed: no cuDNN was loaded or asked for"
    # One that writes over its environment still has the library.
    cat >titled.c <<'END'
#include <string.h>
#include <unistd.h>
extern char **environ;
int main(void) {
    for (char **e = environ; *e; e++)
        memset(*e, 'x', strlen(*e));
    return usleep(600000);
}
END
    "${CC:-gcc}" -o titled titled.c
    run -0 run_it -- ./titled
    is "$output" "whichcudnn: not observed: no cuDNN was loaded or asked for"
    mkdir logs
    run -0 run_it --quiet --log logs -- env -i sleep 2
    [[ $(jq -r .reason logs/*-outcome.jsonl) == *"LD_PRELOAD was removed"* ]]
}
