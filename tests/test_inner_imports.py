"""Imports stand at the top of a file, but for what CONTRIBUTING lists with its reason."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"
PAGE = SOURCE.parent / "CONTRIBUTING.md"


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


def listed(room: str = "") -> set[str]:
    """Modules in the first column of the table: those of all rooms, and those of one."""
    text = PAGE.read_text(encoding="utf-8")
    section = text.partition("### Imports inside functions")[2].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line[:1] == "|"]
    names = set()
    for cell in cells:
        inside = re.match(r" in `(\w+)`:", cell)
        if inside is None or inside[1] == room:
            names |= set(re.findall(r"`([\w.]+)`", cell.partition(":")[2] or cell))
    return names


def covering(name: str, modules: set[str]) -> set[str]:
    """The listed modules that an imported name belongs to."""
    return {one for one in modules if f"{name}.".startswith(f"{one}.")}


def room_of(file: Path) -> str:
    """The folder of the package that a file is in."""
    parts = file.relative_to(SOURCE).parts
    return parts[1] if len(parts) > 2 else ""


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_functions_import_only_what_is_slow_or_optional(file):
    modules = listed(room_of(file))
    assert not {name for name in inner_imports(file) if not covering(name, modules)}


@pytest.mark.parametrize("room", ["", "studio"])
def test_every_listed_module_is_imported_inside_some_function(room):
    files = [file for file in FILES if room in ("", room_of(file))]
    names = set().union(*map(inner_imports, files))
    modules = listed(room) - (listed() if room else set())
    assert modules
    assert modules == set().union(*(covering(name, modules) for name in names))
