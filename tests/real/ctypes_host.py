# SPDX-License-Identifier: Apache-2.0
"""A host in Python: what tests/fixtures/hosts/host.c does, through ctypes. Arguments: LIBRARY, then
version, create, maps; after create also the library's own name of the status."""

import ctypes
import sys


def main():
    library = ctypes.CDLL(sys.argv[1])
    library.cudnnGetVersion.restype = ctypes.c_size_t
    said = []
    for what in sys.argv[2:]:
        if what == "version":
            said.append(f"version {library.cudnnGetVersion()}")
        elif what == "create":
            status = library.cudnnCreate(ctypes.byref(ctypes.c_void_p()))
            library.cudnnGetErrorString.restype = ctypes.c_char_p
            said.append(f"create {status} {library.cudnnGetErrorString(status).decode()}")
    print(*said)
    if "maps" in sys.argv:
        with open("/proc/self/maps", encoding="utf-8") as maps:
            print("maps", maps.read(), sep="\n")


main()
