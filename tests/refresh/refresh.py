#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""refresh.py: brings the tables up to what the package index has today.

Of NVIDIA's wheels of cuDNN: each release that is new, its functions, its libraries, what these need
and where they look; of those of CUDA the libraries of the newest. Of frameworks: what new releases
require, and whether the text by which they compare versions has changed. Read are listings of
wheels and small members, by range, once. The difference to the tables is printed and written; what
no row can say is left to people, a line each. Of all frameworks of docs/matrix.md it is listed what
has changed: how they come to cuDNN, what they require of it, what they bring.
"""

import argparse
import datetime
import difflib
import os
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("setup", "real", "matrix")]

from edits import PINS, RULES, WHEELS, Tables  # noqa: E402
from index import Index, Trouble, checks_in, key  # noqa: E402
import pieces  # noqa: E402
import watch  # noqa: E402
import wheels  # noqa: E402

NUMBERED = ("nvidia-cudnn-cu11", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13")
OTHERS = ("nvidia-cudnn-jit-cu12", "nvidia-cudnn-jit-cu13")
MATRIX = ROOT / "tests/matrix/hosts.toml"
MEGABYTE = 1000 * 1000


def today():
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.datetime.now(datetime.timezone.utc) if epoch is None else \
        datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc)
    return now.date().isoformat()


def is_new(tables, distribution, wheel):
    """Was it read before? By its number, and by its day: an older line may get a new patch."""
    if distribution in NUMBERED:
        return not tables.has_release(distribution, wheel.version)
    known = tables.knowledge()
    return watch.fields(wheel.version) > watch.fields(known.get(distribution, "0")) or \
        (wheel.upload_time is not None and
         wheel.upload_time.date().isoformat() >= known["tables"])


# ---- cuDNN ----


def read_cudnn(tables, index, options):
    pages = {name: index.wheels_of(name) for name in (*NUMBERED, *OTHERS)}
    new = [index.nvidia(name, wheel, options.limit * MEGABYTE) for name, page in pages.items()
           for wheel in page.values() if is_new(tables, name, wheel)
           or (options.since and key(wheel.version) >= key(options.since))]
    new.sort(key=lambda one: watch.fields(one.version))
    newest = max((key(version) for name in NUMBERED for version in pages[name]))
    learn_functions(tables, index, pages, new)
    for release in new:
        if release.distribution in NUMBERED:
            tables.add_release(release)
    for release in new:
        tables.learn_parts(release)
        tables.learn_wheel(release, key(release.version) == newest)
        say_version(tables, release)
    for name, page in pages.items():
        tables.know(name, list(page)[-1])
    known = [row[0] for row in tables.rows(WHEELS, "CUDNN_RELEASE")]
    tables.know("cudnn", ".".join(map(str, max(map(key, known)))))


def learn_functions(tables, index, pages, new):
    """The facade of each release that is new, beside that of the one before."""
    every = {key(version): (name, wheel) for name in NUMBERED
             for version, wheel in pages[name].items()}
    wanted = [key(one.version) for one in new if one.distribution in NUMBERED]
    if not wanted:
        return
    order = sorted(every)
    start = max(order.index(min(wanted)) - 1, 0)
    tables.learn_functions([index.nvidia(*every[number], 0) for number in order[start:]])


def say_version(tables, release):
    sources = release.sources()
    told = [f"{name} ({source})" for name, (version, source) in sorted(sources.items()) if version]
    unread = sorted(os.path.basename(name) for name in set(release.sizes) - set(release.files))
    print(f"{release}: version in {', '.join(told) or 'nothing that was read'}" +
          (f"; not read: {', '.join(unread)}" if unread else ""))
    wrong = {name: version for name, (version, _) in sources.items()
             if version and key(version) != key(release.version)}
    facade = os.path.basename(release.facade)
    silent = key(release.version) >= (9, 0, 0) and not sources.get(facade, (None,))[0]
    if wrong or silent:  # nothing inside an 8.x facade tells its version
        tables.note(f"{release}: the version of {', '.join(wrong) or facade} is read as "
                    f"{', '.join(wrong.values()) or 'nothing'}: core/packages/file_version.c")


def read_cuda(tables, index):
    """Does the newest release of what cuDNN works with still hold what the table says?"""
    for name in dict.fromkeys(row[0] for row in tables.rows(WHEELS, "WHEEL_FILE")):
        if name not in (*NUMBERED, *OTHERS):
            version, wheel = list(index.wheels_of(name).items())[-1]
            if is_new(tables, name, wheel):
                tables.check_wheel(index.nvidia(name, wheel, 0))
            tables.know(name, version)


# ---- frameworks ----


def read_hosts(tables, index):
    """What new releases require, and how they compare versions."""
    texts = {name: (rule, file) for rule, name, file in tables.rows(RULES, "TEXT")}
    packages = list(dict.fromkeys(row[0] for row in tables.rows(PINS, "PINS")))
    for name in [*packages, *(name for name in texts if name not in packages)]:
        page = index.wheels_of(name)
        before = None
        for version, wheel in page.items():
            if is_new(tables, name, wheel):
                read_host(tables, index, name, wheel, before,
                          name in packages, texts.get(name))
            before = wheel
        tables.know(name, list(page)[-1])


def read_host(tables, index, name, wheel, before, pinned, text):
    files = index.host(name, wheel)
    if pinned:
        metadata = next(files.glob("*.dist-info/METADATA")).read_text(encoding="utf-8")
        required = wheels.cudnn_required(metadata)
        print(f"{name} {wheel.version}: requires " + (" and ".join(sorted(
            f"{what}{','.join(sorted(releases, reverse=True))}" + (f" [{extra}]" if extra else "")
            for what, releases, extra in required)) or "no cuDNN"))
        tables.learn_pins(name, wheel.version, required, before and before.version)
        tables.look_for_build(name, wheel.version, before and before.version)
    if text and before:
        compare_texts(tables, f"{name} {wheel.version}", before.version, text,
                      [index.host(name, before), files])


def compare_texts(tables, release, before, text, directories):
    rule, file = text
    there = [directory / file for directory in directories]
    if not all(path.exists() for path in there):
        tables.note(f"{release}: {file} is not in it, or was not in {before}: the rule {rule}")
        return
    old, new = (checks_in(path.read_text(encoding="utf-8")) for path in there)
    if old == new:
        return
    print("\n".join(difflib.unified_diff(old.splitlines(), new.splitlines(), before, release,
                                         lineterm="")))
    tables.note(f"{release} compares versions otherwise than {before}: the rule {rule} in {RULES}")


# ---- how frameworks come to cuDNN ----


def plain_name(path):
    """ "ctranslate2.libs/libctranslate2.so" of "ctranslate2.libs/libctranslate2-a7a60d30.so.4.8.5"."""
    return re.sub(r"-[0-9a-f]{8}(?=\.so)|(?<=\.so)[.\d]+$|\.cpython-\w+-x86_64-linux-gnu", "", path)


def facts_of(kept):
    """Sentences on a release, of what matters to its search for cuDNN."""
    metadata = next(text for name, text in kept["texts"].items() if name.endswith("/METADATA"))
    facts = {f"it requires {wheel}{','.join(sorted(releases, reverse=True))}{extra and f' [{extra}]'}"
             for wheel, releases, extra in wheels.cudnn_required(metadata)}
    for path, one in kept["libraries"].items():
        name, read = plain_name(path), one["facts"] or {}
        facts.add(f"it has {name}")
        facts |= {f"{name} needs {other}" for other in read.get("needed", ()) if "libcudnn" in other}
        facts |= {f"{name} names {other}" for other in read.get("constants", ())}
        facts |= {f"{name} looks in {place}" for place in f"{read.get('rpath')}:{read.get('runpath')}".split(":")
                  if "cudnn" in place}
        facts |= {f"{name} imports {symbol}" for symbol, _, is_defined, _ in read.get("symbols", ())
                  if symbol != "dlopen" and not is_defined}
    return facts


def read_matrix(tables, index):
    """Lists the changes; {wheel: its newest release}."""
    store, newest = pieces.Pieces(index), {}
    for framework in tomllib.loads(MATRIX.read_text(encoding="utf-8"))["framework"]:
        for name in (row[key] for row in framework["wheels"] for key in ("wheel", "with") if key in row):
            page = list(index.wheels_of(name).values())
            for before, wheel in zip(page, page[1:]):
                if is_new(tables, name, wheel) and (name in tables.knowledge() or wheel is page[-1]):
                    old, new = (facts_of(store.host(name, one, framework["modules"])) for one in (before, wheel))
                    for fact in sorted(old - new):
                        print(f"changed: {name} {wheel.version}: no longer so, unlike {before.version}: {fact}")
                    for fact in sorted(new - old):
                        print(f"changed: {name} {wheel.version}: {fact}, unlike {before.version}")
            newest[name] = page[-1].version
    return newest


# ---- all of it ----


def show(tables):
    """Prints the difference; True: there is one."""
    changed = [name for name in tables.new if tables.new[name] != tables.old[name]]
    for name in changed:
        sys.stdout.writelines(difflib.unified_diff(
            tables.old[name].splitlines(True), tables.new[name].splitlines(True), f"a/{name}",
            f"b/{name}", n=1))
    for sentence in tables.notes:
        print(f"by hand: {sentence}")
    return changed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", required=True, metavar="DIR")
    parser.add_argument("--tree", default=str(ROOT), metavar="DIR",
                        help="whose tables (default: these)")
    parser.add_argument("--limit", type=int, default=8, metavar="MB",
                        help="the largest library that is read, compressed (%(default)s)")
    parser.add_argument("--since", metavar="RELEASE",
                        help="read all releases of cuDNN from this one on anew")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    options = parser.parse_args()
    if options.since and not re.fullmatch(r"\d+(\.\d+)*", options.since):
        parser.error(f"{options.since} is not a release")
    tables = Tables(options.tree)
    try:
        index = Index(os.path.abspath(options.cache))
        read_cudnn(tables, index, options)
        read_cuda(tables, index)
        newest = read_matrix(tables, index)
        read_hosts(tables, index)
        for name, version in newest.items():
            tables.know(name, version)
        tables.know("tables", today())
    except Trouble as error:
        sys.exit(f"refresh: {error}\nrefresh: nothing was written")
    changed = show(tables)
    if not options.dry_run:
        tables.write()
    what = "would change" if options.dry_run else "written"
    print(f"{what}: {', '.join(changed)}" if changed else "nothing is new")


if __name__ == "__main__":
    main()
