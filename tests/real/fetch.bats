#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The fetcher: small, whole, as pip lays it out, and quiet about what it has.

bats_require_minimum_version 1.5.0
load ../setup/helper

@test "every listed release is fetched and says its own version" {
    build_host dlopen-path - "$BATS_TEST_TMPDIR/host"
    local distribution version number needs lib name
    while IFS=$'\t' read -r distribution version number needs; do
        lib=$(fetch_cudnn "$distribution==$version" --print lib 2>/dev/null)
        for name in ${needs//[,-]/ }; do
            make_standin --empty "$name" "$BATS_TEST_TMPDIR/needs"
        done
        run env LD_LIBRARY_PATH="$BATS_TEST_TMPDIR/needs" "$BATS_TEST_TMPDIR/host" "$lib"/libcudnn.so.?
        echo "$distribution $version: $output"
        [[ $output == "version $number create "* ]]
    done < <(releases)
}

@test "the layout and the metadata are pip's" {
    fetch_cudnn 9.1.0.70 --into "$BATS_TEST_TMPDIR/site" >/dev/null
    run "$WC_PYTHON" -c '
import importlib.metadata as m, sys
d = next(iter(m.distributions(path=[sys.argv[1]])))
print(d.metadata["Name"], d.version, d.read_text("INSTALLER").strip())
here = [str(f) for f in d.files if f.locate().exists()]
print("nvidia/cudnn/lib/libcudnn.so.9" in here, len(here) < len(d.files))' "$BATS_TEST_TMPDIR/site"
    [ "${lines[0]}" = "nvidia-cudnn-cu12 9.1.0.70 pip" ]
    [ "${lines[1]}" = "True True" ]
}

@test "a pruned RECORD names exactly the files that are there" {
    fetch_cudnn 9.1.0.70 --into "$BATS_TEST_TMPDIR/site" --prune-record >/dev/null
    cd "$BATS_TEST_TMPDIR/site"
    diff <(cut -d, -f1 ./*.dist-info/RECORD | sort) <(find . -type f | cut -c3- | sort)
}

@test "a short version means its newest release, and what is there is not asked for again" {
    fetch_cudnn 9.1.0 >/dev/null
    # No index answers here: only the cache can.
    run env PIP_INDEX_URL=http://127.0.0.1:9/ PIP_FIND_LINKS= "$WC_PYTHON" \
        "$WC_ROOT/tests/setup/fetch_cudnn.py" 9.1.0
    [ "$status" -eq 0 ]
    [[ $output == */nvidia-cudnn-cu12-9.1.0.70 ]]
}

@test "two fetches at once both end with the whole of what they asked for" {
    local cache=$BATS_TEST_TMPDIR/cache
    fetch_cudnn 9.0.0 --cache "$cache" --headers &
    fetch_cudnn 9.0.0.312 --cache "$cache" --print lib
    wait $!
    local release=$cache/cudnn/nvidia-cudnn-cu12-9.0.0.312/site-packages/nvidia/cudnn
    [ -s "$release/include/cudnn.h" ]
    [ -s "$release/lib/libcudnn_graph.so.9" ]
    [ -z "$(find "$cache" -name '*.part*' -o -name '.new-*')" ]
}

@test "a release that does not exist is said to be missing, once, at once" {
    run fetch_cudnn 9.99.0
    [ "$status" -eq 1 ]
    [[ $output == *"no wheel for nvidia-cudnn-cu12==9.99.0.*"* ]]
}

@test "a stand-in has its release's names, node, SONAME and search tag" {
    local distribution version number needs lib cudnn
    while IFS=$'\t' read -r distribution version number needs; do
        case $distribution in *jit*) continue ;; esac
        lib=$(fetch_cudnn "$distribution==$version" --print lib 2>/dev/null)
        cudnn=$version
        [ "$distribution" != cupy-cuda101 ] || cudnn=7.6.5
        make_standin "$cudnn" "$BATS_TEST_TMPDIR/$version"
        echo "$distribution $version"
        facade_facts "$lib"/libcudnn.so.? >"$BATS_TEST_TMPDIR/real"
        facade_facts "$BATS_TEST_TMPDIR/$version"/libcudnn.so.? >"$BATS_TEST_TMPDIR/standin"
        [ "$(wc -l <"$BATS_TEST_TMPDIR/real")" -gt 200 ]
        diff "$BATS_TEST_TMPDIR/real" "$BATS_TEST_TMPDIR/standin"
    done < <(releases)
}

# SONAME, node and search tag of a facade, and which functions of the table it exports.
facade_facts() {
    readelf -dW "$1" | sed -n 's/.*\(soname: .*\|(R.*PATH).*\)/\1/p'
    readelf -W --dyn-syms "$1" | awk '$7 != "UND" && $8 ~ /^cudnn/ { print $8 }' | sort |
        grep -Ff <(sed 1d "$WC_ROOT/core/data/cudnn_symbols.tsv" | cut -f1 | sed 's/$/@/')
}

@test "hosts require, and open when asked to, what the tables say, from the release on that they say" {
    local check=$WC_ROOT/tests/real/check_host_wheels.py
    "$WC_PYTHON" "$check" "$WC_CACHE" onnxruntime-gpu==1.20.2 onnxruntime-gpu==1.21.0 \
        onnxruntime-gpu==1.26.0 onnxruntime-gpu==1.31.1 torch==2.6.0 torch==2.15.0 \
        tensorflow==2.18.0 jax-cuda12-plugin==0.5.3 jax-cuda13-plugin==0.8.0 ctranslate2==4.8.5
    # Another release's files are noticed.
    mkdir "$BATS_TEST_TMPDIR/hosts"
    cp -r "$WC_CACHE/hosts/onnxruntime-gpu-1.31.1" "$BATS_TEST_TMPDIR/hosts/onnxruntime-gpu-1.20.0"
    sed -i 's/libcurand.so.10/libcurand.so.11/' \
        "$BATS_TEST_TMPDIR/hosts/onnxruntime-gpu-1.20.0/onnxruntime/__init__.py"
    run "$WC_PYTHON" "$check" "$BATS_TEST_TMPDIR" onnxruntime-gpu==1.20.0
    [ "$status" -eq 1 ]
    [[ $output == *"what it requires: got "*"has a preloader: got True, expected False"* ]]
    [[ $output == *"what it opens: got "* ]]
}
