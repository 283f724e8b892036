#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# docs/ and the writer agree with record.def, and the schema lets nothing else through.

bats_require_minimum_version 1.5.0
load helpers

# samples.jsonl: the shim's own writer on a record of every kind: empty, full, and far too long.
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    "${CC:-gcc}" -std=gnu11 -O2 -I"$WC_ROOT/include" -I"$WC_ROOT" -o samples \
        "$WC_ROOT"/tests/schema/write_samples.c "$WC_ROOT"/core/{model/record,base/shown,base/text}.c
    ./samples >samples.jsonl
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    cp "$BATS_FILE_TMPDIR/samples.jsonl" .
}

generated() { # WHAT FILE
    "$PY" "$WC_ROOT/tests/schema/generate.py" "$1" | diff "$WC_ROOT/docs/$2" - ||
        { echo "docs/$2 is not what the tables say: make schema writes it anew"; return 1; }
}

@test "what docs holds of record.def is what is in it" {
    generated log log.schema.json
    generated report report.schema.json
    generated scan scan.schema.json
    generated lock lock.schema.json
    generated fix fix.schema.json
    generated page log.md
    "$PY" "$WC_ROOT/tests/schema/validate.py" schemas
}

@test "the writer's record of every kind is valid, however long its texts are" {
    is "$(wc -l <samples.jsonl)" $(($(grep -c '^KIND(' "$WC_ROOT/include/whichcudnn/record.def") * 3))
    # The samples begin with the process record of the table, so they are a whole log, too.
    validate_log samples.jsonl
    [ "$(jq -r 'select(.cut > 0) | .kind' samples.jsonl | wc -l)" -ge 12 ]
    run -1 awk '{ if (length($0) + 1 > 16384) found = 1 } END { exit !found }' samples.jsonl
}

@test "a removed, renamed, added or mistyped key of any kind of record is refused" {
    run -0 "$PY" "$WC_ROOT/tests/schema/mutate.py" samples.jsonl
    [[ $output =~ ^[1-9][0-9]{3}" mutants"$ ]]
}

@test "the mutants are refused by the schema's tightness, not by the test" {
    mkdir -p loose/docs loose/tests
    cp -r "$WC_ROOT/tests/schema" loose/tests/
    cp -r "$WC_ROOT/include" loose/
    jq '."$defs"[].required |= map(select(. != "seq"))' "$WC_ROOT/docs/log.schema.json" \
        >loose/docs/log.schema.json
    run -1 "$PY" loose/tests/schema/mutate.py samples.jsonl
    [[ $output == *"passed: object without seq"* ]]
    jq '."$defs".call.additionalProperties = true' "$WC_ROOT/docs/log.schema.json" \
        >loose/docs/log.schema.json
    run -1 "$PY" loose/tests/schema/mutate.py samples.jsonl
    [[ $output == *"passed: call with a key more"* ]]
}

@test "the validator sees lines that are cut, too long, doubled, or out of place" {
    local process machine
    process=$(records process samples.jsonl | head -n 1)
    machine=$(records machine samples.jsonl | head -n 1)

    printf '%s\n%s\n' "$process" "$machine" >good
    validate_log good
    printf '%s\n%s' "$process" "$machine" >cut_off
    run -1 validate_log cut_off
    [[ $output == *"no newline"* ]]
    printf '%s\n%s\n' "$process" "${machine:0:100}" >half
    run -1 validate_log half
    [[ $output == *"no JSON"* ]]
    printf '%s\n%s\n' "$process" "$process" | sed '2s/"kind":"process"/"kind":"machine"/' >other
    run -1 validate_log other
    printf '%s\n%s\n' "$process" "$machine" | jq -c '.seq = 1' >doubled
    run -1 validate_log doubled
    [[ $output == *"seq 1 twice"* ]]
    printf '%s\n' "$machine" >headless
    run -1 validate_log headless
    [[ $output == *"first record is not the process"* ]]
    : >empty
    run -1 validate_log empty
}

@test "each key has one type and one meaning: a directory of logs loads into one table" {
    python3 "$WC_ROOT/tests/schema/draw_logs.py" drawn 60
    python3 "$WC_ROOT/tests/schema/one_table.py" drawn
}

@test "a key with two types or two meanings is seen, in the definition and in the logs" {
    mkdir -p two/tests
    cp -r "$WC_ROOT/tests/schema" two/tests/
    cp -r "$WC_ROOT/include" "$WC_ROOT/core" two/
    python3 two/tests/schema/draw_logs.py drawn 60
    edit -o two/include/whichcudnn/record.def include/whichcudnn/record.def 'INT(demand, function_count,' 'INT(demand, functions,'
    run -1 python3 two/tests/schema/one_table.py drawn
    [[ $output == *"functions: ('INT', None, 'number of listed functions imported') in demand"* ]]
    cp "$WC_ROOT/include/whichcudnn/record.def" two/include/whichcudnn/
    edit -o two/include/whichcudnn/record.def include/whichcudnn/record.def 'STR(object, symbol_version,' 'STR(object, node,'
    run -1 python3 two/tests/schema/one_table.py drawn
    [[ $output == *"node: ('STR', None, 'the symbol version it defines') in object"* ]]
    cp "$WC_ROOT/include/whichcudnn/record.def" two/include/whichcudnn/
    sed -i '$s/"pid":[0-9]*/"pid":"one"/' drawn/whichcudnn-n-7-1.jsonl
    run -1 python3 two/tests/schema/one_table.py drawn
    [[ $output == *"pid: text in "* ]]
}

@test "each field of what is known of a process and its libraries has one writer" {
    "$PY" "$WC_ROOT/tests/schema/one_writer.py" ||
        { echo "each of these should be assigned in one file: schema/one_writer.py says where it looks"; return 1; }
    mkdir -p twice && cp -r "$WC_ROOT"/{core,shim,tools} twice
    cat >>twice/shim/describe.c <<'END'
static void twice(struct wc_object_record *o) {
    o->soname = NULL;
}
END
    edit -o twice/core/records/emit.c core/records/emit.c 'r.u.unobserved.why = why;' ''
    run -1 "$PY" "$WC_ROOT/tests/schema/one_writer.py" twice
    is "$output" 'object.soname: core/records/emit.c, shim/describe.c
unobserved.why: nobody'
}
