# SPDX-License-Identifier: Apache-2.0
"""defer_relocations.py LINKER ARGUMENT...: links the shim so that its tables are left alone until it wakes.

The loader applies every relocation of a library that it maps, and each page that it writes to becomes
the process's own: most processes would pay for tables that only an awake shim reads, and each relocation
takes 24 bytes of the library. So a pointer in .data.rel.ro becomes, in the objects, the distance to what it
leads to, which the linker knows: no relocation is left of it. The shim makes pointers of them (shim/asleep.c).
Which words these are says the same library linked out of the objects as they are, by its relocations; the
bits are written behind a mark in its data.
"""
import os
import struct
import subprocess
import sys
import tempfile

MARK = b"relocated later\0"
ROOM = 64  # of 64 bits each, behind first and count (shim/asleep.c)
# EM_X86_64, EM_AARCH64: of the loader's, a base and an addend; of the linker's, an address, a distance
RELATIVE, ADDRESS, DISTANCE = {62: 8, 183: 1027}, {62: 1, 183: 257}, {62: 24, 183: 260}
RELA = struct.Struct("<QQq")
TABLES = ".rela.data.rel.ro"


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

    def section(self, name):
        found = [s[2:] for s in self.sections if s[0] == name]
        return found[0] if len(found) == 1 else fail(f"there are {len(found)} {name}")

    def place(self, address):
        """Where in which section it is, or at whose end."""
        held = [(name, address - start) for name, flags, start, _, size in self.sections
                if flags & 2 and start <= address <= start + size]
        return held[-1] if held else fail(f"nothing is at {address:#x}")

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.bytes)


def with_distances(path, copy):
    """Is there anything to change in an object?"""
    elf = Elf(path)
    changed = False
    for name, _, _, at, size in elf.sections:
        for entry in range(at, at + size, RELA.size) if name.startswith(TABLES) else ():
            where, what, addend = RELA.unpack_from(elf.bytes, entry)
            if what & 0xFFFFFFFF == ADDRESS[elf.machine]:
                RELA.pack_into(elf.bytes, entry, where, what >> 32 << 32 | DISTANCE[elf.machine], addend)
                changed = True
    if changed:
        elf.write(copy)
    return changed


def pointers(elf):
    """{place: where it leads to}"""
    _, at, size = elf.section(".rela.dyn")
    entries = [RELA.unpack_from(elf.bytes, at + i) for i in range(0, size, RELA.size)]
    return {elf.place(where): target for where, what, target in entries if what == RELATIVE[elf.machine]}


def note(elf, plain):
    found = {}
    now = pointers(elf)
    for (name, offset), target in pointers(plain).items():
        start, at, _ = elf.section(name)
        if (name, offset) not in now:
            (distance,) = elf.unpack("<q", at + offset)
            found[start + offset] = distance
            if elf.place(start + offset + distance) != plain.place(target):
                fail(f"{name} + {offset:#x} leads elsewhere")
    first = min(found)
    words = (max(found) - first) // 8 + 1
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
    out = command[command.index("-o") + 1]
    subprocess.run(command, check=True)
    plain = Elf(out)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(out)) as directory:
        for i, word in enumerate(command):
            copy = f"{directory}/{i}.o"
            if word.endswith(".o") and with_distances(word, copy):
                command[i] = copy
        subprocess.run(command, check=True)
    elf = Elf(out)
    note(elf, plain)
    elf.write(out)


try:
    main(sys.argv[1:])
except subprocess.CalledProcessError as failed:
    sys.exit(failed.returncode)
