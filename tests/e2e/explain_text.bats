#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn explain --text: what programs printed. (The table's rows: tests/unit/test_messages.c.)

bats_require_minimum_version 1.5.0
load helpers

text() { "$CMD" explain --text "$@"; }

setup() { cd "$BATS_TEST_TMPDIR"; }

@test "each text from the field: the rows that know it, the finding by which its case is judged, the likeliest first" {
    run -0 "$PY" "$WC_ROOT/tests/messages/check.py" "$CMD"
    [[ ${lines[-1]} =~ ^([0-9]+)" sources, "([0-9]+)" judged" ]]
    (( BASH_REMATCH[1] >= 150 && BASH_REMATCH[2] >= 80 ))
    # What is learnt from the tables serves texts that it was not learnt from.
    [[ ${lines[-2]} =~ ^([0-9]+)" of "([0-9]+)" told by what the others teach" ]]
    (( BASH_REMATCH[1] * 100 >= BASH_REMATCH[2] * 80 ))
}

@test "a traceback from a file: the line that matters with effect, meaning, versions, what fits, what to run; others counted" {
    cat > log.txt <<'END'
Traceback (most recent call last):
  File "train.py", line 3, in <module>
RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (9, 10, 2) but found runtime
version (9, 1, 0). PyTorch already comes bundled with cuDNN.
Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one
Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one
END
    run -0 --separate-stderr text log.txt
    is "$stderr" ""
    [[ $output == "line 3: cuDNN version incompatibility"*"found runtime version (9, 1, 0)"* ]]
    [[ $output == *$'\n  effect   fatal: '*$'\n  means    At its first use of cuDNN'* ]]
    [[ $output == *"(9.10.2)"*"(9.1.0)"*$'\n  next     whichcudnn run -- COMMAND'* ]]
    [[ $output == *$'\n  likely   runtime-too-old: the cuDNN that a host got is older'*$'\n  or       '* ]]
    [[ $output == *$'\n  more     whichcudnn explain runtime-too-old\n'* ]]
    [[ ${lines[-1]} == "  others   1 more message that is known; --json has it" && $output != *"Unable to register"* ]]
    is "$(text log.txt --json | jq -c '.messages[1] | [.line, .times, .effect]')" '[5,2,"noise"]'
    is "$(awk 'length($0) > 100 && !/^line/' <<<"$output")" ""
    is "$(text - < log.txt)" "$output"
    is "$(text log.txt --color=always | sed 's/\x1b\[[0-9;]*m//g')" "$output"
    [[ $(text log.txt --color=always) == *$'\e[1;31mfatal\e[0m'* ]]
}

@test "the likeliest finding is that of what ends the program and names most, whatever stands before it" {
    printf '%s\n' "Segmentation fault (core dumped)" "Failed to create CUDAExecutionProvider" \
        "CUDNN_STATUS_NOT_INITIALIZED" "Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0" \
        "TF-TRT Warning: Could not find TensorRT" >printed
    is "$(text printed --json | jq -r '.findings[0]')" runtime-too-old
    sed -i 4d printed # its twin: without the two versions it is the status
    is "$(text printed --json | jq -r '.findings[0]')" init-failed
}

@test "a text of another system is called that, and gets no advice for Linux" {
    run -0 text - <<<"Could not locate cudnn_ops64_9.dll. Error: CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED"
    [[ $output == *"effect   elsewhere"*"Windows"* && $output != *likely* && $output != *"whichcudnn run"* ]]
    # Its twin names a library of Linux: .NET prints the name that it was asked for, then the loader's words.
    run -0 text - <<<"Unable to load 'onnxruntime.dll': libcudnn.so.9: cannot open shared object file"
    [[ $output == *"likely   library-not-found: "* && $output != *Windows* ]]
}

@test "noise alone has no finding" {
    run -0 text - <<<"TF-TRT Warning: Could not find TensorRT"
    [[ $output == *$'\n  likely   none: not a matter'* && $output == *$'\n  effect   noise: '* ]]
    is "$(text - --json <<<"TF-TRT Warning: Could not find TensorRT" | jq -c .findings)" "[]"
}

@test "json: the messages and the findings that fit, the likeliest first" {
    printf 'a\nLoaded runtime CuDNN library: 5005 but source was compiled with 5103\n' > log.txt
    run -0 --separate-stderr text log.txt --json
    is "$(jq -c keys_unsorted <<<"$output")" '["messages","findings"]'
    is "$(jq -c '.messages[0] | [.id, .line, .times, .effect, .wanted, .found, .library]' <<<"$output")" \
        '["xla-versions",2,1,"fatal","5.1.3","5.0.5",null]'
    is "$(jq -r '.findings[0]' <<<"$output")" runtime-too-old
    is "$(jq -r '.messages[0].next[0]' <<<"$output")" "whichcudnn run -- COMMAND"
}

@test "two versions: judged by the rule of who prints them" {
    run -0 text - <<<"cuDNN version incompatibility: PyTorch was compiled against (9,1,0) but found runtime version (8,9,7)."
    [[ $output == *$'\n  judged   (8,9,7) is another major version for (9,1,0). PyTorch requires'* || \
        $output == *$'\n  judged   8,9,7 is another major version for 9,1,0. PyTorch requires'* ]]
    json=$(text - --json <<<"Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0")
    is "$(jq -r '.messages[0] | "\(.rule) \(.fit)"' <<<"$json")" "xla too-old"
    # The same two numbers, of one that does not compare.
    json=$(text - --json <<<"TensorRT was linked against cuDNN 9.1.0 but loaded cuDNN 9.3.0")
    is "$(jq -r '.messages[0] | "\(.rule) \(.fit)"' <<<"$json")" "nvidia fits"
    json=$(text - --json <<<"TF-TRT Warning: Could not find TensorRT")
    is "$(jq -c '.messages[0] | [.rule, .fit]' <<<"$json")" '[null,null]'
}

# A program that got 9.1.0 and said so, or did not.
make_run() {
    make_standin "${WITH_GPU[@]}" 9.1.0 cudnn
    build_host lazy "$PWD/cudnn" host
    WHICHCUDNN_STDERR=off WHICHCUDNN_LOG=$PWD/run.jsonl LD_PRELOAD=$SHIM ./host >/dev/null
}
WITH_GPU=(--create-status 0)

@test "text and log together: what the text says was wanted is a demand of the log's host" {
    make_run
    run -0 "$CMD" report --json run.jsonl
    is "$(jq -r '.verdict' <<<"$output")" ok
    echo "Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0" >printed
    run -1 --separate-stderr text printed run.jsonl
    is "$stderr" ""
    [[ $output == *$'\ntext and log say: runtime-too-old\n'* ]]
    [[ $output == *"error[runtime-too-old]: host got cuDNN 9.1.0"*"what it printed, line 1 of printed"* ]]
    json=$(text - run.jsonl --json <printed) || true
    is "$(jq -r '.report.findings[0].id' <<<"$json")" runtime-too-old
    # Of two hosts it is the one that asked for the version.
    jq -c 'if .kind == "object" and .is_host then ., (.object = 77 | .path = "/opt/other/libother.so")
        else . end' run.jsonl | awk '/"object":77,/ { sub(/"seq":[0-9]+/, "\"seq\":9977") } 1' >two.jsonl
    run -1 text printed two.jsonl
    [[ $output == *"error[runtime-too-old]: host got cuDNN 9.1.0"*"what it printed, line 1 of printed"* ]]
    # Its twin: what was wanted is what it got.
    echo "TensorRT was linked against cuDNN 9.1.0 but loaded cuDNN 9.1.0" >printed
    run -0 --separate-stderr text printed run.jsonl
    [[ $output == *"The log has none of the findings"*"cuDNN 9.1.0 from "* ]]
}

@test "what a log alone does not explain is explained with what the program printed" {
    make_standin "${WITH_GPU[@]}" 9.1.0 cudnn
    cat >opens.py <<END
import ctypes, sys
ctypes.CDLL("$PWD/cudnn/libcudnn.so.9")
print("Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.3.0")
sys.exit(1)
END
    "$CMD" run --quiet --log "$PWD/logs/" -- "$PY" opens.py | cat >printed || true
    run -4 "$CMD" report --json logs
    is "$(jq -r '.verdict' <<<"$output")" unexplained
    run -1 text printed logs
    [[ $output == *"text and log say: runtime-too-old"*"got cuDNN 9.1.0, it was built with"* ]]
    # It ended for a version that its rule takes: another rule refused it.
    sed 's/9\.3\.0/9.0.0/' printed >newer
    run -1 text newer logs
    [[ $output == *"too new for 9.0.0. Only the version it was built with"*"text and log say: runtime-too-new"* ]]
    # Its twin: the same failure with one version explains nothing.
    sed -i 's/9\.3\.0/9.1.0/' printed
    run -4 text printed logs
    [[ $output == *"The log has none of the findings"*"unexplained: "*$'\n  next     whichcudnn report -v LOG\n'* ]]
    [[ $output != *"explain --text"* ]]
}

@test "a check in the words of its author: both versions, and the repair that the log plays" {
    make_standin "${WITH_GPU[@]}" --layout pip --distribution nvidia-cudnn-cu12 --build 70 9.1.0 \
        venv/lib/python3.11/site-packages
    printf 'home = /usr/bin\n' >venv/pyvenv.cfg
    build_host lazy "$PWD/venv/lib/python3.11/site-packages/nvidia/cudnn/lib" \
        venv/lib/python3.11/site-packages/host
    WHICHCUDNN_STDERR=off WHICHCUDNN_LOG=$PWD/run.jsonl LD_PRELOAD=$SHIM \
        venv/lib/python3.11/site-packages/host >/dev/null
    for words in "cuDNN grouped_mm_bf16 requires backend version >= 92100, found 90100" \
        "cuDNN >= 9.21.0 (92100) needed" "cudnn_batch_prefill requires backend version >= 92100 (9.21.0), found 90100." \
        "cuDNN runtime >= 9.21.0, found version 9.1.0"; do
        echo "RuntimeError: $words" >printed
        run text printed run.jsonl
        if [[ $words != *found* ]]; then # it does not say what it found: nothing is judged
            is "$status" 0
            continue
        fi
        is "$status" 1
        [[ $output == *"text and log say: runtime-too-old"* ]]
        [[ $output == *"error[runtime-too-old]: host got cuDNN 9.1.0"*"9.21"* ]]
        [[ $output == *"  fix  "*"pip install 'nvidia-cudnn-cu12"*"replayed: gives 9.2"* ]]
    done
    # The release that is printed is no longer refused.
    rm -r venv/lib/python3.11/site-packages/nvidia*
    make_standin "${WITH_GPU[@]}" --layout pip --distribution nvidia-cudnn-cu12 --build 1 9.21.0 \
        venv/lib/python3.11/site-packages
    WHICHCUDNN_STDERR=off WHICHCUDNN_LOG=$PWD/repaired.jsonl LD_PRELOAD=$SHIM \
        venv/lib/python3.11/site-packages/host >/dev/null
    run -0 text printed repaired.jsonl
    [[ $output == *"line 1 of printed, is not of repaired.jsonl: "* ]]
    [[ $output == *"cuDNN 9.21.0 from "* ]]
}

@test "a text of another run than the log: said, and its numbers do not count" {
    make_run
    echo "Loaded runtime CuDNN library: 8.1.0 but source was compiled with: 8.3.0" >printed
    run -0 --separate-stderr text printed run.jsonl
    [[ $stderr == *"what it printed, line 1 of printed, is not of run.jsonl: no cuDNN there can be 8.1.0"* ]]
    [[ $output == *"The log has none of the findings"* ]]
    # Nothing is known of the text: the log speaks for itself.
    echo hello >printed
    run -0 --separate-stderr text printed run.jsonl
    [[ $stderr == *"which proves nothing"* && $output == *"cuDNN 9.1.0 from "* ]]
    run -2 text printed nowhere.jsonl
    [[ $output == *"nowhere.jsonl: No such file or directory"* ]]
}

@test "what no row knows is never called no matter of cuDNN" {
    run -0 text - <<<"ImportError: libextension.so.3: cannot open shared object file: No such file or directory"
    [[ $output == *"likely   unknown library"*"next     whichcudnn run -- COMMAND"* ]]
    [[ $output != *"not a matter"* ]]
    run -3 --separate-stderr text - <<<"RuntimeError: something about cuDNN that nobody has seen"
    [[ $stderr == *"whichcudnn run -- COMMAND"* && $stderr != *"not a matter"* ]]
    run -0 text - <<<"undefined symbol: iJIT_NotifyEvent"
    [[ $output == *"none: not a matter of which cuDNN"* ]]
}

@test "nothing known: status 3; what cannot be read: status 2" {
    run -3 --separate-stderr text - <<<"all is well"
    is "$output" ""
    [[ $stderr == *"no message that is known here"* ]]
    run -3 --separate-stderr text /dev/null
    run -2 text missing.txt
    is "$output" "whichcudnn: missing.txt: No such file or directory"
    run -2 text .
    [[ $output == *"Is a directory"* ]]
    head -c 5000000 /dev/zero > large
    run -2 text large
    [[ $output == *"more than 4 MiB"* ]]
    run -2 text large part-missing
    [[ $output == *"either an id or --text"* ]]
    run -2 "$CMD" explain --text
    [[ $output == *"requires an argument"* ]]
}

@test "what a text contains cannot order the terminal" {
    printf '\e]0;t\a \e[2JCould not load library libcudnn_\xe2\x80\xae\x9b<\x07x.so.8. Error: \x9bh\n' > log.txt
    run -3 text log.txt
    printf 'Could not load library libcudnn_\xe2\x80\xae\x9b<x.so.8. Error: \x9bh\n' > log.txt
    run -0 text log.txt
    [[ $output == *'libcudnn_\u202e\x9b<x.so.8'* ]]
}
