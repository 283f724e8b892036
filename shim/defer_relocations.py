# SPDX-License-Identifier: Apache-2.0
"""defer_relocations.py LINKER ARGUMENT...: links the shim so that the loader does not relocate its tables.

The loader applies every relocation of a library that it maps, and each page that it writes to becomes
private memory of the process: most processes would pay for tables that only an awake shim reads. Each relocation
also takes 24 bytes of the library. So this script replaces, in the objects, each pointer in .data.rel.ro by the
distance to its target, which the linker computes: no relocation is left. When the shim wakes, it turns the distances
into pointers (shim/asleep.c). To know which words these are, the library is linked a second time with the relocations
that the linker applies (--emit-relocs). A bit for each word is written behind a mark in the library's data.
"""
import os
import struct
import subprocess
import sys
import tempfile

MARK = b"relocated later\0"
ROOM = 64  # of 64 bits each, behind first and count (shim/asleep.c)
# EM_X86_64, EM_AARCH64: what makes an address of 64 bits, what a distance
ADDRESS, DISTANCE = {62: 1, 183: 257}, {62: 24, 183: 260}
RELA = struct.Struct("<QQq")
TABLES = ".rela.data.rel.ro"
SHF_ALLOC, SHF_TLS = 2, 0x400


def fail(text):
    sys.exit(f"defer_relocations: {text}")


class Elf:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = bytearray(file.read())
        (table,), (size, count, names) = self.unpack("<Q", 40), self.unpack("<HHH", 58)
        headers = [self.unpack("<IIQQQQ", table + i * size) for i in range(count)]
        text = headers[names][4]
        # (name, flags, address, offset, size)
        self.sections = [(self.text(text + h[0]), *h[2:]) for h in headers]
        (self.machine,) = self.unpack("<H", 18)

    def unpack(self, layout, at):
        return struct.unpack_from(layout, self.bytes, at)

    def text(self, at):
        return self.bytes[at:self.bytes.index(b"\0", at)].decode()

    def loaded(self):
        """What the loader sees, and where: (name, flags, address, offset, size)."""
        return [s for s in self.sections if s[1] & SHF_ALLOC and s[4]]

    def is_inside(self, address):
        """Does it lead into the library, or to the end of something there?"""
        return any(start <= address <= start + size for _, flags, start, _, size in self.loaded() if not flags & SHF_TLS)

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.bytes)


def relocations(elf, kind):
    """(where it stands in the file, address or offset, symbol and kind, addend) of those of a kind in tables"""
    for name, _, _, at, size in elf.sections:
        for entry in range(at, at + size, RELA.size) if name.startswith(TABLES) else ():
            found = RELA.unpack_from(elf.bytes, entry)
            if found[1] & 0xFFFFFFFF == kind[elf.machine]:
                yield entry, *found


def with_distances(path, copy):
    """Is there anything to change in an object?"""
    elf = Elf(path)
    found = list(relocations(elf, ADDRESS))
    for entry, where, what, addend in found:
        RELA.pack_into(elf.bytes, entry, where, what >> 32 << 32 | DISTANCE[elf.machine], addend)
    if found:
        elf.write(copy)
    return bool(found)


def note(elf, linked):
    """Writes which words are distances behind the mark. `linked`: the same library with its relocations."""
    if elf.loaded() != linked.loaded():
        fail("kept relocations change where things lie")
    found = sorted(where for _, where, _, _ in relocations(linked, DISTANCE))
    for address in found:
        at, = (at + address - start for name, _, start, at, size in elf.loaded()
               if name.startswith(".data") and start <= address < start + size)
        if not elf.is_inside(address + elf.unpack("<q", at)[0]):
            fail(f"{address:#x} leads nowhere")
    first = found[0]
    words = (found[-1] - first) // 8 + 1
    if words > ROOM * 64:
        fail(f"{ROOM} in shim/asleep.c is too little for {words} words")
    bits = [0] * ROOM
    for address in found:
        n, rest = divmod(address - first, 8)
        bits[n // 64] |= 1 << n % 64 if not rest else fail("a pointer is not aligned")
    if elf.bytes.count(MARK) != 1:
        fail("the mark is not there once")
    struct.pack_into(f"<{ROOM + 2}Q", elf.bytes, elf.bytes.index(MARK) + len(MARK), first, words, *bits)


def main(command):
    at = command.index("-o") + 1
    out = command[at]
    with tempfile.TemporaryDirectory(dir=os.path.dirname(out)) as directory:
        for i, word in enumerate(command):
            copy = f"{directory}/{i}.o"
            if word.endswith(".o") and with_distances(word, copy):
                command[i] = copy
        subprocess.run(command, check=True)
        command[at] = f"{directory}/linked"
        subprocess.run([*command, "-Wl,--emit-relocs"], check=True)
        elf, linked = Elf(out), Elf(command[at])
    note(elf, linked)
    elf.write(out)


try:
    main(sys.argv[1:])
except subprocess.CalledProcessError as failed:
    sys.exit(failed.returncode)
