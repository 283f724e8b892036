# SPDX-License-Identifier: Apache-2.0
# What --help of the subcommands says, read by a test: `load usage`.
# shellcheck shell=bash

# The names in the list of `whichcudnn --help`, one a line.
subcommands() { "$CMD" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'; }

# help_of NAME [-h]
help_of() { "$CMD" "$1" "${2:---help}"; }

# options_of NAME: one option a line, and the word for its value, if it takes one: "--log PLACE"
options_of() {
    help_of "$1" | sed -n 's/^  \(-\{1,2\}[a-z].*\)/\1/p' | sed 's/  .*//' | tr , '\n' | sed 's/^ *//; s/=/ /'
}

# arguments_of NAME: the least and the most number of arguments, by its usage; -1: any number
arguments_of() {
    help_of "$1" | sed -n '1,/^$/p' | tr '\n' ' ' | sed 's/Usage: whichcudnn [a-z]*//
        s/\[options*\]\(\.\.\.\)*//g; s/\[--*[a-z][^]]*\]//g' | awk '{
            any = gsub(/\.\.\./, "")
            least = $0; while (gsub(/\[[^][]*\]/, "", least)) { }
            most = $0; gsub(/\|[^]]*|[][]/, "", most)
            print split(least, w, " "), any ? -1 : split(most, w, " ")
        }'
}
