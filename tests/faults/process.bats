#!/usr/bin/env bats
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
    variables=(WHICHCUDNN_STDERR=all)
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
    variables=(WHICHCUDNN_STDERR=all)
    for how in broken full; do
        does signal=PIPE:dfl open="$cudnn" version stderr=$how create signals
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
        daemon=$(echo "$log".*)
        validate_log "$daemon"
        is "$(records call "$daemon" | jq -r '.function + " " + .phase' | tail -n 4)" \
            "$(printf '%s\n' "${whole[@]:2}" "${third_told[@]}")"
        without_gap "$daemon"
        is "$(field process parent_log "$daemon")" "$log"
        is "$(records summary "$log" "$daemon" | wc -l)" 2
    done
}
