# SPDX-License-Identifier: Apache-2.0
"""asleep.py DIR SHIM ROUNDS [true]: what the shim costs programs that have nothing to do with cuDNN.

DIR has `launch` (launch.c), `empty.so` and `dlcalls` (dlcalls.c); what is counted stays there. Prints a line
"program, what, how many, at most" for each program and bar, over a preload that is empty; "true": for /bin/true alone.
"""
import os
import re
import shutil
import statistics
import subprocess
import sys

OUT, SHIM, ROUNDS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
EMPTY = f"{OUT}/empty.so"
PROGRAMS = [
    ("/bin/true", ["/bin/true"]),
    ("bash -c :", ["/bin/bash", "-c", ":"]),
    ("python -c pass", ["/usr/bin/python3", "-c", "pass"]),
    ("git status", ["/usr/bin/git", "status"]),
    ("Go with cgo", [f"{OUT}/cgo"]),
    ("node -e 0", ["/usr/bin/node", "-e", "0"]),
]
CALLS = 1000


def environment(preload):
    """The same everywhere: it is read by the loader, and by the shim."""
    # callgrind does not take the signals that Go sends itself.
    return {"PATH": os.environ["PATH"], "HOME": OUT, "LC_ALL": "C", "GODEBUG": "asyncpreemptoff=1",
            "LD_PRELOAD": preload} | {f"VARIABLE_{i}": "/some/value" for i in range(20)}


def run(command, preload):
    return subprocess.run(command, env=environment(preload), cwd=OUT, check=False, capture_output=True)


def make_cgo():
    with open(f"{OUT}/cgo.go", "w", encoding="utf-8") as file:
        file.write('package main\n\nimport "C"\n\nfunc main() {}\n')
    subprocess.run(["go", "build", "-o", "cgo", "cgo.go"], cwd=OUT, check=True,
                   env=environment("") | {"GOCACHE": f"{OUT}/go", "GOFLAGS": "-mod=mod", "GO111MODULE": "off"})


def instructions(command, preload, of=None):
    """Of the whole process, or those in the file of that name."""
    out = f"{OUT}/callgrind.out"
    run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command], preload)
    names, here, total, called = {}, "", 0, False
    with open(out, encoding="utf-8") as file:
        for line in file:
            if m := re.match(r"(c?)ob=\((\d+)\)(?: (.*))?", line):
                names.setdefault(m[2], m[3])
                here = here if m[1] else names[m[2]]
            elif line.startswith("calls="):
                called = True
            elif re.match(r"[+\-*\d]", line):
                total += 0 if called or (of and here != of) else int(line.split()[-1])
                called = False
    return total


def system_calls(command, preload):
    """All of them, and those whose instruction lies in the preload."""
    out = f"{OUT}/strace.out"
    subprocess.run(["strace", "-f", "-i", "-o", out, f"-ELD_PRELOAD={preload}", *command], env=environment(""), cwd=OUT,
                   check=False, capture_output=True)
    count, own, opened, ranges = 0, 0, {}, {}
    with open(out, encoding="utf-8", errors="replace") as file:
        for line in file:
            m = re.match(r"(\d+) +\[([0-9a-f]+)\] (\w+)\((.*)", line)
            if not m:
                continue
            pid, at, call, rest = m[1], int(m[2], 16), m[3], m[4]
            count += 1
            own += any(start <= at < end for start, end in ranges.get(pid, []))
            if call == "openat" and f'"{preload}"' in rest:
                opened[pid] = rest.rsplit("= ", 1)[1].strip()
            elif call == "close":
                opened.pop(pid, None)
            elif call == "mmap" and (m := re.match(r"NULL, (\d+), .*, (\d+), 0\) = 0x(\w+)", rest)):
                if opened.get(pid) == m[2]:
                    ranges.setdefault(pid, []).append((int(m[3], 16), int(m[3], 16) + int(m[1])))
    if not ranges:
        sys.exit(f"asleep.py: {preload} is not in {command[0]}")
    return count, own


def more_faults(command):
    lines = subprocess.run([f"{OUT}/launch", "m", ROUNDS, "empty", f"LD_PRELOAD={EMPTY}", ",", "shim",
                            f"LD_PRELOAD={SHIM}", "--", *command],
                           env=environment(""), cwd=OUT, check=True, capture_output=True, text=True).stdout
    found = {"empty": [], "shim": []}
    for _, variant, turn, quantity, value in (line.split("\t") for line in lines.splitlines() if line.startswith("m\t")):
        if quantity == "faults" and turn != "0":
            found[variant].append(int(value))
    # Threads and a busy machine add some and spare some; what the shim adds is there at every quartile.
    quartiles = [statistics.quantiles(found[variant]) for variant in ("shim", "empty")]
    return min(shim - empty for shim, empty in zip(*quartiles))


def relocations():
    tags = subprocess.run(["readelf", "-dW", SHIM], check=True, capture_output=True, text=True).stdout
    size = {name: int(n) for name, n in re.findall(r"\((RELASZ|PLTRELSZ|RELRSZ)\)\s+(\d+)", tags)}
    return size["RELASZ"] // 24 + size.get("PLTRELSZ", 0) // 24 + size.get("RELRSZ", 0) // 8


def ratio(what):
    """Instructions of one more turn, the shim's over the empty preload's."""
    each = []
    for preload in SHIM, EMPTY:
        none, many = (instructions([f"{OUT}/dlcalls", what, str(n)], preload) for n in (1, 1 + CALLS))
        each.append((many - none) / CALLS)
    return each[0] / each[1]


def main():
    programs = PROGRAMS[:1] if "true" in sys.argv[4:] else PROGRAMS
    print(f"shim\trelocations\t{relocations()}\t60")
    subprocess.run(["git", "init", "-q", OUT], check=True)
    if shutil.which("go") and programs == PROGRAMS:
        make_cgo()
    for name, command in programs:
        if not os.path.exists(command[0]):
            print(f"{name}\tis not there\t\t")
            continue
        own = instructions(command, SHIM, SHIM)
        (calls, ours), (empty, _) = system_calls(command, SHIM), system_calls(command, EMPTY)
        print(f"{name}\town instructions\t{own}\t5000")
        print(f"{name}\tmore page faults\t{more_faults(command):.1f}\t3")
        print(f"{name}\town system calls\t{ours}\t1")
        if command[0] in ("/bin/true", "/bin/bash"):  # others make more or fewer of them each time
            print(f"{name}\tmore system calls\t{calls - empty}\t1")
    for what in ("open", "look-up") if programs == PROGRAMS else ():
        print(f"{what}\tratio of instructions\t{ratio(what):.4f}\t1.05")


main()
