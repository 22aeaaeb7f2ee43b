"""Whole programs on disk: a structure that was seen before is neither traced nor translated again."""

import functools
import hashlib
import pickle
from pathlib import Path
from typing import Any, NamedTuple

import jax

from . import code_cache
from .machine_code import Piece, load_pieces


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


def key_of(*facts: Any) -> str | None:
    """Name of a program by all that it depends on; None if that cannot be told from its text."""
    text = "\n".join(map(repr, facts))
    # Something without a name of its own, such as a user's function, is another one in the next process.
    if " at 0x" in text:
        return None
    versions = f"{jax.__version__} {source_digest()}"
    return "program-" + code_cache.key_of(text, versions)


@functools.cache
def source_digest() -> str:
    """What the package's own code is, in one word."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


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
