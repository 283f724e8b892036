#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The second step of action.yml: scans the directory SCAN, and runs the command RUN, watched.
#
# Error or warning: an annotation, on the file of the repository that ANNOTATE names. Summary of the job:
# the reports. Exit status: the command's, or 1 where that was 0 and FAIL_ON (error, warning, none) was found.
# Outputs of the step: `verdict`, one line; `logs`, a directory.
set -eu
text=$(mktemp)
trap 'rm -f "$text"' EXIT
status=0 verdict=
fail=()
[ "$FAIL_ON" = none ] || fail=("--fail-on=$FAIL_ON")

# https://github.com/actions/toolkit (command.ts): a line's end would end the annotation.
escaped() { # TEXT
    local text=${1//'%'/%25}
    text=${text//$'\r'/%0D}
    echo "${text//$'\n'/%0A}"
}

# say VERDICT: it is the step's, and an annotation if it is an error or a warning.
say() {
    local kind=
    verdict=${verdict:-$1}
    case $1 in
    error* | unexplained*) kind=error ;;
    warning*) kind=warning ;;
    esac
    [ -n "$kind" ] || return 0
    echo "::$kind file=$(escaped "$ANNOTATE" | sed 's/:/%3A/g; s/,/%2C/g'),title=cuDNN::$(escaped "$1")"
}

if [ -z "$SCAN$RUN" ]; then
    echo "::error::nothing to do: name a directory (\`scan:\`), a command (\`run:\`), or both"
    exit 2
fi
# Without names of users and nodes: anybody may read the log and the summary of a public repository.
if [ -n "$SCAN" ]; then
    whichcudnn scan --redact ${fail[@]+"${fail[@]}"} "$SCAN" >"$text" || status=$?
    # Without --fail-on the status tells what was found.
    [ "$FAIL_ON" != none ] || [ "$status" -eq 2 ] || status=0
    # What a file is called is no command for the runner, which looks for `##[` within lines, too; nor does it end a
    # block of code.
    token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    echo "::stop-commands::$token"
    cat "$text"
    echo "::$token::"
    { echo && sed 's/^/    /' "$text" && echo; } >>"$GITHUB_STEP_SUMMARY"
    while read -r line; do say "$line"; done < <(grep -E '^(error|warning)\[' "$text" | head -n 9)
fi
if [ -n "$RUN" ]; then
    logs=$(mktemp -d "$RUNNER_TEMP/whichcudnn-logs.XXXXXX")
    echo "logs=$logs" >>"$GITHUB_OUTPUT"
    : >"$text"
    ran=0
    whichcudnn run ${fail[@]+"${fail[@]}"} --log "$logs" --verdict-file "$text" -- bash -e -o pipefail -c "$RUN" || ran=$?
    # Before the verdict stands which cuDNN it was.
    say "$(sed -E 's/^[^;]*cuDNN [^;]*; (error|warning|unexplained)/\1/' "$text")"
    whichcudnn report --markdown --redact "$logs" >>"$GITHUB_STEP_SUMMARY" || true
    [ "$ran" -eq 0 ] || status=$ran
fi
verdict=${verdict%%$'\n'*}
echo "verdict=${verdict//$'\r'/}" >>"$GITHUB_OUTPUT"
exit "$status"
