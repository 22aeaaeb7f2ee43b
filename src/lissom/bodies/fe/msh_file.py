"""Meshes of gmsh (`.msh`, formats 2.2 and 4.1, text and binary), read here: gmsh itself would run a file as a script.

gmsh takes a file that is no mesh for a script, whatever its name, and a script can run commands. So a mesh is accepted
by its format: `$MeshFormat` comes first, and nothing stands outside of the sections.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .elements import FeError

VERSIONS = ("2.2", "4.1")
HEAD = b"$MeshFormat"
# Sections that gmsh writes; those that are not read here do not describe the shape of a part.
SECTIONS = (
    "MeshFormat",
    "Comments",
    "PhysicalNames",
    "Entities",
    "Nodes",
    "Elements",
    "Periodic",
    "Parametrizations",
    "NodeData",
    "ElementData",
    "ElementNodeData",
    "InterpolationScheme",
)
PARTITIONED = ("PartitionedEntities", "GhostElements")

# gmsh's numbers of the tetrahedra and triangles that are read, of 4 and 10, 3 and 6 nodes
TETRAHEDRA = (4, 11)
TRIANGLES = (2, 9)
# Nodes of gmsh's kinds of elements, needed to step over those that are not used.
# fmt: off
NODES = {
    1: 2, 2: 3, 3: 4, 4: 4, 5: 8, 6: 6, 7: 5, 8: 3, 9: 6, 10: 9, 11: 10, 12: 27, 13: 18, 14: 14, 15: 1, 16: 8,
    17: 20, 18: 15, 19: 13, 20: 9, 21: 10, 22: 12, 23: 15, 24: 15, 25: 21, 26: 4, 27: 5, 28: 6, 29: 20, 30: 35, 31: 56,
}
# fmt: on
SOLIDS = (4, 5, 6, 7, 11, 12, 13, 14, 17, 18, 19, 29, 30, 31)


class Block(NamedTuple):
    """Elements of one kind on one entity of the geometry."""

    kind: int  # gmsh's number
    entity: int
    physical: tuple[int, ...]  # groups that they belong to
    nodes: np.ndarray  # (e, nodes of the kind) numbers of their nodes


class MshFile(NamedTuple):
    """Nodes, elements and named groups of faces of a solid in a `.msh` file."""

    labels: np.ndarray  # (k,) numbers of the nodes
    points: np.ndarray  # (k, 3)
    blocks: tuple[Block, ...]
    names: dict[int, str]  # of the physical groups of faces


def read_msh(path: Path) -> MshFile:
    """The nodes, elements and groups of faces in a `.msh` file; nothing in it is run.

    Raises:
        FeError: the file is a script, is broken, or of another version.
    """
    data = path.read_bytes()
    if not data.startswith(HEAD):
        raise FeError(
            f"{path}: is not a mesh: a .msh file begins with $MeshFormat. gmsh would run this file as a script; "
            "nothing was run. If it is a script that you trust, name it .geo and add --trust-scripts"
        )
    sections = _sections(data, path)
    try:
        return _mesh(sections, path)
    except (ValueError, KeyError, IndexError) as failure:
        if isinstance(failure, FeError):
            raise
        raise FeError(f"{path}: is a broken .msh file: {failure}") from None


def _sections(data: bytes, path: Path) -> dict[str, bytes]:
    """The bytes of each section, between its first and its last line."""
    sections: dict[str, bytes] = {}
    at = 0
    while True:
        at = _next_word(data, at)
        if at == len(data):
            return sections
        line_end = data.find(b"\n", at)
        line = data[at : line_end if line_end >= 0 else len(data)]
        name = line.strip().removeprefix(b"$").decode("ascii", "replace")
        if name in PARTITIONED:
            raise FeError(f"{path}: is a partitioned mesh: save it as one part")
        if not line.startswith(b"$") or name not in SECTIONS:
            raise _not_a_section(data, at, path)
        end = data.find(b"$End" + name.encode(), line_end)
        if end < 0:
            raise FeError(f"{path}: ends within ${name}: the file is truncated")
        # Results may come several times, the mesh itself once.
        sections.setdefault(name, data[line_end + 1 : end])
        at = end + len(b"$End") + len(name)


def _next_word(data: bytes, at: int) -> int:
    while at < len(data) and data[at : at + 1].isspace():
        at += 1
    return at


def _not_a_section(data: bytes, at: int, path: Path) -> FeError:
    line = data.count(b"\n", 0, at) + 1
    shown = data[at : at + 40].partition(b"\n")[0].decode("ascii", "replace")
    if shown.startswith("$"):
        accepted = ", ".join(SECTIONS)
        return FeError(f"{path}:{line}: {shown}: no such section. Accepted: {accepted}")
    return FeError(
        f"{path}:{line}: {shown!r}: nothing may stand outside of the sections of a mesh. gmsh would run it as a "
        "script; nothing was run"
    )


def _mesh(sections: dict[str, bytes], path: Path) -> MshFile:
    first, _, rest = sections["MeshFormat"].partition(b"\n")
    version, coding, width = first.split()
    version = version.decode("ascii", "replace")
    if version not in VERSIONS or coding not in (b"0", b"1") or width != b"8":
        accepted = " or ".join(VERSIONS)
        raise FeError(
            f"{path}: $MeshFormat: {first.decode('ascii', 'replace')}: must be format {accepted}, numbers of "
            "8 bytes. Save it from gmsh as version 4.1"
        )
    for name in ("Nodes", "Elements"):
        if name not in sections:
            raise FeError(f"{path}: holds no ${name}")
    order = None
    if coding == b"1":
        # The number 1 tells in which order the bytes of a number stand.
        order = "<" if rest[:1] == b"\x01" else ">"
    names = _physical_names(sections.get("PhysicalNames", b""))
    if version == "2.2":
        return _mesh_2(sections, order, names)
    return _mesh_4(sections, order, names)


def _physical_names(text: bytes) -> dict[int, str]:
    """Names of groups of faces."""
    names = {}
    lines = text.decode("utf-8", "replace").split("\n")
    for line in lines[1:]:
        parts = line.split(None, 2)
        if len(parts) == 3 and parts[0] == "2":
            names[int(parts[1])] = parts[2].strip().strip('"')
    return names


class _Text:
    """Numbers of a section of text, one after the other."""

    def __init__(self, data: bytes):
        self.values = np.array(data.split(), dtype=float)
        self.at = 0

    def doubles(self, count: int) -> np.ndarray:
        """The next `count` numbers of the section."""
        taken = self.values[self.at : self.at + count]
        if count < 0 or len(taken) < count:
            raise ValueError(f"it ends before {count} numbers that it announces")
        self.at += count
        return taken

    def ints(self, count: int) -> np.ndarray:
        """The next `count` whole numbers of the section."""
        return self.doubles(count).astype(np.int64)

    sizes = ints


class _Binary:
    """Numbers of a binary section."""

    def __init__(self, data: bytes, order: str):
        self.data = data
        self.order = order
        self.at = 0

    def _take(self, code: str, count: int) -> np.ndarray:
        kind = np.dtype(self.order + code)
        end = self.at + count * kind.itemsize
        if count < 0 or end > len(self.data):
            raise ValueError(f"it ends before {count} numbers that it announces")
        taken = np.frombuffer(self.data[self.at : end], dtype=kind)
        self.at = end
        return taken

    def doubles(self, count: int) -> np.ndarray:
        """The next `count` numbers of the section."""
        return self._take("f8", count).astype(float)

    def ints(self, count: int) -> np.ndarray:
        """The next whole numbers of four bytes."""
        return self._take("i4", count).astype(np.int64)

    def sizes(self, count: int) -> np.ndarray:
        """The next whole numbers of eight bytes."""
        return self._take("u8", count).astype(np.int64)


def _numbers(data: bytes, order: str | None) -> Any:
    return _Text(data) if order is None else _Binary(data, order)


# --- format 4.1 ----------------------------------------------------------------------------------------------------


def _mesh_4(
    sections: dict[str, bytes], order: str | None, names: dict[int, str]
) -> MshFile:
    numbers = _numbers(sections["Nodes"], order)
    blocks, *_ = numbers.sizes(4).tolist()
    labels = [np.zeros(0, dtype=np.int64)]
    points = [np.zeros((0, 3))]
    for _ in range(blocks):
        dimension, _, parametric = numbers.ints(3).tolist()
        (count,) = numbers.sizes(1).tolist()
        labels.append(numbers.sizes(count))
        # Nodes on curves and faces may carry their coordinates there as well.
        width = 3 + (dimension if parametric else 0)
        rows = numbers.doubles(count * width)
        points.append(rows.reshape(-1, width)[:, :3])
    physical = _physical_of_faces(sections.get("Entities"), order)
    elements = tuple(_blocks_4(_numbers(sections["Elements"], order), physical))
    return MshFile(np.concatenate(labels), np.concatenate(points), elements, names)


def _blocks_4(numbers: Any, physical: dict[int, tuple[int, ...]]) -> Iterator[Block]:
    blocks, *_ = numbers.sizes(4).tolist()
    for _ in range(blocks):
        _, entity, kind = numbers.ints(3).tolist()
        (count,) = numbers.sizes(1).tolist()
        width = 1 + _node_count(kind)
        rows = numbers.sizes(count * width).reshape(-1, width)
        groups = physical.get(entity, ()) if kind in TRIANGLES else ()
        yield Block(kind, entity, groups, rows[:, 1:])


def _physical_of_faces(
    data: bytes | None, order: str | None
) -> dict[int, tuple[int, ...]]:
    """Groups of each face of the geometry."""
    if data is None:
        return {}
    numbers = _numbers(data, order)
    points, curves, faces, _ = numbers.sizes(4).tolist()
    for _ in range(points):
        _entity(numbers, box=3, bounded=False)
    for _ in range(curves):
        _entity(numbers, box=6, bounded=True)
    return dict(_entity(numbers, box=6, bounded=True) for _ in range(faces))


def _entity(numbers: Any, box: int, bounded: bool) -> tuple[int, tuple[int, ...]]:
    """Number and groups of one entity."""
    (tag,) = numbers.ints(1).tolist()
    numbers.doubles(box)
    (count,) = numbers.sizes(1).tolist()
    groups = tuple(numbers.ints(count).tolist())
    if bounded:
        (count,) = numbers.sizes(1).tolist()
        numbers.ints(count)
    return tag, groups


# --- format 2.2 ----------------------------------------------------------------------------------------------------


def _mesh_2(
    sections: dict[str, bytes], order: str | None, names: dict[int, str]
) -> MshFile:
    counted, _, data = sections["Nodes"].partition(b"\n")
    count = int(counted)
    if order is None:
        rows = _Text(data).doubles(4 * count).reshape(-1, 4)
        labels, points = rows[:, 0].astype(np.int64), rows[:, 1:]
    else:
        kind = np.dtype([("label", order + "i4"), ("point", order + "f8", 3)])
        if len(data) < count * kind.itemsize:
            raise ValueError(f"$Nodes ends before the {count} nodes that it announces")
        table = np.frombuffer(data, dtype=kind, count=count)
        labels, points = table["label"].astype(np.int64), table["point"].astype(float)
    counted, _, data = sections["Elements"].partition(b"\n")
    numbers = _numbers(data, order)
    rows = _rows_2(numbers, int(counted), binary=order is not None)
    return MshFile(labels, points, _group_elements(rows), names)


def _rows_2(numbers: Any, count: int, binary: bool) -> Iterator[tuple[int, np.ndarray]]:
    """Kind, and rows (group, entity, nodes...), of elements that stand together."""
    done = 0
    while done < count:
        if binary:
            kind, run, tags = numbers.ints(3).tolist()
            head = 1
        else:
            _, kind, tags = numbers.ints(3).tolist()
            run, head = 1, 0
        width = head + tags + _node_count(kind)
        if run < 1 or tags < 2:
            raise ValueError("$Elements: an element must name its group and its entity")
        rows = numbers.ints(run * width).reshape(-1, width)
        rows = rows[:, head:]
        if tags > 2:
            # Behind group and entity stand the parts of a partitioned mesh.
            rows = np.hstack([rows[:, :2], rows[:, tags:]])
        yield kind, rows
        done += run


def _group_elements(rows: Iterator[tuple[int, np.ndarray]]) -> tuple[Block, ...]:
    """Elements in blocks of one kind, entity and group; an element in two groups is written twice."""
    by_kind: dict[int, list[np.ndarray]] = {}
    for kind, table in rows:
        by_kind.setdefault(kind, []).append(table)
    blocks = []
    for kind, tables in by_kind.items():
        whole = np.concatenate(tables)
        for group, entity in np.unique(whole[:, :2], axis=0):
            members = (whole[:, 0] == group) & (whole[:, 1] == entity)
            groups = (int(group),) if group else ()
            blocks.append(Block(kind, int(entity), groups, whole[members, 2:]))
    return tuple(blocks)


def _node_count(kind: int) -> int:
    if kind not in NODES:
        raise ValueError(f"$Elements: gmsh's element kind {kind} is not known")
    return NODES[kind]
