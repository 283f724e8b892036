# SPDX-License-Identifier: Apache-2.0
"""Which repairs the cases print, and whether one of each sort was played: a sort is a finding and the
kinds of edits that repair it, "runtime-too-old set", "cuda-major-differs remove+install"."""

import collections
import concurrent.futures
import pathlib
import shutil
import tempfile

from . import fixes, judge, rows
from .world import World

TRIES = 4  # of a sort: cases that print it are many, and one may be beyond what is built here
LEFT_OUT_MOST = 0.1  # of all sorts
TABLE = pathlib.Path(__file__).resolve().parents[1] / "not-played.tsv"


def play(name, seed, i, k):
    """What is wrong with that fix, played bare in a world of its own; "": nothing."""
    root = pathlib.Path(tempfile.mkdtemp(prefix="cases-"))
    try:
        world = World(name, seed, root / "a")
        rows.cases()[name](world)
        world.by = None  # as the fix says it, not as the case does
        before = judge.run(world, watched=False)
        finding = judge.told(judge.run(world, watched=True))[i]
        fixes.play(world, finding, finding["fix"][k])
        after = judge.run(world, watched=False)
        if before.status == 0 and after.status != 0:
            return f"what worked ended with {judge.ending(after.status)}: {after.err[-300:]}"
        left = judge.told(judge.run(world, watched=True))
        same = [f for f in left if f["id"] == finding["id"] and f["title"] == finding["title"]]
        new = [f["id"] for f in judge.grave(left) if f["severity"] == "error" and
               finding["severity"] != "error"]
        return f"it is told once more: {same[0]['title']}" if same else " ".join(new)
    except (fixes.NotPlayed, judge.Failed, IndexError) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        shutil.rmtree(root, ignore_errors=True)


def play_sort(sort, places, seed):
    """None, or why none of the cases that print it shows that it repairs."""
    why = []
    for name, i, k in places[:TRIES]:
        wrong = play(name, seed, i, k)
        if not wrong:
            return sort, None
        why.append(f"{name.partition('-')[0]}: {wrong}")
    return sort, "; ".join(why)


def left_out():
    lines = TABLE.read_text().splitlines()
    return dict(line.split("\t", 1) for line in lines if line and not line.startswith("#"))


def check(outcomes, seed, jobs):
    """Prints what was played; [what is wrong]."""
    known, played, places = left_out(), set(), collections.defaultdict(list)
    why = collections.Counter(text for outcome in outcomes for text in outcome.unplayed)
    for outcome in outcomes:
        played |= {outcome.followed} - {""}
        for sort, i, k in outcome.printed:
            places[sort].append((outcome.name, i, k))
    waiting = sorted(set(places) - played - set(known))
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        results = list(pool.map(play_sort, waiting, [places[s] for s in waiting],
                                [seed] * len(waiting)))
    print(f"{sum(map(len, places.values()))} repairs printed that were replayed, of {len(places)} "
          f"sorts; {len(played & set(places))} sorts were followed as first fixes, "
          f"{sum(not wrong for _, wrong in results)} more were played, {len(known)} are left out; "
          f"{sum(why.values())} that could not be replayed:")
    print("\n".join(f"    {n:3} {text}" for text, n in why.most_common()))
    bad = [f"{sort} is printed, and not played: {wrong}" for sort, wrong in results if wrong]
    bad += [f"{sort}: in {TABLE.name}, and printed by no case" for sort in known if
            sort not in places]
    bad += [f"{sort}: in {TABLE.name}, and played" for sort in known if sort in played]
    if len(known) > LEFT_OUT_MOST * len(places):
        bad.append(f"{len(known)} of {len(places)} sorts are left out")
    return bad
