#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# whichcudnn env: lines for a shell to read.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    echo | "${CC:-gcc}" -shared -fPIC -x c - -o libwhichcudnn.so
    cp libwhichcudnn.so other.so
    export WHICHCUDNN_SHIM=$PWD/libwhichcudnn.so TMPDIR=$PWD ASAN_OPTIONS=verify_asan_link_order=0
    unset LD_PRELOAD
}

shells() { # those that are here
    for shell in sh bash dash zsh ksh busybox; do
        command -v $shell || true
    done
}

# after SHELL LINES...: the two variables as a program sees them that the shell starts then.
after() {
    local shell=$1
    shift
    [[ $shell != *busybox ]] || set -- "$1"
    case $shell in
    *busybox) "$shell" sh -c "$1; printenv LD_PRELOAD; printenv WHICHCUDNN_LOG; :" ;;
    *) "$shell" -c "$1; printenv LD_PRELOAD; printenv WHICHCUDNN_LOG; :" ;;
    esac
}

@test "sh: the library behind what is there, once, in every shell of POSIX" {
    local lines_of
    lines_of=$("$CMD" env)
    for shell in $(shells); do
        is "$(after "$shell" "$lines_of")" "$PWD/libwhichcudnn.so"
        is "$(after "$shell" "set -eu; $lines_of")" "$PWD/libwhichcudnn.so"
        is "$(after "$shell" "$lines_of; $lines_of")" "$PWD/libwhichcudnn.so"
        is "$(after "$shell" "LD_PRELOAD='$PWD/other.so'; $lines_of; $lines_of")" \
            "$PWD/other.so:$PWD/libwhichcudnn.so"
        # Another copy of it, or one found by its name alone, would be loaded beside ours.
        is "$(after "$shell" "LD_PRELOAD='$PWD/other.so $PWD/./libwhichcudnn.so'; $lines_of")" \
            "$PWD/other.so $PWD/./libwhichcudnn.so"
    done
}

@test "sh: the place of logs, absolute, made where it ends with a slash, quoted" {
    local evil="it's \$(touch gone) \`touch gone\`; \"x\\"
    is "$(after sh "$("$CMD" env --log logs/)" | tail -n 1)" "$PWD/logs/"
    [ -d logs ]
    is "$(after sh "$("$CMD" env --log "$evil/%p.jsonl" 2>/dev/null)" | tail -n 1)" "$PWD/$evil/%p.jsonl"
    is "$(after bash "$("$CMD" env --log $'two\nlines/')" | tail -n 2)" "$PWD/two"$'\nlines/'
    [ ! -e gone ]
    mkdir "it's here"
    cp libwhichcudnn.so "it's here"/
    WHICHCUDNN_SHIM="$PWD/it's here/libwhichcudnn.so" run -2 "$CMD" env # LD_PRELOAD splits there
    mkdir "it's"
    cp libwhichcudnn.so "it's"/
    is "$(after sh "$(WHICHCUDNN_SHIM="$PWD/it's/libwhichcudnn.so" "$CMD" env)")" \
        "$PWD/it's/libwhichcudnn.so"
}

@test "sh: --unset takes out what is ours and leaves the rest" {
    unset_with() { after sh "LD_PRELOAD='$1'; export LD_PRELOAD; WHICHCUDNN_LOG=x; export WHICHCUDNN_LOG
        eval \"\$($CMD env --unset)\""; }
    is "$(unset_with "$PWD/libwhichcudnn.so")" ""
    is "$(unset_with "$PWD/other.so:$PWD/libwhichcudnn.so")" "$PWD/other.so"
    is "$(unset_with "$PWD/./libwhichcudnn.so $PWD/other.so")" "$PWD/other.so"
    is "$(unset_with "$PWD/other.so")" "$PWD/other.so"
}

@test "fish: the same" {
    command -v fish || skip "no fish here"
    export HOME=$PWD
    run_fish() { fish -N -c "$1; printenv LD_PRELOAD; printenv WHICHCUDNN_LOG; true"; }
    local lines_of
    lines_of=$("$CMD" env --fish)
    is "$(run_fish "$lines_of")" "$PWD/libwhichcudnn.so"
    is "$(run_fish "$lines_of"$'\n'"$lines_of")" "$PWD/libwhichcudnn.so"
    is "$(LD_PRELOAD=$PWD/other.so run_fish "$lines_of"$'\n'"$lines_of")" \
        "$PWD/other.so:$PWD/libwhichcudnn.so"
    is "$(LD_PRELOAD="$PWD/other.so $PWD/./libwhichcudnn.so" run_fish "$lines_of")" \
        "$PWD/other.so $PWD/./libwhichcudnn.so"
    is "$(run_fish "$("$CMD" env --fish --log "a'b\\'c (touch gone) \$x" 2>/dev/null)" | tail -n 1)" \
        "$PWD/a'b\\'c (touch gone) \$x"
    [ ! -e gone ]
    is "$(LD_PRELOAD="$PWD/other.so:$PWD/libwhichcudnn.so" WHICHCUDNN_LOG=x run_fish \
        "$CMD env --fish --unset | source")" "$PWD/other.so"
    is "$(LD_PRELOAD="$PWD/libwhichcudnn.so" run_fish "$CMD env --fish --unset | source")" ""
}

@test "what a shell starts then is watched" {
    cp "$SHIM" libwhichcudnn.so
    make_standin 9.1.0 cudnn
    build_host now cudnn host
    bash -c "$("$CMD" env --log logs/); ./host version"
    validate_log "$(the_log logs)"
}

@test "usage" {
    run -0 --separate-stderr "$CMD" env --help
    [[ $output == "Usage: whichcudnn env"* && -z $stderr ]]
    run -2 "$CMD" env more
    run -2 "$CMD" env --log ''
    run -2 "$CMD" env --no-such
    WHICHCUDNN_SHIM=/no/such.so run -2 "$CMD" env
}
