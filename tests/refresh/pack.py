#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pack.py SITE_PACKAGES WHEEL [DAMAGE]: makes a wheel of what lies there, with a RECORD of its own.
DAMAGE: a file that is changed behind its RECORD.
"""

import os
import pathlib
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "setup"))
import wheels  # noqa: E402


def main():
    site, target, damage = (*sys.argv[1:], None)[:3]
    info = next(name for name in os.listdir(site) if name.endswith(".dist-info"))
    for name in ("RECORD", "INSTALLER"):
        pathlib.Path(site, info, name).unlink(missing_ok=True)
    names = sorted(str(path.relative_to(site)) for path in pathlib.Path(site).rglob("*")
                   if path.is_file())
    rows = [",".join(wheels.record_line(site, name)) for name in names]
    pathlib.Path(site, info, "RECORD").write_text("\n".join([*rows, f"{info}/RECORD,,", ""]))
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name in [*names, f"{info}/RECORD"]:
            content = pathlib.Path(site, name).read_bytes()
            wheel.writestr(name, content + b"more" if name == damage else content)


if __name__ == "__main__":
    main()
