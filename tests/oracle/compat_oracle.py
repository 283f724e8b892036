#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compat_oracle.py DRIVER: the version checks of the frameworks, written a second time.

Each check is written as its framework writes it, on the numbers that the framework sees, and knows
nothing of core/names/compat.c. Every pair of versions at a boundary (one patch, minor, major up or down)
around the real and the drawn versions is asked under every check.
"""

import itertools
import sys

from driver import compare, seeded


def encode(major, minor, patch):
    """CUDNN_VERSION as cudnn_version.h computes it."""
    return major * (10000 if major >= 9 else 1000) + minor * 100 + patch


def properties(number):
    """cudnnGetProperty's three values, decoded as cudnn-frontend does."""
    if number // 10000:
        return number // 10000, number // 100 % 100, number % 100
    return number // 1000, number // 100 % 10, number % 100


# ---- the checks: True accepts, False refuses, None promises nothing ----


def tensorflow_before_1_6(built, runtime):
    return (runtime // 100) * 100 == (built // 100) * 100


def tensorflow_1_6(built, runtime):
    (source_major, source_minor, _), (loaded_major, loaded_minor, _) = map(
        properties, (built, runtime))
    if loaded_major != source_major:
        return False
    return loaded_minor == source_minor or (source_major >= 7 and loaded_minor >= source_minor)


def xla(built, runtime):
    source, loaded = properties(built), properties(runtime)
    return loaded[0] == source[0] and loaded[1] >= source[1]


def torch_before_1_0(built, runtime):
    return runtime // 100 == built // 100


def torch(built, runtime):
    runtime_major, runtime_minor, _ = properties(runtime)
    compile_major, compile_minor, _ = properties(built)
    if runtime_major != compile_major:
        return False
    if runtime_major < 7:
        return runtime_minor == compile_minor
    return runtime_minor >= compile_minor


def paddle_before_3(built, runtime):
    return not runtime // 100 < built // 100


def paddle(built, runtime):
    return not runtime < built


def exact(built, runtime):
    return runtime == built


def nvidia(built, runtime):
    (built_major, built_minor, _), (major, minor, _) = properties(built), properties(runtime)
    if built_major != major:
        return False
    if major >= 7:
        return minor >= built_minor
    return True if built == runtime else None


CHECKS = {
    "nvidia": nvidia,
    "expected": torch,
    "tensorflow-compatibility-number": tensorflow_before_1_6,
    "tensorflow": tensorflow_1_6,
    "xla": xla,
    "torch-same-minor": torch_before_1_0,
    "torch": torch,
    "paddle-minor": paddle_before_3,
    "paddle": paddle,
    "exact": exact,
    "mxnet-warning": exact,
    "opencv-exact": exact,
    "opencv": xla,
}


def verdict(rule, built, runtime):
    accepted = CHECKS[rule](built, runtime)
    if properties(built)[0] != properties(runtime)[0]:
        return "other-major"  # PaddlePaddle's own check lets it pass
    if accepted is None:
        return "unknown"
    if accepted:
        return "fits"
    return "too-old" if runtime < built else "too-new"


# ---- the questions ----

RELEASES = [(4, 0, 4), (4, 0, 7), (5, 0, 5), (5, 1, 3), (5, 1, 10), (6, 0, 21), (7, 0, 1),
            (7, 1, 4), (7, 6, 5), (8, 0, 5), (8, 6, 0), (8, 9, 7), (9, 0, 0), (9, 1, 0),
            (9, 8, 0), (9, 9, 0), (9, 10, 0), (9, 10, 2), (9, 19, 0), (9, 26, 0)]
EDGES = [(m, minor, patch) for m in range(4, 9) for minor in (0, 9) for patch in (0, 99)]
EDGES += [(9, minor, patch) for minor in (0, 9, 10, 99) for patch in (0, 99)]

# What frameworks printed in the field: (rule, built, runtime), all of them refused.
MESSAGES = [
    ("expected", 5103, 5005),
    ("tensorflow-compatibility-number", 5103, 5005),
    ("tensorflow-compatibility-number", 7003, 7101),
    ("tensorflow-compatibility-number", 7004, 7201),
    ("tensorflow", 7201, 7104),
    ("xla", 90800, 90100),
    ("xla", 8906, 8700),
    ("torch-same-minor", 7201, 7300),
    ("torch", 8302, 8003),
    ("torch", 91002, 90100),
    ("paddle-minor", 8100, 8000),
    ("paddle-minor", 7605, 7501),
    ("exact", 7600, 7501),
    ("opencv-exact", 8600, 8902),
    ("opencv-exact", 8000, 8201),
]

# Releases on both sides of each change, and of frameworks that compare nothing.
ERAS = [
    ("tensorflow", "1.0.0", "tensorflow-compatibility-number"),
    ("tensorflow", "1.3.0", "tensorflow-compatibility-number"),
    ("tensorflow", "1.5.1", "tensorflow-compatibility-number"),
    ("tensorflow", "1.6.0", "tensorflow"),
    ("tensorflow", "1.14.0", "tensorflow"),
    ("tensorflow", "2.3.4", "tensorflow"),
    ("tensorflow", "2.4.0", "xla"),
    ("tensorflow", "2.21.0", "xla"),
    ("jax", "0.10.2", "xla"),
    ("jaxlib", "0.4.11", "xla"),
    ("torch", "0.3.1", "torch-same-minor"),
    ("torch", "0.4.1", "torch-same-minor"),
    ("torch", "1.0.0", "torch"),
    ("torch", "1.13.1", "torch"),
    ("torch", "2.15.0", "torch"),
    ("paddle", "2.6.2", "paddle-minor"),
    ("paddle", "3.3.1", "paddle"),
    ("mxnet", "1.5.1", "exact"),
    ("mxnet", "1.6.0", "mxnet-warning"),
    ("opencv", "4.5.1", "opencv-exact"),
    ("opencv", "4.11.0", "opencv"),
] + [(name, "1.0", "nvidia") for name in
     ("onnxruntime", "ctranslate2", "cupy", "tvm", "cudarc", "julia", "caffe")]


def near(version):
    for step in itertools.product((-1, 0, 1), repeat=3):
        major, minor, patch = (v + s for v, s in zip(version, step))
        if 4 <= major <= 9 and 0 <= minor < (10 if major < 9 else 100) and 0 <= patch < 100:
            yield encode(major, minor, patch)


def drawn(rng):
    major = rng.randint(4, 9)
    return major, rng.randrange(10 if major < 9 else 30), rng.randrange(30)


def pairs(rng):
    for version in RELEASES + EDGES + [drawn(rng) for _ in range(40)]:
        for other in near(version):
            yield encode(*version), other
            yield other, encode(*version)
    yield from itertools.product([encode(*v) for v in RELEASES], repeat=2)
    for _ in range(500):
        yield encode(*drawn(rng)), encode(*drawn(rng))


def known_in_part(rng):
    """A version without its last field or two, away from the ends of their ranges, beside a whole
    one: where the missing fields decide, the answer is "unknown"."""
    for _ in range(300):
        major = rng.randint(4, 9)
        known = rng.randint(1, 2)
        whole = (major + rng.choice((-1, 0, 0, 0, 1)), rng.randint(2, 7), rng.randint(2, 90))
        if not 4 <= whole[0] <= 9:
            continue
        part = (major, rng.randint(2, 7))[:known]
        minors = [part[1]] if known == 2 else range(10 if major < 9 else 100)
        could_be = [encode(major, minor, patch) for minor in minors for patch in (0, 1, 50, 98, 99)]
        could_be.append(encode(major, whole[1] if known == 1 else part[1], whole[2]))
        yield ".".join(map(str, part)), could_be, encode(*whole)


def questions(rng):
    for (built, runtime), rule in itertools.product(list(pairs(rng)), CHECKS):
        yield ("check", rule, str(built), str(runtime)), verdict(rule, built, runtime)
    for text, could_be, whole in known_in_part(rng):
        for rule in CHECKS:
            as_built = {verdict(rule, v, whole) for v in could_be}
            as_runtime = {verdict(rule, whole, v) for v in could_be}
            yield ("check", rule, text, str(whole)), (
                as_built.pop() if len(as_built) == 1 else "unknown")
            yield ("check", rule, str(whole), text), (
                as_runtime.pop() if len(as_runtime) == 1 else "unknown")
    for rule, built, runtime in MESSAGES:
        want = "too-old" if runtime < built else "too-new"
        yield ("check", rule, str(built), str(runtime)), want
    for framework, version, rule in ERAS:
        yield ("rule", framework, version), rule


if __name__ == "__main__":
    compare(sys.argv[1], questions(seeded()), least=30000)
