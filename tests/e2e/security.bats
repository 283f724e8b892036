#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What SECURITY.md promises of commands that only read.

bats_require_minimum_version 1.5.0
load helpers

setup() { cd "$BATS_TEST_TMPDIR"; }

# started COMMAND...: how many programs it starts, and how many sockets it makes
started() {
    strace -f -qq -e trace=execve,execveat,socket -o trace "$@" >said 2>&1 || true
    [ -s said ]
    tail -n +2 trace | grep -c .
}

@test "SECURITY.md: what only reads starts no program and opens no connection, whatever a log names" {
    local words word
    make_standin 9.1.0 set --only facade
    make_standin 9.5.0 set --without facade
    build_host lazy set host
    run -0 "$CMD" run -q --log log.jsonl -- ./host version
    run -1 "$CMD" lock -o lock log.jsonl # it has an error
    mapfile -t words < <(sed -n '/^These read files/,/^$/p' "$WC_ROOT/SECURITY.md" | grep -oE '`[a-z][^`]*`' | tr -d '`')
    [ ${#words[@]} -ge 8 ]
    for word in "${words[@]}"; do
        echo "$word"
        case $word in
        scan) word='scan .' ;;
        report) word='report -v --html page.html log.jsonl' ;;
        inspect) word="inspect $$" ;;
        explain) word='explain part-missing' ;;
        diff) word='diff log.jsonl log.jsonl' ;;
        lock) word='lock log.jsonl' ;;
        'check LOCK LOG') word='check lock log.jsonl' ;;
        'fix LOG') word='fix log.jsonl' ;;
        *) echo "not known here" && return 1 ;;
        esac
        # shellcheck disable=SC2086  # words
        is "$(started "$CMD" $word)" 0
    done
    # It can be seen.
    is "$(started "$CMD" run -q -- ./host version)" 1
}
