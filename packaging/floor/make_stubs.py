# SPDX-License-Identifier: Apache-2.0
"""make_stubs.py CC LIBC DIRECTORY: libraries to link a portable command against.

A program that is linked against a new glibc asks for that one's newest versions of functions. These
stand-ins of libc.so.6 and libdl.so.2 define what the given libc.so.6 has, under the newest version up to
2.17 (what manylinux2014 has); what has no such version is missing, so a link that succeeds holds the floor.
"""

import re
import subprocess
import sys
from pathlib import Path

FLOOR = (2, 17)
# Functions that were libdl's until 2.34, when they moved into libc.
OF_LIBDL = {"dladdr", "dladdr1", "dlclose", "dlerror", "dlinfo", "dlmopen", "dlopen", "dlsym", "dlvsym"}
ROW = re.compile(r"\s+\d+: ([0-9a-f]+) +(\d+|0x[0-9a-f]+) (\w+) +(GLOBAL|WEAK) +DEFAULT +(\w+) (\S+?)(@@?)(GLIBC_\S+)")
SECTIONS = {"%function": ".text\n", "%object": ".bss\n.balign 32\n", "%tls_object": '.section .tbss,"awT",%nobits\n'}
BINDINGS = {"GLOBAL": ".globl", "WEAK": ".weak"}
KINDS = {"FUNC": "%function", "IFUNC": "%function", "OBJECT": "%object", "TLS": "%tls_object"}


def number(node):
    """(2, 2, 5) of GLIBC_2.2.5; None of GLIBC_PRIVATE and the like."""
    text = node.removeprefix("GLIBC_")
    return tuple(map(int, text.split("."))) if re.fullmatch(r"[\d.]+", text) else None


def read(libc):
    """name -> (number, version, mark, size, kind, address, binding) under the newest version that the floor allows, by library."""
    libraries = {"libc": {}, "libdl": {}}
    versions = {}
    listing = subprocess.run(["readelf", "-W", "--dyn-syms", libc], check=True, capture_output=True, text=True)
    for row in map(ROW.match, listing.stdout.splitlines()):
        if row and row[5] != "UND" and row[3] in KINDS and number(row[8]):
            versions.setdefault(row[6], []).append((number(row[8]), row[8], row[7], int(row[2], 0), row[3], row[1], row[4]))
    for name, known in versions.items():
        allowed = [one for one in known if one[0] <= FLOOR]
        if not allowed:
            continue
        # What has a new default at 2.34 came from libpthread, librt and so on: it was not in libc before.
        moved = any(one[0] == (2, 34) and one[2] == "@@" for one in known) and name != "__libc_start_main"
        if not moved:
            libraries["libc"][name] = max(allowed)
        elif name in OF_LIBDL:
            libraries["libdl"][name] = max(allowed)
    # Where libc has none of them any more as @@2.34 (older than that), libdl is a file of its own.
    return libraries


def build(cc, name, soname, symbols, directory):
    source, script, nodes = [], [], {}
    places = {}
    for symbol, (_, node, _, size, kind, address, binding) in sorted(symbols.items()):
        nodes.setdefault(node, []).append(symbol)
        places.setdefault((KINDS[kind], address), []).append((symbol, max(size, 1), BINDINGS[binding]))
    # Names of one object stay names of one, the weak ones weak: by that the linker knows that where a program
    # has a copy of `environ`, libc's __environ is that.
    for (kind, _), names in places.items():
        source.append(SECTIONS[kind])
        source += [f"{binding} {symbol}\n.type {symbol},{kind}\n.size {symbol},{size}\n{symbol}:\n" for symbol, size, binding in names]
        source.append(".byte 0\n" if kind == "%function" else f".space {max(size for _, size, _ in names)}\n")
    before = ""
    for node in sorted(nodes, key=number):
        script.append(f"{node} {{ global: {'; '.join(nodes[node])}; {'local: *;' if not before else ''} }} {before};")
        before = node
    source.append('.section .note.GNU-stack,"",%progbits\n')
    (directory / f"{name}.s").write_text("".join(source))
    (directory / f"{name}.map").write_text("\n".join(script) + "\n")
    subprocess.run([*cc, "-shared", "-nostdlib", f"-Wl,-soname,{soname}", f"-Wl,--version-script={directory / name}.map",
                    "-o", directory / f"{name}.so", directory / f"{name}.s"], check=True)


def main():
    cc, libc, directory = sys.argv[1].split(), sys.argv[2], Path(sys.argv[3])
    directory.mkdir(parents=True, exist_ok=True)
    libraries = read(libc)
    if not libraries["libdl"]:
        sys.exit(f"make_stubs.py: {libc} is older than 2.34; build the portable command on Debian 12 or newer")
    build(cc, "libc", "libc.so.6", libraries["libc"], directory)
    build(cc, "libdl", "libdl.so.2", libraries["libdl"], directory)


if __name__ == "__main__":
    main()
