#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What a process does with its descriptors, signals and children while the shim is in it.
# shellcheck disable=SC2317,SC2034,SC2154  # run_host uses prepare, inside and variables; faults.bash sets others

bats_require_minimum_version 1.5.0
load faults

setup_file() { build_faults; }
setup() { enter_faults; }
teardown() { leave_public; }

third='call=cudnnGetCudartVersion' # gives 0
third_told=('cudnnGetCudartVersion before' 'cudnnGetCudartVersion after')

# tells CALL...: as log_tells, and without a gap, but for whether the log is valid: all that were
# asked are told valid at the end of the test, by all_valid.
tells() {
    mkdir -p "$work/logs" && cp "$log" "$work/logs/$((kept += 1))" && without_gap "$log" &&
        is "$(records call "$log" | jq -r '.function + " " + .phase')" "$(printf '%s\n' "$@")"
}
all_valid() { validate_log "$work"/logs/*; }

# ---- the table of descriptors is full ----

@test "descriptors: none is left for a while: what was lost is told" {
    does open="$cudnn" version limit=NOFILE:20 fill-descriptors create signals limit=NOFILE:max \
        "$third"
    said 'version 90100 errno 77' 'fill-descriptors now full' 'create 1001 errno 77' \
        'call 0 errno 77'
    log_tells "$log" "${whole[@]:0:2}" "${third_told[@]}"
    has_told_a_loss "$log" 'cannot be opened'
}

@test "descriptors: none is left when cuDNN is first asked for: the log begins later" {
    does limit=NOFILE:20 fill-descriptors open="$cudnn" limit=NOFILE:max open="$cudnn" version create
    said "open $cudnn: cannot open shared object file: Too many open files errno 77" \
        'open opened errno 77' "${well[@]}"
    log_tells "$log" "${whole[@]}"
    has_told_a_loss "$log" 'cannot be created'
    is "$(field process executable "$log")" "$FAULTS/does"
}

@test "descriptors: none is left as long as the host runs" {
    does open="$cudnn" version limit=NOFILE:20 fill-descriptors create signals
    said "${well[@]:0:1}" 'fill-descriptors now full' "${well[@]:1}"
    log_tells "$log" "${whole[@]:0:2}"
    is "$(records summary "$log")" ''
    # cuDNN itself ends the process where it cannot open its parts.
    as_bare 134 "$FAULTS/does" open="$cudnn" limit=NOFILE:20 fill-descriptors version
    log_tells "$log"
    does limit=NOFILE:20 fill-descriptors open="$cudnn"
    is "$(files)" ''
}

@test "descriptors: one is left" {
    does close-from=3 limit=NOFILE:4 open="$cudnn" version create
    said "${well[@]}"
    log_tells "$log" "${whole[@]}"
    without_gap "$log"
}

@test "descriptors: none above 2 may be had, and 0 to 2 are not for the log" {
    does close-from=0 limit=NOFILE:3 open="$cudnn" version limit=NOFILE:max create
    said "${well[@]}"
    log_tells "$log" "${whole[@]:2}"
    has_told_a_loss "$log" 'cannot be created'
    is "$(files)" './log.jsonl '
}

# ---- the host closes them, and uses 0 to 2 for other things ----

@test "descriptors: the host closes all of them" {
    local way
    for way in $(part 'all' 'off all'); do
        variables=(WHICHCUDNN_STDERR="$way")
        does close-from=0 open="$cudnn" version create descriptors signals
        said "${well[@]}" 'descriptors open:'
        tells "${whole[@]}"
        does open="$cudnn" version close-from=0 create descriptors signals
        said "${well[@]}" 'descriptors open:'
        tells "${whole[@]}"
    done
    all_valid
}

# nothing_heard STEP: what the host makes of 0 to 2 gets nothing of ours, be it made before or after
# the shim has had something to write, whatever stands in WHICHCUDNN_STDERR.
nothing_heard() {
    local way
    for way in $(part 'finding' 'off finding all'); do
        echo "$1 $way"
        variables=(WHICHCUDNN_STDERR="$way")
        does "$1" open="$cudnn" version create heard descriptors &&
            said "${well[@]}" 'heard 0 heard 0' '1 heard 0' '2 heard 0' &&
            tells "${whole[@]}" || return
        does open="$cudnn" "$1" version create heard descriptors &&
            said "${well[@]}" 'heard 0 heard 0' '1 heard 0' '2 heard 0' &&
            tells "${whole[@]}" || return
    done
    all_valid
}

@test "descriptors: 0, 1 and 2 become sockets" {
    nothing_heard sockets
}

@test "descriptors: 1 and 2 become two ends of one pipe" {
    nothing_heard ends=pipe
}

@test "descriptors: 2 becomes an eventfd beside an epoll" {
    nothing_heard ends=events
}

@test "descriptors: 0, 1 and 2 become files of data" {
    local way when
    for way in $(part 'finding' 'off finding all'); do
        variables=(WHICHCUDNN_STDERR="$way")
        does files="$here" open="$cudnn" version create descriptors
        said "${well[@]}"
        is "$(cat "$here"/data?)" ''
        tells "${whole[@]}"
        # They are closed when the host starts already.
        inside=(sh -c 'exec "$@" 0<&- 1>&- 2>&-' sh)
        does open="$cudnn" version files="$here" create descriptors
        said "${well[@]}"
        is "$(cat "$here"/data?)" ''
        tells "${whole[@]}"
        does files="$here" open="$cudnn" version create descriptors
        said "${well[@]}"
        is "$(cat "$here"/data?)" ''
        tells "${whole[@]}"
        inside=()
    done
    all_valid
}

# ---- standard error is nothing to write to ----

# with_standard_error KIND: the host starts with such a one.
with_standard_error() {
    # shellcheck disable=SC2016
    case $1 in
    closed) inside=(sh -c 'exec "$@" 2>&-' sh) ;;
    read-only) inside=(sh -c 'exec "$@" 2</dev/null' sh) ;;
    full-device) inside=(sh -c 'exec "$@" 2>/dev/full' sh) ;;
    *) inside=(python3 -c '
import os, signal, socket, sys
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
kind, command = sys.argv[1], sys.argv[2:]
if "pipe" in kind:
    far, near = os.pipe()
else:
    far, near = (end.detach() for end in socket.socketpair())
os.dup2(near, 2)
os.close(near)
if "broken" in kind:
    os.close(far)
else:
    os.set_inheritable(far, True)
    os.set_blocking(2, False)
    try:
        while os.write(2, bytes(100)):
            pass
    except BlockingIOError:
        os.set_blocking(2, True)
os.execvp(command[0], command)' "$1") ;;
    esac
}

@test "stderr: closed, broken, full: SIGPIPE at its default, ignored, handled and blocked" {
    local kind how
    variables=(WHICHCUDNN_STDERR=all WHICHCUDNN_EXPECT=1.0)
    for kind in closed read-only full-device broken-pipe broken-socket full-pipe full-socket; do
        with_standard_error "$kind"
        for how in dfl $(part '' 'ign count block'); do
            echo "$kind $how"
            does signal=PIPE:"$how" open="$cudnn" version create signals
            said "${well[@]}" \
                "signals PIPE arrived 0 pending 0 blocked $([ "$how" != block ]; echo $?)"
            tells "${whole[@]}"
        done
    done
    all_valid
}

@test "stderr: broken while the host runs, standard output with it" {
    local how
    variables=(WHICHCUDNN_STDERR=all WHICHCUDNN_EXPECT=1.0)
    for how in broken full; do
        does signal=PIPE:dfl stderr=$how open="$cudnn" version create signals
        said "${well[@]}" 'signals PIPE arrived 0 pending 0 blocked 0'
        tells "${whole[@]}"
    done
    # One that the host itself has pending stays so.
    with_standard_error broken-pipe
    does signal=PIPE:block raise=PIPE open="$cudnn" version create signals
    said "${well[@]}" 'signals PIPE arrived 0 pending 1 blocked 1'
}

# ---- a daemon ----

@test "daemon: forks twice, leaves its session and closes everything" {
    local how expected daemon
    for how in '' libc; do
        does open="$cudnn" version daemon=$how create "$third" descriptors
        said 'version 90100 errno 77' 'daemon becomes a daemon' 'create 1001 errno 77' \
            'call 0 errno 77'
        # The first process, and the daemon; the one between them told nothing.
        is "$(find "$here" -type f | wc -l)" 2
        log_tells "$log" "${whole[@]:0:2}"
        without_gap "$log"
        daemon=$(echo "${log%.jsonl}"-*.jsonl)
        validate_log "$daemon"
        is "$(records call "$daemon" | jq -r '.function + " " + .phase' | tail -n 4)" \
            "$(printf '%s\n' "${whole[@]:2}" "${third_told[@]}")"
        without_gap "$daemon"
        is "$(field process parent_log "$daemon")" "$log"
        is "$(records summary "$log" "$daemon" | wc -l)" 2
    done
}

# ---- signals ----

process() { as_bare 0 "$FAULTS/process" "$@"; }
interrupted() { [ "$(cat "$here/in-shim")" -gt 0 ]; } # the shim was, at least once

# The calls that a log tells of: "function phase number", by the number of the copy.
calls_of_copies() {
    records call "$@" | jq -r '"\(.function) \(.phase) \(.target_path | split("/")[-2])"' | sort -V
}
# What two functions of so many copies give.
both_of() { # COPIES
    local i
    for i in $(seq "$1"); do
        printf '%s '"$i"'\n' "${whole[@]}"
    done | sort -V
}
# Calls told twice, or only in part.
spoilt_of_copies() {
    local twice halves
    twice=$(calls_of_copies "$1" | uniq -d)
    halves=$(calls_of_copies "$1" | sed 's/ before / /; s/ after / /' | sort | uniq -u)
    [ -z "$twice$halves" ] || { echo "twice: $twice" "in part: $halves" && return 1; }
}

@test "signals: alarms without SA_RESTART cut the host short as ever" {
    does alarms=2000 open="$cudnn" version interruptions create alarms=0
    said "${well[@]:0:1}" 'interruptions sleep -1 Interrupted system call' \
        'read -1 Interrupted system call' "${well[@]:1}"
    log_tells "$log" "${whole[@]}"
    # And with SA_RESTART a read goes on, a sleep does not.
    does alarms=2000:restart open="$cudnn" version interruptions create alarms=0
    said 'interruptions sleep -1 Interrupted system call' 'read 1 '
    log_tells "$log" "${whole[@]}"
}

@test "signals: 10,000 alarms a second while libraries come, are called and go" {
    local n
    n=$(part 10 40)
    process alarms "$FAULTS/copies9" "$n"
    said "$n of $n, alarms came"
    validate_log "$log"
    without_gap "$log"
    is "$(calls_of_copies "$log")" "$(both_of "$n")"
}

@test "signals: a handler looks up and calls while a hook is active" {
    local n
    n=$(part 10 40)
    process looks-up "$FAULTS/copies7" "$n"
    said "$n of $n, handler acted enough" 'handler saw 0'
    interrupted
    validate_log "$log"
    without_gap "$log"
    is "$(calls_of_copies "$log" | grep -v " $((n + 1))$")" "$(both_of "$n")"
    spoilt_of_copies "$log"
}

@test "signals: a handler leaves hooks and calls by siglongjmp" {
    local n
    n=$(part 10 40)
    process jumps "$FAULTS/copies7" "$n"
    said "$n of $n, handler acted enough"
    interrupted
    validate_log "$log"
    without_gap "$log"
    is "$(calls_of_copies "$log")" "$(both_of "$n")"
}

# What a handler does while a hook of its thread is active is passed on, not told; what is loaded
# then is told later.
opens_on_a_stack() { # above|below
    local n=6
    process opens "$FAULTS/copies7" $n "$1" && said "$n of $n, handler acted enough" && interrupted &&
        validate_log "$log" && without_gap "$log" && spoilt_of_copies "$log" &&
        is "$(records object "$log" | jq -r 'select(.role == "facade").path | split("/")[-2]' | sort)" \
            "$(seq $((n + 1)))" &&
        is "$(calls_of_copies "$log" | grep -c "cudnnGetCudartVersion [a-z]* $((n + 1))$")" 2 &&
        is "$(jq -s '(map(select(.role == "facade").seq) | max)
            < (map(select(.function == "cudnnGetCudartVersion").seq) | min)' "$log")" true
}

@test "signals: a handler on a stack of its own, above the thread's, opens libraries" {
    opens_on_a_stack above
}

@test "signals: a handler on a stack of its own, below the thread's, opens libraries" {
    opens_on_a_stack below
}

# ---- children ----

# Each process of these logs told the calls of `whole`, once, in a log of its own that lacks nothing.
whole_logs() { # COUNT FILE...
    local count=$1
    shift
    is $# "$count" || return
    printf '%s\n' "$@" | xargs jq -r '[input_filename, .seq, .kind, .pid, .function, .phase] | @tsv' |
        awk -F '\t' -v count="$count" -v calls="$(printf '%s;' "${whole[@]}")" '
            function over() { if (file && (told != calls || last != "summary")) bad = bad " " file }
            $1 != file { over(); file = $1; seq = 0; told = ""; processes += !($4 in pids); pids[$4] }
            $2 != ++seq { bad = bad " " file }
            $3 == "call" { told = told $5 " " $6 ";" }
            { last = $3 }
            END { over(); if (bad || processes != count) { print processes, "processes; bad:", bad; exit 1 } }'
}

some_valid() { find "$here" -name '*.jsonl*' -print0 | head -z -n 100 | xargs -0 "$PY" "$WC_ROOT/tests/schema/validate.py" log; }

@test "children: short processes at once, logs in one directory" {
    local n
    n=$(part 200 5000) limit=600
    prepare() { mkdir logs; }
    variables=(WHICHCUDNN_LOG="$here/logs/")
    process many "$cudnn" "$n"
    said "$n of $n"
    whole_logs "$n" "$here"/logs/*
    some_valid
}

@test "children: short processes at once, one name for all logs" {
    local n
    n=$(part 50 1000) limit=300
    process many "$cudnn" "$n"
    said "$n of $n"
    whole_logs "$n" "$log" "${log%.jsonl}"-*.jsonl
    some_valid
}

@test "children: vfork and posix_spawn of short processes" {
    local how n=5
    prepare() { mkdir logs; }
    variables=(WHICHCUDNN_LOG="$here/logs/")
    for how in vfork posix_spawn; do
        process spawns "$cudnn" $n $how
        said "$n of $n" 'then 1001'
        whole_logs $((n + 1)) "$here"/logs/*
        validate_log "$here"/logs/*
    done
}

@test "children: in the memory of their parent, they open, look up and call" {
    local how n
    n=$(part 5 100)
    for how in vfork clone; do
        process shares "$FAULTS/copies9" "$n" $how
        said "$n of $n" 'then 0 1001'
        log_tells "$log" "${whole[@]:0:2}" "${third_told[@]}" "${whole[@]:2}"
        without_gap "$log"
    done
}

# Each child told its first call.
children_told() { # LOGS OF_PARENT
    local child
    for child in "$1"/*; do
        [ "$child" != "$2" ] || continue
        is "$(field process parent_log "$child")" "$2" || return
        is "$(calls_of_copies "$child" | grep -c '^cudnnCreate [a-z]* 1$')" 2 ||
            { cat "$child" && return 1; }
    done
}

@test "children: process 1 of a namespace within another, whose parent is process 1, too" {
    local child
    inside=("${as_root[@]}" unshare -p -f)
    does open="$cudnn" version process=own-pids fork create
    said "${well[@]}" 'child ended with 0'
    child=$(echo "${log%.jsonl}"-*.jsonl)
    log_tells "$log" "${whole[@]:0:2}"
    log_tells "$child" "${whole[@]}" # what was known at the fork, and its own
    without_gap "$log"
    without_gap "$child"
    is "$(whole_lines "$log" "$child" | jq -r .pid | sort -u)" 1
    is "$(field process parent_log "$child")" "$log"
    is "$(field process parent_log "$log")" null
}

@test "children: forked while other threads load, call and unload" {
    local n parent
    n=$(part 12 1000)
    prepare() { mkdir logs; }
    variables=(WHICHCUDNN_LOG="$here/logs/")
    process forks "$FAULTS/copies7" "$n"
    said "$n of $n"
    some_valid
    is "$(find "$here/logs" -type f | wc -l)" $((n + 1))
    parent=$(grep -L '"parent_log":' "$here"/logs/* || true)
    children_told "$here/logs" "$parent"
}
