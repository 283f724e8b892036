#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""damaged.py SHIM BESIDE OFFERED LINKED FACADE WORK CUTS FLIPS [SEED]: damaged cuDNN files

The FACADE, damaged in one way after the other, is offered to two hosts: one that opens it (OFFERED)
and one that is linked to it (LINKED). Each runs bare and with the SHIM (BESIDE, a preload that both
have, may be empty) and must end the same way: status or signal, stdout, stderr. And the log names
the file:

- the host that opens it: always, by the request's record, and by the failure's with the loader's
  words where these were fetched; once it is open, by an object record. What is no library at all
  is a finding, too;
- the linked host: by an object record where the program was started. Where the loader gave up
  before that, nothing of the shim ran, and there is no log.

A damaged file may make the loader read, write or jump where something lies by chance. So what
differs is run again, also with an inert shim: the same file, but that nobody finds its functions
and it is told to do nothing. What none of those runs did is a difference, if most runs with the
shim end so; where those without come to many ends (the loader reads a name out of another library),
only another status is. How many ended another way by chance is told.
"""

import collections
import os
import pathlib
import random
import resource
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "schema"))
import whole  # noqa: E402

LFS = b"""version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 125136
"""
# What a bare host that opens it must be told.
NAMED = {
    "zero bytes": (lambda good: b"", "file too short"),
    "text": (lambda good: b"404: not found\n" * 100, "invalid ELF header"),
    "a Git LFS pointer": (lambda good: LFS, "invalid ELF header"),
    "zeros": (lambda good: bytes(len(good)), "invalid ELF header"),
    "wrong class": (lambda good: good[:4] + b"\1" + good[5:], "wrong ELF class: ELFCLASS32"),
    "wrong machine": (lambda good: good[:18] + b"\x28\0" + good[20:], "cannot open shared object"),
    "wrong byte order": (lambda good: good[:5] + b"\2" + good[6:], "ELF file data encoding not"),
}
EXPORTED = (b"dlopen", b"dlmopen", b"dlsym", b"dlvsym", b"dlclose", b"dlerror", b"dladdr",
            b"dladdr1")
RETURN = {"x86_64": b"\xc3", "aarch64": b"\xc0\x03\x5f\xd6"}
TRIES = 10
AGAIN = 40
MANY = 4


def make_inert(shim, inert):
    """The shim, but nobody finds its functions: what lies where is as with the shim."""
    content = bytearray(pathlib.Path(shim).read_bytes())
    for name in EXPORTED:
        # The first is that of the dynamic symbols. Its hash stays that of the right name.
        content[content.index(b"\0" + name + b"\0") + 1] = ord("?")
    # Its own _init wants this one.
    at, code = offset_of("__gmon_start__", shim), RETURN[os.uname().machine]
    content[at:at + len(code)] = code
    inert.write_bytes(content)


def offset_of(function, shim):
    """Where its code lies in the file."""
    symbols = subprocess.run(["nm", "-D", shim], capture_output=True, text=True, check=True).stdout
    address, = [int(line.split()[0], 16) for line in symbols.splitlines()
                if line.endswith(f" {function}")]
    with open(shim, "rb") as file:
        elf = file.read()
    phoff, = struct.unpack_from("<Q", elf, 32)
    for at in range(phoff, phoff + 56 * struct.unpack_from("<H", elf, 56)[0], 56):
        kind, _, offset, start, _, size = struct.unpack_from("<IIQQQQ", elf, at)
        if kind == 1 and start <= address < start + size:
            return address - start + offset
    raise ValueError(function)


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (2, 2))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def interesting(good):
    """Offsets of the headers and of the dynamic section."""
    phoff, = struct.unpack_from("<Q", good, 32)
    size, count = struct.unpack_from("<HH", good, 54)
    offsets = list(range(64)) + list(range(phoff, phoff + size * count))
    for at in range(phoff, phoff + size * count, size):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", good, at)
        if kind == 2:
            offsets += range(offset, offset + length)
    return offsets


def damages(good, cuts, flips, draw):
    """(name, bytes, the words expected or None) of each."""
    for name, (make, words) in NAMED.items():
        yield name, make(good), words
    for i in range(cuts):
        at = min(len(good) - 1, 1 + len(good) * i // cuts + draw.randrange(len(good) // cuts))
        yield f"cut at {at}", good[:at], None
    special = interesting(good)
    for i in range(flips):
        at = draw.choice(special) if i % 2 else draw.randrange(len(good))
        bit = draw.randrange(8)
        yield (f"bit {bit} of byte {at:#x}",
               good[:at] + bytes([good[at] ^ 1 << bit]) + good[at + 1:], None)


def plain(text):
    """Without what a name out of garbage may have: JSON writes it in another way."""
    return "".join(c for c in text if " " <= c <= "~")


class Hosts:
    def __init__(self, shim, beside, offered, linked, work):
        inert = work / "inert.so"
        make_inert(shim, inert)
        self.preloads = {"bare": beside, "shim": f"{shim} {beside}", "inert": f"{inert} {beside}"}
        self.programs = {"offered": offered, "linked": linked}
        self.file = work / "set" / "libcudnn.so.9"
        self.log = work / "log.jsonl"

    def run(self, host, how):
        """(status, stdout, stderr)"""
        self.log.unlink(missing_ok=True)
        environment = {"PATH": os.environ["PATH"], "LD_PRELOAD": self.preloads[how],
                       "LD_LIBRARY_PATH": str(self.file.parent), "WHICHCUDNN_STDERR": "off",
                       "WHICHCUDNN_LOG": str(self.log)}
        if how == "inert":
            environment["WHICHCUDNN_DISABLE"] = "1"
        command = [self.programs[host]] + ([str(self.file)] if host == "offered" else [])
        with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=limits) as child:
            try:
                out, err = child.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                child.kill()
                child.communicate()
                return "it hangs", b"", b""
        return child.returncode, out, err

    def differs(self, host, bare, shimmed):
        """None, or what the shim alone did."""
        with_shim = [shimmed] + [self.run(host, "shim") for _ in range(TRIES)]
        without = {bare}
        for i in range(AGAIN):
            alone = [end for end in with_shim if end not in without]
            if not alone:
                return None
            without.add(self.run(host, "inert" if i % 2 else "bare"))
        if len(without) >= MANY:
            statuses = {end[0] for end in without}
            alone = [end for end in alone if end[0] not in statuses]
        return set(alone) if len(alone) > TRIES / 2 else None

    def records(self):
        if not self.log.exists():
            return []
        return whole.records(self.log.read_bytes())

    def is_found(self, records):
        return any(r["kind"] == "finding" and r["id"] == "bad-file"
                   and str(self.file) in [fact["value"] for fact in r["facts"]] for r in records)

    def named_by(self, host, outcome, records):
        """By which kinds of record the log names the file; an error where one is missing."""
        out = outcome[1].decode(errors="replace").splitlines()
        words = plain(outcome[1].decode(errors="replace"))
        path = str(self.file)
        kinds = []
        if any(r["kind"] == "request" and r["name"] == path for r in records):
            kinds.append("request")
        if any(r["kind"] == "failure" and r["name"] == path and r["text"]
               and plain(r["text"]) in words for r in records):
            kinds.append("failure")
        if any(r["kind"] == "object" and r["path"] == path for r in records):
            kinds.append("object")
        if host == "offered":
            needed = ["request"] + ["object"] * ("opened" in out)
            if outcome[0] == 1 and "opened" not in out:
                needed.append("failure")
        else:
            needed = ["object"] * ("started" in out)
        missing = [kind for kind in needed if kind not in kinds]
        if missing:
            raise ValueError(f"the log has no record of kind {missing}; {out}")
        return "+".join(kinds) or "no log"


def offer(hosts, name, content, words, told):
    """Whether all was well."""
    hosts.file.unlink(missing_ok=True)
    hosts.file.write_bytes(content)
    good = True
    for host in hosts.programs:
        bare, shimmed = hosts.run(host, "bare"), hosts.run(host, "shim")
        records = hosts.records()
        try:
            told[host, hosts.named_by(host, shimmed, records)] += 1
        except ValueError as error:
            print(f"{name}, {host}: {error}")
            good = False
        ending = f"signal {-bare[0]}" if isinstance(bare[0], int) and bare[0] < 0 else bare[0]
        told[host, f"ends with {ending}"] += 1
        if words and words.encode() not in bare[1] + bare[2]:
            print(f"{name}, {host}: bare it said {bare}, expected {words}")
            good = False
        if words and host == "offered" and not hosts.is_found(records):
            print(f"{name}: the log has no finding about the file")
            good = False
        if bare == shimmed:
            continue
        other = hosts.differs(host, bare, shimmed)
        told[host, "by chance another way"] += not other
        if other:
            print(f"{name}, {host}: bare {bare}, with the shim alone {other}")
            good = False
    return good


def main():
    shim, beside, offered, linked, facade, work = sys.argv[1:7]
    cuts, flips = int(sys.argv[7]), int(sys.argv[8])
    seed = int(sys.argv[9]) if len(sys.argv) > 9 else 20260
    work = pathlib.Path(work)
    facade = pathlib.Path(facade)
    (work / "set").mkdir(parents=True, exist_ok=True)
    for part in facade.parent.glob("libcudnn_*"):
        (work / "set" / part.name).symlink_to(part)
    hosts = Hosts(shim, beside, offered, linked, work)
    good = facade.read_bytes()
    told = collections.Counter()
    bad = 0
    print(f"seed {seed}, {facade.name} of {len(good)} bytes")
    all_of_them = list(damages(good, cuts, flips, random.Random(seed)))
    hosts.file.write_bytes(good)
    for host in hosts.programs:
        if hosts.run(host, "inert") != hosts.run(host, "bare") or hosts.records():
            sys.exit("damaged: the inert shim does something")
    for number, (name, content, words) in enumerate([("nothing", good, None)] + all_of_them):
        if not offer(hosts, name, content, words, told):
            bad += 1
            shutil.copy(hosts.file, work / f"kept-{number}")
    print(f"{len(all_of_them)} damages; " + "; ".join(
        f"{host} {what}: {n}" for (host, what), n in sorted(told.items(), key=str)))
    sys.exit(bool(bad))


main()
