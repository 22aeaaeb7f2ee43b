"""Shapes of the links of a URDF file, for pictures: meshes and simple solids as triangles in link axes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..files.named_files import OutsideError, named_file
from ..files.triangles import (
    MOST_TRIANGLES,
    Triangles,
    box_triangles,
    cylinder_triangles,
    simplified,
    sphere_triangles,
)
from ..types import Matrix3, Vector3
from .body_tree import Frame, after
from .urdf_file import UrdfLink, UrdfShape

MESHES = (".stl", ".obj", ".dae", ".ply")
MOST_BYTES = 64_000_000  # of a mesh file


class Visual(NamedTuple):
    """One shape of a link: as the file describes it, and where it stands in the link."""

    shape: UrdfShape
    R: Matrix3
    p: Vector3

    @property
    def file(self) -> str | None:
        """Name of the mesh; None of a simple solid."""
        return self.shape.file


class MissingMesh(ValueError):
    """A mesh that cannot be read."""


def visuals_of(link: UrdfLink, place: Frame) -> list[Visual]:
    """The shapes of a link of the file that stands at a place."""
    return [Visual(shape, *after(place, shape.place)) for shape in link.shapes]


def link_surface(visuals: Sequence[Visual], folder: Path) -> Triangles:
    """Few triangles of the shapes of one link, in its axes.

    Raises:
        MissingMesh: a mesh is not found, or cannot be read.
    """
    parts = [_triangles(visual, folder) @ visual.R.T + visual.p for visual in visuals]
    return simplified(np.concatenate(parts))


def _triangles(visual: Visual, folder: Path) -> Triangles:
    shape = visual.shape
    if shape.kind == "box":
        return box_triangles(*shape.sizes)
    if shape.kind == "cylinder":
        return cylinder_triangles(*shape.sizes)
    if shape.kind == "sphere":
        return sphere_triangles(shape.sizes[0])
    assert shape.file is not None
    return _mesh(shape.file, folder) * np.array(shape.sizes)


def _mesh(name: str, folder: Path) -> Triangles:
    try:
        path = named_file(name.removeprefix("file://"), folder)
    except OutsideError as refusal:
        raise MissingMesh(f"{name}: {refusal}") from None
    if not path.is_file():
        raise MissingMesh(f"{name}: no such file ({path})")
    if path.suffix.lower() not in MESHES:
        raise MissingMesh(f"{name}: only {', '.join(MESHES)} are read")
    if path.stat().st_size > MOST_BYTES:
        raise MissingMesh(f"{name}: is larger than {MOST_BYTES / 1e6:g} MB")
    if path.suffix.lower() == ".dae" and b"<!DOCTYPE" in path.read_bytes():
        raise MissingMesh(f"{name}: a document type (<!DOCTYPE) is not accepted")
    import trimesh  # slow to import

    try:
        mesh: Any = trimesh.load(path, force="mesh", process=False)
        triangles = np.asarray(mesh.triangles, dtype=float)
    except Exception as reason:
        # Readers of meshes raise whatever they meet.
        raise MissingMesh(f"{name}: cannot be read: {reason}") from None
    if not len(triangles) or not np.isfinite(triangles).all():
        raise MissingMesh(f"{name}: has no triangles with finite vertices")
    if len(triangles) > MOST_TRIANGLES:
        return simplified(triangles, MOST_TRIANGLES)
    return triangles
