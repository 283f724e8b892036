#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Whom `whichcudnn run` and `report` believe: logs of other users in a shared directory, and what a
# log says that is not so. Two users play: one runs the command, the other shares the directory.
# shellcheck disable=SC2016,SC2154  # programs of their own; names of faults.bash

bats_require_minimum_version 1.5.0
load faults

setup_file() { build_faults; }
setup() {
    enter_faults && in_public && cp "$CMD" "$public/bin" && cd "$public/work" || return
    CMD=$public/bin/whichcudnn
    chmod 1777 . # like /tmp
    export WHICHCUDNN_SHIM=$SHIM
    unset WHICHCUDNN_LOG WHICHCUDNN_STDERR
    victim=("${as_root[@]}" setpriv --reuid=65533 --regid=65533 --clear-groups env HOME=/)
    other=("${as_root[@]}" setpriv --reuid=65534 --regid=65534 --clear-groups)
    bystander=''
}
teardown() {
    [ -z "$bystander" ] || "${as_root[@]}" kill "$bystander" 2>/dev/null || true
    leave_public
}

# A program that goes on for long: its number in $bystander.
begin_bystander() { # AS...
    "$@" sh -c 'echo $$ >bystander.pid; exec sleep 60' 3>&- &
    wait_for bystander.pid
    bystander=$(cat bystander.pid)
}
wait_for() { # FILE
    for _ in $(seq 100); do
        [ ! -s "$1" ] || return 0
        sleep 0.1
    done
    echo "$1 does not come" && return 1
}
lives() { # PID: and is no zombie
    [[ $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) == [RSD]* ]]
}

# The log of a process, which got a cuDNN that is too old, with a finding of its own making.
forge() { # PID RUN_PID
    local ticks
    ticks=$(sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 20)
    {
        cat <<END
{"kind":"process","node":"$(uname -n)","run_pid":$2,"start_ticks":$ticks}
END
        too_old
        cat <<END
{"kind":"finding","id":"${3:-runtime-too-old}","severity":"error","title":"forged title","facts":[]}
END
    } | sed "s/^{/{\"pid\":$1,\"tid\":$1,\"time\":$(date +%s%6N),/" |
        "$PY" "$WC_ROOT/tests/schema/complete.py" | # older libraries wrote repairs, too
        sed 's/"title": *"forged title"/&, "fix": [{"action": "x", "text": "forged fix", "command": "forged command"}]/'
}

# Leaves that log, as a user, in a directory, once the command has said which process it is.
leave_forged() { # DIRECTORY PID [ID] -- AS...
    local directory=$1 pid=$2 id=''
    shift 2
    [ "$1" = -- ] || { id=$1 && shift; }
    shift
    wait_for command.pid
    forge "$pid" "$(cat command.pid)" "$id" >forged.tmp
    "$@" sh -c 'cat >"$0/whichcudnn-n-$1-1.jsonl"' "$directory" "$pid" <forged.tmp
}

# The command: says its number, then goes on for a while.
goes_on='echo $$ >"$0"; for i in $(seq 60); do sleep 0.1; done'

@test "trust: --stop-on heeds no log of another user, and no process that is not the command's is signalled" {
    begin_bystander "${victim[@]}"
    leave_forged "$PWD" "$bystander" -- "${other[@]}" & left=$!
    run -0 --separate-stderr "${victim[@]}" "$CMD" run --log "$PWD/" --stop-on error -- sh -c "$goes_on" "$PWD/command.pid"
    wait "$left"
    [ -s forged.tmp ]
    lives "$bystander"
    [[ $stderr$output != *forged* && $stderr != *9.1.0* ]]
}

@test "trust: a log that the command's own user left cannot have a foreign process signalled" {
    begin_bystander "${victim[@]}"
    leave_forged "$PWD" "$bystander" -- "${victim[@]}" & left=$!
    run -1 --separate-stderr "${victim[@]}" "$CMD" run --log "$PWD/" --stop-on error -- sh -c "$goes_on" "$PWD/command.pid"
    wait "$left"
    lives "$bystander"
    [[ $stderr == *9.1.0* && $stderr != *forged* ]] # what it holds is believed, of that user
}

@test "trust: run as root for another user believes that user's logs, and signals nobody else for them" {
    begin_bystander "${as_root[@]}"
    leave_forged "$PWD" "$bystander" -- "${other[@]}" & left=$!
    run -1 --separate-stderr "${as_root[@]}" "$CMD" run --log "$PWD/" --stop-on error -- "${other[@]}" \
        sh -c "$goes_on" "$PWD/command.pid"
    wait "$left"
    lives "$bystander"
    [[ $stderr == *9.1.0* && $stderr != *forged* ]]
}

@test "trust: what is said while the command runs is found, not copied" {
    leave_forged "$PWD" $$ -- "${other[@]}" & left=$!
    run -0 --separate-stderr "${victim[@]}" "$CMD" run --log "$PWD/" -- sh -c "$goes_on" "$PWD/command.pid"
    wait "$left"
    [[ $stderr != *forged* && $stderr != *9.1.0* ]]
    rm -f -- *.pid whichcudnn-*
    # Of the own user's what is found is told, and no word of the finding that the log has.
    leave_forged "$PWD" $$ -- "${victim[@]}" & left=$!
    run -0 --separate-stderr "${victim[@]}" "$CMD" run --log "$PWD/" -- sh -c "$goes_on" "$PWD/command.pid"
    wait "$left"
    [[ $stderr == *"error"*"9.1.0"* && $stderr != *forged* ]]
    rm -f -- *.pid whichcudnn-*
    # A finding that is not so is told nowhere.
    leave_forged "$PWD" $$ two-copies -- "${victim[@]}" & left=$!
    run -0 --separate-stderr "${victim[@]}" "$CMD" run --log "$PWD/" -- sh -c "$goes_on" "$PWD/command.pid"
    wait "$left"
    [[ $stderr != *forged* && $stderr != *two-copies* ]]
}

@test "trust: a link in a shared directory is not followed" {
    mkdir secret
    leave_link() {
        wait_for command.pid
        forge $$ "$(cat command.pid)" >secret/log.jsonl
        "${as_root[@]}" chown 65533 secret/log.jsonl
        "${other[@]}" ln -s "$PWD/secret/log.jsonl" "$PWD/whichcudnn-n-$$-1.jsonl"
        "${other[@]}" mkfifo "$PWD/whichcudnn-n-$$-2.jsonl"
    }
    leave_link & left=$!
    run -0 --separate-stderr timeout 60 "${victim[@]}" "$CMD" run --log "$PWD/" -- sh -c "$goes_on" "$PWD/command.pid"
    wait "$left"
    [ -h "whichcudnn-n-$$-1.jsonl" ]
    [[ $stderr != *9.1.0* ]]
    is "$(records outcome secret/log.jsonl)" ''
}

@test "trust: report of a shared directory passes over what others left, and says so" {
    mkdir -m 1777 shared && cd shared || return
    "${as_root[@]}" chown 0 .
    echo 1 >../command.pid
    forge $$ 1 >forged
    "${victim[@]}" sh -c 'cat >whichcudnn-n-1-1.jsonl' <forged
    "${other[@]}" sh -c 'cat >whichcudnn-n-2-1.jsonl' <forged
    "${other[@]}" ln -s /dev/null whichcudnn-n-3-1.jsonl
    "${other[@]}" mkfifo whichcudnn-n-4-1.jsonl
    run -1 --separate-stderr "${victim[@]}" "$CMD" report .
    [[ $output == *"error"*"9.1.0"* && $output != *forged* ]]
    [[ $stderr == *"skipped: "*"whichcudnn-n-2-1.jsonl"*"of user 65534"* ]]
    [[ $stderr == *"skipped: "*"whichcudnn-n-3-1.jsonl"*"a link"* ]]
    [[ $stderr == *"skipped: "*"whichcudnn-n-4-1.jsonl"*"not a regular file"* ]]
    # Who names the file means it.
    run -1 --separate-stderr "${victim[@]}" "$CMD" report whichcudnn-n-2-1.jsonl
    is "$stderr" ''
    # Where only one user can put files, all that stands there is theirs to answer for.
    mkdir ../private && cp whichcudnn-n-[12]-1.jsonl ../private
    "${as_root[@]}" chown 65534 ../private/*
    run -1 --separate-stderr "${victim[@]}" "$CMD" report ../private
    is "$stderr" ''
}

@test "trust: findings are found anew in every form, not copied from the log" {
    forge $$ 1 >log.jsonl
    forge $$ 1 two-copies >other.jsonl
    grep -q '"fix": .*forged command' other.jsonl
    for form in --color=never --markdown --json --html=/dev/stdout --ndjson; do
        for log in log.jsonl other.jsonl; do
            run "$CMD" report "$form" "$log"
            [[ $output == *9.1.0* ]] || [ "$form" = --ndjson ]
            [[ $output != *'forged'* && $output != *two-copies* ]] || { echo "$form" && return 1; }
        done
    done
    run "$CMD" check log.jsonl
    [[ $output != *forged* ]]
    run "$CMD" lock log.jsonl
    [[ $output != *forged* ]]
    run "$CMD" diff log.jsonl other.jsonl
    [[ $output != *forged* ]]
}

# ---- not observed ----

host=("$WC_BUILD/faults/does")
# What `run --fail-on` says and ends with, of a command that ends well. Sets status and stderr.
unobserved() { # WORDS COMMAND...
    local words=$1
    shift
    run -1 --separate-stderr "${inside[@]}" env WHICHCUDNN_SHIM="$SHIM" "$CMD" run --fail-on error --expect 8 \
        ${log:+--log="$log"} -- "$@"
    [[ $stderr == *"not observed: "*"$words"* ]] || { echo "$stderr" && return 1; }
    [[ $stderr != *"no cuDNN was loaded"* ]]
}
# With two users, of whom the second may not write where the first one's logs go.
only_ours() {
    inside=("${as_root[@]}")
    log=$public/work/ours host=("$FAULTS/does" open="$cudnn" version)
    "${as_root[@]}" mkdir "$log" && "${as_root[@]}" chmod 755 "$log"
}

@test "not observed: a command that gives its rights up cannot write: run says so, and the library speaks" {
    only_ours
    unobserved 'user 65534 may not write in' "${other[@]}" "${host[@]}"
    [[ $stderr == *"error"*"9.1.0"*"no log"* ]]
    # It says nothing where all is well; run still does not know that.
    run -1 --separate-stderr "${as_root[@]}" "$CMD" run --fail-on error --log "$log" -- "${other[@]}" "${host[@]}"
    [[ $stderr == *"not observed: "*"user 65534"* && $stderr != *error* ]]
    # The twin: where the other one may write, it is observed.
    "${as_root[@]}" chmod 1777 "$log"
    run -0 --separate-stderr "${as_root[@]}" "$CMD" run --fail-on error --log "$log" --expect 9.1 -- \
        "${other[@]}" "${host[@]}"
    [[ $stderr == *"9.1.0"* && $stderr != *"not observed"* ]]
}

@test "not observed: where a group may write, nobody is said to be kept from it" {
    only_ours
    "${as_root[@]}" chgrp 65534 "$log" && "${as_root[@]}" chmod 775 "$log"
    # The log is missing since the library was taken away.
    unobserved 'continued without the library' "${other[@]}" env -u LD_PRELOAD "${host[@]}" sh='sleep 1'
    [[ $stderr != *"may not write in"* && $stderr != *"no log can be written in"* ]]
}

@test "not observed: the same of what the command started, while it lived long enough to be looked at" {
    only_ours
    unobserved 'may not write in' sh -c '"$@"; true' sh "${other[@]}" "${host[@]}" sh='sleep 2'
    [[ $stderr == *"process "*"libcudnn.so.9"*"left no log"*"user 65534"* ]]
    [[ $stderr == *"error"*"9.1.0"*"no log"* ]]
}

@test "not observed: silenced below run, the library speaks where it has no log; not where none is wanted" {
    only_ours
    said_by_library() { # VARIABLE...
        "${other[@]}" env LD_PRELOAD="$SHIM" WHICHCUDNN_EXPECT=8 WHICHCUDNN_STDERR=off WHICHCUDNN_RUN_PID=1 "$@" \
            "${host[@]}" 2>said >/dev/null
        cat said
    }
    [[ $(said_by_library WHICHCUDNN_LOG="$log") == *"error"*"9.1.0"* ]]
    is "$(said_by_library WHICHCUDNN_LOG=/dev/null)" ''
    is "$(said_by_library WHICHCUDNN_LOG="$log" WHICHCUDNN_RUN_PID=)" ''
    is "$(said_by_library WHICHCUDNN_LOG="$public/work/log.jsonl")" ''
}

@test "not observed: with a full disk" {
    mkdir full
    inside=("${as_root[@]}" unshare -m --propagation private sh -c '
        mount -t tmpfs -o size=64k none "$0" && { [ "${FILL:-}" = no ] || cat /dev/zero >"$0/all" 2>/dev/null
        "$@"; }' "$PWD/full")
    log=$PWD/full unobserved 'No space left on device' "$FAULTS/does" open="$cudnn" version
    [[ $stderr == *"error"*"9.1.0"* ]]
    log=$PWD/full unobserved 'No space left on device' true
    log=$PWD/full FILL=no run -0 --separate-stderr "${inside[@]}" "$CMD" run --fail-on error --log="$PWD/full" --expect 9.1 -- \
        "$FAULTS/does" open="$cudnn" version
    [[ $stderr != *"not observed"* ]]
}

@test "not observed: a preload that was not taken, also by what the command became" {
    log=$PWD/logs && mkdir logs
    cp "$FAULTS/does" host
    unobserved 'the command ' env -i ./host open="$cudnn" version
    unobserved 'the command ' sh -c 'exec env -u LD_PRELOAD ./host open="$0" version' "$cudnn"
    unobserved 'linked statically' "$(static_program)"
    # A library that the other user may not read: the loader says so, and goes on.
    "${as_root[@]}" mkdir hidden && "${as_root[@]}" cp "$SHIM" hidden && "${as_root[@]}" chmod 700 hidden
    "${as_root[@]}" chmod 1777 logs
    SHIM=$PWD/hidden/$(basename "$SHIM") unobserved 'the command ' "${other[@]}" ./host open="$cudnn" version
    is "$(find logs -type f ! -name "*-outcome*")" ""
}
static_program() {
    echo 'int main(void) { return 0; }' | gcc -static -o static -xc - && echo ./static
}

@test "not observed: never of a command that the library saw to its end, however it ended" {
    local command
    printf '#!/bin/bash\nexit 0\n' >script && chmod +x script
    for command in true 'sh -c true' 'bash -c :' './script' 'env true' 'sh -c "exec true"' \
        "$PY -c 'import os; os._exit(0)'" "$PY -c 'import os; os.execlp(\"sh\", \"sh\", \"-c\", \"true\")'"; do
        echo "$command"
        eval run -0 --separate-stderr '"$CMD"' run --fail-on error -- "$command"
        [[ $stderr == *"no cuDNN was loaded or asked for"* && $stderr != *"left no log"* ]]
        is "$(find . -name 'whichcudnn-*')" ''
    done
}
