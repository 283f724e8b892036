#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn report: a log in, verdict, tree, findings and fixes out.

bats_require_minimum_version 1.5.0
load helpers
load usage

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
"spec":"<10.0,>=9.8","compatibility_rule":"nvidia","source":"METADATA of jax-cuda12-plugin 0.10.2"}'
demand=${demand//$'\n'/}
binding='{"kind":"binding","host":1,"host_path":"/v/plugin/_versions.so","target":2,"how":"dlsym",
"target_path":"/v/nvidia/cudnn/lib/libcudnn.so.9","functions":["cudnnGetVersion"]}'
binding=${binding//$'\n'/}

stack_with() { # VERSION [LINE...]: a plugin that requires 9.8 and got VERSION
    printf '%s\n' "$process" "$machine" "$host" "$(facade "$1")" "$(graph "$1")" "$demand" \
        "$binding" "${@:2}"
}

report() { "$CMD" report "$@"; }

@test "a cuDNN too old: which it is, the verdict, fix; with -v all libraries" {
    stack_with 9.1.0 | make_log log.jsonl
    run -1 --separate-stderr report log.jsonl
    is "$stderr" ""
    is "${lines[0]}" "cuDNN 9.1.0 from /v/nvidia/cudnn/lib (nvidia-cudnn-cu12) for _versions.so"
    [[ ${lines[1]} =~ ^"error[runtime-too-old]: _versions.so got cuDNN 9.1.0".*"9.8" ]]
    [[ $output == *"process     4711 on node7: python train.py, "* && $output != *"libraries:"* ]]
    # It ran on another computer: nothing can be played, and nothing is to be pasted.
    [[ $output == *"  suggestion install a release of nvidia-cudnn-cu12"*"requires <10.0,>=9.8"* ]]
    run -1 --separate-stderr report -v log.jsonl
    [[ $output == *"    facade /v/nvidia/cudnn/lib/libcudnn.so.9 9.1.0 "*" wheel nvidia-cudnn-cu12 9.1.0.70"$'\n'* ]]
    [[ $output == *"      graph /v/nvidia/cudnn/lib/libcudnn_graph.so.9 9.1.0"* ]]
    [[ $output == *"wants <10.0,>=9.8 (METADATA of jax-cuda12-plugin 0.10.2)"* ]]
}

@test "the healthy twin: ok, and nothing of findings" {
    stack_with 9.8.0 "$ended" | make_log log.jsonl
    run -0 --separate-stderr report log.jsonl
    is "${lines[0]}" "cuDNN 9.8.0 from /v/nvidia/cudnn/lib (nvidia-cudnn-cu12) for _versions.so"
    is "${lines[1]}" ok
    [[ $output != *finding* && $output != *fix* ]]
}

@test "json has the shape of its schema and says the same" {
    stack_with 9.1.0 | make_log log.jsonl
    run -1 --separate-stderr report --json log.jsonl
    echo "$output" >report.json
    validate_report report.json
    is "$(jq -c keys_unsorted report.json)" '["verdict","text","limits","known","next","findings","stack","node","sources"]'
    is "$(jq -r '.verdict, .findings[0].id, .node' report.json | xargs)" "errors runtime-too-old node7"
    is "$(jq -r '.stack.objects[] | select(.role == "facade") | .version' report.json)" 9.1.0
    is "$(jq -c '.sources[0] | [.path, .records, .damaged_lines]' report.json)" '["log.jsonl",7,0]'

    stack_with 9.8.0 "$ended" | make_log healthy.jsonl
    run -0 --separate-stderr report --json healthy.jsonl
    is "$(jq -c '[.verdict, .findings]' <<<"$output")" '["ok",[]]'
}

@test "what was said live does not count, only the whole log does" {
    stack_with 9.8.0 '{"kind":"finding","id":"runtime-too-old","severity":"error","title":"early"}' \
        '{"kind":"summary","first_finding":"runtime-too-old"}' | make_log log.jsonl
    run -0 report log.jsonl
    is "${lines[1]}" ok
}

@test "not observed: its own status, and the reason if it is known" {
    printf '%s\n' "$process" "$machine" | make_log empty.jsonl
    run -3 report empty.jsonl
    [[ ${lines[0]} == "not observed: "* ]]
    printf '%s\n' '{"kind":"outcome","ending":"exited","exit_status":0,"child":9,"reason":"it is static"}' |
        make_log outcome.jsonl
    run -3 report outcome.jsonl
    is "${lines[0]}" "not observed: it is static"
    run -3 report --json outcome.jsonl
    is "$(jq -r '.verdict, .stack.outcome.reason' <<<"$output" | xargs)" "not-observed it is static"
}

@test "damaged lines are told by number, and the rest counts" {
    stack_with 9.1.0 | make_log whole.jsonl
    { head -n 2 whole.jsonl; echo '{"v":1,"kind":"obj'; tail -n +3 whole.jsonl | head -c -40; } >log.jsonl
    run -1 report log.jsonl
    [[ ${lines[1]} == "error[runtime-too-old]: _versions.so got cuDNN 9.1.0"* ]]
    [[ $output == *"line 3 could not be read: "* ]]
    [[ $output == *"line 8 could not be read: cut off"* ]]
    run -1 --separate-stderr report --json log.jsonl
    is "$(jq -c '.sources[0] | [.damaged_lines, .damaged[0].line]' <<<"$output")" '[2,3]'
    echo "$output" >report.json
    validate_report report.json
    # What is lost may tell of a cuDNN.
    local host='{"kind":"object","object":1,"role":"host","mapped":true,"path":"/v/h.so"}'
    printf '%s\n' "$process" "$machine" "$host" "${host//1/2}" | make_log short.jsonl
    truncate -s -30 short.jsonl
    run -4 report short.jsonl
    [[ $output != *"no cuDNN was loaded"* ]]
}

@test "how it ended: killed in a call, by run's word or by the log's last line" {
    local create='{"kind":"call","function":"cudnnCreate","phase":"before","host":1,"target":2}'
    stack_with 9.8.0 "$create" | make_log cut.jsonl
    run report cut.jsonl
    [[ $output == *"process  "*", end not in the log: "*", during cudnnCreate"* ]]
    run report --json cut.jsonl
    is "$(jq -r '.sources[0].in_flight' <<<"$output")" cudnnCreate

    stack_with 9.8.0 "$create" '{"kind":"outcome","ending":"signaled","signal":11,
        "signal_name":"SIGSEGV","during":"cudnnCreate","observed":true}' | tr -d '\n' |
        sed 's/}{/}\n{/g' | make_log killed.jsonl
    run report killed.jsonl
    [[ $output == *"process  4711 on node7: python train.py, killed by SIGSEGV, during cudnnCreate"* ]]
}

@test "names of a part that were tried before the right one are not told as failures" {
    failed() { # NAME CALLER
        printf '{"kind":"failure","operation":"dlopen","name":"%s","caller":"%s"}\n' "$@"
    }
    facade=/v/nvidia/cudnn/lib/libcudnn.so.9
    stack_with 9.8.0 "$(failed libcudnn_graph.so.9.8.0 $facade)" "$(failed libcudnn_ops.so.9 $facade)" |
        sed 's|"asked_by_object":2|&,"asked_by":"/v/nvidia/cudnn/lib/libcudnn.so.9"|' | make_log log.jsonl
    run report log.jsonl
    [[ $output == *"requests that failed"*"libcudnn_ops.so.9 by $facade"* ]]
    [[ $output != *libcudnn_graph.so.9.8.0* ]]
}

# ---- forms ----

check() { "$PY" "$WC_ROOT/tests/schema/check_report.py" "$@"; }

# All forms of the report on what is there, into report.json, whole, narrow, markdown and prometheus.
render() { # [OPTION] LOG...
    report --json "$@" >report.json || true
    report --verbose "$@" >whole || true
    report "$@" >narrow || true
    report --markdown --verbose "$@" >markdown || true
    report --prometheus "$@" >prometheus || true
}

@test "drawn logs: every fact of json is in the text and in Markdown, and nothing harmful in any" {
    "$PY" "$WC_ROOT/tests/schema/draw_logs.py" logs 12 ${WC_SEED:+"$WC_SEED"}
    validate_log logs/*
    local log
    for log in logs/* logs; do
        render "$log"
        validate_report report.json
        check text report.json whole
        check narrow report.json narrow
        check markdown report.json markdown
        check prometheus report.json prometheus
    done
    # The judge sees what is planted.
    without_a_fact() { awk '!cut && /^ +"fingerprint": / { cut = 1; next } { print }' "$1" >lacking; }
    without_a_fact whole
    run -1 check text report.json lacking
    without_a_fact markdown
    run -1 check markdown report.json lacking
    { printf '%0101d\n' 0; cat narrow; } >wide
    run -1 check narrow report.json wide
    { printf 'a\033b\n'; cat narrow; } >obeyed
    run -1 check narrow report.json obeyed
    { echo '<script>'; cat markdown; } >foreign
    run -1 check markdown report.json foreign
    { head -n 1 markdown; cat markdown; } >foreign
    run -1 check markdown report.json foreign
    local wrong
    for wrong in 's/^whichcudnn_verdicts.*"ok"} /&9/' 's/^whichcudnn_build_info.*/&\n&/' '/^# TYPE whichcudnn_findings/s/gauge/counter/' \
        '/^whichcudnn_build_info/s/$/ 1700000000/' 's/version="/&"/' '/^# HELP whichcudnn_logs_unreadable/d'; do
        sed "$wrong" prometheus >miscounted
        run ! cmp -s prometheus miscounted
        echo "it says that this was not noticed: $wrong"
        run -1 check prometheus report.json miscounted
    done
}

@test "counts for Prometheus: a row for what is the same, names that mean harm spelled out, none beyond 200 rows" {
    mkdir logs
    stack_with 9.8.0 "$ended" | make_log logs/whichcudnn-n-1-1.jsonl
    stack_with 9.8.0 "$ended" | sed 's/9\.8\.0\.70/9.8.0.87/; s/"version":"9.8.0"/"version":"9.8.0.87"/' |
        make_log logs/whichcudnn-n-2-1.jsonl
    stack_with 9.1.0 | sed 's/nvidia-cudnn-cu12/a\\"} 1\\n\\\\b\\u001b[31m/' | make_log logs/whichcudnn-n-3-1.jsonl
    sed -i 's/"pid":4711/"pid":4712/' logs/whichcudnn-n-2-1.jsonl
    sed -i 's/"pid":4711/"pid":4713/' logs/whichcudnn-n-3-1.jsonl
    echo "no log" >logs/whichcudnn-n-4-1.jsonl
    head -c 30 logs/whichcudnn-n-1-1.jsonl >>logs/whichcudnn-n-2-1.jsonl
    run -2 --separate-stderr report --prometheus logs
    grep -v '^#' <<<"$output" >told
    grep -qxF 'whichcudnn_processes{version="9.8.0",source="wheel nvidia-cudnn-cu12"} 2' told
    grep -qxF 'whichcudnn_processes{version="9.1.0",source="wheel a\"} 1\\x0a\\b\\x1b[31m"} 1' told
    is "$(grep -E '_findings|_verdicts.* [1-9]|_logs' told)" 'whichcudnn_findings{id="runtime-too-old",severity="error"} 1
whichcudnn_verdicts{verdict="ok"} 1
whichcudnn_verdicts{verdict="not-observed"} 1
whichcudnn_verdicts{verdict="errors"} 1
whichcudnn_logs_damaged 1
whichcudnn_logs_unreadable 1'

    local i
    for i in {1..210}; do facade "1.$i.0" | sed "s/\"object\":2/\"object\":$((i + 10))/"; done |
        { echo "$process"; cat; } | make_log many.jsonl
    report --prometheus many.jsonl >many || true
    is "$(grep -c '^whichcudnn_processes' many)" 201
    grep -qxF 'whichcudnn_processes{version="other",source="other"} 10' many
    # One that calls itself as the rest is called makes no second row of that name.
    for i in {1..210}; do facade "x$i" | sed "s/\"object\":2/\"object\":$((i + 10))/"; done |
        { echo "$process"; facade other | sed 's/"wheel"/null/; s/nvidia-cudnn-cu12/other/'; cat; } | make_log other.jsonl
    report --prometheus other.jsonl >many || true
    is "$(grep -c '^whichcudnn_processes' many)" 200
    is "$(grep -F 'source="other"' many)" 'whichcudnn_processes{version="other",source="other"} 12'
}

@test "--output: whole or not at all, by rename, and never over what is no file" {
    stack_with 9.8.0 "$ended" | make_log log.jsonl
    mkdir -m 755 dir
    report --prometheus log.jsonl -o dir/x.prom
    is "$(report --prometheus log.jsonl)" "$(cat dir/x.prom)"
    is "$(stat -c %a dir/x.prom)" 644
    echo old >dir/x.prom
    chmod 640 dir/x.prom
    local before
    exec {before}<dir/x.prom
    report --prometheus log.jsonl -o dir/x.prom
    is "$(cat <&$before)" old
    is "$(stat -c %a dir/x.prom)" 640
    # No room: the old file stays, and nothing else.
    echo old >dir/x.prom
    (ulimit -f 0; exec "$CMD" report --json log.jsonl -o dir/x.prom 2>/dev/null) && return 1
    is "$(ls -A dir) $(cat dir/x.prom)" "x.prom old"
    run -2 --separate-stderr report log.jsonl -o nowhere/x
    [[ $stderr == "whichcudnn: nowhere/x: No such file or directory" ]]
    report log.jsonl -o /dev/null
    [ -c /dev/null ]
    ln -s dir/x.prom link
    report --color=always log.jsonl -o link
    [ -L link ]
    is "$(report --color=always log.jsonl)" "$(cat dir/x.prom)"
    # What a directory without logs counts is nothing, and not what was there before.
    mkdir empty
    run -3 --separate-stderr report --prometheus empty -o dir/x.prom
    is "$stderr" ""
    grep -qx 'whichcudnn_verdicts{verdict="ok"} 0' dir/x.prom
    run -2 --separate-stderr report empty
    is "$stderr" "whichcudnn: empty: no logs in this directory"
}

@test "--output: in place where the file is mounted alone, or its directory takes no other" {
    stack_with 9.8.0 "$ended" | make_log log.jsonl
    mkdir dir
    echo old >real
    echo old >dir/open
    echo old >dir/mounted
    chmod a+w dir/open
    # As containers have it: one file can be written, and it cannot be moved.
    local how=(unshare -m) as=()
    [ "$(id -u)" -eq 0 ] || how=(unshare -rm)
    # shellcheck disable=SC2016  # for the shell there
    "${how[@]}" sh -ec 'mount --bind real dir/mounted
        "$@" -o dir/mounted
        mount --bind dir dir
        mount --bind real dir/mounted
        mount -o remount,ro,bind dir
        echo more >>dir/mounted
        "$@" -o dir/mounted' - "$CMD" report --prometheus log.jsonl
    is "$(cat real)" "$(report --prometheus log.jsonl)"
    is "$(cat dir/mounted)" old
    [ "$(id -u)" -ne 0 ] || as=(setpriv --reuid 65534 --clear-groups)
    chmod 555 dir
    chmod a+rx . .. "$BATS_RUN_TMPDIR"
    chmod a+r log.jsonl
    "${as[@]}" "$CMD" report --prometheus log.jsonl -o dir/open
    is "$(cat dir/open)" "$(cat real)"
    run -2 --separate-stderr "${as[@]}" "$CMD" report --prometheus log.jsonl -o dir/mounted
    # gcov names there, line for line, which of its own files that user cannot open.
    is "$(grep -v '^profiling:' <<<"$stderr") $(cat dir/mounted)" "whichcudnn: dir/mounted: Permission denied old"
}

# What is said to be no form here is an option for all of them. --html is drawn in browser/.
@test "every option that is a form is drawn, above, and refused beside each other one" {
    local forms one other
    mapfile -t forms < <(options_of report | grep -oE '^--[a-z-]+' | grep -vxE -- '--(verbose|output|redact|color|help)')
    [ ${#forms[@]} -ge 3 ]
    for one in "${forms[@]}"; do
        [[ $one == --html || $(declare -f render) == *"report $one "* ]] ||
            { echo "$one: if it is a form of the report, render() should draw it, and a check read it"; return 1; }
        for other in "${forms[@]}"; do
            [ "$one" != "$other" ] || continue
            echo "$one $other: one form at a time, says cmd_report"
            run -2 --separate-stderr report "${one/%html/html=page}" "${other/%html/html=page}" .
            [[ $stderr == *"$one"*"one of them is expected"* ]]
        done
    done
}

# Of each process; the names of nodes, by which these are sorted, may be others.
findings_of() { jq -c '[.. | .findings? | arrays | map([.id, .severity])] | sort' "$1"; }

@test "drawn logs, redacted: no user and no node in any form, and the same findings" {
    "$PY" "$WC_ROOT/tests/schema/draw_logs.py" logs 8 ${WC_SEED:+"$WC_SEED"}
    local log names='alice|smith|bobby|carol|gpu-node|cluster|wn0815'
    for log in logs/* logs; do
        render "$log"
        grep -qE "$names" report.json
        findings_of report.json >before
        render --redact "$log"
        run ! grep -nE "$names" report.json whole narrow markdown
        findings_of report.json | diff before -
        check text report.json whole
        check markdown report.json markdown
    done
}

# The layout of 100 columns. WC_GOLDEN=write puts what is printed now there.
golden() { # NAME
    local kept=$WC_ROOT/tests/e2e/golden/report-$1.txt
    [ "${WC_GOLDEN:-}" != write ] || sed 's/\x1b/\\e/g' "$1" >"$kept"
    sed 's/\x1b/\\e/g' "$1" | diff "$kept" -
}

@test "layout: 100 columns, with and without colour" {
    stack_with 9.1.0 '{"kind":"search","search":1,"object":2,"name":"libcudnn.so.9","rule":"DT_RUNPATH",
        "element":"$ORIGIN/../nvidia/cudnn/lib","of":"/v/plugin/_versions.so"}' \
        '{"kind":"unobserved","what":"calls","why":"no instance left"}' | tr -d '\n' | sed 's/}{/}\n{/g' |
        sed 's|"/v/|"/data/projects/vision/environments/2026-03/venv/|g' | make_log log.jsonl
    report log.jsonl >narrow || true
    golden narrow
    report --color=always log.jsonl >coloured || true
    golden coloured
    is "$(sed 's/\x1b\[[0-9;]*m//g' coloured)" "$(cat narrow)"
    run -1 grep -nE '^.{101}' narrow
}

@test "a path is shortened, in the tree in its middle, whole with -v" {
    stack_with 9.8.0 "$ended" | sed 's|"/v/|"/data/'"$(printf 'a%.0s' {1..100})"'/venv/|g' | make_log log.jsonl
    report log.jsonl >narrow || true
    grep -q '^    facade /data/\.\.\./venv/nvidia/cudnn/lib/libcudnn\.so\.9 9\.8\.0 wheel ' narrow
    run -1 grep -c aaaa narrow
    report -v log.jsonl >whole || true
    grep -q "^    facade /data/a\{100\}/venv/nvidia/cudnn/lib/libcudnn\.so\.9 9\.8\.0 " whole
}

@test "-v: what happened, in time order" {
    stack_with 9.1.0 '{"kind":"request","request":1,"operation":"dlopen","name":"libcudnn_ops.so.9","time":1700000000500000}' \
        '{"kind":"failure","request":1,"operation":"dlopen","name":"libcudnn_ops.so.9","text":"no such file"}' \
        '{"kind":"call","function":"cudnnCreate","phase":"after","status":1001,"status_name":"CUDNN_STATUS_NOT_INITIALIZED"}' \
        '{"kind":"finding","id":"runtime-too-old","severity":"error","title":"said early"}' \
        '{"kind":"finding","id":"two-copies","severity":"error","title":"does not hold"}' | make_log log.jsonl
    run report log.jsonl
    [[ $output != *"time line"* ]]
    run report -v log.jsonl
    sed -n '/^time line: seconds, what happened/,/^$/p' <<<"$output" >line
    is "$(tail -n +2 line | sed '/^$/d' | cut -c 16- | tail -n 4)" "not got: libcudnn_ops.so.9: no such file
cudnnCreate returned CUDNN_STATUS_NOT_INITIALIZED
error runtime-too-old: _versions.so got cuDNN 9.1.0, requires <10.0,>=9.8
asks for libcudnn_ops.so.9 with dlopen"
    grep -q '^     +0.499999 asks for' line
}

@test "--markdown: the text report without colour, in a fence that nothing in a log can end" {
    local ticks fence form
    for ticks in '' '`' '```' '`````'; do
        stack_with 9.1.0 "{\"kind\":\"unobserved\",\"what\":\"x\",\"why\":\"y\\n$ticks\\n<b>@someone</b> ${ticks#\`}\"}" |
            make_log log.jsonl
        for form in "" -v; do
            fence='```'
            [ -z "$form" ] || [ "${#ticks}" -lt 3 ] || fence=$ticks\`
            report $form log.jsonl >text || true
            [ -z "$form" ] || grep -qF '<b>@someone</b>' text
            report $form --markdown --color=always log.jsonl | diff <(echo "$fence" && cat text && echo "$fence") -
        done
    done
}

@test "--redact: home, user and node, in the loader's words and in the file's name, the same everywhere" {
    stack_with 9.1.0 '{"kind":"failure","operation":"dlopen","name":"/home/jdoe/x.so","text":"/home/jdoe/x.so: cannot open"}' \
        '{"kind":"failure","operation":"dlopen","name":"y.so","text":"by jdoe on node7, not jdoe2, not node70"}' |
        sed 's|"/v/|"/mnt/home/jdoe/v/|g; s|"node":"node7"|"node":"node7.example"|' | make_log whichcudnn-node7.example-4711-88.jsonl
    local form
    for form in -v --json --markdown --color=never; do
        run -1 --separate-stderr report --redact "$form" whichcudnn-*.jsonl
        [[ $output == *"/mnt/home/user"[0-9]*"/nvidia/cudnn/lib"* ]]
        [[ $output == *"whichcudnn-node1-4711-88.jsonl"* ]]
        [[ $output != *"/jdoe/"* && $output != *"node7.example"* ]]
    done
    run -1 report --redact --json whichcudnn-*.jsonl
    jq -r '.stack.failures[].text' <<<"$output" >told
    local user
    user=$(sed -n 's|^/home/\(user[0-9]*\)/x.so: cannot open$|\1|p' told)
    grep -qxF "by $user on node1, not jdoe2, not node70" told
    is "$(jq -r .node <<<"$output")" node1
    run -2 --separate-stderr report --redact whichcudnn-*.jsonl "$PWD/home/jdoe/missing.jsonl"
    [[ $stderr == *"/home/$user/missing.jsonl: No such file"* ]]
    # The home of whoever makes the report may be anywhere.
    stack_with 9.8.0 "$ended" | sed 's|"/v/|"/data/people/zara/v/|g' | make_log log.jsonl
    HOME=/data/people/zara run -0 report --redact -v log.jsonl
    [[ $output == *"/data/people/user"* && $output != *zara* ]]
}

@test "--redact: a user with the name of a package or directory changes no path" {
    stack_with 9.1.0 | sed 's|"/v/|"/home/nvidia/v/|g; s|"node":"node7"|"node":"cuda"|' | make_log log.jsonl
    run -1 report --redact --json log.jsonl
    [[ $(jq -r '.stack.objects[] | select(.role == "facade") | .path' <<<"$output") =~ ^/home/user[0-9]+/v/nvidia/cudnn/lib/libcudnn.so.9$ ]]
    is "$(jq -r .node <<<"$output")" node1
}

# ---- several logs ----

# A rank of a run: its number, version, more lines.
rank() { # RANK VERSION [LINE...]
    stack_with "$2" "${@:3}" | sed 's|"start_ticks":88|&,"parent_pid":1,"environment":["RANK='"$1"'"]|' |
        make_log "rank$1.jsonl"
    sed -i "s/\"pid\":4711/\"pid\":$((100 + $1))/" "rank$1.jsonl"
}

@test "ranks that agree, and the one that does not, cause first" {
    local i
    for i in {0..6}; do rank "$i" 9.8.0 "$ended"; done
    rank 7 9.1.0 '{"kind":"search","search":1,"object":2,"rule":"LD_LIBRARY_PATH","element":"/old"}'
    sed -i 's|"RANK=7"|&,"LD_LIBRARY_PATH=/old"|' rank7.jsonl
    run -1 --separate-stderr report rank*.jsonl
    [[ $output == "cuDNN 9.1.0 "*$'\nerror[runtime-too-old]: '*$'\nprocess     '*$'\ncuDNN 9.8.0 '*$'\nok in ranks 0-6 '* ]]
    [ "${#lines[@]}" -le 24 ]
    [[ $output == *"
ranks 0-6 agree; rank 7 differs:
  LD_LIBRARY_PATH: /old, not none
  rule of libcudnn.so.9: LD_LIBRARY_PATH: /old, not none
  installation of libcudnn.so.9: wheel nvidia-cudnn-cu12 9.1.0.70, not wheel"*"
  version of libcudnn.so.9: 9.1.0, not 9.8.0
"* ]]
    is "$(report -v rank*.jsonl | grep -c '^libraries')" 8
    run -0 report rank[0-6].jsonl
    [[ $output == "cuDNN 9.8.0 "*$'\nok in ranks 0-6 '*$'\n\nranks 0-6 agree\n'* ]]
    run -1 report --html page.html rank*.jsonl
    [[ $(tr '\n' ' ' <page.html) == *"<title>"*"whichcudnn: error: "*"rank 7"*"</title>"*">error</span>: "*"; in rank 7"*">ok</span>: cuDNN 9.8.0"*" in ranks 0-6"*"rank 7 differs"* ]]
}

@test "processes are told by node and by who started whom" {
    process_of() { # PID PARENT NODE
        stack_with 9.8.0 "$ended" | sed 's|"node":"node7"|"node":"'"$3"'","parent_pid":'"$2"'|' | make_log "$1.jsonl"
        sed -i "s/\"pid\":4711/\"pid\":$1/; s/\"time\":17000000000000/\"time\":17000000$1/" "$1.jsonl"
    }
    process_of 1002 1001 a
    process_of 1001 1 a
    process_of 1003 1002 a
    process_of 1004 1001 b # that number, on another node
    run -0 report 100*.jsonl
    [[ $output == "cuDNN 9.8.0 "*$'\nok in 4 processes (python train.py): all ended'*$'\n\nnodes a, b agree\n'* ]]
    is "$(sed -n '/^processes/,/^$/p' <<<"$output" | sed '1d; /^$/d; s/ (.*//')" "  node a
    process 1001
      process 1002
        process 1003
  node b
    process 1004"
}

@test "more processes than a screen holds: some are named, all with -v" {
    stack_with 9.8.0 "$ended" | make_log one.jsonl
    local i
    for i in {1..50}; do sed "s/\"pid\":4711/\"pid\":$i/" one.jsonl >"whichcudnn-n-$i-1.jsonl"; done
    rm one.jsonl
    run -0 report .
    [[ $output == "cuDNN 9.8.0 "*$'\nok in 50 processes '*$'\n\nall 50 processes agree\n'* ]]
    is "${#lines[@]}" 22 # and two blank ones
    is "${lines[21]}" "and 34 more lines: whichcudnn report -v"
    run -0 report -v .
    is "$(grep -c '^    process ' <<<"$output")" 50
}

@test "records that are missing by their numbers are told" {
    stack_with 9.1.0 | make_log whole.jsonl
    sed '4,5d' whole.jsonl >log.jsonl
    run report log.jsonl
    [[ $output == *"2 of its records are missing, by their numbers"* ]]
    run report --json log.jsonl
    is "$(jq -c '.sources[0] | [.missing, .damaged_lines]' <<<"$output")" '[2,0]'
}

# ---- which log ----

@test "without a log: the newest of this user, where logs are put" {
    mkdir here temporary named
    export TMPDIR=$PWD/temporary
    cd here
    stack_with 9.1.0 | make_log ../temporary/whichcudnn-n-1-1.jsonl
    touch -d '+1 day' ../temporary/whichcudnn-n-1-1.jsonl # /tmp may hold a person's own
    run -1 --separate-stderr report
    [[ $output == *"temporary/whichcudnn-n-1-1.jsonl"$'\n'* ]]
    stack_with 9.8.0 "$ended" | make_log whichcudnn-n-2-2.jsonl
    touch -d '+2 days' whichcudnn-n-2-2.jsonl
    run -0 report
    [[ $output == *"./whichcudnn-n-2-2.jsonl ("* ]]
    cp whichcudnn-n-2-2.jsonl ../named/whichcudnn-n-3-3.jsonl
    touch -d '+3 days' ../named/whichcudnn-n-3-3.jsonl
    WHICHCUDNN_LOG=../named run -0 report
    [[ $output == *"named/whichcudnn-n-3-3.jsonl ("* ]]
    cp whichcudnn-n-2-2.jsonl ../named/mine-44.log
    touch -d '+4 days' ../named/mine-44.log whichcudnn-n-9-9.txt
    WHICHCUDNN_LOG=../named/mine-%p.log run -0 report
    [[ $output == *"named/mine-44.log ("* ]]
    # Not one of another user, nor a link.
    ln -s ../named/mine-44.log whichcudnn-n-5-5.jsonl
    touch -h -d '+6 days' whichcudnn-n-5-5.jsonl
    run -0 report
    [[ $output == *"whichcudnn-n-2-2.jsonl ("* ]]
    # Where the library puts them by itself; a directory that another user made is none.
    mkdir ../temporary/whichcudnn-77 ../elsewhere
    cp whichcudnn-n-2-2.jsonl ../temporary/whichcudnn-77/whichcudnn-n-6-6.jsonl
    touch -d '+7 days' ../temporary/whichcudnn-77/whichcudnn-n-6-6.jsonl
    cp whichcudnn-n-2-2.jsonl ../elsewhere/whichcudnn-n-7-7.jsonl
    touch -d '+8 days' ../elsewhere/whichcudnn-n-7-7.jsonl
    ln -s ../elsewhere ../temporary/whichcudnn-78
    run -0 report
    [[ $output == *"temporary/whichcudnn-77/whichcudnn-n-6-6.jsonl ("* ]]
}

@test "without a log, and none there: that, where it was looked for, and status 3" {
    # A directory tree of its own: this machine's /tmp may hold some.
    unshare -rm true 2>/dev/null || skip "no namespaces of mounts here"
    run -3 --separate-stderr unshare -rm sh -c "mkdir t && cp '$CMD' cmd && mount -t tmpfs none t &&
        cp cmd t/ && cd t && mount --bind . /tmp && exec /tmp/cmd report"
    [[ -z $output && $stderr == "whichcudnn: not observed: no log of yours in ., "*"/tmp" ]]
}

@test "several logs: one report each, the worst status, a list in json" {
    stack_with 9.8.0 "$ended" | make_log whichcudnn-a-1-1.jsonl
    stack_with 9.1.0 | sed 's/"start_ticks":88/"start_ticks":89/' | make_log whichcudnn-b-2-2.jsonl
    echo "${process/\"start_ticks\":88/\"start_ticks\":90}" | make_log whichcudnn-c-3-3.jsonl
    run -1 report whichcudnn-a-1-1.jsonl whichcudnn-b-2-2.jsonl
    is "$(grep -c '^    process ' <<<"$output")" 2
    run -0 report whichcudnn-a-1-1.jsonl whichcudnn-c-3-3.jsonl
    run -1 report --json .
    echo "$output" >reports.json
    validate_report reports.json
    is "$(jq -c 'map(.verdict)' reports.json)" '["ok","errors","not-observed"]'
}

@test "processes that share a file get a report each" {
    stack_with 9.8.0 "$ended" | make_log one.jsonl
    stack_with 9.1.0 | sed 's/"start_ticks":88/"start_ticks":89/' | make_log two.jsonl
    cat one.jsonl two.jsonl >shared.jsonl
    run -1 report --json shared.jsonl
    is "$(jq -c 'map(.verdict)' <<<"$output")" '["ok","errors"]'
}

@test "what is no log, or not there: a clear word, status 2, and the others still reported" {
    stack_with 9.8.0 "$ended" | make_log good.jsonl
    run -2 --separate-stderr report /etc/passwd good.jsonl missing.jsonl
    [[ $stderr == *"/etc/passwd: not a log of whichcudnn (line 1:"* ]]
    [[ $stderr == *"missing.jsonl: No such file or directory"* ]]
    [[ $output == "cuDNN 9.8.0 "*$'\nok\n'* ]]
    mkdir none
    run -2 --separate-stderr report none
    [[ $stderr == *"no logs in this directory"* ]]
}

@test "what nobody would see is spelled out, in every form" {
    local hidden='zero\u200bwidth\u200d bidi\u202e isolate\u2067 word\u2060 mark\ufeff tag\udb40\udc41 variant\ufe0f'
    local spelled=${hidden/\\udb40\\udc41/\\ue0041}
    stack_with 9.8.0 "{\"kind\":\"unobserved\",\"what\":\"$hidden\",\"why\":\"x\"}" | make_log log.jsonl
    for form in --color=never --markdown --html=/dev/stdout --json; do
        run report $form log.jsonl
        [ -n "$output" ]
        LC_ALL=C.UTF-8 run -1 grep -P '[\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2060}-\x{2069}\x{fe00}-\x{fe0f}\x{feff}\x{e0000}-\x{e0fff}]' \
            <<<"$output"
        is "$output" ''
    done
    [[ $(report -v log.jsonl | tr -s ' \n' ' ') == *"$spelled"* ]]
    [[ $(report -v --markdown log.jsonl | tr -s ' \n' ' ') == *"$spelled"* ]]
    [[ $(report --html=/dev/stdout log.jsonl) == *"$spelled"* ]]
    is "$(report --json log.jsonl | jq -c '.. | objects | select(.why? == "x").what')" "$(jq -c . <<<"\"$hidden\"")"
}

@test "a log cannot give orders to the terminal" {
    stack_with 9.8.0 "$(printf '{"kind":"unobserved","what":"a\\u001b[31mred\\u0007","why":"%s"}' \
        'a\u001b[31mred\u0007: c1 \u009b bidi \u202e separator \u2028 del \u007f accent é')" | make_log log.jsonl
    run report -v log.jsonl
    [[ $output == *'reason: a\x1b[31mred\x07: c1 \u009b bidi \u202e separator \u2028 del \x7f accent é'* ]]
    run -1 grep -P '\x1b|\x07|\xc2\x9b|\xe2\x80\xae' <<<"$output"
    cp log.jsonl $'evil\e[2J.jsonl'
    run report $'evil\e[2J.jsonl'
    [[ $output == *'evil\x1b[2J.jsonl'* ]]
    run --separate-stderr report $'no\e[2J'
    [[ $stderr == *'no\x1b[2J: No such file'* ]]
}

@test "a path that is no UTF-8 does not break json" {
    stack_with 9.8.0 "$ended" | make_log log.jsonl
    cp log.jsonl $'\xff.jsonl'
    run -0 --separate-stderr report --json $'\xff.jsonl'
    is "$(jq -r '.sources[0].path' <<<"$output")" $'\xef\xbf\xbd.jsonl'
}

@test "colour only where wanted" {
    stack_with 9.1.0 | make_log log.jsonl
    report log.jsonl >plain || true
    run -1 grep -q $'\e' plain
    report --color=always log.jsonl >coloured || true
    grep -q $'^\e\\[1;31merror\\[runtime-too-old]\e\\[0m: ' coloured
    is "$(sed 's/\x1b\[[0-9;]*m//g' coloured)" "$(cat plain)"
    # script gives it a terminal.
    is "$(script -qec "$CMD report log.jsonl" /dev/null | grep -c $'\e\\[1;31m')" 1
    is "$(NO_COLOR=1 script -qec "$CMD report log.jsonl" /dev/null | grep -c $'\e')" 0
    run -2 report --color=perhaps log.jsonl
}

@test "usage: help on stdout, mistakes on stderr with status 2" {
    run -0 --separate-stderr "$CMD" --help
    [[ $output == *"  run "*"  report "* && -z $stderr ]]
    run -0 --separate-stderr "$CMD" report --help
    [[ $output == "Usage: whichcudnn report"* && -z $stderr ]]
    run -0 "$CMD" --version
    [[ ${lines[0]} =~ ^"whichcudnn "[0-9]+\.[0-9]+ ]]
    is "${lines[1]}" "knows cuDNN up to $(knows cudnn), tables of $(knows tables)"
    local mistake
    for mistake in "" "nonsense" "report --no-such" "--no-such" "report --json --markdown ."; do
        # shellcheck disable=SC2086 # words, or none
        run -2 --separate-stderr "$CMD" $mistake
        [[ -z $output && -n $stderr ]]
    done
}

@test "what cannot be printed is not success" {
    stack_with 9.8.0 "$ended" | make_log log.jsonl
    # shellcheck disable=SC2016 # for that shell
    run -2 sh -c '"$CMD" report log.jsonl >/dev/full'
    [[ $output == *"could not be written"* ]]
}

# Twice the records are to cost about twice the time; a step that asks all of them for each costs four
# times as much. Lines that hold 77777 have each a number of their own there.
numbered() { # N: that many records of the kinds on stdin
    python3 "$WC_ROOT/tests/schema/complete.py" | python3 -c '
import re, sys
lines = sys.stdin.read().splitlines()
for i in range(1, int(sys.argv[1]) + 1):
    line = lines[(i - 1) % len(lines)].replace("77777", str(i))
    print(re.sub("\"seq\":[0-9]+", f"\"seq\":{i}", line))' "$1"
}

user_time() { # COMMAND...: in milliseconds
    local TIMEFORMAT=%3U
    { time "$@" >out 2>&1 || true; } 2>&1 | sed 's/[.]//'
}

# Another load on the computer lengthens a run, none shortens it: the least of each counts, of as many
# turns as are needed. What asks all for each stays at four times in every turn.
grows_with() { # SMALL LARGE [OPTION...]
    local small=999999 large=999999 took turn
    for turn in {1..12}; do
        took=$(user_time "$CMD" report "${@:3}" "$1")
        ((10#$took >= small)) || small=$((10#$took))
        took=$(user_time "$CMD" report "${@:3}" "$2")
        ((10#$took >= large)) || large=$((10#$took))
        # Less than 100 ms is within the clock's own error.
        ((turn < 3 || large >= 3 * (small > 100 ? small : 100))) || break
    done
    echo "report ${*:3}: $small ms, twice as many: $large ms"
    ((large < 3 * (small > 100 ? small : 100)))
}

@test "a log twice as long takes about twice the time, in every form" {
    local n
    for n in 40000 80000; do
        printf '%s\n' '{"kind":"request","request":77777,"tid":77777,"name":"/home/u77777/a.so"}' \
            '{"kind":"failure","request":99977777,"name":"libcudnn.so.9","text":"none"}' |
            numbered $n >$n.jsonl
    done
    grows_with 40000.jsonl 80000.jsonl
    grows_with 40000.jsonl 80000.jsonl -v
    grows_with 40000.jsonl 80000.jsonl -v --redact
    grows_with 40000.jsonl 80000.jsonl --json
    grows_with 40000.jsonl 80000.jsonl --markdown
    grows_with 40000.jsonl 80000.jsonl --html page.html
}

@test "twice as many processes, each on a node of its own and no two alike, take about twice the time" {
    local n
    for n in 2000 4000; do
        printf '%s\n' '{"kind":"process","pid":77777,"node":"n77777","parent_pid":1}' \
            '{"kind":"object","object":1,"role":"facade","version":"9.77777.0","path":"/o/libcudnn.so.9"}' |
            numbered $n >$n.jsonl
    done
    grows_with 2000.jsonl 4000.jsonl
    grows_with 2000.jsonl 4000.jsonl -v --redact
    grows_with 2000.jsonl 4000.jsonl --json
    grows_with 2000.jsonl 4000.jsonl --html page.html
}

@test "standard input, gzip and zstd: the same report, whatever the file is called" {
    stack_with 9.1.0 | make_log log.jsonl
    report log.jsonl >expected || true
    gzip -c log.jsonl >packed.gz
    zstd -qc log.jsonl >packed.zst
    cp packed.zst named-otherwise
    { head -n 3 log.jsonl | gzip; tail -n +4 log.jsonl | gzip; } >two-behind-another
    local file
    for file in packed.gz packed.zst named-otherwise two-behind-another; do
        run -1 --separate-stderr report "$file"
        is "${output//$file/log.jsonl}" "$(cat expected)"
    done
    for file in log.jsonl packed.gz packed.zst; do
        report - <"$file" >there || true
        is "$(sed 's/standard input/log.jsonl/' there)" "$(cat expected)"
        { head -c 1; sleep 0.1; cat; } <"$file" | report - >there || true
        is "$(sed 's/standard input/log.jsonl/' there)" "$(cat expected)"
    done
    mkdir logs
    cp packed.gz logs/whichcudnn-node7-4711-1.jsonl.gz
    run -1 report logs
    [[ ${lines[1]} == "error[runtime-too-old]: "* ]]
}

@test "a packed log is read up to a line that is longer than any record, and no further" {
    stack_with 9.1.0 | make_log log.jsonl
    head -c 1000000 /dev/zero >zeros
    for pack in "gzip -c" "zstd -qc"; do
        # What stands behind that line cannot be unpacked, and would be complained of.
        { $pack log.jsonl && $pack zeros && echo 'this is not packed'; } >packed
        run -1 --separate-stderr report -v packed
        is "$stderr" ""
        [[ $output == *"line 8 could not be read: longer than any record; a packed log is read no further"* ]]
        [[ $output != *"ended within a line"* ]]
        { $pack zeros && echo 'this is not packed'; } >packed
        run -2 --separate-stderr report packed
        is "$output$stderr" "whichcudnn: packed: not a log of whichcudnn (line 1: longer than any record; a packed log is read no further)"
    done
}

@test "a log packed with zstd where its library is not there: a sentence, and status 2" {
    stack_with 9.1.0 | make_log log.jsonl
    zstd -qc log.jsonl >packed.zst
    mkdir none
    echo 'no library' >none/libzstd.so.1
    run -2 --separate-stderr env LD_LIBRARY_PATH="$PWD/none" "$CMD" report packed.zst
    is "$stderr" "whichcudnn: packed.zst: it is packed with zstd, and there is no libzstd.so.1 here: unpack it by \`zstd -d\`"
}

@test "an archive that is cut off or damaged: that, and status 2" {
    stack_with 9.1.0 | make_log log.jsonl
    gzip -c log.jsonl >a.gz
    zstd -qc log.jsonl >a.zst
    local kind size
    for kind in gz zst; do
        size=$(stat -c %s a.$kind)
        for size in 5 $((size / 2)) $((size - 1)); do
            head -c "$size" a.$kind >cut.off
            run -2 --separate-stderr report cut.off
            is "$stderr" "whichcudnn: cut.off: it is packed, and cut off"
            is "$output" ""
        done
        { head -c 60 a.$kind; printf '%030d' 0; tail -c +91 a.$kind; } >damaged
        run -2 --separate-stderr report damaged
        [[ $stderr == "whichcudnn: damaged: its "*" data is damaged: "* ]]
    done
    run -2 --separate-stderr report - </dev/null
    is "$stderr" "whichcudnn: -: empty"
}

@test "a log that is no regular file is refused, and nobody waits for it" {
    mkfifo "$BATS_TEST_TMPDIR/fifo"
    run timeout 10 "$CMD" report "$BATS_TEST_TMPDIR/fifo"
    [ "$status" -eq 2 ]
    [[ $output == *"not a regular file"* ]]
}
