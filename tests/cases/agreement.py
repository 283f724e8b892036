#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""agreement.py [--planted] REPORT INSPECT [SCAN]

Holds what `whichcudnn report --json` says of a process (from its log) against what `inspect --json`
says of it (held at its end) and, if it is given, what `scan --json` foretold: facade, parts and
CUDA dependencies, their versions and installations. Prints each difference; status 1 if there is one.
What may differ is what only a log can know: requests that failed, calls, their order. A scan may
foretell parts that nobody had asked for yet.

--planted: each kind of difference is planted into INSPECT and SCAN, one after another, and must be
told.
"""

import copy
import json
import sys

KEYS = ("role", "part", "path", "version", "installation_kind", "installation",
        "installation_version", "installation_path")
ROLES = ("facade", "part", "cuda-dependency")


def best_path(o):
    return o["real_path"] or o["path"]


def libraries(document, roles=ROLES):
    """{canonical path: facts} of what is mapped."""
    found = {}
    for o in document["stack"]["objects"]:
        if o["role"] in roles and o["mapped"]:
            found[best_path(o)] = {**{key: o[key] for key in KEYS}, "path": best_path(o)}
    return found


def rules(document):
    """{canonical path: (rule, element)} where the replay led to what was loaded."""
    paths = {o["object"]: best_path(o) for o in document["stack"]["objects"]}
    return {paths[s["object"]]: (s["rule"], s["element"]) for s in document["stack"]["searches"]
            if s["object"] in paths and s["rule"] not in (None, "already loaded")}


def told(o):
    name = o["part"] or o["role"]
    return f"{name} {o['path']} {o['version'] or 'of unknown version'}"


def different_facts(a, b, names):
    for path in sorted(a.keys() & b.keys()):
        for key in KEYS:
            if a[path][key] != b[path][key]:
                yield (f"{path}: {key} is {a[path][key]!r} for {names[0]}, "
                       f"{b[path][key]!r} for {names[1]}")


def different(report, inspected):
    """Differences between a log's report and what inspect said."""
    a, b = libraries(report), libraries(inspected)
    for path in sorted(a.keys() - b.keys()):
        yield f"report alone has {told(a[path])}"
    for path in sorted(b.keys() - a.keys()):
        yield f"inspect alone has {told(b[path])}"
    yield from different_facts(a, b, ("report", "inspect"))
    x, y = rules(report), rules(inspected)
    for path in sorted(x.keys() & y.keys()):
        if x[path] != y[path]:
            yield f"{path}: found by {x[path]} for report, by {y[path]} for inspect"


def scanned_libraries(scanned):
    """Of all environments that the scan told of."""
    found = {}
    for process in scanned["reports"]:
        found.update(libraries(process, ("facade", "part")))
    return found


def sonames(document, wanted):
    return {o["soname"] for o in document["stack"]["objects"] if wanted(o)}


def came_first(report, scanned, path):
    """A facade of the same SONAME, which another host had loaded, was taken in place of this one:
    scan takes each host by itself."""
    here = set().union(*(sonames(r, lambda o: best_path(o) == path) for r in scanned["reports"]))
    return bool(here & sonames(report, lambda o: o["role"] == "facade" and o["mapped"]))


def is_over(report):
    """Where a request failed, what came with it is gone."""
    return bool(report["stack"]["failures"]) and not libraries(report, ("facade",))


def different_from_scan(report, scanned):
    a, b = libraries(report, ("facade", "part")), scanned_libraries(scanned)
    for path in sorted(a.keys() - b.keys()):
        yield f"scan did not foretell {told(a[path])}"
    facades = {path for path, o in b.items() if o["role"] == "facade"}
    for path in sorted(facades - a.keys()):
        if not is_over(report) and not came_first(report, scanned, path):
            yield f"scan foretold {told(b[path])}, which was not loaded"
    yield from different_facts(a, b, ("report", "scan"))


# ---- planted ------------------------------------------------------------------------------------

def change(key):
    def plant(objects, o):
        o[key] = "planted"
    plant.__name__ = f"another {key}"
    return plant


def lose(objects, o):
    objects.remove(o)


def unload(objects, o):
    o["mapped"] = False


def add(objects, o):
    objects.append({**o, "object": 999, "soname": "planted",
                    "real_path": best_path(o) + ".planted"})


PLANTS = [lose, unload, add, *(change(key) for key in KEYS if key not in ("path", "role", "part")),
          change("real_path")]


def stacks(document):
    """The lists of objects of a report, or of all reports of a scan."""
    return [one["stack"]["objects"] for one in document.get("reports", [document])]


def not_told(report, other, compare):
    """Planted differences that a comparison passes over; each is made of the first facade."""
    before = set(compare(report, other))
    paths = sorted(path for path, o in libraries(report).items() if o["role"] == "facade")
    for plant in PLANTS if paths else ():
        changed = copy.deepcopy(other)
        for objects in stacks(changed):
            for o in [o for o in objects if best_path(o) == paths[0]]:
                plant(objects, o)
        if set(compare(report, changed)) == before:
            yield plant.__name__


COMPARISONS = (different, different_from_scan)


def main():
    words = [word for word in sys.argv[1:] if word != "--planted"]
    if len(words) not in (2, 3):
        sys.exit(__doc__)
    documents = [json.load(open(name, encoding="utf-8")) for name in words]
    if len(words) < len(sys.argv) - 1:
        found = [f"not told: {name}" for other, compare in zip(documents[1:], COMPARISONS)
                 for name in not_told(documents[0], other, compare)]
    else:
        found = list(different(*documents[:2]))
        found += different_from_scan(documents[0], documents[2]) if documents[2:] else []
    print("\n".join(found) or "they agree")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
