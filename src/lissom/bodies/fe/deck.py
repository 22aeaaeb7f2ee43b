"""Nodes, node sets and faces of an input deck, as Abaqus and CalculiX write it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .elements import FeError, names_its_file

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
VARIANTS = (
    "RHIMT"  # behind the type: reduced integration, hybrid, improved, modified, thermal
)
INCLUDES = 5  # files that may include each other in a chain
MAX_MEMBERS = 10_000_000  # nodes that one line of a set may name


class Deck(NamedTuple):
    """Contents of an input deck that the readers of matrices use."""

    labels: np.ndarray  # (k,) numbers of the nodes
    points: np.ndarray  # (k, 3)
    sets: dict[str, np.ndarray]  # by lower-case name, as positions in `labels`
    # (t, 3) triangles of the faces that belong to one solid element alone, as positions
    surface: np.ndarray | None


class Card(NamedTuple):
    """One keyword of a deck with its options and data lines."""

    name: str
    options: dict[str, str]
    lines: list[list[str]]


@names_its_file
def read_deck(path: Path) -> Deck:
    """Nodes, node sets and outer faces of a deck.

    Parts and assemblies are not resolved: the deck must be flat, as `*MATRIX GENERATE` and CalculiX number it.
    """
    rows: list[list[float]] = []
    sets: dict[str, list[int]] = {}
    elements: list[Card] = []
    for card in cards(path):
        group = card.options.get("NSET", "").lower()
        if card.name == "NODE":
            nodes = [_node_row(line) for line in card.lines]
            rows += nodes
            if "NSET" in card.options:
                members = sets.setdefault(group, [])
                members += [int(row[0]) for row in nodes]
        elif card.name == "NSET":
            members = sets.setdefault(group, [])
            members += _set_members(card, sets)
        elif card.name == "ELEMENT":
            elements.append(card)
    if not rows:
        raise FeError(f"{path}: holds no *NODE lines")
    table = np.array(rows)
    labels = table[:, 0].astype(int)
    where = {int(label): k for k, label in enumerate(labels)}
    groups = {}
    for name, members in sets.items():
        known = [where[label] for label in members if label in where]
        groups[name] = np.unique(known).astype(int)
    surface = _outer_triangles(elements, where)
    return Deck(labels, table[:, 1:4], groups, surface)


def _node_row(line: list[str]) -> list[float]:
    """Number and three coordinates; those that are left out are zero."""
    cells = [*line, "0", "0", "0"][:4]
    return [float(cell) for cell in cells]


def _outer_triangles(
    elements: list[Card], where: Mapping[int, int]
) -> np.ndarray | None:
    outer: dict[tuple[int, ...], tuple[int, ...] | None] = {}
    for card in elements:
        for face in _faces(card):
            corners = tuple(where[label] for label in face)
            key = tuple(sorted(corners))
            # A face that turns up a second time lies between two elements.
            outer[key] = None if key in outer else corners
    triangles = []
    for face in outer.values():
        if face is not None:
            triangles += _triangles(face)
    return np.array(triangles, dtype=int) if triangles else None


def _faces(card: Card) -> Iterator[tuple[int, ...]]:
    """Numbers of the corner nodes of all faces of the solid elements of a card."""
    kind = card.options.get("TYPE", "").upper()
    kind = kind.rstrip(VARIANTS)
    if kind not in SOLIDS:
        return
    width, sides = SOLIDS[kind]
    # The nodes of one element may fill several lines.
    cells: list[int] = []
    for line in card.lines:
        cells += [int(cell) for cell in line if cell]
    numbers = np.array(cells).reshape(-1, 1 + width)
    for element in numbers[:, 1:]:
        for side in sides:
            yield tuple(int(element[k]) for k in side)


def _triangles(face: tuple[int, ...]) -> list[tuple[int, ...]]:
    """A triangle, or a quadrangle cut in two."""
    if len(face) == 3:
        return [face]
    a, b, c, d = face
    return [(a, b, c), (a, c, d)]


def included_file(path: Path, name: str, folder: Path, depth: int) -> Path:
    """The file that `path` includes by `name`.

    Raises:
        FeError: it lies outside of `folder`, that of the first file, or is not there.
    """
    if depth >= INCLUDES:
        raise FeError(f"{path}: INCLUDE files include each other")
    included = path.parent / name
    if not included.resolve().is_relative_to(folder.resolve()):
        raise FeError(
            f"{path}: INCLUDE {name}: lies outside of the folder {folder}. Only files in it are read: copy it there"
        )
    if not included.is_file():
        raise FeError(f"{path}: INCLUDE {name}: no such file")
    return included


def cards(path: Path, folder: Path | None = None, depth: int = 0) -> Iterator[Card]:
    """Keyword, options and data lines of each card; `*INCLUDE` is followed inside the folder of the first file."""
    folder = path.parent if folder is None else folder
    card = Card("", {}, [])
    text = path.read_text(encoding="utf-8", errors="replace")
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line.startswith("**"):
            continue
        if not line.startswith("*"):
            cells = line.rstrip(",").split(",")
            card.lines.append([cell.strip() for cell in cells])
            continue
        yield card
        card = _keyword(line)
        if card.name == "INCLUDE":
            name = card.options.get("INPUT", "")
            included = included_file(path, name, folder, depth)
            yield from cards(included, folder, depth + 1)
    yield card


def _keyword(line: str) -> Card:
    """The card that a line such as `*NSET, NSET=HUB, GENERATE` begins."""
    name, *rest = line[1:].split(",")
    options = {}
    for cell in rest:
        key, _, value = cell.partition("=")
        if key.strip():
            options[key.strip().upper()] = value.strip()
    return Card(name.strip().upper(), options, [])


def _set_members(card: Card, sets: Mapping[str, list[int]]) -> list[int]:
    """Node numbers of a set: one by one, by the names of other sets, or as ranges (GENERATE)."""
    members: list[int] = []
    if "GENERATE" in card.options:
        for line in card.lines:
            first, last, *rest = [int(cell) for cell in line]
            step = rest[0] if rest else 1
            numbers = range(first, last + 1, step)
            if len(numbers) > MAX_MEMBERS:
                raise FeError(
                    f"*NSET, GENERATE: {first}, {last}, {step}: names more than {MAX_MEMBERS} nodes"
                )
            members += numbers
        return members
    for line in card.lines:
        for cell in line:
            if cell.isdecimal():
                members.append(int(cell))
            elif cell:
                members += sets.get(cell.lower(), [])
    return members
