#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn diff: two processes beside each other, cause first.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# diff is a program, too.
differ() { "$CMD" diff "$@"; }

@test "the cause first: the variable, the rule, then versions; both sides of each" {
    stack | make_log a.jsonl
    stack 9.1.0 LD_LIBRARY_PATH /old | make_log b.jsonl
    run -1 --separate-stderr differ a.jsonl b.jsonl
    is "$stderr" ""
    is "${lines[0]}" "differs: LD_LIBRARY_PATH: /old, not empty (and 6 more)"
    is "$(awk 'length($0) > 100' <<<"$output")" ""
    [[ $output == *"  A      ok: cuDNN 9.8.0 from /v/cudnn (nvidia-cudnn-cu12) for jax-cuda12-plugin 0.10.2"$'\n'"         log a.jsonl"$'\n'"         process 4711 on node7 (python train.py)"* ]]
    [[ $output == *"  B      error: jax-cuda12-plugin 0.10.2 got cuDNN 9.1.0, requires >=9.8"* ]]
    is "$(grep '^[a-z]' <<<"$output" | tail -n +2)" \
        $'environment\npackages\nhow libraries were found, and their packages\nlibraries'
    [[ $output == *"  rule of libcudnn.so.9"$'\n'"    A      DT_RUNPATH: \$ORIGIN"$'\n'"    B      LD_LIBRARY_PATH: /old"* ]]
    [[ $output == *"  version of libcudnn.so.9"$'\n'"    A      9.8.0"$'\n'"    B      9.1.0"* ]]
    run -1 grep -c $'\e' <<<"$output"
}

@test "json says the same; the other way round the sides change" {
    stack | make_log a.jsonl
    stack 9.1.0 LD_LIBRARY_PATH /old | make_log b.jsonl
    run -1 --separate-stderr differ --json a.jsonl b.jsonl
    is "$(jq -c '[.same, keys_unsorted]' <<<"$output")" '[false,["same","a","b","differences"]]'
    is "$(jq -c '.a' <<<"$output")" \
        '{"type":"log","path":"a.jsonl","pid":4711,"node":"node7","verdict":"ok","first_finding":null,"fix":[]}'
    is "$(jq -r '.b | .verdict, .first_finding' <<<"$output" | xargs)" "errors runtime-too-old"
    is "$(jq -c '.differences[] | [.kind, .what, .attribute, .a, .b]' <<<"$output")" \
        '["environment","LD_LIBRARY_PATH",null,"","/old"]
["package","nvidia-cudnn-cu12","version","9.8.0.70","9.1.0.70"]
["found","libcudnn.so.9","rule","DT_RUNPATH: $ORIGIN","LD_LIBRARY_PATH: /old"]
["found","libcudnn.so.9","installation","wheel nvidia-cudnn-cu12 9.8.0.70","wheel nvidia-cudnn-cu12 9.1.0.70"]
["found","libcudnn_graph.so.9","installation","wheel nvidia-cudnn-cu12 9.8.0.70","wheel nvidia-cudnn-cu12 9.1.0.70"]
["library","libcudnn.so.9","version","9.8.0","9.1.0"]
["library","libcudnn_graph.so.9","version","9.8.0","9.1.0"]'
    jq -c '[.differences[] | [.what, .b, .a]]' <<<"$output" >forth
    run -1 differ --json b.jsonl a.jsonl
    is "$(jq -c '[.differences[] | [.what, .a, .b]]' <<<"$output")" "$(<forth)"
}

@test "the same: paths, ranks, the preloaded library, order and numbers are no difference" {
    stack | make_log a.jsonl
    stack | sed 's/RANK=3/RANK=4/; s|/v/|/w/|g; s|:/opt/libwhichcudnn.so"|"|; s/"shim_path":[^,}]*/"cut":0/' |
        sed '4{h;d}; 6{p;x}' | sed 's/"object":3/"object":7/; s/"pid":4711/"pid":9/' | make_log b.jsonl
    run -0 differ a.jsonl b.jsonl
    is "${lines[0]}" "same: nothing differs of what both know"
    run -0 differ --json a.jsonl b.jsonl
    is "$(jq -c '[.same, .differences]' <<<"$output")" '[true,[]]'
}

@test "two copies change places: no difference; one of them changes: that one is told" {
    local other='{"kind":"object","object":9,"role":"facade","mapped":true,"soname":"libcudnn.so.9","path":"/x/libcudnn.so.9","version":"9.3.0"}'
    { stack; echo "$other"; } | make_log a.jsonl
    stack | sed "3a $other" | make_log b.jsonl
    run -0 differ a.jsonl b.jsonl
    stack | sed "3a ${other/9.3.0/9.4.0}" | make_log b.jsonl
    run -1 differ --json a.jsonl b.jsonl
    is "$(jq -c '[.differences[] | [.what, .a, .b]]' <<<"$output")" '[["libcudnn.so.9","9.3.0","9.4.0"]]'
}

@test "driver and GPUs, calls, what was asked for in vain, who is bound to what" {
    local call='{"kind":"call","function":"cudnnCreate","phase":"after","status":0,"status_name":"CUDNN_STATUS_SUCCESS"}'
    { stack; echo "$call"; } | make_log a.jsonl
    { stack | sed 's/570.86.15/535.1/; s|"target":2,"target_path":"/v/cudnn/libcudnn.so.9"|"target":3,"target_path":"/v/cudnn/libcudnn_graph.so.9"|'
        echo "${call/0,\"status_name\":\"CUDNN_STATUS_SUCCESS\"/1001,\"status_name\":\"CUDNN_STATUS_NOT_INITIALIZED\"}"
        echo '{"kind":"failure","operation":"dlopen","name":"libcudnn_adv.so.9","text":"no"}'; } | make_log b.jsonl
    run -1 differ --json a.jsonl b.jsonl
    is "$(jq -r '.differences[] | "\(.kind): \(.what): \(.a) \(.b)"' <<<"$output")" \
        'binding: what _versions.so is bound to: libcudnn.so.9 libcudnn_graph.so.9
driver: driver: 570.86.15 535.1
failure: libcudnn_adv.so.9: null not found
call: cudnnCreate: CUDNN_STATUS_SUCCESS CUDNN_STATUS_NOT_INITIALIZED'
}

@test "directories: one process, A:PID, and a clear error if there are several" {
    mkdir one two
    stack | make_log a.jsonl
    cp a.jsonl one/whichcudnn-n-1-1.jsonl
    cp a.jsonl two/whichcudnn-n-1-1.jsonl
    sed 's/"pid":4711/"pid":4712/; s/9\.8\.0/9.9.0/g' a.jsonl >two/whichcudnn-n-2-1.jsonl
    run -0 differ one a.jsonl
    run -2 --separate-stderr differ a.jsonl two
    is "$output" ""
    is "$stderr" "whichcudnn: two: 2 processes (4711, 4712) where one is expected; name it, as in two:4711"
    run -0 differ two:4711 a.jsonl
    run -1 differ two:4712 one/whichcudnn-n-1-1.jsonl
    run -2 --separate-stderr differ two:4713 a.jsonl
    is "$stderr" "whichcudnn: two: no process 4713 in there"
    cp a.jsonl with:4711
    run -0 differ with:4711 a.jsonl
    cp a.jsonl 4711
    run -0 differ ./4711 a.jsonl
}

@test "a running process: its number; beside its log nothing differs" {
    make_standin 9.8.0 lib
    build_host now "$PWD/lib" host
    gcc -shared -fPIC -o hold.so "$WC_ROOT/tests/fixtures/hosts/hold.c"
    mkdir logs
    LD_PRELOAD=$PWD/hold.so:$SHIM WHICHCUDNN_LOG=$PWD/logs WHICHCUDNN_STDERR=off ./host >out 2>&1 3>&- &
    pid=$!
    for _ in {1..200}; do
        [ "$(sed 's/.*) //; s/ .*//' /proc/$pid/stat)" = T ] && break
        sleep 0.05
    done
    run -0 differ "$pid" logs
    sed -i 's/9\.8\.0/9.7.0/g' logs/*
    run -1 --separate-stderr differ "$pid" logs
    [[ ${lines[0]} == "differs: version of libcudnn.so.9: 9.7.0, not 9.8.0"* ]]
    kill -CONT "$pid"
    wait "$pid" || true
    run -2 --separate-stderr differ "$pid" logs
    [[ $stderr == "whichcudnn: $pid: "* ]]
}

@test "not observed: in both it is nothing to compare, in one it is a difference" {
    printf '%s\n' '{"kind":"process"}' '{"kind":"machine"}' | make_log none.jsonl
    stack | make_log a.jsonl
    run -3 --separate-stderr differ none.jsonl none.jsonl
    is "$output$stderr" "whichcudnn: nothing to compare: nothing was observed in either"
    run -1 differ none.jsonl a.jsonl
    [[ $output == *"  A      not observed: "* ]]
}

@test "bad usage and what cannot be read: what is expected, and status 2" {
    stack | make_log a.jsonl
    echo foreign >foreign
    run -2 --separate-stderr differ
    [[ $stderr == *"two logs, locks or processes is expected"* ]]
    run -2 --separate-stderr differ a.jsonl a.jsonl a.jsonl
    [[ $stderr == *"not also a.jsonl"* ]]
    run -2 differ --no a.jsonl a.jsonl
    run -2 differ --color=green a.jsonl a.jsonl
    run -2 --separate-stderr differ a.jsonl foreign
    [[ $stderr == "whichcudnn: foreign: not a log of whichcudnn"* ]]
    run -2 --separate-stderr differ none a.jsonl
    is "$stderr" "whichcudnn: none: No such file or directory"
    run -2 --separate-stderr differ 4194999 a.jsonl
    [[ $stderr == "whichcudnn: 4194999: "* ]]
    run -0 differ --help
    is "$(awk 'length($0) > 100' <<<"$output")$([ "${#lines[@]}" -le 24 ] || echo long)" ""
}

@test "hostile texts stay harmless, and colour comes only where it is wanted" {
    stack | make_log a.jsonl
    stack | sed 's|LD_LIBRARY_PATH=|&/\\u001b[31m\\n<script>\\u202e|; s|/v/cudnn/libcudnn.so.9|/v/\\u001b]0;x\\u0007/libcudnn.so.9|' |
        make_log b.jsonl
    run -1 differ a.jsonl b.jsonl
    [[ $output == *'/\x1b[31m\x0a<script>\u202e'* ]]
    run -1 grep -c $'\e' <<<"$output"
    run -1 differ --color=always a.jsonl b.jsonl
    [[ ${lines[0]} == $'\e[1;31mdiffers\e[0m:'* ]]
    echo "$output" >coloured
    is "$(sed 's/\x1b\[[0-9;]*m//g' coloured | grep -c $'\e')" 0
}

# image PID VERSION SECOND: a log of that process, in which this program began at that second.
image() {
    stack "$2" | jq -c --argjson pid "$1" --argjson time "$3" '. + {pid: $pid, tid: $pid, time: ($time * 1000000)} +
        if .kind == "process" then {start_ticks: (1000 + $pid)} else {} end'
}

@test "each side is a reading of its own: processes of one directory, a copy, images of one process" {
    mkdir d
    image 501 9.8.0 1 | make_log d/whichcudnn-n-501-1.jsonl
    image 502 9.4.0 2 | make_log d/whichcudnn-n-502-1.jsonl
    image 503 9.19.0 3 | make_log d/whichcudnn-n-503-1.jsonl
    local -A version=([501]=9.8.0 [502]=9.4.0 [503]=9.19.0)
    for a in 501 502 503; do
        for b in 501 502 503; do
            run --separate-stderr differ --json d:$a d:$b
            is "$status$stderr" $((a != b))
            is "$(jq -c '[.a.pid, .b.pid]' <<<"$output")" "[$a,$b]"
            is "$(jq -r '.differences[] | select(.what == "libcudnn.so.9" and .attribute == "version") | .a, .b' \
                <<<"$output" | xargs)" "$([ $a = $b ] || echo "${version[$a]} ${version[$b]}")"
        done
    done
    cp d/whichcudnn-n-501-1.jsonl copy.jsonl
    run -0 --separate-stderr differ d:501 copy.jsonl
    is "$stderr" ""
    is "${lines[2]}" "         log d/whichcudnn-n-501-1.jsonl"
    # By exec the process became another program, whose cuDNN is another.
    image 501 9.4.0 4 | make_log after.jsonl
    run -1 --separate-stderr differ copy.jsonl after.jsonl
    is "$stderr" ""
    [[ $output == *"  version of libcudnn.so.9"$'\n'"    A      9.8.0"$'\n'"    B      9.4.0"* ]]
    run -1 differ --redact after.jsonl copy.jsonl
    [[ $output == *"    A      9.4.0"$'\n'"    B      9.8.0"* ]]
}

@test "what is read together is joined, however it is named: twice, as a copy, beside its directory" {
    mkdir d
    image 501 9.8.0 1 | make_log d/whichcudnn-n-501-1.jsonl
    image 501 9.19.0 4 | make_log d/whichcudnn-n-501-2.jsonl
    cp d/whichcudnn-n-501-2.jsonl copy.jsonl
    for logs in d "d d" "d/whichcudnn-n-501-2.jsonl d" "d copy.jsonl" "d/whichcudnn-n-501-1.jsonl copy.jsonl"; do
        # shellcheck disable=SC2086  # several
        run -0 --separate-stderr "$CMD" report --json $logs
        is "$stderr" ""
        is "$(jq -c '[.verdict, .stack.objects[1].version]' <<<"$output")" '["ok","9.19.0"]'
    done
    "$CMD" lock copy.jsonl >as.lock
    run -0 "$CMD" check as.lock d
    run -0 differ as.lock d
}
