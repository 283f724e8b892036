#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn run: what the command printed is evidence. (What is recognized: tests/messages.)

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    make_standin --create-status 0 9.1.0 cudnn
    cat >opens.py <<END
# Opens cuDNN, prints the other arguments on standard error, and ends with the first one.
import ctypes, sys
ctypes.CDLL("$PWD/cudnn/libcudnn.so.9")
print(*sys.argv[2:], sep="\n", file=sys.stderr)
sys.exit(int(sys.argv[1]))
END
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export TMPDIR=$PWD
}

opens=("$PY" -S "$BATS_FILE_TMPDIR/opens.py")
differ='Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0'
run_it() { "$CMD" run --log logs/ "$@" 2>printed; }
# The verdict of the one log; what stands there in both forms is the same after the run.
verdict() { "$CMD" report --json logs | jq -r .verdict; }

@test "versions that it printed into a file explain its end, in run and in a later report" {
    run -1 run_it -- "${opens[@]}" 1 one "$differ"
    is "$(head -n 2 printed)" "one
$differ"
    grep -q '^whichcudnn: error\[runtime-too-old\]: .*9\.1\.0.*9\.3' printed
    grep -q 'standard error, line 2' printed
    validate_log logs/*
    is "$(verdict)" errors
    is "$(records call "$(the_log logs)" | jq -r 'select(.source) | "\(.function) \(.returned_version) \(.source)"')" \
        "cudnnGetVersion 90100 standard error, line 2"
    is "$(field outcome words_read "$(the_log logs)")" true
}

@test "appended text alone counts; the file may be open for both streams, or for standard output" {
    append() { "$CMD" run --log logs/ -- "$@" >>printed 2>&1; }
    echo "$differ" >printed
    run -1 append "${opens[@]}" 1
    is "$(verdict)" unexplained
    rm -r logs
    run -1 append "${opens[@]}" 1 "$differ"
    grep -q 'standard error, line 1' printed
    rm -r logs
    run -1 bash -c '"$@" >printed' - "$CMD" run --log logs/ -- bash -c '"$@" 2>&1' - "${opens[@]}" 1 "$differ"
    "$CMD" report logs | grep -q 'standard output, line 1'
}

@test "a framework that refuses its cuDNN counts where the command ends with 0; of two programs it is nobody's" {
    run -0 run_it -- bash -c 'for i in 1 2; do "$@" || sleep 0.1; done' - "${opens[@]}" 1 "$differ"
    grep -q '^whichcudnn: error\[runtime-too-old\]: .*9\.1\.0.*9\.3' printed
    is "$("$CMD" report logs | grep -c '^error\[runtime-too-old\]')" 1
    rm -r logs
    build_host lazy "$BATS_FILE_TMPDIR/cudnn" "$PWD/host"
    LD_LIBRARY_PATH=$BATS_FILE_TMPDIR/cudnn run -1 run_it -- bash -c './host version >/dev/null; "$@"' - "${opens[@]}" 1 "$differ"
    [[ $(<printed) == *unexplained* && $(<printed) != *runtime-too-old* ]]
    # A script that the first bad end ends: it is the last one's, and the others ended well.
    printf '#!/bin/sh\nset -e\n./host version >/dev/null\n"$@"\ntrue\n' >stages
    chmod +x stages
    export LD_LIBRARY_PATH=$BATS_FILE_TMPDIR/cudnn
    rm -r logs
    run -1 run_it -- ./stages "${opens[@]}" 1 "$differ"
    grep -q '^whichcudnn: error\[runtime-too-old\]: opens.py .*9\.1\.0.*9\.3' printed
    [[ $(<printed) == *" for host"* && $(<printed) != *unexplained* ]]
    run -0 run_it -- ./stages "${opens[@]}" 0 "$differ"
    [[ $(<printed) != *error* && $(<printed) != *unexplained* ]]
    # In a pipe, or without -e, the first one may have failed.
    local change
    for change in 's/-e$/-x/; /^true/d' 's/-x$/-e/; s/>.*/| cat/'; do
        sed -i "$change" stages
        run -1 run_it -- ./stages "${opens[@]}" 1 "$differ"
        [[ $(<printed) == *unexplained* && $(<printed) != *runtime-too-old* ]]
    done
}

@test "a status that no watched call returned" {
    run -1 run_it -- "${opens[@]}" 1 "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"
    grep -A1 '^whichcudnn: error\[call-failed\]: ' printed | grep CUDNN_STATUS_EXECUTION_FAILED
    is "$("$CMD" report --json logs | jq -r '.findings[0].facts[] | select(.name == "status") | .source')" \
        "standard error, line 1"
}

@test "other messages are told with an end that nothing explains" {
    run -1 run_it -- "${opens[@]}" 1 "libnvrtc.so.12: cannot open shared object file: No such file"
    grep -q '^whichcudnn: unexplained: ' printed
    grep -q '^  known    standard error, line 1: "libnvrtc.so.12: cannot open' printed
    [[ $(<printed) != *"run --text"* ]]
    [[ $("$CMD" report --redact logs) == *'standard error, line 1: "libnvrtc.so.12: cannot'* ]]
    # What depends on how it went on counts where there is nothing else.
    local linked='TensorRT was linked against cuBLAS/cuBLAS LT 10.2.3 but loaded cuBLAS/cuBLAS LT 10.2.2'
    run -1 run_it -- "${opens[@]}" 1 "$linked"
    grep -q '^  known    standard error, line 1: "linked against cuBLAS.*If its calls fail after that' printed
    run -1 run_it -- "${opens[@]}" 1 "$linked"$'\n'"libnvrtc.so.12: cannot open shared object file: No such file"
    is "$(grep -c '^  known ' printed)" 1
    # Of a process that the command started, too.
    rm -r logs
    run -1 run_it -- bash -c '"$@"; exit 1' - "${opens[@]}" 1 "cuDNN is not available"
    grep -q '^  known    standard error, line 1: "cuDNN is not available"' printed
    [[ $("$CMD" report logs) == *'standard error, line 1: "cuDNN is not available"'* ]]
}

@test "beside a warning, which need not be why it failed, its own words are told" {
    make_standin --create-status 0 9.3.0 other
    printf '%s\n' 'import ctypes, sys' "for d in '$BATS_FILE_TMPDIR/cudnn', '$PWD/other':" \
        '    ctypes.CDLL(d + "/libcudnn.so.9")' 'print("cuDNN is not available", file=sys.stderr)' \
        'sys.exit(int(sys.argv[1]))' >both.py
    run -1 run_it -- "$PY" -S both.py 1
    grep -q '^whichcudnn: warning\[two-copies-loaded\]' printed
    is "$(grep -c '^  known    standard error, line 1: "cuDNN is not available"' printed)" 1
    run -0 run_it -- "$PY" -S both.py 0
    [[ $(<printed) != *"  known"* ]]
}

@test "not observed: the first message stands behind the reason" {
    run -1 run_it -- bash -c 'echo "Could not load library libcudnn_cnn_infer.so.8" >&2; exit 1'
    grep -q '^whichcudnn: not observed: .*; standard error, line 1: "Could not load library libcudnn_cnn' printed
    run -0 run_it -- bash -c 'echo "Could not load library libcudnn_cnn_infer.so.8" >&2'
    [[ $(tail -n 1 printed) == "whichcudnn: not observed: no cuDNN was loaded or asked for" ]]
}

@test "not observed: what failed and was not read has run --text as its next step, and nothing else has" {
    local -a fails=(sh -c 'echo "Found 2 libcudnn"; exit 3')
    run_beside() { "$CMD" run "$@" 2>&1 | cat; }
    [[ $(run_beside -- "${fails[@]}" | tail -n 1) == "  next     whichcudnn run --text -- sh -c '"*"exit 3'" ]]
    run run_beside --text -- "${fails[@]}"
    [[ $output == *'; standard error, line 1: "Found 2 libcudnn'* && $output != *next* ]]
    for way in true 'exit 130'; do
        run run_beside -- sh -c "$way"
        [[ $output == "whichcudnn: not observed: "* && $output != *next* ]]
    done
    WHICHCUDNN_DISABLE=1 run run_beside -- "${fails[@]}"
    [[ $output == *"WHICHCUDNN_DISABLE is set" ]]
}

@test "not observed: a program that the loader names is looked at, and one that is not found is told of" {
    local line='import subprocess, sys
subprocess.call(sys.argv[1:], env={}, executable="./child")
sys.exit(1)'
    echo 'int cudnnGetVersion(void); int main(void) { return cudnnGetVersion(); }' >child.c
    make_standin 7.6.5 cudnn
    gcc -o child child.c cudnn/libcudnn.so.7
    "$CMD" run -- "$PY" -c "$line" no/such/child 2>printed || is "$?" 1
    grep -q '^whichcudnn: not observed: .*"libcudnn.so.7: cannot open .* left no log: .* without LD_PRELOAD' printed
    "$CMD" run -- "$PY" -c 'import sys; sys.exit("libGL.so.1: cannot open shared object file")' 2>printed || is "$?" 1
    if grep -q 'left no log' printed; then return 1; fi
    # With the variable it finds the library: it was started without.
    export LD_LIBRARY_PATH=$PWD/cudnn
    "$CMD" run -- "$PY" -c "$line" ./child 2>printed || is "$?" 1
    grep -q '^whichcudnn: error\[library-not-found\]: child needs libcudnn.so.7, which was not found' printed
    grep -q "LD_LIBRARY_PATH=$PWD/cudnn" printed
    printf '#!/bin/sh\neval x=1\nunset LD_LIBRARY_PATH\n./child\n' >launch
    chmod +x launch
    "$CMD" run -- ./launch 2>printed || is "$?" 127
    grep -q "'3a export LD_LIBRARY_PATH=$PWD/cudnn'" printed
    # The same of a program that is not of cuDNN, or that the script goes on without.
    printf '#!/bin/sh\neval x=1\nunset LD_LIBRARY_PATH\n./child\nexit 0\n' >launch
    "$CMD" run -- ./launch 2>printed
    [[ $(tail -n 1 printed) == "whichcudnn: not observed: no cuDNN was loaded or asked for" ]]
}

@test "what contradicts each process is said and does not count" {
    run -1 run_it -- "${opens[@]}" 1 "${differ/9.1.0/8.1.0}"
    grep -q '^whichcudnn: standard error, line 1, is not of .*jsonl: no cuDNN there can be 8.1.0' printed
    is "$(verdict)" unexplained
}

@test "a version without its patch is of each patch; 9.8.x is of that minor version alone" {
    make_standin 9.10.2 newer
    printf 'import ctypes, sys\nctypes.CDLL("%s/newer/libcudnn.so.9")\nsys.exit("plans need cuDNN 9.8.x, found 9.10")\n' \
        "$PWD" >newer.py
    run -1 run_it -- "$PY" -S newer.py
    grep -q '^whichcudnn: error\[runtime-too-new\]: .* 9\.10\.2.* 9\.8' printed
}

@test "a run that went well is judged by what it printed only if it did without the GPU" {
    run -0 run_it -- "${opens[@]}" 0 "$differ"
    is "$(verdict)" ok
    rm -r logs
    run -0 run_it -- "${opens[@]}" 0 "Outdated cuDNN installation found. Version JAX was built against: 91000 Minimum supported: 90300 Installed version: 90100"
    grep -q 'runtime-too-old' printed
}

@test "of much text the last part is read" {
    run -1 run_it -- bash -c 'yes "step 12 loss 0.1" | head -c 2000000 >&2; exec "$@"' - "${opens[@]}" 1 "$differ"
    grep -q 'standard error (its last 512 KiB), line' printed
    rm -r logs
    run -1 run_it -- bash -c '"$@" & wait; yes "step 12 loss 0.1" | head -c 2000000 >&2; exit 1' - "${opens[@]}" 1 "$differ"
    is "$(verdict)" unexplained
}

@test "unexplained, and nothing was read: the next step reads it" {
    piped() { "$@" 2>&1 | cat; return "${PIPESTATUS[0]}"; }
    run -1 piped "$CMD" run --log logs/ -- "${opens[@]}" 1 "it's"
    [[ $output == *$'\n'"  next     whichcudnn run --text -- $PY -S $BATS_FILE_TMPDIR/opens.py 1 'it'\\''s'"* ]]
    [[ $("$CMD" report logs) == *"  next     whichcudnn run --text -- "* ]]
}
