#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The place where the log should be: missing, full, forbidden, taken, taken away.
# shellcheck disable=SC2317,SC2034  # run_host uses prepare, inside and variables

bats_require_minimum_version 1.5.0
load faults

setup_file() { build_faults; }
setup() { enter_faults; }
teardown() { leave_public; }

calls=(version create)
# What a run says that is well, whatever became of its log.
steps=(descriptors open="$WC_BUILD/faults/set/libcudnn.so.9" "${calls[@]}" descriptors signals time)

# The host does as bare, all is well with it, and these files are left.
leaves() { # FILES STEP...
    local expected=$1
    shift
    does "$@" && said "${well[@]}" && is "$(files)" "$expected"
}

@test "log: nothing in its way" {
    leaves './log.jsonl ' "${steps[@]}"
    log_tells "$log" "${whole[@]}"
    without_gap "$log"
}

# ---- at the start ----

@test "log: directory missing" {
    variables=(WHICHCUDNN_LOG="$here/no/such/log.jsonl")
    leaves '' "${steps[@]}"
    # A directory, by its slash.
    variables=(WHICHCUDNN_LOG="$here/no/such/")
    leaves '' "${steps[@]}"
}

@test "log: no log, but findings on standard error, and why there is no log" {
    variables=(WHICHCUDNN_LOG="$here/no/such/log.jsonl" WHICHCUDNN_STDERR=finding WHICHCUDNN_EXPECT=1.0)
    run_host shimmed "$SHIM" "$FAULTS/does" "${steps[@]}"
    said "${well[@]}"
    grep '^whichcudnn: error\[' shimmed.err
    grep '^no log  .*cannot be created' shimmed.err
    grep '^more        whichcudnn explain [a-z-]*$' shimmed.err
}

@test "log: a directory that only root may write to" {
    in_public
    prepare() { mkdir closed open && chmod 777 open && chmod 755 closed; }
    inside=("${as_nobody[@]}")
    variables=(WHICHCUDNN_LOG="$here/closed/log.jsonl")
    leaves './closed ./open ' "${steps[@]}"
    variables=(WHICHCUDNN_LOG="$here/open/log.jsonl")
    leaves './closed ./open ./open/log.jsonl ' "${steps[@]}"
    log_tells "$here/open/log.jsonl" "${whole[@]}"
}

@test "log: a read-only file system" {
    prepare() { mkdir mounted; }
    variables=(WHICHCUDNN_LOG="$here/mounted/log.jsonl")
    with_mounts 'mount -t tmpfs none mounted && mount -o remount,ro mounted'
    leaves './mounted ' "${steps[@]}"
    # It becomes so while the host runs.
    variables=(WHICHCUDNN_LOG="$here/mounted/log.jsonl")
    with_mounts 'mount -t tmpfs none mounted' 'cp mounted/* . 2>&-'
    leaves './log.jsonl ./mounted ' open="$cudnn" sh='mount -o remount,ro mounted' version \
        sh='mount -o remount,rw mounted' create signals descriptors
    log_tells "$log" "${whole[@]:2}"
    has_told_a_loss "$log" 'cannot be opened'
}

# leaves, where the log has the pid in its name
leaves_another() { # FILES STEP...
    local expected=$1 other
    shift
    does "$@" && said "${well[@]}" && other=$(echo "$here"/log-[0-9]*.jsonl) &&
        log_tells "$other" "${whole[@]}" && mv "$other" "$here/other" &&
        is "$(files)" "./log.jsonl ./other $expected"
}

@test "log: in its place a user's precious file, at the start" {
    prepare() { echo precious >log.jsonl; }
    leaves_another '' "${steps[@]}"
    is "$(cat "$log")" precious
}

@test "log: in its place a link to a precious file, at the start" {
    prepare() { echo precious >precious && ln -s precious log.jsonl; }
    leaves_another './precious ' "${steps[@]}"
    is "$(cat "$here/precious")" precious
    # A link that leads nowhere: nothing is made there.
    prepare() { ln -s nowhere log.jsonl; }
    leaves_another '' "${steps[@]}"
}

@test "log: in its place a FIFO without a reader, at the start" {
    prepare() { mkfifo log.jsonl; }
    leaves_another '' "${steps[@]}"
}

@test "log: in its place a socket, at the start" {
    prepare() { python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("log.jsonl")'; }
    leaves_another '' "${steps[@]}"
}

@test "log: in its place a directory, at the start" {
    prepare() { mkdir log.jsonl; }
    does "${steps[@]}"
    said "${well[@]}"
    log_tells "$(the_log "$log")" "${whole[@]}"
}

@test "log: in its place another user's file, at the start" {
    prepare() { touch log.jsonl && "${as_root[@]}" chown 65534 log.jsonl; }
    leaves_another '' "${steps[@]}"
    is "$(stat -c %s "$log")" 0
}

@test "log: in its place a device, at the start" {
    local device
    for device in /dev/full /dev/null /dev/tty /dev/stderr /dev/stdout /proc/self/fd/1; do
        echo "$device"
        variables=(WHICHCUDNN_LOG="$device")
        does "${steps[@]}"
        said "${well[@]}"
        is "$(files)" ''
        is "$(cat shimmed.out shimmed.err)" ''
        is "$(find /dev -maxdepth 1 -name "${device##*/}.*")" '' # as root could make it
    done
}

@test "log: /dev/null: no log, and that is not complained of" {
    variables=(WHICHCUDNN_LOG=/dev/null WHICHCUDNN_STDERR=finding WHICHCUDNN_EXPECT=1.0)
    run_host shimmed "$SHIM" "$FAULTS/does" "${steps[@]}"
    said "${well[@]}"
    is "$(files)" ''
    is "$(find /dev -maxdepth 1 -name 'null.*')" ''
    grep '^whichcudnn: error\[' shimmed.err
    run ! grep -E 'no log|report' shimmed.err
    grep '^more        whichcudnn explain [a-z-]*$' shimmed.err
}

# ---- while the host runs ----

# The log is what it was before, and nothing is written to what stands there, where others may put
# something there.
replaced_by() { # COMMAND
    prepare() { chmod 777 .; }
    leaves './kept ./log.jsonl ' open="$cudnn" version \
        sh="mv -f $log $here/kept 2>/dev/null; $1" create descriptors signals time
    log_tells "$here/kept" "${whole[@]:0:2}"
    without_gap "$here/kept"
}

@test "log: removed while the host runs: it is not made again" {
    leaves '' open="$cudnn" version sh="rm -f $log" create descriptors signals time
    # And the directory with it.
    prepare() { mkdir gone; }
    variables=(WHICHCUDNN_LOG="$here/gone/log.jsonl")
    leaves '' open="$cudnn" version sh="rm -r $here/gone" create descriptors signals time
}

@test "log: a link in its place, while the host runs" {
    replaced_by "echo precious >$log.precious; ln -s $log.precious $log" || true
    leaves './kept ./log.jsonl ./precious ' open="$cudnn" version \
        sh="mv -f $log $here/kept 2>/dev/null; echo precious >$here/precious; ln -s precious $log; touch $here/kept" \
        create descriptors signals time
    is "$(cat "$here/precious")" precious
    log_tells "$here/kept" "${whole[@]:0:2}"
}

@test "log: a FIFO without a reader in its place, while the host runs" {
    replaced_by "mkfifo $log; touch $here/kept"
}

@test "log: a directory in its place, while the host runs" {
    replaced_by "mkdir $log; touch $here/kept"
}

@test "log: another user's file in its place, while the host runs" {
    replaced_by "touch $log; chown 65534 $log; touch $here/kept"
    is "$(stat -c %s "$log")" 0
}

@test "log: a socket in its place, while the host runs" {
    replaced_by "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"$log\")'; touch $here/kept"
}

@test "log: a device in its place, while the host runs" {
    replaced_by "mknod $log c 1 7; touch $here/kept"
    replaced_by "mknod $log c 1 3; touch $here/kept"
}

@test "log: not to be written to any more, while the host runs" {
    leaves './log.jsonl ' open="$cudnn" version sh="touch $log; chattr +i $log" create descriptors \
        signals time sh="chattr -i $log" open="$cudnn"
}

# ---- full ----

# with_mounts COMMAND [COMMAND_AFTER]: the host runs among mounts of its own, made by root.
with_mounts() {
    # shellcheck disable=SC2016
    inside=("${as_root[@]}" unshare -m --propagation private sh -c '
        eval "$1" || exit 99
        end=$2 && shift 2
        "$@"; status=$?
        eval "$end"
        exit $status' sh "$1" "${2:-}")
}

@test "log: a full disk from the start" {
    prepare() { mkdir mounted; }
    variables=(WHICHCUDNN_LOG="$here/mounted/log.jsonl")
    with_mounts 'mount -t tmpfs -o size=8k none mounted && head -c 8192 /dev/zero >mounted/filling' \
        'ls mounted'
    leaves './mounted ' "${steps[@]}"
}

@test "log: a disk without inodes from the start" {
    prepare() { mkdir mounted; }
    variables=(WHICHCUDNN_LOG="$here/mounted/log.jsonl")
    with_mounts 'mount -t tmpfs -o nr_inodes=2 none mounted && touch mounted/filling' 'ls mounted'
    leaves './mounted ' "${steps[@]}"
}

@test "log: a disk that is full from the start and has room later: the log begins then" {
    prepare() { mkdir mounted; }
    variables=(WHICHCUDNN_LOG="$here/mounted/log.jsonl")
    with_mounts 'mount -t tmpfs -o size=32k none mounted && head -c 32768 /dev/zero >mounted/filling' \
        'cp mounted/log.jsonl . 2>&-'
    leaves './log.jsonl ./mounted ' open="$cudnn" version sh='rm mounted/filling' create signals
    log_tells "$log" "${whole[@]:2}"
    has_told_a_loss "$log" 'takes no more'
}

@test "log: a disk that gets full in the middle of a record: no half line stays" {
    prepare() { mkdir mounted; }
    variables=(WHICHCUDNN_LOG="$here/mounted/log.jsonl")
    with_mounts 'mount -t tmpfs -o size=4k none mounted' 'cp mounted/log.jsonl . 2>&-'
    leaves './log.jsonl ./mounted ' "${steps[@]}"
    validate_log "$log"
    [ -z "$(records summary "$log")" ]
    # What is missing is missing at the end, but for a shorter line that tells of it.
    without_gap <(jq -c 'select(.what != "records of this log")' "$log")
}

@test "log: a disk that gets full and has room again: what was lost is told" {
    prepare() { mkdir mounted; }
    variables=(WHICHCUDNN_LOG="$here/mounted/log.jsonl")
    with_mounts 'mount -t tmpfs -o size=64k none mounted' 'cp mounted/log.jsonl . 2>&-'
    # The last page of the file has room for some lines more.
    local long
    long=/absent/$(printf 'x%.0s' {1..480})
    leaves './log.jsonl ./mounted ' open="$cudnn" sh='cat /dev/zero >mounted/filling 2>&-' \
        open="$long-1" open="$long-2" open="$long-3" open="$long-4" version sh='rm mounted/filling' create signals
    validate_log "$log"
    is "$(records call "$log" | jq -r '.function + " " + .phase' | tail -n 2)" \
        "$(printf '%s\n' "${whole[@]:2}")"
    has_told_a_loss "$log" 'takes no more'
}

@test "log: at the greatest size that a file may have, the signal at its default, ignored, handled, blocked" {
    local how size
    for how in dfl ign count block; do
        for size in 0 1 2000 6000; do
            echo "$how $size"
            # What would be empty is not left.
            leaves "$([ $size -lt 2000 ] || echo './log.jsonl ')" signal=XFSZ:$how \
                limit=FSIZE:$size "${steps[@]}"
            said "XFSZ arrived 0 pending 0 blocked $([ $how != block ]; echo $?)"
            [ $size -lt 2000 ] || { validate_log "$log" && [ "$(stat -c %s "$log")" -le $size ]; }
        done
    done
    # One that the host itself has pending stays so.
    leaves './log.jsonl ' signal=XFSZ:block raise=XFSZ limit=FSIZE:2000 "${steps[@]}"
    said 'XFSZ arrived 0 pending 1 blocked 1'
}

@test "log: a greatest size that is lifted later: what was lost is told" {
    leaves './log.jsonl ' open="$cudnn" signal=XFSZ:dfl limit=FSIZE:1000 version limit=FSIZE:max create
    log_tells "$log" "${whole[@]:2}"
    has_told_a_loss "$log" 'takes no more'
}

# ---- odd names ----

@test "log: odd values of WHICHCUDNN_LOG" {
    local value made
    # value, what it makes ("PID": the process's)
    while IFS='|' read -r value made; do
        echo "$value"
        variables=(WHICHCUDNN_LOG="$(printf '%b' "$value")")
        does "${steps[@]}"
        said "${well[@]}"
        is "$(files | sed -E 's/[0-9]{2,}/N/g')" "$(printf '%b' "$made")"
    done <<END
%|./% 
%%|./%% 
%q%|./%q% 
relative.jsonl|./relative.jsonl 
./a/../b.jsonl|
with blank|./with blank 
new\\nline|./new line 
latin-\\0351|./latin-\\0351 
$(head -c 256 /dev/zero | tr '\0' a)|
-n|./-n 
END
    # Empty, or longer than a path may be: as if it were not set.
    for value in '' "$(head -c 5000 /dev/zero | tr '\0' a)"; do
        variables=(WHICHCUDNN_LOG="$value")
        with_own_tmp
        leaves '' "${steps[@]}"
        log_tells "$(the_log "$own/whichcudnn-0")" "${whole[@]}"
        inside=()
    done
}

@test "log: a relative name, and the host goes elsewhere" {
    variables=(WHICHCUDNN_LOG=log.jsonl)
    leaves './log.jsonl ' open="$cudnn" version chdir=/ create
    log_tells "$log" "${whole[@]}"
    # Before the log is there: the directory is that of the first relevant fact.
    prepare() { mkdir elsewhere; }
    leaves './elsewhere ./elsewhere/log.jsonl ' chdir=elsewhere open="$cudnn" "${calls[@]}"
}

@test "log: a relative name in a directory that is no more" {
    prepare() { mkdir gone; }
    variables=(WHICHCUDNN_LOG=log.jsonl)
    leaves '' chdir="$here/gone" sh="rmdir $here/gone" "${steps[@]}"
}

# ---- where nobody named a place ----

# with_own_tmp [COMMAND]: the host runs with a /tmp of its own, in which COMMAND was done before; what
# it has for logs at the end is in $own. What the tests need of the real one is there, too.
with_own_tmp() {
    own=$work/own
    rm -rf "$own" && mkdir "$own"
    variables=(WHICHCUDNN_LOG= TMPDIR= "${variables[@]}")
    with_mounts "mount -t tmpfs none /mnt && mkdir /mnt/work /mnt/build &&
        mount --bind '$work' /mnt/work && mount --bind '$WC_BUILD' /mnt/build &&
        mount -t tmpfs -o mode=1777 none /tmp && mkdir -p '$work' '$WC_BUILD' &&
        mount --bind /mnt/work '$work' && mount --bind /mnt/build '$WC_BUILD' &&
        (cd /tmp && ${1:-true}) && cd '$here'" "cp -a /tmp/whichcudnn-* '$own' 2>/dev/null"
}

@test "log: without a place it is in a directory of the user's own below /tmp" {
    with_own_tmp 'umask 022'
    leaves '' "${steps[@]}"
    log_tells "$(the_log "$own/whichcudnn-0")" "${whole[@]}"
    is "$(stat -c '%a %u' "$own/whichcudnn-0")" '700 0'
    # It is there already.
    with_own_tmp 'mkdir -m 755 whichcudnn-0'
    leaves '' "${steps[@]}"
    log_tells "$(the_log "$own/whichcudnn-0")" "${whole[@]}"
}

@test "log: no file in a working directory that the host made, and removes" {
    with_own_tmp
    does mkdtemp open="$cudnn" "${calls[@]}" rmdir
    said "${well[@]}" 'rmdir is gone'
    log_tells "$(the_log "$own/whichcudnn-0")" "${whole[@]}"
}

@test "log: in the place of that directory what others could have put there" {
    local made
    for made in 'mkdir -m 700 whichcudnn-0 && chown 65534 whichcudnn-0' \
        'mkdir -m 777 whichcudnn-0' 'mkdir -m 700 elsewhere && ln -s elsewhere whichcudnn-0' \
        'touch whichcudnn-0'; do
        echo "$made"
        with_own_tmp "$made"
        leaves '' "${steps[@]}"
        log_tells "$(the_log "$own/whichcudnn-0.2")" "${whole[@]}"
        is "$(find "$own/whichcudnn-0" -name '*.jsonl')" ''
    done
}

@test "log: where nothing can be made below /tmp, below TMPDIR; there neither: none" {
    prepare() { mkdir temporary; }
    with_own_tmp 'mount -o remount,ro /tmp'
    variables+=(TMPDIR="$here/temporary")
    does "${steps[@]}"
    said "${well[@]}"
    log_tells "$(the_log "$here/temporary/whichcudnn-0")" "${whole[@]}"
    variables=()
    with_own_tmp 'mount -o remount,ro /tmp'
    variables+=(TMPDIR=temporary WHICHCUDNN_STDERR=finding WHICHCUDNN_EXPECT=1.0)
    run_host shimmed "$SHIM" "$FAULTS/does" "${steps[@]}"
    said "${well[@]}"
    is "$(files)" './temporary '
    grep '^no log  .*the directory for logs cannot be made' shimmed.err
}
