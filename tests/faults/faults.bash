# SPDX-License-Identifier: Apache-2.0
# What the tests of faults share: `load faults`. Every host runs twice in the same place, bare and
# with the shim, and what it reports, prints and ends with must be the same; what it must be is said
# by each test. FAULTS_SHIM is the shim to test, FAULTS_BESIDE a preload that both runs have.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2317  # the tests use what is set here, and redefine prepare

# shellcheck source=../e2e/helpers.bash
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/helpers.bash"

SHIM=${FAULTS_SHIM:-$SHIM}
FAULTS=$WC_BUILD/faults # programs and stand-ins
FAULTS_PART=${FAULTS_PART:-small}
limit=60 # seconds, then a program is taken to hang
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo -n)

build_faults() { "$WC_ROOT/tests/faults/build" "$FAULTS"; }

enter_faults() {
    ulimit -c 0
    work=$BATS_TEST_TMPDIR
    here=$work/here # where a host runs
    log=$here/log.jsonl
    cudnn=$FAULTS/set/libcudnn.so.9
    variables=()   # more of the environment
    inside=()      # a command in which the host runs
    prepare() { :; } # what is in $here before
    cd "$work" || return
}

as_nobody=("${as_root[@]}" setpriv --reuid=65534 --regid=65534 --clear-groups)

# From here on the host runs where every user may look, from copies there.
in_public() {
    public=$(mktemp -d "/tmp/faults-XXXXXX")
    chmod 755 "$public"
    mkdir "$public/bin" "$public/work"
    cp -r "$FAULTS"/. "$SHIM" "$public/bin"
    chmod 777 "$public/work"
    SHIM=$public/bin/$(basename "$SHIM") FAULTS=$public/bin
    cudnn=$FAULTS/set/libcudnn.so.9 work=$public/work here=$public/work/here
    log=$here/log.jsonl
}
leave_public() { [ -z "${public:-}" ] || "${as_root[@]}" rm -rf "$public"; }

# part SMALL ALL: a number for this part of the tests.
part() { if [ "$FAULTS_PART" = all ]; then echo "$2"; else echo "$1"; fi; }

# long SMALL OTHERS FIRST: a number for this part of the tests; FIRST for the first build of run alone.
long() {
    local whole=$2
    [[ -n "${FAULTS_BESIDE:-}" || "$SHIM" != */variants/O2/* ]] || whole=$3
    part "$1" "$whole"
}

run_host() { # NAME PRELOAD COMMAND...
    local name=$1 preload=$2 status=0
    shift 2
    "${as_root[@]}" rm -rf "$here" && mkdir "$here" && (cd "$here" && prepare) || return
    rm -f "$work/$name".*
    (
        cd "$here" || exit
        timeout -k 1 "$limit" "${inside[@]}" env LD_PRELOAD="$preload" WHICHCUDNN_LOG="$log" \
            WHICHCUDNN_STDERR=off REPORT="$work/$name.report" "${variables[@]}" "$@" \
            >"$work/$name.out" 2>"$work/$name.err" </dev/null
    ) || status=$?
    echo "$status" >"$work/$name.status"
    touch "$work/$name.report"
    tr -d '\0' <"$work/$name.report" >"$work/$name.said"
}

same() { # PART...: of both runs
    local part
    for part; do
        diff "$work/bare.$part" "$work/shimmed.$part" ||
            { echo "with the shim another $part" && return 1; }
    done
}

# as_bare STATUS COMMAND...: it ends with that status bare, and with the shim in every way the same.
# $here is that of the second run.
as_bare() {
    local expected=$1
    shift
    run_host bare "${FAULTS_BESIDE:-}" "$@" && run_host shimmed "$SHIM ${FAULTS_BESIDE:-}" "$@" || return
    is "$(cat "$work/bare.status")" "$expected" ||
        { cat "$work"/bare.{said,out,err} && return 1; }
    same status said out err
}

# does STEP...: the host of does.c, which must end well.
does() { as_bare 0 "$FAULTS/does" "$@"; }

# said LINE...: these are among what the host said, in this order.
said() {
    printf '%s\n' "$@" >"$work/expected"
    grep -xF -f "$work/expected" "$work/shimmed.said" >"$work/found"
    diff "$work/expected" "$work/found" || { echo "the host said:" && cat "$work/shimmed.said" && return 1; }
}

well=('version 90100 errno 77' 'create 1001 errno 77')

# The log is valid and tells of these calls ("function phase"), no more.
log_tells() { # LOG CALL...
    local file=$1
    shift
    validate_log "$file" &&
        is "$(records call "$file" | jq -r '.function + " " + .phase')" "$(printf '%s\n' "$@")"
}
whole=('cudnnGetVersion before' 'cudnnGetVersion after' 'cudnnCreate before' 'cudnnCreate after')

# Each record has a number; those that are missing were lost.
without_gap() { # LOG
    local numbers
    numbers=$(jq -r .seq "$1")
    is "$numbers" "$(seq "$(wc -l <<<"$numbers")")"
}

# What was lost is told by a record of its own and by the summary's count.
has_told_a_loss() { # LOG WORDS
    local gaps
    gaps=$(jq -s '(map(.seq) | max) - length' "$1")
    [ "$gaps" -gt 0 ] &&
        # Told once for each row of lost lines: in the last page there may be room for a short one.
        [ "$(records unobserved "$1" | jq -r 'select(.what == "records of this log").why' | grep -c "$2")" -ge 1 ] &&
        is "$(field summary dropped "$1")" "$gaps"
}

# files: what is left in $here
files() { (cd "$here" && find . -mindepth 1 | sort | tr '\n' ' '); }
