#!/usr/bin/env bats
# whichcudnn lock: a stack into a file that git can compare, and back.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

lock() { "$CMD" lock "$@"; }

# Any reader of TOML reads it.
is_toml() { "$PY" -c 'import sys, tomllib; tomllib.load(open(sys.argv[1], "rb"))' "$1"; }

@test "one fact a line: machine, packages, hosts, what they got, what they want" {
    stack | make_log a.jsonl
    run -0 --separate-stderr lock a.jsonl
    is "$stderr" ""
    is "$output" '# Which cuDNN a process got; `whichcudnn check` compares another with it.
whichcudnn-lock = 1
machine.architecture = "x86_64"
machine.glibc = "2.36"
machine.driver = "570.86.15"
package."nvidia-cudnn-cu12".installation_kind = "wheel"
package."nvidia-cudnn-cu12".package_version = "9.8.0.70"
package."nvidia-cudnn-cu12".package_state = "complete"
object."_versions.so".role = "host"
object."_versions.so".build_id = "aa01"
object."_versions.so".installation_kind = "wheel"
object."_versions.so".installation = "jax-cuda12-plugin"
object."_versions.so".installation_version = "0.10.2"
object."libcudnn.so.9".role = "facade"
object."libcudnn.so.9".soname = "libcudnn.so.9"
object."libcudnn.so.9".version = "9.8.0"
object."libcudnn.so.9".version_source = "data symbol"
object."libcudnn.so.9".build_id = "bb02"
object."libcudnn.so.9".installation_kind = "wheel"
object."libcudnn.so.9".installation = "nvidia-cudnn-cu12"
object."libcudnn.so.9".installation_version = "9.8.0.70"
object."libcudnn.so.9".asked_by = "_versions.so"
search."libcudnn.so.9".rule = "DT_RUNPATH"
search."libcudnn.so.9".element = "$ORIGIN"
object."libcudnn_graph.so.9".role = "part"
object."libcudnn_graph.so.9".part = "graph"
object."libcudnn_graph.so.9".soname = "libcudnn_graph.so.9"
object."libcudnn_graph.so.9".version = "9.8.0"
object."libcudnn_graph.so.9".version_source = "data symbol"
object."libcudnn_graph.so.9".installation_kind = "wheel"
object."libcudnn_graph.so.9".installation = "nvidia-cudnn-cu12"
object."libcudnn_graph.so.9".installation_version = "9.8.0.70"
object."libcudnn_graph.so.9".asked_by = "libcudnn.so.9"
demand."_versions.so required".host_path = "_versions.so"
demand."_versions.so required".demand_kind = "required"
demand."_versions.so required".spec = ">=9.8"
demand."_versions.so required".compatibility_rule = "nvidia"
demand."_versions.so required".source = "METADATA of jax-cuda12-plugin 0.10.2"
binding."_versions.so".host_path = "_versions.so"
binding."_versions.so".target_path = "libcudnn.so.9"
end = true'
    echo "$output" >a.lock
    is_toml a.lock
}

@test "the same stack, loaded in another order under other numbers and paths, gives the same lock" {
    local other='{"kind":"object","object":9,"role":"facade","mapped":true,"soname":"libcudnn.so.9","path":"/v/x/libcudnn.so.9","version":"9.3.0"}'
    { stack; echo "$other"; } | make_log a.jsonl
    { head -n 3 <(stack); echo "$other"; stack | sed 1,3d | tac; } |
        sed 's|/v/|/home/me/|g; s/"object":2/"object":22/; s/_object":2/_object":22/; s/"target":2/"target":22/' | make_log b.jsonl
    lock -o a.lock a.jsonl
    lock -o b.lock b.jsonl
    diff a.lock b.lock
    grep -q 'object."libcudnn.so.9 (2)".version = "9.8.0"' a.lock
}

@test "read back it is the same stack: diff, report, lock" {
    stack | make_log a.jsonl
    lock -o a.lock a.jsonl
    run -0 "$CMD" diff a.lock a.jsonl
    run -0 "$CMD" diff a.jsonl a.lock
    is "$(lock a.lock)" "$(<a.lock)"
    run -0 "$CMD" report a.lock
    is "${lines[0]}" "ok: everything seen fits together"
    is "$(awk 'length($0) > 80' <<<"$output")" ""
    "$CMD" report --json a.lock >report.json
    validate_report report.json
    is "$(jq -c '.sources[0] | [.type, .path]' report.json)" '["lock","a.lock"]'
    stack 9.1.0 | make_log b.jsonl
    run -1 lock -o b.lock b.jsonl
    is "$output" "whichcudnn: errors were found in what is kept; the first: _versions.so got cuDNN 9.1.0, its wheel requires >=9.8"
    run -1 "$CMD" report b.lock
    [[ ${lines[0]} == "error: _versions.so got cuDNN 9.1.0"* ]]
    run -1 "$CMD" diff a.lock b.lock
    [[ $output == *"version of libcudnn.so.9"* ]]
}

@test "no path of the computer, unless --paths: then these and the environment" {
    stack 9.8.0 LD_LIBRARY_PATH /old | make_log a.jsonl
    run -0 lock a.jsonl
    [[ $output == *'search."libcudnn.so.9".rule = "LD_LIBRARY_PATH"'* ]]
    run -1 grep -e '"/' -e ' /' <<<"$output"
    run -0 lock --paths a.jsonl
    [[ $output == *'environment."LD_LIBRARY_PATH" = "/old"
environment."LD_PRELOAD" = "/opt/other.so"'* ]]
    [[ $output == *'object."libcudnn.so.9".path = "/v/cudnn/libcudnn.so.9"'* ]]
    [[ $output == *'search."libcudnn.so.9".element = "/old"'* ]]
    [[ $output == *'object."libcudnn.so.9".installation_path = "/v/cudnn"'* ]]
    run -1 grep RANK <<<"$output"
    lock --paths -o a.lock a.jsonl
    is_toml a.lock
    run -0 "$CMD" diff a.lock a.jsonl
    stack 9.8.0 LD_LIBRARY_PATH /new | make_log b.jsonl
    run -1 "$CMD" diff a.lock b.jsonl
    [[ ${lines[0]} == "differs: LD_LIBRARY_PATH: /new, not /old"* ]]
}

@test "requirements for pip: each wheel once, what is not of pip in a comment, nothing that pip could misread" {
    { stack
        echo '{"kind":"object","object":4,"role":"host","path":"/v/t.so","mapped":true,"installation_kind":"bundled","installation":"torch","installation_version":"2.6.0+cu124"}'
        echo '{"kind":"object","object":5,"role":"cuda-dependency","part":"cublas","soname":"libcublas.so.12","mapped":true,"version":"12.4","installation_kind":"debian","installation":"libcublas-12-4","installation_version":"12.4.5.8-1"}'
        printf '%s\n' '{"kind":"object","object":6,"role":"cuda-dependency","part":"cufft","soname":"libcufft\n-r evil","mapped":true,"installation_kind":"wheel","installation":"x\n--index-url=y","installation_version":"1"}'
    } | make_log a.jsonl
    run -0 --separate-stderr lock --requirements a.jsonl
    is "$output" 'jax-cuda12-plugin==0.10.2
nvidia-cudnn-cu12==9.8.0.70
torch==2.6.0+cu124  # from the index that has this build
# not from pip: libcublas.so.12 12.4 (debian libcublas-12-4 12.4.5.8-1)
# not from pip: libcufft\x0a-r evil (wheel x\x0a--index-url=y 1)'
    echo "$output" >requirements.txt
    lock -o a.lock a.jsonl
    is "$(lock --requirements a.lock)" "$(<requirements.txt)"
    run -0 "$PY" - <<'CODE'
from pip._internal.network.session import PipSession
from pip._internal.req.req_file import parse_requirements
print(*(r.requirement for r in parse_requirements("requirements.txt", session=PipSession())))
CODE
    is "$output" "jax-cuda12-plugin==0.10.2 nvidia-cudnn-cu12==9.8.0.70 torch==2.6.0+cu124"
    stack | sed 's/"wheel"/"conda"/' | make_log conda.jsonl
    run -3 lock --requirements -o none conda.jsonl
    is "$output" "whichcudnn: conda.jsonl: nothing in it comes from pip"
    [ ! -e none ]
}

@test "drawn logs: each lock is TOML, reads back as what it was made of, and gives itself again" {
    run -0 "$PY" "$WC_ROOT/tests/schema/draw_logs.py" logs 40
    echo "$output"
    local log options kept=0 status
    for log in logs/*; do
        for options in "" --paths; do
            status=0
            # shellcheck disable=SC2086
            lock $options -o one "$log" 2>/dev/null || status=$?
            [ "$status" -ne 3 ] || continue
            [ "$status" -le 1 ]
            is_toml one
            is "$(LC_ALL=C grep -c '[[:cntrl:]]' one)" 0
            echo "$log $options"
            "$CMD" diff one "$log" >out || { cat out; return 1; }
            # Where all that was seen is no part of a lock, that of the lock is none.
            # shellcheck disable=SC2086
            lock $options -o again one 2>/dev/null || [ $? -eq 1 ] || continue
            cmp one again
            kept=$((kept + 1))
        done
    done
    [ "$kept" -gt 40 ]
}

@test "real processes: the lock of the log is the same as what is there, twice" {
    make_standin 9.8.0 lib
    local mode
    for mode in now lazy dlopen; do
        rm -rf logs && mkdir logs
        build_host "$mode" "$PWD/lib" host
        LD_LIBRARY_PATH=$PWD/lib "$CMD" run --quiet --log logs/ -- ./host >/dev/null || true
        lock -o one logs || [ $? -eq 1 ]
        is_toml one
        run -0 "$CMD" diff one logs
        rm -rf again && mkdir again
        LD_LIBRARY_PATH=$PWD/lib LD_PRELOAD=$SHIM WHICHCUDNN_LOG=$PWD/again WHICHCUDNN_STDERR=off ./host >/dev/null || true
        lock -o two again || [ $? -eq 1 ]
        diff one two
        run -1 grep "$PWD" one
    done
}

@test "what a scan foresees can be kept, too" {
    make_standin 9.8.0 lib
    build_host library-now "$PWD/lib" host
    mkdir -p tree/a tree/b empty
    cp host.so tree/a
    run -0 lock --scan tree -o scanned
    grep -q 'object."libcudnn.so.9".version = "9.8.0"' scanned
    grep -q 'object."host.so".role = "host"' scanned
    run -1 grep "$PWD" scanned
    run -0 "$CMD" report scanned
    cp host.so tree/b
    run -2 lock --scan tree
    [[ $output == "whichcudnn: tree: 2 environments ("*") where one is expected" ]]
    run -2 lock --scan empty
    [[ $output == "whichcudnn: empty: no host in it wants cuDNN" ]]
    run -2 lock --scan nowhere
    run -2 lock --scan tree scanned
    [[ $output == *"--scan and scanned are two stacks"* ]]
}

@test "without an argument: the newest log; in a directory with several A:PID" {
    mkdir logs
    stack | make_log logs/whichcudnn-n-1-1.jsonl
    (cd logs && lock >../one)
    lock -o two logs
    cmp one two
    stack | sed 's/^{/{"pid":2,/' | make_log logs/whichcudnn-n-2-1.jsonl
    run -2 lock logs
    lock -o two logs:2
    cmp one two
}

@test "bad usage, nothing observed, places that cannot be written" {
    stack | make_log a.jsonl
    printf '%s\n' '{"kind":"process"}' '{"kind":"machine"}' | make_log none.jsonl
    run -3 lock -o none.lock none.jsonl
    is "$output" "whichcudnn: none.jsonl: nothing was observed in it"
    [ ! -e none.lock ]
    run -2 lock -o no/where a.jsonl
    is "$output" "whichcudnn: no/where: No such file or directory"
    run -2 --separate-stderr bash -c "'$CMD' lock a.jsonl >/dev/full"
    [[ $stderr == "whichcudnn: "* ]]
    run -2 lock a.jsonl a.jsonl
    run -2 lock --no a.jsonl
    run -2 lock nothing
    run -0 lock --help
    is "$(awk 'length($0) > 80' <<<"$output")$([ "${#lines[@]}" -le 24 ] || echo long)" ""
}

@test "damaged, foreign and newer locks are refused, with the line" {
    stack | make_log a.jsonl
    lock -o good a.jsonl
    refused() { # LINE-OR-EMPTY WHY
        run -2 --separate-stderr "$CMD" check bad a.jsonl
        [ -z "$output" ]
        is "$stderr" "whichcudnn: bad: $1"
    }
    head -n 20 good >bad
    refused "line 20: cut off here: the last line is end = true"
    head -c 400 good >bad
    [ "$(tail -c 1 bad)" != "" ]
    run -2 "$CMD" check bad a.jsonl
    [[ $output == "whichcudnn: bad: line "* ]]
    sed 's/^whichcudnn-lock = 1/whichcudnn-lock = 2/' good >bad
    refused "line 2: a newer format than this whichcudnn reads"
    run -2 "$CMD" report bad
    is "$output" "whichcudnn: bad: line 2: a newer format than this whichcudnn reads"
    echo '{"v":1}' >bad
    refused "not a lock of whichcudnn (line 1: no fact; \`key = value\` is expected, with a value of one line)"
    : >bad
    refused "not a lock of whichcudnn (line 0: whichcudnn-lock is expected)"
    sed '10i <<<<<<< HEAD' good >bad
    refused "line 10: no fact; \`key = value\` is expected, with a value of one line"
    sed '10p' good >bad
    refused "line 11: told a second time"
    sed '9s/"host"/"hosts"/' good >bad
    refused "line 9: not what belongs there"
    sed 's/build_id/built_id/' good >bad
    refused "line 10: a fact of that name is not known"
    { cat good; echo 'machine.kernel = "1"'; } >bad
    refused "line $(($(wc -l <good) + 1)): behind the end"
    run -2 "$CMD" check . a.jsonl
    is "$output" "whichcudnn: .: Is a directory"
    run -2 "$CMD" check nothing a.jsonl
    is "$output" "whichcudnn: nothing: No such file or directory"
}

@test "people may write comments, blank lines and other line ends" {
    stack | make_log a.jsonl
    lock -o good a.jsonl
    { echo '# ours'; echo; sed 's/^\(machine.driver = .*\)/  \1   # since May/; s/$/\r/' good; echo '# end'; } >edited
    run -0 "$CMD" diff edited a.jsonl
    run -0 "$CMD" diff good edited
}

@test "docs/lock.md tells every fact that a lock keeps" {
    local row
    while read -r row; do
        grep -qF "\`$row\`" "$WC_ROOT/docs/lock.md" || { echo "$row is not told"; return 1; }
    done < <(sed -n 's/^LOCKED(\([a-z]*\), \([a-z_]*\))/\1.\2/p' "$WC_ROOT/tools/lock/lock.def" | sed 's/^\(package\|object\|search\|demand\|binding\)\./\1.NAME./')
}
