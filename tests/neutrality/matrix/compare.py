"""Channels: what of two runs is compared, each by a comparator that says what differs.

A run (runs.Outcome) has status, stdout, stderr, and where asked the loader's own trace (LD_DEBUG), our
audit library's, and valgrind's log. A comparator makes of each run the lines that matter; what differs
is told as a unified diff of them.
"""

import difflib
import re
import signal

# Channels that the programs print themselves (programs/see.h).
PRINTED = ["dlerror", "errno", "references", "noload", "dladdr", "binding-target"]
# What the shim exports; a caller's binding to it is no binding of cuDNN's, and of these alone it may
# change the answer.
EXPORTED = {"dlopen", "dlmopen", "dlsym", "dlvsym", "dlclose", "dlerror", "dladdr", "dladdr1",
            "__gmon_start__"}


def status_name(code):
    if code is None:
        return "did not end"
    if code < 0:
        return signal.Signals(-code).name
    return f"status {code}"


def channel_lines(outcome, channel):
    mark = channel + ": "
    return [line[len(mark):] for line in outcome.stdout_lines if line.startswith(mark)]


def other_lines(outcome):
    marks = tuple(channel + ": " for channel in PRINTED)
    return [line for line in outcome.stdout_lines if not line.startswith(marks)]


# ---- the loader's trace ------------------------------------------------------------------------

PROCESS = re.compile(r"^\s*(\d+):\t")
ADDRESSES = re.compile(r"\b(dynamic|base|size|entry|phdr|phnum):\s+(0x)?[0-9a-f]+")
HASHES = re.compile(r"0x[0-9a-f]+")


def trace_lines(text):
    """(process, line) of LD_DEBUG's output."""
    for line in text.splitlines():
        found = PROCESS.match(line)
        if found:
            yield found[1], line[found.end():].rstrip()


def shim_file(line, names):
    return any(name in line for name in names)


def files(trace, names):
    """What was looked for and found, in order; names: files of the shim, which is not told.

    Left out are addresses, and what speaks of the shim as the file that is loaded, relocated,
    initialised or finished, or as the one that needs a library. A library that is there for the
    shim's sake alone still shows by its link map, and one that the shim opened by "loaded by".
    """
    kept, about_shim = [], False
    for _, line in trace_lines(trace):
        stripped = line.strip()
        if stripped.startswith("binding file") or stripped.startswith("symbol="):
            continue
        if not stripped:
            about_shim = False
            continue
        if stripped.startswith("file="):
            about_shim = shim_file(stripped.split(" [", 1)[0], names)
        elif re.match(r"(calling (init|fini)|closing file|opening file|find library|search )",
                      stripped):
            about_shim = False
        if about_shim or ADDRESSES.match(stripped):
            continue
        if re.match(r"(calling (init|fini):|activating NODELETE for) ", stripped) and \
                shim_file(stripped, names):
            continue
        needed = re.match(r"file=.* needed by (.*)", stripped)
        if needed and shim_file(needed[1], names):
            continue
        kept.append(HASHES.sub("0x", stripped))
    return kept


def bindings(trace, names):
    """"FILE to FILE: SYMBOL" of every binding, but those of the names that the shim exports, the
    shim's own, and libc's lazy ones to its loader: dladdr called once more makes these earlier.

    How often a function of another library is bound again says nothing: LD_BIND_NOT tells each call,
    and what unwinds or reads /proc/self/maps calls once more for one frame or object more."""
    kept, seen = [], set()
    for _, line in trace_lines(trace):
        found = re.match(r"binding file (.*) \[(\d+)\] to (.*) \[(\d+)\]: (.*) `(.*?)'(.*)", line)
        if not found or found[6] in EXPORTED or shim_file(found[1], names) or \
                found[7] == " [GLIBC_PRIVATE]":
            continue
        told = f"{found[1]} [{found[2]}] to {found[3]} [{found[4]}]: {found[6]}{found[7]}"
        if told not in seen or found[6].startswith("cudnn"):
            kept.append(told)
        seen.add(told)
    return kept


# ---- valgrind ------------------------------------------------------------------------------------

def valgrind(log):
    """The errors, each by its first line and the functions of its stack, and how many there were."""
    kept = []
    for line in log.splitlines():
        text = re.sub(r"^[-=]+\d+[-=]+ ?", "", line).rstrip()
        text = re.sub(r"0x[0-9A-Fa-f]+", "0x", text)
        if re.match(r"(Memcheck|Copyright|Using Valgrind|Command:|Parent PID|For lists|"
                    r"Use --track|HEAP|LEAK|All heap|Rerun|\s+(in use|total heap|definitely|"
                    r"indirectly|possibly|still|suppressed))", text.strip() and text):
            continue
        if text.strip():
            kept.append(re.sub(r"\(suppressed: .*\)", "", text).rstrip())
    return kept


# ---- all together --------------------------------------------------------------------------------

def differing(left, right):
    if left == right:
        return ""
    lines = list(difflib.unified_diff(left, right, "bare", "shimmed", n=2, lineterm=""))
    if len(lines) > 60:
        lines = lines[:60] + [f"... {len(lines) - 60} further lines"]
    return "\n".join(lines)


def of_plain(bare, shimmed):
    """{channel: diff} of two runs without LD_DEBUG."""
    found = {"status": differing([status_name(bare.status)], [status_name(shimmed.status)])}
    for channel in PRINTED:
        found[channel] = differing(channel_lines(bare, channel), channel_lines(shimmed, channel))
    found["stdout"] = differing(other_lines(bare), other_lines(shimmed))
    if not any(found.values()) and bare.stdout != shimmed.stdout:  # the order of channels
        found["stdout"] = differing(bare.stdout_lines, shimmed.stdout_lines) or "white space"
    found["stderr"] = differing(bare.stderr.splitlines(), shimmed.stderr.splitlines())
    if bare.valgrind is not None:
        found["valgrind"] = differing(valgrind(bare.valgrind), valgrind(shimmed.valgrind))
    return {channel: diff for channel, diff in found.items() if diff}


def of_traces(bare, shimmed, names):
    found = {"files": differing(files(bare.trace, names), files(shimmed.trace, names)),
             "bindings": differing(bindings(bare.trace, names), bindings(shimmed.trace, names))}
    if bare.audit is not None:
        found["audit"] = differing(audit(bare.audit, names), audit(shimmed.audit, names))
    return {channel: diff for channel, diff in found.items() if diff}


def audit(text, names):
    return [line for line in text.splitlines() if not shim_file(line, names)]


def without_errno(text):
    return "".join(line for line in text.splitlines(True) if not line.startswith("errno: "))


def expectation(case, outcome, fill):
    """"" if the run was as the case says; fill puts values for {facade} and so on."""
    wrong = []
    if outcome.status != case.returncode:
        wrong.append(f"status: {status_name(outcome.status)} instead of "
                     f"{status_name(case.returncode)}")
    for name in ("stdout", "stderr"):
        wanted, pattern = getattr(case, name), getattr(case, name + "_re")
        got = getattr(outcome, name)
        if pattern:
            if not re.fullmatch(fill(pattern, True), got, re.DOTALL):
                wrong.append(f"{name} does not match {fill(pattern, True)}:\n{got}")
            continue
        wanted = fill(wanted, False)
        if "errno: " not in wanted:
            got = without_errno(got)
        left, right = wanted.splitlines(), got.splitlines()
        if name == "stdout" and case.stdout_sorted:
            left, right = sorted(left), sorted(right)
        if left != right:
            wrong.append("\n".join(difflib.unified_diff(left, right, f"{name} expected",
                                                        f"{name} of the run", n=3, lineterm="")))
    return "\n".join(wrong)
