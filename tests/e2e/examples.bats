#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The scripts of examples/ do what their first lines say (demo.sh: tests/real/demo.bats). What needs a
# place of its own is in tests/places.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export WHICHCUDNN TMPDIR=$PWD
    unset WHICHCUDNN_SHIM
    examples=$WC_ROOT/examples
}

# ./host gets a facade whose parts are of another release; with `abort` it dies of that.
make_mixed_host() { # [abort]
    make_standin 9.1.0 set --only facade
    make_standin 9.5.0 set --without facade ${1:+--without-function cudnnCreate}
    build_host lazy set host
}
make_healthy_host() { # OUT
    make_standin 9.1.0 well --create-status 0
    build_host lazy well "$1"
}

# ---- prefix.sh ----

@test "prefix.sh: the command's own output and status, then the verdict; the log stays" {
    make_mixed_host
    run -0 --separate-stderr "$examples/prefix.sh" ./host version create
    is "$output" "$(./host version create)"
    [[ $stderr == *'whichcudnn: error[facade-and-parts-differ]: libcudnn.so.9 is cuDNN 9.1.0'* ]]
    local log
    log=$(the_log whichcudnn-logs)
    validate_log "$log"
    is "$(records finding "$log" | jq -r .id | head -n 1)" facade-and-parts-differ
    is "$(field outcome exit_status "$log")" 0
    run -7 "$examples/prefix.sh" sh -c 'exit 7'
    is "$(echo in | "$examples/prefix.sh" cat 2>/dev/null)" in
}

@test "prefix.sh: a crash is the command's, and the verdict still comes" {
    make_mixed_host abort
    WHICHCUDNN_LOG=mine-%p.jsonl run -134 --separate-stderr "$examples/prefix.sh" ./host create
    [[ $stderr == *facade*graph* ]]
    [ ! -e whichcudnn-logs ]
    local written=(mine-*.jsonl)
    is "$(field outcome signal_name "${written[0]}")" SIGABRT
}

@test "prefix.sh without a command says how it is used" {
    run -2 "$examples/prefix.sh"
    [[ $output == usage:* ]]
    [ ! -e whichcudnn-logs ]
}

# ---- entrypoint.sh ----

# The directory that it makes by itself lies outside of the tests: none of them lets it.
entrypoint() {
    WHICHCUDNN_SHIM=${shim-$SHIM} WHICHCUDNN_LOG=${place-$PWD} sh "$examples/entrypoint.sh" "$@"
}

@test "entrypoint.sh: the command becomes the process, watched, under every shell there is" {
    make_mixed_host
    for shell in sh dash bash 'busybox sh'; do
        command -v "${shell%% *}" >/dev/null || continue
        echo "$shell"
        mkdir "${shell%% *}"
        # shellcheck disable=SC2016,SC2086  # for the shell inside; busybox and its applet
        WHICHCUDNN_SHIM=$SHIM WHICHCUDNN_LOG=$PWD/${shell%% *} run -0 --separate-stderr \
            sh -c 'echo $$; exec "$@"' sh $shell "$examples/entrypoint.sh" \
            sh -c 'echo $$ "$1"; exec ./host' sh 'two words'
        is "${lines[1]}" "${lines[0]} two words"
        is "${lines[2]}" "$(./host)"
        is "$(field process pid "$(the_log "${shell%% *}")")" "${lines[0]}"
    done
}

@test "entrypoint.sh as PID 1: signals reach the command, its status is the container's" {
    local new=(unshare --fork --pid --mount-proc)
    "${new[@]}" true 2>/dev/null || new=(unshare --map-root-user --fork --pid --mount-proc)
    "${new[@]}" true 2>/dev/null || skip "no PID namespace can be made here"
    make_mixed_host
    # shellcheck disable=SC2016
    WHICHCUDNN_SHIM=$SHIM WHICHCUDNN_LOG=$PWD run -5 --separate-stderr "${new[@]}" \
        sh "$examples/entrypoint.sh" \
        sh -c 'trap "echo caught" TERM; ./host; kill -TERM $$; echo $$; exit 5'
    is "$output" "$(./host; echo caught; echo 1)"
    [ -n "$(the_log)" ]
}

@test "entrypoint.sh without a shim, or with none that can be loaded, runs the command" {
    echo 'no library' >text
    printf '\177ELF\002\001\001' >half
    for shim in "$PWD/absent" "$PWD/text" "$PWD/half" "$PWD"; do
        echo "$shim"
        # shellcheck disable=SC2016
        run -3 --separate-stderr entrypoint sh -c 'echo "${LD_PRELOAD-none}"; exit 3'
        is "$output|$stderr" "none|"
    done
    shim=$SHIM
    # shellcheck disable=SC2016
    WHICHCUDNN_DISABLE=1 run -0 --separate-stderr entrypoint sh -c 'echo "${LD_PRELOAD-none}"'
    is "$output|$stderr" "none|"
}

@test "entrypoint.sh keeps another preload, ahead of the shim, and the log place that was set" {
    echo | "${CC:-gcc}" -shared -fPIC -x c - -o empty.so
    # shellcheck disable=SC2016
    LD_PRELOAD=$PWD/empty.so run -0 entrypoint sh -c 'echo "$LD_PRELOAD"'
    is "$output" "$PWD/empty.so:$SHIM"
    place=$PWD/%n/of-mine-%p
    # shellcheck disable=SC2016
    run -0 entrypoint sh -c 'echo "$WHICHCUDNN_LOG"'
    is "$output" "$place"
    is "$(find . -name '*of-mine*')" ""
    run -2 entrypoint
    [[ $output == *'no command'* ]]
}

@test "entrypoint.sh makes a log directory where none is named, and does without if it cannot" {
    # The script as it is, but for where the directory lies.
    sed "s:^logs=/var/log/whichcudnn :logs=\$PWD/var/log :" "$examples/entrypoint.sh" >entrypoint
    run ! cmp -s entrypoint "$examples/entrypoint.sh"
    # shellcheck disable=SC2016
    WHICHCUDNN_SHIM=$SHIM run -0 sh entrypoint sh -c 'echo "$WHICHCUDNN_LOG"'
    is "$output" "$PWD/var/log"
    [ -d var/log ]
    rm -r var
    : >var
    # shellcheck disable=SC2016
    WHICHCUDNN_SHIM=$SHIM run -0 --separate-stderr sh entrypoint \
        sh -c 'echo "${WHICHCUDNN_LOG-none} $LD_PRELOAD"'
    is "$output|$stderr" "none $SHIM|"
}

# ---- after-a-crash.sh ----

@test "after-a-crash.sh reports the newest log and says what to do" {
    make_mixed_host abort
    make_healthy_host well-host
    mkdir logs
    export WHICHCUDNN_LOG=$PWD/logs WHICHCUDNN_STDERR=off
    LD_PRELOAD=$SHIM run -0 ./well-host version
    local old new
    old=$(the_log logs)
    touch -d '1 minute ago' "$old"
    LD_PRELOAD=$SHIM run -134 ./host create
    rm -f core
    for new in logs/*; do [ "$new" = "${old#"$PWD"/}" ] || break; done
    run -1 "$examples/after-a-crash.sh"
    [[ ${lines[0]} == 'cuDNN 9.5.0 (facade 9.1.0) from '* ]]
    [[ $output == *$'\nerror[facade-and-parts-differ]: libcudnn.so.9 is cuDNN 9.1.0'* ]]
    [[ $output == *'facade-and-parts-differ'*'fix   '*'begin with the first finding'* ]]
    [[ ${lines[-1]} == *"$(basename "$new")" ]]
    [[ $output != *"$(basename "$old")"* ]]
    # The healthy one is the newest now.
    touch -d '1 minute' "$old"
    cd / # the directory is an argument as well
    run -0 "$examples/after-a-crash.sh" "$WHICHCUDNN_LOG"
    [[ $output == *'the cause lies elsewhere'* ]]
    [[ ${lines[-1]} == *"$old" ]]
}

@test "after-a-crash.sh without a log says why there may be none" {
    mkdir logs
    run -3 --separate-stderr "$examples/after-a-crash.sh" logs
    [[ $stderr == *'No log in logs'* ]]
    echo 'no record' >logs/whichcudnn-n-1-1.jsonl
    run -2 "$examples/after-a-crash.sh" logs
    [[ $output == *'run the command again'* ]]
}

# ---- all of them ----

# overlooked ROOT: the examples that no test of that tree names, by path or as FOLDER/*.KIND, and whose
# first comment does not say which part was not run. A comment in a test names nothing.
overlooked() {
    local file name first
    grep -rhv '^ *#' "$1/tests" "$1/Makefile" --include='*.bats' --include='*.bash' --include='*.py' \
        --include=Makefile | grep -F examples/ >named
    while read -r file; do
        name=examples/${file#"$1/examples/"}
        grep -qF -e "$name" -e "${name%/*}/*.${name##*.}" named && continue
        # Behind `#!`, and the license that shells have next.
        first=$(grep -vm 1 -e '^#!' -e SPDX-License-Identifier "$file")
        [[ ${first,,} == *'not run'* ]] || echo "$name"
    done < <(find "$1/examples" -type f)
}

@test "each example is run by a test, or its first line says which part was not" {
    is "$(overlooked "$WC_ROOT")" ""
    # It can be seen.
    mkdir tree
    cp -r "$WC_ROOT/examples" tree
    ln -s "$WC_ROOT/tests" "$WC_ROOT/Makefile" tree
    local new=examples/slurm/new-$RANDOM.sh
    sed 1,2p "$examples/prefix.sh" >"tree/$new"
    is "$(overlooked "$PWD/tree")" "$new"
    sed -i '3i # Not run by a test: all of it.' "tree/$new"
    is "$(overlooked "$PWD/tree")" ""
}

@test "docs/places.md has each place" {
    (cd "$examples" && find . -mindepth 2 -type f -not -path './fleet/*' | cut -c 3- | sort) >files
    is "$(grep -oE '/examples/[^)/]+/[^)]+' "$WC_ROOT/docs/places.md" | cut -d / -f 3- | sort)" "$(cat files)"
}

@test "YAML and JSON are what those who read them take" {
    local check=("$PY" -m check_jsonschema)
    run -0 "${check[@]}" --builtin-schema vendor.compose-spec "$examples/containers/compose.yaml"
    run -0 "${check[@]}" --builtin-schema vendor.github-workflows "$examples/github/workflow.yaml"
    run -0 "${check[@]}" --builtin-schema vendor.github-actions "$WC_ROOT/action.yml"
    { printf 'name: a\ndescription: b\nbody:\n' && sed 's/^/  /' "$examples/github/issue-form.yaml"; } >form.yml
    run -0 "${check[@]}" --builtin-schema vendor.github-issue-forms form.yml "$WC_ROOT"/.github/ISSUE_TEMPLATE/[!c]*.yml
    run -0 "${check[@]}" --builtin-schema vendor.github-issue-config "$WC_ROOT/.github/ISSUE_TEMPLATE/config.yml"
    sed 's/runs-on/runs-in/' "$examples/github/workflow.yaml" >planted.yaml
    run -1 "${check[@]}" --builtin-schema vendor.github-workflows planted.yaml
    jq -e '.argv and .env and .language' "$examples/jupyter/kernel.json"
}

# ---- slurm/taskprolog.sh; with Slurm: tests/places/slurm.bats ----

prolog() { WHICHCUDNN_SHIM=${shim-$SHIM} SLURM_SUBMIT_DIR=/job SLURM_JOB_ID=7 sh "$examples/slurm/taskprolog.sh"; }

@test "taskprolog.sh: the library behind other preloads, the log beside the job's output; or nothing" {
    is "$(prolog)" "export LD_PRELOAD=$SHIM
export WHICHCUDNN_LOG=/job/whichcudnn-7-%n-%r-%p.jsonl"
    is "$(LD_PRELOAD=libm.so.6 WHICHCUDNN_LOG=/mine prolog)" "export LD_PRELOAD=libm.so.6:$SHIM"
    is "$(WHICHCUDNN_DISABLE=1 prolog 2>&1)" ""
    echo 'no library' >text
    for shim in "$PWD/absent" "$PWD/text"; do is "$(prolog 2>&1)" ""; done
}

# ---- torchrun/torchrun.sh ----

@test "torchrun.sh: ranks by node and rank, the one that differs first; the launcher's status" {
    make_mixed_host
    make_healthy_host well-host
    # Ranks as torchrun starts them: https://docs.pytorch.org/docs/stable/elastic/run.html
    cat >launcher <<'END'
#!/bin/bash
n=${1#--nproc-per-node=}
shift
for ((rank = 0; rank < n; rank++)); do
    RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=$n LOCAL_WORLD_SIZE=$n MASTER_ADDR=localhost MASTER_PORT=29500 \
        TORCHELASTIC_RUN_ID=none "$@" &
done
while [ -n "$(jobs -p)" ]; do wait -n || status=$?; jobs >/dev/null; done
exit "${status:-0}"
END
    printf '#!/bin/sh\n[ $RANK != 2 ] || exec ./host version\nexec ./well-host version create\n' >train
    chmod +x launcher train
    TORCHRUN=./launcher run -0 --separate-stderr "$examples/torchrun/torchrun.sh" --nproc-per-node=4 ./train
    [[ $stderr == *'error[facade-and-parts-differ]'* ]]
    [[ $stderr == *'rank 2'* ]]
    local logs=(whichcudnn-logs/"$(uname -n)"-[0-3]-*.jsonl)
    is "${#logs[@]}" 4
    printf '#!/bin/sh\nexit 3\n' >train
    TORCHRUN=./launcher run -3 "$examples/torchrun/torchrun.sh" --nproc-per-node=2 ./train
}
