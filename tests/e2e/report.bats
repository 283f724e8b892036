#!/usr/bin/env bats
# whichcudnn report: a log in, verdict, tree, findings and fixes out.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

process='{"kind":"process","node":"node7","arguments":["python","train.py"],"start_ticks":88}'
machine='{"kind":"machine","kernel":"6.1.0","architecture":"x86_64","driver":"580.65","gpu_devices":1}'
host='{"kind":"object","object":1,"role":"host","mapped":true,"path":"/v/plugin/_versions.so"}'

facade() { # VERSION
    printf '{"kind":"object","object":2,"role":"facade","mapped":true,"soname":"libcudnn.so.9",'
    printf '"path":"/v/nvidia/cudnn/lib/libcudnn.so.9","version":"%s","version_source":' "$1"
    printf '"package metadata","installation_kind":"wheel","installation":"nvidia-cudnn-cu12",'
    printf '"installation_version":"%s.70","installation_path":"/v/nvidia/cudnn",' "$1"
    printf '"asked_by":"/v/plugin/_versions.so","asked_by_object":1,"asked_name":"libcudnn.so.9",'
    printf '"asked_how":"dlopen"}\n'
}

graph() { # VERSION
    printf '{"kind":"object","object":3,"role":"part","part":"graph","mapped":true,'
    printf '"path":"/v/nvidia/cudnn/lib/libcudnn_graph.so.9","version":"%s",' "$1"
    printf '"version_source":"data symbol","installation_path":"/v/nvidia/cudnn",'
    printf '"asked_by_object":2}\n'
}

demand='{"kind":"demand","host":1,"host_path":"/v/plugin/_versions.so","demand_kind":"required",
"spec":"<10.0,>=9.8","rule":"nvidia","source":"METADATA of jax-cuda12-plugin 0.10.2"}'
demand=${demand//$'\n'/}
binding='{"kind":"binding","host":1,"host_path":"/v/plugin/_versions.so","target":2,"how":"dlsym",
"target_path":"/v/nvidia/cudnn/lib/libcudnn.so.9","functions":["cudnnGetVersion"]}'
binding=${binding//$'\n'/}

stack_with() { # VERSION [LINE...]: a plugin that requires 9.8 and got VERSION
    printf '%s\n' "$process" "$machine" "$host" "$(facade "$1")" "$(graph "$1")" "$demand" \
        "$binding" "${@:2}"
}

report() { "$CMD" report "$@"; }

@test "a cuDNN too old: the verdict first, then path, version, source, installation, fix" {
    stack_with 9.1.0 | make_log log.jsonl
    run -1 --separate-stderr report log.jsonl
    is "$stderr" ""
    [[ ${lines[0]} =~ ^"error: _versions.so got cuDNN 9.1.0".*"9.8" ]]
    [[ $output == *"process  4711 on node7: python train.py"* ]]
    [[ $output == *"    facade /v/nvidia/cudnn/lib/libcudnn.so.9 9.1.0"$'\n'"      wheel nvidia-cudnn-cu12 9.1.0.70"$'\n'* ]]
    [[ $output == *"      graph /v/nvidia/cudnn/lib/libcudnn_graph.so.9 9.1.0"* ]]
    [[ $output == *"wants <10.0,>=9.8 (METADATA of jax-cuda12-plugin 0.10.2)"* ]]
    [[ $output == *"1. error runtime-too-old:"* ]]
    [[ $output == *"pip install 'nvidia-cudnn-cu12"*"9.8"* ]]
}

@test "the healthy twin: ok, and nothing of findings" {
    stack_with 9.8.0 | make_log log.jsonl
    run -0 --separate-stderr report log.jsonl
    is "${lines[0]}" "ok: everything seen fits together"
    [[ $output != *finding* && $output != *fix* ]]
}

@test "json has the shape of its schema and says the same" {
    stack_with 9.1.0 | make_log log.jsonl
    run -1 --separate-stderr report --json log.jsonl
    echo "$output" >report.json
    validate_report report.json
    is "$(jq -c keys_unsorted report.json)" '["verdict","findings","stack","node","sources"]'
    is "$(jq -r '.verdict, .findings[0].id, .node' report.json | xargs)" "errors runtime-too-old node7"
    is "$(jq -r '.stack.objects[] | select(.role == "facade") | .version' report.json)" 9.1.0
    is "$(jq -c '.sources[0] | [.path, .records, .damaged_lines]' report.json)" '["log.jsonl",7,0]'

    stack_with 9.8.0 | make_log healthy.jsonl
    run -0 --separate-stderr report --json healthy.jsonl
    is "$(jq -c '[.verdict, .findings]' <<<"$output")" '["ok",[]]'
}

@test "what was said live does not count, only the whole log does" {
    stack_with 9.8.0 '{"kind":"finding","id":"runtime-too-old","severity":"error","title":"early"}' \
        '{"kind":"summary","verdict":"errors","first_finding":"runtime-too-old"}' | make_log log.jsonl
    run -0 report log.jsonl
    is "${lines[0]}" "ok: everything seen fits together"
}

@test "nothing observed: its own status, and the reason if it is known" {
    printf '%s\n' "$process" "$machine" | make_log empty.jsonl
    run -3 report empty.jsonl
    [[ ${lines[0]} == "nothing observed: "* ]]
    printf '%s\n' '{"kind":"outcome","ending":"exited","status":0,"child":9,"reason":"it is static"}' |
        make_log outcome.jsonl
    run -3 report outcome.jsonl
    is "${lines[0]}" "nothing observed: it is static"
    run -3 report --json outcome.jsonl
    is "$(jq -r '.verdict, .stack.outcome.reason' <<<"$output" | xargs)" "nothing-observed it is static"
}

@test "damaged lines are told by number, and the rest counts" {
    stack_with 9.1.0 | make_log whole.jsonl
    { head -n 2 whole.jsonl; echo '{"v":1,"kind":"obj'; tail -n +3 whole.jsonl | head -c -40; } >log.jsonl
    run -1 report log.jsonl
    [[ ${lines[0]} == "error: _versions.so got cuDNN 9.1.0"* ]]
    [[ $output == *"line 3 could not be read: "* ]]
    [[ $output == *"line 8 could not be read: cut off"* ]]
    run -1 --separate-stderr report --json log.jsonl
    is "$(jq -c '.sources[0] | [.damaged_lines, .damaged[0].line]' <<<"$output")" '[2,3]'
    echo "$output" >report.json
    validate_report report.json
}

@test "how it ended: killed in a call, by run's word or by the log's last line" {
    local create='{"kind":"call","function":"cudnnCreate","phase":"before","host":1,"target":2}'
    stack_with 9.8.0 "$create" | make_log cut.jsonl
    run report cut.jsonl
    [[ $output == *"ended    not in the log: "*", during cudnnCreate"* ]]
    run report --json cut.jsonl
    is "$(jq -r '.sources[0].in_flight' <<<"$output")" cudnnCreate

    stack_with 9.8.0 "$create" '{"kind":"outcome","ending":"signaled","signal":11,
        "signal_name":"SIGSEGV","during":"cudnnCreate","observed":true}' | tr -d '\n' |
        sed 's/}{/}\n{/g' | make_log killed.jsonl
    run report killed.jsonl
    [[ $output == *"ended    killed by SIGSEGV, during cudnnCreate"* ]]
}

@test "names of a part that were tried before the right one are not told as failures" {
    failed() { # NAME CALLER
        printf '{"kind":"failure","operation":"dlopen","name":"%s","caller":"%s"}\n' "$@"
    }
    facade=/v/nvidia/cudnn/lib/libcudnn.so.9
    stack_with 9.8.0 "$(failed libcudnn_graph.so.9.8.0 $facade)" "$(failed libcudnn_ops.so.9 $facade)" |
        sed 's|"asked_by_object":2|&,"asked_by":"/v/nvidia/cudnn/lib/libcudnn.so.9"|' | make_log log.jsonl
    run report log.jsonl
    [[ $output == *"asked for in vain"*"libcudnn_ops.so.9 by $facade"* ]]
    [[ $output != *libcudnn_graph.so.9.8.0* ]]
}

@test "several logs: one report each, the worst status, a list in json" {
    stack_with 9.8.0 | make_log whichcudnn-a-1-1.jsonl
    stack_with 9.1.0 | make_log whichcudnn-b-2-2.jsonl
    printf '%s\n' "$process" | make_log whichcudnn-c-3-3.jsonl
    run -1 report whichcudnn-a-1-1.jsonl whichcudnn-b-2-2.jsonl
    is "$(grep -c -e '^ok:' -e '^error:' <<<"$output")" 2
    run -0 report whichcudnn-a-1-1.jsonl whichcudnn-c-3-3.jsonl
    run -1 report --json .
    echo "$output" >reports.json
    validate_report reports.json
    is "$(jq -c 'map(.verdict)' reports.json)" '["ok","errors","nothing-observed"]'
}

@test "processes that share a file get a report each" {
    { stack_with 9.8.0; stack_with 9.1.0; } >both
    make_log one.jsonl < <(head -n 7 both)
    make_log two.jsonl < <(tail -n 7 both)
    cat one.jsonl two.jsonl >shared.jsonl
    run -1 report --json shared.jsonl
    is "$(jq -c 'map(.verdict)' <<<"$output")" '["ok","errors"]'
}

@test "what is no log, newer, or not there: a clear word, status 2, and the others still reported" {
    stack_with 9.8.0 | make_log good.jsonl
    sed 's/^{"v":1/{"v":2/' good.jsonl >newer.jsonl
    run -2 --separate-stderr report newer.jsonl
    is "$stderr" "whichcudnn: newer.jsonl: written by a newer whichcudnn (this one reads format 1)"
    is "$output" ""
    run -2 --separate-stderr report /etc/passwd good.jsonl missing.jsonl
    [[ $stderr == *"/etc/passwd: not a log of whichcudnn (line 1:"* ]]
    [[ $stderr == *"missing.jsonl: No such file or directory"* ]]
    [[ $output == "ok: "* ]]
    mkdir none
    run -2 --separate-stderr report none
    [[ $stderr == *"no logs in this directory"* ]]
}

@test "a log cannot give orders to the terminal" {
    stack_with 9.8.0 "$(printf '{"kind":"blind","what":"a\\u001b[31mred\\u0007","why":"%s"}' \
        'c1 \u009b bidi \u202e separator \u2028 del \u007f accent é')" | make_log log.jsonl
    run report log.jsonl
    [[ $output == *'a\x1b[31mred\x07: c1 \u009b bidi \u202e separator \u2028 del \x7f accent é'* ]]
    run -1 grep -P '\x1b|\x07|\xc2\x9b|\xe2\x80\xae' <<<"$output"
    cp log.jsonl $'evil\e[2J.jsonl'
    run report $'evil\e[2J.jsonl'
    [[ $output == *'evil\x1b[2J.jsonl'* ]]
    run --separate-stderr report $'no\e[2J'
    [[ $stderr == *'no\x1b[2J: No such file'* ]]
}

@test "a path that is no UTF-8 does not break json" {
    stack_with 9.8.0 | make_log log.jsonl
    cp log.jsonl $'\xff.jsonl'
    run -0 --separate-stderr report --json $'\xff.jsonl'
    is "$(jq -r '.sources[0].path' <<<"$output")" $'\xef\xbf\xbd.jsonl'
}

@test "colour only where wanted" {
    stack_with 9.1.0 | make_log log.jsonl
    report log.jsonl >plain || true
    run -1 grep -q $'\e' plain
    report --color=always log.jsonl >coloured || true
    grep -q $'^\e\\[1;31merror\e\\[0m: ' coloured
    is "$(sed 's/\x1b\[[0-9;]*m//g' coloured)" "$(cat plain)"
    # script gives it a terminal.
    is "$(script -qec "$CMD report log.jsonl" /dev/null | grep -c $'\e\\[1;31m')" 3
    is "$(NO_COLOR=1 script -qec "$CMD report log.jsonl" /dev/null | grep -c $'\e')" 0
    run -2 report --color=perhaps log.jsonl
}

@test "usage: help on stdout, mistakes on stderr with status 2" {
    run -0 --separate-stderr "$CMD" --help
    [[ $output == *"  run "*"  report "* && -z $stderr ]]
    run -0 --separate-stderr "$CMD" report --help
    [[ $output == "Usage: whichcudnn report"* && -z $stderr ]]
    run -0 "$CMD" --version
    [[ $output =~ ^"whichcudnn "[0-9]+\.[0-9]+ ]]
    local mistake
    for mistake in "" "nonsense" "report --no-such" "--no-such" "report --json --markdown ."; do
        # shellcheck disable=SC2086 # words, or none
        run -2 --separate-stderr "$CMD" $mistake
        [[ -z $output && -n $stderr ]]
    done
}

@test "what cannot be printed is not success" {
    stack_with 9.8.0 | make_log log.jsonl
    # shellcheck disable=SC2016 # for that shell
    run -2 sh -c '"$CMD" report log.jsonl >/dev/full'
    [[ $output == *"could not be written"* ]]
}

@test "a log that is no regular file is refused, and nobody waits for it" {
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    run timeout 10 "$CMD" report "$BATS_TEST_TMPDIR/fifo"
    [ "$status" -eq 2 ]
    [[ $output == *"not a regular file"* ]]
}
