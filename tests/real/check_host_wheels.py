#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_host_wheels.py CACHE NAME==RELEASE...: what wheels of hosts say against the tables that
repairs are made by. Small files of each wheel are fetched, once.

Their METADATA against PINS of core/packages/built_with.def; of ONNX Runtime what its preload_dlls
opens, by its own source, against tools/repair/preloaders.def.
"""

import ast
import os
import pathlib
import re
import subprocess
import sys

import watch

sys.path.insert(0, str(watch.ROOT / "tests" / "setup"))
import wheels  # noqa: E402

WANTED = re.compile(r"[^/]+\.dist-info/METADATA|onnxruntime/__init__\.py|"
                    r"onnxruntime/capi/build_and_package_info\.py")


def rows(table, *macros):
    """Of a table the rows of these macros, by the C preprocessor: (macro, value, ...)."""
    source = "".join(f'#define {macro}(...) @ ("{macro}", __VA_ARGS__)\n' for macro in macros)
    text = subprocess.run([os.environ.get("CC", "cc").split()[0], "-E", "-P", "-I", watch.ROOT, "-"],
                          input=f'{source}#include "{table}"\n', check=True, capture_output=True,
                          text=True).stdout
    return [ast.literal_eval(" ".join(row.split())) for row in text.split("@")[1:]]


def fetched(cache, name, release):
    """The directory with the files of that wheel that are wanted."""
    directory = pathlib.Path(cache) / "hosts" / f"{name}-{release}"
    if not list(directory.glob("*.dist-info/METADATA")):
        _, address = wheels.resolve(f"{name}=={release}")
        with wheels.open_wheel(address) as wheel:
            for member in sorted(filter(WANTED.fullmatch, wheel.namelist()), reverse=True):
                wheels.extract(wheel, wheel.getinfo(member), str(directory))
    return directory


def number(release):
    return watch.fields(re.match(r"[\d.]+", release)[0])


# ---- what they require ----


def required(metadata):
    """{(wheel, its releases, extra)} of the Requires-Dist lines for cuDNN."""
    found = set()
    for line in re.findall(r"^Requires-Dist: (nvidia-cudnn-cu.*)$", metadata, re.M):
        wheel, releases = re.match(r"([\w-]+)\s*\(?([^;)]*)", line).groups()
        extra = re.search(r"extra == ['\"]([\w-]+)", line)
        found.add((wheel, frozenset(releases.replace(" ", "").split(",")),
                   extra[1].replace("_", "-") if extra else ""))
    return found


def check_pins(checks, directory, name, release):
    metadata = next(directory.glob("*.dist-info/METADATA")).read_text()
    pins = {(wheel, frozenset(releases.split(",")), extra)
            for _, package, extra, first, end, wheel, releases
            in rows("core/packages/built_with.def", "PINS")
            if package == name and number(first) <= number(release) < number(end)}
    checks.equal("what it requires", required(metadata), pins)


# ---- what they load when asked to ----


def opened(source, info):
    """(the CUDA of the build, what the module's own function lists); None: it has no preloader."""
    names = {}
    if "def preload_dlls(" not in source:
        return None
    exec(info, names)  # pylint: disable=exec-used
    wanted = [node for node in ast.parse(source).body
              if isinstance(node, ast.FunctionDef) and node.name.startswith(("_get_", "_extract_"))]
    module = ast.Module(body=wanted, type_ignores=[])
    exec(compile(module, "onnxruntime", "exec"), names)  # pylint: disable=exec-used
    return (int(names["cuda_version"].split(".")[0]),
            ["/".join(path) for path in names["_get_nvidia_dll_paths"](False)])


def check_preloader(checks, directory, release):
    info = directory / "onnxruntime/capi/build_and_package_info.py"
    got = opened((directory / "onnxruntime/__init__.py").read_text(),
                 info.read_text() if info.exists() else "")
    table = rows("tools/repair/preloaders.def", "PRELOADER", "PRELOADED")
    checks.equal("has a preloader", got is not None, any(
        number(row[4]) <= number(release) for row in table if row[0] == "PRELOADER"))
    if got:
        checks.equal("what it opens", got[1], [row[3] for row in table
                                               if row[0] == "PRELOADED" and row[2] == got[0]])


def main():
    checks = watch.Checks()
    for name, release in (requirement.split("==") for requirement in sys.argv[2:]):
        checks.case = f"{name} {release}"
        directory = fetched(sys.argv[1], name, release)
        check_pins(checks, directory, name, release)
        if name == "onnxruntime-gpu":
            check_preloader(checks, directory, release)
    checks.finish()


if __name__ == "__main__":
    main()
