#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""spec_oracle.py DRIVER: sets of versions as Python's own packaging library reads them.

Whole versions and valid sets only: what is refused differs between releases of that library, and
what is unknown, a bare "9.1" and versions without a build are cuDNN's own affair; these are tested
in tests/unit/test_version.c.
"""

import sys

from pip._vendor.packaging.specifiers import SpecifierSet

from driver import compare, seeded

SIGNS = ["==", "!=", ">=", "<=", ">", "<", "~="]


def number(rng, fields):
    return ".".join(str(rng.choice((0, 1, 2, 9, 10))) for _ in range(fields))


def clause(rng):
    sign = rng.choice(SIGNS)
    wild = ".*" if sign in ("==", "!=") and rng.random() < 0.4 else ""
    blank = rng.choice(("", " "))
    fields = rng.randint(2 if sign == "~=" else 1, 4)
    return f"{blank}{sign}{rng.choice(('', ' '))}{number(rng, fields)}{wild}{blank}"


def answer(spec, version):
    """Clause by clause: as a set, that library takes "~=2.2" and "~=2.2.0.0" for the same."""
    accepted = all(SpecifierSet(clause).contains(version) for clause in spec.split(","))
    return "yes" if accepted else "no"


def questions(rng):
    for _ in range(4000):
        spec = ",".join(clause(rng) for _ in range(rng.choice((1, 1, 1, 2, 3))))
        for _ in range(4):
            version = number(rng, 4)
            yield ("accepts", spec, version), answer(spec, version)


if __name__ == "__main__":
    compare(sys.argv[1], questions(seeded()), least=10000)
