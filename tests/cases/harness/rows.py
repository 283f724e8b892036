# SPDX-License-Identifier: Apache-2.0
"""The cases: each function of situations/ for the row of values that stands above it, or for several.

    @case("C43")                                one row: its title is the function's name
    def installed_and_in_nobodys_search(w):

    @case("C26-an-interrupted-copy", "empty")   several: each has a title, and values
    @case("C28-a-pointer-instead-of-the-file", "pointer")
    def the_file_is_no_library(w, kind):
"""

import ast
import functools
import importlib.util
import pathlib

SITUATIONS = pathlib.Path(__file__).resolve().parents[1] / "situations"
CASES = {}  # by name: what builds it in a world


def full_name(row, function):
    return row if "-" in row else f"{row}-{function.replace('_', '-')}"


def case(row, *values):
    def keep(function):
        name = full_name(row, function.__name__)
        assert name not in CASES, name
        CASES[name] = lambda world: function(world, *values)
        return function
    return keep


@functools.cache
def cases():
    for path in sorted(SITUATIONS.glob("*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    return CASES


def sources(folder=SITUATIONS):
    """(name, the function's syntax, {parameter: value}) of each row, of these files as they are."""
    for path in sorted(pathlib.Path(folder).glob("*.py")):
        for function in ast.parse(path.read_text()).body:
            if not isinstance(function, ast.FunctionDef):
                continue
            parameters = [argument.arg for argument in function.args.args[1:]]
            for row in function.decorator_list:
                name, *values = map(ast.literal_eval, row.args)
                yield full_name(name, function.name), function, dict(zip(parameters, values))


def told_by(name, function, values):
    """(id of the first finding or "none", other ids) that a case states, with its fault."""
    first, others = None, []
    for node in ast.walk(function):
        does = node.func.attr if isinstance(node, ast.Call) and \
            isinstance(node.func, ast.Attribute) else None
        if does == "finds":
            stated = node.args[0].body if isinstance(node.args[0], ast.IfExp) else node.args[0]
            assert first is None, f"{name}: states two first findings"
            first = (values[stated.id] if isinstance(stated, ast.Name)
                     else ast.literal_eval(stated)) or "none"
        elif does == "leaves":
            others += [ast.literal_eval(argument) for argument in node.args]
    return first, others
