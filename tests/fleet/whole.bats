#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# examples/fleet/ over WC_LOGS drawn logs: DuckDB and Spark say what was drawn. Logs and answers stay in build/fleet.

bats_require_minimum_version 1.5.0
load fleet

OUT=$WC_BUILD/fleet
LOGS=${WC_LOGS:-10000}

spark_home() { "$WC_SPARK" -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))'; }

spark() { # COMMAND...: beside a master and two workers, whose address becomes its last argument
    "$FLEET/cluster" "$(spark_home)" "$OUT/cluster" "$@"
}

setup_file() {
    mkdir -p "$OUT"
    rm -rf "$OUT"/{logs,cluster,*.json,counts}
    draw "$OUT" "$LOGS" >"$OUT/seed"
    cat /proc/loadavg >"$OUT/load"
    local TIMEFORMAT='%U %S' # of all its processes
    { time ask duckdb "$OUT/logs" >"$OUT/duckdb.json"; } 2>"$OUT/duckdb.cpu"
    { time spark "$WC_SPARK" "$FLEET/ask.py" spark "$OUT/logs" --master >"$OUT/spark.json" 2>"$OUT/spark.err"; } 2>"$OUT/spark.cpu"
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    cat "$OUT/seed"
}

@test "DuckDB and Spark give the rows that were drawn, in the same order, and find the nodes that were planted" {
    is "$(find "$OUT/logs" -name 'whichcudnn-*' -size +0 | wc -l)" "$LOGS"
    compare "$OUT/truth.json" "$OUT/duckdb.json" "$OUT/spark.json"
    is "$(grep -c 'Successfully registered' "$OUT"/cluster/worker? | grep -c ':1$')" 2
    [ "$LOGS" -ge 5000 ] || return 0 # with few logs a day, chance decides which cuDNN is the usual one
    is "$(jq -c '[.questions["which-nodes"].rows[][1]] | unique' "$OUT/spark.json")" "$(jq -c '.planted["other cuDNN"]' "$OUT/truth.json")"
    is "$(jq -c '[.questions["known-bad"].rows[][4]] | unique' "$OUT/spark.json")" "$(jq -c '.planted["known bad"]' "$OUT/truth.json")"
}

@test "a wrong row is noticed, of either, of both, and of each question" {
    local engine question
    for question in $(jq -r '.questions | keys[]' "$OUT/truth.json"); do
        for engine in duckdb spark; do
            cp "$OUT"/{duckdb,spark}.json .
            jq --arg q "$question" '.questions[$q].rows[-1] |= map(if type == "number" then . + 1 else . end)' "$OUT/$engine.json" >$engine.json
            run -1 compare "$OUT/truth.json" duckdb.json spark.json
            [[ $output == *"$engine.json: $question: not drawn: "* ]]
        done
    done
    # A log that nobody drew: both say the same of it, and it is not what was drawn.
    cp -r "$OUT/logs/gpu001" gpu001
    rm -f gpu001/*.gz
    sed -i '/"role":"facade"/s/"version":"[0-9.]*"/"version":"9.7.1"/' "$(grep -l '"role":"facade"' gpu001/whichcudnn-* | head -n 1)"
    mkdir logs
    cp -rs "$OUT"/logs/* logs
    rm -rf logs/gpu001
    mv gpu001 logs
    ask duckdb logs >other.json
    run -1 compare "$OUT/truth.json" other.json
    [[ $output == *9.7.1* ]]
}

@test "report --prometheus counts them, and promtool takes it" {
    local promtool begin end
    begin=$(date +%s%3N)
    report --prometheus "$OUT"/logs/* -o "$OUT/counts.prom"
    end=$(date +%s%3N)
    echo "{\"seconds\": $((end - begin))e-3}" >"$OUT/counts.json"
    metrics "$OUT/truth.json" "$OUT/counts.prom"
    promtool=$(fetch_promtool)
    run -0 "$promtool" check metrics <"$OUT/counts.prom"
    is "$output" ""
    report --prometheus "$OUT/logs/gpu001" | sed '/^# HELP whichcudnn_build_info/d' >without
    run ! "$promtool" check metrics <without
}

# By the command in the first lines of spark.sql, over the logs of a node that has findings.
@test "spark-sql says the same, as spark.sql has it" {
    local node command
    node=$(jq -r '.questions["which-findings"][0][5] | split("-")[1]' "$OUT/truth.json")
    command=$(sed -n '/^-- *spark-sql /{N;s/\\\n-- *//;s/^-- *//p}' "$EXAMPLES/spark.sql")
    [[ $command == "spark-sql --master spark://HOST:7077 --hivevar logs=/srv/logs "* ]]
    command=${command/spark:\/\/HOST:7077/local[2]}
    (cd "$EXAMPLES" && cat spark.sql views.sql which-findings.sql) >question.sql
    SPARK_HOME=$(spark_home)
    export SPARK_HOME SPARK_LOCAL_IP=127.0.0.1
    (PATH=$SPARK_HOME/bin:$PATH && eval "${command/\/srv\/logs/$OUT/logs/$node}") >rows 2>told || { tail -n 20 told; return 1; }
    ask duckdb "$OUT/logs/$node" | jq -r '.questions["which-findings"].rows[] | map(tostring) | join("\t")' | diff - rows
    [ -s rows ]
    is "$(ls)" "$(printf '%s\n' question.sql rows told)"
}

@test "logrotate packs what a collector wrote, and its rows stay; tmpfiles.d removes logs by their age" {
    mkdir srv
    awk 1 "$OUT"/logs/gpu001/whichcudnn-*.jsonl | jq -cR 'fromjson? | objects | . + {log_file: "\(.pid).jsonl"}' >srv/whichcudnn-a.jsonl
    ask duckdb srv | jq -c '.questions[].rows' >before
    sed "s|/srv/logs|$PWD/srv|" "$WC_ROOT/examples/fleet/logrotate.conf" >conf
    run ! cmp -s conf "$WC_ROOT/examples/fleet/logrotate.conf"
    chmod 644 conf
    printf 'logrotate state -- version 2\n"%s/srv/whichcudnn-a.jsonl" 2026-1-1-1:0:0\n' "$PWD" >state
    logrotate -s state conf
    [[ $(ls srv) == whichcudnn-a.jsonl-*.gz ]]
    ask duckdb srv | jq -c '.questions[].rows' | diff before -

    sed "s|/var/log|$PWD/var|" "$WC_ROOT/examples/fleet/tmpfiles.conf" >whichcudnn.conf
    mkdir var
    systemd-tmpfiles --create "$PWD/whichcudnn.conf"
    is "$(stat -c %a var/whichcudnn)" 1777
    touch -d '13 days ago' var/whichcudnn/whichcudnn-a-1-1.jsonl
    touch -d '15 days ago' var/whichcudnn/whichcudnn-a-2-1.jsonl
    cat var/whichcudnn/* # has been read
    systemd-tmpfiles --clean "$PWD/whichcudnn.conf"
    is "$(ls var/whichcudnn)" whichcudnn-a-1-1.jsonl
}
