#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_preloaders.py CACHE RELEASE...: what ONNX Runtime's preload_dlls opens, by its own source,
against tools/repair/preloaders.def. One file of each wheel is fetched, once."""

import ast
import os
import pathlib
import re
import subprocess
import sys

import watch

sys.path.insert(0, str(watch.ROOT / "tests" / "setup"))
import wheels  # noqa: E402

FILES = ["onnxruntime/__init__.py", "onnxruntime/capi/build_and_package_info.py"]


def rows():
    """(the first release with the function, {cuda: its files}) of the table."""
    source = ("#define PRELOADER(m, f, p, from, to, s) @ (f, from)\n"
              "#define PRELOADED(m, cuda, file) @ (cuda, file)\n"
              '#include "tools/repair/preloaders.def"\n')
    text = subprocess.run([os.environ.get("CC", "cc").split()[0], "-E", "-P", "-I", watch.ROOT, "-"],
                          input=source, check=True, capture_output=True, text=True).stdout
    first, files = None, {}
    for key, value in (ast.literal_eval(" ".join(row.split())) for row in text.split("@")[1:]):
        if isinstance(key, int):
            files.setdefault(key, []).append(value)
        else:
            first = value
    return first, files


def fetched(cache, release):
    directory = pathlib.Path(cache) / "onnxruntime" / release
    if not (directory / FILES[0]).exists():
        _, address = wheels.resolve(f"onnxruntime-gpu=={release}")
        with wheels.open_wheel(address) as wheel:
            for name in set(FILES) & set(wheel.namelist()):
                wheels.extract(wheel, wheel.getinfo(name), str(directory))
    return [(directory / name).read_text() if (directory / name).exists() else "" for name in FILES]


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


def main():
    checks = watch.Checks()
    first, files = rows()
    for release in sys.argv[2:]:
        checks.case = f"onnxruntime-gpu {release}"
        got = opened(*fetched(sys.argv[1], release))
        number = watch.fields(re.match(r"[\d.]+", release)[0])
        checks.equal("has a preloader", got is not None, number >= watch.fields(first))
        if got:
            checks.equal("what it opens", got[1], files.get(got[0]))
    checks.finish()


if __name__ == "__main__":
    main()
