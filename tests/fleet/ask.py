#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ask.py duckdb LOGS [--master URL] [--sql DIRECTORY]: the questions of examples/fleet/, as JSON.
ask.py spark LOGS ...: likewise

Prints {"version": text, "read": seconds, "questions": {name: {"seconds": s, "columns": [...], "rows": [[...], ...]}}}; times
in rows are whole seconds since 1970. Each .sql file is run as it lies there.
"""

import argparse
import datetime
import json
import pathlib
import re
import sys
import time

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "fleet"
SETUP = ("duckdb.sql", "spark.sql", "views.sql")


def statements(path):
    """Those of a file; each ends with a line."""
    return [text for text in re.split(r";$", path.read_text(encoding="utf-8"), flags=re.MULTILINE) if text.strip()]


def plain(value):
    if isinstance(value, datetime.datetime):
        value = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
        return int(value.timestamp())
    return value


class DuckDB:
    def __init__(self, logs, _):
        import duckdb
        self.version = duckdb.__version__
        self.connection = duckdb.connect()
        self.connection.execute("SET threads = 2")
        self.connection.execute("SET VARIABLE logs = ?", [f"{logs}/**/whichcudnn-*.jsonl*"])

    def run(self, statement):
        cursor = self.connection.execute(statement)
        return [one[0] for one in cursor.description or []], cursor.fetchall()


class Spark:
    def __init__(self, logs, master):
        from pyspark.sql import SparkSession
        self.session = (
            SparkSession.builder.master(master).appName("whichcudnn").config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false").config("spark.executor.memory", "1g")
            .config("spark.sql.session.timeZone", "UTC").config("spark.sql.shuffle.partitions", "4")
            .config("spark.sql.files.openCostInBytes", "65536").getOrCreate())
        self.session.conf.set("logs", str(logs))
        self.version = self.session.version

    def run(self, statement):
        table = self.session.sql(statement)
        if not table.columns:
            return [], []
        # Moments come as those of this machine's own time zone, without saying so.
        return table.columns, [[one.astimezone(datetime.timezone.utc) if isinstance(one, datetime.datetime) else one
                                for one in row] for row in table.collect()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("engine", choices=["duckdb", "spark"])
    parser.add_argument("logs", type=pathlib.Path)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--sql", type=pathlib.Path, default=EXAMPLES)
    args = parser.parse_args()
    engine = {"duckdb": DuckDB, "spark": Spark}[args.engine](args.logs.resolve(), args.master)
    begin = time.monotonic()
    for name in (f"{args.engine}.sql", "views.sql"):
        for statement in statements(args.sql / name):
            engine.run(statement)
    read, questions = time.monotonic() - begin, {}
    for path in sorted(set(args.sql.glob("*.sql")) - {args.sql / name for name in SETUP}):
        begin = time.monotonic()
        (columns, rows), = [engine.run(statement) for statement in statements(path)]
        questions[path.stem] = {"seconds": time.monotonic() - begin, "columns": list(columns),
                                "rows": [[plain(value) for value in row] for row in rows]}
    json.dump({"version": engine.version, "read": read, "questions": questions}, sys.stdout)


if __name__ == "__main__":
    main()
