"""A reduced link: constants of inertia, modes and nodes in one small file, and the body made of it.

Nothing here works on the finite elements themselves, or imports what does: a robot with such a file starts sooner.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...files.fe_file import LINK_FORMAT, read_link_arrays, stored_blocks
from ..body import (
    Body,
    block_diagonal,
    chain_of_elements,
    mode_names,
    rigid_coordinates,
    rigid_shapes,
    with_zero_rigid_part,
)
from ..inertia import Inertia, in_columns
from ..mesh import section_axes
from ..second_order_fields import SecondOrderFields
from .fe_error import as_fe_error


@dataclass(frozen=True)
class SecondOrderShapes:
    """Second-order displacements of a link, the sum of f_p |A_p eta + L_p phi|^2 over p fields."""

    factors: np.ndarray  # (p, d, m) A_p
    leans: np.ndarray  # (p, d, 3) L_p, for a rotation phi of the whole link
    shapes: np.ndarray  # (k, 6, p) f_p at the nodes of the link
    inertia: Inertia  # constants over (rigid twist, m modes, p fields)


@dataclass(frozen=True)
class ReducedLink:
    """A link in the axes of its finite elements, its inner node at the origin; m elastic modes measured from there."""

    # of its nodes: inner, ..., tip; slices of the mesh between them
    names: tuple[str, ...]
    points: np.ndarray  # (k, 3)
    shapes: np.ndarray  # (k, 6, m) displacements of the nodes
    outline: np.ndarray  # (k, CORNERS, 3) of the link around each node, for pictures
    stiffness: np.ndarray  # (m, m)
    inertia: Inertia  # constants over (rigid twist, m modes)
    frequency_hz: np.ndarray  # (m,) of the free link
    exact: bool  # the constants are exact integrals: M = m (x) I3
    surface: np.ndarray  # (s, 3) nodes for pictures
    triangles: np.ndarray  # (t, 3)
    surface_shapes: np.ndarray  # (s, 3, m)
    source: str = ""
    # for geometric stiffening; None where no mesh was known
    second_order: SecondOrderShapes | None = None
    report: dict[str, Any] = field(default_factory=dict)


def fe_link_body(link: ReducedLink, fe_axes: np.ndarray | None = None) -> Body:
    """The body of a reduced link; `fe_axes` are those of its finite elements in the link frame, as columns."""
    R = np.eye(3) if fe_axes is None else fe_axes
    points = link.points @ R.T
    elastic = block_diagonal(R, R) @ link.shapes
    rigid = rigid_shapes(points)
    modes = len(link.stiffness)
    c = 6 + modes
    elements = chain_of_elements(len(points))
    axes = [_axes(points[i], points[j]) for i, j in elements]
    no_stations = np.zeros((0, 6, 6))
    return Body(
        points=points,
        node_shape=np.concatenate([rigid, elastic], axis=2),
        # All inertia is in the constants.
        station_shape=np.zeros((0, 6, c)),
        station_rigid=no_stations,
        station_inertia=no_stations,
        stiffness=with_zero_rigid_part(link.stiffness),
        damping=np.zeros((c, c)),
        alpha=None,
        rigid=rigid_coordinates(c),
        axes=np.array(axes).reshape(-1, 3, 3),
        elements=elements,
        names=mode_names(modes),
        extra_inertia=_over_coordinates(turned_inertia(link.inertia, R)),
        second_order=_second_order_fields(link, R),
    )


def _second_order_fields(link: ReducedLink, R: np.ndarray) -> SecondOrderFields | None:
    """Second-order displacements in the link frame; `R` are the axes of the finite elements there."""
    second = link.second_order
    if second is None:
        return None
    points, rows, _ = second.factors.shape
    # The inner node's displacement r causes no strain.
    at_rest = np.zeros((points, rows, 6))
    return SecondOrderFields(
        factors=np.concatenate([at_rest, second.factors], axis=2),
        leans=second.leans @ R.T,
        nodes=block_diagonal(R, R) @ second.shapes,
        stations=np.zeros((0, 6, points)),
        inertia=_over_coordinates(turned_inertia(second.inertia, R)),
    )


def turned_inertia(inertia: Inertia, R: np.ndarray) -> Inertia:
    """Inertia constants in other axes: the rigid twist and the axes a, b are counted in the new ones."""
    T = np.eye(len(inertia.mass))
    T[:6, :6] = block_diagonal(R, R).T
    new = in_columns(inertia, T)
    return Inertia(
        mass=new.mass,
        X=np.einsum("ab,bij->aij", R, new.X),
        Y=np.einsum("ac,bd,cdij->abij", R, R, new.Y),
        Z=np.einsum("ac,bd,cdij->abij", R, R, new.Z),
    )


def _over_coordinates(inertia: Inertia) -> Inertia:
    """Constants over (rigid twist, r, modes): the displacement r of the inner node moves the link as a twist does."""
    m = len(inertia.mass) - 6
    I6 = np.eye(6)
    zero = np.zeros((6, m))
    twist = np.hstack([I6, I6, zero])
    modes = np.hstack([zero.T, zero.T, np.eye(m)])
    return in_columns(inertia, np.vstack([twist, modes]))


def _axes(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Axes of a piece of the link, for pictures."""
    along = end - start
    length = np.linalg.norm(along)
    if length == 0:
        return np.eye(3)
    up = np.array([0.0, 0.0, 1.0])
    return np.asarray(section_axes(along / length, up))


def save_link(link: ReducedLink, file: Any) -> None:
    """Writes a reduced link as `.npz`, to a path or an open file."""
    inertia = link.inertia
    further = {}
    if link.second_order is not None:
        second = link.second_order
        further["second_order_factors"] = second.factors
        further["second_order_leans"] = second.leans
        further["second_order_shapes"] = second.shapes
        for name, constants in _stored_arrays(second.inertia).items():
            further[f"second_order_{name}"] = constants
    np.savez_compressed(
        file,
        lissom_link=LINK_FORMAT,
        names=np.array(link.names),
        points=link.points,
        shapes=link.shapes,
        outline=link.outline,
        stiffness=link.stiffness,
        **_stored_arrays(inertia),
        frequency_hz=link.frequency_hz,
        exact=link.exact,
        # Seven digits are enough for pictures.
        surface=link.surface.astype(np.float32),
        triangles=link.triangles.astype(np.int32),
        surface_shapes=link.surface_shapes.astype(np.float32),
        source=link.source,
        report=json.dumps(link.report),
        allow_pickle=False,
        **further,
    )


def _stored_arrays(inertia: Inertia) -> dict[str, np.ndarray]:
    """Inertia constants as arrays of a file, by name."""
    return {
        "mass": np.asarray(inertia.mass),
        "X": np.asarray(inertia.X),
        "Y": stored_blocks(np.asarray(inertia.Y)),
        "Z": stored_blocks(np.asarray(inertia.Z)),
    }


@as_fe_error()
def load_link(path: str | Path) -> ReducedLink:
    """The reduced link in an `.npz` file.

    Raises:
        FeError: the file is none, of a later version, or broken; the message names the array.
    """
    arrays = read_link_arrays(Path(path))
    inertia = Inertia(
        mass=arrays["mass"],
        X=arrays["X"],
        Y=arrays["Y"],
        Z=arrays["Z"],
    )
    return ReducedLink(
        names=tuple(arrays["names"].tolist()),
        points=arrays["points"],
        shapes=arrays["shapes"],
        outline=arrays["outline"],
        stiffness=arrays["stiffness"],
        inertia=inertia,
        frequency_hz=arrays["frequency_hz"],
        exact=bool(arrays["exact"]),
        surface=arrays["surface"].astype(float),
        triangles=arrays["triangles"].astype(int),
        surface_shapes=arrays["surface_shapes"].astype(float),
        source=str(arrays["source"]),
        report=json.loads(str(arrays["report"])),
        second_order=_read_second_order(arrays),
    )


def _read_second_order(arrays: Mapping[str, np.ndarray]) -> SecondOrderShapes | None:
    """Second-order displacements, where a file has them: those of 0.1 have none."""
    if "second_order_factors" not in arrays:
        return None
    constants = {
        name: arrays[f"second_order_{name}"] for name in ("mass", "X", "Y", "Z")
    }
    return SecondOrderShapes(
        factors=arrays["second_order_factors"],
        leans=arrays["second_order_leans"],
        shapes=arrays["second_order_shapes"],
        inertia=Inertia(**constants),
    )


def with_modes(link: ReducedLink, count: int) -> ReducedLink:
    """The link with its first modes alone."""
    m = min(count, len(link.stiffness))
    every = np.eye(len(link.inertia.mass))
    columns = every[:, : 6 + m]
    return replace(
        link,
        shapes=link.shapes[..., :m],
        stiffness=link.stiffness[:m, :m],
        inertia=in_columns(link.inertia, columns),
        frequency_hz=link.frequency_hz[:m],
        surface_shapes=link.surface_shapes[..., :m],
        second_order=_second_order_of(link.second_order, m),
    )


def _second_order_of(
    second: SecondOrderShapes | None, m: int
) -> SecondOrderShapes | None:
    """Second-order displacements of the first m modes."""
    if second is None:
        return None
    fields, _, modes = second.factors.shape
    every = np.eye(len(second.inertia.mass))
    columns = [*range(6 + m), *range(6 + modes, 6 + modes + fields)]
    return replace(
        second,
        factors=second.factors[..., :m],
        inertia=in_columns(second.inertia, every[:, columns]),
    )
