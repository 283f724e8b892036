#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# examples/fleet/: the questions over a small fleet, by DuckDB; what collectors make of logs. The whole: make fleet.

bats_require_minimum_version 1.5.0
load fleet

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    draw small 200 --nodes 8 --days 4 >seed
    ask duckdb small/logs >answers.json
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    small=$BATS_FILE_TMPDIR/small answers=$BATS_FILE_TMPDIR/answers.json
    cat "$BATS_FILE_TMPDIR/seed"
}

@test "what the examples hold of the project's tables is what is in them" {
    run -0 "$PY" "$FLEET/columns.py" check
    mkdir -p tree/examples
    cp -r "$WC_ROOT"/{core,include,tools,docs} tree
    cp -r "$EXAMPLES" tree/examples/fleet
    mkdir tree/tests
    cp -r "$WC_ROOT"/tests/{schema,fleet} tree/tests
    edit -o tree/core/knowledge/bad_releases.def core/knowledge/bad_releases.def 'BAD_RELEASE("==9.10.0"' 'BAD_RELEASE("==9.11.0"'
    edit -o tree/include/whichcudnn/record.def include/whichcudnn/record.def 'STR(machine, kernel, ' 'STR(machine, kernel_release, '
    run -1 "$PY" tree/tests/fleet/columns.py check
    is "$(grep -c 'make schema' <<<"$output")" 3
}

@test "200 logs in DuckDB: each question's rows are those that were drawn; a wrong one is noticed" {
    compare "$small/truth.json" "$answers"
    # In what was drawn, in an answer, in its order.
    jq '.questions["which-findings"][0][2] += 1' "$small/truth.json" >truth.json
    run -1 compare truth.json "$answers"
    [[ $output == *"which-findings: not drawn: "*"which-findings: missing: "* ]]
    jq '.questions["which-nodes"].rows |= .[1:]' "$answers" >fewer.json
    run -1 compare "$small/truth.json" fewer.json
    [[ $output == *"which-nodes: missing: "* ]]
    jq '.questions["which-images"].rows |= reverse' "$answers" >turned.json
    run -1 compare "$small/truth.json" "$answers" turned.json
    [[ $output == *"which-images: another order"* ]]
    # In a log.
    cp -r "$small/logs" .
    local log
    log=$(grep -l '"VIRTUAL_ENV' logs/*/whichcudnn-*.jsonl | head -n 1)
    sed -i '/"role":"facade"/s/"version":"[0-9.]*"/"version":"9.7.1"/' "$log"
    ask duckdb logs >other.json
    run -1 compare "$small/truth.json" other.json
    [[ $output == *"which-nodes: not drawn: "*"9.7.1"* ]]
}

@test "each rule of the views is needed: without it a row is wrong" {
    cp -r "$EXAMPLES" sql
    local rule
    while read -r rule; do
        sed "$rule" "$EXAMPLES/views.sql" >sql/views.sql
        run ! cmp -s "$EXAMPLES/views.sql" sql/views.sql
        ask duckdb "$small/logs" --sql sql >other.json
        echo "it says that this changes nothing: $rule"
        run -1 compare "$small/truth.json" other.json
    done <<'END'
s/WHERE age = 1 AND mapped/WHERE age = 1/
s/WHERE age = 1 AND mapped/WHERE mapped/
s/WHERE later.file IS NULL AND (/WHERE (/
s/(last.file IS NULL OR .*/true;/
END
}

@test "whichcudnn report --prometheus counts what was drawn" {
    report --prometheus "$small"/logs/* >counts
    metrics "$small/truth.json" counts
    sed 's/^\(whichcudnn_findings{id="known-bad-release".*} \)/\19/' counts >wrong
    run ! metrics "$small/truth.json" wrong
}

# What the configurations make of logs: one file a node, in any order, with the log's name in each record.
@test "records that a collector brought together give the same rows" {
    mkdir -p srv/day
    local node
    for node in "$small"/logs/*; do
        mkdir now
        cp "$node"/whichcudnn-* now
        (
            cd now
            find . -name '*.gz' -exec gunzip {} +
            awk '{ print FILENAME "\t" $0 }' whichcudnn-*.jsonl |
                jq -cR 'index("\t") as $i | (.[$i + 1:] | fromjson? | objects) + {log_file: "/var/log/whichcudnn/\(.[:$i])"}'
        ) | sort -R --random-source=/dev/zero >"srv/day/whichcudnn-${node##*/}.jsonl"
        rm -r now
    done
    ask duckdb srv >collected.json
    compare "$small/truth.json" collected.json
}

@test "collectors' configurations: nothing in them but what their programs know" {
    run -0 "$PY" "$FLEET/check_configs.py" "$EXAMPLES"
    local wrong file
    while read -r file wrong; do
        rm -rf configs
        cp -r "$EXAMPLES" configs
        sed -i "$wrong" "configs/$file"
        run ! cmp -s "$EXAMPLES/$file" "configs/$file"
        run -1 "$PY" "$FLEET/check_configs.py" configs
        echo "$output"
        [[ $output == "$file: "* ]]
    done <<'END'
vector.yaml s/read_from/start_at/
vector.yaml s/strategy: checksum/strategy: inode/
vector.yaml s/- records/- record/
fluent-bit.yaml s/path_key/file_key/
fluent-bit.yaml s/match: whichcudnn/match: cudnn/
otel-collector.yaml s/layout_type: epoch/layout_type: unix/
otel-collector.yaml s/- file_storage/- storage/
otel-collector.yaml s/# Not run/# Run/
END
}
