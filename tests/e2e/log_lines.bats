#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The lines of docs/log.md that read a log by jq and grep, exactly as they stand there.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    make_standin 9.1.0 set
    build_host now set host
    mkdir logs
    run -0 env LD_PRELOAD="$SHIM" WHICHCUDNN_LOG="$PWD/logs" WHICHCUDNN_STDERR=off WHICHCUDNN_EXPECT='>=9.8' \
        ./host version create
    mapfile -t page < <(sed -n '/^<!-- lines: begin/,/^<!-- lines: end/s/^    //p' "$WC_ROOT/docs/log.md")
}

# says N PATTERN: what the N-th line prints, with its directory in the place of the page's.
says() {
    run -0 bash -c "set -o pipefail; ${page[$1 - 1]//\/usr\/lib\//$PWD/set/}"
    # shellcheck disable=SC2053  # a pattern
    [[ $output == $2 ]] || { printf '%s\n' "${page[$1 - 1]}" "$output"; return 1; }
}

@test "each line of the page finds what is in the log" {
    is "${#page[@]}" 5
    says 1 "[0-9]*$(printf '\t9.1.0\t%s\t%s' "$PWD/set/libcudnn.so.9" "$PWD/host")"
    says 2 '*2 libcudnn_graph.so.9.1.0: cannot open shared object file: No such file or directory*'
    says 3 "expectation-not-met$(printf '\t')*9.1.0*"
    says 4 "$(the_log logs)"
    says 5 "20[0-9][0-9]-*T*:*Z$(printf '\t')cudnnGetVersion*cudnnCreate"
}
