# SPDX-License-Identifier: Apache-2.0
"""Makes the package whichcudnn-hook, which has no files: what ../../pyproject.toml is for says why."""

import pathlib
import re
import zipfile


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    makefile = pathlib.Path(__file__).resolve().parents[2] / "Makefile"
    version = re.search(r"^VERSION := (.+)$", makefile.read_text(encoding="utf-8"), re.M)[1]
    files = {
        "METADATA": f"Metadata-Version: 2.1\nName: whichcudnn-hook\nVersion: {version}\n"
                    "Summary: The environment of whichcudnn's pre-commit hook; the command is whichcudnn's wheel\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: empty\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    folder = f"whichcudnn_hook-{version}.dist-info"
    files["RECORD"] = "".join(f"{folder}/{name},,\n" for name in (*files, "RECORD"))
    name = f"whichcudnn_hook-{version}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w") as wheel:
        for file, text in files.items():
            wheel.writestr(f"{folder}/{file}", text)
    return name
