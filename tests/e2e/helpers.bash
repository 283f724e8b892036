# What the end-to-end tests share: `load helpers`. BUILD SHIM CMD PY and functions on logs.
# shellcheck shell=bash

# shellcheck source=../setup/helper.bash
. "$(dirname "${BASH_SOURCE[0]}")/../setup/helper.bash"

export BUILD=$WC_BUILD CMD=$WHICHCUDNN PY=$WC_PYTHON
export PYTHONDONTWRITEBYTECODE=1
# A person's own settings are not the tests'.
unset WHICHCUDNN_LOG WHICHCUDNN_STDERR WHICHCUDNN_CALLS WHICHCUDNN_EXPECT WHICHCUDNN_ARGV \
    WHICHCUDNN_DISABLE WHICHCUDNN_RUN_PID WHICHCUDNN_SHIM NO_COLOR

# Every line valid by docs/log.schema.json, whole, the process first.
validate_log() { "$PY" "$WC_ROOT/tests/schema/validate.py" log "$@"; }
validate_report() { "$PY" "$WC_ROOT/tests/schema/validate.py" report "$@"; }

# make_log FILE < PARTIAL: a valid log from JSON lines that hold only what matters.
make_log() {
    python3 "$WC_ROOT/tests/schema/complete.py" >"$1"
    validate_log "$1"
}

# records KIND FILE...: all records of that kind, one a line; last_record: the last of them.
records() {
    local kind=$1
    shift
    jq -c --arg kind "$kind" 'select(.kind == $kind)' "$@"
}
last_record() { records "$@" | tail -n 1; }

# field KIND KEY FILE: that key of the last record of the kind, as jq -r prints it.
field() { last_record "$1" "$3" | jq -r --arg key "$2" '.[$key]'; }

# the_log [DIR]: the one log in a directory (what follows an exec has .2 behind); fails where there is none or more than one.
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

# Makes a child of `run` that behaves as if the shim were in it: `child PARTIAL COMMAND [FIRST]` does
# FIRST, writes the records of the file PARTIAL as its log, in one write, and then does COMMAND. sick
# and well are such files.
make_child() {
    cat >child <<END
#!/bin/bash
eval "\${3:-}"
sed "s/^{/{\"pid\":\$\$,\"tid\":\$\$,\"time\":\$(date +%s%6N),/; s/RUN_PID/\$WHICHCUDNN_RUN_PID/" "\$1" |
    python3 '$WC_ROOT/tests/schema/complete.py' |
    dd status=none obs=1M >"\$WHICHCUDNN_LOG/whichcudnn-n-\$\$-1.jsonl"
eval "\$2"
END
    chmod +x child
    cat >sick <<'END'
{"kind":"process","node":"n","run_pid":RUN_PID,"eager":true}
{"kind":"machine"}
{"kind":"request","request":1,"operation":"dlopen","name":"libcudnn.so.9"}
{"kind":"object","object":1,"role":"host","mapped":true,"path":"/v/_versions.so"}
{"kind":"object","object":2,"role":"facade","mapped":true,"path":"/v/libcudnn.so.9","version":"9.1.0","version_source":"data symbol","asked_by_object":1,"request":1}
{"kind":"demand","host":1,"demand_kind":"required","spec":">=9.8","rule":"nvidia","source":"METADATA of x 1"}
{"kind":"binding","host":1,"target":2,"how":"dlsym","functions":["cudnnCreate"]}
{"kind":"call","function":"cudnnCreate","phase":"before","host":1,"target":2}
END
    grep -v demand sick >well
}
