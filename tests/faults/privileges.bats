#!/usr/bin/env bats
# Less than a process usually has: system calls refused, rights given up or never had, no /proc, no
# memory, small stacks. And what else may stand around it: a tracer, the shim twice, 2,000 libraries.
# shellcheck disable=SC2317,SC2034  # run_host uses prepare, inside and variables

bats_require_minimum_version 1.5.0
load faults

# A host that is bound at once, so that the page of its slot is read-only, as NAME.so.
build_bound() { # NAME [FLAG]...
    local name=$1
    shift
    [ "$FAULTS/$name.so" -nt "$FAULTS/set/made" ] ||
        gcc -shared -fPIC -O1 -o "$FAULTS/$name.so" -xc - -Wl,-z,relro,-z,now \
            -Wl,-rpath,"$FAULTS/set" -xnone "$FAULTS/set/libcudnn.so.9" "$@" <<'END'
long cudnnGetVersion(void);
long bound(void);
long bound(void) { return cudnnGetVersion(); }
END
}
setup_file() {
    build_faults
    build_bound bound
    build_bound unannounced -nostartfiles # it does not call __gmon_start__
}
setup() { enter_faults; }
teardown() { leave_public; }

steps=(descriptors open="$WC_BUILD/faults/set/libcudnn.so.9" version create descriptors signals)

# ---- system calls: the list of docs/limits.md, for x86-64 ----

published() {
    sed -n '/^## System calls/,/^## Sizes/s/^| \(`[^|]*\)|.*/\1/p' "$WC_ROOT/docs/limits.md" |
        grep -o '[a-z0-9_]*'
}
number() { # NAME...
    printf '__NR_%s\n' "$@" | gcc -E -P -include asm/unistd.h - | grep -v '^$'
}
commas() { paste -s -d ,; }
published_numbers() {
    # shellcheck disable=SC2046  # a list of names
    number $(published) | commas
}

# What becomes of the log where a call is refused: nothing of it is there, or all calls are told; and
# what is not known then. That is what docs/limits.md says each is for.
refused() { # CALL
    case $1 in
    openat | close | fstat) echo none ;;                                # no file without these
    write | rt_sigprocmask | rt_sigpending | rt_sigtimedwait) echo none ;; # no line
    getpid) echo none ;;                                                # whose lock, whose log?
    mprotect) echo whole '.kind == "blind" and .why == "its page cannot be written"' ;;
    getppid) echo whole '.kind == "process" and .parent_pid == null' ;;
    getcwd) echo whole '.kind == "process" and .directory == null' ;;
    uname) echo whole '.kind == "process" and .node == null' ;;
    readlinkat) echo whole '.kind == "object" and .role == "facade" and .real_path == null' ;;
    newfstatat) echo whole '.kind == "object" and .role == "facade" and .inode == null' ;;
    pread64) echo whole '.kind == "machine" and .operating_system == null' ;;
    getdents64) echo whole '.kind == "machine" and .gpu_devices == null' ;;
    clock_gettime) echo whole '.kind == "call" and .time == 0' ;;
    gettid) echo whole '.kind == "call" and .tid == .pid' ;;
    *) echo whole '.kind == "summary" and .dropped == 0' ;;
    esac
}

# The log is as `refused` says, for a host of the steps below. Whether the logs that were kept are
# valid is asked once, at the end.
log_is() { # none | whole FILTER
    if [ "$1" = none ]; then
        is "$(files)" ''
    else
        mkdir -p kept && cp "$log" "kept/$RANDOM$RANDOM.jsonl"
        is "$(jq -rs "map(select(.kind == \"call\") | .function + \" \" + .phase), any(.[]; $2)" \
            "$log" | jq -r 'if type == "array" then .[] else . end')" \
            "$(printf '%s\n' "${whole[@]}" true)"
    fi
}

# Refused close leaves a descriptor open: the one that it was for.
only_blinds() { # CALL FILTER FATE
    local call=$1 filter=$2 fate=$3 count=descriptors
    echo "$call: $filter"
    [ "$call" != close ] || count=time
    does "$filter" "$count" open="$FAULTS/bound.so" call=bound open="$cudnn" version create "$count" \
        signals
    said 'call 90100 errno 77' "${well[@]}"
    # shellcheck disable=SC2086
    log_is ${fate%% *} "${fate#* }"
}

@test "seccomp: each published system call refused to the shim only blinds it" {
    local errno call before
    [ "$(published | wc -l)" -ge 30 ]
    for errno in 1 $(part '' 38); do # EPERM, ENOSYS
        for call in $(published); do
            only_blinds "$call" refuse="$(number "$call"):$errno" "$(refused "$call")"
        done
    done
    only_blinds all refuse=all:1 none
    validate_log kept/*
}

@test "seccomp: with close refused one descriptor stays open, no more" {
    run_host shimmed "$SHIM" "$FAULTS/does" descriptors refuse="$(number close):1" open="$cudnn" \
        descriptors version create descriptors
    local open
    mapfile -t open < <(sed -n 's/^descriptors open://p' shimmed.said)
    is "$(wc -w <<<"${open[1]}")" $(($(wc -w <<<"${open[0]}") + 1))
    is "${open[2]}" "${open[1]}"
}

# shellcheck disable=SC2016
without_proc=("${as_root[@]}" unshare -m --propagation private sh -c 'umount -l /proc && exec "$@"' sh)

# ---- the list is complete ----

# What a process does that the shim looks at, and what it does in odd circumstances: these call for
# each call of the list at least once.
traced() { # TRACE COMMAND...
    local trace=$1
    shift
    rm -rf "$here" && mkdir "$here"
    (cd "$here" && strace -f -i -y -o "$work/$trace" -E LD_PRELOAD="$SHIM" -E WHICHCUDNN_LOG="$log" \
        "${variables[@]/#/-E}" "${inside[@]}" "$@" >"$work/out" 2>"$work/err") || cat "$work/err"
}
made_by_shim() { python3 "$WC_ROOT/tests/faults/calls_made.py" "$1" /libwhichcudnn.so; }

@test "seccomp: the shim makes the published system calls, each of them, and no other" {
    local usual=(open="$FAULTS/bound.so" call=bound open="$cudnn" version create)
    traced usual.trace "$FAULTS/does" open=libcudnn_no.so "${usual[@]}" fork "${usual[@]}" close
    traced linked.trace "$FAULTS/linked"
    traced closed.trace "$FAULTS/does" close-from=0 "${usual[@]}"
    traced unannounced.trace "$FAULTS/does" open="$cudnn" open="$FAULTS/unannounced.so" call=bound
    traced both.trace "$FAULTS/does" open="$cudnn" both=cudnnCreate
    traced full.trace "$FAULTS/does" limit=FSIZE:2000 signal=XFSZ:ign "${usual[@]}"
    variables=(WHICHCUDNN_RUN_PID=1)
    # shellcheck disable=SC2016
    traced nothing.trace sh -c 'WHICHCUDNN_RUN_PID=$$ exec "$0" time' "$FAULTS/does"
    variables=()
    inside=("${without_proc[@]}")
    traced rights.trace "$FAULTS/linked"
    published | sort >published
    for trace in ./*.trace; do made_by_shim "$trace"; done | sort -u >made
    diff published made
}
