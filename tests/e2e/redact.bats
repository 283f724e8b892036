#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# --redact of report, inspect, scan and diff: names of users and nodes, however they are written.

bats_require_minimum_version 1.5.0
load helpers

setup() { cd "$BATS_TEST_TMPDIR" || return; }

# What is made of these texts, a line each.
redacted() { # TEXT...
    {
        echo '{"kind":"process","node":"gpu-07.example.org"}'
        echo '{"kind":"machine"}'
        jq -nc --args '$ARGS.positional[] | {kind:"failure", operation:"dlopen", name:"x.so", text:.}' "$@"
    } | make_log log.jsonl
    "$CMD" report --redact --json log.jsonl | jq -r '.stack.failures[].text'
}

@test "homes, wherever they are: the name is found, and everywhere else, too" {
    local homes=(/home /Users /data/home /export/home /export/home2 /nethome /homes /u/people /mnt/c/Users
        /home/students /home/q /afs/example.org/user/q 'C:\Users' 'd:\users' relative/home)
    local home
    local expected='^.*[/\](user[0-9]+)/x.so: no such file; by (user[0-9]+), \((user[0-9]+)\)$'
    for home in "${homes[@]}"; do
        [[ $(redacted "$home/quentin/x.so: no such file; by quentin, (quentin)") =~ $expected ]] || { echo "$home" && return 1; }
        is "${BASH_REMATCH[2]} ${BASH_REMATCH[3]}" "${BASH_REMATCH[1]} ${BASH_REMATCH[1]}"
    done
    is "$(redacted /opt/lib/quentin/x.so)" /opt/lib/quentin/x.so
    is "$(redacted /usr/lib/home-assistant/x.so /usr/share/user/manual)" "$(printf '/usr/lib/home-assistant/x.so\n/usr/share/user/manual')"
}

@test "a name in other forms: before '_', in other case, in parts, spelled for a URL" {
    local form
    redacted '/home/quentin/x' quentin_venv my_quentin /QUENTIN/ 'Quentin said' quentin-old quentin@gpu '~quentin/x' \
        file:quentin.log 'user=quentin;' >told
    run ! grep -i quentin told
    # What only holds it is something else.
    is "$(redacted /home/quentin/x quentins 2quentin | tail -n 2)" "$(printf 'quentins\n2quentin')"
    for form in '/Users/Quentin Smith/x.so' 'C:\Users\Quentin Smith\x.so'; do
        redacted "$form" 'by quentin.smith' quentin_smith-env QuentinSmith quentin%20smith 'only Smith' 'Quentin  knows' >told
        run ! grep -iE 'quentin|smith' told
        is "$(grep -oE 'user[0-9]+' told | sort -u | wc -l)" 1
    done
    redacted /home/quentin.smith/x 'Quentin Smith' quentin_smith >told
    run ! grep -iE 'quentin|smith' told
    is "$(redacted 'open /home/quentin: no such file' 'no such')" \
        "$(redacted 'open /home/quentin: no such file' 'no such' | sed 's/quentin/x/')"
}

@test "a node: with its domain and without, in any case, in the name of a log" {
    redacted 'on GPU-07: gone' gpu-07.example.org gpu-07_scratch tcp://gpu-07:29500 gpu-071 >told
    run ! grep -iE 'gpu-07([^0-9]|$)' told
    is "$(tail -n 1 told)" gpu-071
    cp log.jsonl whichcudnn-wn-0815-4711-99.jsonl
    run "$CMD" report --redact whichcudnn-wn-0815-4711-99.jsonl
    [[ $output != *wn-0815* && $output == *whichcudnn-node* ]]
}

@test "words of the report, systems, parts are nobody's names" {
    local name
    for name in ubuntu graph ops train nvidia cuda torch lib models cuda-12 python3.11; do
        is "$(redacted "/home/$name/$name/libcudnn_$name.so.9" "Ubuntu and $name" | sed -E 's/user[0-9]+/U/')" \
            "$(printf '%s\n' "/home/U/$name/libcudnn_$name.so.9" "Ubuntu and $name")"
    done
}

@test "a user name that begins like a common word, is short, or is a number: redacted" {
    local name
    for name in liborfdcy libra torchia nvidiana cudahy pythonista jane-cuda anna.torchia joe; do
        is "$(redacted "/home/$name/x.so" "/work/$name/x.so" "by $name, ($name)" "file:$name.log" | sed -E 's/user[0-9]+/U/g')" \
            "$(printf '%s\n' /home/U/x.so /work/U/x.so 'by U, (U)' file:U.log)"
    done
    is "$(redacted /home/jo/x/y.so /work/jo/x.so 'by jo' | tail -n 2 | sed -E 's/user[0-9]+/U/g')" \
        "$(printf '%s\n' /work/U/x.so 'by U')"
    # A number or a letter is a name only where a directory has it.
    is "$(redacted /home/20231234/x.so /work/20231234/x.so /home/q/quentin/x.so 'status 20231234, q' | sed -E 's/user[0-9]+/U/g')" \
        "$(printf '%s\n' /home/U/x.so /work/U/x.so /home/U/U/x.so 'status 20231234, q')"
    [[ $(redacted /home/2023/quentin/x.so) != *quentin* ]]
}

# log.jsonl with 1,000 users, each named by a path, and once more beside signs that mean something to somebody. Names
# have the signs that systems allow in them, and some more.
draw_users() { # SEED
    "$PY" - "$1" <<'END' | make_log log.jsonl
import json, random, sys
draw = random.Random(int(sys.argv[1]))
between = [*".-_ @+~!%#&*^?", "##", "%20", "$x", "\u00e9", "\u65e5\u672c", "\u202e"]
around = [*";,=|<>`'\"()[]{}/\\:", "```", "::error::", "](", "<b>", "\t", "\n", "${{", "-->"]
word = lambda: "".join(draw.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(draw.randint(7, 12)))
print('{"kind":"process","node":"gpu-07.example.org"}\n{"kind":"machine"}')
with open("names", "w", encoding="utf-8") as names:
    for _ in range(1000):
        first, last = word(), word()
        names.write(f"{first}\n{last}\n")
        home = draw.choice(["/home", "/Users", "/data/home", "/export/home2", "/u/people", "/mnt/c/Users"])
        name = draw.choice([first, first + draw.choice(between), first + draw.choice(between) + last])
        print(json.dumps({"kind": "failure", "operation": "dlopen", "name": "x.so", "text":
                          f"{home}/{name}/x.so: no such file{draw.choice(around)}{name}{draw.choice(around)}"}))
END
}

@test "1,000 users among signs that mean harm: none is left, and none ends the block of code" {
    local seed=${WC_SEED:-$RANDOM} form
    echo "WC_SEED=$seed"
    draw_users "$seed"
    for form in --markdown '-v --markdown' --json; do
        # shellcheck disable=SC2086  # words
        run -3 "$CMD" report --redact $form log.jsonl
        grep -oFf names <<<"$output" >left || true
        is "$(sort -u left | head -n 3)" ""
        [[ $form == --json ]] || is "$(grep -n '^```' <<<"$output" | cut -d : -f 1 | tr '\n' ' ')" "1 $(wc -l <<<"$output") "
    done
    # It can be seen.
    "$CMD" report -v --markdown log.jsonl >plain || true
    [ "$(grep -oFf names plain | sort -u | wc -l)" -ge 1000 ]
}

# Everything below a home, of a user whom only that reveals.
make_home() {
    mkdir -p export/home/quentin_s
    (cd export/home/quentin_s && make_standin 9.1.0 set && build_host now set host)
}
no_names() { # FILE
    run ! grep -E "quentin|export/home/[^u]| on $(uname -n)\>|\"$(uname -n)\"" "$1"
}

@test "a repair is replayed over the real paths, and printed without the names" {
    mkdir -p home/gretchen79
    cd home/gretchen79 || return
    make_standin 9.0.0 old
    make_standin 9.1.0 new
    build_host now "$PWD/new" host
    LD_LIBRARY_PATH=$PWD/old "$CMD" run --expect '>=9.1' --log log.jsonl -- ./host version 2>said || :
    grep -q '  fix       unset LD_LIBRARY_PATH' said
    for form in "" -v --json --markdown --html=page.html; do
        run "$CMD" report --redact $form log.jsonl
        [ "$form" != --html=page.html ] || output=$(<page.html)
        [[ $output == *"unset LD_LIBRARY_PATH"*replayed* || $output == *replayed*"unset LD_LIBRARY_PATH"* ]]
        [[ $output != *gretchen79* ]]
    done
    run "$CMD" diff --redact log.jsonl log.jsonl
    [[ $output == *"fix unset LD_LIBRARY_PATH"* ]]
    [[ $output != *gretchen79* ]]
}

@test "what the loader said of another file than was asked for" {
    {
        echo '{"kind":"process","node":"gpu-07"}'
        echo '{"kind":"machine"}'
        jq -nc '"/home/quentin/lib/lib" as $lib | [": file too short", ": undefined symbol: cudnnQuentin, version libcudnn.so.9"][] |
            {kind: "failure", operation: "dlopen", name: "\($lib)cudnn.so.9", text: "\($lib)zeta.so\(.)"}'
        echo '{"kind":"outcome","ending":"exited","exit_status":1}'
    } | make_log log.jsonl
    "$CMD" report --json log.jsonl >plain || true
    grep -q '"value": "/home/quentin/lib/libzeta.so"' plain
    "$CMD" report --redact --json log.jsonl >told || true
    run ! grep -i /quentin told
}

@test "inspect --redact, scan --redact, diff --redact: in every form" {
    make_home
    local here=export/home/quentin_s form
    (cd "$here" && exec "$PY" -c 'import ctypes, os, time
library = ctypes.CDLL(os.getcwd() + "/set/libcudnn.so.9")
print(flush=True)
time.sleep(60)') >ready &
    local pid=$!
    for _ in $(seq 50); do [ -s ready ] && break || sleep 0.1; done
    for form in --color=never --json -v; do
        "$CMD" inspect "$form" "$pid" >plain || true
        grep -q quentin_s plain
        "$CMD" inspect --redact "$form" "$pid" >told || true
        grep -q 'user[0-9]' told
        no_names told
    done
    kill "$pid"
    for form in --color=never --json -v; do
        "$CMD" scan "$form" "$here" >plain || true
        grep -q quentin_s plain
        "$CMD" scan --redact "$form" "$here" >told || true
        grep -q 'user[0-9]' told
        no_names told
        [ "$form" != --json ] || jq -e . told >json
    done
    stack 9.1.0 | sed "s|\"/v/|\"/export/home/quentin_s/v/|g" | make_log a.jsonl
    stack 9.8.0 DT_RPATH | sed "s|\"/v/|\"/export/home/quentin_s/w/|g; s/node7/wn0815/" | make_log b.jsonl
    for form in --color=never --json; do
        run -1 "$CMD" diff "$form" a.jsonl b.jsonl
        run -1 "$CMD" diff --redact "$form" a.jsonl b.jsonl
        echo "$output" >told
        no_names told
        run ! grep -E 'node7|wn0815' told
    done
}
