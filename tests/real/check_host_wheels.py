#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_host_wheels.py CACHE NAME==RELEASE...: what wheels of hosts say against the tables that
repairs are made by. Small files of each wheel are fetched, once.

Their METADATA against PINS of core/knowledge/built_with.def; of ONNX Runtime what its preload_dlls
opens, by its own source, against core/knowledge/frameworks.def.
"""

import ast
import re
import sys

import watch

sys.path.insert(0, str(watch.ROOT / "tests" / "setup"))
import wheels  # noqa: E402
from tables import rows  # noqa: E402


def fetched(cache, name, release):
    """The directory with the files of that wheel that are wanted."""
    return wheels.small_files(f"{cache}/hosts/{name}-{release}",
                              lambda: wheels.resolve(f"{name}=={release}")[1])


def number(release):
    return watch.fields(re.match(r"[\d.]+", release)[0])


# ---- what they require ----


def check_pins(checks, directory, name, release):
    metadata = next(directory.glob("*.dist-info/METADATA")).read_text()
    pins = {(wheel, frozenset(releases.split(",")), extra)
            for _, package, extra, first, end, wheel, releases
            in rows("core/knowledge/built_with.def", "PINS")
            if package == name and number(first) <= number(release) < number(end)}
    checks.equal("what it requires", wheels.cudnn_required(metadata), pins)


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
    table = rows("core/knowledge/frameworks.def", "PRELOADED")
    checks.equal("has a preloader", got is not None, number("1.21") <= number(release))
    if got:
        checks.equal("what it opens", got[1], [row[2] for row in table
                                               if row[1] == got[0]])


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
