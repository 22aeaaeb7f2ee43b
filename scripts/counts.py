"""Counts what is said more than once in the package: `make counts`.

    make counts              today's figures beside those that are kept in scripts/counts.json
    make counts RECORD=1     keep today's figures

Python is read by `ast`, JavaScript by words; nothing is imported or run.
"""

import argparse
import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ROOT / "src"
KEPT = Path(__file__).with_suffix(".json")
# The front half: what stands between a user and a public function.
FRONT = ("commands", "studio", "services", "verbs", "scenarios")
# The state of the tree that the counts are compared with: what stood in the front half then and stands elsewhere now
# is counted with it.
START = "3b789ed3"
PARAMETERS = ("locked", "count", "pose", "formulation")
NAMES = ("Request", "Result", "Question", "Answer")


def modules(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    """Every module below a folder."""
    for path in sorted(folder.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def declarations(tree: ast.Module, name: str) -> Iterator[str]:
    """Functions that take a parameter of this name with a type of their own, and classes that have such a field.

    A parameter whose annotation is a name that says it all (`locked: Locked`) is a use, not a declaration.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            for argument in arguments:
                if argument.arg == name and not _is_shared(argument.annotation, name):
                    yield node.name
        elif isinstance(node, ast.ClassDef):
            for line in node.body:
                if (
                    isinstance(line, ast.AnnAssign)
                    and isinstance(line.target, ast.Name)
                    and line.target.id == name
                    and not _is_shared(line.annotation, name)
                ):
                    yield node.name
        elif (
            isinstance(node, ast.Assign | ast.AnnAssign)
            and node in tree.body
            and _targets(node) == {name.title()}
        ):
            # The one declaration itself.
            yield name.title()


def _is_shared(annotation: ast.expr | None, name: str) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id == name.title()


def _targets(node: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def classes(tree: ast.Module) -> list[ast.ClassDef]:
    """Classes of a module, inner ones too."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


def inner_imports(tree: ast.Module) -> int:
    """Import statements inside functions."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for inside in ast.walk(node):
                if isinstance(inside, ast.Import | ast.ImportFrom):
                    found.add((inside.lineno, inside.col_offset))
    return len(found)


def code_lines(path: Path) -> int:
    """Lines of code: no blanks, comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return len(lines_of_code(text))
    lines = [line.strip() for line in text.splitlines()]
    return sum(bool(line) and not line.startswith(("//", "/*", "*")) for line in lines)


def lines_of_code(text: str) -> set[int]:
    """Numbers of the lines of Python that hold code."""
    docstrings = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                docstrings |= set(range(value.lineno, (value.end_lineno or 0) + 1))
    lines = set()
    thin = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (*thin, tokenize.DEDENT, tokenize.ENDMARKER):
            lines |= set(range(token.start[0], token.end[0] + 1))
    return lines - docstrings


def definitions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """Functions and classes at the top of a module."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node


def moved_out(package: Path) -> int:
    """Lines of functions and classes that stood in the front half at `START` and stand in another room now.

    They are known by their names: what was renamed on the way is not counted, what is new under an old name is.
    """
    rooms = [f"src/lissom/{room}" for room in FRONT]
    old, others = _names_at_start(*rooms), set()
    for room in _git("ls-tree", "--name-only", START, "src/lissom/").split():
        if room not in rooms:
            others |= _names_at_start(room)
    lines = 0
    for path, tree in modules(package):
        if path.relative_to(package).parts[0] in FRONT:
            continue
        code = lines_of_code(path.read_text(encoding="utf-8"))
        for node in definitions(tree):
            if node.name in old - others:
                lines += len(code & set(range(node.lineno, (node.end_lineno or 0) + 1)))
    return lines


def _names_at_start(*places: str) -> set[str]:
    files = _git("ls-tree", "-r", "--name-only", START, *places).split()
    texts = [_git("show", f"{START}:{file}") for file in files if file.endswith(".py")]
    return {node.name for text in texts for node in definitions(ast.parse(text))}


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout


def size_of(*folders: Path, suffixes: tuple[str, ...] = (".py", ".js")) -> int:
    """Lines of Python and of the studio's own scripts below folders."""
    files = [
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix in suffixes and "vendor" not in path.parts
    ]
    return sum(map(code_lines, files))


def figures() -> dict[str, int]:
    """All figures by what they count."""
    trees = list(modules(PACKAGES))
    package = PACKAGES / "lissom"
    found: dict[str, int] = {}
    for name in PARAMETERS:
        count = sum(len(list(declarations(tree, name))) for _, tree in trees)
        found[f"declarations of {name} in Python"] = count
    scripts = sorted((package / "studio").rglob("*.js"))
    scripts = [path for path in scripts if "vendor" not in path.parts]
    found["scripts of the studio that say locked"] = sum(
        bool(re.search(r"\blocked\b", path.read_text(encoding="utf-8")))
        for path in scripts
    )
    every = [node for _, tree in trees for node in classes(tree)]
    bases = [{ast.unparse(base) for base in node.bases} for node in every]
    found["classes"] = len(every)
    found["classes derived from FrozenModel"] = sum("FrozenModel" in b for b in bases)
    own = [
        node
        for path, tree in trees
        if package in path.parents
        for node in classes(tree)
    ]
    found["request, result and question classes"] = sum(map(_is_of_a_door, own))
    names = Counter(node.name for node in every)
    found["class names that occur twice or more"] = sum(n > 1 for n in names.values())
    found["functions called simulate"] = sum(
        isinstance(node, ast.FunctionDef) and node.name == "simulate"
        for _, tree in trees
        for node in tree.body
    )
    found["imports inside functions"] = sum(inner_imports(tree) for _, tree in trees)
    folders = [package / name for name in FRONT]
    found["code lines of the front half"] = size_of(*folders)
    python = size_of(*folders, suffixes=(".py",))
    found["code lines of the front half in Python"] = python
    found["code lines moved out of the front half"] = moved_out(package)
    found["code lines of the whole package"] = size_of(PACKAGES)
    return found


def _is_of_a_door(node: ast.ClassDef) -> bool:
    """Whether a class of the package is a request, a result or a question; the compiler's are none of its doors."""
    names = [node.name, *map(ast.unparse, node.bases)]
    return any(name.endswith(NAMES) or name == "FrozenModel" for name in names)


def main() -> int:
    """Prints the figures beside the kept ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="keep these figures")
    options = parser.parse_args()
    now = figures()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for name, count in now.items():
        print(f"{name:45} {kept.get(name, '-'):>8} {count:>8}")
    if options.record:
        KEPT.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
