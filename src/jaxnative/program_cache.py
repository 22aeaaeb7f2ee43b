"""Whole programs on disk: a structure that was seen before is neither traced nor translated again."""

import pickle
import sys
from typing import Any, NamedTuple

import jax
import numpy as np

from . import code_cache
from .clients import client_folders, known_packages
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
KNOWN = {"jaxnative", "builtins", "jax", "jaxlib", "numpy", "equinox"}


def key_of(*facts: Any) -> str | None:
    """Name of a program by all that it depends on, functions by their names; None if that cannot be told."""
    packages = _packages_in(facts)
    # A class of the user's, such as a law, may have the same name and other code in the next process.
    if not packages <= KNOWN | known_packages():
        return None
    text = "\n".join(map(_text_of, facts))
    # Something without a name of its own, such as a user's function, is another one in the next process.
    if " at 0x" in text:
        return None
    versions = [
        _version_of(package) for package in sorted(packages | {"jax", "equinox"})
    ]
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


def patterns(key: str | None) -> list[Known]:
    """Zeros and ones that the kept programs of a structure take for granted, the last made last."""
    data = None if key is None else code_cache.find(_pattern_key(key), counts=False)
    try:
        kept = [] if data is None else pickle.loads(data)
    except Exception:
        return []
    return [_in_type(known, np.int64) for known in kept]


def keep_pattern(key: str | None, known: Known) -> None:
    """Keeps what a program of a structure takes for granted, so that the next process can look for the program."""
    if key is None:
        return
    # Two processes at once may lose a pattern, which then costs its program another translation.
    kept = [*patterns(key), known][-MOST_PATTERNS:]
    small = [_in_type(known, np.int8) for known in kept]
    code_cache.keep(_pattern_key(key), pickle.dumps(small))


def _in_type(known: Known, dtype: Any) -> Known:
    return tuple(None if part is None else part.astype(dtype) for part in known)


def _pattern_key(key: str) -> str:
    return f"{key}-patterns"


def program_key(key: str | None, digest: str) -> str | None:
    """Name of the program of a structure with a pattern of zeros and ones."""
    return None if key is None else f"{key}-{digest[:32]}"


def find(key: str | None) -> Recipe | None:
    """A program that was kept, with its code in this process; None if anything of it is missing."""
    data = None if key is None else code_cache.find(key, counts=False)
    if data is None:
        return None
    try:
        recipe = pickle.loads(data)
    except Exception:
        # Kept by another version of something: it is made anew.
        return None
    return recipe if load_pieces(recipe.pieces) else None


def keep(key: str | None, recipe: Recipe) -> None:
    """Keeps a program for the next process, if it can be written down."""
    if key is None or code_cache.folder() is None:
        return
    try:
        data = pickle.dumps(recipe)
        pickle.loads(data)
    except Exception:
        return
    code_cache.keep(key, data)
