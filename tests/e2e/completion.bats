#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# completions/whichcudnn.bash: what bash offers for the word under the cursor, without the package
# bash-completion and with it.

bats_require_minimum_version 1.5.0
load helpers
load usage

setup() {
    cd "$BATS_TEST_TMPDIR"
    # shellcheck source=../../completions/whichcudnn.bash
    . "$WC_ROOT/completions/whichcudnn.bash"
}

# offered WORD...: what is offered for the last word of `whichcudnn WORD...`, sorted, one a line
offered() {
    COMP_WORDS=("$CMD" "$@") COMP_CWORD=$# COMPREPLY=()
    _whichcudnn "$CMD" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    [ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}" | sort -u
}

# takes_argument NAME WORD: is WORD an argument by the usage of NAME?
takes_argument() { help_of "$1" | sed '/^$/q' | sed 's/--[a-z-]*[ =][A-Z]*//g' | grep -qw "$2"; }

@test "it is registered for the command" {
    run -0 complete -p whichcudnn
    [[ $output == *"_whichcudnn whichcudnn" ]]
}

@test "each subcommand" {
    is "$(offered '')" "$({ subcommands; printf '%s\n' --help --version; } | sort -u)"
    is "$(offered insp)" inspect
    is "$(offered --v)" --version
    is "$(offered no-such)" ""
    is "$(offered no-such '')" ""
}

@test "each option of each subcommand" {
    local name option seen=0
    while read -r name; do
        is "$(offered "$name" -)" "$(options_of "$name" | cut -d ' ' -f 1 | sort)"
        while read -r option _; do
            is "$(offered "$name" "$option" | grep -x -- "$option")" "$option"
            seen=$((seen + 1))
        done < <(options_of "$name")
    done < <(subcommands)
    [ "$seen" -ge 30 ]
}

@test "the value of each option that takes one, behind a space and behind =" {
    local name option value expected
    mkdir directory
    touch file
    while read -r name; do
        while read -r option value; do
            case $value in
            '') continue ;;
            WHEN) expected='always auto never' ;;
            SEVERITY) expected='error warning' ;;
            VERSION | SEC) expected= ;;
            [a-z]*) expected=$value ;;
            DIR | LOG) expected=directory ;;
            *) expected='directory file' ;;
            esac
            echo "$name $option $value"
            is "$(offered "$name" "$option" '' | xargs)" "$expected"
            is "$(offered "$name" "$option" = | xargs)" "$expected"
            is "$(offered "$name" "$option" = no-such)" ""
            is "$(offered "$name" "$option" value --col)" "$(offered "$name" --col)"
            is "$(offered "$name" "$option" = value --col)" "$(offered "$name" --col)"
        done < <(options_of "$name")
    done < <(subcommands)
    is "$(offered report --color = al)" always
    is "$(offered report --col)" --color
}

@test "ids of findings" {
    is "$(offered explain '')" "$("$CMD" explain --json | jq -r '.[].id' | sort)"
    is "$(offered explain part-m)" part-missing
    is "$(offered explain --json part-m)" part-missing
}

@test "processes of this user" {
    offered inspect '' >pids
    grep -qx $$ pids
    run ! grep -qvx '[0-9]*' pids
    is "$(offered inspect 1 $$ | head -n 1)" $$
}

@test "logs and directories, where logs are asked for" {
    local name seen=0
    mkdir logs
    touch a.jsonl 'b c.jsonl' a.jsonl.2 other.txt logs/d.jsonl
    while read -r name; do
        takes_argument "$name" LOG || continue
        # Numbers of processes, ids would stand among them.
        ! takes_argument "$name" PID && ! takes_argument "$name" ID || continue
        is "$(offered "$name" '')" $'a.jsonl\na.jsonl.2\nb c.jsonl\nlogs'
        is "$(offered "$name" a.jsonl lo)" logs
        is "$(offered "$name" logs/)" logs/d.jsonl
        seen=$((seen + 1))
    done < <(subcommands)
    [ "$seen" -ge 2 ]
}

@test "where no argument is expected options are offered; behind -- only arguments" {
    is "$(offered env '')" "$(offered env -)"
    touch -- -file.jsonl
    is "$(offered report -- -)" -file.jsonl
}

@test "a command line: the command, then files; its options are its own" {
    printf '#!/bin/sh\n' >a-program
    chmod +x a-program
    touch a-file
    PATH=$PWD:$PATH
    is "$(offered run a-pr)" a-program
    is "$(offered run --log logs --quiet -- a-pr)" a-program
    is "$(offered run --color = never a-pr)" a-program
    is "$(offered run a-program a-f)" a-file
    is "$(offered run -- a-program --lo)" ""
    is "$(offered run a-program --lo)" ""
    is "$(offered run --log logs --fail)" --fail-on
    is "$(offered probe -- a-pr)" a-program
    is "$(offered probe --json -- a-program a-f)" a-file
    is "$(offered probe a-pr)" ""
    is "$(offered check a-file -- a-pr)" a-program
    is "$(offered check a-fi)" a-file
}

@test "with the package: it loads the file by its name, and a command line is completed as its command's" {
    mkdir -p data/bash-completion/completions
    cp "$WC_ROOT/completions/whichcudnn.bash" data/bash-completion/completions/whichcudnn
    cat >script <<'END'
. /usr/share/bash-completion/bash_completion
for load in _comp_load __load_completion; do
    if declare -F $load >/dev/null; then
        $load whichcudnn
        break
    fi
done
complete -p whichcudnn || exit
complete -W 'alpha beta' mytool
for line in 'run -- mytool al' 'run --log x mytool al' 'report --col'; do
    read -ra words <<<"$line"
    COMP_WORDS=("$CMD" "${words[@]}") COMP_CWORD=${#words[@]} COMP_LINE="$CMD $line"
    COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMP_KEY=9 COMPREPLY=()
    _whichcudnn "$CMD" "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}" 2>/dev/null
    echo "${COMPREPLY[@]}"
done
END
    XDG_DATA_HOME=$PWD/data run -0 bash --norc script
    is "$output" $'complete -F _whichcudnn whichcudnn\nalpha\nalpha\n--color'
}

@test "the key in a real shell, where = is a word" {
    run -0 python3 - <<'END'
import os, pty, re, select, sys

pid, shell = pty.fork()
if pid == 0:
    os.environ.update(PS1="ready> ", TERM="dumb", PATH=os.environ["BUILD"] + ":" + os.environ["PATH"])
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])


def after(keys, pattern):
    os.write(shell, keys.encode())
    got = ""
    while not re.search(pattern, got):
        if not select.select([shell], [], [], 20)[0]:
            sys.exit(f"no {pattern!r} in {got!r}")
        got += os.read(shell, 4096).decode()


after("", "ready> ")
after(f". '{os.environ['WC_ROOT']}/completions/whichcudnn.bash'; echo so''urced\n", "sourced\r\n.*ready> ")
after("whichcudnn insp\t", "whichcudnn inspect ")
after("--co\t", "--color ")
after("\b=ne\t", "=never")
after("\x15exit\n", "exit")
END
}
