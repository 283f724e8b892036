#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The verdict: every row of verdicts.tsv is played, each end of it, through run and report. Never "ok"
# of a run that is broken.

bats_require_minimum_version 1.5.0
load helpers

table=$WC_ROOT/tests/e2e/verdicts.tsv
ends=$(sed -n 's/^fault\t//p' "$table")

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    make_standin --create-status 0 9.1.0 good
    make_standin --create-status 0 9.10.0 defect
    make_standin --create-status 0 9.1.0 mixed
    make_standin --create-status 0 --only graph 9.4.0 mixed
    make_standin --create-status 4 9.1.0 failing
    local lib
    for lib in good defect mixed failing; do build_host dlopen "$lib" "$lib/host"; done
    build_host library-now good worker
    # A program of its own: asks for libraries, minds nothing, and ends as it is told.
    cat >plain.c <<'END'
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *value = strchr(argv[i], ':');
        if (!strncmp(argv[i], "exit:", 5))
            return atoi(value + 1);
        if (!strncmp(argv[i], "signal:", 7))
            raise(atoi(value + 1));
        else if (!strcmp(argv[i], "hang") && printf("hang %d\n", (int)getpid()) && !fflush(stdout))
            sleep(60);
#ifndef STATIC
        else
            dlopen(argv[i], RTLD_NOW);
#endif
    }
    return 0;
}
END
    "${CC:-gcc}" plain.c -o plain -ldl
    "${CC:-gcc}" -DSTATIC -static plain.c -o static
    # A worker is forked, and ends by _exit where its work ends well; the program ends as it did.
    "${CC:-gcc}" -x c - -x none -o forks worker.so -Wl,-rpath,"\$ORIGIN" -Wl,--allow-shlib-undefined <<'END'
#include <sys/wait.h>
#include <unistd.h>
int host_run(int argc, char **argv);
int main(int argc, char **argv) {
    int status = 0;
    pid_t worker = fork();
    if (!worker)
        _exit(host_run(argc, argv));
    waitpid(worker, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
END
}

setup() { cd "$BATS_TEST_TMPDIR" || return; }

rows() { grep -v -e '^#' -e '^fault' "$table"; }
# cell FAULT END: the verdict that the table has.
cell() {
    awk -F '\t' -v fault="$1" -v end="$2" '
        $1 == "fault" { for (i = 2; i <= NF; i++) if ($i == end) column = i }
        $1 == fault { print $column }' "$table"
}

# last_words END: what ends a host so.
last_words() {
    case $1 in
    0) ;;
    1) echo exit:1 ;;
    timeout) echo hang ;;
    SIG*) echo "signal:$(kill -l "${1#SIG}")" ;;
    esac
}

# as FAULT END: the command line of a process with that fault and that end, into `line`.
as() {
    local there=$BATS_FILE_TMPDIR last
    last=$(last_words "$2")
    read -ra last <<<"$last"
    case $1 in
    none | 'records lost') line=("$there/good/host" version create "${last[@]}") ;;
    'in a shell')
        # shellcheck disable=SC2016 # for that shell
        line=(sh -c '"$@"; exit $?' sh "$there/good/host" version create "${last[@]}") ;;
    forked) line=("$there/forks" version create "${last[@]}") ;;
    'lookup in vain') line=("$there/good/host" version create cudnnOfTomorrow "${last[@]}") ;;
    'a later function in vain')
        line=("$there/good/host" version create cudnnBackendPopulateCudaGraph "${last[@]}") ;;
    *', in a shell')
        as "${1%, in a shell}" "$2"
        # shellcheck disable=SC2016 # for that shell
        line=(sh -c '"$@"; exit $?' sh "${line[@]}") ;;
    'CUDA library in vain') line=("$there/plain" "$there/good/libcudnn.so.9" libcufft.so.77 "${last[@]}") ;;
    'CUDA library in vain, no cuDNN') line=("$there/plain" libcufft.so.77 "${last[@]}") ;;
    'another name in vain, then found')
        line=("$there/plain" libcudnn.so.77 "$there/good/libcudnn.so.9" "${last[@]}") ;;
    'cuDNN in vain') line=("$there/plain" libcudnn.so.77 "${last[@]}") ;;
    'parts of two releases') line=("$there/mixed/host" version create "${last[@]}") ;;
    'bad status') line=("$there/failing/host" version create "${last[@]}") ;;
    'release with a defect') line=("$there/defect/host" version create "${last[@]}") ;;
    'no cuDNN') line=("$there/plain" "${last[@]}") ;;
    'static program') line=("$there/static" "${last[@]}") ;;
    'library switched off') line=("$there/good/host" version "${last[@]}") ;;
    *) return 1 ;;
    esac
}

# What comes of a verdict: first word of run, status of report, status of run where the command gave 0.
word_of() { case $1 in nothing | not-observed) echo 'not observed' ;; errors) echo error ;; warnings) echo warning ;; *) echo "$1" ;; esac; }
status_of() { # VERDICT END
    case $1 in
    ok) echo 0 ;;
    warnings) if [ "$2" = 0 ]; then echo 0; else echo 1; fi ;;
    errors) echo 1 ;;
    unexplained) echo 4 ;;
    *) echo 3 ;;
    esac
}
passes() { case $1 in ok | warnings | nothing) return 0 ;; *) return 1 ;; esac; }

# Of each job all logs: how bad the worst is.
worst() { jq -r '[.[] | .verdict] | map({ok: 0, "not-observed": 0, notes: 1, warnings: 2, unexplained: 3, errors: 4}[.] // 0) as $n
    | .[$n | index(max)] // "none"'; }

# Ends what waits, once it says so.
end_late() {
    local word pid
    for _ in {1..600}; do
        if read -r word pid < <(grep -oE 'hang [0-9]+' out 2>/dev/null); then
            kill "$pid"
            return
        fi
        sleep 0.05
    done
    echo "$word: nothing waited"
}

run_watched() { # FAULT END: its status into `status`
    local line off=()
    as "$1" "$2" || return
    [ "$1" != 'library switched off' ] || off=(WHICHCUDNN_DISABLE=1)
    rm -rf job out
    mkdir job
    [ "$2" != timeout ] || end_late &
    status=0
    env "${off[@]}" "$CMD" run --fail-on=error --log job/ -- "${line[@]}" >out 2>err </dev/null || status=$?
    wait
}

play() { # FAULT END VERDICT: prints what is otherwise
    local status verdict=$3 expected=0
    run_watched "$1" "$2" || return
    if [ "$1" = 'records lost' ]; then
        verdict=$(cell none "$2") # they are lost behind it
        sed -i 4d job/*
    fi
    grep -Eq "^whichcudnn: $(word_of "$verdict")([:[]|\$| in )" err || echo "$1, $2: run says $(head -n 1 err)"
    passes "$verdict" || expected=1
    if [ "$2" = 0 ]; then
        [ "$status" = "$expected" ] || echo "$1, $2: --fail-on=error gives $status"
    elif [ "$status" = 0 ]; then
        echo "$1, $2: the status of the command became 0"
    fi
    status=0
    "$CMD" report --json job >reports 2>/dev/null || status=$?
    [ -s reports ] || echo '{"verdict":"not-observed"}' >reports
    verdict=$(jq -s flatten reports | worst)
    [ "$verdict" = "${3/nothing/not-observed}" ] || echo "$1, $2: report says $verdict"
    case $status in
    2) [ "$(word_of "$3")" = 'not observed' ] ;; # nothing is left to be read
    *) [ "$status" = "$(status_of "$3" "$2")" ] ;;
    esac || echo "$1, $2: report ends with $status"
}

play_row() {
    local end expected
    for end in $ends; do
        expected=$(cell "$1" "$end")
        play "$1" "$end" "$expected" </dev/null
    done
}

@test "the table has every end of every fault, and no good word of an end that is bad" {
    is "$(xargs <<<"$ends")" "0 1 SIGABRT SIGSEGV SIGBUS SIGKILL timeout"
    is "$(rows | awk -F '\t' 'NF != 8')" ""
    is "$(rows | cut -f 3- | grep -cw -e ok -e notes)" 0
    [ "$(rows | wc -l)" -ge 15 ]
}

@test "each row, with each end: run, its status, report, its status" {
    local fault
    rows | cut -f 1 >faults
    while IFS= read -r fault; do
        play_row "$fault"
    done <faults >differs
    cat differs
    [ ! -s differs ]
}

@test "check: as locked, and unexplained all the same" {
    "$CMD" run --quiet --log job/ -- "$BATS_FILE_TMPDIR/good/host" version create
    "$CMD" lock -o lock job
    run -0 "$CMD" check lock job
    rm -r job
    run -1 "$CMD" run --quiet --log job/ -- "$BATS_FILE_TMPDIR/good/host" version create exit:1
    run -4 "$CMD" check lock job
    [[ $output == "as locked"*"unexplained: it ended with status 1"* ]]
}

@test "a worker that vanished under a shell that goes on is not ok; one that its parent minds is" {
    local host=$BATS_FILE_TMPDIR/good/host
    # shellcheck disable=SC2016 # for that shell
    run -1 "$CMD" run --fail-on=error --log job/ -- sh -c '"$@"; exit 0' sh "$host" version signal:11
    [[ $output == *"whichcudnn: cuDNN 9.1.0 "*$'\nwhichcudnn: not observed: how it ended is not known'* ]]
    run -3 "$CMD" report job
    rm -r job
    run -0 "$CMD" run --fail-on=error --log job/ -- "$BATS_FILE_TMPDIR/forks" version create
    is "$(find job -type f | wc -l)" 2
    run -0 "$CMD" report --json job
    is "$(jq -c 'map(.verdict)' <<<"$output")" '["ok","ok"]'
    is "$(jq -c 'map(.stack.process.forked) | sort' <<<"$output")" '[false,true]'
    is "$(jq -c 'map(.limits | index("end-unknown") != null) | sort' <<<"$output")" '[false,true]'
}
