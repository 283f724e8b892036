# SPDX-License-Identifier: Apache-2.0
"""The self-test: does each comparator tell the difference that it is there for?

Each library of planted/ takes the shim's place and makes one difference, which its comparator must
report; a library that does nothing must not be reported by any. One program prints something on
every channel (programs/all_channels.c).
"""

import dataclasses
import pathlib

from . import cases, compare, exceptions, runs, targets

CASE = "something on each channel"
# What stands in the shim's place, and the comparator that must tell. More may tell, too.
PLANTED = {
    "status": "status", "stdout": "stdout", "stderr": "stderr", "files": "../naive_dlopen",
    "bindings": "bindings", "dlerror": "dlerror", "errno": "errno", "references": "references",
    "noload": "noload", "dladdr": "dladdr", "binding-target": "binding_target",
}
FURTHER = {"again": "bindings"}  # which tells that one
# Those that change nothing else of what is printed.
ALONE = {"status", "stdout", "stderr", "errno"}

# A trace, in short. What the shim adds to it (SHIM) is left out; anything else that is changed is told.
ONE = """\
     77:\tfile=libhost.so [0];  needed by ./program [0]
     77:\tfind library=libhost.so [0]; searching
     77:\t  trying file=/one/libhost.so
     77:\tfile=libhost.so [0];  generating link map
     77:\t  dynamic: 0x00007f0000001000  base: 0x00007f0000000000   size: 0x0000000000004010
     77:\t    entry: 0x00007f0000000000  phdr: 0x00007f0000000040  phnum:                 11
     77:\tInitial object scopes
     77:\tobject=./program [0]
     77:\t scope 0: ./program /one/libhost.so
     77:\tcalling init: /one/libhost.so
     77:\tbinding file ./program [0] to /one/libhost.so [0]: normal symbol `cudnnCreate'
     77:\tbinding file ./program [0] to /one/libhost.so [0]: normal symbol `again'
     77:\tbinding file ./program [0] to /lib/libc.so.6 [0]: normal symbol `dlopen' [GLIBC_2.34]
     77:\tbinding file /lib/libhost.so [0] to /lib/libc.so.6 [0]: normal symbol `dlopen' [GLIBC_2.34]
     77:\tadd /one/libhost.so [0] to global scope
     77:\topening file=/one/libhost.so [0]; direct_opencount=1
"""
OTHERS = [
    ("trying file=/one/", "trying file=/other/"), ("size: 0x0000000000004010", "size: 0x0000000000004020"),
    ("11", "12"), ("scope 0: ./program ", "scope 0: "), ("77:\tcalling init: /one/libhost.so\n", ""),
    ("add /one/libhost.so [0] to", "add /one/libhost.so [1] to"), ("opencount=1", "opencount=2"),
    ("file=libhost.so [0];  needed", "file=libhost.so [1];  needed"),
    ("77:\tInitial", "77:\tfind library=libmore.so [0]; searching\n77:\tInitial"),
    ("cudnnCreate'", "cudnnCreate' [libcudnn.so.9]"), ("[0]: normal symbol `cudnnC", "[1]: normal symbol `cudnnC"),
    ("to /one/libhost.so [0]: normal symbol `cudnnC", "to /other/libhost.so [0]: normal symbol `cudnnC"),
    ("to /one/libhost.so [0]: normal symbol `cudnnC",
     "to /shim/libwhichcudnn.so [0]: normal symbol `cudnnC"),
    ("normal symbol `cudnnC", "protected symbol `cudnnC"),
    ("     77:\tbinding file ./program [0] to /one/libhost.so [0]: normal symbol `again'\n", 2),
    ("     77:\tbinding file ./program [0] to /one/libhost.so [0]: normal symbol `cudnnCreate'\n", 2),
    ("     77:\tbinding file ./program [0] to /one/libhost.so [0]: normal symbol `again'\n",
     "     77:\tbinding file ./program [0] to /one/libhost.so [0]: normal symbol `private' [GLIBC_PRIVATE]\n"),
    ("/lib/libhost.so [0] to /lib/libc.so.6 [0]: normal symbol `dlopen'",
     "/lib/libhost.so [0] to /one/libhost.so [0]: normal symbol `dlopen'"),
    ("     77:\tadd", "     77:\tbinding file /one/libhost.so [0] to /shim/libwhichcudnn.so [0]: "
     "normal symbol `mine'\n     77:\tadd"),
    ("     77:\tadd", "     77:\tfile=libmore.so [0];  dynamically loaded by /shim/libwhichcudnn.so [0]\n"
     "     77:\tadd"),
]
SHIM = """\
     78:\tfile=/shim/libwhichcudnn.so [0];  needed by ./program [0]
     78:\tfile=/shim/libwhichcudnn.so [0];  generating link map
     78:\t  dynamic: 0x00007f1000001000  base: 0x00007f1000000000   size: 0x0000000000004010
     78:\tobject=/shim/libwhichcudnn.so [0]
     78:\t scope 0: ./program /shim/libwhichcudnn.so /one/libhost.so
     78:\tcalling init: /shim/libwhichcudnn.so
     78:\tbinding file /shim/libwhichcudnn.so [0] to /lib/libc.so.6 [0]: normal symbol `_r_debug'
     78:\tbinding file ./program [0] to /shim/libwhichcudnn.so [0]: normal symbol `__gmon_start__'
"""


def normaliser():
    """"" if what may differ is left out of the loader's trace, and nothing else."""
    def told(other, again=True):
        names = ["libwhichcudnn"]
        return compare.files(ONE, names) != compare.files(other, names) or \
            len(set(map(tuple, compare.bindings(ONE, other, names, again)))) > 1

    same = SHIM + ONE.replace("77:", "78:").replace("0x00007f0", "0x00007f2").replace(
        "scope 0: ./program ", "scope 0: ./program /shim/libwhichcudnn.so ").replace(
        "./program [0] to /lib/libc.so.6 [0]: normal symbol `dlopen' [GLIBC_2.34]",
        "./program [0] to /shim/libwhichcudnn.so [0]: normal symbol `dlopen'")
    wrong = ["the shim and addresses are not left out"] if told(same) else []
    for old, new in OTHERS:
        other = same.replace(old.replace("77:", "78:").replace(
            "scope 0: ./program ", "scope 0: ./program /shim/libwhichcudnn.so "),
            old.replace("77:", "78:") * new if isinstance(new, int) else new.replace("77:", "78:"))
        if other == same or not told(other):
            wrong.append(f"not told: {old!r} as {new!r}")
    if compare.of_shim(SHIM, ["libwhichcudnn"]) or \
            not compare.of_shim(SHIM.replace("_r_debug", "memcpy"), ["libwhichcudnn"]):
        wrong.append("what the shim is bound to is not told, or what it may be is")
    dlopen = "     77:\tbinding file ./program [0] to /lib/libc.so.6 [0]: normal symbol `dlopen'"
    whole = f"{dlopen} [GLIBC_2.34]\n" * 4
    torn = f"{dlopen}{dlopen} [GLIBC_2.34]\n{dlopen}{dlopen}" + " [GLIBC_2.34]\n" * 3
    if len(compare.bound(whole, [])) != 4 or compare.bound(torn, []) != compare.bound(whole, []):
        wrong.append("lines that two threads have torn are not told as if they were whole")
    once = ONE + ONE[ONE.index("     77:\tbinding"):ONE.index("     77:\tbinding file ./program [0] to /lib")]
    if not told(once, again=False):
        wrong.append("under LD_BIND_NOT a second binding of a function of cuDNN's is not told")
    return "\n".join(wrong)


def outputs():
    """"" if of two runs' outputs each difference is told, be it an end of line."""
    def run(**settings):
        return runs.Outcome(**{"status": 0, "stdout": "a\nerrno: 0\n", "stderr": "b\n"} | settings)
    case = cases.Case("planted", "outputs", ["./none"])
    wrong = []
    for settings in ({"stdout": "a\nerrno: 0"}, {"stdout": "errno: 0\na\n"}, {"stderr": "b"},
                     {"stderr": "b\n\n"}, {"status": 1}, {"status": -11}, {"status": None},
                     {"stdout": "a\nerrno: 1\n"}, {"stdout": "a\x0berrno: 0\n"}):
        if not compare.of_plain(run(), run(**settings), case):
            wrong.append(f"not told: {settings}")
    if compare.of_plain(run(), run(), case):
        wrong.append("no difference is told")
    left, right = (run(stdout=text, stdout_sorted=True) for text in ("a\nb\n", "b\na\n"))
    if compare.of_plain(left, right, case):
        wrong.append("the order of threads is told")
    bound = [f"     77:\tbinding file ./program [0] to /lib/libc.so.6 [0]: normal symbol `{name}'\n"
             for name in ("free", "open")]
    for threads in (False, True):
        left, right = (run(trace="".join(lines), threads=threads) for lines in (bound, bound[::-1]))
        if bool(compare.of_traces(left, right, ["libwhichcudnn"])) == threads:
            wrong.append(f"bindings in another order, of several threads: {threads}")
    if not compare.of_traces(left, run(trace=bound[0], threads=True), ["libwhichcudnn"]):
        wrong.append("not told: a binding that is not there, of several threads")
    bound = "     77:\tbinding file ./program [0] to /lib/libc.so.6 [0]: normal symbol `free'"
    whole, torn = (run(trace=bound + rest, threads=True)
                   for rest in (" [GLIBC_2.17]\n     77:\t\n", "     77:\t\n [GLIBC_2.17]\n"))
    if compare.of_traces(whole, torn, ["libwhichcudnn"]):
        wrong.append("told: a line of another thread in the middle of one")
    parent = ["     77:\tscope 0: /lib/libc.so.6", " /lib/libm.so.6\n", "     77:\tno scope\n"]
    child = ["     78:\tbinding file ./program [0] to /lib/libc.so.6 [0]: normal symbol `free'", " [GLIBC_2.17]\n"]
    ordered = run(trace="".join(parent + child))
    for order in (parent[:1] + child + parent[1:], parent[:1] + child[:1] + parent[1:] + child[1:]):
        if compare.of_traces(ordered, run(trace="".join(order)), ["libwhichcudnn"]):
            wrong.append(f"told: the order in which two processes write: {order}")
    if not compare.of_traces(ordered, run(trace="".join(child + parent[1:])), ["libwhichcudnn"]):
        wrong.append("not told: a line of a parent that is not there")
    return "\n".join(wrong)


def differences(row_run, case, library):
    """{channel: diff} of the bare run and that with the library in the shim's place."""
    def pair(traced):
        return [row_run.runner.run(case, row_run.fill, shim, traced=traced)
                for shim in (None, library)]
    found = compare.of_plain(*pair(False), case)
    if row_run.traces():
        found |= compare.of_traces(*pair(True), [pathlib.Path(library).name])
    return found


def check_nothing(row_run, case, library):
    """A library that does nothing: no comparator tells it, but a shim is missed."""
    found = differences(row_run, case, library)
    if found:
        return "\n".join(f"{channel}:\n{diff}" for channel, diff in found.items())
    row_run.shim = library
    missed, _ = row_run.check(case)
    return "" if "the shim told no call" in missed else f"a shim that sleeps is not told: {missed}"


def check_planted(row_run, case, channel, library):
    found = differences(row_run, case, library)
    if channel not in found:
        return f"not told; told are {sorted(found)}"
    more = set(found) - {channel, "files", "bindings"}
    if channel in ALONE and more:
        return "told, too:\n" + "\n".join(f"{c}:\n{found[c]}" for c in sorted(more))
    return ""


def check_expectation(row_run, case):
    """Two runs that fail alike do not pass."""
    for wrong in ({"status": 3}, {"stdout": case.stdout + "more\n"}, {"stderr": "more\n"}):
        said, _ = row_run.check(dataclasses.replace(case, **wrong))
        if "the bare run is not what is expected" not in said:
            return f"{wrong} is not told: {said}"
    return ""


def check_exceptions(row_run, case):
    """An exception that is not needed is told, one that is needed is not."""
    row = row_run.row
    judge = exceptions.Exceptions([row], [], row_run.runner.scratch, row_run.options)
    judge.prepared[row] = row_run
    needless = dataclasses.replace(case, excepted={"gcc": "planted: it would pass"})
    if not judge.stale(needless, "gcc")[0]:
        return "an exception whose case passes is not told"
    return judge.stale(dataclasses.replace(needless, status=3), "gcc")[0]


def run(row_run, every_case, tap, part):
    """All of it, under the plain row."""
    try:
        case = next(c for c in every_case if c.name == CASE)
        own = row_run.target.own
        tap.result("normaliser", normaliser())
        tap.result("outputs", outputs())
        tap.result("expectation", check_expectation(row_run, case))
        tap.result("exceptions", check_exceptions(row_run, case))
        for channel, name in PLANTED.items():
            tap.result(channel, check_planted(row_run, case, channel, own(name)))
        for name, channel in FURTHER.items():
            tap.result(name, check_planted(row_run, case, channel, own(name)))
        observers = {"audit": "noload"} | ({"valgrind": "valgrind"} if part == "all" else {})
        plain = row_run.runner.row
        for observer, name in observers.items():
            row_run.row = row_run.runner.row = dataclasses.replace(plain, observer=observer)
            tap.result(observer, check_planted(row_run, case, observer, own(name)))
            found = differences(row_run, case, own("nothing"))
            tap.result(f"{observer}: nothing", "\n".join(found.values()))
        row_run.row = row_run.runner.row = plain
        tap.result("nothing", check_nothing(row_run, case, own("nothing")))
    except targets.Unavailable as error:
        tap.result("the planted libraries can be built", str(error))
