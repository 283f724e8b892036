#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn inspect: running processes, as a rule without the shim, held at their end.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    export FIXED=$BATS_FILE_TMPDIR
    make_standin 9.1.0 "$FIXED/9.1"
    make_standin 9.8.0 "$FIXED/9.8"
    gcc -shared -fPIC -o "$FIXED/hold.so" "$WC_ROOT/tests/fixtures/hosts/hold.c"
    build_host now "$FIXED/9.1" "$FIXED/host"
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export WHICHCUDNN_STDERR=off
    held=()
}

teardown() {
    local pid
    for pid in "${held[@]}"; do
        kill -KILL "$pid" 2>/dev/null || true
    done
}

inspect() { "$CMD" inspect "$@"; }

# The state of a process: R, S, T (stopped), Z.
state() { sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null; }
until_state() { # PID STATE

    for _ in {1..200}; do
        [ "$(state "$1")" = "$2" ] && return
        sleep 0.05
    done
    echo "process $1 is not in state $2 but $(state "$1")"
    return 1
}

# hold COMMAND...: runs it up to its end; sets pid.
hold() {
    LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$FIXED/hold.so" "$@" >out 2>&1 3>&- &
    pid=$!
    held+=("$pid")
    until_state "$pid" T
}
go_on() {
    kill -CONT "$pid"
    wait "$pid"
}

# json [FILTER]: of the held process.
json() { inspect --json "$pid" | jq -rc "${1:-.}"; }

@test "a process that was never preloaded: host, facade, version, rule, installation and bindings" {
    hold "$FIXED/host"
    run -0 --separate-stderr inspect "$pid"
    is "$stderr" ""
    is "$(xargs <<<"${output%%$'\nok'*}")" "cuDNN 9.1.0 from $FIXED/9.1 (in no package) for host"
    is "$(awk 'length($0) > 100' <<<"$output")" ""
    [[ $output == *"process  $pid on "* ]]
    run -0 --separate-stderr inspect -v "$pid"
    [[ $output == *"seen in  /proc/$pid ("* ]]
    [[ $output == *"host $FIXED/host"* ]]
    [[ $output == *"facade $FIXED/9.1/libcudnn.so.9 9.1.0 "*"[DT_RUNPATH of host: $FIXED/9.1]"* ]]
    [[ $output == *"asked for as libcudnn.so.9 by $FIXED/host (needed)"* ]]
    [[ $output == *"graph $FIXED/9.1/libcudnn_graph.so.9"* ]]
    is "$(json '.stack.objects[] | "\(.role) \(.part) \(.version)"')" \
        $'host null null\nfacade null 9.1.0\npart graph 9.1.0'
    is "$(json '.stack.bindings[] | "\(.how) \(.target_path) \(.wrapped)"')" \
        "slot $FIXED/9.1/libcudnn.so.9 0"
    is "$(json '.sources[0] | "\(.type) \(.pid)"')" "process $pid"
    go_on
}

@test "a framework that puts the name together is a host, as its file's name says" {
    local name
    for name in libphi libmine; do
        build_host library-dlopen-path "$FIXED/9.1" "$name"
        hold "./$name" libcudnn.so.9
        is "$(json '[.stack.objects[] | select(.role == "host") | .path] | unique')" \
            "$([ $name = libmine ] && echo '[]' || echo "[\"$PWD/libphi.so\"]")"
        is "$(json '.stack.objects[] | select(.role == "facade") | .asked_by')" \
            "$([ $name = libmine ] && echo null || echo "$PWD/libphi.so")"
        go_on
    done
}

@test "it is neither stopped nor traced nor written to" {
    command -v strace >/dev/null || skip "no strace"
    hold "$FIXED/host"
    kill -CONT "$pid"
    wait "$pid" || true
    sleep 100 3>&- &
    pid=$!
    held+=("$pid")
    strace -f -qq -o calls "$CMD" inspect "$pid" || [ $? -eq 3 ]
    run -1 grep -E 'ptrace|process_vm_writev|kill\(|tgkill|pidfd_send|PTRACE' calls
    run -1 grep -E 'open.*(O_WRONLY|O_RDWR|O_CREAT)' calls
    is "$(state "$pid")" S
}

# What a log and what inspect say, without what only one of them can know: requests (who
# opened a host, too), and that a slot was lazy before it was bound.
same() { # FILE
    jq -S '.stack | [(.objects, .demands, .packages, .searches, .candidates |
        map(del(.seq, .request, .asked_how) | if .role == "host" then
            del(.asked_by, .asked_name) else . end) | sort_by(tojson)),
        (.bindings | map(. as $b | .functions[] | {host: $b.host_path, function: .,
            target: $b.target_path, how: $b.how}) |
            group_by([.host, .function]) |
            map(if length > 1 then map(select(.how != "lazy slot")) else . end))]' "$1"
}
bare() { same "$1" | grep -v '"base"'; }

@test "under the shim the same is said, however the host is bound" {
    local mode
    for mode in lazy now no-plt address table no-pic no-pic-address weak library-lazy opened-now; do
        echo "$mode"
        rm -rf logs && mkdir logs
        build_host "$mode" "$FIXED/9.1" "$PWD/host"
        LD_PRELOAD=$SHIM WHICHCUDNN_LOG=$PWD/logs hold "$PWD/host"
        inspect --json "$pid" >inspected || [ $? -le 1 ]
        "$CMD" report --json "$(the_log logs)" >reported || [ $? -le 1 ]
        go_on || true
        diff <(same reported) <(same inspected)
        hold "$PWD/host"
        inspect --json "$pid" >bare || [ $? -le 1 ]
        go_on || true
        diff <(bare inspected) <(bare bare)
    done
}

@test "errors are found: parts of two releases" {
    make_standin 9.1.0 set
    cp "$FIXED/9.8/libcudnn_graph.so.9" set/
    build_host now set host
    hold ./host version
    run -1 --separate-stderr inspect "$pid"
    [[ $output == "cuDNN 9.8.0 (facade 9.1.0) from "*$'\nerror['*9.8.0* ]]
    run -1 inspect --json "$pid"
    go_on || true
}

@test "what is asked for with dlopen: the one who may have asked is told, else nobody" {
    build_host dlopen "$FIXED/9.1" host
    LD_LIBRARY_PATH=$FIXED/9.1 hold ./host
    is "$(json '.stack.objects[] | "\(.role) \(.asked_name) \(.asked_by) \(.asked_how)"')" \
        "host null null null
facade libcudnn.so.9 $PWD/host dlopen
part libcudnn_graph.so.9 $FIXED/9.1/libcudnn.so.9 dlopen"
    is "$(json '.stack.searches[] | "\(.name) \(.rule)"')" \
        $'libcudnn.so.9 LD_LIBRARY_PATH\nlibcudnn_graph.so.9 LD_LIBRARY_PATH'
    is "$(json '.stack.unobserved | length')" 0
    run -0 inspect "$pid"
    go_on
    # By its path, which stands in no library.
    build_host dlopen-path "$FIXED/9.1" host
    hold ./host "$FIXED/9.1/libcudnn.so.9"
    is "$(json '.stack.objects[] | select(.role == "facade") | .asked_by')" null
    is "$(json '.stack.unobserved[] | "\(.what): \(.path)"')" \
        "by which rule a library was found: $FIXED/9.1/libcudnn.so.9"
    run -0 inspect "$pid"
    go_on
}

@test "an upgraded wheel under a running process: what is mapped counts, not what lies there now" {
    cp -r "$FIXED/9.1" set
    build_host now "$PWD/set" host
    hold ./host
    rm set/*
    cp "$FIXED"/9.8/* set/
    is "$(json '.stack.objects[] | select(.role != "host") | "\(.path) \(.version) \(.size)"')" \
        "$PWD/set/libcudnn.so.9 9.1.0 null"$'\n'"$PWD/set/libcudnn_graph.so.9 9.1.0 null"
    is "$(json '.stack.bindings[0].target_path')" "$PWD/set/libcudnn.so.9"
    is "$(json '.stack.unobserved[0] | .what + ": " + .why + ": " + .path')" \
        "the file of a library that is mapped: it was deleted or replaced since it was loaded; only the mapped memory was read: $PWD/set/libcudnn.so.9"
    run -0 inspect "$pid"
    [[ $output == *"9.1.0"* && $output != *"9.8.0"* ]]
    go_on
}

@test "directories with hostile names" {
    local name
    for name in $'new\nline' 'a\012b' ' (deleted)' $'\e[31mred' $'\xff\xfe' "<script>'\"" "$(printf 'x%.0s' {1..250})"; do
        rm -rf d && mkdir d
        cp -r "$FIXED/9.1" "d/$name"
        cp "$FIXED/host" d/host
        LD_LIBRARY_PATH="$PWD/d/$name" hold d/host
        run -0 --separate-stderr inspect "$pid"
        is "$stderr" ""
        run -1 grep -c $'\e' <<<"$output"
        run -0 inspect -v "$pid"
        run -1 grep -c $'\e' <<<"$output"
        inspect --json "$pid" >now
        validate_report now
        is "$(jq -r '.stack.objects[] | select(.role == "facade") | .version' now)" 9.1.0
        if [ "$name" != $'\xff\xfe' ]; then
            is "$(jq -r '.stack.objects[] | select(.role == "facade") | .real_path' now)" \
                "$PWD/d/$name/libcudnn.so.9"
            is "$(jq -r '.stack.unobserved | length' now)" 0
        fi
        go_on
        rm d/*/libcudnn.so.9
    done
}

@test "a relative search path begins at the working directory of the process" {
    mkdir here
    cp -r "$FIXED/9.1" here/set
    cd here || return
    LD_LIBRARY_PATH="set" hold "$FIXED/host"
    cd ..
    is "$(json '.stack.objects[] | select(.role == "facade") | "\(.path) \(.real_path)"')" \
        "set/libcudnn.so.9 $PWD/here/set/libcudnn.so.9"
    is "$(json '.stack.searches[0] | "\(.rule) \(.element)"')" "LD_LIBRARY_PATH set"
    is "$(json '.stack.unobserved | length')" 0
    go_on
}

@test "another mount namespace: its files are read where the process sees them" {
    unshare --mount true 2>/dev/null || skip "no mount namespace"
    mkdir hidden
    unshare --mount bash -c 'mount -t tmpfs none hidden && cp "$FIXED"/9.1/* hidden/ &&
        LD_LIBRARY_PATH=$PWD/hidden LD_PRELOAD=$FIXED/hold.so exec "$FIXED/host"' >out 3>&- &
    pid=$!
    held+=("$pid")
    until_state "$pid" T
    is "$(ls hidden)" ""
    is "$(json '.stack.objects[] | select(.role == "facade") | "\(.path) \(.version)"')" \
        "$PWD/hidden/libcudnn.so.9 9.1.0"
    is "$(json '.stack.searches[0] | "\(.name) \(.rule)"')" "libcudnn.so.9 LD_LIBRARY_PATH"
    is "$(json '.stack.unobserved | length')" 0
    go_on
}

@test "another root: paths are those that the process has" {
    local loader
    [ "$(id -u)" -eq 0 ] || skip "not root"
    loader=$(readelf -lW "$FIXED/host" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
    mkdir -p "root$(dirname "$loader")" root/lib root/cudnn
    cp -L "$loader" "root$loader"
    cp -L "$(ldconfig -p | sed -n 's/.*libc.so.6 (.*x86-64.*) => //p;s/.*libc.so.6 (.*AArch64.*) => //p' | head -n 1)" root/lib/
    cp "$FIXED"/9.1/* root/cudnn/
    cp "$FIXED/host" "$FIXED/hold.so" root/
    LD_LIBRARY_PATH=/lib:/cudnn LD_PRELOAD=/hold.so chroot root /host >out 2>&1 3>&- &
    pid=$!
    held+=("$pid")
    until_state "$pid" T
    is "$(json '.stack.objects[] | select(.role == "facade") | "\(.path) \(.real_path) \(.version)"')" \
        "/cudnn/libcudnn.so.9 /cudnn/libcudnn.so.9 9.1.0"
    is "$(json '.stack.searches[0] | "\(.rule) \(.element)"')" "LD_LIBRARY_PATH /cudnn"
    is "$(json '.stack.unobserved | length')" 0
    go_on
}

# ---- mounts and roots ----

# The root folder of a chroot, with what the host needs.
make_root() { # DIR
    local loader libc
    loader=$(readelf -lW "$FIXED/host" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
    libc=$(ldconfig -p | sed -n 's/.*libc.so.6 (.*x86-64.*) => //p;s/.*libc.so.6 (.*AArch64.*) => //p' | head -n 1)
    mkdir -p "$1$(dirname "$loader")" "$1/lib" "$1/cudnn" "$1/old"
    cp -L "$loader" "$1$loader"
    cp -L "$libc" "$1/lib/"
    cp "$FIXED"/9.1/* "$1/cudnn/"
    cp "$FIXED/host" "$FIXED/hold.so" "$1/"
}

# row EXPECTED STARTER AFTER [READER]: a host is started by the shell text STARTER and held at its end, AFTER is done
# in its mount namespace, and what inspect (by READER) finds is: path and version of the facade, whether it counts as
# replaced, what is not observed.
row() {
    local found out
    LD_LIBRARY_PATH='' bash -c "$2" >out 2>&1 3>&- &
    pid=$!
    held+=("$pid")
    until_state "$pid" T || cat out
    [ -z "$3" ] || nsenter -t "$pid" -m bash -c "cd '$PWD' && $3"
    out=$(eval "${4:-}" '"$PWD/whichcudnn"' inspect --json "$pid" 2>&1)
    found=$(jq -r '(.stack.objects[] | select(.role == "facade") | "\(.real_path) \(.version)"),
        ([.findings[] | select(.id == "replaced-on-disk")] | length),
        ([.stack.unobserved[] | "\(.what): \(.why[:40])"] | unique[] | select(startswith("by which rule") | not))
        ' <<<"$out" 2>&1 | paste -sd '|')
    go_on
    is "$found" "${1//PWD/$PWD}" || {
        printf '%s\n' "in the row $2" "$out" | head -c 2000
        failed=1
    }
}

@test "mounts and roots: each file is found, or it is said that it is not" {
    [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null || skip "not root, or no mount namespace"
    local failed=0 nobody="setpriv --reuid 65533 --regid 65533 --clear-groups" mapped="the file of a library that is mapped"
    local start="LD_PRELOAD=$FIXED/hold.so exec" inside="LD_LIBRARY_PATH=/lib:/cudnn LD_PRELOAD=/hold.so exec"
    local own="unshare --mount bash -c" deleted="$mapped: it was deleted or replaced since it was "
    local unreached="$mapped: the path that the kernel reports for it " one="PWD/set/libcudnn.so.9 9.1.0"
    make_root root
    cp -r "$FIXED/9.1" set
    cp -r "$FIXED/9.8" newer
    cp "$CMD" whichcudnn
    build_host now "$PWD/set" host
    mkdir -p a b upper work merged
    chmod -R a+rX . && chmod a+x "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_RUN_TMPDIR/file"

    row "$one|0" "$start ./host" ''
    row "/cudnn/libcudnn.so.9 9.1.0|0" "$inside chroot root /host" ''
    row "/cudnn/libcudnn.so.9 9.1.0|0" "$inside unshare --mount chroot root /host" ''
    row "/cudnn/libcudnn.so.9 9.1.0|0" "$own 'mount --bind root a && $inside chroot a /host'" ''
    row "/cudnn/libcudnn.so.9 9.1.0|0" \
        "$own 'mount --bind root a && cd a && pivot_root . old && $inside /host'" ''
    row "/cudnn/libcudnn.so.9 9.1.0|0" \
        "$own 'mount --bind root a && cd a && pivot_root . old && $inside /old/usr/sbin/chroot /old$PWD/root /host'" ''
    row "/cudnn/libcudnn.so.9 9.1.0|0" \
        "$own 'mount -t tmpfs none upper && mkdir upper/u upper/w && mount -t overlay -o lowerdir=root,upperdir=upper/u,workdir=upper/w none merged && $inside chroot merged /host'" ''
    row "/cudnn/libcudnn.so.9 9.1.0|0" "$inside unshare --user --map-root-user --mount chroot root /host" ''
    if $nobody unshare --user --map-root-user --mount true 2>/dev/null; then
        row "/cudnn/libcudnn.so.9 9.1.0|0" "$inside $nobody unshare --user --map-root-user --mount chroot root /host" ''
        row "/cudnn/libcudnn.so.9 9.1.0|0" "$inside $nobody unshare --user --map-root-user --mount chroot root /host" '' "$nobody"
        row "$one|0" "$start $nobody ./host" '' "$nobody"
    fi
    # What only the process sees: a mount of its own, which is moved, covered, unmounted.
    local mounted="mount -t tmpfs none a && cp set/* a && $start ./host.any"
    cp set/* a/
    build_host now "$PWD/a" host.any
    row "PWD/a/libcudnn.so.9 9.1.0|0" "$own '$mounted'" ''
    row "PWD/b/libcudnn.so.9 9.1.0|0" "$own '$mounted'" 'mount --make-rprivate / && mount --move a b'
    row "PWD/a/libcudnn.so.9 9.1.0|0|$unreached" "$own '$mounted'" 'mount --bind newer a'
    row "PWD/a/libcudnn.so.9 9.1.0|0|$unreached" "$own '$mounted'" 'mount -t tmpfs none a && cp newer/* a'
    row "/libcudnn.so.9 9.1.0|0|$unreached" "$own '$mounted'" 'umount -l a'
    row "PWD/set/libcudnn.so.9 9.1.0|0|$unreached" "$own '$start ./host'" 'mount --bind newer set'
    # The reader sees less than the process.
    row "$one|0" "$start ./host" '' "unshare --mount bash -c 'mount -t tmpfs none set && exec \"\$@\"' bash"
    mkdir root/proc
    cp whichcudnn root/
    ldd whichcudnn | sed -n 's/.* => \([^ ]*\).*/\1/p' | xargs cp -t root/lib
    row "$one|0" "$own 'mount --rbind /proc root/proc && $start ./host'" '' \
        "nsenter -t \$pid -m env LD_LIBRARY_PATH=/lib chroot $PWD/root /whichcudnn inspect --json \$pid; :"
    # Truly gone: in its own namespace, in a chroot there.
    row "$one|1|$deleted" "$own '$start ./host'" 'rm set/libcudnn.so.9'
    cp newer/libcudnn.so.9 set/
    cp "$FIXED/9.1/libcudnn.so.9" set/libcudnn.so.9
    row "$one|1|$deleted" "$start ./host" 'cp newer/libcudnn.so.9 x && mv x set/libcudnn.so.9'
    row "/cudnn/libcudnn.so.9 9.1.0|1|$deleted" "$inside unshare --mount chroot root /host" \
        'cp newer/libcudnn.so.9 x && mv x root/cudnn/libcudnn.so.9'
    [ $failed -eq 0 ]
}

@test "its memory may not be read: bindings and order are not told, and that is said" {
    gcc -shared -fPIC -o deny.so -xc - -ldl <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
int openat(int fd, const char *path, int flags, int mode) {
    int (*next)(int, const char *, int, int) = dlsym(RTLD_NEXT, "openat");
    if (!strcmp(path, "mem"))
        return errno = EACCES, -1;
    return next(fd, path, flags, mode);
}
END
    hold "$FIXED/host"
    LD_PRELOAD=$PWD/deny.so "$CMD" inspect --json "$pid" >now
    validate_report now
    is "$(jq -r '.stack.objects[] | "\(.role) \(.version)"' now | sort)" $'facade 9.1.0\nhost null\npart 9.1.0'
    is "$(jq -r '.stack.bindings | length' now)" 0
    is "$(jq -r '.stack.searches[] | .rule' now)" $'DT_RUNPATH\nDT_RUNPATH'
    [[ "$(jq -r '.stack.unobserved[0].why' now)" == "its memory may not be read"* ]]
    go_on
}

@test "a list of the loader that was overwritten leads nowhere" {
    local how
    gcc -g -o broken -xc - -L"$FIXED/9.1" -l:libcudnn.so.9 -Wl,-rpath,"$FIXED/9.1" <<'END'
#include <link.h>
#include <stdlib.h>
#include <unistd.h>
extern size_t cudnnGetVersion(void);
extern struct r_debug _r_debug;
int main(int argc, char **argv) {
    struct link_map *m = _r_debug.r_map;
    cudnnGetVersion();
    switch (atoi(argv[1])) {
    case 0: m->l_next = m; break;
    case 1: m->l_next->l_next = (void *)-8; break;
    case 2: m->l_next->l_name = (char *)1; break;
    case 3: m->l_ld = (void *)-1L; break;
    case 4: _r_debug.r_map = 0; break;
    case 5: _r_debug.r_version = 99; break;
    }
    return pause();
}
END
    for how in 0 1 2 3 4 5; do
        echo "$how"
        ./broken $how 3>&- &
        pid=$!
        held+=("$pid")
        until_state "$pid" S
        run -0 --separate-stderr timeout 20 "$CMD" inspect --json "$pid"
        is "$(jq -r '.stack.objects[] | select(.role == "facade") | .version' <<<"$output")" 9.1.0
    done
}

@test "processes that come and go while they are looked at" {
    local i status
    for i in {1..40}; do
        "$FIXED/host" >out 3>&- &
        pid=$!
        [ $((i % 4)) -eq 0 ] || sleep "0.00$((i % 4))"
        status=0
        timeout 20 "$CMD" inspect --json "$pid" >now 2>said || status=$?
        wait "$pid"
        echo "$i: $status $(cat said)"
        case $status in
        0 | 1 | 3) jq -e '.verdict' now >verdict ;;
        2) grep -qE ': (no such process|it ended while it was looked at)$' said ;;
        *) return 1 ;;
        esac
    done
}

@test "nothing to be seen: why, and exit status 3" {
    sleep 100 3>&- &
    pid=$!
    held+=("$pid")
    until_state "$pid" S
    run -3 --separate-stderr inspect "$pid"
    is "${lines[0]}" "not observed: no cuDNN was loaded or asked for"

    gcc -static -o static -xc - <<<'#include <unistd.h>
int main(void) { return pause(); }' 2>/dev/null || skip "no static libc"
    ./static 3>&- &
    pid=$!
    held+=("$pid")
    until_state "$pid" S
    run -3 --separate-stderr inspect "$pid"
    [[ ${lines[0]} == "not observed: it is linked statically"* ]]
}

@test "an environment that the process has written over, up to its end" {
    "${CC:-gcc}" -o titled -x c - <<'C'
#include <string.h>
#include <unistd.h>
extern char **environ;
int main(void) {
    char *text = environ[0], *end = text;
    for (char **v = environ; *v; v++)
        end = *v + strlen(*v) + 1;
    memset(text, ' ', (size_t)(end - text));
    return pause();
}
C
    ./titled 3>&- &
    local pid=$!
    until [ "$(head -c 4 /proc/$pid/environ)" = "    " ]; do sleep 0.05; done
    run -3 "$CMD" inspect $pid
    kill $pid
}

@test "what has ended and waits for its parent" {
    # It ends once its parent is no shell any more, which would take its status.
    bash -c 'bash -c "until grep -q sleep /proc/\$PPID/comm; do sleep 0.05; done" &
        echo $! >child; exec sleep 100' 3>&- &
    held+=("$!")
    until [ -s child ]; do sleep 0.05; done
    pid=$(cat child)
    until_state "$pid" Z
    run -3 --separate-stderr inspect "$pid"
    [[ ${lines[0]} == "not observed: it has ended"* ]]
    inspect --json "$pid" >now || [ $? -eq 3 ]
    validate_report now
    is "$(jq -r .verdict now)" not-observed
}

@test "a thread of the kernel" {
    local stat pid=''
    for stat in /proc/[0-9]*/stat; do
        [ "$(sed 's/.*) //' "$stat" 2>/dev/null | awk '{ print int($7 / 2097152) % 2 }')" = 1 ] || continue
        pid=$(basename "$(dirname "$stat")")
        break
    done
    [ -n "$pid" ] || skip "none is to be seen here"
    run -3 --separate-stderr inspect "$pid"
    is "${lines[0]}" "not observed: it is a thread of the kernel"
}

@test "a 32-bit program" {
    gcc -m32 -o small -xc - <<<'#include <unistd.h>
int main(void) { return pause(); }' 2>/dev/null && ./small 3>&- &
    pid=$!
    sleep 0.5
    [ "$(state "$pid")" = S ] && [ -x small ] || skip "no 32-bit libc"
    pid=$(pgrep -P "$pid" small || echo "$pid")
    held+=("$pid")
    run -3 --separate-stderr inspect "$pid"
    is "${lines[0]}" "not observed: its program is a 32-bit one"
}

@test "no such process, no number, no argument, no such option" {
    true 3>&- &
    wait $!
    run -2 --separate-stderr inspect $!
    is "$stderr" "whichcudnn: $!: no such process"
    is "$output" ""
    for bad in x -- 0 12x +1 99999999999999999999 ' 1' ''; do
        run -2 --separate-stderr inspect -- "$bad"
        [[ $stderr == *"the number of a process is expected" ]]
    done
    run -2 --separate-stderr inspect
    [[ $stderr == *"the number of a process is expected"* ]]
    run -2 --separate-stderr inspect --nonsense 1
    [[ $stderr == *"--nonsense"* ]]
}

@test "another user's process may not be looked at" {
    [ "$(id -u)" -eq 0 ] || skip "not root"
    sleep 100 3>&- &
    pid=$!
    held+=("$pid")
    chmod a+x "$BATS_TEST_TMPDIR"
    cp "$CMD" "$BATS_TEST_TMPDIR/command"
    run -2 --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'exec "$0" inspect "$1"' "/proc/self/fd/9" "$pid" 9<"$CMD"
    [[ $stderr == *"$pid: may not be looked at: "*"try as root" ]]
}

@test "several: all that can be read are told, one that cannot makes the status 2" {
    hold "$FIXED/host"
    local first=$pid
    sleep 100 3>&- &
    held+=("$!")
    run -0 --separate-stderr inspect "$first" "$!"
    is "$(grep -c '^  seen in  /proc' <<<"$output")" 2
    run -0 --separate-stderr inspect --json "$first" "$!"
    is "$(jq -r '.[] | .verdict' <<<"$output")" $'ok\nnot-observed'
    run -2 --separate-stderr inspect --json "$first" 999999999
    is "$(jq -r '.[] | .verdict' <<<"$output")" ok
    is "$stderr" "whichcudnn: 999999999: no such process"
    inspect --json "$first" >now
    validate_report now
    pid=$first
    go_on
}

@test "colour where it is asked for" {
    hold "$FIXED/host"
    run -0 inspect --color=always "$pid"
    [[ $output == *$'\e['*ok* ]]
    run -0 inspect --color=never "$pid"
    [[ $output != *$'\e'* ]]
    run -2 inspect --color=perhaps "$pid"
    go_on
}

@test "the help fits a screen" {
    run -0 --separate-stderr inspect --help
    [ "${#lines[@]}" -le 24 ]
    is "$(awk 'length($0) > 100' <<<"$output")" ""
    [[ $output == "Usage: whichcudnn inspect "* ]]
}
