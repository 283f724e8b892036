#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_configs.py DIRECTORY: the collectors' configurations there have only keys that their programs know.

The programs are not to be had where the tests run, so known_keys.yaml keeps what their references name, of the
components that the examples use. What refers to another part of the file must find it, and all look for the
same logs and leave the same key with the log's name.
"""

import pathlib
import sys

import yaml

KNOWN = yaml.safe_load(pathlib.Path(__file__).with_name("known_keys.yaml").read_text(encoding="utf-8"))
LOGS = "/var/log/whichcudnn/whichcudnn-*.jsonl"


def unknown(where, value, known):
    """known: {key: what is known below it}; null: anything; a list: one of these words, or a list of such."""
    if known is None:
        return
    if isinstance(known, list):
        if len(known) == 1 and isinstance(known[0], dict):
            for number, one in enumerate(value):
                yield from unknown(f"{where}[{number}]", one, known[0])
        elif value not in known:
            yield f"{where}: {value!r} is none of {known}"
        return
    if not isinstance(value, dict):
        yield f"{where}: {value!r} is no map"
        return
    for key, inner in value.items():
        if key in known or "*" in known:
            yield from unknown(f"{where}.{key}", inner, known.get(key, known.get("*")))
        else:
            yield f"{where}: no key {key!r}"


def vector(config):
    parts = {**config["sources"], **config["transforms"], **config["sinks"]}
    for section in ("sources", "transforms", "sinks"):
        for name, part in config[section].items():
            yield from unknown(f"{section}.{name}", part, KNOWN["vector"][section].get(part["type"], {}))
            yield from (f"{name}: no input {one!r}" for one in part.get("inputs", []) if one not in parts)
    yield from unknown("", {key: None for key in config}, {key: None for key in KNOWN["vector"]["top"]})
    if [one["include"] for one in config["sources"].values()] != [[LOGS]]:
        yield "reads other logs"
    if ".log_file = log_file" not in "".join(one.get("source", "") for one in config["transforms"].values()):
        yield "does not say which log a record is of"


def fluent_bit(config):
    yield from unknown("", {key: None for key in config}, {key: None for key in KNOWN["fluent-bit"]["top"]})
    yield from unknown("service", config["service"], KNOWN["fluent-bit"]["service"])
    for section in ("inputs", "outputs"):
        for part in config["pipeline"][section]:
            yield from unknown(f"{section}.{part['name']}", part, KNOWN["fluent-bit"][section].get(part["name"], {}))
    for parser in config["parsers"]:
        yield from unknown("parsers", parser, KNOWN["fluent-bit"]["parsers"])
    source, target = config["pipeline"]["inputs"][0], config["pipeline"]["outputs"][0]
    if source.get("parser") not in [one.get("name") for one in config["parsers"]]:
        yield f"no parser {source.get('parser')!r}"
    if target.get("match") != source.get("tag"):
        yield f"nothing matches {target.get('match')!r}"
    if (source.get("path"), source.get("path_key")) != (LOGS, "log_file"):
        yield "reads other logs, or does not say which log a record is of"


def otel(config):
    known = KNOWN["otel-collector"]
    yield from unknown("", {key: None for key in config}, {key: None for key in known["top"]})
    for section in ("extensions", "receivers", "processors", "exporters"):
        for name, part in config[section].items():
            yield from unknown(f"{section}.{name}", part or {}, known[section].get(name.partition("/")[0], {}))
    for number, one in enumerate(config["receivers"]["filelog"]["operators"]):
        yield from unknown(f"operators[{number}]", one, known["operators"].get(one["type"], {}))
    yield from unknown("service", config["service"], known["service"])
    for name, pipeline in config["service"]["pipelines"].items():
        yield from (f"{name}: no {one!r}" for section, names in pipeline.items() for one in names
                    if one not in config[section])
    receiver = config["receivers"]["filelog"]
    if receiver.get("storage") not in config["service"]["extensions"]:
        yield "its storage is not started"
    last = receiver["operators"][-1]
    if receiver.get("include") != [LOGS] or last.get("to") != "body.log_file":
        yield "reads other logs, or does not say which log a record is of"


def main():
    directory, found = pathlib.Path(sys.argv[1]), []
    for name, check in (("vector", vector), ("fluent-bit", fluent_bit), ("otel-collector", otel)):
        text = (directory / f"{name}.yaml").read_text(encoding="utf-8")
        if not text.startswith("# Not run: "):
            found.append(f"{name}.yaml: its first line does not say what was not run")
        found += [f"{name}.yaml: {one}" for one in check(yaml.safe_load(text))]
    print("\n".join(found) or "only known keys")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
