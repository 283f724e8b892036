# SPDX-License-Identifier: Apache-2.0
# edit [-o COPY] FILE ANCHOR REPLACEMENT: replaces ANCHOR in FILE, or in COPY, which is a copy of FILE.
# It fails unless the file contains the anchor exactly once. tests/setup/anchors tries every edit.
# shellcheck shell=bash
edit() {
    local of text rest
    [ "$1" = -o ] || set -- -o "$1" "$@"
    of=$3
    text=$(<"$2") || return
    rest=${text#*"$4"}
    if [ "$rest" = "$text" ] || [ "${rest#*"$4"}" != "$rest" ]; then
        printf 'the anchor is not found once in %s:\n%s\n' "$of" "$4" >&2
        return 1
    fi
    printf '%s%s%s\n' "${text%%"$4"*}" "$5" "$rest" >"$2"
}
