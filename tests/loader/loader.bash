# SPDX-License-Identifier: Apache-2.0
# What the bats files on the loader share: `load helpers`, `load ../loader/loader`. Every check runs a
# program bare and with the shim; fails_without runs the check once more with a shim that lacks one
# protection.
# shellcheck shell=bash

before='' after=''
limit=60 # seconds, then a program is taken to hang

# between BEFORE AFTER CHECK...: with other preloads around the shim, which the bare run has, too.
between() {
    local before=$1 after=$2
    shift 2
    "$@"
}

# A copy of what is built once for all files, while this folder stays as it is.
build_programs() {
    local kept=$WC_BUILD/loader sources
    mkdir -p "$kept"
    (
        flock 9
        sources=$(cat "$WC_ROOT"/tests/loader/* | sha256sum)
        [ "$sources" = "$(cat "$kept/sources" 2>/dev/null)" ] && exit
        rm -rf "$kept/built"
        "$WC_ROOT/tests/loader/build" "$kept/built" && echo "$sources" >"$kept/sources"
    ) 9>"$kept/.lock" && cp -r "$kept/built" "$BATS_FILE_TMPDIR/built"
}

enter_programs() {
    ulimit -c 0
    cd "$BATS_FILE_TMPDIR/built" || return
    work=$BATS_TEST_TMPDIR logs=$BATS_TEST_TMPDIR/logs
}

run_under() { # NAME PRELOAD COMMAND...
    local name=$1 preload=$2 status=0
    shift 2
    rm -rf "$logs" && mkdir "$logs"
    timeout -k 1 "$limit" env LD_PRELOAD="$preload" WHICHCUDNN_LOG="$logs" WHICHCUDNN_STDERR=off \
        "$@" >"$work/$name.out" 2>"$work/$name.err" 3>&- || status=$? # bats would wait for an orphan
    echo "$status" >"$work/$name.status"
}

# The program ends well, and with the shim as without: output, errors, status. $logs are of that run.
as_bare() { # COMMAND...
    local part
    run_under bare "$before $after" "$@"
    run_under shimmed "$before $SHIM $after" "$@"
    if [ "$(cat "$work/bare.status")" != 0 ]; then
        echo "bare: $*: status $(cat "$work/bare.status")"
        cat "$work/bare.out" "$work/bare.err"
        return 1
    fi
    for part in out err status; do
        diff "$work/bare.$part" "$work/shimmed.$part" || { echo "differs: $part of $*" && return 1; }
    done
}

# One more run with the shim, which says at its end how calls arrived at cuDNN.
counted() { run_under counted "$before $SHIM $after" env COUNTS=1 "$@"; }
counts() { grep '^watched' "$work/counted.out"; }

# Besides, all calls that return a status came through a wrapper, and no unobserved spot was told.
all_watched() { # COMMAND...
    as_bare "$@" && counted "$@" && counts && ! grep -vE '^watched [1-9][0-9]* direct 0$' <(counts) &&
        [ -z "$(records unobserved "$(the_log "$logs")")" ]
}

# From here on the shim is one that lacks that protection.
take_out() { # NAME
    SHIM=$work/libwhichcudnn-$1.so
    "$WC_ROOT/tests/loader/without" "$1" "$SHIM"
}

# The check passes, and does not once the shim lacks that protection; that, too, if it is drawn.
fails_without() { # NAME CHECK...
    local SHIM=$SHIM limit=$limit name=$1
    shift
    "$@" || return
    drawn 4 "$name" || return 0
    take_out "$name" || return
    limit=5
    echo "now without $name:"
    # shellcheck disable=SC2310  # it is meant to fail
    if "$@"; then
        echo "$* passes without $name"
        return 1
    fi
}

# "function phase host target" of each call, in the order of the log.
calls_told() { # [LOG]
    records call "${1:-$(the_log "$logs")}" | jq -r 'def name: if . then split("/")[-1] else "-" end;
        "\(.function) \(.phase) \(.host_path | name) \(.target_path | name)"'
}

# "host how target functions wrapped" of each binding.
bindings_told() { # [LOG]
    records binding "${1:-$(the_log "$logs")}" | jq -r 'def name: if . then split("/")[-1] else "-" end;
        "\(.host_path | name) \(.how) \(.target_path | name) \(.functions | sort | join(",")) \(.wrapped)"'
}

# The log is valid and holds these lines (of calls_told, bindings_told), each as often as given here.
tells() { # calls_told|bindings_told LINE...
    local log told=$1 line
    shift
    log=$(the_log "$logs") && validate_log "$log" && "$told" "$log" >"$work/told" || return
    for line in "$@"; do
        [ "$(grep -cxF -- "$line" "$work/told")" -eq "$(printf '%s\n' "$@" | grep -cxF -- "$line")" ] ||
            { echo "expected: $line, in:" && cat "$work/told" && return 1; }
    done
}
tells_calls() { tells calls_told "$@"; }
tells_bindings() { tells bindings_told "$@"; }
