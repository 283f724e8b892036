#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What holds for every subcommand that `whichcudnn --help` lists: its help fits a screen and names its
# options; bad usage says what was wrong and what is expected, with status 2.

bats_require_minimum_version 1.5.0
load helpers
load usage

setup() { cd "$BATS_TEST_TMPDIR"; }

# fits TEXT: a screen of 80 columns and 24 lines
fits() {
    [ "$(wc -l <<<"$1")" -le 24 ] || { echo "more than 24 lines"; return 1; }
    ! LC_ALL=C grep -nE '.{81}|[^ -~]' <<<"$1" || { echo "over 80 columns, or not ASCII"; return 1; }
}

# misused STATUS SUBCOMMAND: what `run --separate-stderr` of it left behind is a complaint
misused() {
    echo "$stderr"
    [ "$output" = "" ]
    [[ $stderr == "whichcudnn $1: "* || $stderr == "whichcudnn: "* ]]
    [[ $stderr == *"see whichcudnn $1 --help" ]]
}

@test "the list has every subcommand that there is" {
    diff <(subcommands | sort) <(grep -o 'cmd_[a-z]*' "$WC_ROOT/tools/commands/options.h" | cut -c 5- | sort)
}

@test "each help fits a screen, begins with the usage and ends with the exit status" {
    local name help
    help=$("$CMD" --help)
    fits "$help"
    while read -r name; do
        help=$(help_of "$name")
        echo "$name"
        fits "$help"
        [[ $help == "Usage: whichcudnn $name"* ]]
        [[ $help == *$'\n\nExit status: '* ]]
        is "$(help_of "$name" -h 2>&1)" "$help"
    done < <(subcommands)
}

@test "each help names the options that are understood, and no other" {
    local name known
    while read -r name; do
        echo "$name"
        known=$(sed -n '/struct option_row rows\[\]/,/^};/p' "$WC_ROOT/tools/commands/$name.c")
        grep -q OPTIONS_END <<<"$known"
        {
            grep -oE '^    \{"[a-z-]+"' <<<"$known" | cut -d '"' -f 2
            echo help
            # Lines for a shell have no colour: said nowhere, and understood.
            if grep -q 'OPTIONS_END("' <<<"$known"; then echo color; fi
            grep -oE '^ *OPTION_[A-Z_]+\(("|$)' <<<"$known" | sed 's/ *OPTION_//; s/(.*//' | tr A-Z_ a-z-
        } | sort >expected
        options_of "$name" | grep -oE '^--[a-z-]+' | cut -c 3- | sort | diff - expected
    done < <(subcommands)
}

@test "an option that is not known" {
    local name
    while read -r name; do
        run -2 --separate-stderr "$CMD" "$name" --no-such-option
        misused "$name"
        [[ $stderr == *"'--no-such-option'"* ]]
        run -2 --separate-stderr "$CMD" "$name" -Z
        misused "$name"
        [[ $stderr == *"'Z'"* ]]
    done < <(subcommands)
}

@test "an option that is nearly one: which one is meant; of something else nothing" {
    run -2 --separate-stderr "$CMD" report --jsno
    misused report
    [[ $stderr == *"'--jsno'"*"whichcudnn: did you mean --json? see "* ]]
    run -2 --separate-stderr "$CMD" run --experct=9.1 -- true
    misused run
    [[ $stderr == *"did you mean --expect?"* ]]
    run -2 --separate-stderr "$CMD" report --jabberwocky
    misused report
    [[ $stderr != *"did you mean"* ]]
    run -2 --separate-stderr "$CMD" report --htm # short for --html, which lacks its FILE
    misused report
    [[ $stderr != *"did you mean"* ]]
}

@test "help COMMAND is COMMAND --help, help alone the list" {
    local name
    is "$("$CMD" help)" "$("$CMD" --help)"
    while read -r name; do
        is "$("$CMD" help "$name")" "$(help_of "$name")"
    done < <(subcommands)
    run -2 --separate-stderr "$CMD" help scna
    is "$stderr" "whichcudnn: no command called scna; did you mean scan?"
}

@test "an option without the value it takes, and with one where it takes none" {
    local name option value seen=0
    while read -r name; do
        while read -r option value; do
            [[ $option == --* ]] || continue
            if [ -n "$value" ]; then
                run -2 --separate-stderr "$CMD" "$name" "$option"
                [[ $stderr == *"'$option' requires an argument"* ]]
                seen=$((seen + 1))
            else
                run -2 --separate-stderr "$CMD" "$name" "$option=x"
                [[ $stderr == *"'$option' doesn't allow an argument"* ]]
            fi
            misused "$name"
        done < <(options_of "$name")
    done < <(subcommands)
    [ "$seen" -ge 8 ]
}

@test "a value that is none: what is expected, and what was given" {
    local name option value expected seen=0
    while read -r name; do
        while read -r option value; do
            case $value in
            WHEN) expected='auto*always*never' ;;
            SEVERITY) expected='error*warning' ;;
            VERSION | SEC) expected= ;;
            [a-z]*) expected=$value ;;
            *) continue ;;
            esac
            run -2 --separate-stderr "$CMD" "$name" "$option" purple word
            misused "$name"
            # shellcheck disable=SC2053  # a pattern
            [[ $stderr == *$option*$expected*purple* ]]
            seen=$((seen + 1))
        done < <(options_of "$name")
    done < <(subcommands)
    [ "$seen" -ge 10 ]
}

@test "too few arguments, and too many" {
    local name least most arguments
    while read -r name; do
        read -r least most < <(arguments_of "$name")
        echo "$name: $least to $most"
        if [ "$least" -gt 0 ]; then
            run -2 --separate-stderr "$CMD" "$name"
            misused "$name"
            [[ $stderr == *expected* ]]
        fi
        if [ "$most" -ge 0 ]; then
            mapfile -t arguments < <(seq -f 'word%g' $((most + 1)))
            run -2 --separate-stderr "$CMD" "$name" "${arguments[@]}"
            misused "$name"
            [[ $stderr == *expected*"word$((most + 1))"* ]]
        fi
    done < <(subcommands)
}

@test "no subcommand, one that is not there, an option before it that is not known" {
    run -2 --separate-stderr "$CMD"
    is "$output" ""
    is "$stderr" "whichcudnn: no command given; see whichcudnn --help"
    run -2 --separate-stderr "$CMD" reprot
    is "$stderr" "whichcudnn: no command called reprot; did you mean report?"
    run -2 --separate-stderr "$CMD" xyzzy
    is "$stderr" "whichcudnn: no command called xyzzy; see whichcudnn --help"
    run -2 --separate-stderr "$CMD" --json report
    [[ $stderr == *"'--json'"*"see whichcudnn --help" ]]
    run -2 --separate-stderr "$CMD" $'\e[31m'
    [[ $stderr != *$'\e'* ]]
}
