"""Whole programs on disk: a structure that was seen before is neither traced nor translated again."""

import functools
import json
import math
import sys
from importlib import metadata
from typing import Any, NamedTuple

import jax
import numpy as np

from . import code_cache, records
from .clients import client_folders, client_libraries, known_packages
from .machine_code import Piece, load_pieces
from .source_digest import source_digest


class Recipe(NamedTuple):
    """What a program needs beside its machine code."""

    name: str  # of its function
    count: int  # of its arguments
    pieces: list[Piece]
    inputs: list[str]  # types
    outputs: list[tuple[tuple[int, ...], str]]  # shapes and types
    result: Any  # with shapes in place of numbers
    # Python functions that it calls, alive as long as the program; with any, it is not written to disk.
    hosts: tuple[Any, ...] = ()
    # Told how many rows its inputs have, it takes any number of them; the shapes are those of one window.
    takes_any_rows: bool = False
    # Results that are found where an input was.
    in_inputs: tuple[tuple[int, int], ...] = ()


# Zeros and ones of each number: 0 or 1 where they are, -1 elsewhere; None for a number that may be anything.
Known = tuple[Any, ...]
MOST_PATTERNS = 8  # of one structure

# Packages whose code is known by their versions; of clients and of this one, every file is read.
KNOWN = frozenset({"jaxnative", "builtins", "jax", "jaxlib", "numpy", "equinox"})


def key_of(*facts: Any) -> str | None:
    """Key of a program by all that it depends on, functions by their names; None if it has none."""
    packages = _packages_in(facts)
    # A class of the user's, such as a law, may have the same name and other code in the next process.
    if not packages <= _packages():
        return None
    text = "\n".join(map(_text_of, facts))
    # Something without a name of its own, such as a user's function, is another one in the next process.
    if " at 0x" in text:
        return None
    versions = [_version_of(one) for one in sorted(packages | {"jax", "equinox"})]
    versions += [installed_version(one) for one in client_libraries()]
    sources = source_digest(client_folders())
    return "program-" + code_cache.key_of(text, f"{versions} {sources}")


def _text_of(fact: Any) -> str:
    is_function = callable(fact) and not isinstance(fact, type)
    return f"{fact.__module__}.{fact.__qualname__}" if is_function else repr(fact)


def _packages_in(structure: Any) -> set[str]:
    """Packages whose classes and functions stand in a structure."""
    if isinstance(structure, jax.tree_util.PyTreeDef):
        node = structure.node_data()
        if node is None:
            return set()
        return _packages_in((*node, *structure.children()))
    if isinstance(structure, tuple | list):
        return set().union(*map(_packages_in, structure))
    if isinstance(structure, dict):
        return _packages_in([*structure.keys(), *structure.values()])
    if not isinstance(structure, type) and not callable(structure):
        structure = type(structure)
    return {_package_of(structure)}


def _package_of(thing: Any) -> str:
    return str(thing.__module__).partition(".")[0]


def _version_of(package: str) -> str:
    return f"{package} {getattr(sys.modules.get(package), '__version__', '')}"


@functools.cache
def installed_version(package: str) -> str:
    """A package with its version, whether it is imported or not."""
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return package


def patterns(key: str | None) -> list[Known]:
    """Zeros and ones that the stored programs of a structure assume, newest last."""
    data = None if key is None else code_cache.find(_pattern_key(key), counts=False)
    try:
        return [] if data is None else _patterns_from(data)
    except ValueError:
        return []


def keep_pattern(key: str | None, known: Known) -> None:
    """Stores the zeros and ones that a program of a structure assumes, by which the next process finds it."""
    if key is None:
        return
    # Two processes at once may lose a pattern, which then costs its program another translation.
    kept = [*patterns(key), known][-MOST_PATTERNS:]
    code_cache.keep(_pattern_key(key), _bytes_of(kept))


def _bytes_of(made: list[Known]) -> bytes:
    """Shapes of the parts of each pattern as a line of JSON, then all numbers in one byte each."""
    shapes = [
        [None if part is None else list(part.shape) for part in known] for known in made
    ]
    parts = [part for known in made for part in known if part is not None]
    numbers = [part.astype(np.int8).tobytes() for part in parts]
    return b"".join([json.dumps(shapes).encode(), b"\n", *numbers])


def _patterns_from(data: bytes) -> list[Known]:
    shapes, _, numbers = data.partition(b"\n")
    rest = np.frombuffer(numbers, dtype=np.int8).astype(np.int64)
    made, begin = [], 0
    for known in json.loads(shapes):
        parts: list[Any] = []
        for shape in known:
            if shape is None:
                parts.append(None)
                continue
            end = begin + math.prod(shape)
            parts.append(rest[begin:end].reshape(shape))
            begin = end
        made.append(tuple(parts))
    return made


def _pattern_key(key: str) -> str:
    return f"{key}-patterns"


def program_key(key: str | None, digest: str) -> str | None:
    """Name of the program of a structure with a pattern of zeros and ones."""
    return None if key is None else f"{key}-{digest[:32]}"


def find(key: str | None) -> Recipe | None:
    """A stored program, its code loaded; None if anything of it is missing."""
    data = None if key is None else code_cache.find(key, counts=False)
    if data is None:
        return None
    try:
        recipe = _recipe_from(data)
    except ValueError:
        # Stored by another version: it is compiled again.
        return None
    return recipe if load_pieces(recipe.pieces) else None


def keep(key: str | None, recipe: Recipe) -> None:
    """Stores a program for the next process, if it can be serialised."""
    if key is None or recipe.hosts or code_cache.folder() is None:
        return
    fields = recipe._replace(pieces=[tuple(piece) for piece in recipe.pieces])
    try:
        text = records.to_text(tuple(fields), _packages())
    except records.NotPlainError:
        return
    code_cache.keep(key, text.encode())


def _recipe_from(data: bytes) -> Recipe:
    fields = records.from_text(data, _packages())
    if len(fields) != len(Recipe._fields):
        raise ValueError("a program of another version")
    recipe = Recipe(*fields)
    return recipe._replace(pieces=[Piece(*piece) for piece in recipe.pieces])


def _packages() -> frozenset[str]:
    return KNOWN | known_packages()
