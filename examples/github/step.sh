#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The step of workflow.yaml: runs a command, watched.
#   step.sh python3 -m pytest
#
# Error or warning: an annotation, on the file of the repository that ANNOTATE names (default
# requirements.txt). Summary of the job: the report. Exit status: the command's, or 1 where that was 0
# and an error was found. Logs: whichcudnn-logs, which the workflow uploads.
set -eu
whichcudnn=${WHICHCUDNN:-whichcudnn}
logs="whichcudnn-logs"
verdict=$(mktemp)

# https://github.com/actions/toolkit (command.ts): a line's end would end the annotation.
escaped() { sed 's/%/%25/g; s/\r/%0D/g' | awk 'NR > 1 { printf "%%0A" } { printf "%s", $0 }'; }

mkdir -p "$logs"
status=0
"$whichcudnn" run --fail-on=error --log "$logs" --verdict-file "$verdict" -- "$@" || status=$?
case $(cat "$verdict") in
error:* | unexplained:*) kind=error ;;
warning:*) kind=warning ;;
*) kind= ;;
esac
if [ -n "$kind" ]; then
    file=$(printf %s "${ANNOTATE:-requirements.txt}" | escaped | sed 's/:/%3A/g; s/,/%2C/g')
    echo "::$kind file=$file,title=cuDNN::$(escaped <"$verdict")"
fi
rm -f "$verdict"
# Without names of users and nodes: anybody may read the summary of a public repository.
"$whichcudnn" report --markdown --redact "$logs" >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}" || true
exit "$status"
