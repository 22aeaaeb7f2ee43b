"""The folders are the physics: imports point one way, and the physics imports no pictures."""

import ast
from pathlib import Path

import pytest

import lissom

SOURCE = Path(lissom.__file__).parent
ORDER = (
    "algebra",
    "describe",
    "bodies",
    "kinematics",
    "dynamics",
    "solve",
    "analyse",
    "control",
    "robots",
    "scenarios",
    "show",
    "services",
    "benchmarks",
    "commands",
)
PHYSICS = ("algebra", "bodies", "kinematics", "dynamics", "solve", "analyse", "control")
ALLOWED = {
    "jax",
    "equinox",
    "jaxtyping",
    "optimistix",
    "diffrax",
    "numpy",
    "scipy",
    "control",
}
STANDARD = {
    "abc",
    "collections",
    "functools",
    "itertools",
    "math",
    "typing",
    "types",
    "dataclasses",
    "json",
}
READING = {
    "pathlib",
    "re",
    "importlib",
    "warnings",
    "h5py",
}  # what the readers of finite-element files need beside that
READERS = SOURCE / "bodies" / "fe"
FILES = sorted(SOURCE.glob("*/**/*.py"))


def imported_by(file: Path) -> list[tuple[str, ...]]:
    """Every imported module as a path of names, relative ones made absolute."""
    package = ("lissom", *file.relative_to(SOURCE).parts[:-1])
    found = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found += [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = (*base, *(node.module or "").split(".")) if node.module else base
            found += (
                [module]
                if len(module) > 1 or not node.level
                else [(*module, alias.name) for alias in node.names]
            )
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_point_upstream(file):
    here = ORDER.index(file.relative_to(SOURCE).parts[0])
    folders = [
        name[1]
        for name in imported_by(file)
        if name[0] == "lissom" and len(name) > 1 and name[1] in ORDER
    ]
    assert all(ORDER.index(folder) <= here for folder in folders), folders


@pytest.mark.parametrize("folder", PHYSICS)
def test_physics_imports_mathematics_only(folder):
    files = [
        file
        for file in (SOURCE / folder).glob("**/*.py")
        if READERS not in file.parents
    ]
    names = {name[0] for file in files for name in imported_by(file)}
    assert names <= ALLOWED | STANDARD | {"lissom"}, names - ALLOWED - STANDARD


def test_readers_import_mathematics_and_files_only():
    names = {name[0] for file in READERS.glob("*.py") for name in imported_by(file)}
    assert names <= ALLOWED | STANDARD | READING | {"lissom"}, (
        names - ALLOWED - STANDARD - READING
    )


def test_every_folder_has_its_place_in_the_order():
    folders = {
        path.name
        for path in SOURCE.iterdir()
        if path.is_dir() and any(path.glob("*.py"))
    }
    assert folders <= set(ORDER)
