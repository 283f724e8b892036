#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Memory and pages of reports: a long log, and many logs.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# peak COMMAND...: its largest resident size in MB, alone on standard output; fails where a signal ended it.
peak() {
    "$PY" - "$@" <<'END'
import os
import subprocess
import sys

command = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
status, usage = os.wait4(command.pid, 0)[1:]
print(usage.ru_maxrss // 1024)
sys.exit(os.WIFSIGNALED(status))
END
}

# long_log FILE MEGABYTES: a log of a host that asks, finds nothing and calls for ever: new names, threads,
# paths, and ever new things about one library.
long_log() {
    "$PY" - "$@" <<'END'
import json
import sys

path, size = sys.argv[1], int(sys.argv[2]) << 20
with open(path, "w", encoding="ascii") as log:
    seq = 0

    def tell(kind, **fields):
        global seq
        seq += 1
        return log.write(json.dumps({"v": 4, "seq": seq, "time": 1700000000000000 + seq, "pid": 4711, "tid": 4711 + seq,
                                     "kind": kind, **fields}, separators=(",", ":")) + "\n")

    tell("process", node="n", start_ticks=1, executable="/bin/host")
    # As many as are kept; from then on memory cannot grow by them.
    done = sum(tell("request", request=i, operation="dlopen", name=f"{i}.so") for i in range(66000))
    while done < size:
        name = f"/opt/{seq}/lib{'x' * 100}{seq}.so"
        done += tell("request", request=seq, operation="dlopen", name=name, caller="/bin/host")
        done += tell("failure", request=seq, operation="dlopen", name=name, text=f"{name}: no such file")
        done += tell("object", object=1, role="host", mapped=True, path=name, needed=[name])
        done += tell("search", search=seq, name=name, searched=[name])
        done += tell("candidate", search=seq, path=name)
        done += tell("call", function="cudnnCreate", phase="before", target_path=name)
        done += tell("file", path=name, request=seq)
        done += tell("package", package=name, prefix=name)
        done += tell("binding", host_path=name, functions=[name])
        done += tell("unobserved", what=name, why=name)
END
}

@test "the memory of a report does not grow with its log" {
    local small large
    long_log small.jsonl 25
    long_log large.jsonl 100
    small=$(peak "$CMD" report small.jsonl)
    large=$(peak "$CMD" report large.jsonl)
    echo "$small MB of memory for 25 MB, $large MB for 100 MB"
    ((large * 2 < small * 3))
}

@test "a page of many logs: bounded in bytes, little memory for each, groups first, and what is left out" {
    "$PY" "$WC_ROOT/tests/bench/make_logs.py" logs 1000
    local memory
    memory=$(peak "$CMD" report --html page.html logs)
    echo "$memory MB, $(stat -c %s page.html) bytes"
    ((memory < 60)) # of which 20 are the page and its events
    [ "$(stat -c %s page.html)" -lt 10000000 ]
    local shown
    shown=$(grep -c '<article ' page.html)
    [ "$shown" -ge 20 ]
    grep -q "<p class=\"cut\">$shown of 1000 processes are shown whole, the first of each group before others." page.html
    # One in a hundred has another cuDNN: the first of those comes second.
    sed -n '/<details class="everything">/,/<\/pre>/{s/.*<pre>//; s/<\/pre>.*//; p}' page.html |
        sed 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' | jq -s . >data
    is "$(jq -c '[.[:3][].stack.objects[1].version]' data)" '["9.8.0","9.1.0","9.8.0"]'
    is "$(grep -c '<td>.*<td class="severity">' page.html)" 1000
    is "$(grep -c 'href="#p' page.html)" "$shown"
    is "$(jq length data)" "$shown"
}
