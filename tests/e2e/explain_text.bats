#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn explain --text: what programs printed. (The table's rows: tests/unit/test_messages.c.)

bats_require_minimum_version 1.5.0
load helpers

text() { "$CMD" explain --text "$@"; }

setup() { cd "$BATS_TEST_TMPDIR"; }

@test "each text from the field: the rows that know it, and the finding by which its case is judged" {
    run -0 "$PY" "$WC_ROOT/tests/messages/check.py" "$CMD"
    [[ ${lines[-1]} =~ ^([0-9]+)" sources, "([0-9]+)" judged" ]]
    (( BASH_REMATCH[1] >= 100 && BASH_REMATCH[2] >= 80 ))
}

@test "a traceback from a file: each message with line, effect, meaning, versions, what to run; the causes at the end" {
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
    [[ $output == *$'\n  effect   fatal: '*$'\n  means    PyTorch compares'* ]]
    [[ $output == *"(9.10.2)"*"(9.1.0)"*$'\n  next     whichcudnn run -- COMMAND'* ]]
    [[ $output == *$'\nline 5 (2 times): Unable'*$'\n  effect   noise: '* ]]
    [[ $output == *"causes first"*$'\n  runtime-too-old: '* ]]
    is "$(awk 'length($0) > 100 && !/^line|^  [a-z-]+:|causes first/' <<<"$output")" ""
    is "$(text - < log.txt)" "$output"
    is "$(text log.txt --color=always | sed 's/\x1b\[[0-9;]*m//g')" "$output"
    [[ $(text log.txt --color=always) == *$'\e[1;31mfatal\e[0m'*$'\e[1;32mnoise\e[0m'* ]]
}

@test "noise alone has no finding" {
    run -0 text - <<<"TF-TRT Warning: Could not find TensorRT"
    [[ $output == *"findings none"* && $output != *"causes first"* ]]
    is "$(text - --json <<<"TF-TRT Warning: Could not find TensorRT" | jq -c .findings)" "[]"
}

@test "json: the messages and the findings that fit, causes first" {
    printf 'a\nLoaded runtime CuDNN library: 5005 but source was compiled with 5103\n' > log.txt
    run -0 --separate-stderr text log.txt --json
    is "$(jq -c keys_unsorted <<<"$output")" '["messages","findings"]'
    is "$(jq -c '.messages[0] | [.id, .line, .times, .effect, .wanted, .found, .library]' <<<"$output")" \
        '["xla-versions",2,1,"fatal","5.1.3","5.0.5",null]'
    is "$(jq -r '.findings[0]' <<<"$output")" runtime-too-old
    is "$(jq -r '.messages[0].next[0]' <<<"$output")" "whichcudnn run -- COMMAND"
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
