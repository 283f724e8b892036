#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The stand-ins and the small hosts: other tests believe what these do.

bats_require_minimum_version 1.5.0
load ../setup/helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

@test "every major has its SONAME, node, number and parts" {
    local version number name
    while read -r version number name; do
        make_standin "$version" "$version"
        build_host now "$version" host
        run ./host version create conv
        echo "$version: $output"
        [[ $output =~ ^"version $number create 1"(001)?" conv 0"$ ]]
        readelf -dW "$version/$name" | grep -q "soname: \[$name\]"
        if [ "${version%%.*}" -ge 7 ]; then
            readelf -W --dyn-syms "$version/$name" | grep -q "cudnnCreate@@$name"
        else
            readelf -W --dyn-syms "$version/$name" | grep -q "cudnnCreate$"
        fi
    done <<'END'
4.0.7 4007 libcudnn.so.4
5.1.10 5110 libcudnn.so.5
6.0.21 6021 libcudnn.so.6
7.6.5 7605 libcudnn.so.7
8.9.2 8902 libcudnn.so.8
9.1.0 90100 libcudnn.so.9
END
    [ -e 8.9.2/libcudnn_cnn_train.so.8 ]
    [ -e 9.1.0/libcudnn_engines_precompiled.so.9 ]
}

@test "a release exports what it had, and not what came later or went before" {
    make_standin 8.9.2 8
    make_standin 9.1.0 9
    build_host weak 9 host
    readelf -W --dyn-syms 8/libcudnn.so.8 >8.names
    readelf -W --dyn-syms 9/libcudnn.so.9 >9.names
    grep -q ' cudnnOpsInferVersionCheck@' 8.names
    run ! grep -q ' cudnnOpsInferVersionCheck@' 9.names
    grep -q ' cudnnGraphVersionCheck@' 9.names
    run ! grep -q ' cudnnBackendPopulateCudaGraph@' 9.names # came with 9.5
}

@test "the number is the graph part's, not the facade's" {
    make_standin 9.1.0 mixed --only facade
    make_standin 9.28.0 mixed --without facade
    build_host lazy mixed host
    run ./host
    [ "$output" = "version 92800 create 1001" ]
}

@test "a part that is missing ends the process with cuDNN's own words" {
    make_standin 9.1.0 nine --only facade
    build_host lazy nine host
    run without_cache ./host
    [ "$status" -eq 134 ]
    [[ $output == *"Unable to load any of {libcudnn_graph.so.9.1.0, libcudnn_graph.so.9.1, libcudnn_graph.so.9, libcudnn_graph.so}"* ]]
    [[ $output == *"Invalid handle. Cannot load symbol cudnnGetVersion"* ]]
}

@test "8 says which library it could not load and why, also for what that library needs" {
    make_standin 8.9.2 eight --needs ops_infer=libcublas-nowhere.so.12
    build_host lazy eight host
    run ./host
    [ "$status" -eq 134 ]
    [[ $output == *"Could not load library libcudnn_ops_infer.so.8. Error: libcublas-nowhere.so.12: cannot open shared object file"* ]]
}

@test "a facade that knows a function which its part does not have says so and aborts" {
    make_standin 9.1.0 set --only facade
    make_standin 9.1.0 set --without facade --without-function cudnnCreate
    build_host lazy set host
    run ./host
    [ "$status" -eq 134 ]
    [[ $output == *"Could not load symbol cudnnCreate. Error: "*"undefined symbol: cudnnCreate"* ]]
}

@test "statuses are the chosen ones, and foreign engines are noticed" {
    make_standin 9.1.0 set --create-status 0 --status cudnnConvolutionForward=3000
    build_host lazy set host
    run ./host create conv finalize
    [ "$output" = "create 0 conv 3000 finalize 0" ]
    make_standin 9.2.0 set --only engines_precompiled
    run ./host finalize
    [ "$output" = "finalize 1002" ]
}

@test "cudnnCreate ends the process with 77 unless the log holds a finding" {
    make_standin 9.1.0 set --reads-log
    build_host lazy set host
    mkdir logs
    run env WHICHCUDNN_LOG=logs ./host create
    [ "$status" -eq 77 ]
    echo '{"kind":"request"}' >logs/a
    run env WHICHCUDNN_LOG=logs ./host create
    [ "$status" -eq 77 ]
    echo '{"kind":"finding"}' >logs/b
    run env WHICHCUDNN_LOG=logs ./host create
    [ "$output" = "create 1001" ]
    run env WHICHCUDNN_LOG=logs/b ./host create
    [ "$output" = "create 1001" ]
}

@test "constructors call or abort" {
    make_standin 9.1.0 calls --constructor call
    make_standin 9.1.0 aborts --constructor graph=abort
    build_host lazy calls host
    run ./host create
    [ "${lines[0]}" = "stand-in: constructor: version 90100" ]
    build_host lazy aborts host
    run ./host create
    [ "$status" -eq 134 ]
}

@test "each mode of the hosts is bound the way its name says" {
    make_standin 9.1.0 set
    local mode file kind expected='version 90100 create 1001 conv 0'
    while read -r mode file kind; do
        build_host "$mode" set "$mode"
        run ./"$mode" version create conv
        echo "$mode: $output"
        [[ $output == *"$expected" ]]
        if [ "$kind" = none ]; then
            run ! grep -q ' cudnnCreate' <(readelf -W --dyn-syms "$file")
        else
            readelf -rW "$file" | grep -E "R_[A-Z0-9_]+_($kind)" | grep -q ' cudnnCreate'
        fi
    done <<'END'
lazy lazy JUMP_SLOT|JUMP_SLO
now now JUMP_SLOT|JUMP_SLO
no-plt no-plt GLOB_DAT
address address GLOB_DAT
table table 64|ABS64
no-pic no-pic JUMP_SLOT|JUMP_SLO
weak weak GLOB_DAT
library-lazy library-lazy.so JUMP_SLOT|JUMP_SLO
opened-lazy opened-lazy.so JUMP_SLOT|JUMP_SLO
library-stub library-stub.so JUMP_SLOT|JUMP_SLO
dlopen dlopen none
END
    build_host weak-unlinked - weak
    run ./weak
    [ "$output" = "version absent create absent" ]
    build_host constructor set constructor
    run ./constructor
    [ "$output" = "constructor: version 90100 create 1001" ]
    build_host opened-static - static
    run ./static
    [ "$output" = "version 7605 create 1" ]
}

@test "the layouts are those of a toolkit and of pip" {
    make_standin 9.1.0 toolkit --layout toolkit
    [ "$(readlink toolkit/lib64/libcudnn.so)" = libcudnn.so.9 ]
    [ "$(readlink toolkit/lib64/libcudnn.so.9)" = libcudnn.so.9.1.0 ]
    grep -q 'CUDNN_MINOR 1' toolkit/include/cudnn_version.h
    make_standin 9.1.0 site --layout pip --build 70
    run "$WC_PYTHON" -c '
import base64, hashlib, importlib.metadata as m
d = next(iter(m.distributions(path=["site"])))
assert len(d.files) == 12, d.files
for f in d.files:
    if f.hash:
        h = hashlib.sha256(f.locate().read_bytes()).digest()
        assert f.hash.value == base64.urlsafe_b64encode(h).rstrip(b"=").decode(), f
print(d.metadata["Name"], d.version)'
    [ "$output" = "nvidia-cudnn-cu12 9.1.0.70" ]
}
