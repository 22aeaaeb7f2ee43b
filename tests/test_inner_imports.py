"""Imports stand at the top of a file, but for what CONTRIBUTING lists with its reason."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"
PAGE = SOURCE.parent / "CONTRIBUTING.md"
# What a command line computes with is imported when the command runs.
FRONT: set[str] = set()


def inner_imports(file: Path) -> set[str]:
    """Full names of what the functions of a file import."""
    package = file.relative_to(SOURCE).parts[:-1]
    functions = [
        node
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    names = set()
    for node in (inner for function in functions for inner in ast.walk(function)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = (*base, node.module) if node.module else base
            names |= {".".join((*module, alias.name)) for alias in node.names}
    return names


def listed() -> set[str]:
    """Modules in the first column of the table."""
    text = PAGE.read_text(encoding="utf-8")
    section = text.partition("### Imports inside functions")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    return {
        name for row in rows for name in re.findall(r"`([\w.]+)`", row.split("|")[1])
    }


def covering(name: str, modules: set[str]) -> set[str]:
    """The listed modules that an imported name belongs to."""
    return {one for one in modules if f"{name}.".startswith(f"{one}.")}


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_functions_import_only_what_is_slow_or_optional(file):
    room = file.relative_to(SOURCE).parts[1:2]
    if FRONT.isdisjoint(room):
        modules = listed()
        names = inner_imports(file)
        assert not {name for name in names if not covering(name, modules)}


def test_every_listed_module_is_imported_inside_some_function():
    modules, names = listed(), set().union(*map(inner_imports, FILES))
    used = set().union(*(covering(name, modules) for name in names))
    assert modules and modules == used
