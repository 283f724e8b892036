#!/usr/bin/env bats
# docs/limits.md holds what the code has: system calls, sizes of tables, names of functions.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$WC_ROOT" || return
    page=docs/limits.md
}

section() { # TITLE: the table rows of that section, without the head
    sed -n "/^## $1\$/,/^## /s/^| \`/&/p" "$page"
}

# Names between backquotes in the first column.
first_column() { section "$1" | cut -d '|' -f 2 | grep -o '`[^`]*`' | tr -d '`' | sort; }

@test "every system call that the shim makes is in docs/limits.md, and no other" {
    grep -rhoE '__NR_[a-z0-9_]+' shim | sed 's/__NR_//' | sort -u >"$BATS_TEST_TMPDIR/made"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/made")" -ge 20 ]
    diff <(first_column 'System calls') "$BATS_TEST_TMPDIR/made"
    # There is one way to make one.
    is "$(grep -rlE '\b(syscall|svc|int \$0x80)\b' shim --include='*.[chS]' | sort)" \
        "$(printf '%s\n' shim/arch/aarch64/arch.h shim/arch/x86_64/arch.h)"
}

value_in_code() { # CONSTANT
    local expression
    expression=$(grep -rhE "(#define $1 |[{ ]$1 = )" shim include core --include='*.[ch]' |
        sed -E "s/.*$1( =)? //; s/\(size_t\)//; s/[,}].*//; s/\/\*.*//")
    echo $((expression))
}
value_in_page() { # CONSTANT
    section Sizes | awk -F'|' -v name="\`$1\`" '
        index($2, name) { split($3, v, " "); print v[1] * (v[2] == "MiB" ? 1048576 : v[2] == "KiB" ? 1024 : 1) }'
}

@test "the sizes in docs/limits.md are those of the code, and none of the shim's tables is left out" {
    local name
    for name in $(first_column Sizes); do
        echo "$name"
        is "$(value_in_page "$name")" "$(value_in_code "$name")"
    done
    diff <(grep -rhoE '#define ([A-Z]+_)*(MOST|KEPT|INSTANCES)(_[A-Z]+)*\b' shim | cut -d ' ' -f 2 | sort) \
        <(first_column Sizes | grep -E 'MOST|KEPT|INSTANCES' | grep -v ^WC_)
}

@test "the pages that docs/limits.md and README.md point to are there" {
    local file target
    for file in README.md "$page"; do
        [ "$(grep -cE '\]\([^) #:]+' "$file")" -gt 0 ]
        while read -r target; do
            echo "$file: $target"
            [ -e "$(dirname "$file")/$target" ]
        done < <(grep -oE '\]\([^) #:]+' "$file" | cut -c 3-)
    done
}

@test "what is not observed has a test each, which is there under that name" {
    local title rows file name count=0
    for title in 'Processes that it is not in' 'Objects and calls that it does not see'; do
        rows=$(sed -n "/^## $title\$/,/^## /p" "$page" | grep '^| ' | tail -n +2)
        is "$(grep -vE '\[test\]\([^ ]+ "[^"]+"\) \|$' <<<"$rows")" ''
    done
    while IFS=$'\t' read -r file name; do
        echo "$file: $name"
        case $file in
        *.bats) grep -qxF "@test \"$name\" {" "tests/$file" ;;
        *.c) grep -qxF "static void $name(void **state) {" "tests/$file" ;;
        *) grep -qxF "name = \"$name\"" "tests/$file" ;;
        esac
        count=$((count + 1))
    done < <(sed -nE 's|.*\[test\]\(\.\./tests/([^ ]+) "([^"]+)"\).*|\1\t\2|p' "$page")
    [ "$count" -ge 30 ]
}

@test "a host that asks for ever fills no disk: the same request is told 16 times, and counted" {
    cat >"$BATS_TEST_TMPDIR/polls.py" <<'END'
import ctypes
for i in range(300):
    try:
        ctypes.CDLL("libcudnn.so.77")
    except OSError:
        pass
END
    mkdir "$BATS_TEST_TMPDIR/logs"
    LD_PRELOAD=$SHIM WHICHCUDNN_STDERR=off WHICHCUDNN_LOG=$BATS_TEST_TMPDIR/logs \
        "$PY" "$BATS_TEST_TMPDIR/polls.py"
    log=$(the_log "$BATS_TEST_TMPDIR/logs")
    validate_log "$log"
    is "$(records request "$log" | grep -c libcudnn.so.77)" 16
    is "$(records failure "$log" | grep -c libcudnn.so.77)" 16
    [ "$(field summary requests "$log")" -ge 300 ]
    is "$(field summary first_finding "$log")" library-not-found
}

@test "a host that looks a function up for each call is told once" {
    make_standin 9.1.0 "$BATS_TEST_TMPDIR/nine"
    cat >"$BATS_TEST_TMPDIR/looks_up.py" <<'END'
import ctypes, sys
for i in range(300):
    ctypes.CDLL(sys.argv[1]).cudnnGetVersion
END
    mkdir "$BATS_TEST_TMPDIR/logs"
    LD_PRELOAD=$SHIM WHICHCUDNN_STDERR=off WHICHCUDNN_LOG=$BATS_TEST_TMPDIR/logs \
        "$PY" "$BATS_TEST_TMPDIR/looks_up.py" "$BATS_TEST_TMPDIR/nine/libcudnn.so.9"
    log=$(the_log "$BATS_TEST_TMPDIR/logs")
    validate_log "$log"
    is "$(records binding "$log" | jq -c '[.how, .functions]')" '["dlsym",["cudnnGetVersion"]]'
}
