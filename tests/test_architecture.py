"""The folders are the physics: imports point one way, and the physics imports no pictures."""

import ast
import importlib
import logging
import sys
from pathlib import Path

import pytest

import lissom

SOURCE = Path(lissom.__file__).parent
COMPILER = SOURCE.parent / "jaxnative"
ORDER = (
    "algebra",
    "files",
    "imports",
    "describe",
    "bodies",
    "kinematics",
    "dynamics",
    "solve",
    "analyse",
    "control",
    "robots",
    "show",
    "runs",
    "studies",
    "verbs",
    "bench",
    "studio",
    "commands",
)
PHYSICS = ("algebra", "bodies", "kinematics", "dynamics", "solve", "analyse", "control")
ALLOWED = {
    "jax",
    "typing_extensions",
    "jaxnative",
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
    "copy",
    "collections",
    "functools",
    "inspect",
    "itertools",
    "math",
    "typing",
    "types",
    "dataclasses",
    "json",
    "dis",
    "logging",
    "time",
    "warnings",
}
READING = {
    "pathlib",
    "re",
    "importlib",
    "warnings",
    "h5py",
    "contextlib",
    "subprocess",
    "sys",
    "tempfile",
}  # what the readers of finite-element files need beside that
# Runs as a process of its own, with gmsh inside.
WORKER = {"gmsh", "os", "resource", "threading"}
READERS = SOURCE / "bodies" / "fe"
FILES = sorted(SOURCE.glob("*/**/*.py"))


def imported_by(file: Path) -> list[tuple[str, ...]]:
    """Every imported module as a path of names, relative and lazy ones too; a name from a module ends the path."""
    package = ("lissom", *file.relative_to(SOURCE).parts[:-1])
    found = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found += [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = (*base, *(node.module or "").split(".")) if node.module else base
            found += [(*module, alias.name) for alias in node.names]
    return found


def modules_imported_by(file: Path) -> set[Path]:
    """Files of this package that a file imports, wherever in it the import stands."""
    files = set()
    for name in imported_by(file):
        if name[0] != "lissom":
            continue
        # The longest part of the path that is a file: what follows is a name inside it.
        for length in range(len(name), 1, -1):
            target = SOURCE.joinpath(*name[1:length])
            if target.with_suffix(".py").is_file():
                files.add(target.with_suffix(".py"))
                break
            if (target / "__init__.py").is_file():
                files.add(target / "__init__.py")
                break
    return files - {file}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_imports_point_upstream(file):
    here = ORDER.index(file.relative_to(SOURCE).parts[0])
    names = [name for name in imported_by(file) if name[0] == "lissom"]
    folders = {name[1] for name in names if len(name) > 1} & set(ORDER)
    assert all(ORDER.index(folder) <= here for folder in folders), folders


def test_no_two_files_import_each_other():
    """No circle of imports, however long, lazy ones included."""
    imports = {file: modules_imported_by(file) for file in SOURCE.rglob("*.py")}
    # The front door names everything, and nothing in the package may depend on what it names.
    imports.pop(SOURCE / "__init__.py")
    finished: set[Path] = set()

    def follow(file: Path, way: tuple[Path, ...]) -> None:
        names = [str(step.relative_to(SOURCE)) for step in (*way, file)]
        assert file not in way, " -> ".join(names)
        if file in finished:
            return
        for target in imports.get(file, ()):
            follow(target, (*way, file))
        finished.add(file)

    for file in imports:
        follow(file, ())


def test_modules_free_to_all_import_nothing_of_the_package():
    for file in SOURCE.glob("*.py"):
        if file.name != "__init__.py":
            assert not [name for name in imported_by(file) if name[0] == "lissom"]


# Solvers of the optimisation problems that controllers pose, each imported in the one module that needs it.
# Optional packages are looked for by name.
OPTIMISERS = {"control": {"daqp", "ruckig", "toppra", "cvxpy", "importlib"}}


@pytest.mark.parametrize("folder", PHYSICS)
def test_physics_imports_mathematics_only(folder):
    files = [
        file
        for file in (SOURCE / folder).glob("**/*.py")
        if READERS not in file.parents
    ]
    names = {name[0] for file in files for name in imported_by(file)}
    allowed = ALLOWED | STANDARD | OPTIMISERS.get(folder, set()) | {"lissom"}
    assert names <= allowed, names - allowed


def test_readers_import_mathematics_and_files_only():
    names = {name[0] for file in READERS.glob("*.py") for name in imported_by(file)}
    names -= WORKER
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


def test_the_compiler_is_a_package_of_its_own():
    """It imports nothing of this package, and what it needs is little."""
    names = {
        name.partition(".")[0]
        for file in COMPILER.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        for name in absolute_imports(node)
    }
    needed = {"equinox", "jax", "jaxtyping", "llvmlite", "numpy"}
    assert names - set(sys.stdlib_module_names) == needed


def absolute_imports(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [node.module or ""]
    return []


@pytest.mark.parametrize(
    "old, new", [("compiled", "compiling"), ("marks", "in_all_lanes")]
)
def test_old_names_of_the_compiler_are_the_new_ones(old, new, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("lissom.native")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.warns(DeprecationWarning, match="jaxnative"):
        module = importlib.import_module(f"lissom.native.{old}")
    same = importlib.import_module(f"jaxnative.{old}")
    assert getattr(module, new) is getattr(same, new)


def test_notes_of_the_compiler_are_heard_under_the_name_that_pages_say(caplog):
    caplog.set_level("INFO", "lissom.native")
    logging.getLogger("jaxnative").info("heard")
    assert caplog.messages == ["heard"]


def test_every_class_has_a_name_of_its_own():
    """One name, one class: a reader who meets it anywhere knows which one is meant."""
    homes: dict[str, list[str]] = {}
    for package in (SOURCE, COMPILER):
        for file in sorted(package.rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.ClassDef):
                    home = str(file.relative_to(package.parent))
                    homes.setdefault(node.name, []).append(home)
    assert not {name: files for name, files in homes.items() if len(files) > 1}
