#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn check: is a process still what a lock says?

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

check() { "$CMD" check "$@"; }

# make_lock: stack.lock, of the stack that a.jsonl is of.
make_lock() {
    stack | make_log a.jsonl
    "$CMD" lock -o stack.lock a.jsonl
}

@test "as locked: one line, status 0" {
    make_lock
    run -0 --separate-stderr check stack.lock a.jsonl
    is "$stderr" ""
    is "$output" 'as locked
  now    ok: cuDNN 9.8.0 from /v/cudnn (nvidia-cudnn-cu12) for jax-cuda12-plugin 0.10.2
         log a.jsonl
         process 4711 on node7 (python train.py)'
    run -0 check --json stack.lock a.jsonl
    is "$(jq -c '[.drifted, .lock, .processes[0].differences, .processes[0].not_loaded, .processes[0].now.verdict]' <<<"$output")" \
        '[false,"stack.lock",[],[],"ok"]'
}

@test "drifted: the cause first, both sides, status 1" {
    make_lock
    stack 9.1.0 LD_LIBRARY_PATH /old | make_log b.jsonl
    run -1 --separate-stderr check stack.lock b.jsonl
    is "$stderr" ""
    is "${lines[0]}" "drifted: version of nvidia-cudnn-cu12: 9.1.0.70, not 9.8.0.70 (and 5 more)"
    is "$(awk 'length($0) > 100' <<<"$output")" ""
    [[ $output == *"  rule of libcudnn.so.9"$'\n'"    lock   DT_RUNPATH: \$ORIGIN"$'\n'"    now    LD_LIBRARY_PATH: /old"* ]]
    run -1 check --json stack.lock b.jsonl
    is "$(jq -c '.processes[0].differences[] | [.kind, .what, .attribute, .a, .b]' <<<"$output" | sed -n '1,2p;5p')" \
        '["package","nvidia-cudnn-cu12","version","9.8.0.70","9.1.0.70"]
["found","libcudnn.so.9","rule","DT_RUNPATH: $ORIGIN","LD_LIBRARY_PATH: /old"]
["library","libcudnn.so.9","version","9.8.0","9.1.0"]'
    run -1 check --color=always stack.lock b.jsonl
    [[ $output == $'\e[1;31mdrifted\e[0m: '* ]]
    run -1 check --color=never stack.lock b.jsonl
    run -1 grep -c $'\e' <<<"$output"
}

@test "each fact that changes is found: build-id, driver, glibc, SONAME, installation, demand, binding" {
    make_lock
    local change
    for change in s/bb02/cc03/ s/570.86.15/535.1/ s/2.36/2.28/ 's/"soname":"libcudnn.so.9"/"soname":"libcudnn.so.8"/' \
        's/"installation":"jax-cuda12-plugin"/"installation":"jax-cuda13-plugin"/' 's/>=9.8"/>=9.7"/' \
        's/"package_state":"complete"/"package_state":"mixed"/' 's/"target":2,"target_path":[^,]*/"target":3,"target_path":"x"/' \
        '/libcudnn_graph/s/"facade"/"part"/; /_versions.so","build/d' 's/DT_RUNPATH/DT_RPATH/'; do
        stack | sed "$change" | make_log b.jsonl
        echo "$change"
        run -1 check stack.lock b.jsonl
        [[ ${lines[0]} == "drifted: "* ]]
    done
}

@test "what the lock does not say is not checked: a line taken out, another kernel" {
    make_lock
    stack | sed 's/bb02/cc03/; s/570.86.15/535.1/; s/6.1.0/5.15/; s/Debian/Alpine/; s/"architecture"/"container":"docker","architecture"/' | make_log b.jsonl
    run -1 check stack.lock b.jsonl
    sed -i '/bb02/d; /driver/d' stack.lock
    run -0 check stack.lock b.jsonl
}

@test "a lock with one version, written by hand: no drift with that version, drift with another" {
    echo '{"whichcudnn-lock": 3, "object": [{"name": "libcudnn.so.9", "version": "9.1.0"}]}' >one.lock
    stack 9.1.0 | make_log a.jsonl
    run -0 check one.lock a.jsonl
    is "${lines[0]}" "as locked"
    stack 9.8.0 | make_log b.jsonl
    run -1 check --json one.lock b.jsonl
    is "$(jq -c '.processes[0].differences[] | [.kind, .what, .attribute, .a, .b]' <<<"$output")" \
        '["library","libcudnn.so.9","version","9.1.0","9.8.0"]'
    grep -v cudnn.so.9 a.jsonl >c.jsonl
    run -1 check one.lock c.jsonl
    is "${lines[0]}" "drifted: libcudnn.so.9: none, not 9.1.0, libcudnn.so.9"
}

@test "whatever is taken out of a lock that does not drift, the rest does not, either" {
    make_lock
    "$CMD" lock --paths -o paths.lock a.jsonl
    "$PY" "$WC_ROOT/tests/schema/part_locks.py" stack.lock parts
    "$PY" "$WC_ROOT/tests/schema/part_locks.py" paths.lock more
    local part count=0
    for part in parts/* more/*; do
        check "$part" a.jsonl >out || { diff paths.lock "$part"; cat out; return 1; }
        count=$((count + 1))
    done
    [ "$count" -gt 80 ]
    # What is left is still checked.
    stack 9.1.0 LD_LIBRARY_PATH /old | make_log b.jsonl
    run -1 check paths.lock b.jsonl
    jq 'del(.machine, .complete)' paths.lock >left.lock
    run -1 check --json left.lock b.jsonl
    is "$(jq '.processes[0].differences | length' <<<"$output")" 7
}

@test "drawn logs: no part of a lock of theirs differs from them" {
    run -0 "$PY" "$WC_ROOT/tests/schema/draw_logs.py" logs 25
    echo "$output"
    local log part options count=0
    for log in logs/*; do
        for options in "" --paths; do
            # shellcheck disable=SC2086
            "$CMD" lock $options -o one "$log" 2>/dev/null || [ $? -eq 1 ] || continue
            rm -rf parts
            "$PY" "$WC_ROOT/tests/schema/part_locks.py" one parts 8
            for part in parts/*; do
                "$CMD" diff "$part" "$log" >out || { cat "$part" out; return 1; }
                count=$((count + 1))
            done
        done
    done
    [ "$count" -gt 100 ]
}

@test "a part that was not asked for is told, one that was refused is drift, another copy is drift" {
    make_lock
    stack | grep -v '"part"' | make_log b.jsonl
    run -0 check stack.lock b.jsonl
    is "${lines[0]}" "as locked"
    [[ $output == *"not loaded this time, so not checked"$'\n'"  libcudnn_graph.so.9" ]]
    run -0 check --json stack.lock b.jsonl
    is "$(jq -c '.processes[0].not_loaded' <<<"$output")" '["libcudnn_graph.so.9"]'
    { stack | grep -v '"part"'
        echo '{"kind":"failure","operation":"dlopen","name":"libcudnn_graph.so.9","text":"no such file"}'; } | make_log b.jsonl
    run -1 check stack.lock b.jsonl
    { stack; echo '{"kind":"object","object":9,"role":"facade","mapped":true,"soname":"libcudnn.so.9","path":"/x/libcudnn.so.9","version":"9.8.0"}'; } | make_log b.jsonl
    run -1 check stack.lock b.jsonl
    [[ ${lines[0]} == "drifted: libcudnn.so.9: 9.8.0, /x/libcudnn.so.9, not none"* ]]
}

@test "several processes: each is checked, those without cuDNN are passed over" {
    make_lock
    mkdir logs
    cp a.jsonl logs/whichcudnn-n-1-1.jsonl
    stack 9.1.0 | sed 's/^{/{"pid":2,/' | make_log logs/whichcudnn-n-2-1.jsonl
    printf '%s\n' '{"kind":"process","pid":3}' '{"kind":"machine","pid":3}' | make_log logs/whichcudnn-n-3-1.jsonl
    run -1 check stack.lock logs
    is "$(grep -c '^as locked' <<<"$output") $(grep -c '^drifted' <<<"$output")" "1 1"
    run -1 check --json stack.lock logs
    is "$(jq -c '[.drifted, (.processes[] | [.now.pid, (.differences | length > 0)])]' <<<"$output")" '[true,[4711,false],[2,true]]'
    run -0 check stack.lock logs:4711
    run -1 check stack.lock logs:2
    run -3 --separate-stderr check stack.lock logs:3
    is "$output" ""
    is "$stderr" "whichcudnn: not observed: no cuDNN was loaded or asked for"
    (cd logs && rm -- *-2-* *-3-* && "$CMD" check ../stack.lock)
}

@test "a command: started as by run, its status where it is not 0, what drifted where it is" {
    make_standin 9.8.0 lib
    build_host now "$PWD/lib" host
    export TMPDIR=$PWD/tmp
    mkdir tmp
    "$CMD" run --quiet --log logs/ -- ./host >/dev/null
    "$CMD" lock -o stack.lock logs || [ $? -eq 1 ]
    run -0 --separate-stderr check stack.lock -- ./host
    is "$output" "version 90800 create 1001"
    [[ $stderr == "as locked"$'\n'* ]]
    run -0 --separate-stderr check --json stack.lock -- ./host
    is "$(sed 1d <<<"$output" | jq -c .drifted)" false
    is "$stderr" ""
    run -0 check stack.lock -- bash -c './host; exit 0'
    run -7 --separate-stderr check stack.lock -- bash -c './host; exit 7'
    rm -r lib
    make_standin 9.7.0 lib
    run -1 --separate-stderr check stack.lock -- ./host
    [[ $stderr == "drifted: version of libcudnn.so.9: 9.7.0, not 9.8.0"* ]]
    run -3 --separate-stderr check stack.lock -- true
    [[ $stderr == "whichcudnn: not observed: "* ]]
    run -127 --separate-stderr check stack.lock -- ./nothing
    [[ $stderr == *"./nothing: No such file or directory"* ]]
    run -143 --separate-stderr check stack.lock -- bash -c 'kill $$'
    is "$(ls tmp)" ""
}

@test "a running process, and a lock against a lock" {
    make_lock
    run -0 check stack.lock stack.lock
    run -3 check stack.lock $$
    run -2 check stack.lock 4194999
}

@test "bad usage: what was wrong, what is expected" {
    make_lock
    run -2 --separate-stderr check
    [[ $stderr == *"a lock and one log or process is expected"* ]]
    run -2 check stack.lock a.jsonl a.jsonl
    run -2 --separate-stderr check stack.lock --
    is "$stderr" "whichcudnn: a command is expected after --"
    run -2 --separate-stderr check -- stack.lock
    [[ $stderr == *"a lock before -- is expected"* ]]
    run -2 check --no stack.lock
    run -2 --separate-stderr check a.jsonl a.jsonl
    is "$stderr" "whichcudnn: a.jsonl: not a lock of whichcudnn"
    run -2 --separate-stderr check stack.lock nothing
    is "$stderr" "whichcudnn: nothing: No such file or directory"
    run -0 check --help
    is "$(awk 'length($0) > 80' <<<"$output")$([ "${#lines[@]}" -le 24 ] || echo long)" ""
}

@test "hostile texts in lock and log stay harmless" {
    stack | sed 's|/v/cudnn/libcudnn.so.9|/v/\\u001b[31m\\n\\u202e|; s|"libcudnn.so.9","path"|"lib\\u001b]0;cudnn.so.9","path"|' | make_log a.jsonl
    "$CMD" lock -o stack.lock a.jsonl
    is "$(LC_ALL=C grep -c '[[:cntrl:]]' stack.lock)" 0
    run -0 check stack.lock a.jsonl
    stack | make_log b.jsonl
    run -1 check stack.lock b.jsonl
    run -1 grep -c $'\e' <<<"$output"
}
