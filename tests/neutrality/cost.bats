#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What a watched call costs once its first one is over, in instructions: time is too noisy to tell.

bats_require_minimum_version 1.5.0
load ../e2e/helpers

setup_file() {
    local flags=(-std=gnu11 -D_GNU_SOURCE -O2) bench=$WC_ROOT/tests/bench
    cd "$BATS_FILE_TMPDIR" || return
    gcc "${flags[@]}" -shared -fPIC -Wl,-soname,libcudnn.so.9 -o libcudnn.so.9 "$bench/cudnn.c"
    gcc "${flags[@]}" -o calls "$bench/calls.c" -pthread ./libcudnn.so.9 -Wl,-rpath,"\$ORIGIN"
}

executed() { # PRELOAD ARGUMENTS CALLS: instructions of the program
    BENCH="-$2	" WHICHCUDNN_LOG=$BATS_TEST_TMPDIR LD_PRELOAD=$1 valgrind --tool=callgrind \
        --callgrind-out-file=/dev/null --log-file="$BATS_TEST_TMPDIR/counted" \
        "$BATS_FILE_TMPDIR/calls" 1 1 "$3" >/dev/null 2>&1
    sed -n 's/.*Collected : //p' "$BATS_TEST_TMPDIR/counted"
}

# Of two runs the difference is the calls' own: 100,000, and a tenth of that to warm up. To the nearest number: what
# else a run does differs by some thousands.
one_call() { # PRELOAD ARGUMENTS
    echo $((($(executed "$1" "$2" 200000) - $(executed "$1" "$2" 100000) + 55000) / 110000))
}

@test "a watched call costs at most 8 instructions more, with 13 arguments 19" {
    [ "$(uname -m)" = x86_64 ] || skip "other processors count otherwise"
    local arguments bare watched
    while read -r arguments most; do
        bare=$(one_call '' "$arguments") watched=$(one_call "$SHIM" "$arguments")
        echo "$arguments arguments: bare $bare, watched $watched"
        [ "$bare" -gt 5 ] && [ "$watched" -gt "$bare" ] && [ $((watched - bare)) -le "$most" ]
    done <<'END'
3 8
13 19
END
    is "$(records call "$BATS_TEST_TMPDIR"/*.jsonl | jq -r .phase | sort | uniq -c | xargs)" '4 after 4 before'
}
