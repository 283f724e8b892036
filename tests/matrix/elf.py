# SPDX-License-Identifier: Apache-2.0
"""What the loader and a scan read of a library: its names, symbols and versions, out of the file or out of
its beginning; and a stand-in of a few KB that has exactly those.
"""

import re
import struct

LOAD, DYNAMIC = 1, 2
NEEDED, HASH, STRTAB, SYMTAB, STRSZ, SYMENT, FINI, SONAME, RPATH, RUNPATH = 1, 4, 5, 6, 10, 11, 13, 14, 15, 29
VERSYM, VERDEF, VERDEFNUM, VERNEED, VERNEEDNUM = 0x6FFFFFF0, 0x6FFFFFFC, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF
UNDEFINED, FUNCTION, OBJECT = 0, 2, 1
LIBRARY_NAME = rb"\0(lib[\w+.-]*\.so[\w.]*)(?=\0)"
CONSTANT = re.compile(rb"(?<=\0)libcudnn[\w.]*(?=\0)")


def text_at(data, at):
    return data[at:data.index(b"\0", at)].decode("ascii", "replace")


def segments(data):
    """[(kind, flags, offset, address, size in the file)]"""
    (where,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    rows = [struct.unpack_from("<IIQQQQQQ", data, where + i * size) for i in range(count)]
    return [(kind, flags, offset, address, length) for kind, flags, offset, address, _, length, _, _ in rows]


class File:
    """A library of which all bytes are there."""

    def __init__(self, data):
        self.data, self.loads, self.tags = data, [], {}
        for kind, _, offset, address, size in segments(data):
            if kind == LOAD:
                self.loads.append((address, offset, size))
            if kind == DYNAMIC:
                for at in range(offset, offset + size, 16):
                    tag, value = struct.unpack_from("<QQ", data, at)
                    self.tags.setdefault(tag, []).append(value)
        self.strings = self.at(self.tags[STRTAB][0])

    def at(self, address):
        for begin, offset, size in self.loads:
            if begin <= address < begin + size:
                return offset + address - begin
        return None

    def text(self, offset):
        return text_at(self.data, self.strings + offset)

    def texts(self, tag):
        return [self.text(value) for value in self.tags.get(tag, [])]

    def versions(self):
        """({number: name} of all versions, {library: its versions} that are needed, [those that are defined])"""
        names, needed, defined = {}, {}, []
        at = self.at(self.tags[VERNEED][0]) if VERNEED in self.tags else None
        for _ in range(self.tags.get(VERNEEDNUM, [0])[0]):
            _, count, file, first, following = struct.unpack_from("<HHIII", self.data, at)
            one = at + first
            for _ in range(count):
                _, _, number, name, to_next = struct.unpack_from("<IHHII", self.data, one)
                names[number & 0x7FFF] = self.text(name)
                needed.setdefault(self.text(file), []).append(self.text(name))
                one += to_next
            at += following
        at = self.at(self.tags[VERDEF][0]) if VERDEF in self.tags else None
        for _ in range(self.tags.get(VERDEFNUM, [0])[0]):
            _, flags, number, _, _, first, following = struct.unpack_from("<HHHHIII", self.data, at)
            names[number] = self.text(struct.unpack_from("<I", self.data, at + first)[0])
            if not flags & 1:
                defined.append(names[number])
            at += following
        return names, needed, defined

    def symbols(self, wanted):
        """[(name, version, is it defined, its four bytes if it is data)]"""
        start = self.at(self.tags[SYMTAB][0])
        names, _, _ = self.versions()
        versym = self.at(self.tags[VERSYM][0]) if VERSYM in self.tags else None
        found = []
        for n in range(1, self.symbol_count(start)):
            name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", self.data, start + 24 * n)
            text = self.text(name)
            if not wanted(text):
                continue
            version = struct.unpack_from("<H", self.data, versym + 2 * n)[0] & 0x7FFF if versym else 0
            content = None
            if section and info & 15 == OBJECT and size == 4:
                where = self.at(value)
                content = struct.unpack_from("<I", self.data, where)[0] if where else 0
            found.append([text, names.get(version), bool(section), content])
        return found

    def symbol_count(self, start):
        if HASH in self.tags:
            return struct.unpack_from("<II", self.data, self.at(self.tags[HASH][0]))[1]
        # Its string table follows, or another table of one that was patched: until no symbol can be meant.
        most, count = self.tags[STRSZ][0], 0
        while start + 24 * count + 24 <= len(self.data):
            name, info, other, *_ = struct.unpack_from("<IBBHQQ", self.data, start + 24 * count)
            if name >= most or other > 3 or info & 15 > 10 or (count and not name and not info):
                break
            count += 1
        return count


def constants(data):
    """Names of cuDNN's libraries that are whole constants."""
    return sorted({found.decode() for found in CONSTANT.findall(data)})


def facts_of_file(data, wanted):
    file = File(data)
    _, needed, defined = file.versions()
    soname = file.texts(SONAME)
    return {"soname": soname[0] if soname else "", "needed": file.texts(NEEDED),
            "rpath": ":".join(file.texts(RPATH)), "runpath": ":".join(file.texts(RUNPATH)),
            "verneed": {library: names for library, names in needed.items() if "cudnn" in library},
            "verdef": defined, "symbols": file.symbols(wanted), "constants": constants(data), "whole": True}


def string_table(data):
    """(begin, end) of .dynstr in the beginning of a file: the texts around the name of the C library. None: it is
    elsewhere, as in a file that was patched."""
    name = data.find(b"\0libc.so.6\0")
    if name < 0:
        return None
    texts, end, begin = re.compile(rb"[\x20-\x7e]+\0"), name + 1, name
    while found := texts.match(data, end):
        end = found.end()
    while begin > 0 and (0x20 <= data[begin - 1] < 0x7F or (data[begin - 1] == 0 and 0x20 <= data[begin - 2] < 0x7F)):
        begin -= 1
    return begin - (data[begin] != 0), end


def is_symbol(data, at, most):
    name, info, other, *_ = struct.unpack_from("<IBBHQQ", data, at)
    return 0 < name < most and other < 4 and info & 15 <= 10 and info >> 4 in (0, 1, 2, 10)


def symbol_table(data, end, most):
    """Where .dynsym begins, before `end`: an empty entry, and then symbols."""
    empty, at = bytes(24), data.find(bytes(24), 64)
    while 0 <= at < end - 24 * 5:
        if at % 8 == 0 and data[at:at + 24] == empty and all(is_symbol(data, at + 24 * n, most) for n in range(1, 5)):
            return at
        at += 8 - at % 8
        if data[at:at + 24] != empty:
            at = data.find(empty, at)
    return None


def facts_of_beginning(data, name, wanted):
    """The same of a library of that name whose beginning alone was read. None: it does not tell."""
    table = string_table(data)
    if not table:
        return None
    begin, end = table
    texts = data[begin:end]
    libraries = list(dict.fromkeys(one.decode() for one in re.findall(LIBRARY_NAME, texts)))
    path = re.search(rb"\0(\$ORIGIN[^\0]*)\0", texts)
    facts = {"soname": name if name in libraries else "", "needed": [one for one in libraries if one != name],
             "rpath": "", "verneed": {}, "verdef": [],
             "runpath": path[1].decode() if path else "", "symbols": [], "constants": constants(data[end:]),
             "whole": False}
    at = symbol_table(data, begin, len(texts))
    while at is not None and is_symbol(data, at + 24, len(texts)):
        at += 24
        word, info, _, section, _, size = struct.unpack_from("<IBBHQQ", data, at)
        text = text_at(texts, word)
        if wanted(text):
            content = 0 if section and info & 15 == OBJECT and size == 4 else None
            facts["symbols"].append([text, None, bool(section), content])
    return facts


# ---- a stand-in ----------------------------------------------------------------------------------

PAGE = 4096


class Strings:
    def __init__(self):
        self.data, self.known = bytearray(b"\0"), {"": 0}

    def add(self, text):
        if text not in self.known:
            self.known[text] = len(self.data)
            self.data += text.encode() + b"\0"
        return self.known[text]


def aligned(data, to=8):
    data += b"\0" * (-len(data) % to)
    return len(data)


def hash_of(name):
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high & 0xFFFFFFFF
    return value


def stand_in(facts, machine=62):
    """The bytes of a library with those facts. Its functions return at once."""
    strings, image = Strings(), bytearray(PAGE // 4)
    numbers, following = {}, 2
    for name in [facts["soname"] or "none", *facts["verdef"]]:
        if facts["verdef"]:
            numbers[name] = 1 if not numbers else following
            following += len(numbers) > 1
    for name in dict.fromkeys(name for names in facts["verneed"].values() for name in names):
        if name not in numbers:
            numbers[name], following = following, following + 1
    tags = [(NEEDED, strings.add(name)) for name in facts["needed"]]
    tags += [(tag, strings.add(facts[key])) for tag, key in
             ((SONAME, "soname"), (RPATH, "rpath"), (RUNPATH, "runpath")) if facts[key]]
    code = len(image)
    image += b"\xc3" * 16
    tags.append((FINI, code))
    image += b"\0" + b"".join(text.encode() + b"\0" for text in facts["constants"])
    symbols, versym = bytearray(24), bytearray(2)
    chain = [0]
    for name, version, is_defined, content in facts["symbols"]:
        value = code
        if content is not None:
            value = aligned(image)
            image += struct.pack("<I", content)
        kind = OBJECT if content is not None else FUNCTION
        symbols += struct.pack("<IBBHQQ", strings.add(name), 16 | kind, 0, is_defined and 1, is_defined and value,
                               4 if content is not None else is_defined and 1)
        versym += struct.pack("<H", numbers.get(version, 1))
        chain.append(hash_of(name))
    tags += [(SYMTAB, aligned(image)), (SYMENT, 24)]
    image += symbols
    if numbers:
        tags.append((VERSYM, aligned(image)))
        image += versym
        needs = {library: names for library, names in facts["verneed"].items() if library in facts["needed"]}
        if facts["verdef"]:
            tags += [(VERDEF, aligned(image)), (VERDEFNUM, len(facts["verdef"]) + 1)]
            rows = [facts["soname"] or "none", *facts["verdef"]]
            for n, name in enumerate(rows):
                image += struct.pack("<HHHHIII", 1, not n, numbers[name] if n else 1, 1, hash_of(name), 20,
                                     28 if n + 1 < len(rows) else 0)
                image += struct.pack("<II", strings.add(name), 0)
        if needs:
            tags += [(VERNEED, aligned(image)), (VERNEEDNUM, len(needs))]
            for n, (library, names) in enumerate(needs.items()):
                image += struct.pack("<HHIII", 1, len(names), strings.add(library), 16,
                                     16 + 16 * len(names) if n + 1 < len(needs) else 0)
                for k, name in enumerate(names):
                    image += struct.pack("<IHHII", hash_of(name), 0, numbers[name], strings.add(name),
                                         16 if k + 1 < len(names) else 0)
    buckets = max(1, len(chain) // 2)
    first, links = [0] * buckets, [0] * len(chain)
    for n in range(1, len(chain)):
        links[n], first[chain[n] % buckets] = first[chain[n] % buckets], n
    tags.append((HASH, aligned(image)))
    image += struct.pack(f"<II{buckets}I{len(chain)}I", buckets, len(chain), *first, *links)
    tags += [(STRTAB, aligned(image)), (STRSZ, len(strings.data))]
    image += strings.data
    constant_size = aligned(image)
    dynamic = b"".join(struct.pack("<QQ", *tag) for tag in [*tags, (0, 0)])
    address = constant_size + PAGE
    headers = [(LOAD, 5, 0, 0, constant_size), (LOAD, 6, constant_size, address, len(dynamic)),
               (DYNAMIC, 6, constant_size, address, len(dynamic))]
    image += dynamic
    image[:64] = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56,
                                                           len(headers), 64, 0, 0)
    for n, (kind, flags, offset, where, size) in enumerate(headers):
        image[64 + 56 * n:120 + 56 * n] = struct.pack("<IIQQQQQQ", kind, flags, offset, where, where, size, size,
                                                      PAGE if kind == LOAD else 8)
    return bytes(image)
