# SPDX-License-Identifier: Apache-2.0
"""Channels: what of two runs is compared, each by a comparator that says what differs.

A run (runs.Outcome) has status, stdout, stderr, and where asked the loader's own trace (LD_DEBUG), our
audit library's, and valgrind's log. A comparator makes of each run the lines that matter; what differs
is told as a unified diff of them.
"""

import collections
import dataclasses
import difflib
import itertools
import re
import signal

# Channels that the programs print themselves (programs/see.h).
PRINTED = ["dlerror", "errno", "references", "noload", "dladdr", "binding-target"]
# What the shim exports; a caller's binding to it is no binding of cuDNN's, and of these alone it may
# change the answer.
EXPORTED = {"dlopen", "dlmopen", "dlsym", "dlvsym", "dlclose", "dlerror", "dladdr", "dladdr1",
            "__gmon_start__"}
# What libc binds to its loader when dladdr is called, and dlsym under an auditor; and where dlsym lets
# the text of an older error go.
OF_LIBC = re.compile(r".*/libc\.so\.6 \[0\] to .* \[0\]: normal (free.*|"
                     r"_dl_(find_dso_for_object|audit_symbind_alt) \[GLIBC_PRIVATE\])")
SANITIZER = re.compile(r"/lib[at]san\.so")


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

ADDRESSES = re.compile(r"\b(dynamic|base|entry|phdr): +0x[0-9a-f]+")
SCOPE = re.compile(r"(no scope$|scope \d+:)")
# A piece of a line, and its end if that is there. The loader writes the version of a symbol by itself, and each element
# of a scope: another process or thread may begin its own line in between.
PIECE = re.compile(r"( *\d+:\t)?((?:(?! *\d+:\t)[^\n])*?symbol `[^'\n]*'|(?:(?! *\d+:\t)[^\n])*)(\n?)")
WHOLE = re.compile(r"( *\d+:\t)((?:(?!symbol `|:\t).)*(?:symbol `[^']*'(?: \[[^]]*\])?)?)(\n)")


def trace_lines(text):
    """Lines of LD_DEBUG's output, without the process, one process behind the other: which of them writes first is
    chance. A piece without a process belongs to the last line without an end that it fits: a version to a symbol."""
    processes, torn = {}, []
    whole = ((line, WHOLE.fullmatch(line)) for line in text.splitlines(True))
    for process, piece, end in itertools.chain.from_iterable(
            [found.groups()] if found else PIECE.findall(line) for line, found in whole):
        line = [""]
        if process:
            processes.setdefault(process, []).append(line)
        else:
            fits = [i for i, one in enumerate(torn)
                    if not piece or piece.startswith(" [") == one[0].endswith("'")]
            if not fits:
                continue
            line = torn.pop(fits[-1])
        line[0] += piece
        if not end:
            torn.append(line)
    for lines in processes.values():
        for line in lines:
            yield line[0].strip()


def shim_file(line, names):
    return any(name in line for name in names)


def without_shim(line, names):
    return " ".join(word for word in line.split() if not shim_file(word, names))


def files(trace, names):
    """What was looked for and found, in order, and the scopes; names: files of the shim, which is
    not told.

    Left out are addresses, and what speaks of the shim as the file that is loaded, relocated,
    initialised or finished, as the one that needs a library, or as one of a scope. A library that is
    there for the shim's sake alone still shows by its link map, and one that the shim opened by
    "loaded by".
    """
    kept, about_shim = [], False
    for line in trace_lines(trace):
        if line.startswith("binding file") or line.startswith("symbol="):
            continue
        if not line:
            about_shim = False
            continue
        if line.startswith(("file=", "object=")):
            about_shim = shim_file(line.split(" [", 1)[0], names)
        elif re.match(r"(calling (init|fini)|closing file|opening file|find library|search |add )",
                      line):
            about_shim = False
        if about_shim:
            continue
        if re.match(r"(calling (init|fini):|activating NODELETE for) ", line) and \
                shim_file(line, names):
            continue
        needed = re.match(r"file=.* needed by (.*)", line)
        if needed and shim_file(needed[1], names):
            continue
        if SCOPE.match(line):
            line = without_shim(line, names)
        kept.append(ADDRESSES.sub(r"\1: 0x", line))
    return kept


@dataclasses.dataclass(frozen=True)
class Binding:
    """"binding file USER [SPACE] to OWNER [SPACE]: KIND symbol `NAME' [VERSION]"."""
    user: str
    user_space: str
    owner: str
    owner_space: str
    kind: str
    name: str
    version: str

    def __str__(self):
        return f"{self.user} [{self.user_space}] to {self.owner} [{self.owner_space}]: {self.kind} " \
               f"{self.name}{self.version}"


BINDING = re.compile(r"binding file (.*) \[(\d+)\] to (.*) \[(\d+)\]: (.*) symbol `(.*?)'(.*)")


def bound(trace, names):
    """The bindings that a run made, but the shim's own, and libc's lazy ones that the first call of
    dladdr or dlsym makes: the shim's comes earlier."""
    kept = []
    for line in trace_lines(trace):
        found = BINDING.match(line)
        if not found or shim_file(found[1], names):
            continue
        binding = Binding(*found.groups())
        if OF_LIBC.fullmatch(str(binding)):
            continue
        kept.append(binding)
    return kept


def bindings(bare, shimmed, names, again=True, gcov=False):
    """Of two traces, as lines. The shim stands in the place of the next definition of the names that it
    exports, and answers a __gmon_start__ that nobody else has: that is all that may differ.

    again: does a function that is bound once more count? Under LD_BIND_NOT it is at each call, which
    for a function of cuDNN's must be as often; what unwinds or reads /proc/self/maps calls once more
    for one frame or object more. gcov: the run-time of a shim built for coverage writes its counts, and
    libtsan looks at the files."""
    def numbered(trace):
        """(binding, the how many-eth of that user and name it is)."""
        seen, count = set(), collections.Counter()
        for binding in bound(trace, names):
            if again or binding not in seen or binding.name.startswith("cudnn"):
                seen.add(binding)
                count[binding.user, binding.name] += 1
                yield binding, count[binding.user, binding.name]

    def lines(some, in_place):
        for binding, number in some:
            if not in_place(binding, number):
                # It calls more or less of itself as addresses fall out, and looks up the loader's
                # functions beside being bound to them, which is once or twice the same.
                if not SANITIZER.search(binding.user) or not (
                        binding.user == binding.owner or gcov and binding.name == "fileno_unlocked"
                        or not again and binding.name in EXPORTED):
                    yield str(binding)
            elif binding.name != "__gmon_start__":
                yield str(dataclasses.replace(binding, owner="the next one", version=""))

    def ours(binding):
        return binding.name in EXPORTED and shim_file(binding.owner, names)
    left, right = list(numbered(bare)), list(numbered(shimmed))
    taken = {(b.user, b.name, number) for b, number in right if ours(b)}
    return (list(lines(left, lambda b, number: (b.user, b.name, number) in taken)),
            list(lines(right, lambda b, number: ours(b))))


def of_shim(trace, names):
    """What of other libraries' the shim is bound to, beyond the one name that it imports, and what
    every object's start file calls: a program built with -pg has that."""
    may_be = ("_r_debug", "__gmon_start__")
    found = (BINDING.match(line) for line in trace_lines(trace))
    return [match[0] for match in found if match and shim_file(match[1], names) and
            not shim_file(match[3], names) and match[6] not in may_be]


# ---- valgrind ------------------------------------------------------------------------------------

def valgrind(log):
    """The errors, each by its first line and the functions of its stack, and how many there were.
    Which thread it was is chance, and so is which process has the lower number."""
    processes = {}
    for line in log.splitlines():
        kept = processes.setdefault(re.match(r"[-=]*(\d*)", line)[1], [])
        text = re.sub(r"^[-=]+\d+[-=]+ ?", "", line).rstrip()
        text = re.sub(r"0x[0-9A-Fa-f]+", "0x", text)
        text = re.sub(r"^Thread \d+", "Thread", text)
        if re.match(r"(Memcheck|Copyright|Using Valgrind|Command:|Parent PID|For lists|"
                    r"Use --track|HEAP|LEAK|All heap|Rerun|\s+(in use|total heap|definitely|"
                    r"indirectly|possibly|still|suppressed))", text.strip() and text):
            continue
        if text.strip():
            kept.append(re.sub(r"\(suppressed: .*\)", "", text).rstrip())
    return [line for kept in sorted(processes.values()) for line in kept]


# ---- all together --------------------------------------------------------------------------------

def differing(left, right, most=60):
    if left == right:
        return ""
    lines = list(difflib.unified_diff(left, right, "bare", "shimmed", n=2, lineterm=""))
    if len(lines) > most:
        lines = lines[:most] + [f"... {len(lines) - most} further lines"]
    return "\n".join(lines)


def whole(text):
    """Lines, with a mark where the last one has no end."""
    lines = text.split("\n")
    return lines[:-1] + [lines[-1] + "(no end of line)"] if lines[-1] else lines[:-1]


def of_plain(bare, shimmed, case):
    """{channel: diff} of two runs, without the traces."""
    found = {"status": differing([status_name(bare.status)], [status_name(shimmed.status)])}
    for channel in PRINTED:
        found[channel] = differing(channel_lines(bare, channel), channel_lines(shimmed, channel))
    found["stdout"] = differing(other_lines(bare), other_lines(shimmed))
    if not any(found.values()):  # the order of channels among each other
        found["stdout"] = differing(bare.stdout_lines, shimmed.stdout_lines)
    # Where the order of threads decides what is written there, each run has met the pattern.
    if case.deterministic or not case.stderr_re:
        found["stderr"] = differing(whole(bare.stderr), whole(shimmed.stderr))
    if bare.valgrind is not None:
        found["valgrind"] = differing(valgrind(bare.valgrind), valgrind(shimmed.valgrind))
    return {channel: diff for channel, diff in found.items() if diff}


def of_traces(bare, shimmed, names, gcov=False):
    bound_by = bindings(bare.trace, shimmed.trace, names, bare.binds_once, gcov)
    if bare.threads:  # who binds first is chance
        bound_by = map(sorted, bound_by)
    found = {"files": differing(files(bare.trace, names), files(shimmed.trace, names)),
             "bindings": differing(*bound_by)}
    if bare.audit is not None:
        found["audit"] = differing(*audit(bare.audit, shimmed.audit, names))
    return {channel: diff for channel, diff in found.items() if diff}


LOOKED_UP = re.compile(r"bound (.*) of '(.*)' to '(.*)', looked up")


def audit(bare, shimmed, names):
    """What our audit library was told, of two runs. What the host looks up for an explicit handle the
    shim does in its place (docs/limits.md): of these alone it may be told as who asks."""
    def numbered(text):
        count = collections.Counter()
        for line in text.splitlines():
            found = LOOKED_UP.fullmatch(line)
            key = (found[1], found[3]) if found else ()
            count[key] += 1
            yield line, found, (*key, count[key])

    taken = {key for _, found, key in numbered(shimmed) if found and shim_file(found[2], names)}

    def lines(text):
        for line, found, key in numbered(text):
            if found and key in taken:
                yield f"bound {found[1]} to {found[3]}, looked up"
            elif not shim_file(line, names):
                yield line
    return list(lines(bare)), list(lines(shimmed))


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
        left, right = whole(wanted), whole(got)
        if name == "stdout" and case.stdout_sorted:
            left, right = sorted(left), sorted(right)
        if left != right:
            wrong.append("\n".join(difflib.unified_diff(left, right, f"{name} expected",
                                                        f"{name} of the run", n=3, lineterm="")))
    return "\n".join(wrong)
