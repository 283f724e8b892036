#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""matrix.py write|play --cache DIR [FRAMEWORK==RELEASE [WHEEL==RELEASE]]

Which cuDNN fits which framework, computed from their wheels. `write` plays each wheel of cuDNN in an environment
with each release of hosts.toml: alone, and with an older and a newer cuDNN in the loader's cache. A cell is what
`whichcudnn scan` says of it. The tables go to docs/matrix.md. `play` prints the cells of one release, and of one
wheel all that scan says.
"""

import argparse
import concurrent.futures
import datetime
import itertools
import multiprocessing
import os
import pathlib
import re
import shutil
import sys
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), *(str(HERE.parent / folder) for folder in ("setup", "real", "refresh"))]
import cells  # noqa: E402
from index import Index  # noqa: E402
import pieces  # noqa: E402
import watch  # noqa: E402
import wheels  # noqa: E402

MARKS = re.compile(r"(<!-- matrix: begin -->\n).*?(<!-- matrix: end -->)", re.DOTALL)
WORK = pathlib.Path(watch.BUILD) / "matrix-of-wheels"


def short(version):
    """ "9.28.1" of "9.28.1.4"."""
    return ".".join(version.split(".")[:3])


def cuda_of(wheel):
    return int(wheel[-2:])


def needed_by(kept):
    return {name for one in kept["libraries"].values() for name in (one["facts"] or {}).get("needed", ())
            if not name.startswith("libcudnn")}


class Host:
    """A release of a framework."""

    def __init__(self, framework, row, kept):
        self.framework, self.row, self.kept = framework, row, kept
        self.wheel, self.version = kept[0]["wheel"], kept[0]["version"]
        self.path = framework.get("path", False)
        metadata = next(text for name, text in kept[0]["texts"].items() if name.endswith("/METADATA"))
        self.required = sorted((wheel, ",".join(sorted(releases, reverse=True)))
                               for wheel, releases, extra in wheels.cudnn_required(metadata)
                               if extra in ("", row.get("extra", "")))

    def __str__(self):
        return f"{self.wheel}=={self.version}"

    def cuda(self):
        """The CUDA of its build: by what it requires, by what its libraries need, by the table."""
        asked = [cuda_of(wheel) for wheel, _ in self.required if re.fullmatch(r"nvidia-cudnn-cu\d\d", wheel)]
        needs = [int(found[1]) for kept in self.kept for name in needed_by(kept)
                 if (found := re.fullmatch(r"lib(?:cublas|cudart)\.so\.(1[123])(?:\.0)?", name))]
        told = [cuda for since, cuda in self.row.get("cuda", ()) if watch.fields(self.version)[0] >= since]
        return (asked or needs or told or [12])[0]

    def asks(self):
        """What a reader has to know of it: its requirement, how its libraries come to cuDNN."""
        words = [f"{wheel}{releases}" for wheel, releases in self.required]
        needed = {name for kept in self.kept for one in kept["libraries"].values()
                  for name in (one["facts"] or {}).get("needed", ()) if name.startswith("libcudnn")}
        opened = {name for kept in self.kept for one in kept["libraries"].values() for name in
                  (one["facts"] or {}).get("constants", ()) if re.fullmatch(r"libcudnn\.so(\.\d+)?", name)} - needed
        parts = {name for name in needed if name.startswith("libcudnn_")}
        words += [f"needs {name}{' and its parts' if parts else ''}" for name in sorted(needed - parts)]
        words += [f"opens {name}" for name in sorted(opened)]
        return ", ".join(words) or "-"


class Wheel:
    """A wheel of cuDNN."""

    def __init__(self, kept):
        self.kept, self.wheel, self.version = kept, kept["wheel"], kept["version"]
        self.cuda, self.number = cuda_of(self.wheel), watch.fields(self.version)

    def __str__(self):
        return f"{self.wheel}=={self.version}"


# ---- playing -------------------------------------------------------------------------------------


class Player:
    """Plays the cells of hosts, one after another, in roots of its own."""

    def __init__(self, directory, every, needed):
        self.every = every
        self.stock = cells.Stock(directory / "stock")
        self.roots = cells.Roots(directory / "roots", needed)

    def copies(self, host_cuda, wheel):
        """{way: directory of the system's copy, or None}; there is none that is older than the oldest."""
        same = [one for one in self.every if one.cuda == host_cuda and one.number[0] == wheel.number[0]]
        ways = {"alone": None}
        if wheel.cuda == host_cuda:
            for way, other in (("older copy", same[-1]), ("newer copy", same[0])):
                if other.number[:3] != wheel.number[:3]:
                    ways[way] = self.stock.site(other.kept) / "nvidia/cudnn/lib"
        return ways

    def wheels_for(self, host_cuda):
        """All that are made for its CUDA; of others the newest and the oldest of each major release."""
        for _, same in itertools.groupby(self.every, lambda one: (one.cuda, one.number[0])):
            same = list(same)
            yield from same if same[0].cuda == host_cuda else dict.fromkeys((same[0], same[-1]))

    def play(self, host, wanted=None):
        """Yields (wheel, way, root) of each of its cells, or of one wheel's."""
        self.roots.enter([self.stock.site(kept) for kept in host.kept])
        cuda = host.cuda()
        for wheel in [one for one in self.every if str(one) == wanted] if wanted else self.wheels_for(cuda):
            self.roots.install(self.stock.site(wheel.kept))
            for way, copy in self.copies(cuda, wheel).items():
                root = self.roots.put(copy)
                yield (wheel, way, root)
            self.roots.uninstall()


PLAYER = None


def begin_worker(every, needed):
    global PLAYER  # of this process
    PLAYER = Player(WORK / str(os.getpid()), every, needed)


def outcome(host, root):
    """That nothing uses cuDNN is not known where a library of it was not read."""
    word, title = cells.outcome(root, host.path)
    unread = any(one["facts"] is None for kept in host.kept for one in kept["libraries"].values())
    return ("not known" if unread and word == cells.UNUSED else word), title


def play_host(host):
    return [(str(wheel), way, *outcome(host, root)) for wheel, way, root in PLAYER.play(host)]


# ---- what is played ------------------------------------------------------------------------------


def read_all(options, only=None):
    """(hosts, wheels of cuDNN), each newest first; fetched by several at once."""
    store = pieces.Pieces(Index(options.cache))
    table = tomllib.loads(options.table.read_text(encoding="utf-8"))["framework"]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        every = [pool.submit(store.cudnn, *one) for one in store.all_of_cudnn()]
        hosts = []
        for framework, row in ((f, row) for f in table for row in f["wheels"]):
            page = store.index.wheels_of(row["wheel"])
            others = store.index.wheels_of(row["with"]) if "with" in row else {}
            played = pieces.minors(page, framework["from"])
            if only:
                played = [wheel for version, wheel in page.items() if only == f"{row['wheel']}=={version}"]
            for wheel in played:
                kept = [pool.submit(store.host, row["wheel"], wheel, framework["modules"])]
                if wheel.version in others:
                    kept.append(pool.submit(store.host, row["with"], others[wheel.version], framework["modules"]))
                hosts.append((framework, row, kept))
        return [Host(framework, row, [one.result() for one in kept]) for framework, row, kept in hosts], \
            [Wheel(one.result()) for one in every]


def all_needed(hosts, every):
    return set().union(*(needed_by(kept) for host in hosts for kept in host.kept),
                       *(needed_by(wheel.kept) for wheel in every))


# ---- the page ------------------------------------------------------------------------------------


def word(outcome):
    severity, _, finding = outcome.partition(" ")
    return {"error": f"`{finding}`", "warning": f"warning `{finding}`"}.get(severity, outcome)


def ranges(every, outcomes):
    """ "9.28.1 to 9.8.0 fits; 9.7.1 to 9.0.0 `runtime-too-old`": outcomes: {wheel: outcome}, of one CUDA."""
    lines = []
    there = [wheel for wheel in every if str(wheel) in outcomes]
    for outcome, run in itertools.groupby(there, lambda wheel: outcomes[str(wheel)]):
        run = [short(wheel.version) for wheel in run]
        lines.append(f"{run[0]}{f' to {run[-1]}' if len(run) > 1 else ''}: {word(outcome)}")
    return "<br>".join(lines) or "-"


def line(host, every, played):
    own = [wheel for wheel in every if wheel.cuda == host.cuda()]
    others = [wheel for wheel in every if wheel.cuda != host.cuda()]
    by_way = {way: {wheel: outcome for wheel, its, outcome, _ in played if its == way} for way in cells.WAYS}
    columns = [ranges(own, by_way["alone"])]
    for way in cells.WAYS[1:]:
        differing = {wheel: outcome for wheel, outcome in by_way[way].items() if by_way["alone"].get(wheel) != outcome}
        columns.append(ranges(own, differing) if differing else "the same")
    for cuda in sorted({wheel.cuda for wheel in others}, reverse=True):
        told = ranges([wheel for wheel in others if wheel.cuda == cuda], by_way["alone"])
        columns.append(f"cu{cuda}: {told}")
    release = f"{host.wheel} {host.version}"
    cuda = "<br>".join(columns[3:])
    return (f"| {release} | {host.asks()} | cu{host.cuda()} | {columns[0]} | {columns[1]} | {columns[2]} | {cuda} | "
            f"`make matrix PLAY={host}` |")


HEAD = ("| release | requires | built for | no other cuDNN | with an older copy | with a newer copy | wheels of another CUDA | "
        "to play it |\n|---|---|---|---|---|---|---|---|\n")


def page(hosts, every, results):
    today = datetime.date.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))).isoformat()
    text = [f"Played on {today}: {sum(map(len, results.values()))} cells, {len(every)} wheels of cuDNN, "
            f"{len(hosts)} releases.\n"]
    for name, its in itertools.groupby(hosts, lambda host: host.framework["name"]):
        text.append(f"\n## {name}\n\n{HEAD}" + "\n".join(line(host, every, results[str(host)]) for host in its) + "\n")
    return "".join(text) + "\n"


def write(options):
    start = time.monotonic()
    hosts, every = read_all(options)
    print(f"{len(hosts)} releases, {len(every)} wheels of cuDNN: {time.monotonic() - start:.0f} s to read", flush=True)
    begin, results = time.monotonic(), {}
    shutil.rmtree(WORK, ignore_errors=True)
    with multiprocessing.Pool(options.jobs, begin_worker, (every, all_needed(hosts, every))) as pool:
        for host, played in zip(hosts, pool.imap(play_host, hosts)):
            results[str(host)] = played
            print(f"{host}: {len(played)} cells", flush=True)
    shutil.rmtree(WORK)
    count, took = sum(map(len, results.values())), time.monotonic() - begin
    print(f"{count} cells in {took:.0f} s: {60 * count / took:.0f} a minute")
    old = options.page.read_text(encoding="utf-8")
    options.page.write_text(MARKS.sub(lambda marks: marks[1] + page(hosts, every, results) + marks[2], old), encoding="utf-8")


def play(options):
    hosts, every = read_all(options, options.host)
    if not hosts:
        sys.exit(f"matrix: no framework of {options.table.name} has {options.host}")
    player = Player(WORK / str(os.getpid()), every, all_needed(hosts, every))
    for wheel, way, root in player.play(hosts[0], options.wheel):
        told, title = outcome(hosts[0], root)
        print(f"{hosts[0]}, {wheel}, {way}: {told}{title and ': '}{title}", flush=True)
        if options.wheel:
            print(cells.scan(root, hosts[0].path).stdout)
    shutil.rmtree(WORK / str(os.getpid()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["write", "play"])
    parser.add_argument("--cache", required=True)
    parser.add_argument("--table", type=pathlib.Path, default=HERE / "hosts.toml", help="other frameworks")
    parser.add_argument("--page", type=pathlib.Path, default=watch.ROOT / "docs/matrix.md")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("host", nargs="?")
    parser.add_argument("wheel", nargs="?")
    options = parser.parse_intermixed_args()
    {"write": write, "play": play}[options.mode](options)


if __name__ == "__main__":
    main()
