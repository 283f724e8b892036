# SPDX-License-Identifier: Apache-2.0
"""Rows of the project's tables (*.def), as the C preprocessor gives them."""

import ast
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def rows_of_text(text, *macros):
    """The rows of these macros in a table's text, each (macro, value, ...)."""
    source = "".join(f'#define {macro}(...) @ ("{macro}", __VA_ARGS__) @\n' for macro in macros)
    source += '#define RUNPATH "RUNPATH"\n#define RPATH "RPATH"\n'
    compiler = os.environ.get("CC", "cc").split()[0]
    done = subprocess.run([compiler, "-E", "-P", "-x", "c", "-"], input=f"{source}{text}\n",
                          check=True, capture_output=True, text=True)
    return [ast.literal_eval(" ".join(row.split())) for row in done.stdout.split("@")[1::2]]


def rows(table, *macros):
    return rows_of_text((ROOT / table).read_text(encoding="utf-8"), *macros)
