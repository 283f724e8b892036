# SPDX-License-Identifier: Apache-2.0
"""Two faults on one stack. Each fault says what it must be told as; ORDER is the order in which
they have to be repaired, stated by hand: what did not come in, what is made for another CUDA or
major, what does not fit, what the host refuses, what calls returned, what works by luck."""

import itertools
import random

ORDER = ["library-not-found", "cuda-major-differs", "dependency-missing", "installation-mixed",
         "facade-and-parts-differ", "parts-differ", "runtime-too-old", "runtime-too-new",
         "driver-missing", "call-failed", "expectation-not-met", "cuda-dependency-differs",
         "two-copies-loaded"]


class Stack:
    """A framework pinned to its wheel of cuDNN 9, sound: what faults change is all here."""

    def __init__(self, w):
        self.w = w
        self.older, self.release = w.two("9.12", "9.20")
        self.built, self.cuda, self.options, self.without = self.release, 12, [], []
        self.calls, self.needs = ["version", "create"], []

    def build(self, faults):
        w = self.w
        for fault in faults:
            fault(self, "before")
        w.create += tuple(self.options)
        self.lib = w.wheel(self.release, cuda=12, without=self.without)
        cudart = w.nvidia("cuda_runtime", f"libcudart.so.{self.cuda}")
        self.host = w.host("torch", self.built, cuda=12, search=[self.lib, cudart], tag="rpath",
                           needs=[f"libcudart.so.{self.cuda}"],
                           imports=["cudnnBackendFinalize", "cudnnOpsVersionCheck"])
        for fault in faults:
            fault(self, "after")
        self.host.does(*self.calls)
        if no_driver in faults:  # a job that goes on without one is only warned
            w.hosts[-1].does("fail")


def asks_in_vain(s, when):  # another library wants 8 and goes on without
    if when == "after":
        other = s.w.host("ctranslate2", s.release, linked=False, metadata=False)
        other.does("try:libcudnn.so.8")


def other_cuda(s, when):  # the host is of CUDA 13, the wheel of cuDNN is for 12
    s.cuda = 13


def missing_dependency(s, when):  # a part of CUDA that another library needs
    if when == "after":
        name = s.w.needing("libextension.so", ["libcublas.so.11"])
        (s.w.scratch / "libcublas.so.11").unlink()
        s.calls.append(f"try:{name}")


def foreign_facade(s, when):  # somebody put another facade into the wheel's directory
    if when == "after":
        s.w.directory(s.older, s.lib, only=["facade"])


def foreign_engines(s, when):  # a part that the wheel lacks comes from a toolkit
    if when == "before":
        s.without.append("engines_precompiled")
        s.calls.append("call:cudnnBackendFinalize")
    else:
        s.w.cache = [s.w.toolkit(s.w.release("9.25", "9.28"), cuda=12)]


def too_old(s, when):  # the framework is built with more than its wheel has
    if when == "before":
        s.built = s.w.release("9.21", "9.24")


def no_driver(s, when):
    if when == "before":
        s.w.create = ()


def failing_call(s, when):
    if when == "before":
        s.options += ["--status", "cudnnOpsVersionCheck=5000"]
        s.calls.append("call:cudnnOpsVersionCheck")


def expectation(s, when):
    s.w.environment["WHICHCUDNN_EXPECT"] = ">=9.40"


def two_copies(s, when):  # another library opens a copy of its own by its path
    if when == "after":
        copy = s.w.directory(s.older)
        other = s.w.host("cupy", s.older, linked=False, metadata=False)
        other.does(f"open:{copy}/libcudnn.so.9")


FAULTS = {asks_in_vain: "library-not-found", other_cuda: "cuda-major-differs",
          missing_dependency: "dependency-missing", foreign_facade: "facade-and-parts-differ",
          foreign_engines: "parts-differ", too_old: "runtime-too-old", no_driver: "driver-missing",
          failing_call: "call-failed", expectation: "expectation-not-met",
          two_copies: "two-copies-loaded"}
# Without a driver nothing gets so far as to ask for engines.
HIDES = [{no_driver, foreign_engines}]


def pairs(seed, count):
    """Names of `count` pairs, drawn: "P07-too_old-two_copies"."""
    possible = [pair for pair in itertools.combinations(FAULTS, 2) if set(pair) not in HIDES]
    rng = random.Random(f"{seed} pairs")
    drawn = rng.sample(possible, min(count, len(possible)))
    return [f"P{n:02}-{a.__name__}-{b.__name__}" for n, (a, b) in enumerate(drawn, 1)]


def expected(name):
    """(the two faults, their ids in the order in which they must be told)"""
    faults = [f for f in FAULTS if f.__name__ in name.split("-")]
    return faults, sorted((FAULTS[f] for f in faults), key=ORDER.index)
