"""Nodes, node sets and faces of an input deck, as Abaqus and CalculiX write it."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from .elements import FeError

# Corner nodes of the faces of solid elements, by number of corners; elements by the start of their type.
TETRAHEDRON = ((0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0))
WEDGE = ((0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (2, 5, 3, 0))
BRICK = (
    (0, 1, 2, 3),
    (4, 7, 6, 5),
    (0, 4, 5, 1),
    (1, 5, 6, 2),
    (2, 6, 7, 3),
    (3, 7, 4, 0),
)
SOLIDS = {
    "C3D4": (4, TETRAHEDRON),
    "C3D6": (6, WEDGE),
    "C3D8": (8, BRICK),
    "C3D10": (10, TETRAHEDRON),
    "C3D15": (15, WEDGE),
    "C3D20": (20, BRICK),
}

Card = tuple[str, dict[str, str], list[list[str]]]


def deck_nodes(path: Path) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Numbers and positions of all nodes, and the node sets by lower-case name as positions in that list.

    Parts and assemblies are not resolved: the deck must be flat, as `*MATRIX GENERATE` and CalculiX number it.
    """
    rows: list[list[float]] = []
    sets: dict[str, list[int]] = {}
    for name, options, lines in cards(path):
        if name == "NODE":
            found = [
                [float(cell) for cell in [*line, "0", "0", "0"][:4]] for line in lines
            ]
            rows += found
            if "NSET" in options:
                sets.setdefault(options["NSET"].lower(), []).extend(
                    int(row[0]) for row in found
                )
        elif name == "NSET":
            sets.setdefault(options.get("NSET", "").lower(), []).extend(
                _numbers(lines, options, sets)
            )
    if not rows:
        raise FeError(f"{path}: holds no *NODE lines")
    table = np.array(rows)
    labels = table[:, 0].astype(int)
    where = {int(label): k for k, label in enumerate(labels)}
    groups = {
        name: np.unique([where[k] for k in nodes if k in where]).astype(int)
        for name, nodes in sets.items()
    }
    return labels, table[:, 1:4], groups


def deck_surface(path: Path, labels: np.ndarray) -> np.ndarray | None:
    """Triangles (t, 3) of the faces that belong to one solid element alone, as positions in `labels`; `None`: none."""
    where = {int(label): k for k, label in enumerate(labels)}
    faces: dict[tuple[int, ...], tuple[int, ...] | None] = {}
    for name, options, lines in cards(path):
        kind = (
            SOLIDS.get(options.get("TYPE", "").upper().rstrip("RHIMT"))
            if name == "ELEMENT"
            else None
        )
        if kind is None:
            continue
        width, sides = kind
        numbers = np.array(
            [int(cell) for line in lines for cell in line if cell]
        ).reshape(-1, 1 + width)[:, 1:]
        for element in numbers:
            for side in sides:
                face = tuple(where[int(element[k])] for k in side)
                key = tuple(sorted(face))
                faces[key] = None if key in faces else face
    outer = [face for face in faces.values() if face is not None]
    triangles = [
        t
        for f in outer
        for t in ([f] if len(f) == 3 else [(f[0], f[1], f[2]), (f[0], f[2], f[3])])
    ]
    return np.array(triangles, dtype=int) if triangles else None


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
        name, options, lines = (
            head.upper(),
            {key.strip().upper(): value.strip() for key, _, value in pairs},
            [],
        )
        if name == "INCLUDE":
            yield from cards(path.parent / options.get("INPUT", ""), depth + 1)
    yield name, options, lines


def _numbers(
    lines: list[list[str]], options: dict[str, str], sets: dict[str, list[int]]
) -> list[int]:
    if "GENERATE" in options:
        spans = [[int(cell) for cell in line] for line in lines]
        return [
            k
            for first, last, *step in spans
            for k in range(first, last + 1, step[0] if step else 1)
        ]
    cells = [cell for line in lines for cell in line if cell]
    return [
        k
        for cell in cells
        for k in ([int(cell)] if cell.isdecimal() else sets.get(cell.lower(), []))
    ]
