"""The self-test: does each comparator tell the difference that it is there for?

Each library of planted/ takes the shim's place and makes one difference, which its comparator must
report; a library that does nothing must not be reported by any. One program prints something on
every channel (programs/all_channels.c).
"""

import dataclasses
import pathlib

from . import compare, targets

CASE = "something on each channel"
# What stands in the shim's place, and the comparator that must tell. More may tell, too.
PLANTED = {
    "status": "status", "stdout": "stdout", "stderr": "stderr", "files": "../naive_dlopen",
    "bindings": "bindings", "dlerror": "dlerror", "errno": "errno", "references": "references",
    "noload": "noload", "dladdr": "dladdr", "binding-target": "binding_target",
}
# Those that change nothing else of what is printed.
ALONE = {"status", "stdout", "stderr", "errno"}

ONE = """\
     77:\tfile=libhost.so [0];  needed by ./program [0]
     77:\tfind library=libhost.so [0]; searching
     77:\t  trying file=/one/libhost.so
     77:\tfile=libhost.so [0];  generating link map
     77:\t  dynamic: 0x00007f0000001000  base: 0x00007f0000000000   size: 0x0000000000004010
     77:\tcalling init: /one/libhost.so
     77:\tbinding file ./program [0] to /one/libhost.so [0]: normal symbol `cudnnCreate'
"""
SHIM = """\
     78:\tfile=/shim/libwhichcudnn.so [0];  needed by ./program [0]
     78:\tfile=/shim/libwhichcudnn.so [0];  generating link map
     78:\t  dynamic: 0x00007f1000001000  base: 0x00007f1000000000   size: 0x0000000000004010
     78:\tcalling init: /shim/libwhichcudnn.so
     78:\tbinding file /shim/libwhichcudnn.so [0] to /lib/libc.so.6 [0]: normal symbol `mmap'
     78:\tbinding file ./program [0] to /shim/libwhichcudnn.so [0]: normal symbol `dlopen'
"""


def normaliser():
    """"" if what may differ is left out of the loader's trace, and nothing else."""
    names = ["libwhichcudnn"]
    other = SHIM + ONE.replace("77:", "78:").replace("0x00007f0", "0x00007f2")
    wrong = []
    for channel in (compare.files, compare.bindings):
        if channel(ONE, names) != channel(other, names):
            wrong.append(f"{channel.__name__}: the shim and addresses are not left out")
        if channel(ONE, names) == channel(ONE.replace("/one/", "/other/"), names):
            wrong.append(f"{channel.__name__}: another path is not told")
    if compare.files(ONE, names) == compare.files(ONE.replace("     77:\tcalling init: "
                                                              "/one/libhost.so\n", ""), names):
        wrong.append("files: a constructor that is not run is not told")
    return "\n".join(wrong)


def differences(row_run, case, library):
    """{channel: diff} of the bare run and that with the library in the shim's place."""
    def pair(traced):
        return [row_run.runner.run(case, row_run.fill, shim, traced=traced)
                for shim in (None, library)]
    found = compare.of_plain(*pair(False))
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


def run(row_run, every_case, tap, part):
    """All of it, under the plain row."""
    try:
        case = next(c for c in every_case if c.name == CASE)
        own = row_run.target.own
        tap.result("normaliser", normaliser())
        tap.result("expectation", check_expectation(row_run, case))
        for channel, name in PLANTED.items():
            tap.result(channel, check_planted(row_run, case, channel, own(name)))
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
