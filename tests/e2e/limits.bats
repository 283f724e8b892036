#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# docs/limits.md and SECURITY.md hold what the code has: what is not seen, system calls, sizes of tables.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$WC_ROOT" || return
    page=docs/limits.md
}

section() { # TITLE: what begins with a name there, rows of a table or items of a list
    sed -n "/^## $1\$/,/^## /s/^[|-] \`/&/p" SECURITY.md
}

# Names between backquotes in the first column, or before an item's colon.
first_column() { section "$1" | sed 's/^[|-] //; s/[|:].*//' | grep -o '`[^`]*`' | tr -d '`' | sort; }

@test "every system call that the shim makes is in SECURITY.md, and no other" {
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
    section Sizes | sed 's/:.*//' | awk -v name="\`$1\`" '
        $2 == name { printf "%.0f\n", $3 * ($4 == "MiB" ? 1048576 : $4 == "KiB" ? 1024 : 1) }'
}

@test "the sizes in SECURITY.md are those of the code, and none of the shim's tables is left out" {
    local name
    for name in $(first_column Sizes); do
        echo "$name"
        is "$(value_in_page "$name")" "$(value_in_code "$name")"
    done
    diff <(grep -rhoE '#define ([A-Z]+_)*(MOST|KEPT|INSTANCES)(_[A-Z]+)*\b' shim | cut -d ' ' -f 2 | sort) \
        <(first_column Sizes | grep -E 'MOST|KEPT|INSTANCES' | grep -v ^WC_)
}

# rows_without_test SECTION: its items that no line of limits.tsv is for, up to their colon.
rows_without_test() {
    sed -n "/^## $1\$/,/^## /s/^- //p" "$page" SECURITY.md | while read -r row; do
        cut -f 1 tests/e2e/limits.tsv | while IFS= read -r key; do
            [ "${row#"$key"}" = "$row" ] || echo "$key"
        done | grep -q . || echo "${row%%:*}"
    done
}

@test "each size has a test, but for these" {
    is "$(rows_without_test Sizes | cut -d ' ' -f 1 | tr -d '`' | xargs)" \
        "SCRATCH_FILE SCRATCH_DIAGNOSE KNOWN_MOST START_MOST WRITTEN_MOST SEEN_MOST CALLERS_MOST"
}

# Links of pages, and of each page of docs/ the index and the question that it answers.
@test "the pages that pages point to are there, with their headings" {
    local file target heading
    for file in *.md docs/*.md tests/README.md {core,shim,tools}/README.md; do
        while IFS='#' read -r target heading; do
            echo "$file: $target#$heading"
            [ -z "$target" ] || [ -e "$(dirname "$file")/$target" ]
            [ -z "$heading" ] || sed -n 's/^##* //p' "$(dirname "$file")/${target:-${file##*/}}" |
                tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-' | grep -qx -- "$heading"
        done < <(grep -oE '\]\([^) :]+\)' "$file" | tr -d '])(')
    done
}

@test "each page of docs/ is in the index, and begins with the question that it answers" {
    local file
    for file in docs/*.md; do
        echo "$file"
        [ "$file" = docs/index.md ] || grep -qF "(${file#docs/})" docs/index.md
        sed '1d; /^<!--/d; /^$/d' "$file" | head -n 3 | grep -qF '?'
    done
}

@test "what is not observed has a test each, which is there under that name" {
    local key file name count=0
    is "$(rows_without_test 'Processes that it is not in')" ''
    is "$(rows_without_test 'What `whichcudnn inspect` does not see')" ''
    is "$(rows_without_test 'Objects and calls that it does not see')" ''
    while IFS=$'\t' read -r key file name; do
        echo "$key: $file: $name"
        grep -qF -- "$key" "$page" SECURITY.md
        case $file in
        *.bats) grep -qxF "@test \"$name\" {" "tests/$file" ;;
        *.c) grep -qxF "static void $name(void **state) {" "tests/$file" ;;
        *) grep -qxF "name = \"$name\"" "tests/$file" ;;
        esac
        count=$((count + 1))
    done < <(sed 1d tests/e2e/limits.tsv)
    [ "$count" -ge 60 ]
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

@test "100,000 requests: the log stays small, tells what differs, and its summary counts the rest" {
    cd "$BATS_TEST_TMPDIR"
    "${CC:-gcc}" -o asks -xc - -ldl <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static void ask(const char *name) {
    if (!dlopen(name, RTLD_NOW))
        dlerror();
}
static long data_kib(void) {
    char line[256];
    long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (!kib && fgets(line, sizeof line, f))
        sscanf(line, "VmData: %ld", &kib);
    fclose(f);
    return kib;
}
int main(void) {
    char name[32];
    long before = 0;
    for (int i = 0; i < 90000; i++) {
        if (i == 10000)
            before = data_kib();
        if (i == 50000) /* from now on it is another failure */
            fclose(fopen("libcudnn.so.77", "w"));
        ask("libcudnn.so.77");
    }
    printf("%d\n", data_kib() - before < 512);
    for (int i = 0; i < 9999; i++) {
        sprintf(name, "libother-%d.so", i);
        ask(name);
    }
    ask("libcudnn.so.78");
    return 0;
}
END
    mkdir logs
    run -0 env LD_LIBRARY_PATH="$PWD" LD_PRELOAD="$SHIM" WHICHCUDNN_STDERR=off \
        WHICHCUDNN_LOG="$PWD/logs" ./asks
    is "$output" 1
    log=$(the_log logs)
    validate_log "$log"
    # As often in other words as in the first, each with its request.
    is "$(records failure "$log" | jq -r 'select(.name == "libcudnn.so.77").text' | sort | uniq -c |
        sed 's/^ *//')" "16 $PWD/libcudnn.so.77: file too short
16 libcudnn.so.77: cannot open shared object file: No such file or directory"
    is "$(records request "$log" | grep -c libcudnn.so.77)" 32
    is "$(records failure "$log" | grep -c libcudnn.so.78)" 1
    [ "$(wc -l <"$log")" -lt 4096 ]
    # None is lost: those that were written and those that were counted are all.
    is "$(tail -n 1 "$log" | jq -c '[.kind, .requests]')" '["summary",100000]'
    is $(("$(records request "$log" | wc -l)" + "$(field summary repeated_requests "$log")")) 100000
    is $(("$(records failure "$log" | wc -l)" + "$(field summary repeated_failures "$log")")) 100000
}

@test "a host that looks a function up for each call is told once" {
    make_standin 9.1.0 "$BATS_TEST_TMPDIR/nine"
    cat >"$BATS_TEST_TMPDIR/looks_up.py" <<'END'
import ctypes, sys
for i in range(300):
    ctypes.CDLL(sys.argv[1]).cudnnGetVersion
try:
    ctypes.CDLL(sys.argv[1]).cudnnNowhere
except AttributeError:
    pass
END
    mkdir "$BATS_TEST_TMPDIR/logs"
    LD_PRELOAD=$SHIM WHICHCUDNN_STDERR=off WHICHCUDNN_LOG=$BATS_TEST_TMPDIR/logs \
        "$PY" "$BATS_TEST_TMPDIR/looks_up.py" "$BATS_TEST_TMPDIR/nine/libcudnn.so.9"
    log=$(the_log "$BATS_TEST_TMPDIR/logs")
    validate_log "$log"
    is "$(records binding "$log" | jq -c '[.how, .functions]')" '["dlsym",["cudnnGetVersion"]]'
    is "$(records failure "$log" | jq -r '[.function, .text != null] | join(" ")')" \
        $'cudnnNowhere false\ncudnnNowhere true' # as the loader has answered, and what it said
}

# ---- replayed searches: as much as is told ----

# A major that nobody has: the computer's own cuDNN would fill gaps.
begin_bound() {
    cd "$BATS_TEST_TMPDIR" || return
    before=()
    make_standin --empty libcudnn.so.77 set
    gcc -o opener -x c - -ldl <<'END'
#include <dlfcn.h>
int main(int count, char **names) {
    for (int i = 1; i < count; i++)
        if (!dlopen(names[i], RTLD_NOW))
            dlerror();
    return 0;
}
END
}
# with_cache: before a command, a loader cache that knows what lies in set, and nothing else of ours.
with_cache() {
    before=(unshare --mount)
    [ "$(id -u)" -eq 0 ] || before+=(--map-root-user)
    "${before[@]}" true || skip "no mount namespace"
    echo "$PWD/set" >conf
    PATH=$PATH:/sbin ldconfig -X -C cache -f conf
    # shellcheck disable=SC2016  # of that shell
    before+=(sh -c 'mount --bind cache /etc/ld.so.cache && mount --bind /dev/null /etc/ld.so.conf && exec "$@"' sh)
}
# opens NAME...: a watched process opens one after another, behind the words of $before; its log is $log.
opens() {
    rm -rf logs
    mkdir logs
    "${before[@]}" env LD_PRELOAD="$SHIM" WHICHCUDNN_STDERR=off WHICHCUDNN_LOG="$PWD/logs" ./opener "$@"
    log=$(the_log logs)
    validate_log "$log"
}

@test "bound: 64 directories and 16 other files of one search; how many more is counted" {
    begin_bound
    local i path=
    printf '\xb7' | dd of=set/libcudnn.so.77 bs=1 seek=18 conv=notrunc status=none # another machine's
    for i in {1..100}; do
        mkdir "$i"
        [ "$i" -gt 20 ] || cp set/libcudnn.so.77 "$i"
        path=$path:$PWD/$i
    done
    before=(env LD_LIBRARY_PATH="${path#:}")
    opens libcudnn.so.77
    is "$(records search "$log" | jq -c '[(.searched | length), .searched[63], .cut >= 36 + 4]')" \
        "[64,\"LD_LIBRARY_PATH $PWD/64/\",true]"
    is "$(records candidate "$log" | jq -r .path)" "$(printf "$PWD/%s/libcudnn.so.77\n" {1..16})"
}

@test "bound: 256 directories of one list, and no look at what stands behind them" {
    begin_bound
    local i
    mkdir last
    cp set/libcudnn.so.77 last
    # shellcheck disable=SC2034  # opens has it
    for i in 255 256; do
        before=(env LD_LIBRARY_PATH="$(seq -f "$PWD/none-%g" -s : "$i"):$PWD/last")
        opens libcudnn.so.77
        is "$(records search "$log" | jq -c '[.rule, .takes]')" \
            "$([ "$i" -eq 256 ] && echo '[null,null]' || echo "[\"LD_LIBRARY_PATH\",\"$PWD/last/libcudnn.so.77\"]")"
    done
}

@test "bound: 256 searches of a process" {
    begin_bound
    opens libcudnn.so.{1000..1299}
    is "$(records failure "$log" | jq -r .name | sort -u | wc -l)" 300
    is "$(records search "$log" | jq -r .name)" "$(printf 'libcudnn.so.%s\n' {1000..1255})"
}

@test "bound: 8 site-packages in which copies are looked for" {
    begin_bound
    local i
    for i in {1..10}; do
        mkdir -p "$i/site-packages/nvidia/cudnn/lib"
        cp set/libcudnn.so.77 "$i/site-packages/nvidia/cudnn/lib"
        make_standin --empty libsome.so "$i/site-packages"
    done
    opens "$PWD"/{1..10}/site-packages/libsome.so libcudnn.so.77
    is "$(records candidate "$log" | jq -r '[.rule, .path] | join(" ")')" \
        "$(printf "not searched $PWD/%s/site-packages/nvidia/cudnn/lib/libcudnn.so.77\n" {1..8})"
}

@test "bound: 8 other names of what was asked for in one directory" {
    begin_bound
    local i
    for i in {10..21}; do cp set/libcudnn.so.77 "set/libcudnn.so.$i"; done
    rm set/libcudnn.so.77
    before=(env LD_LIBRARY_PATH="$PWD/set")
    opens libcudnn.so.77
    is "$(records file "$log" | jq -r .path | grep -c "^$PWD/set/libcudnn.so.[12].\$")" 8
}

@test "bound: majors up to 19 are looked for in the loader's cache" {
    begin_bound
    make_standin --empty libcudnn.so.20 set
    with_cache
    opens libcudnn.so
    is "$(records file "$log" | jq -r .path)" ""
    make_standin --empty libcudnn.so.19 set
    with_cache
    opens libcudnn.so
    is "$(records file "$log" | jq -r .path)" "$PWD/set/libcudnn.so.19"
}

@test "bound: 4 libraries that a refused file needs" {
    begin_bound
    local part parts=(ops cnn adv graph ext)
    for part in "${parts[@]}"; do make_standin --empty "libcudnn_$part.so.77" parts; done
    gcc -shared -o libwants.so -Wl,--no-as-needed "-Wl,-rpath,$PWD/parts" -x c /dev/null -x none \
        parts/libcudnn_{ops,cnn,adv,graph,ext}.so.77 set/libcudnn.so.77
    opens ./libwants.so
    is "$(records file "$log" | jq -r .path)" \
        "$(printf "$PWD/parts/libcudnn_%s.so.77\n" "${parts[@]:0:4}")"
}

@test "bound: a loader cache of more than 8 MiB is not read" {
    begin_bound
    with_cache
    opens libcudnn.so.77
    is "$(records search "$log" | jq -c '[.rule, .takes]')" "[\"ld.so.cache\",\"$PWD/set/libcudnn.so.77\"]"
    truncate -s 8388609 cache
    opens libcudnn.so.77
    is "$(records search "$log" | jq -c '[.rule, .takes]')" '[null,null]'
    is "$(records object "$log" | jq -r 'select(.role == "facade").path')" "$PWD/set/libcudnn.so.77"
}

# The directory of the program itself is the 32nd.
@test "bound: 32 directories of packages" {
    begin_bound
    local i
    for i in {1..40}; do
        make_standin --layout pip --only facade 9.1.0 "$i/site-packages"
    done
    opens "$PWD"/{1..40}/site-packages/nvidia/cudnn/lib/libcudnn.so.9
    is "$(records object "$log" | jq -r 'select(.role == "facade").path' | sort -u | wc -l)" 40
    is "$(records package "$log" | jq -r .installation_path | grep -c "^$PWD/.*/site-packages/")" 31
}

@test "bound: an LD_LIBRARY_PATH of 16 KiB that was set since the start, behind 65,536 variables" {
    begin_bound
    gcc -o opener -x c - -ldl <<'END'
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
extern char **environ;
int main(int count, char **words) {
    size_t others = strtoul(words[2], NULL, 10), i = 0;
    char **list = calloc(others + 2, sizeof *list), *path = calloc(1, 32 << 10);
    for (environ = list; i < others; i++)
        list[i] = "A=1";
    memset(list[i] = path, '/', strtoul(words[3], NULL, 10) + strlen("LD_LIBRARY_PATH="));
    memcpy(path, "LD_LIBRARY_PATH=", strlen("LD_LIBRARY_PATH="));
    return count < 4 || !!dlopen(words[1], RTLD_NOW);
}
END
    local others bytes begins
    before=(env LD_LIBRARY_PATH="$PWD/none")
    while read -r others bytes begins; do
        opens libcudnn.so.77 "$others" "$bytes"
        is "$others $bytes $(records search "$log" | jq -r '.later_path // "null" | .[:1]')" "$others $bytes $begins"
    done <<'END'
65535 16383 /
65536 16383 n
65535 16384 n
END
}
