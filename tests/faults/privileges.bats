#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Less than a process usually has: system calls refused, rights given up or never had, no /proc, no
# memory, small stacks. And what else may stand around it: a tracer, the shim twice, 2,000 libraries.
# shellcheck disable=SC2317,SC2034,SC2154  # run_host uses prepare, inside and variables

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

# ---- system calls: the list of SECURITY.md, for x86-64 ----

published() { # [NEEDED_FOR]: those needed for that, else all
    sed -n "/^## System calls/,/^## Sizes/s/^- \(\`[^:]*\`\) (${1:-[a-z ]*}):.*/\1/p" "$WC_ROOT/SECURITY.md" |
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
# what is not known then. That is what SECURITY.md says each is for.
refused() { # CALL
    case $1 in
    openat | close | fstat) echo none ;;                                # no file without these
    write | rt_sigprocmask) echo none ;; # no line
    getpid) echo none ;;                 # whose log?
    mprotect) echo whole '.kind == "unobserved" and .why == "its page cannot be written"' ;;
    getppid) echo whole '.kind == "process" and .parent_pid == null' ;;
    getcwd) echo whole '.kind == "process" and .directory == null' ;;
    uname) echo whole '.kind == "process" and .node == null' ;;
    readlinkat) echo whole '.kind == "object" and .role == "facade" and .real_path == null' ;;
    newfstatat) echo whole '.kind == "object" and .role == "facade" and .inode == null' ;;
    pread64) echo whole '.kind == "machine" and .operating_system == null' ;;
    getdents64) echo whole '.kind == "machine" and .gpu_devices == null' ;;
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
        is "$(whole_lines "$log" | jq -rs "map(select(.kind == \"call\") | .function + \" \" + .phase), any(.[]; $2)" |
            jq -r 'if type == "array" then .[] else . end')" \
            "$(printf '%s\n' "${whole[@]}" true)"
    fi
}

# Refused close leaves a descriptor open: the one that it was for.
only_blinds() { # CALL FILTER FATE
    local call=$1 filter=$2 fate=$3 count=descriptors
    echo "$call: $filter"
    [ "$call" != close ] || count='time'
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
    (cd "$here" && strace -f -i -y -o "$work/$trace" -E LD_PRELOAD="${preload-$SHIM}" -E WHICHCUDNN_LOG="$log" \
        "${variables[@]/#/-E}" "${inside[@]}" "$@" >"$work/out" 2>"$work/err") || cat "$work/err"
}
made_by_shim() { python3 "$WC_ROOT/tests/faults/calls_made.py" "$1" /libwhichcudnn.so; }

@test "seccomp: the shim makes the published system calls, each of them, and no other" {
    local usual=(open="$FAULTS/bound.so" call=bound open="$cudnn" version create)
    traced usual.trace "$FAULTS/does" open=libcudnn_no.so "${usual[@]}" fork "${usual[@]}" close
    traced linked.trace "$FAULTS/linked"
    traced closed.trace "$FAULTS/does" close-from=0 "${usual[@]}"
    traced unannounced.trace "$FAULTS/does" open="$cudnn" open="$FAULTS/unannounced.so" call=bound
    # Whether one of two threads has to wait for the other is chance.
    for _ in {1..20}; do
        traced both.trace "$FAULTS/does" open="$cudnn" both=cudnnCreate
        ! made_by_shim both.trace | grep -qx nanosleep || break
    done
    traced full.trace "$FAULTS/does" limit=FSIZE:2000 signal=XFSZ:ign "${usual[@]}"
    traced none.trace "$FAULTS/does" limit=FSIZE:0 signal=XFSZ:ign "${usual[@]}"
    variables=(WHICHCUDNN_LOG= WHICHCUDNN_EXPECT=1.0) # an error is printed
    traced default.trace "$FAULTS/does" "${usual[@]}"
    rm -f "/tmp/whichcudnn-$(id -u)/whichcudnn-$(uname -n)-$(sed -n '$s/ .*//p' default.trace)-"*
    variables=(WHICHCUDNN_RUN_PID=1)
    # shellcheck disable=SC2016
    traced nothing.trace sh -c 'WHICHCUDNN_RUN_PID=$$ exec "$0" time' "$FAULTS/does"
    variables=()
    inside=("${without_proc[@]}")
    traced without.trace "$FAULTS/linked"
    # The shim is opened by a program that has moved its environment: no vector stands behind that.
    gcc -o opens -xc - -ldl <<'END'
#include <dlfcn.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    return argc != 2 || setenv("MOVED", "1", 1) || !dlopen(argv[1], RTLD_NOW);
}
END
    preload='' traced rights.trace "$work/opens" "$SHIM"
    # And without /proc: nobody tells where the kernel's clock is.
    # shellcheck disable=SC2016
    preload='' traced clock.trace sh -c 'WHICHCUDNN_RUN_PID=$$ exec "$0" "$1"' "$work/opens" "$SHIM"
    for trace in ./*.trace; do made_by_shim "$trace"; done | sort -u >made
    diff <(published | sort) made
}

# ---- what is needed after the first facts ----

# cuDNN 7, whose functions load no further library.
seven=$WC_BUILD/faults/copies7/1/libcudnn.so.7
facts=(open="$seven" version create sym=cudnnNo)
facts_told=('version 7605 errno 77' 'create 1 errno 77')

@test "seccomp: after the first facts a line of the log needs four calls" {
    is "$(published 'a line' | sort | commas)" close,openat,rt_sigprocmask,write
    # shellcheck disable=SC2046
    does "${facts[@]}" refuse="beyond:$(number $(published 'a line') | commas)" \
        "${facts[@]:1}" call=cudnnGetCudartVersion sym=cudnnNoneEither signals
    said "${facts_told[@]}" "${facts_told[@]}" 'call 0 errno 77'
    log_tells "$log" "${whole[@]}" 'cudnnGetCudartVersion before' 'cudnnGetCudartVersion after'
    is "$(records failure "$log" | jq -r '.function + " " + (.text | type)')" \
        "$(printf '%s\n' cudnnNo' '{null,string} cudnnNo' '{null,string} cudnnNoneEither' '{null,string})"
    is "$(field summary dropped "$log")" 0
    without_gap "$log"
    # With one of them missing it is killed.
    # shellcheck disable=SC2046
    run_host shimmed "$SHIM" "$FAULTS/does" "${facts[@]}" \
        refuse="beyond:$(number $(published 'a line' | grep -vx write) | commas)" call=cudnnGetCudartVersion
    is "$(cat shimmed.status)" $((128 + 31)) # SIGSYS
}

@test "seccomp: after the first facts what is not told needs none" {
    does "${facts[@]}" refuse="beyond:$(number exit_group)" "${facts[@]:1:2}" sym=cudnnGetVersion \
        call=cudnnGetVersion signals leave
    said "${facts_told[@]}" "${facts_told[@]}" 'sym found errno 77' 'call 7605 errno 77'
    log_tells "$log" "${whole[@]}"
}

@test "seccomp: after the first facts an unrelated library that comes, is asked and goes needs one more" {
    # shellcheck disable=SC2046
    does "${facts[@]}" open=libresolv.so.2 \
        refuse="beyond:$(number futex $(published 'a line') | commas)" sym=of_no_library \
        open=libnsl.so.1 open=libresolv.so.2 close sym=of_no_library close signals
    local opened='open opened errno 77' closed='close 0 errno 77'
    said "$opened" "${facts_told[@]}" "$opened" "$opened" "$opened" "$closed" "$closed"
    log_tells "$log" "${whole[@]}"
    is "$(field summary dropped "$log")" 0
}

# ---- filters on the whole process ----

usual=(open=libcudnn_no.so open="$WC_BUILD/faults/set/libcudnn.so.9" version create sym=cudnnNo)

@test "seccomp: a filter that kills at any other than the published calls" {
    does refuse="beyond:$(published_numbers)" "${steps[@]}" fork "${usual[@]}"
    said "${well[@]}" "${well[@]}" 'child ended with 0'
    log_tells "$log" "${whole[@]}"
    # With one call missing in the list it does kill.
    # shellcheck disable=SC2046
    run_host shimmed "$SHIM" "$FAULTS/does" \
        refuse="beyond:$(number $(published | grep -vx gettid) | commas)" "${usual[@]}"
    is "$(cat shimmed.status)" $((128 + 31)) # SIGSYS
}

@test "seccomp: what a bare host makes and the published calls are all that it needs" {
    local needed
    does "${usual[@]}" fork "${usual[@]}"
    (cd "$here" && strace -f -i -o "$work/bare.trace" -E LD_PRELOAD="${FAULTS_BESIDE:-}" "$FAULTS/does" "${usual[@]}" fork "${usual[@]}")
    # shellcheck disable=SC2046
    needed=$(number $(python3 "$WC_ROOT/tests/faults/calls_made.py" bare.trace --all) execve | commas)
    as_bare 0 "$FAULTS/filtered" "beyond:$needed,$(published_numbers)" "$FAULTS/does" "${usual[@]}" \
        fork "${usual[@]}"
    said "${well[@]}" "${well[@]}" 'child ended with 0'
    log_tells "$log" "${whole[@]}"
}

# as_bare, where the loader may be unable to start the host: then that is the same.
starts_or_not() {
    run_host bare '' "$@" && run_host shimmed "$SHIM" "$@" && same status said out || return
    sed -i '/from LD_PRELOAD cannot be preloaded/d' shimmed.err
    same err && case $(cat bare.status) in
        127 | 139) is "$(cat bare.said)" '' ;; # or, without mmap, it crashes
        0) said "${well[@]}" ;;
        *) return 1 ;;
    esac
}

# Some the loader needs, the host can spare the others.
@test "seccomp: each published call refused to the whole process from its start" {
    local errno call number
    for errno in 1 $(part '' 38); do
        for call in $(published); do
            echo "$call refused with $errno"
            number=$(number "$call")
            case $call in
            openat | close | fstat | newfstatat | pread64 | mmap | mprotect)
                starts_or_not "$FAULTS/filtered" "$number:$errno" "$FAULTS/does" "${usual[@]}"
                ;;
            ftruncate) # with it the host makes its report; it has another way
                variables=(REPORT=)
                as_bare 0 "$FAULTS/filtered" "$number:$errno" "$FAULTS/does" "${usual[@]}"
                is "$(grep -xF -e "${well[0]}" -e "${well[1]}" shimmed.out)" "$(printf '%s\n' "${well[@]}")"
                variables=()
                ;;
            *)
                as_bare 0 "$FAULTS/filtered" "$number:$errno" "$FAULTS/does" "${usual[@]}"
                said "${well[@]}"
                ;;
            esac
        done
    done
}

@test "seccomp: strict mode after the first call: further ones make no system call" {
    as_bare 5 "$FAULTS/does" open="$cudnn" keep=cudnnGetVersion version strict create
    said 'strict 90100'
    log_tells "$log" "${whole[@]:0:2}"
}

# ---- rights ----

# ends in both runs with 0 and alike; the second has the shim by /etc/ld.so.preload alone
everywhere() { # COMMAND...
    local etc=$work/etc part
    mkdir -p "$etc/upper" "$etc/work"
    as_user=("${inside[@]}")
    # shellcheck disable=SC2016
    run_host bare '' "$@" && inside=("${as_root[@]}" unshare -m --propagation private sh -c '
        mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" /etc &&
        echo "$2" >/etc/ld.so.preload || exit 99
        shift 2 && exec "$@"' sh "$etc" "$SHIM" "${as_user[@]}") && run_host shimmed '' "$@"
    is "$(cat bare.status)" 0 && same status said out err
}

# A program of root's that gives rights to others: in three ways.
gives_rights() { # HOW
    local host=$FAULTS/does
    case $1 in
    set-user-ID) "${as_root[@]}" chown 0:0 "$host" && "${as_root[@]}" chmod 4755 "$host" ;;
    set-group-ID) "${as_root[@]}" chown 0:0 "$host" && "${as_root[@]}" chmod 2755 "$host" ;;
    capabilities) "${as_root[@]}" chmod 755 "$host" && "${as_root[@]}" setcap cap_net_raw+ep "$host" ;;
    esac
}

@test "rights: set-user-ID, set-group-ID, capabilities: the loader does not let the shim in" {
    local how
    in_public && cd "$public/work" && inside=("${as_nobody[@]}") || return
    prepare() { chmod 777 .; }
    for how in set-user-ID set-group-ID capabilities; do
        echo "$how"
        gives_rights $how
        does rights mapped=libwhichcudnn open="$cudnn" version create
        said 'rights secure 1 log asked for' 'mapped no' "${well[@]}"
        is "$(files)" ''
    done
}

@test "rights: the same with the shim in /etc/ld.so.preload: it writes nothing and heeds no variable" {
    local how where
    in_public && cd "$public/work" || return
    prepare() { chmod 777 .; }
    for how in set-user-ID set-group-ID capabilities; do
        for where in does linked; do
            echo "$how $where"
            gives_rights $how
            inside=("${as_nobody[@]}")
            everywhere "$FAULTS/does" rights open="$cudnn" version create sym=cudnnNo stderr=full
            said 'rights secure 1 log asked for' "${well[@]}"
            is "$(files)" ''
            # It is in there all the same.
            run_host shimmed '' "$FAULTS/does" mapped=libwhichcudnn
            said 'mapped yes'
        done
    done
    # And without those rights it would write.
    "${as_root[@]}" chmod 755 "$FAULTS/does" && "${as_root[@]}" setcap -r "$FAULTS/does"
    inside=("${as_nobody[@]}")
    everywhere "$FAULTS/does" rights open="$cudnn" version create
    said 'rights secure 0 log asked for' "${well[@]}"
    log_tells "$log" "${whole[@]}"
}

@test "rights: given up for good after the log was begun: it ends there" {
    as_bare 0 "$FAULTS/does" open="$cudnn" version user=65534 create signals
    said "${well[0]}" 'user user 65534 dumpable 0' "${well[1]}"
    log_tells "$log" "${whole[@]:0:2}"
    is "$(files)" './log.jsonl '
}

@test "rights: given up before the first fact: the log is the new user's" {
    in_public && cd "$public/work" || return
    prepare() { chmod 777 .; }
    does user=65534 open="$cudnn" version create signals
    said "${well[@]}"
    log_tells "$log" "${whole[@]}"
    is "$(stat -c %u "$log")" 65534
}

@test "rights: given up for a while: what was lost is told" {
    does open="$cudnn" version for-now=65534 create for-now=0 sym=cudnnNo
    said "${well[@]}"
    log_tells "$log" "${whole[@]:0:2}"
    has_told_a_loss "$log" 'cannot be opened'
}

# ---- another root, no /proc, another user namespace ----

@test "chroot before the first dlopen: the log's place is not there" {
    prepare() { mkdir root && cp -r "$FAULTS/set" root; }
    inside=("${as_root[@]}")
    does chroot="$here/root" open=/set/libcudnn.so.9 version create sym=cudnnNo signals
    said "${well[@]}"
    is "$(find "$here" -name '*.jsonl*')" ''
    # A name that is there leads to where it leads in there.
    variables=(WHICHCUDNN_LOG=/log.jsonl)
    does chroot="$here/root" open=/set/libcudnn.so.9 version create sym=cudnnNo signals
    said "${well[@]}"
    is "$(find "$here" -name '*.jsonl*')" "$here/root/log.jsonl"
    log_tells "$here/root/log.jsonl" "${whole[@]}"
}

@test "chroot after the log was begun: it ends there" {
    inside=("${as_root[@]}")
    does open="$cudnn" version chroot="$here" create sym=cudnnNo signals
    said "${well[@]}"
    log_tells "$log" "${whole[@]:0:2}"
}

# Bare and with the shim, which then knows what the loader knows, and its own settings.
@test "no /proc: from the start, for a host that opens and one that is linked" {
    inside=("${without_proc[@]}")
    does "${usual[@]}" time
    said "${well[@]}"
    log_tells "$log" "${whole[@]}"
    jq -se 'any(.[]; .kind == "process" and .start_ticks == null) and
        any(.[]; .kind == "object" and .role == "facade" and .version == "9.1.0")' "$log"

    as_bare 0 "$FAULTS/linked"
    is "$(cat shimmed.out)" 'version 90100 create 1001'
    log_tells "$log" "${whole[@]}"
    jq -se 'any(.[]; .kind == "object" and .is_host and (.path | endswith("/linked")))' "$log"
    is "$(files)" './log.jsonl '
    # Among the settings is the one to stay away.
    variables=(WHICHCUDNN_DISABLE=1)
    as_bare 0 "$FAULTS/linked"
    is "$(files)" ''
}

@test "no /proc: a program that its user may not read has none of its own" {
    in_public && cd "$public/work" || return
    prepare() { chmod 777 .; }
    "${as_root[@]}" chown 0:0 "$FAULTS/does" "$FAULTS/linked"
    "${as_root[@]}" chmod 711 "$FAULTS/does" "$FAULTS/linked"
    inside=("${as_nobody[@]}")
    does "${usual[@]}"
    said "${well[@]}"
    log_tells "$log" "${whole[@]}"
    as_bare 0 "$FAULTS/linked"
    log_tells "$log" "${whole[@]}"
    variables=(WHICHCUDNN_DISABLE=1)
    as_bare 0 "$FAULTS/linked"
    is "$(files)" ''
}

@test "no /proc: an empty one is no better, and one that vanishes does no harm" {
    # shellcheck disable=SC2016
    inside=("${as_root[@]}" unshare -m --propagation private sh -c 'mount -t tmpfs none /proc && exec "$@"' sh)
    does "${usual[@]}" time
    said "${well[@]}"
    log_tells "$log" "${whole[@]}"
    inside=("${as_root[@]}" unshare -m --propagation private)
    does open="$cudnn" version sh='umount -l /proc' create sym=cudnnNo time
    said "${well[@]}"
    is "$(cat bare.out)" ''
    log_tells "$log" "${whole[@]}"
}

@test "user namespace: a process in one of its own" {
    inside=("${as_root[@]}" unshare -U --map-root-user)
    does "${steps[@]}"
    said "${well[@]}"
    log_tells "$log" "${whole[@]}"
}

@test "user namespace: entered after the log was begun, where nobody else may write: it goes on" {
    inside=("${as_root[@]}")
    does open="$cudnn" version process=own-user create sym=cudnnNo signals
    said "${well[@]}"
    log_tells "$log" "${whole[@]}"
    without_gap "$log"
}

@test "user namespace: the same where others may write: the log is another user's then, and ends there" {
    inside=("${as_root[@]}")
    prepare() { chmod 777 .; }
    does open="$cudnn" version process=own-user create sym=cudnnNo signals
    said "${well[@]}"
    log_tells "$log" "${whole[@]:0:2}"
}

# ---- memory ----

# Limits from none left up to what is plenty: whatever the shim gets, what needs no memory of the
# host's is as without it.
@test "memory: address space so scarce that nothing can be mapped" {
    local room
    for room in 0 65536 $(part '' '8192 131072 266240 524288 4194304'); do
        echo "$room bytes beyond what is mapped"
        does open="$cudnn" version create limit=AS:+"$room" call=cudnnGetCudartVersion sym=cudnnNo \
            call=cudnnGetCudartVersion limit=AS:max signals
        said "${well[@]}"
        log_tells "$log" "${whole[@]}" 'cudnnGetCudartVersion before' 'cudnnGetCudartVersion after'
    done
    # Before it is open: the host needs room, the shim needs more.
    for room in 1048576 $(part '' 4194304); do
        does limit=AS:+"$room" open="$cudnn" version create sym=cudnnNo signals
        said "${well[@]}"
        log_tells "$log" "${whole[@]}"
    done
}

# ---- stacks ----

@test "stack: threads of 64 KiB and of the least that there may be, a program of 64 KiB" {
    local kib
    for kib in 64 least; do
        echo "$kib"
        does thread="$kib" "${usual[@]}" signals
        said "${well[@]}"
        log_tells "$log" "${whole[@]}"
    done
    inside=(prlimit --stack=65536)
    does "${usual[@]}" signals
    said "${well[@]}"
    log_tells "$log" "${whole[@]}"
}

stack_bound() { tr -s '\n ' ' ' <"$WC_ROOT/docs/limits.md" | sed -n 's/.*at most \([0-9]*\) KiB of stack.*/\1/p'; }

@test "stack: no hook takes more than docs/limits.md says" {
    local bound operation bare shimmed
    bound=$(($(stack_bound) * 1024))
    [ "$bound" -gt 0 ]
    run_host bare "${FAULTS_BESIDE:-}" "$FAULTS/stack" thread "$cudnn"
    run_host shimmed "$SHIM ${FAULTS_BESIDE:-}" "$FAULTS/stack" thread "$cudnn"
    log_tells "$log" "${whole[@]}"
    join bare.out shimmed.out | tee both
    is "$(wc -l <both)" 13
    while read -r operation bare shimmed; do
        [ "$shimmed" -le $((bare + bound)) ] || { echo "$operation takes too much" && return 1; }
    done <both
}

@test "stack: in a handler on a stack that has room for the host and for the shim's own" {
    run_host bare "${FAULTS_BESIDE:-}" "$FAULTS/stack" thread "$cudnn"
    local most
    most=$(cut -d ' ' -f 2 bare.out | sort -n | tail -n 1)
    as_bare 0 "$FAULTS/stack" "handler=$((most + $(stack_bound) * 1024))" "$cudnn"
    is "$(grep -c ' done$' shimmed.out)" 13
    log_tells "$log" "${whole[@]}"
    # Nobody may touch what lies below: too small a one is noticed.
    as_bare $((128 + 11)) "$FAULTS/stack" handler=0 "$cudnn"
    is "$(cat shimmed.out)" ''
}

# ---- who else is there ----

@test "a tracer: a child followed by its parent, a host under strace" {
    does traced "${usual[@]}" fork "${usual[@]}"
    said 'traced follows' 'many stops, child ended with 0'
    log_tells "$(echo "$here"/log-[0-9]*.jsonl)" "${whole[@]}" || ls -la "$here"
    inside=(strace -f -qq -o /dev/null)
    does "${usual[@]}" signals
    said "${well[@]}"
    log_tells "$log" "${whole[@]}"
}

@test "the shim twice: by the same path, a link, a hard link, a copy" {
    cp "$SHIM" libwhichcudnn.so
    ln -s libwhichcudnn.so link.so
    ln libwhichcudnn.so hard.so
    mkdir copy && cp libwhichcudnn.so copy
    local other
    for other in libwhichcudnn.so link.so hard.so copy/libwhichcudnn.so; do
        for host in "does ${usual[*]}" linked; do
            echo "$other, $host"
            # shellcheck disable=SC2086
            run_host bare "${FAULTS_BESIDE:-}" "$FAULTS/"$host
            # shellcheck disable=SC2086
            run_host shimmed "$work/libwhichcudnn.so:$work/$other ${FAULTS_BESIDE:-}" "$FAULTS/"$host
            is "$(cat bare.status)" 0
            same status said out err
            # Two copies are two shims, each with a log of its own; calls are seen by one of them.
            [ "$other" = copy/libwhichcudnn.so ] || log_tells "$log" "${whole[@]}"
            validate_log "$here"/*
            is "$(cat "$here"/* | jq -r 'select(.kind == "call") | .function + " " + .phase')" \
                "$(printf '%s\n' "${whole[@]}")"
        done
    done
}

# ---- 2,000 libraries ----

# many DIR N FUNCTION: so many files of one tiny library that calls it; each is loaded for itself.
many() {
    gcc -shared -fPIC -Os -s -o one.so -xc - -Wl,-z,noseparate-code \
        <<<"long $3(void) __attribute__((weak)); long bound(void); long bound(void) { return $3(); }"
    mkdir "$1"
    # shellcheck disable=SC2016
    seq -f "$1/%g.so" "$2" | xargs -n 500 sh -c 'tee "$@" <one.so >/dev/null' sh
}

@test "2,000 libraries that have nothing to do with cuDNN: the log is whole" {
    local n
    n=$(part 500 2000)
    many libraries "$n" other
    does open-all="$work/libraries" open="$cudnn" version create open-all="$work/libraries"
    said "open-all opened $n" "${well[@]}" "open-all opened $n"
    log_tells "$log" "${whole[@]}"
    is "$(records object "$log" | jq -r .path | grep -c libraries/)" 0
    [ "$(field summary requests "$log")" -gt "$n" ] # those before it woke are not counted
    is "$(field summary dropped "$log")" 0
    without_gap "$log"
}

@test "2,000 libraries of CUDA: as many as there is room for are told, and that there were more" {
    local n most i
    n=$(part 1100 2000)
    most=$(sed -n 's/^- `OBJECTS_MOST` \([0-9]*\):.*/\1/p' "$WC_ROOT/SECURITY.md")
    many cuda "$n" other
    for ((i = 1; i <= n; i++)); do mv "cuda/$i.so" "cuda/libcufft.so.$i"; done
    does open="$cudnn" open-all="$work/cuda" version create
    said "open-all opened $n" "${well[@]}"
    is "$(records call "$log" | jq -r '.function + " " + .phase')" "$(printf '%s\n' "${whole[@]}")"
    is "$(records object "$log" | jq -r .object | sort -un | wc -l)" "$most"
    is "$(records unobserved "$log" | jq -r 'select(.what == "further objects").why')" 'there is no room for more'
}

@test "hundreds of hosts: each is told with what it is bound to" {
    local n
    n=$(part 100 300)
    many hosts "$n" cudnnGetVersion
    does open="$cudnn" open-all="$work/hosts" version create
    said "open-all opened $n" "${well[@]}"
    log_tells "$log" "${whole[@]}"
    is "$(records binding "$log" | jq -r 'select(.host_path | contains("/hosts/")).host' | sort -un | wc -l)" "$n"
    is "$(field summary dropped "$log")" 0
}
