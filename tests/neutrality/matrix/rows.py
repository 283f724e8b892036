# SPDX-License-Identifier: Apache-2.0
"""Rows: under which settings the cases run."""

import dataclasses
import itertools
import os
import re
import zlib

# Each factor's values; the first is what a row has unless it says otherwise. A value is a word that
# an exception may name, but for these first ones.
FACTORS = {
    "shim": ["gcc-O2", "gcc-O0", "clang-O2", "clang-O0", "coverage"],
    "host": ["gcc", "gcc-O0", "gcc-O2", "clang", "asan", "asan-behind", "tsan"],
    "cudnn": ["stub9", "real8", "real9"],
    "binding": ["default", "bind-now", "bind-not"],
    "observer": ["none", "audit", "valgrind", "helgrind", "drd", "uftrace"],
    "before": ["none", "forwards", "jemalloc", "tcmalloc", "eatmydata"],
    "after": ["none", "forwards", "jemalloc", "tcmalloc", "eatmydata"],
}
VALGRINDS = {"valgrind": "memcheck", "helgrind": "helgrind", "drd": "drd"}  # its tool
CHANGING = {"uftrace"}  # observers that change programs themselves, by a trampoline for each return
GROUPS_OF_WORDS = {"gcc": {"gcc", "gcc-O0", "gcc-O2"}, "asan": {"asan", "asan-behind"},
                   "valgrind": set(VALGRINDS)}


@dataclasses.dataclass(frozen=True)
class Row:
    """One variant. A target may add rows of its own; `words` are what exceptions may call it."""
    target: object = None
    shim: str = "gcc-O2"
    host: str = "gcc"
    cudnn: str = "stub9"
    binding: str = "default"
    observer: str = "none"
    before: str = "none"
    after: str = "none"

    @property
    def settings(self):
        return {factor: getattr(self, factor) for factor in FACTORS}

    @property
    def name(self):
        parts = [] if self.target.name == "native" else [self.target.name]
        parts += [self.shim, self.host, self.cudnn]
        parts += [v for v in (self.binding, self.observer) if v not in ("default", "none")]
        parts += [f"{self.before}-before"] if self.before != "none" else []
        parts += [f"{self.after}-after"] if self.after != "none" else []
        return "-".join(parts)

    @property
    def words(self):
        values = set(self.settings.values()) | {self.target.name} | set(self.target.words)
        return values | {word for word, some in GROUPS_OF_WORDS.items() if some & values}

    @property
    def features(self):
        found = set(self.target.features)
        return found | {"stub" if self.cudnn.startswith("stub") else "real", self.target.arch}

    def lacks(self, case):
        """What the case needs and this row has not, or None."""
        for need in case.needs:
            name, _, version = need.partition(">=")
            if name == "glibc":
                wanted = tuple(int(n) for n in re.findall(r"\d+", version))
                if not self.target.glibc or self.target.glibc < wanted:
                    return need
            elif need not in self.features:
                return need
        return None

    def exception(self, case):
        """The reason on the closed list why the case does not run here, or None."""
        for word, reason in case.excepted.items():
            if word in self.words:
                return f"{word}: {reason}"
        return None


def words(targets):
    known = {value for values in FACTORS.values() for value in values} - {"none", "default"}
    for target in targets:
        known |= {target.name} | set(target.words)
    return known | set(GROUPS_OF_WORDS)


SMALL = [
    {},
    {"shim": "clang-O0", "host": "clang", "cudnn": "real9", "binding": "bind-now",
     "observer": "audit", "before": "forwards"},
    {"cudnn": "real8", "after": "forwards"},
    {"shim": "clang-O0", "before": "eatmydata", "after": "jemalloc"},
]


ALLOCATORS = {"jemalloc", "tcmalloc", "eatmydata"}
SANITIZED = {"asan", "asan-behind", "tsan"}


def fits(settings):
    """Can these be had at once? settings may be the first few, as allpairspy asks."""
    row = dict(zip(FACTORS, settings))
    before, after = row.get("before", "none"), row.get("after", "none")
    if before != "none" and before == after:  # one file is loaded once
        return False
    plain = {row.get("binding", "default"), before, after} <= {"default", "none"}
    if row.get("observer") in {"helgrind", "drd", *CHANGING}:  # one row each
        return plain and all(row[factor] == FACTORS[factor][0]
                             for factor in ("shim", "host", "cudnn") if factor in row)
    if row.get("observer") == "valgrind":
        # Slow, so few rows; it puts a malloc of its own in the place of others', as sanitizers do.
        return plain and row["shim"] in ("gcc-O2", "clang-O0") and row["host"] in ("gcc", "clang")
    if row.get("host") in SANITIZED:
        # One malloc in another's place is enough; with LD_AUDIT they were not tried.
        return not {before, after} & ALLOCATORS and row.get("observer", "none") == "none"
    return True


def pairs(settings):
    return set(itertools.combinations(settings.items(), 2))


def pairwise():
    """Settings in which each value of a factor meets each of every other once, where both fit."""
    from allpairspy import AllPairs  # --part small does without
    found = [dict(zip(FACTORS, settings))
             for settings in AllPairs(list(FACTORS.values()), filter_func=fits)]
    # With a filter it leaves out some.
    every = [dict(zip(FACTORS, values)) for values in itertools.product(*FACTORS.values())
             if fits(values)]
    missing = {pair for settings in every for pair in pairs(settings)}
    missing -= {pair for settings in found for pair in pairs(settings)}
    while missing:
        found.append(max(every, key=lambda settings: len(missing & pairs(settings))))
        missing -= pairs(found[-1])
    return found


def draw():
    """The number that draws what --part small has (tests/setup/drawn), or None."""
    return int(os.environ["WC_DRAW"]) if os.environ.get("WC_DRAW") else None


def draws(case):
    """Every second case of a drawn small part."""
    return draw() is None or (zlib.crc32(case.name.encode()) + draw()) % 2 == 0


def native(target, part):
    """Of the drawn small part: the first row, and two of all others, so that 24 draws in a row have each. These are far
    from one another, since neighbours are slow together."""
    every = [Row(target=target, **settings) for settings in SMALL]
    if part == "all" or draw() is not None:
        every += [Row(target=target, **settings) for settings in [{"observer": "valgrind"}, *pairwise()]]
    if part == "small" and draw() is not None:
        first, *others = dict.fromkeys(every)
        every = [first] + [others[(draw() + i) % len(others)] for i in (0, len(others) // 2)]
    # What is slow comes last.
    return sorted(dict.fromkeys(every), key=lambda row: row.observer in VALGRINDS)
