#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Whole userlands of other Debian releases: a newer glibc, and every program there with the shim in
# /etc/ld.so.preload. `make test-neutral` runs this; old_libc.bats has the small part.
# shellcheck disable=SC2034,SC2154  # variables that userland.bash reads and sets

bats_require_minimum_version 1.5.0
load ../e2e/helpers
load ../loader/loader
load userland

setup_file() { build_enter; }
setup() { work=$BATS_TEST_TMPDIR logs=$BATS_TEST_TMPDIR/logs; }

@test "glibc 2.41: programs, opened hosts, lookups, threads, failures" {
    inside trixie-whole
    every_glibc
}

@test "glibc of sid: programs, opened hosts, lookups, threads, failures" {
    inside sid-whole
    every_glibc
}

# Entries that the linker marked become jumps to the target, past the slot.
build_marked() {
    local loader=$WC_ROOT/tests/loader lib=$root/usr/lib/x86_64-linux-gnu how
    mkdir -p linker
    # That release's linker, by its own loader.
    printf '%s\n' '#!/bin/sh' "exec '$root/lib64/ld-linux-x86-64.so.2' --library-path '$lib' \\" \
        "    '$root/usr/bin/x86_64-linux-gnu-ld.bfd' \"\$@\"" >linker/ld
    chmod +x linker/ld
    how=(gcc -Blinker --sysroot="$root" -B"$lib" -L"$lib" -std=gnu11 -D_GNU_SOURCE -O1
        -Wl,-rpath,"\$ORIGIN" -Wl,-z,now -Wl,-z,mark-plt)
    "${how[@]}" -fPIC -shared -o host-marked.so "$loader/host.c" libcudnn.so.9
    "${how[@]}" -fPIE -pie -o calls-marked "$loader/calls.c" libcudnn.so.9
    readelf -dW calls-marked | grep -F 0x0000000070000000
}

rewritten() { # VALUE
    options=(--set GLIBC_TUNABLES=glibc.cpu.plt_rewrite="$1")
    alike 0 ./calls-marked <<<2
    alike 0 ./opens ./host-marked.so <<<'./host-marked.so 90100'
    alike 0 ./opens ./host-lazy.so <<<'./host-lazy.so 90100'
    alike 0 ./storm 8 50 ./host-marked.so <<<'400 of 400'
    alike 0 ./storm 8 50 ./host-now.so <<<'400 of 400'
    asks_in_vain
}

@test "glibc 2.41: PLT entries rewritten by the loader" {
    inside trixie-whole
    build_marked
    rewritten 1
    rewritten 2
    options=() && arrived 'watched 2 direct 0' ./calls-marked
    options=() && arrived 'watched 1 direct 0' ./opens ./host-marked.so
    # docs/limits.md: where the entry was rewritten, the slot is passed by.
    options=(--set GLIBC_TUNABLES=glibc.cpu.plt_rewrite=1)
    arrived 'watched 0 direct 1' ./opens ./host-marked.so
}

@test "glibc 2.41: the real facade of cuDNN 9.28" {
    local real
    real=$(fetch_cudnn 9.28.0 --print lib)
    inside trixie-whole
    options=(--with "$WC_CACHE")
    alike 0 ./looks_up "$real/libcudnn.so.9" <<END
1001 92800
$real/libcudnn.so.9: undefined symbol: cudnnNowhere
END
    tells_calls 'cudnnCreate before looks_up libcudnn.so.9' 'cudnnCreate after looks_up libcudnn.so.9'
}

# With the shim in the process, whatever it is: same output, errors and status, and no log.
everywhere() {
    local name command
    printf '%s\n' "$SHIM" >"$work/preload"
    while read -r name command; do
        options=()
        runs bare '' "$name" -c "$command" </dev/null
        options=(--put "$work/preload" /etc/ld.so.preload)
        runs shimmed '' "$name" -c "$command" </dev/null
        is "$(cat "$work/bare.status")" 0 || { cat "$work/bare.err" && return 1; }
        for part in out err status; do
            diff "$work/bare.$part" "$work/shimmed.$part" || { echo "$part of $command" && return 1; }
        done
        no_log
    done <<'END'
/bin/sh echo sh | cat && cat /etc/passwd | grep root | sed s/root/toor/
/bin/sh ls -l /usr/lib && find /etc | sort
/bin/sh dpkg --version && apt --version && apt-get --version
/bin/sh tar -cf - /etc/passwd | gzip -n | gzip -d | tar -tf -
/bin/sh id && stat -c %U /etc/passwd && whoami
/bin/bash for i in 1 2 3; do (echo "$i" | tr 1 2) & wait; done; exec cat /etc/group
/bin/sh perl -e 'print join(",", map { $_ * 2 } 1 .. 3), "\n"; exit 0'
/usr/bin/python3 print(1)
/usr/bin/python3 import ctypes, subprocess; ctypes.CDLL("libm.so.6"); print(subprocess.run(["ls", "/"], capture_output=True))
/usr/bin/python3 import os, threading; os.fork() or os._exit(0); os.wait(); t = threading.Thread(target=print, args=(1,)); t.start(); t.join()
END
    # It was there, and awake.
    runs shimmed '' /bin/grep -c libwhichcudnn /proc/self/maps
    [ "$(cat "$work/shimmed.out")" -gt 0 ]
    runs shimmed '' ./calls-now
    validate_log "$(the_log "$logs")"
    calls_of calls-now
}

@test "glibc 2.31: the shim in /etc/ld.so.preload" {
    inside bullseye-whole
    everywhere
}

@test "glibc 2.41: the shim in /etc/ld.so.preload" {
    inside trixie-whole
    everywhere
}

@test "glibc of sid: the shim in /etc/ld.so.preload" {
    inside sid-whole
    everywhere
}
