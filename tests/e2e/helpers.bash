# SPDX-License-Identifier: Apache-2.0
# What the end-to-end tests share: `load helpers`. BUILD SHIM CMD PY and functions on logs.
# shellcheck shell=bash

# shellcheck source=../setup/helper.bash
. "$(dirname "${BASH_SOURCE[0]}")/../setup/helper.bash"

export BUILD=$WC_BUILD CMD=$WHICHCUDNN PY=$WC_PYTHON
export PYTHONDONTWRITEBYTECODE=1

# Every line valid by docs/log.schema.json, whole, the process first.
validate_log() { "$PY" "$WC_ROOT/tests/schema/validate.py" log "$@"; }
# That key of all fixes that `report` prints of a finding of a log.
fixes_of() { # FINDING KEY LOG
    "$CMD" report --json "$3" |
        jq -r --arg id "$1" --arg key "$2" 'first(.findings[] | select(.id == $id)).fix[][$key]'
}
validate_report() { "$PY" "$WC_ROOT/tests/schema/validate.py" report "$@"; }

# make_log FILE < PARTIAL: a valid log from JSON lines that hold only what matters.
make_log() { "$PY" "$WC_ROOT/tests/schema/complete.py" "$1"; }

# whole_lines FILE...: the lines of logs with all keys.
whole_lines() { "$PY" -S "$WC_ROOT/tests/schema/whole.py" "$@"; }

# records KIND FILE...: all records of that kind, one a line, with all keys; last_record: the last of them.
records() {
    local kind=$1
    shift
    whole_lines "$@" | jq -c --arg kind "$kind" 'select(.kind == $kind)'
}
last_record() { records "$@" | tail -n 1; }

# field KIND KEY FILE: that key of the last record of the kind, as jq -r prints it.
field() { last_record "$1" "$3" | jq -r --arg key "$2" '.[$key]'; }

# the_log [DIR]: the one log in a directory (what follows an exec has -2 in its name); fails where there is none or more than one.
the_log() {
    local logs=("${1:-.}"/whichcudnn-*.jsonl*)
    [ "${#logs[@]}" -eq 1 ] && [ -f "${logs[0]}" ] && echo "${logs[0]}"
}

# is ACTUAL EXPECTED: equality that shows both sides where it fails.
is() {
    [ "$1" = "$2" ] && return
    printf 'got:      %s\nexpected: %s\n' "$1" "$2"
    return 1
}

# of_python PREFIX: its lib/python3.12 is of an interpreter, whose pip is that of PATH.
of_python() {
    mkdir -p "$1/bin"
    touch "$1/bin/python3.12" "$1/bin/pip"
    PATH=$PWD/$1/bin:$PATH
}

# The records of a process that got a cuDNN that is too old, behind the one of the process itself.
too_old() {
    cat <<'END'
{"kind":"machine"}
{"kind":"request","request":1,"operation":"dlopen","name":"libcudnn.so.9"}
{"kind":"object","object":1,"role":"host","mapped":true,"path":"/v/_versions.so"}
{"kind":"object","object":2,"role":"facade","mapped":true,"path":"/v/libcudnn.so.9","version":"9.1.0","version_source":"data symbol","asked_by_object":1,"request":1}
{"kind":"demand","host":1,"demand_kind":"required","spec":">=9.8","compatibility_rule":"nvidia","source":"METADATA of x 1"}
{"kind":"binding","host":1,"target":2,"how":"dlsym","functions":["cudnnCreate"]}
{"kind":"call","function":"cudnnCreate","phase":"before","host":1,"target":2}
END
}

# Makes a child of `run` that behaves as if the shim were in it: `child PARTIAL COMMAND [FIRST]` does
# FIRST, writes the records of the file PARTIAL as its log, in one write, and then does COMMAND. sick,
# well, and fine, which came to a normal end, are such files.
make_child() {
    cat >child <<END
#!/bin/bash
eval "\${3:-}"
sed "s/^{/{\"pid\":\$\$,\"tid\":\$\$,\"time\":\$(date +%s%6N),/; s/RUN_PID/\$WHICHCUDNN_RUN_PID/" "\$1" |
    '$PY' '$WC_ROOT/tests/schema/complete.py' |
    dd status=none obs=1M >"\$WHICHCUDNN_LOG/whichcudnn-n-\$\$-1.jsonl"
eval "\$2"
END
    chmod +x child
    { echo '{"kind":"process","node":"n","run_pid":RUN_PID,"eager":true}' && too_old; } >sick
    grep -v demand sick >well
    { cat well; echo '{"kind":"call","function":"cudnnCreate","phase":"after","host":1,"target":2,"status":0}'
        echo '{"kind":"summary"}'; } >fine
}

# The end of a process that did well; without it a log says nothing good.
# shellcheck disable=SC2034 # of the files that load this
ended='{"kind":"outcome","ending":"exited","exit_status":0,"observed":true}'

# stack [VERSION [RULE [ELEMENT]]]: the records of a process that got that cuDNN, for make_log.
stack() {
    local version=${1:-9.8.0} rule=${2:-DT_RUNPATH} element=${3-\$ORIGIN}
    cat <<END_OF_STACK
{"kind":"process","node":"node7","arguments":["python","train.py"],"environment":["LD_LIBRARY_PATH=${element#\$ORIGIN}","RANK=3","LD_PRELOAD=/opt/other.so:/opt/libwhichcudnn.so"],"shim_path":"/opt/libwhichcudnn.so"}
{"kind":"machine","driver":"570.86.15","architecture":"x86_64","glibc":"2.36","kernel":"6.1.0","operating_system":"Debian"}
{"kind":"package","installation_kind":"wheel","package":"nvidia-cudnn-cu12","package_version":"$version.70","package_state":"complete","prefix":"/v/site-packages"}
{"kind":"object","object":1,"role":"host","mapped":true,"path":"/v/plugin/_versions.so","build_id":"aa01","installation_kind":"wheel","installation":"jax-cuda12-plugin","installation_version":"0.10.2"}
{"kind":"object","object":2,"role":"facade","mapped":true,"soname":"libcudnn.so.9","path":"/v/cudnn/libcudnn.so.9","version":"$version","version_source":"data symbol","build_id":"bb02","asked_by_object":1,"installation_kind":"wheel","installation":"nvidia-cudnn-cu12","installation_version":"$version.70","installation_path":"/v/cudnn"}
{"kind":"object","object":3,"role":"part","part":"graph","mapped":true,"soname":"libcudnn_graph.so.9","path":"/v/cudnn/libcudnn_graph.so.9","version":"$version","version_source":"data symbol","asked_by_object":2,"installation_kind":"wheel","installation":"nvidia-cudnn-cu12","installation_version":"$version.70","installation_path":"/v/cudnn"}
{"kind":"search","search":1,"name":"libcudnn.so.9","object":2,"rule":"$rule","element":"$element"}
{"kind":"demand","host":1,"host_path":"/v/plugin/_versions.so","demand_kind":"required","spec":">=9.8","compatibility_rule":"nvidia","source":"METADATA of jax-cuda12-plugin 0.10.2"}
{"kind":"binding","host":1,"host_path":"/v/plugin/_versions.so","target":2,"target_path":"/v/cudnn/libcudnn.so.9","how":"dlsym","functions":["cudnnCreate"]}
$ended
END_OF_STACK
}

# What core/data/cudnn_knowledge.tsv says: knows cudnn, knows tables.
knows() { awk -F'\t' -v what="$1" '$1 == what { print $2 }' "$WC_ROOT/core/data/cudnn_knowledge.tsv"; }
