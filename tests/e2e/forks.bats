#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Forked children, other programs in their place, and many threads.

bats_require_minimum_version 1.5.0
load helpers
load ../loader/loader

setup_file() { build_programs; }
setup() {
    enter_programs
    logs=$BATS_TEST_TMPDIR/logs
}

# The log whose process record has that parent_log ("null": the first process's).
log_of_child_of() { # PARENT_LOG
    local log
    for log in "$logs"/*; do
        [ "$(field process parent_log "$log")" != "$1" ] || echo "$log"
    done
}

# "forks A B": the log of the parent and of its forked child, both valid.
two_logs() {
    [ "$(find "$logs" -type f | wc -l)" -eq 2 ] && validate_log "$logs"/* &&
        parent=$(log_of_child_of null) && child=$(log_of_child_of "$parent") &&
        [ -f "$parent" ] && [ -f "$child" ]
}

child_has_a_log() {
    as_bare ./forks child && two_logs &&
        [ "$(field process parent_pid "$child")" = "$(field process pid "$parent")" ] &&
        # the snapshot: what was known at the fork, the parent's call with it
        diff <(records object "$parent" | jq -r .path) <(records object "$child" | jq -r .path) &&
        diff <(bindings_told "$parent") <(bindings_told "$child") &&
        is "$(calls_told "$child" | tr '\n' ,)" "$(printf '%s,' \
            'cudnnCreate before forks libcudnn.so.9' 'cudnnCreate after forks libcudnn.so.9' \
            'cudnnCnnVersionCheck before forks libcudnn.so.9' \
            'cudnnCnnVersionCheck after forks libcudnn.so.9')" &&
        ! calls_told "$parent" | grep -q cudnnCnnVersionCheck &&
        is "$(records summary "$parent" | wc -l) $(records summary "$child" | wc -l)" '1 1'
}

@test "a forked child has a log of its own, with what was known before" {
    fails_without own-log-after-fork child_has_a_log
}

# What the records of that kind say, without what is another process's.
said() { # KIND LOG
    records "$1" "$2" | jq -c 'del(.seq, .time, .pid, .tid)'
}

# By which rule cuDNN was found, and the copy that was not taken.
child_has_the_searches() {
    mkdir -p "$work/first" && cp libcudnn.so.9 "$work/first" &&
        as_bare env LD_LIBRARY_PATH="$work/first" ./forks child && two_logs &&
        is "$(said search "$child" | jq -c '[.name, .rule]')" '["libcudnn.so.9","LD_LIBRARY_PATH"]' &&
        is "$(said candidate "$child" | jq -r 'select(.rule == "DT_RUNPATH").path')" "$PWD/libcudnn.so.9" &&
        diff <(said search "$parent") <(said search "$child") &&
        diff <(said candidate "$parent") <(said candidate "$child")
}

@test "a forked child's log says where the loader looked, and what else stood there" {
    fails_without searches-after-fork child_has_the_searches
    fails_without candidates-after-fork child_has_the_searches
}

child_searches_anew() {
    as_bare ./forks asks libcudnn.so.8 && two_logs &&
        is "$(said search "$parent" | jq -c 'select(.name == "libcudnn.so.8").takes')" null &&
        is "$(said search "$child" | jq -c 'select(.name == "libcudnn.so.8").takes')" null
}

@test "where a child's tables begin anew, what it asks for is searched anew" {
    child_searches_anew
    take_out kept-tables
    fails_without kept-tables-but-searches child_searches_anew
}

@test "a child that does nothing new leaves nothing" {
    as_bare ./forks quiet
    validate_log "$(the_log "$logs")"
}

@test "a child's log beside one that the user named" {
    local named=$BATS_TEST_TMPDIR/named.jsonl
    run_under shimmed "$SHIM" env WHICHCUDNN_LOG="$named" ./forks child
    [ "$(field process parent_log "${named%.jsonl}"-*.jsonl)" = "$named" ]
    validate_log "$named" "${named%.jsonl}"-*.jsonl
}

@test "another program in the child's place" {
    as_bare ./forks exec ./calls-now
    [ "$(find "$logs" -type f | wc -l)" -eq 2 ]
    validate_log "$logs"/*
    # It was started, not forked: nothing of the parent's is its own.
    [ "$(log_of_child_of null | wc -l)" -eq 2 ]
    [ "$(cat "$logs"/* | jq -r 'select(.kind == "process").executable | split("/")[-1]' | sort |
        tr '\n' ' ')" = 'calls-now forks ' ]
}

@test "another program in the process's own place" {
    as_bare ./forks become ./calls-now
    validate_log "$logs"/*
    [ "$(cat "$logs"/* | jq -r 'select(.kind == "process").pid' | sort -u | wc -l)" -eq 1 ]
    [ "$(cat "$logs"/* | jq -r 'select(.kind == "process").executable | split("/")[-1]' | sort |
        tr '\n' ' ')" = 'calls-now forks ' ]
}

@test "vfork, posix_spawn and system" {
    as_bare ./forks spawn
    validate_log "$(the_log "$logs")"
}

# Every child is well, at once, and told its first call.
storm_of_children() {
    as_bare ./forks storm ./now-%d.so 20 || return
    jq -r 'select(.kind == "process").parent_log' "$logs"/* | grep -vc null >"$BATS_TEST_TMPDIR/told"
    jq -r 'select(.function == "cudnnCnnVersionCheck").phase' "$logs"/* | sort | uniq -c |
        sed 's/^ *//' >>"$BATS_TEST_TMPDIR/told"
    diff <(printf '%s\n' 20 '20 after' '20 before') "$BATS_TEST_TMPDIR/told" &&
        validate_log "$logs"/*
}

@test "children are forked while other threads load and call" {
    fails_without lock-over-fork storm_of_children
}

# The children, whose memory is the parent's, tell nothing and spoil nothing.
shares_memory() {
    local log
    as_bare ./forks share ./now-%d.so 200 && log=$(the_log "$logs") && validate_log "$log" || return
    is "$(whole_lines "$log" | jq -r .pid | sort -u | wc -l)" 1 &&
        is "$(calls_told "$log" | grep -E '^cudnn(Ops|Cnn).*(forks|-) libcudnn.so.9$' | tr '\n' ,)" \
            "$(printf 'cudnn%sVersionCheck %s forks libcudnn.so.9,' Ops before Ops after Cnn before Cnn after)" &&
        is "$(jq -s '(map(select(.name == "libcudnn_afterwards.so.9").seq) | min)
            < (map(select(.function == "cudnnOpsVersionCheck").seq) | min)' "$log")" true
}

@test "children of vfork call while other threads load and call" {
    fails_without another-s-memory shares_memory
}

each_record_once() { # PROGRAM
    local function log
    as_bare "$1" threads && log=$(the_log "$logs") && calls_told "$log" >"$BATS_TEST_TMPDIR/told" ||
        return
    for function in cudnnCreate cudnnGetVersion cudnnGetCudartVersion; do
        is "$(grep -c "^$function before" "$BATS_TEST_TMPDIR/told")" 1 &&
            is "$(grep -c "^$function after" "$BATS_TEST_TMPDIR/told")" 1 || return
    done
}

@test "16 threads make their first calls: each is told once" {
    local times=20
    while [ $((times -= 1)) -gt 0 ]; do
        each_record_once ./calls-now
        each_record_once ./calls-lazy
    done
    validate_log "$(the_log "$logs")"
}

told_before_it_is_forwarded() {
    run_under shimmed "$SHIM" env READS_LOG="$logs" ./calls-now threads
    is "$(cat "$BATS_TEST_TMPDIR/shimmed.status")" 0
}

@test "no thread's call goes on before the first one is told" {
    told_before_it_is_forwarded
    take_out a-pause-before-records
    fails_without waiting-for-the-record told_before_it_is_forwarded
}
