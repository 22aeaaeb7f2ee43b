"""Nodes, node sets and faces of an input deck, as Abaqus and CalculiX write it."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from .elements import FeError

Card = tuple[str, dict[str, str], list[list[str]]]


def deck_nodes(path: Path) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Numbers and positions of all nodes, and the node sets by lower-case name as positions in that list.

    Parts and assemblies are not resolved: the deck must be flat, as `*MATRIX GENERATE` and CalculiX number it.
    """
    rows: list[list[float]] = []
    sets: dict[str, list[int]] = {}
    for name, options, lines in cards(path):
        if name == "NODE":
            found = [[float(cell) for cell in [*line, "0", "0", "0"][:4]] for line in lines]
            rows += found
            if "NSET" in options:
                sets.setdefault(options["NSET"].lower(), []).extend(int(row[0]) for row in found)
        elif name == "NSET":
            sets.setdefault(options.get("NSET", "").lower(), []).extend(_numbers(lines, options, sets))
    if not rows:
        raise FeError(f"{path}: holds no *NODE lines")
    table = np.array(rows)
    labels = table[:, 0].astype(int)
    where = {int(label): k for k, label in enumerate(labels)}
    groups = {name: np.unique([where[k] for k in nodes if k in where]).astype(int) for name, nodes in sets.items()}
    return labels, table[:, 1:4], groups


def cards(path: Path, depth: int = 0) -> Iterator[Card]:
    """Keyword, options and data lines of each card; `*INCLUDE` is followed."""
    if depth > 5:
        raise FeError(f"{path}: *INCLUDE leads in a circle")
    name, options, lines = "", {}, []
    for raw in path.read_text(encoding="utf-8", errors="replace").splitlines():
        line = raw.strip()
        if not line or line.startswith("**"):
            continue
        if not line.startswith("*"):
            lines.append([cell.strip() for cell in line.rstrip(",").split(",")])
            continue
        yield name, options, lines
        head, *rest = [cell.strip() for cell in line[1:].split(",")]
        pairs = [cell.partition("=") for cell in rest if cell]
        name, options, lines = head.upper(), {key.strip().upper(): value.strip() for key, _, value in pairs}, []
        if name == "INCLUDE":
            yield from cards(path.parent / options.get("INPUT", ""), depth + 1)
    yield name, options, lines


def _numbers(lines: list[list[str]], options: dict[str, str], sets: dict[str, list[int]]) -> list[int]:
    if "GENERATE" in options:
        spans = [[int(cell) for cell in line] for line in lines]
        return [k for first, last, *step in spans for k in range(first, last + 1, step[0] if step else 1)]
    cells = [cell for line in lines for cell in line if cell]
    return [k for cell in cells for k in ([int(cell)] if cell.isdecimal() else sets.get(cell.lower(), []))]
