#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# aarch64: the tables of the cross-built shim, and real cuDNN of that architecture under qemu-user, bare
# and with the shim. `make test-neutral` runs this; the cases of neutrality/groups run there, too.

bats_require_minimum_version 1.5.0
load ../e2e/helpers
load ../e2e/tables

triple=aarch64-linux-gnu

setup_file() {
    local variant
    for variant in aarch64 aarch64-O0 aarch64-clang aarch64-clang-O0; do
        "$WC_ROOT/tests/neutrality/shim-variant" "$variant"
    done
    fetch_cudnn --machine aarch64 9.1.0 9.10.2 9.28.0 >/dev/null
    cd "$BATS_FILE_TMPDIR"
    host looks-up "$WC_ROOT/tests/loader/looks_up.c" -I"$WC_ROOT/tests/loader"
    for how in lazy now; do
        host "calls-$how" "$WC_ROOT/tests/neutrality/programs/real_create.c" \
            "$(real 9.10.2)/libcudnn.so.9" -Wl,--allow-shlib-undefined -Wl,-z,$how
    done
}

host() { # OUT SOURCE FLAG...
    $triple-gcc -std=gnu11 -D_GNU_SOURCE -O1 -fPIE -pie -o "$1" "${@:2}"
}

setup() {
    ulimit -c 0
    work=$BATS_TEST_TMPDIR logs=$BATS_TEST_TMPDIR/logs
    SHIM=$BUILD/variants/aarch64/libwhichcudnn.so
    variables=()
    cd "$BATS_FILE_TMPDIR"
}

real() { fetch_cudnn --machine aarch64 "$1" --print lib; }

# mixed FACADE PARTS: a folder with the facade of one release and the graph part of another.
mixed() {
    mkdir "$work/mixed"
    cp "$(real "$1")/libcudnn.so.9" "$work/mixed/"
    cp "$(real "$2")/libcudnn_graph.so.9" "$work/mixed/"
    echo "$work/mixed"
}

# What the loader heeds is for the program alone; qemu's own loader must not see it.
runs() { # NAME PRELOAD COMMAND...
    local name=$1 preload=$2 status=0
    shift 2
    rm -rf "$logs" && mkdir "$logs"
    WHICHCUDNN_LOG=$logs WHICHCUDNN_STDERR=off timeout -k 1 120 qemu-aarch64 -L "$root" \
        "${variables[@]}" -E LD_PRELOAD="$preload" "$@" >"$work/$name.out" 2>"$work/$name.err" 3>&- ||
        status=$?
    echo "$status" >"$work/$name.status"
}

# alike COMMAND...: ends well and prints what stands on standard input, and nothing as an error, bare and
# with the shim; $log is of the run with the shim.
alike() {
    cat >"$work/expected"
    runs bare '' "$@"
    runs shimmed "$SHIM" "$@"
    local name
    for name in bare shimmed; do
        echo "$name:" && cat "$work/$name.err"
        is "$(cat "$work/$name.status")" 0 && diff "$work/expected" "$work/$name.out" &&
            [ ! -s "$work/$name.err" ] || return
    done
    log=$(the_log "$logs")
    validate_log "$log"
}

# "role version rule path" of each object of cuDNN's, sorted.
libraries() {
    records object "$log" | jq -r 'select(.role == "facade" or .role == "part")
        | "\(.role) \(.version) by \(.version_source) \(.real_path)"' | sort -u
}
# Without those that say what this machine lacks, and the large parts that were not fetched.
findings() {
    "$CMD" report --json "$log" |
        jq -r '.findings[].id | select(. != "driver-missing" and . != "installation-incomplete")'
}
answers() { # FUNCTION: what it returned
    records call "$log" | jq -r --arg f "$1" 'select(.function == $f and .phase == "after")
        | "\(.returned_version // .status) \(.target_path)"'
}

each_build() { # CHECK
    local variant
    for variant in aarch64 aarch64-O0 aarch64-clang aarch64-clang-O0; do
        echo "$variant:"
        is "$(readelf -hW "$BUILD/variants/$variant/libwhichcudnn.so" | awk '/Machine:/ { print $2 }')" \
            AArch64 && "$1" "$BUILD/variants/$variant/libwhichcudnn.so" || return
    done
}

@test "tables: the nine exports, one import of glibc 2.17 or older, no executable stack" {
    each_build exports_the_nine
    each_build imports_one
    each_build is_tame
}

# A wrapper's frame is to be walked by unwinders that know no signed return addresses.
unwinds_plainly() {
    local frames
    frames=$(readelf --debug-dump=frames "$1")
    grep -q DW_CFA_def_cfa <<<"$frames" &&
        lacks "$frames" 'DW_CFA_(GNU_window_save|AARCH64_negate_ra_state)'
}

@test "tables: frames that old unwinders understand" {
    each_build unwinds_plainly
    printf 'void g(void); void f(void); void f(void) { g(); g(); }\n' >"$work/signs.c"
    $triple-gcc -O2 -fPIC -shared -mbranch-protection=standard -o "$work/signs.so" "$work/signs.c"
    run ! unwinds_plainly "$work/signs.so"
}

@test "the release's own parts: 9.10.2 and 9.28.0, looked up" {
    root=$("$WC_ROOT/tests/setup/userland-aarch64")
    local release number lib
    while read -r release number; do
        lib=$(real "$release")
        alike ./looks-up "$lib/libcudnn.so.9" <<END
1001 $number
$lib/libcudnn.so.9: undefined symbol: cudnnNowhere
END
        is "$(libraries)" "facade $release by names it asks for $lib/libcudnn.so.9
part $release by data symbol $lib/libcudnn_graph.so.9"
        is "$(findings)" ''
        is "$(answers cudnnGetVersion)" "$number $lib/libcudnn.so.9"
        is "$(answers cudnnCreate)" "1001 $lib/libcudnn.so.9"
    done <<'END'
9.10.2 91002
9.28.0 92800
END
}

@test "the release's own parts: 9.10.2 and 9.28.0, linked, lazily and at once" {
    root=$("$WC_ROOT/tests/setup/userland-aarch64")
    local release number lib how line
    while read -r release number; do
        lib=$(real "$release")
        variables=(-E LD_LIBRARY_PATH="$lib")
        for how in lazy now; do
            line="version: $number, runtime 12
create: CUDNN_STATUS_NOT_INITIALIZED, handle as it says
text: CUDNN_STATUS_SUCCESS"
            printf '%s\n' "$line" "$line" >"$work/twice"
            alike "./calls-$how" <"$work/twice"
            is "$(findings)" ''
            is "$(answers cudnnGetVersion)" "$number $lib/libcudnn.so.9"
            is "$(records call "$log" | jq -r 'select(.function == "cudnnCreate") | .phase' | tr '\n' ' ')" \
                'before after '
        done
    done <<'END'
9.10.2 91002
9.28.0 92800
END
}

@test "a set of two releases: the part's number, and the finding" {
    root=$("$WC_ROOT/tests/setup/userland-aarch64")
    local lib
    lib=$(mixed 9.10.2 9.28.0)
    alike ./looks-up "$lib/libcudnn.so.9" <<END
1001 92800
$lib/libcudnn.so.9: undefined symbol: cudnnNowhere
END
    is "$(libraries)" "facade 9.10.2 by names it asks for $lib/libcudnn.so.9
part 9.28.0 by data symbol $lib/libcudnn_graph.so.9"
    is "$(findings)" facade-and-parts-differ
    is "$(field summary first_finding "$log")" facade-and-parts-differ
    is "$(answers cudnnGetVersion)" "92800 $lib/libcudnn.so.9"
}

@test "the JAX plugin: a release that is too old, and one that is not" {
    root=$("$WC_ROOT/tests/setup/userland-aarch64" python3)
    local release number finding site
    export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH
    while read -r release number finding; do
        site=$("$WC_ROOT/tests/neutrality/jax-site" "$release" aarch64)
        PYTHONPATH=$site
        alike "$root/usr/bin/python3" -c 'from jax_cuda12_plugin import _versions as v
print(v.cudnn_build_version(), v.cudnn_get_version())' <<<"90800 $number"
        is "$(libraries)" "facade $release by names it asks for $site/nvidia/cudnn/lib/libcudnn.so.9
part $release by data symbol $site/nvidia/cudnn/lib/libcudnn_graph.so.9"
        is "$(findings)" "$finding"
        is "$(answers cudnnGetVersion | cut -d' ' -f1)" "$number"
    done <<'END'
9.1.0 90100 runtime-too-old
9.10.2 91002
END
}

small_cudnn() {
    echo 'libcudnn.so.9 { global: cudnn*; calls_arrived; local: *; };' >"$work/node.map"
    $triple-gcc -D_GNU_SOURCE -O1 -fPIC -shared -o libcudnn.so.9 "$WC_ROOT/tests/loader/cudnn.c" \
        -Wl,-soname,libcudnn.so.9 -Wl,--version-script="$work/node.map"
}

# linker NAME: a folder for -B in which gcc finds that linker.
linker() {
    local ld
    mkdir -p "$work/$1"
    ld=$(command -v "$triple-ld.$1" || command -v "ld.$1") && ln -sf "$ld" "$work/$1/ld" && echo "$work/$1"
}

# A program, and a library whose PLT has landing pads that the processor looks for.
linked_by() { # LINKER
    root=$("$WC_ROOT/tests/setup/userland-aarch64")
    local ld how source=$WC_ROOT/tests/loader counted='2
watched 2 direct 0'
    ld=$(linker "$1") || skip "$triple-ld.$1 is not installed"
    small_cudnn
    for how in -Wl,-z,lazy -Wl,-z,now '-Wl,-z,lazy -fno-plt' '-Wl,-z,lazy -DINDIRECT'; do
        echo "$1 $how"
        # shellcheck disable=SC2086
        host calls "$source/calls.c" -I"$source" libcudnn.so.9 -Wl,-rpath,"\$ORIGIN" -B"$ld" $how
        runs bare '' ./calls
        is "$(cat "$work/bare.status") $(cat "$work/bare.out")" '0 2'
        runs shimmed "$SHIM" -E COUNTS=1 ./calls
        is "$(cat "$work/shimmed.status") $(cat "$work/shimmed.out")" "0 $counted"
        is "$(records unobserved "$(the_log "$logs")")" ''
    done
    [ "$1" != gold ] || return 0 # which knows no landing pads
    host opens "$source/opens.c" -I"$source"
    $triple-gcc -O1 -fPIC -shared -nostartfiles -mbranch-protection=bti -Wl,-rpath,"\$ORIGIN" -B"$ld" \
        -o marked.so "$source/host.c" libcudnn.so.9 -Wl,-z,lazy -Wl,-z,force-bti
    runs shimmed "$SHIM" -E COUNTS=1 ./opens ./marked.so
    is "$(cat "$work/shimmed.status") $(cat "$work/shimmed.out")" '0 ./marked.so 90100
watched 1 direct 0'
}

@test "hosts linked by bfd: lazily, at once, without PLT, beside indirect functions, with landing pads" {
    linked_by bfd
}
@test "hosts linked by gold" { linked_by gold; }
@test "hosts linked by lld" { linked_by lld; }
@test "hosts linked by mold" { linked_by mold; }

# Where code calls a function and takes its address, the linker makes a jump slot and an address slot.
build_points() {
    local programs=$WC_ROOT/tests/neutrality/programs library=(-fPIC -shared -Wl,-rpath,"\$ORIGIN")
    small_cudnn
    $triple-gcc -O1 "${library[@]}" -o points-calls.so "$programs/points.c" libcudnn.so.9 -DCALLS
    $triple-gcc -O1 "${library[@]}" -o points-no-plt.so "$programs/points.c" libcudnn.so.9 -fno-plt
    readelf -rW points-calls.so | grep -E 'JUMP_SLOT.*cudnnGetVersion'
    readelf -rW points-calls.so | grep -E 'GLOB_DAT.*cudnnGetVersion'
    host compares "$programs/compares.c"
}

@test "docs/limits.md: a library that calls a function and takes its address has the function itself" {
    root=$("$WC_ROOT/tests/setup/userland-aarch64")
    build_points
    local line
    for name in bare shimmed; do
        runs "$name" "$([ $name = bare ] || echo "$SHIM")" ./compares cudnn=./libcudnn.so.9 \
            ./points-calls.so ./points-no-plt.so
        is "$(cat "$work/$name.status") $(cat "$work/$name.err")" '0 '
    done
    line='address: ./points-calls.so:'
    grep -vxF "$line another, entry 1, 90100" "$work/shimmed.out" >"$work/others"
    grep -vxF "$line same, entry 0, 90100" "$work/bare.out" | diff - "$work/others"
    is "$(cat "$work/others")" "address: cudnn=./libcudnn.so.9: same, entry 0, 90100
calls: ./points-calls.so 90100
calls: ./points-no-plt.so 90100
address: ./points-no-plt.so: same, entry 0, 90100"
}
