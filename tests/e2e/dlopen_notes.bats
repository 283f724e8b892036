#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn scan: hosts that declare in a .note.dlopen what they open, and how much they depend on it
# (https://uapi-group.org/specifications/specs/elf_dlopen_metadata/).

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    export POOL=$BATS_FILE_TMPDIR/pool
    mkdir "$POOL"
    make_standin 9.3.0 "$POOL/9"
    make_standin 8.9.2 "$POOL/8"
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    unset VIRTUAL_ENV CONDA_PREFIX CUDA_HOME CUDA_PATH LD_LIBRARY_PATH
    mkdir t
}

# Files that carry these notes, one each: what build_host or gcc link in.
notes() { # JSON...
    local i=0
    for json in "$@"; do
        printf '%s\0' "$json" >"note$i"
        printf '%s\n' '.section .note.dlopen, "a", @note' '.balign 4' '.long 4, 2f - 1f, 0x407c0c0a' \
            '.asciz "FDO"' "1: .incbin \"note$i\"" '2: .balign 4'
        i=$((i + 1))
    done >notes.s
    echo '.section .note.GNU-stack, "", @progbits' >>notes.s
    "${CC:-gcc}" -c -o notes.o notes.s
}

# A library that has no name of cuDNN but in its notes. What else it links in: FLAG...
library() { # OUT FLAG...
    echo 'int unrelated(void) { return 1; }' | "${CC:-gcc}" -shared -fPIC -o "$1" -x c - -x none notes.o "${@:2}"
}

dependency() { # PRIORITY SONAME...
    jq -cn '{feature: "dnn", description: "convolutions", priority: $ARGS.positional[0],
        soname: $ARGS.positional[1:]}' --args "$@"
}

many() { # COUNT
    jq -cn '[range($n) | {soname: ["libcudnn_p\(.).so.9"], priority: "required"}]' --argjson n "$1"
}

# What a scan finds of it: each finding with its severity and what is declared.
found() { # STATUS ARGUMENT...
    run "-$1" --separate-stderr "$CMD" scan --json "${@:2}"
    echo "$output" >scan.json
    "$PY" "$WC_ROOT/tests/schema/validate.py" scan scan.json
    jq -r '.reports[].findings[] | "\(.severity) \(.id): \([.facts[] | select(.name | IN("declared", "opens"))
        | "\(.value) (\(.source | split(";")[0]))"] | join(", "))"' scan.json
}

facades() {
    jq -r '.reports[].stack.objects[] | select(.role == "facade")
        | "\(.asked_name) by \(.asked_by | split("/")[-1])"' scan.json
}

@test "a missing cuDNN is as grave as its host declares" {
    while read -r priority status severity; do
        notes "[$(dependency "$priority" libcudnn.so.8)]"
        library t/host.so
        is "$(found "$status" t)" "$severity library-not-found: libcudnn.so.8, $priority (.note.dlopen)"
        is "$(jq -r '.reports[].verdict' scan.json)" "${severity}s"
    done <<'END'
required 1 error
recommended 0 warning
suggested 0 note
END
    notes '[{"soname": ["libcudnn.so.8"]}]' # as the specification has it
    library t/host.so
    is "$(found 0 t)" "warning library-not-found: libcudnn.so.8, recommended (.note.dlopen)"
    run -0 "$CMD" scan --color=never t
    [[ $output == *$'\n  declared  libcudnn.so.8, recommended  (.note.dlopen)\n'* ]]
}

@test "a cuDNN that is there is the host's, by the order that it declares" {
    notes "[$(dependency required libcudnn.so.8 libcudnn.so.9)]"
    library t/host.so -Wl,-rpath,"$POOL/9:$POOL/8"
    is "$(found 0 t)" ""
    is "$(facades)" "libcudnn.so.8 by host.so"
    library t/host.so -Wl,-rpath,"$POOL/9"
    is "$(found 0 t)" ""
    is "$(facades)" "libcudnn.so.9 by host.so"
}

@test "a copy elsewhere: the repair is played" {
    make_standin --layout toolkit 8.9.2 cuda
    notes "[$(dependency required libcudnn.so.8)]"
    library t/host.so
    CUDA_HOME=$PWD/cuda run -1 "$CMD" scan --color=never t
    [[ ${output//$'\\\n            '/} == *"fix       export LD_LIBRARY_PATH=$PWD/cuda/lib64"* ]]
}

@test "programs, and libraries that are too large to be searched for names" {
    notes "[$(dependency recommended libcudnn.so.8)]"
    build_host dlopen "$POOL/8" t/program --no-rpath notes.o
    for argument in t t/program; do # which has the name among its constants, too
        is "$(found 0 "$argument")" "warning library-not-found: libcudnn.so.8, recommended (.note.dlopen)"
    done
    rm t/program
    library t/host.so
    truncate -s 32M t/host.so
    is "$(found 0 t)" "warning library-not-found: libcudnn.so.8, recommended (.note.dlopen)"
}

# What it declares and what it has the names of are two requests, unless they share a name.
@test "a note and constants that disagree" {
    notes "[$(dependency suggested libcudnn.so.7)]"
    build_host library-dlopen "$POOL/8" host --no-rpath notes.o
    mv host.so t
    is "$(found 1 t)" "error library-not-found: libcudnn.so.8 (its own constants)
note library-not-found: libcudnn.so.7, suggested (.note.dlopen)"
    notes "[$(dependency suggested libcudnn.so.7 libcudnn.so.8)]"
    build_host library-dlopen "$POOL/8" host --no-rpath notes.o
    mv host.so t
    is "$(found 0 t)" "note library-not-found: libcudnn.so.7, suggested (.note.dlopen)"
}

@test "a part that a linked host declares" {
    for part in cnn_train adv_train; do
        notes "[$(dependency suggested libcudnn_adv_train.so.8), $(dependency required libcudnn_cnn_train.so.8)]"
        cp -r "$POOL/8" lib
        rm lib/libcudnn_$part.so*
        build_host library-lazy lib host notes.o
        mv host.so t
        found 1 t >$part || found 0 t >$part
        rm -r lib
    done
    is "$(cat cnn_train)" "error library-not-found: libcudnn_cnn_train.so.8, required (.note.dlopen)"
    is "$(cat adv_train)" "note library-not-found: libcudnn_adv_train.so.8, suggested (.note.dlopen)"
    cp -r "$POOL/8" lib
    is "$(found 0 t)" ""
}

@test "two that miss the same: the one that depends most on it" {
    notes "[$(dependency suggested libcudnn.so.8)]"
    library t/liba.so
    notes "[$(dependency required libcudnn.so.8)]"
    library t/libb.so
    echo 'int main(void) { return 0; }' |
        "${CC:-gcc}" -o t/program -x c - -x none -Wl,--no-as-needed,-rpath,"\$ORIGIN" t/liba.so t/libb.so
    is "$(found 1 t/program)" "error library-not-found: libcudnn.so.8, required (.note.dlopen)"
}

# Of a file with a damaged note none is used, and it is named if the note is about cuDNN.
@test "damaged and hostile notes" {
    good=$(dependency suggested libcudnn.so.8)
    deep=$(printf '[%.0s' {1..5000})
    while read -r json; do
        notes "[$good]" "$json"
        build_host library-dlopen "$POOL/8" host --no-rpath notes.o
        mv host.so t
        is "$(found 1 t)" "error library-not-found: libcudnn.so.8 (its own constants)"
        is "$(jq -r '.passed_over[] | "\(.path | split("/")[-1]): \(.why)"' scan.json)" \
            "host.so: its .note.dlopen, which names cuDNN, is damaged and was not used"
    done <<END
[$good
$good
[$deep"libcudnn"
["libcudnn.so.8"]
[{"soname": "libcudnn.so.8"}]
[{"soname": [8, "libcudnn.so.8"]}]
[{"soname": [], "feature": "libcudnn"}]
[{"soname": ["libcudnn.so.8"], "priority": "mandatory"}]
[{"soname": ["libcudnn.so.8"], "priority": null}]
[{"soname": ["libcudnn.so.8"], "soname": ["libcudnn.so.9"]}]
END
    library t/host.so # nothing else in it has to do with cuDNN
    is "$(found 3 t)" ""
    is "$(jq '.passed_over | length' scan.json)" 1
    notes '[{"soname": ["libbpf.so.1"]' '{"soname": "libother.so"}' '[]' ''
    library t/host.so
    is "$(found 3 t)" ""
    is "$(jq '.passed_over | length' scan.json)" 0
    # As many and as long names as fit, and a note that is longer than its segment.
    notes "$(many 500)" \
        "[$(dependency required "libcudnn_$(printf 'x%.0s' {1..9000}).so")]"
    library t/host.so
    run -1 "$CMD" scan t
    notes "$(many 5000)"
    library t/host.so
    is "$(found 3 t)" ""
    is "$(jq '.passed_over | length' scan.json)" 1
}
