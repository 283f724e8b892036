# SPDX-License-Identifier: Apache-2.0
# Completion for bash. Subcommands, options, and what their values and the arguments are, come from
# --help at the time of the key: this file knows only what can be offered for a word such as PID.
# shellcheck shell=bash

# _whichcudnn_options HELP: one option a line, and the word for its value, if it takes one: "--log PLACE"
_whichcudnn_options() {
    sed -n 's/^  \(-\{1,2\}[a-z].*\)/\1/p' <<<"$1" | sed 's/  .*//' | tr , '\n' | sed 's/^ *//; s/=/ /'
}

# _whichcudnn_usage USAGE: its words that stand for arguments, one a line
_whichcudnn_usage() {
    # shellcheck disable=SC2001  # a pattern of sed's
    sed 's/--[a-z-]*[ =][A-Z]*//g' <<<"$1" | grep -oE '\<[A-Z]+\>'
}

# Of this user's processes those that are no threads of the kernel.
_whichcudnn_pids() {
    local directory
    for directory in /proc/[0-9]*; do
        if [ -O "$directory" ] && [ -e "$directory/exe" ]; then echo "${directory#/proc/}"; fi
    done
}

# _whichcudnn_offer COMMAND WORD: into COMPREPLY, what a WORD of the help may be and `cur` can become
_whichcudnn_offer() {
    local list=()
    case $2 in
    WHEN) list=(-W 'auto always never') ;;
    SEVERITY) list=(-W 'error warning') ;;
    ID) list=(-W "$("$1" explain --color=never 2>/dev/null | awk '/^[a-z]/ { print $2 }')") ;;
    PID) list=(-W "$(_whichcudnn_pids)") ;;
    VERSION | SEC) return ;;
    COMMAND) return ;;
    [a-z]*) list=(-W "$2") ;;
    DIR) list=(-d) ;;
    LOG) list=(-f -X '!*.jsonl*') ;;
    *) list=(-f) ;;
    esac
    [ "${list[0]}" = -W ] || compopt -o filenames 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "${list[@]}" -- "$cur")
    # That filter takes the directories away, too.
    [ "$2" != LOG ] || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$cur")
}

# A command line begins at word $1.
_whichcudnn_command_line() {
    local offset
    for offset in _comp_command_offset _command_offset; do # of the package bash-completion
        if declare -F $offset >/dev/null; then
            $offset "$1"
            return
        fi
    done
    compopt -o filenames 2>/dev/null
    if [ "$COMP_CWORD" -eq "$1" ]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$cur" | sort -u)
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}

_whichcudnn() {
    local command=${1/#\~/$HOME} cur=${COMP_WORDS[COMP_CWORD]} at=1 name help usage option value word behind=
    local -A takes=()
    COMPREPLY=()

    while [[ $at -lt $COMP_CWORD && ${COMP_WORDS[at]} == -* ]]; do at=$((at + 1)); done
    if [ "$at" -eq "$COMP_CWORD" ]; then
        name=$("$command" --help 2>/dev/null | sed -n 's/^  \([a-z]*\)  .*/\1/p')
        mapfile -t COMPREPLY < <(compgen -W "$name --help --version" -- "$cur")
        return
    fi
    help=$("$command" "${COMP_WORDS[at]}" --help 2>/dev/null) || return
    usage=${help%%$'\n\n'*}
    while read -r option value; do takes[$option]=$value; done < <(_whichcudnn_options "$help")

    # Options up to the word in question. To bash, "=" is a word: --color=al is three.
    option=
    while at=$((at + 1)); [ "$at" -lt "$COMP_CWORD" ]; do
        word=${COMP_WORDS[at]}
        if [ "$word" = -- ]; then
            at=$((at + 1)) behind=1
            break
        elif [ "$word" = = ]; then
            :
        elif [ -n "$option" ]; then
            option=
        elif [[ $word == -* ]]; then
            option=${takes[$word]:+$word}
        elif [[ $usage == *"[--] COMMAND"* ]]; then
            behind=1
            break
        fi
    done
    [ "$cur" != = ] || cur=

    if [ -n "$option" ]; then
        _whichcudnn_offer "$command" "${takes[$option]}"
    elif [[ $cur == -* && -z $behind ]]; then
        mapfile -t COMPREPLY < <(compgen -W "${!takes[*]}" -- "$cur")
    elif [[ $usage == *"[--] COMMAND"* || $usage == *"-- COMMAND"* && -n $behind ]]; then
        _whichcudnn_command_line "$at"
    else
        while read -r word; do _whichcudnn_offer "$command" "$word"; done < <(_whichcudnn_usage "$usage")
        [ -n "$cur" ] || [ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -W "${!takes[*]}")
    fi
}
complete -F _whichcudnn whichcudnn
