#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn lock: a stack into a file that git can compare, and back.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

lock() { "$CMD" lock "$@"; }

# JSON with sorted keys, as any other program would write it, and as the schema has it.
is_sorted() {
    jq -aS . "$1" | diff - <(sed -E 's/\\u[0-9A-F]{4}/\L&/g' "$1")
    "$PY" "$WC_ROOT/tests/schema/validate.py" lock "$1"
}

@test "one fact a line: machine, packages, hosts, what they got, what they want" {
    stack | make_log a.jsonl
    run -0 --separate-stderr lock a.jsonl
    is "$stderr" ""
    is "$output" '{
  "binding": [
    {
      "host_path": "_versions.so",
      "target_path": "libcudnn.so.9"
    }
  ],
  "complete": {
    "binding": 1,
    "demand": 1,
    "object": 3,
    "package": 1
  },
  "demand": [
    {
      "compatibility_rule": "nvidia",
      "demand_kind": "required",
      "host_path": "_versions.so",
      "source": "METADATA of jax-cuda12-plugin 0.10.2",
      "spec": ">=9.8"
    }
  ],
  "machine": [
    {
      "architecture": "x86_64",
      "driver": "570.86.15",
      "glibc": "2.36"
    }
  ],
  "object": [
    {
      "build_id": "aa01",
      "installation": "jax-cuda12-plugin",
      "installation_kind": "wheel",
      "installation_version": "0.10.2",
      "name": "_versions.so",
      "role": "host"
    },
    {
      "asked_by": "_versions.so",
      "build_id": "bb02",
      "installation": "nvidia-cudnn-cu12",
      "installation_kind": "wheel",
      "installation_version": "9.8.0.70",
      "name": "libcudnn.so.9",
      "role": "facade",
      "version": "9.8.0",
      "version_source": "data symbol"
    },
    {
      "asked_by": "libcudnn.so.9",
      "installation": "nvidia-cudnn-cu12",
      "installation_kind": "wheel",
      "installation_version": "9.8.0.70",
      "name": "libcudnn_graph.so.9",
      "part": "graph",
      "role": "part",
      "version": "9.8.0",
      "version_source": "data symbol"
    }
  ],
  "package": [
    {
      "installation_kind": "wheel",
      "package": "nvidia-cudnn-cu12",
      "package_state": "complete",
      "package_version": "9.8.0.70"
    }
  ],
  "search": [
    {
      "element": "$ORIGIN",
      "name": "libcudnn.so.9",
      "rule": "DT_RUNPATH"
    }
  ],
  "whichcudnn-lock": 3
}'
    echo "$output" >a.lock
    is_sorted a.lock
}

@test "the same stack, loaded in another order under other numbers and paths, gives the same lock" {
    local other='{"kind":"object","object":9,"role":"facade","mapped":true,"soname":"libcudnn.so.9","path":"/v/x/libcudnn.so.9","version":"9.3.0"}'
    { stack; echo "$other"; } | make_log a.jsonl
    { head -n 3 <(stack); echo "$other"; stack | sed 1,3d | tac; } |
        sed 's|/v/|/home/me/|g; s/"object":2/"object":22/; s/_object":2/_object":22/; s/"target":2/"target":22/' | make_log b.jsonl
    lock -o a.lock a.jsonl
    lock -o b.lock b.jsonl
    diff a.lock b.lock
    is "$(jq -c '.object | map({(.name): .version}) | add' a.lock)" \
        '{"_versions.so":null,"libcudnn.so.9":"9.8.0","(2)/libcudnn.so.9":"9.3.0","libcudnn_graph.so.9":"9.8.0"}'
    # The second of a name, of which no path is known, is given none by its lock.
    jq -c 'del(.path)' b.jsonl >c.jsonl
    lock --paths -o c.lock c.jsonl
    is "$(lock --paths c.lock)" "$(<c.lock)"
}

@test "4,000 objects of one name: each has its own, and it ends" {
    { stack | head -n 1
      for ((i = 1; i <= 4000; i++)); do
          echo '{"kind":"object","object":'$i',"role":"facade","mapped":true,"soname":"libcudnn.so.9","path":"/v/'$i'/libcudnn.so.9"}'
      done; } | make_log a.jsonl
    timeout 60 "$CMD" lock -o a.lock a.jsonl
    is "$(jq '.object | length' a.lock)" 4000
    is "$(jq -r '.object[].name' a.lock | sort -u | wc -l)" 4000
}

@test "read back it is the same stack: diff, report, lock" {
    stack | make_log a.jsonl
    lock -o a.lock a.jsonl
    run -0 "$CMD" diff a.lock a.jsonl
    run -0 "$CMD" diff a.jsonl a.lock
    is "$(lock a.lock)" "$(<a.lock)"
    run -0 "$CMD" report a.lock
    [[ $output == "cuDNN 9.8.0"*" (nvidia-cudnn-cu12) for jax-cuda12-plugin 0.10.2"$'\nok\n'* ]]
    is "$(awk 'length($0) > 80' <<<"$output")" ""
    "$CMD" report --json a.lock >report.json
    validate_report report.json
    is "$(jq -c '.sources[0] | [.type, .path]' report.json)" '["lock","a.lock"]'
    stack 9.1.0 | make_log b.jsonl
    run -1 lock -o b.lock b.jsonl
    is "$output" "whichcudnn: errors were found in what is kept; the first: jax-cuda12-plugin 0.10.2 got cuDNN 9.1.0, requires >=9.8"
    run -1 "$CMD" report b.lock
    [[ ${lines[1]} == "error[runtime-too-old]: jax-cuda12-plugin 0.10.2 got cuDNN 9.1.0"* ]]
    run -1 "$CMD" diff a.lock b.lock
    [[ $output == *"version of libcudnn.so.9"* ]]
}

@test "hosts of one name that became no object: what each wants is kept, also where they want it alike" {
    wants() { # wants PATH SPEC: a host of that path, which is no object
        local demand='{"kind":"demand","host_path":"%s","demand_kind":"required","spec":"%s","source":"METADATA of h 1"}\n'
        # shellcheck disable=SC2059  # the format is the record
        printf "$demand" "$1" "$2"
    }
    { stack; wants /a/h.so '>=9.1'; wants /b/h.so '>=9.2'; wants /c/h.so '>=9.2'; wants /x/_versions.so '>=9.3'; } |
        make_log a.jsonl
    { stack | sed -n 1p; stack | sed 1d | tac; wants /x/_versions.so '>=9.3'; wants /b/h.so '>=9.2'; wants /a/h.so '>=9.1'; wants /c/h.so '>=9.2'; } |
        make_log b.jsonl
    lock -o a.lock a.jsonl
    is "$(jq -c '[.complete.demand, (.demand[] | [.host_path, .spec])]' a.lock)" \
        '[5,["_versions.so",">=9.8"],[".../_versions.so",">=9.3"],[".../h.so",">=9.1"],[".../h.so",">=9.2"],[".../h.so",">=9.2"]]'
    diff a.lock <(lock b.jsonl)
    diff a.lock <(lock a.lock)
    run -0 "$CMD" diff a.lock a.jsonl
    grep -v '"/a/h.so"' a.jsonl >less.jsonl
    run -1 "$CMD" diff a.lock less.jsonl
    [[ $output == *"what h.so requires"* ]]
    # An object that the loader calls otherwise than its file: the demand has the loader's name.
    { stack; echo '{"kind":"object","object":7,"role":"host","mapped":true,"path":"/a/h.so","real_path":"/b/real.so"}'
        wants /a/h.so '>=9.1'; } | make_log c.jsonl
    lock -o c.lock c.jsonl
    run -0 "$CMD" diff c.lock c.jsonl
}

@test "no path of the computer, unless --paths: then these and the environment" {
    stack 9.8.0 LD_LIBRARY_PATH /old | make_log a.jsonl
    run -0 lock a.jsonl
    is "$(jq -c '[.process, .search]' <<<"$output")" '[null,[{"name":"libcudnn.so.9","rule":"LD_LIBRARY_PATH"}]]'
    run -1 grep -e '"/' -e ' /' <<<"$output"
    lock --paths -o a.lock a.jsonl
    is "$(jq -c '.process' a.lock)" '[{"environment":["LD_LIBRARY_PATH=/old","LD_PRELOAD=/opt/other.so"]}]'
    is "$(jq -c '[(.object[] | select(.name == "libcudnn.so.9") | .path, .installation_path), .search[0].element]' a.lock)" \
        '["/v/cudnn/libcudnn.so.9","/v/cudnn","/old"]'
    run -1 grep RANK a.lock
    is_sorted a.lock
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

@test "drawn logs: each lock is sorted JSON, reads back as what it was made of, and gives itself again" {
    run -0 "$PY" "$WC_ROOT/tests/schema/draw_logs.py" logs 16
    echo "$output"
    local log options kept=0 status
    for log in logs/*; do
        for options in "" --paths; do
            status=0
            # shellcheck disable=SC2086
            lock $options -o one "$log" 2>/dev/null || status=$?
            [ "$status" -ne 3 ] || continue
            [ "$status" -le 1 ]
            is_sorted one
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
    [ "$kept" -gt 4 ]
}

@test "real processes: the lock of the log is the same as what is there, twice" {
    make_standin 9.8.0 lib
    local mode
    for mode in now lazy dlopen; do
        rm -rf logs && mkdir logs
        build_host "$mode" "$PWD/lib" host
        LD_LIBRARY_PATH=$PWD/lib "$CMD" run --quiet --log logs/ -- ./host >/dev/null || true
        lock -o one logs || [ $? -eq 1 ]
        is_sorted one
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
    is "$(jq -c '.object | [(map(.name) | index("host.so") != null), (.[] | select(.name == "libcudnn.so.9").version)]' scanned)" '[true,"9.8.0"]'
    run -1 grep "$PWD" scanned
    run -0 "$CMD" report scanned
    cp host.so tree/b
    run -2 lock --scan tree
    [[ $output == "whichcudnn: tree: 2 environments ("*") where one is expected" ]]
    run -2 lock --scan empty
    [[ $output == "whichcudnn: empty: no host in it requires cuDNN" ]]
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

@test "damaged, foreign, older and newer locks are refused, with the line or the record" {
    stack | make_log a.jsonl
    lock -o good a.jsonl
    refused() { # WHY
        run -2 --separate-stderr "$CMD" check bad a.jsonl
        [ -z "$output" ]
        is "$stderr" "whichcudnn: bad: $1"
        run -2 --separate-stderr "$CMD" report bad
        [[ $stderr == "whichcudnn: bad: ${2-$1}"* ]]
    }
    local older="a lock in the format of an older whichcudnn, which is read no longer; \`whichcudnn lock -o FILE LOG\` makes a new one"
    head -n 20 good >bad
    refused "line 21: '}' expected near end of file"
    head -c 402 good >bad
    [ "$(tail -c 1 bad)" != "" ]
    run -2 "$CMD" check bad a.jsonl
    [[ $output == "whichcudnn: bad: line "* ]]
    sed 's/"whichcudnn-lock": 3/"whichcudnn-lock": 4/' good >bad
    refused "a newer format than this whichcudnn reads"
    printf '%s\n' '# Which cuDNN a process got' 'whichcudnn-lock = 1' 'end = true' >bad
    refused "$older"
    echo '{"objects": {"libcudnn.so.9": {"version": "9.8.0"}}, "whichcudnn-lock": 2}' >bad
    refused "$older"
    echo '{"environment": {"A": "b"}, "whichcudnn-lock": 2}' >bad
    refused "$older"
    echo '{}' >bad
    refused "not a lock of whichcudnn" "not a log of whichcudnn"
    : >bad
    refused "not a lock of whichcudnn" ""
    sed '10i <<<<<<< HEAD' good >bad
    refused "line 10: string or '}' expected near '<'"
    sed '/"compatibility_rule"/p' good >bad
    refused "line 17: duplicate object key near '\"compatibility_rule\"'"
    sed 's/"wheel"/"wheels"/' good >bad
    refused "package 1: installation_kind: not what belongs there"
    sed 's/build_id/built_id/' good >bad
    refused "object 1: built_id: no fact of that name is known"
    { cat good; echo '{}'; } >bad
    refused "line $(($(wc -l <good) + 1)): end of file expected near '{'"
    run -2 "$CMD" check . a.jsonl
    is "$output" "whichcudnn: .: Is a directory"
    run -2 "$CMD" check nothing a.jsonl
    is "$output" "whichcudnn: nothing: No such file or directory"
}

@test "people may write it by hand, on one line, in another order, with other line ends" {
    stack | make_log a.jsonl
    lock -o good a.jsonl
    jq -c 'to_entries | reverse | from_entries' good | sed 's/$/\r/' >edited
    run -0 "$CMD" diff edited a.jsonl
    run -0 "$CMD" diff good edited
    is "$(lock edited)" "$(<good)"
}

@test "docs/lock.md tells every fact that a lock keeps" {
    local row
    while read -r row; do
        grep -qF "\`$row\`" "$WC_ROOT/docs/lock.md" || { echo "$row is not told"; return 1; }
    done < <(sed -En 's/^(LOCKED|NAMED)\([a-z]*, ([a-z_]*)\)/\2/p' "$WC_ROOT/tools/report/lock/lock.def")
}
