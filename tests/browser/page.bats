#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn report --html, shown by a headless Chromium and held against report --json. Screenshots
# are left in $WC_BUILD/browser.

bats_require_minimum_version 1.5.0
load ../e2e/helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    screens=$WC_BUILD/browser
    mkdir -p "$screens"
}

report() { "$CMD" report "$@"; }
check_page() { "$PY" "$WC_ROOT/tests/browser/check_page.py" "$@"; }

# render LOG...: page.html and report.json, which must say the same by their exit status
render() {
    local of_page=0 of_json=0
    report --html page.html "$@" || of_page=$?
    report --json "$@" >report.json || of_json=$?
    is "$of_page" "$of_json"
}

# A stack with all that the picture has: two installations, losers, a name asked for in vain.
stack() { # VERSION-OF-OPS RANK
    "$PY" - "$@" <<'END'
import json
import sys

ops, rank = sys.argv[1], int(sys.argv[2])
SITE, SYSTEM = "/opt/venv/lib/python3.11/site-packages", "/usr/lib/x86_64-linux-gnu"
TORCH, FACADE = f"{SITE}/torch/lib/libtorch_cuda.so", f"{SITE}/nvidia/cudnn/lib/libcudnn.so.9"


def tell(kind, **fields):
    print(json.dumps({"kind": kind, "pid": 5000 + rank, "tid": 5000 + rank, **fields}))


def installed(kind, name, version, path):
    return {"installation_kind": kind, "installation": name, "installation_version": version,
            "installation_path": path}


def library(number, role, path, asker=None, **fields):
    tell("object", object=number, role=role, mapped=True, path=path, real_path=path,
         asked_by_object=asker, version_source="data symbol", build_id="ab" * 20, **fields)


WHEEL = installed("wheel", "nvidia-cudnn-cu12", "9.10.2.21", f"{SITE}/nvidia/cudnn")
DEBIAN = installed("debian", "libcudnn9-cuda-12", "9.1.0.70-1", SYSTEM)
CUBLAS = installed("wheel", "nvidia-cublas-cu12", "12.8.4.1", f"{SITE}/nvidia/cublas")
tell("process", node="node7", arguments=["python", "train.py"], environment=[f"RANK={rank}"])
tell("machine", kernel="6.1.0", driver="580.65.06", gpu_devices=1, gpus=["NVIDIA H100, 9.0"])
library(1, "host", TORCH, framework="PyTorch",
        **installed("wheel", "torch", "2.8.0", f"{SITE}/torch"))
library(2, "facade", FACADE, 1, soname="libcudnn.so.9", version="9.10.2", asked_how="needed",
        **WHEEL)
tell("search", search=1, name="libcudnn.so.9", caller_object=1, caller=TORCH, object=2,
     rule="DT_RUNPATH", element="$ORIGIN/../../nvidia/cudnn/lib", index=0, of=TORCH)
tell("candidate", search=1, path=f"{SYSTEM}/libcudnn.so.9", rule="ld.so.cache", beaten=True,
     file_state="fits", version="9.1.0", version_source="data symbol", **DEBIAN)
for number, part in enumerate(["graph", "engines_precompiled", "engines_runtime_compiled",
                               "heuristic", "ops", "cnn", "adv"], 3):
    foreign = part == "ops" and ops != "9.10.2"
    directory = SYSTEM if foreign else f"{SITE}/nvidia/cudnn/lib"
    library(number, "part", f"{directory}/libcudnn_{part}.so.9", 2, part=part, asked_how="dlopen",
            version=ops if foreign else "9.10.2", **(DEBIAN if foreign else WHEEL))
    tell("search", search=number, name=f"libcudnn_{part}.so.9", caller_object=2, caller=FACADE,
         object=number, rule="LD_LIBRARY_PATH" if foreign else "DT_RUNPATH", index=0)
    tell("candidate", search=number, path=f"/usr/local/cuda/lib64/libcudnn_{part}.so.9", index=1,
         rule="ld.so.cache", beaten=True, file_state="fits", version="9.1.1", installation="cuda",
         installation_kind="cuda-toolkit", installation_path="/usr/local/cuda")
library(20, "cuda-dependency", f"{SITE}/nvidia/cublas/lib/libcublas.so.12", 1, part="cublas",
        asked_how="needed", version="12.8.4.1", **CUBLAS)
library(21, "cuda-dependency", f"{SITE}/nvidia/cublas/lib/libcublasLt.so.12", 20, part="cublasLt",
        asked_how="needed", version="12.8.4.1", **CUBLAS)
library(22, "cuda-dependency", f"{SYSTEM}/nvidia/libcuda.so.580.65.06", 1, part="cuda",
        soname="libcuda.so.1", asked_how="dlopen", version="580.65.06")
tell("failure", operation="dlopen", name="libnvrtc.so.12", caller_object=3, text="no such file")
tell("demand", host=1, host_path=TORCH, demand_kind="built", spec="==9.10.2.21", compatibility_rule="nvidia")
tell("binding", host=1, target=2, how="slot", functions=["cudnnCreate", "cudnnGetVersion"])
tell("call", function="cudnnCreate", phase="after", host=1, target=2, status=0,
     status_name="CUDNN_STATUS_SUCCESS")
END
}

@test "a stack with everything: words, picture, details, keys, paper, 1280 and 390 pixels" {
    stack 9.1.0 0 | make_log log.jsonl
    render log.jsonl
    check_page report.json page.html "$screens/stack"
    # As many as were put in: 12 objects, 8 losers, the driver, what was asked for in vain.
    is "$(jq '[.stack.objects, .stack.candidates | length] | add' report.json)" 20
}

@test "several processes: who agrees first, then one at a time" {
    mkdir logs
    for rank in 0 1 2; do stack 9.10.2 $rank | make_log logs/whichcudnn-n-$rank-1.jsonl; done
    stack 9.1.0 3 | make_log logs/whichcudnn-n-3-1.jsonl
    render logs
    check_page report.json page.html "$screens/ranks"
    grep -qx '<pre class="agreement">ranks 0-2 agree; rank 3 differs:' page.html
    grep -qx '  version of libcudnn_ops.so.9: 9.1.0, not 9.10.2' page.html
    is "$(grep -c '<article' page.html)" 4
}

@test "drawn logs: each page holds what its JSON holds, and nothing harmful" {
    "$PY" "$WC_ROOT/tests/schema/draw_logs.py" logs 5 ${WC_SEED:+"$WC_SEED"}
    validate_log logs/*
    local log
    for log in logs logs/*-0-1.jsonl logs/*-1-1.jsonl; do
        render "$log"
        check_page report.json page.html
    done
}

@test "the log of a real process" {
    make_standin 9.1.0 set --only facade
    make_standin 9.5.0 set --without facade
    build_host lazy set host
    mkdir logs
    "$CMD" run --quiet --log logs -- ./host version create || true
    render logs
    check_page report.json page.html "$screens/real"
    [ "$(jq '.stack.objects | length' report.json)" -ge 3 ]
    is "$(jq -r '.findings[0].id' report.json)" facade-and-parts-differ
}

# Each harmful text where people see it: title, fact, command, path, installation, version.
hostile() {
    "$PY" - <<'END'
import json

TEXTS = ["<script>alert(1)</script>", "</script><script>alert(2)</script>", "<!--<script>", "]]>",
         "<img src=x onerror=alert(3)>", "\"'><svg onload=alert(4)>", "a\nb\r\x1b[31mred\x07",
         "\u202egpj.so", "\u2066x\u2069\u2028y", "x" * 4000, "&lt;b&gt;&amp;", "javascript:alert(5)",
         "${alert(6)}", "{{data}}"]
print(json.dumps({"kind": "process", "node": TEXTS[1], "arguments": TEXTS}))
for number, text in enumerate(TEXTS, 1):
    short = text[:800]  # a record has 16 KiB
    print(json.dumps({"kind": "object", "object": number, "role": "host" if number == 1 else "part",
                      "mapped": True, "path": f"/{text}/{short}", "part": short, "version": short,
                      "asked_by_object": 1, "asked_by": short, "installation_kind": "wheel",
                      "installation": short, "installation_path": short, "framework": short}))
    print(json.dumps({"kind": "search", "search": number, "name": text, "caller_object": 1,
                      "object": number, "rule": "DT_RUNPATH", "searched": [text]}))
    print(json.dumps({"kind": "candidate", "search": number, "path": text, "version": text}))
    print(json.dumps({"kind": "failure", "operation": "dlopen", "name": text, "text": text,
                      "caller": text}))
    print(json.dumps({"kind": "call", "function": text, "phase": "after", "status": 7,
                      "status_name": text, "host": 1, "target": number}))
    print(json.dumps({"kind": "unobserved", "what": text, "why": text, "path": text}))
END
}

@test "hostile strings come out as text, and bytes that are no UTF-8" {
    hostile | make_log $'bad\xff<script>alert(9)<\x1b.jsonl'
    render $'bad\xff<script>alert(9)<\x1b.jsonl'
    check_page report.json page.html "$screens/hostile"
    # One script element, and its end.
    is "$(grep -o '<script' page.html | wc -l) $(grep -o '</script' page.html | wc -l)" "1 1"
    iconv -f UTF-8 -t UTF-8 page.html >/dev/null
}

@test "the data is the JSON, and nothing outside of ASCII or of markup is in it" {
    hostile | make_log log.jsonl
    render log.jsonl
    sed -n '/<details class="everything">/,/<\/pre>/{s/.*<pre>//; s/<\/pre>.*//; p}' page.html | sed '$d' >data
    run ! grep -q '[<>]' data
    sed 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' data | diff - report.json
    run ! env LC_ALL=C grep -q '[^ -~]' data
}

@test "what breaks the page is seen: escaping, policy, script, a fact, a node" {
    hostile | grep -E '"process"|alert\(3\)|<!--' | make_log log.jsonl
    render log.jsonl
    check_page report.json page.html
    broken() { # WHAT IS SEEN, SED PROGRAM
        sed -E "$2" page.html >broken.html
        run ! cmp -s page.html broken.html
        run -1 check_page report.json broken.html
        [[ $output == *"$1"* ]] || { echo "not seen: $1"; echo "$output"; return 1; }
    }
    broken 'tags that are not ours' 's/&lt;img src=x onerror=alert\(3\)&gt;/<img src=x onerror=alert(3)>/g'
    broken 'tags that are not ours' '/<pre>\{$/,/<\/pre>/s/&lt;img/<img/g'
    broken 'complaints' 's/^"use strict";$/"use strict" ;/'
    broken 'data, stack' 's/"fingerprint": "./&x/'
    broken 'elements that are not ours' 's/<footer>/<footer onclick="alert(1)">/'
    jq '.stack.objects |= .[1:]' report.json >fewer.json
    run -1 check_page fewer.json page.html
    [[ $output == *'nodes: '* ]]
    sed -i 's/\\x1b/\x1b/' page.html
    run -1 check_page report.json page.html
}

@test "redacted, no user and no node is in the page" {
    "$PY" "$WC_ROOT/tests/schema/draw_logs.py" logs 4 ${WC_SEED:+"$WC_SEED"}
    local names='alice|smith|bobby|carol|gpu-node|cluster|wn0815'
    render logs
    grep -qE "$names" page.html
    render --redact logs
    run ! grep -nE "$names" page.html
    check_page report.json page.html
}

@test "options: one form at a time; what cannot be written is said" {
    stack 9.1.0 0 | make_log log.jsonl
    run -2 --separate-stderr report --json --html page.html log.jsonl
    is "$output" ""
    [[ $stderr == *'one of them is expected'* ]]
    [ ! -e page.html ]
    run -2 --separate-stderr report --html nowhere/page.html log.jsonl
    is "$stderr" "whichcudnn: nowhere/page.html: No such file or directory"
    run -2 --separate-stderr report --html /dev/full log.jsonl
    is "$stderr" "whichcudnn: /dev/full: No space left on device"
    run -2 report --html
    run -1 --separate-stderr report --html page.html log.jsonl
    is "$output$stderr" ""
    # Nothing of the page is fetched from elsewhere.
    run ! grep -nE 'https?://|@import|url\(' <(grep -v 'www.w3.org/2000/svg' page.html)
}
