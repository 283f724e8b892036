#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Files that are not what their name says: each is told with what it is, the first fix repairs it, and
# the sound twin is silent.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_standin 9.1.0 set
    build_host dlopen set host # by a RUNPATH to set
    mkdir bad logs
}

# The first finding and, where there is one, its first command.
told() { "$CMD" report --json logs/* | jq -r '.findings | length, .[0].id, .[0].title, .[0].fix[0].command'; }

observed() { # COMMAND...: with bad before the host's own directory
    rm -f logs/*
    run env LD_LIBRARY_PATH="$PWD/bad" LD_PRELOAD="$SHIM" WHICHCUDNN_LOG="$PWD/logs" \
        WHICHCUDNN_STDERR=off "$BASH" -c '"$@"' _ "$@"
    validate_log logs/*
}

pointer() { printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize %d\n' 7 "$1"; }

needs() { # FILE: how many bytes its segments reach up to
    readelf -lW "$1" 2>/dev/null | awk '$1 == "LOAD" { print $2, $5 }' |
        while read -r offset bytes; do echo $((offset + bytes)); done | sort -n | tail -n 1
}

patched() { # OFFSET BYTES FILE
    printf '%b' "$2" | dd of="$3" bs=1 seek="$1" conv=notrunc status=none
}

refused() { # WORDS OF WHAT IT IS: for bad/libcudnn.so.9, which the host then finds elsewhere
    observed without_cache ./host version
    [[ $output != *"version 90100"* ]]
    is "$(told)" "1
bad-file
host asked for libcudnn.so.9, which is $1
unset LD_LIBRARY_PATH"
    is "$(records file logs/* | jq -r '[.path, .content] | join(" ")')" "$PWD/bad/libcudnn.so.9 $1"
    run -0 without_cache ./host version
    is "$output" "version 90100"
}

# shellcheck disable=SC2317 # called in the shell that observed starts
without_cache() { "$(readelf -lW "$1" | sed -n 's/.*interpreter: \(.*\)]/\1/p')" --inhibit-cache "$@"; }
export -f without_cache

@test "an empty file" {
    : >bad/libcudnn.so.9
    refused empty
}

@test "a library of which the end, or all but the beginning, is missing" {
    head -c 300 set/libcudnn.so.9 >bad/libcudnn.so.9
    refused "a library that is cut short: 300 bytes are there"
}

@test "a page of text, an archive, an object file, a directory" {
    echo '<!DOCTYPE html><html><head><title>404 Not Found</title></head><body></body></html>' >bad/libcudnn.so.9
    refused "an HTML page"
    echo 'int f(void);' | tar cz --files-from /dev/null >bad/libcudnn.so.9
    head -c 4000 /dev/zero >>bad/libcudnn.so.9
    refused "a gzip archive"
    echo 'int f;' | "${CC:-gcc}" -c -x c - -o bad/libcudnn.so.9
    refused "an object file that was not linked"
    rm bad/libcudnn.so.9
    mkdir bad/libcudnn.so.9
    refused "a directory"
}

@test "a git-LFS pointer: the file that it stands before" {
    pointer "$(stat -c %s set/libcudnn.so.9)" >bad/libcudnn.so.9
    observed without_cache ./host version
    is "$(told)" "1
bad-file
host asked for libcudnn.so.9, which is a git-LFS pointer to a file of $(stat -c %s set/libcudnn.so.9) bytes
unset LD_LIBRARY_PATH"
    run -0 without_cache ./host version
    is "$output" "version 90100"
}

@test "a part that is a git-LFS pointer: its file, not a part that is missing" {
    rm set/libcudnn_graph.so.9
    pointer 4711 >set/libcudnn_graph.so.9
    observed without_cache ./host version
    is "$(told | sed -n '1,3p')" "1
bad-file
libcudnn.so.9 asked for libcudnn_graph.so.9, which is a git-LFS pointer to a file of 4711 bytes"
}

@test "a part of another release, which the loader refuses, and cuDNN does not ask why: the file and the function" {
    local symbol=_ZN5cudnn5graph13LibraryLoaderE part
    make_standin 9.14.0 set
    make_standin 9.15.0 newer --imports cnn=$symbol --internal graph=$symbol
    cp newer/libcudnn_cnn.so.9 set/
    for part in Cnn Adv; do
        observed without_cache ./host version "cudnn${part}VersionCheck"
        is "$(told | sed -n '2,3p')" "parts-differ
libcudnn_cnn.so.9 does not fit the other parts of libcudnn.so.9: it needs a function that is missing in graph"
        is "$("$CMD" report --json logs/* | jq -r '.findings[0].facts[] | select(.name == "refused", .name == "loader said").value')" \
            "$PWD/set/libcudnn_cnn.so.9
$PWD/set/libcudnn_cnn.so.9: undefined symbol: $symbol, version libcudnn_graph.so.9"
        # What needs such a part is refused with it.
        make_standin --only adv 9.14.0 set --needs adv=libcudnn_cnn.so.9
    done
    # A log from which the words are missing still has the file.
    jq -c 'if .kind == "failure" then del(.text) else . end' logs/* >words-missing.jsonl
    "$CMD" report words-missing.jsonl >told || true
    grep 'could not load its adv part' told
    grep 'found .*libcudnn_adv.so.9' told
}

@test "a part cut behind its headers, which kills the process while it is mapped: looked at before that" {
    size=$(stat -c %s set/libcudnn_graph.so.9)
    truncate -s "$((size / 4))" set/libcudnn_graph.so.9
    observed without_cache ./host version
    [ "$status" -gt 128 ]
    is "$(told | sed -n '1,3p')" "1
bad-file
libcudnn.so.9 asked for libcudnn_graph.so.9, which is a library that is cut short: $((size / 4)) of $(needs set/libcudnn_graph.so.9) bytes are there"
    make_standin 9.1.0 set
    observed without_cache ./host version
    is "$output" "version 90100"
    is "$(told | head -n 1)" 0
}

# first LOG...: id and title of the first finding.
first() { "$CMD" report --json "$@" | jq -r '.findings[0] | .id, .title'; }

@test "a library that is cut short, which a program or an opened library needs: nothing of that is a request" {
    build_host now set linked
    build_host library-now set libtorch_engine
    echo 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' >opens.py
    truncate -s 30000 set/libcudnn.so.9
    run ! "$CMD" run --quiet --log logs -- ./linked version
    [ "$status" -eq 135 ]
    is "$(first logs)" "bad-file
linked needs libcudnn.so.9, which is a library that is cut short: 30000 of $(needs set/libcudnn.so.9) bytes are there"
    is "$("$CMD" scan --json linked | jq -r '.reports[].findings[0].title')" "$(first logs | tail -n 1)"
    rm logs/*
    # What a script has become is what the signal ended, and not the shell.
    printf '#!/bin/bash\nexec ./linked "$@"\n' >job.sh
    chmod +x job.sh
    run ! "$CMD" run --quiet --log logs -- ./job.sh version
    [ "$status" -eq 135 ]
    is "$(first logs | head -n 1)" bad-file
    rm logs/*
    run ! "$CMD" run --quiet --log logs -- python3 opens.py "$PWD/libtorch_engine.so"
    [ "$status" -eq 135 ]
    is "$(first logs | tail -n 1)" "libtorch_engine.so needs libcudnn.so.9, which is a library that is cut short: 30000 of $(needs set/libcudnn.so.9) bytes are there"
    validate_log logs/*
    rm logs/*
    # In a process that the command started, too, which sleeps until a name matters.
    run "$CMD" run --quiet --log logs -- "$BASH" -c 'python3 opens.py "$1"; exit 7' _ "$PWD/libtorch_engine.so"
    [ "$status" -eq 7 ]
    is "$(first logs | head -n 1)" bad-file
    # And where nobody saw the end.
    rm logs/*
    run ! env LD_PRELOAD="$SHIM" WHICHCUDNN_LOG="$PWD/logs" WHICHCUDNN_STDERR=off python3 opens.py "$PWD/libtorch_engine.so"
    is "$(first logs | head -n 1)" bad-file
    make_standin 9.1.0 set
    is "$(first logs | head -n 1)" null
    rm logs/*
    run -0 "$CMD" run --quiet --log logs -- python3 opens.py "$PWD/libtorch_engine.so"
    is "$("$CMD" report --json logs | jq '.findings | length')" 0
}

@test "in a search the loader passes over what it does not say: another machine's, 32 bits, a dead link" {
    build_host dlopen set alone --no-rpath
    cp set/libcudnn.so.9 bad
    patched 18 '\xb7\x00' bad/libcudnn.so.9
    observed without_cache ./alone version
    is "$(told | sed -n '1,3p')" "1
bad-file
alone asked for libcudnn.so.9, which is a 64-bit library for aarch64, in a 64-bit process for x86-64"
    cp set/libcudnn.so.9 bad
    patched 4 '\x01' bad/libcudnn.so.9
    observed without_cache ./alone version
    is "$(told | sed -n '1,3p')" "1
bad-file
alone asked for libcudnn.so.9, which is a 32-bit library for x86-64, in a 64-bit process for x86-64"
    rm bad/libcudnn.so.9
    ln -s nowhere bad/libcudnn.so.9
    observed without_cache ./alone version
    is "$(told | sed -n '1,3p')" "1
bad-file
alone asked for libcudnn.so.9, which is a link that leads nowhere"
    # With a good one behind it nothing is wrong.
    build_host dlopen set host
    observed without_cache ./host version
    is "$output" "version 90100"
    is "$(told | head -n 1)" 0
}

# Asked for by path: what the loader says is "No such file or directory".
@test "another machine's library and a link that leads nowhere, of which the loader has nothing to say" {
    build_host dlopen-path set by-path
    cp set/libcudnn.so.9 bad
    patched 18 '\xb7\x00' bad/libcudnn.so.9
    observed without_cache ./by-path "$PWD/bad/libcudnn.so.9" version
    is "$(told | sed -n '2,3p')" "bad-file
by-path asked for libcudnn.so.9, which is a 64-bit library for aarch64, in a 64-bit process for x86-64"
    rm bad/libcudnn.so.9
    ln -s libcudnn.so.9.1.0 bad/libcudnn.so.9
    observed without_cache ./by-path "$PWD/bad/libcudnn.so.9" version
    is "$(told | sed -n '2,3p')" "bad-file
by-path asked for libcudnn.so.9, which is a link that leads nowhere"
    is "$(field file link logs/*)" libcudnn.so.9.1.0
    cp set/libcudnn.so.9.1.0 bad 2>/dev/null || cp set/libcudnn.so.9 bad/libcudnn.so.9.1.0
    cp set/libcudnn_graph.so.9 bad
    run -0 without_cache ./by-path "$PWD/bad/libcudnn.so.9" version
}

@test "a link that leads nowhere, and that only the loader's cache knows" {
    local before=(unshare --mount)
    [ "$(id -u)" -eq 0 ] || before+=(--map-root-user)
    "${before[@]}" true || skip "no mount namespace"
    build_host dlopen set host --no-rpath
    mkdir known
    cp set/libcudnn* known/
    echo "$PWD/known" >conf
    PATH=$PATH:/sbin ldconfig -X -C cache -f conf
    # shellcheck disable=SC2016  # of that shell
    before+=(sh -c 'mount --bind cache /etc/ld.so.cache && mount --bind /dev/null /etc/ld.so.conf && exec "$@"' sh)
    observed "${before[@]}" ./host version
    is "$output" "version 90100"
    rm known/libcudnn.so.9
    ln -s libcudnn.so.9.0.0 known/libcudnn.so.9
    observed "${before[@]}" ./host version
    is "$(told | sed -n '1,3p')" "1
bad-file
host asked for libcudnn.so.9, which is a link that leads nowhere"
    is "$(field file rule logs/*)" ld.so.cache
}

@test "one that may not be read" {
    build_host dlopen-path set by-path
    cp set/libcudnn*.so.9 bad
    chmod 0 bad/libcudnn.so.9
    chmod 777 logs
    chmod a+x . .. ../..
    inside=()
    [ "$(id -u)" -ne 0 ] || inside=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    run ! "${inside[@]}" test -r bad/libcudnn.so.9
    [ "$status" -ne 0 ]
    observed "${inside[@]}" ./by-path "$PWD/bad/libcudnn.so.9" version
    is "$(told)" "1
refused-by-system
by-path asked for libcudnn.so.9, which this process may not read
chmod a+r $PWD/bad/libcudnn.so.9"
    eval "$(told | tail -n 1)"
    run -0 "${inside[@]}" ./by-path "$PWD/bad/libcudnn.so.9" version
    is "$output" "version 90100"
}

@test "a program that root starts as another user: what that user may read counts, and not what root may" {
    [ "$(id -u)" -eq 0 ] || skip "starts programs as another user"
    local drop=(setpriv --reuid=65534 --regid=65534 --clear-groups) as
    rm -r set && make_standin 8.9.7 set # no machine of the tests has cuDNN 8
    build_host lazy set linked
    chmod 1777 logs
    chmod a+x . .. ../..
    chmod 640 set/libcudnn.so.8
    for as in "${drop[*]}" "runuser -u nobody --" "su -s /bin/sh nobody -c"; do
        # shellcheck disable=SC2086  # words
        run -127 "$CMD" run --log logs -- $as ./linked
        [[ $output == *"needs libcudnn.so.8, which this process may not read"*"chmod a+r $PWD/set/libcudnn.so.8"*replayed* ]]
    done
    run -0 "${drop[@]}" "$CMD" fix --check "sudo chmod a+r $PWD/set/libcudnn.so.8" -- ./linked
    [[ $output == *"repairs: let all users read $PWD/set/libcudnn.so.8"* ]]
    # Its group may.
    chgrp 4711 set/libcudnn.so.8
    run -0 "$CMD" run --log logs -- setpriv --reuid=65534 --regid=4711 --clear-groups ./linked version
    chmod 644 set/libcudnn.so.8
    chmod 700 set
    run -127 "$CMD" run --log logs -- "${drop[@]}" ./linked version
    [[ $(tr -d "\\\\\n" <<<"$output" | tr -s " ") == *refused-by-system*" fix chmod a+rx $PWD/set && chmod a+r $PWD/set/libcudnn* replayed"* ]]
    [[ $output == *"behind $PWD/set, which this process may not enter"* ]]
    chmod a+rx set
    run -0 "${drop[@]}" ./linked version
    # Both were copied with root's umask: what is behind the directory is to be read, too.
    chmod 700 set && chmod 600 set/*.so.*
    run -127 "$CMD" run --log logs -- "${drop[@]}" ./linked version
    [[ $(tr -d "\\\\\n" <<<"$output" | tr -s " ") == *refused-by-system*" fix chmod a+rx $PWD/set && chmod a+r $PWD/set/libcudnn* replayed"* ]]
    chmod a+rx set && chmod a+r set/libcudnn*
    run -0 "${drop[@]}" ./linked version
    # A copy that only root sees is no repair.
    mkdir near
    mv set/* near
    run -127 "$CMD" run --log logs -- "${drop[@]}" ./linked version
    [[ $output == *"fix       export LD_LIBRARY_PATH=$PWD/near"* ]]
    chmod 700 near
    run -127 "$CMD" run --log logs -- "${drop[@]}" ./linked version
    [[ $output == *library-not-found* && $output != *"LD_LIBRARY_PATH="* ]]
}

@test "bad copies before the good one that a host finds at last are no finding" {
    build_host dlopen-path set by-path
    : >bad/libcudnn.so.9
    cat >tries.py <<'END'
import ctypes, sys
for path in sys.argv[1:]:
    try:
        print("version", ctypes.CDLL(path).cudnnGetVersion())
    except OSError:
        pass
END
    observed python3 tries.py "$PWD/bad/libcudnn.so.9" "$PWD/set/libcudnn.so.9"
    is "$output" "version 90100"
    is "$("$CMD" report --json logs | jq -c '[.findings[] | select(.severity == "error") | .id]')" '[]'
    records file logs/* | grep -q '"fault":"empty"'
    # Nor is one said while the host still tries.
    is "$(records finding logs/* | jq -r .id | grep -c bad-file)" 0
}

# ---- names ----

@test "a link of another major's name to this cuDNN: without it the host gets none, so no fix has a command" {
    build_host dlopen-path set by-path
    cp set/*.so.9 bad
    ln -s libcudnn.so.9 bad/libcudnn.so.8
    observed without_cache ./by-path "$PWD/bad/libcudnn.so.8" version
    is "$output" "version 90100"
    is "$(told)" "1
wrong-name
by-path asked for libcudnn.so.8 and got libcudnn.so.9 under that name
null"
    rm bad/libcudnn.so.8
    observed without_cache ./by-path "$PWD/bad/libcudnn.so.9" version
    is "$(told | head -n 1)" 0
}

@test "the driver's library under cuDNN's name" {
    echo 'int cuInit(int f) { return f; }' |
        "${CC:-gcc}" -shared -fPIC -x c - -Wl,-soname,libcuda.so.1 -o bad/libcuda.so.515.43.04
    ln -s libcuda.so.515.43.04 bad/libcudnn.so.9
    observed without_cache ./host version
    is "$(told | tail -n 3)" "wrong-name
host asked for libcudnn.so.9 and got libcuda.so.1 under that name
unset LD_LIBRARY_PATH"
    eval "$(told | tail -n 1)"
    run -0 without_cache ./host version
    is "$output" "version 90100"
}

@test "a name without a number where there is only one with, and the reverse" {
    build_host dlopen-path set by-path
    observed without_cache ./by-path "$PWD/set/libcudnn.so" version
    is "$(told)" "1
wrong-name
by-path asked for libcudnn.so, which is there under the name libcudnn.so.9
ln -s libcudnn.so.9 $PWD/set/libcudnn.so"
    eval "$(told | tail -n 1)"
    run -0 without_cache ./by-path "$PWD/set/libcudnn.so" version
    mv set/libcudnn.so.9 set/libcudnn.so.9.1.0
    rm set/libcudnn.so
    observed without_cache ./by-path "$PWD/set/libcudnn.so.9" version
    is "$(told)" "1
wrong-name
by-path asked for libcudnn.so.9, which is there under the name libcudnn.so.9.1.0
ln -s libcudnn.so.9.1.0 $PWD/set/libcudnn.so.9"
    eval "$(told | tail -n 1)"
    run -0 without_cache ./by-path "$PWD/set/libcudnn.so.9" version
}

@test "in a search: the directory has the right one under another name" {
    build_host dlopen set alone --no-rpath
    cp set/*.so.9 bad
    mv bad/libcudnn.so.9 bad/libcudnn.so.9.1.0
    observed without_cache ./alone version
    is "$(told)" "1
wrong-name
alone asked for libcudnn.so.9, which is there under the name libcudnn.so.9.1.0
ln -s libcudnn.so.9.1.0 $PWD/bad/libcudnn.so.9"
    eval "$(told | tail -n 1)"
    run -0 env LD_LIBRARY_PATH="$PWD/bad" "$BASH" -c 'without_cache ./alone version'
    is "$output" "version 90100"
    # Another major is not the right one.
    rm bad/*
    make_standin 8.9.2 bad
    observed without_cache ./alone version
    is "$(told | sed -n 2p)" library-not-found
}

# ---- symbol versions ----

# A library linked against one cuDNN 8 is opened where another one is found.
opens() { # what it finds in the directory bad
    build_host library-now eight engine
    cat >opens.py <<'END'
import ctypes, sys
try:
    ctypes.CDLL(sys.argv[1])
    print("opened")
except OSError as why:
    print(why)
END
    observed python3 opens.py "$PWD/engine.so"
}

@test "a cuDNN that lacks a function of its own node: which release has it" {
    make_standin 8.9.2 eight
    make_standin 8.9.2 bad --without-function cudnnBackendFinalize
    opens
    [[ $output == *"cudnnBackendFinalize, version libcudnn.so.8"* ]]
    is "$(told)" "1
symbol-version-not-found
engine.so was linked with another libcudnn.so.8 than it found: cudnnBackendFinalize is not in it
unset LD_LIBRARY_PATH"
    run -0 python3 opens.py "$PWD/engine.so"
    is "$output" opened
}

@test "a node that is not there, behind a false name" {
    make_standin 8.9.2 eight
    cp set/*.so.9 bad
    ln -s libcudnn.so.9 bad/libcudnn.so.8
    opens
    [[ $output == *"libcudnn.so.8: version \`libcudnn.so.8' not found (required by $PWD/engine.so)" ]]
    is "$(told | tail -n 3)" "wrong-name
engine.so needs libcudnn.so.8 and found libcudnn.so.9 under that name
unset LD_LIBRARY_PATH"
    run -0 python3 opens.py "$PWD/engine.so"
    is "$output" opened
}
