# SPDX-License-Identifier: Apache-2.0
"""defer_relocations.py SHIM: lets the loader leave the shim's tables alone until the shim wakes.

The loader applies every relocation of a library that it maps, and each page that it writes to becomes
the process's own: most processes would pay for tables that only an awake shim reads. So the entries of
.rela.dyn are sorted: first the relative ones of all but .data.rel.ro, then those with a symbol, and last
the relative ones of .data.rel.ro, which the loader is no longer told of (DT_RELASZ, DT_RELACOUNT). The
shim applies them itself; where they are is written behind a mark in its data (shim/asleep.c). That needs
no system call, since PT_GNU_RELRO is taken away. (Linked without
it, gold would have put those tables into .data.)
"""
import struct
import sys

MARK = b"relocated later\0"
DT_RELA, DT_RELASZ, DT_RELACOUNT = 7, 8, 0x6FFFFFF9
PT_NULL, PT_GNU_RELRO = 0, 0x6474E552
RELATIVE = {62: 8, 183: 1027}  # EM_X86_64, EM_AARCH64
ENTRY = struct.Struct("<QQq")


def sections(elf):
    """{name: (address, offset, size)}"""
    (table,), (size, count, names) = struct.unpack_from("<Q", elf, 40), struct.unpack_from("<HHH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + i * size) for i in range(count)]
    text = headers[names][4]
    return {elf[text + h[0]:elf.index(b"\0", text + h[0])].decode(): h[3:] for h in headers}


def defer(elf):
    where = sections(elf)
    relative = RELATIVE[struct.unpack_from("<H", elf, 18)[0]]
    tables = [(start, start + size) for name, (start, _, size) in where.items() if name.startswith(".data.rel.ro")]
    address, at, size = where[".rela.dyn"]
    entries = [ENTRY.unpack_from(elf, at + i) for i in range(0, size, ENTRY.size)]
    groups = [], [], []
    for entry in entries:
        later = any(start <= entry[0] < end for start, end in tables)
        groups[1 if entry[1] != relative else 2 if later else 0].append(entry)
    for i, entry in enumerate(sum(groups, [])):
        ENTRY.pack_into(elf, at + i * ENTRY.size, *entry)
    seen = len(groups[0]) + len(groups[1])
    told = {DT_RELASZ: seen * ENTRY.size, DT_RELACOUNT: len(groups[0])}
    _, at, size = where[".dynamic"]
    for i in range(at, at + size, 16):
        tag, value = struct.unpack_from("<QQ", elf, i)
        if tag == DT_RELA and value != address or tag == DT_RELASZ and value != len(entries) * ENTRY.size:
            sys.exit("defer_relocations: DT_RELA is not .rela.dyn")
        if tag in told:
            struct.pack_into("<Q", elf, i + 8, told[tag])
    (table,), (size, count) = struct.unpack_from("<Q", elf, 32), struct.unpack_from("<HH", elf, 54)
    for i in range(table, table + count * size, size):
        if struct.unpack_from("<I", elf, i)[0] == PT_GNU_RELRO:
            struct.pack_into("<I", elf, i, PT_NULL)
    if elf.count(MARK) != 1:
        sys.exit("defer_relocations: the mark is not there once")
    struct.pack_into("<QQ", elf, elf.index(MARK) + len(MARK), address + seen * ENTRY.size, len(groups[2]))


with open(sys.argv[1], "r+b") as file:
    library = bytearray(file.read())
    defer(library)
    file.seek(0)
    file.write(library)
