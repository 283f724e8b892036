# SPDX-License-Identifier: Apache-2.0
"""summarise.py MACHINE.tsv RAW.tsv RESULTS.json: medians, spreads and goals of what run measured.

RAW.tsv has lines "measure, variant, round, quantity, value" (launch.c). Prints the table and writes
the same as JSON. The spread is that of the middle half of the rounds. Where a goal is a difference,
it is the median of the differences within one round, since a round's variants ran side by side.
"""
import collections
import json
import statistics
import sys

# measure, title, what decides, its unit. Processor time decides: it is the time that is spent, and other
# work on the machine disturbs it least.
MEASURES = [
    ("start", "a process, /bin/true", "cpu_ms", "ms"),
    ("run", "whichcudnn run, /bin/true", "cpu_ms", "ms"),
    ("text", "whichcudnn run --text, 64 MB through a pipe, elapsed", "ms", "ms"),
    ("jax", "the JAX line: plugin module, cuDNN 9.1.0, two calls, findings, log", "cpu_ms", "ms"),
    ("calls-1-3", "a watched call, 3 arguments, 1 thread", "ns", "ns"),
    ("calls-16-3", "a watched call, 3 arguments, 16 threads", "ns", "ns"),
    ("calls-1-13", "a watched call, 13 arguments, 1 thread", "ns", "ns"),
    ("calls-16-13", "a watched call, 13 arguments, 16 threads", "ns", "ns"),
    ("opens", "a dlopen, mean of 5,000 libraries", "us", "us"),
    ("failed-open", "a dlopen of what is not there, mean of 3,000", "us", "us"),
    ("failed-lookup", "a dlsym of what cuDNN lacks, mean of 3,000", "us", "us"),
    ("unrelated", "dlopen, dlsym, dlclose of an unrelated library", "us", "us"),
    ("children", "a forked child that asks for cuDNN", "us", "us"),
    ("libraries", "a new cuDNN library, mean of 3,000", "us", "us"),
    ("scan", "whichcudnn scan of virtual environments, bare: find -name '*.so*'", "cpu_ms", "ms"),
    ("plan-jax", "whichcudnn report with its plan of repairs, the JAX line", "cpu_ms", "ms"),
    ("plan-torch", "whichcudnn report with its plan of repairs, PyTorch", "cpu_ms", "ms"),
    ("report", "whichcudnn report over 10,000 logs of 100 records", "cpu_ms", "ms"),
    ("page-memory", "whichcudnn report --html of these: memory", "mb", "MB"),
    ("page-size", "whichcudnn report --html of these: the page", "mb", "MB"),
]
CALLS_COUNTED = 10000  # the runs "few" and "many" differ by so many

DIFFERENCE, RATIO, ITSELF = "difference", "ratio", "itself"
# measure, variant, compared with, how, at most
GOALS = [
    ("start", "shim", "empty preload", DIFFERENCE, 0.05),
    ("run", "run", "preload", DIFFERENCE, 1.0),
    ("text", "text", "run", RATIO, 3.0),
    ("jax", "shim", "LD_DEBUG libs", RATIO, 1.0),
    *((f"calls-{n}", "shim", "bare", DIFFERENCE, 1.5) for n in ("1-3", "16-3", "1-13", "16-13")),
    ("opens", "shim", "bare", RATIO, 1.03),
    ("failed-open", "shim", "bare", DIFFERENCE, 10),
    ("failed-lookup", "shim", "bare", DIFFERENCE, 6),
    ("unrelated", "shim", "bare", RATIO, 1.3),
    ("children", "shim", "bare", RATIO, 2.0),
    ("libraries", "shim", "bare", RATIO, 2.0),
    ("scan", "scan", "bare", RATIO, 3.0),
    *((f"plan-{n}", "bare", "bare", ITSELF, 150) for n in ("jax", "torch")),
    ("report", "bare", "bare", ITSELF, 2000),  # half a million records a second
    ("page-memory", "bare", "bare", ITSELF, 200),
    ("page-size", "bare", "bare", ITSELF, 10),
]


def read_table(path):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]


def read_raw(path):
    """{measure: {variant: {quantity: {round: value}}}}, without round 0."""
    raw = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(dict)))
    for measure, variant, turn, quantity, value in read_table(path):
        values = raw[measure][variant][quantity]
        if turn != "0" and value:
            values[int(turn)] = float(value)
    return raw


def spread(values):
    """Median, lower and upper quartile."""
    values = list(values)
    low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
    return {"median": middle, "low": low, "high": high, "rounds": len(values)}


def instructions_of(raw, measure, variant):
    if not measure.startswith("calls"):
        return raw[measure][variant]["instructions"].get(1)
    kind = "calls-" + measure.rsplit("-", 1)[1]
    few, many = (raw[f"{kind}-{n}"][variant]["instructions"].get(1) for n in ("few", "many"))
    return (many - few) / CALLS_COUNTED if few and many else None


def summarise(raw):
    results = []
    for name, title, quantity, unit in MEASURES:
        variants = {}
        for variant in list(raw[name]):
            values = raw[name][variant]
            entry = {"time": spread(values[quantity].values())}
            if quantity == "cpu_ms":
                entry["elapsed"] = spread(values["ms"].values())
            entry["instructions"] = instructions_of(raw, name, variant)
            variants[variant] = entry
        for entry in variants.values():
            entry["ratio"] = entry["time"]["median"] / variants["bare"]["time"]["median"]
        results.append({"measure": name, "title": title, "unit": unit, "variants": variants})
    return results


def judge(raw, results):
    goals = []
    for name, variant, against, how, most in GOALS:
        measure = next(m for m in results if m["measure"] == name)
        goal = {"measure": name, "variant": variant, "against": against, "how": how, "at_most": most}
        if measure["variants"]:
            quantity, unit = next((q, u) for n, _, q, u in MEASURES if n == name)
            ours, theirs = (raw[name][v][quantity] for v in (variant, against))
            pairs = [(ours[i], theirs[i]) for i in ours if i in theirs]
            compare = {DIFFERENCE: lambda a, b: a - b, RATIO: lambda a, b: a / b, ITSELF: lambda a, _: a}[how]
            goal |= {"unit": unit if how != RATIO else "", "got": spread(compare(*p) for p in pairs)}
            goal["met"] = goal["got"]["median"] <= most
        goals.append(goal)
    return goals


def number(value, digits=4):
    """So many digits that count, no exponent."""
    if value is None:
        return "-"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:#.{digits}g}" if abs(value) >= 0.001 else f"{value:.{digits}f}"


def show_measure(measure):
    unit = measure["unit"]
    elapsed = any("elapsed" in v for v in measure["variants"].values())
    print(f"\n{measure['title']}")
    if not measure["variants"]:
        print("  not measured")
        return
    print(f"  {'':14} {unit:>8}   {'middle half':>18} {'x bare':>7}" + (" elapsed" if elapsed else "")
          + f" {'instructions':>14}")
    for name, v in measure["variants"].items():
        time = v["time"]
        half = f"{number(time['low'])} - {number(time['high'])}"
        print(f"  {name:14} {number(time['median']):>8}   {half:>18} {v['ratio']:7.3f}"
              + (f" {number(v['elapsed']['median']):>7}" if elapsed else "")
              + f" {number(v['instructions'], 3):>14}")


def show_goal(goal, titles):
    name = titles[goal["measure"]]
    if goal["how"] == ITSELF:
        wanted = f"at most {goal['at_most']:,} {goal.get('unit', '')}"
    elif goal["how"] == DIFFERENCE:
        wanted = f"at most {goal['at_most']} over {goal['against']}"
    else:
        wanted = f"at most {goal['at_most']:g} times {goal['against']}"
    if "got" not in goal:
        print(f"  not measured  {name}: {wanted}")
        return
    got = goal["got"]
    print(f"  {'met' if goal['met'] else 'MISSED':12}  {name}: {wanted}; got {number(got['median'], 3)}"
          f" {goal['unit']}".rstrip() + f" ({number(got['low'], 3)} to {number(got['high'], 3)})")


def main(machine_path, raw_path, json_path):
    machine = dict(read_table(machine_path))
    raw = read_raw(raw_path)
    results = summarise(raw)
    goals = judge(raw, results)
    for key, value in machine.items():
        print(f"{key:14} {value}")
    print("\nProcessor time, median of the rounds; elapsed time beside it where a process was measured.")
    for measure in results:
        show_measure(measure)
    print("\nGoals")
    titles = {m["measure"]: m["title"].split(":")[0] for m in results}
    for goal in goals:
        show_goal(goal, titles)
    with open(json_path, "w", encoding="utf-8") as file:
        json.dump({"machine": machine, "measures": results, "goals": goals}, file, indent=2)
        file.write("\n")


main(*sys.argv[1:])
