#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The man pages, made of --help and docs/ (tools/man/generate_man.py).

bats_require_minimum_version 1.5.0
load helpers
load usage

setup_file() {
    export PAGES=$BATS_FILE_TMPDIR/man
    "$PY" "$WC_ROOT/tools/man/generate_man.py" "$PAGES" "$WC_BUILD/whichcudnn"
}

setup() { cd "$BATS_TEST_TMPDIR"; }

# plain PAGE: its text as one line, without what the form needs
plain() { mandoc -T ascii -O width=999 "$PAGES/$1" | col -bx | tr -s ' \n' ' '; }

# says PAGE < LINES: each line stands in the page
says() {
    local line page seen=0
    page=$(plain "$1")
    while read -r line; do
        line=$(tr -s ' ' <<<"$line")
        [[ $page == *"$line"* ]] || { echo "$1 lacks: $line"; return 1; }
        seen=$((seen + 1))
    done
    [ "$seen" -ge 5 ]
}

@test "a page for the command, each subcommand, the library and the log" {
    diff <(ls "$PAGES") <({
        printf '%s\n' whichcudnn.1 libwhichcudnn.7 whichcudnn-log.5
        subcommands | sed 's/.*/whichcudnn-&.1/'
    } | sort)
}

@test "mandoc and groff have nothing to say against them" {
    local page
    for page in "$PAGES"/*; do
        run -0 mandoc -T lint -W warning "$page"
        is "$output" ""
        is "$(groff -man -t -ww -z -T utf8 -K utf8 "$page" 2>&1)" ""
    done
}

@test "each line of each --help is in its page; each subcommand and page in that of the command" {
    local name
    while read -r name; do
        help_of "$name" | sed 's/^Usage: //; s/^Exit status: //' | grep . | says "whichcudnn-$name.1"
    done < <(subcommands)
    "$CMD" --help | sed 's/^Usage: //; s/^Exit status: //' | grep . | says whichcudnn.1
    find "$PAGES" -type f ! -name whichcudnn.1 -printf '%f\n' | sed 's/\(.*\)\.\(.\)/\1(\2)/' | says whichcudnn.1
}

@test "each key of the log (docs/log.md) and each variable of the library (README.md) is in its page" {
    row() { sed -n 's/^| \(`.*\) |$/\1/p' | sed 's/`//g; s/ | / /; s/ | /: /'; }
    # An item of a list goes on in lines that are indented by two.
    sed -z 's/\n  \([^ ]\)/ \1/g' "$WC_ROOT/docs/log.md" | sed -n 's/^- \(`.*\)/\1/p' | tr -d '`' >rows
    [ "$(wc -l <rows)" -ge 100 ]
    says whichcudnn-log.5 <rows
    sed -n 's/^### //p' "$WC_ROOT/docs/log.md" | tr -d '`' | says whichcudnn-log.5
    grep '^| `WHICHCUDNN_' "$WC_ROOT/README.md" | row | says libwhichcudnn.7
    grep -o '"WHICHCUDNN_[A-Z_]*"' "$WC_ROOT/shim/config.c" | tr -d '"' | says libwhichcudnn.7
}

@test "each section of docs/ that names a page is in it" {
    local source page heading seen=0
    while IFS=: read -r source page heading; do
        echo "$source: $heading: $page"
        plain "$page" | grep -qF " $(tr -d '`' <<<"${heading^^}") "
        seen=$((seen + 1))
    done < <(cd "$WC_ROOT" && awk '/^##? / { heading = $0; sub("^##? ", "", heading) }
        /^<!-- man: / && heading { for (i = 3; i < NF; i++) print FILENAME ":" $i ":" heading }' \
        README.md docs/*.md | grep -v 'whichcudnn-log.5:The log')
    [ "$seen" -ge 5 ]
}

@test "made anew they are the same, dated as asked; a mark of a page that is not there is refused" {
    SOURCE_DATE_EPOCH=86400 "$PY" "$WC_ROOT/tools/man/generate_man.py" one "$CMD"
    SOURCE_DATE_EPOCH=86400 "$PY" "$WC_ROOT/tools/man/generate_man.py" other "$CMD"
    diff -r one other
    is "$(head -n 1 one/whichcudnn.1)" ".TH WHICHCUDNN 1 1970-01-02 \"$("$CMD" --version | head -n 1)\""
    mkdir -p tools/man
    cp "$WC_ROOT"/tools/man/{generate_man.py,man.lua} tools/man/
    cp -r "$WC_ROOT"/{README.md,docs} .
    printf '## X\n<!-- man: whichcudnn-nothing.1 -->\n' >>README.md
    run -1 python3 tools/man/generate_man.py pages "$CMD"
    is "$output" "no such page: whichcudnn-nothing.1"
}
