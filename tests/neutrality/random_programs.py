#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""random_programs.py --shim FILE --empty FILE [--seed N] [--count N] [--traced N] [COMMAND...]
random_programs.py --shim FILE --empty FILE --table FILE [--only NAME]

Runs programs of the system's bin directories, drawn by a seed, with --version or --help (or the
one command that is given): bare and with the shim. Output and status must be the same and no file
be left. For some of them strace must show no file that the shim opens for writing, no mprotect and no
system call that changes anything, beyond what a preload that does nothing brings. Prints the seed,
what ran and what differs; fails if anything does.

A program whose bare output differs from one run to the next is replaced by another, as is one that
does not end by itself, and one that LD_DEBUG shows to ask for CUDA: there a log is right. Programs
run as nobody where this is root. With --table each row runs (real_programs.tsv says what stands there):
what does not end well and print something bare does not run here, and is named.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import glob
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

BIN = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"]
# Not run: what ends sessions or processes, changes disks, accounts, packages or boot whatever it is
# given, or would wait for a person or a display.
NOT_RUN = """
    reboot shutdown poweroff halt init telinit runlevel systemctl kexec killall* pkill skill snice
    mkfs* fsck* e2* mke2fs tune2fs resize2fs debugfs badblocks fdisk cfdisk sfdisk parted wipefs
    mkswap swapon swapoff blkdiscard dmsetup losetup mount* umount* pivot_root switch_root chroot dd
    shred
    user* group* add* del* passwd chpasswd newusers vipw vigr pwconv grpconv su sudo* login sulogin
    agetty getty chsh chfn gpasswd visudo
    apt* dpkg* update-* invoke-rc.d service rc* deb-systemd* ldconfig* pam-auth-update locale-gen
    snap flatpak pip* npm* npx* corepack yarn* conda*
    X* x11* vi* vim* nano* emacs* ed less more man most tmux screen script* watch top htop
    ssh* scp sftp telnet ftp mail* wall write mesg talk
    cron* at atd batch dbus* gdm* udev* modprobe insmod rmmod depmod lsmod sysctl
    iptables* ip6tables* nft* ebtables* arptables* tc bridge ip ifup ifdown ifquery dhclient* hwclock date timedatectl
    strace gdb* valgrind* perf* ltrace
""".split()
TIMEOUT = 10
# Before a difference counts: a program of several processes may say its lines in another order.
AGAIN = 20
WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT")
# What the sleeping shim brings beyond an empty preload: where its own segments go, and one look at what
# standard error is.
HARMLESS = {"mmap", "fstat", "newfstatat"}


def candidates():
    """Programs by what they really are, each once; not those of another kind of machine."""
    found = {}
    for directory in BIN:
        for file in sorted(glob.glob(directory + "/*")):
            name = os.path.basename(file)
            real = os.path.realpath(file)
            if any(fnmatch.fnmatch(n, p) for n in (name, os.path.basename(real)) for p in NOT_RUN):
                continue
            if os.path.isfile(real) and os.access(real, os.X_OK) and runs_here(real):
                found.setdefault(real, file)
    return sorted(found.values())


def runs_here(file):
    with open(file, "rb") as f:
        start = f.read(20)
    if start[:4] != b"\x7fELF":
        return start[:2] == b"#!"
    with open("/proc/self/exe", "rb") as f:
        own = f.read(20)
    return start[4:6] == own[4:6] and start[18:20] == own[18:20]


Result = collections.namedtuple("Result", "status out err left")


class Runner:
    def __init__(self, work, nobody, timeout=TIMEOUT):
        self.work = work
        self.timeout = timeout
        self.user = {"user": 65534, "group": 65534, "extra_groups": []} if nobody else {}
        self.count = 0
        self.lock = threading.Lock()

    def directory(self):
        with self.lock:
            self.count += 1
            path = self.work / str(self.count)
        path.mkdir()
        path.chmod(0o777)
        return path

    def run(self, command, preload=None, prefix=(), variables=()):
        """Result in an empty directory of its own, None if it does not end by itself."""
        directory = self.directory()
        environment = {"PATH": ":".join(BIN), "LC_ALL": "C", "HOME": str(directory),
                       "TMPDIR": str(directory), "TERM": "dumb"}
        if preload:
            # As a person would set it, but for strace itself.
            prefix = (*prefix, "/usr/bin/env", f"LD_PRELOAD={preload}")
        else:
            prefix = (*prefix, "/usr/bin/env", "-u", "LD_PRELOAD")
        environment.update(variables)
        process = subprocess.Popen([*prefix, *command], cwd=directory, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True, **self.user)
        try:
            out, err = process.communicate(timeout=self.timeout)
        except subprocess.TimeoutExpired:
            out = None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # what it may have left running
            except ProcessLookupError:
                pass
        if out is None:
            process.communicate()
            return None
        here = str(directory).encode()
        left = sorted(str(p.relative_to(directory)) for p in directory.rglob("*"))
        shutil.rmtree(directory, ignore_errors=True)
        return Result(process.returncode, out.replace(here, b"."), err.replace(here, b"."), left)


def describe(result):
    return "did not end" if result is None else \
        f"status {result.status}, left {result.left}\n{result.out[-400:]!r}\n{result.err[-400:]!r}"


def asks_for_cuda(runner, command):
    output = runner.directory()
    runner.run(command, variables={"LD_DEBUG": "files,libs", "LD_DEBUG_OUTPUT": f"{output}/ld"})
    asked = re.compile(r"(file|library)=(\S*/)?lib(cuda|cudnn|cublas|nvidia)[-.\w]*\.so")
    return any(asked.search(f.read_text(errors="replace")) for f in output.iterdir())


def compare(runner, command, shim):
    """None: not to be used; else (command, what differs or "")."""
    bare = runner.run(command)
    if bare is None or bare.status in (126, 127) or runner.run(command) != bare:
        return None
    shimmed = runner.run(command, shim)
    if shimmed == bare:
        return command, ""
    if any(runner.run(command) != bare for _ in range(AGAIN)):
        return None
    if shimmed._replace(left=bare.left) == bare and asks_for_cuda(runner, command):
        print(f"{command[0]} asks for CUDA: another is taken")
        return None
    return command, f"bare: {describe(bare)}\nshim: {describe(shimmed)}"


class Trace:
    """What strace saw: how often each call, what was opened for writing."""

    def __init__(self, runner, command, preload):
        file = runner.work / f"trace-{threading.get_ident()}"
        file.touch()
        file.chmod(0o666)
        strace = "strace", "-f", "-qq", "-o", str(file)
        self.ended = runner.run(command, preload, strace) is not None
        self.calls = collections.Counter()
        self.written = collections.Counter()
        for line in file.read_text(errors="replace").splitlines():
            found = re.match(r"\d+\s+(\w+)\((.*)", line)
            if not found:
                continue
            # What the kernel refuses changes nothing: the shim asks so whether memory is readable.
            self.calls["refused" if " = -1 E" in line else found[1]] += 1
            if found[1] in ("open", "openat", "openat2", "creat") and WRITES.search(found[2]):
                self.written[re.sub(r"/\d+/", "/N/", re.search(r'"(.*?)"', found[2])[1])] += 1

    def key(self):
        return self.calls["mprotect"], self.calls["execve"], sorted(self.written.items())


def compare_traces(runner, command, options):
    """None: it differs by itself; else (command, what the shim did beyond an empty preload)."""
    empty = Trace(runner, command, options.empty)
    if not empty.ended or Trace(runner, command, options.empty).key() != empty.key():
        return None
    shimmed = Trace(runner, command, options.shim)
    more = shimmed.calls - empty.calls
    wrong = [f"{n} more of {name}" for name, n in more.items() if name not in HARMLESS]
    wrong += [f"opens {name} for writing" for name in shimmed.written - empty.written]
    if wrong and any(Trace(runner, command, options.empty).calls != empty.calls
                     for _ in range(AGAIN)):
        return None
    return command, "; ".join(wrong)


def compare_row(runner, name, command, options):
    """(name, what happened, what differs or "")."""
    bare = runner.run(command)
    if bare is None or bare.status or not bare.out:
        return name, "does not run here", describe(bare)
    if runner.run(command) != bare:
        return name, "varies", "varies: " + describe(bare)
    shimmed = runner.run(command, options.shim)
    if shimmed != bare and all(runner.run(command) == bare for _ in range(AGAIN)):
        return name, "differs", f"bare: {describe(bare)}\nshim: {describe(shimmed)}"
    traced = compare_traces(runner, command, options)
    return name, "traced" if traced else "same", traced[1] if traced else ""


def table(options, work):
    """Each row of the table by itself; root's where this is root."""
    rows = [line.rstrip("\n").split("\t", 2) for line in open(options.table)
            if not line.startswith("#")]
    for directory in ("nobody", "root"):
        (work / directory).mkdir()
        (work / directory).chmod(0o777)
    root = os.geteuid() == 0
    runners = {user: Runner(work / user, root and user == "nobody", 90) for user in ("nobody", "root")}
    results = [compare_row(runners[user], name, ["bash", "-c", command], options)
               for name, user, command in rows if options.only in (None, name)]
    for name, what, more in results:
        print(name, what, more, sep="\t")
    count = collections.Counter(what for _, what, _ in results)
    print(f"{len(results)} programs: " + ", ".join(f"{n} {what}" for what, n in sorted(count.items())))
    return any(what in ("differs", "varies") or what == "traced" and more for _, what, more in results)


def until_enough(count, tries, action):
    """Results of `action` on the tries, in order, until there are enough of them."""
    results = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        tries = iter(tries)
        while len(results) < count:
            batch = [t for t, _ in zip(tries, range(min(8, count - len(results))))]
            if not batch:
                break
            results += [r for r in pool.map(action, batch) if r]
    return results


def logs():
    return set(glob.glob("/tmp/whichcudnn-*.jsonl*"))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--empty", required=True)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10 ** 9))
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--traced", type=int, default=10)
    parser.add_argument("--table")
    parser.add_argument("--only")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.command:
        options.count = options.traced = 1
    print(f"seed {options.seed}")
    draw = random.Random(options.seed)
    drawn = [[file, draw.choice(["--version", "--help"])] for file in candidates()]
    draw.shuffle(drawn)
    drawn = [options.command] if options.command else drawn

    with tempfile.TemporaryDirectory(dir="/tmp") as work:
        os.chmod(work, 0o755)
        for name in ("shim", "empty"):  # nobody may not be able to read where they are
            setattr(options, name, shutil.copy(getattr(options, name), f"{work}/lib{name}.so"))
        before = logs()
        if options.table:
            failed = table(options, pathlib.Path(work))
            left = sorted(logs() - before)
            print("left in /tmp:", *left)
            sys.exit(failed or bool(left))
        runner = Runner(pathlib.Path(work), os.geteuid() == 0 and not options.command)
        ran = until_enough(options.count, drawn, lambda c: compare(runner, c, options.shim))
        traced = until_enough(options.traced, [command for command, _ in ran],
                              lambda c: compare_traces(runner, c, options))
        left = sorted(logs() - before)
    wrong = [(c, w) for c, w in ran + traced if w]
    print(f"{len(ran)} programs of {len(drawn)}, {len(traced)} of them traced")
    for command, what in wrong:
        print(" ".join(command), what, sep=": ")
    if left:
        print("left in /tmp:", *left)
    short = len(ran) < options.count or len(traced) < options.traced
    if short:
        print("too few")
    sys.exit(bool(wrong or left or short))


if __name__ == "__main__":
    main()
