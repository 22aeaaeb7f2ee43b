"""Surfaces as triangles: STL files, fewer triangles of many, simple solids. For pictures alone."""

from pathlib import Path

import numpy as np

from ..atomic import write_atomically
from ..types import Float
from .array_file import ArrayFileError

# Corners [m] of any number of triangles, so that functions may return fewer than they were given.
Triangles = Float[np.ndarray, "_ 3 3"]

HEADER = 84  # bytes of a binary STL file before its triangles: 80 of any text, and their number
RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
MOST_TRIANGLES = 200_000  # of a file
FEW = 500  # that a picture of a link is drawn with
FINEST, COARSEST = 40, 4  # cells along the longest side of a surface that is simplified
CORNERS = 24  # of a round solid


def read_stl(path: Path) -> Triangles:
    """The triangles of a binary STL file.

    Raises:
        ArrayFileError: it is none.
    """
    size = path.stat().st_size
    count = 0
    if size >= HEADER:
        count = int(np.fromfile(path, "<u4", 1, offset=HEADER - 4)[0])
    if size < HEADER or size != HEADER + count * RECORD.itemsize:
        raise ArrayFileError(path, "", "is not a binary STL file")
    if count > MOST_TRIANGLES:
        message = f"has {count} triangles, at most {MOST_TRIANGLES} are drawn"
        raise ArrayFileError(path, "", message)
    corners = np.fromfile(path, RECORD, count, offset=HEADER)["corners"].astype(float)
    if not np.isfinite(corners).all():
        raise ArrayFileError(path, "", "has vertices that are not numbers")
    return corners


def write_stl(triangles: Triangles, path: Path) -> Path:
    """A binary STL file."""
    records = np.zeros(len(triangles), RECORD)
    records["corners"] = triangles
    count = np.array([len(triangles)], "<u4")
    header = b"lissom: link axes, metres".ljust(80)
    content = header + count.tobytes() + records.tobytes()
    return write_atomically(path, lambda file: file.write(content))


def simplified(triangles: Triangles, most: int = FEW) -> Triangles:
    """The surface with at most so many triangles, about: corners in one cell of a grid become one corner.

    The grid is made coarser until the triangles that are left are few enough.
    """
    for cells in range(FINEST, COARSEST - 1, -2):
        fewer = _clustered(triangles, cells)
        if len(fewer) <= most:
            return fewer
    return _clustered(triangles, COARSEST)


def _clustered(triangles: Triangles, cells: int) -> Triangles:
    corners = triangles.reshape(-1, 3)
    low = corners.min(axis=0)
    side = np.ptp(corners, axis=0).max() / cells or 1.0
    keys = np.floor((corners - low) / side).astype(int)
    _, cell_of = np.unique(keys, axis=0, return_inverse=True)
    cell_of = cell_of.reshape(-1)
    counts = np.bincount(cell_of)
    sums = [np.bincount(cell_of, corners[:, axis]) for axis in range(3)]
    means = np.stack(sums, axis=1) / counts[:, None]
    faces = cell_of.reshape(-1, 3)
    distinct = [faces[:, k] != faces[:, k - 1] for k in range(3)]
    faces = faces[np.logical_and.reduce(distinct)]
    # The same three corners in any order are one triangle.
    _, first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    return means[faces[np.sort(first)]]


# --- simple solids -------------------------------------------------------------------------------------------------


def box_triangles(x: float, y: float, z: float) -> Triangles:
    """A box about the origin."""
    bottom = 0.5 * np.array([[-x, -y, -z], [x, -y, -z], [x, y, -z], [-x, y, -z]])
    return _prism(bottom, z)


def cylinder_triangles(radius: float, length: float) -> Triangles:
    """A cylinder about the origin, along z."""
    angle = 2 * np.pi * np.arange(CORNERS) / CORNERS
    round_ = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    low = np.full((CORNERS, 1), -length / 2)
    return _prism(np.concatenate([round_, low], axis=1), length)


def sphere_triangles(radius: float) -> Triangles:
    """A sphere about the origin."""
    polar = np.linspace(0, np.pi, CORNERS // 2 + 1)
    around = 2 * np.pi * np.arange(CORNERS) / CORNERS
    ring = np.stack([np.cos(around), np.sin(around), np.zeros(CORNERS)], axis=1)
    heights = np.cos(polar)[:, None, None] * np.array([0.0, 0.0, 1.0])
    rings = radius * (np.sin(polar)[:, None, None] * ring + heights)
    return np.concatenate([_band(a, b) for a, b in zip(rings, rings[1:], strict=False)])


def _prism(bottom: Float[np.ndarray, "c 3"], height: float) -> Triangles:
    top = bottom + np.array([0.0, 0.0, height])
    lids = []
    for ring in (bottom, top):
        middle = np.broadcast_to(ring.mean(axis=0), ring.shape)
        lids.append(np.stack([middle, ring, np.roll(ring, -1, axis=0)], axis=1))
    return np.concatenate([_band(bottom, top), *lids])


def _band(low: Float[np.ndarray, "c 3"], high: Float[np.ndarray, "c 3"]) -> Triangles:
    """The surface between two rings of as many corners."""
    next_low, next_high = np.roll(low, -1, axis=0), np.roll(high, -1, axis=0)
    lower = np.stack([low, next_low, high], axis=1)
    upper = np.stack([next_low, next_high, high], axis=1)
    return np.concatenate([lower, upper])
