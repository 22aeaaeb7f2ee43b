"""A reduced link: what a robot needs of finite elements, in one small file, and the body made of it."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...algebra.so3 import CROSS
from ...describe.fe_file import LINK_FORMAT
from ..body import Body, block_diagonal, rigid_shapes
from ..inertia import Inertia, in_columns
from ..mesh import section_axes
from .array_files import read_arrays
from .coupling import CoupledElements
from .elements import FeError, FiniteElements
from .interface import Interface
from .reduce_elements import ReducedModes
from .slices import CORNERS, Slice, cut_slices

DRAWN = 600  # nodes of the surface that a file keeps for pictures, at most
# Cells along the longest side of a part whose surface is thinned out, finest first.
GRIDS = (256, 181, 128, 90, 64, 45, 32, 22, 16, 11, 8, 4, 2)
COMMUTES = 1e-9  # difference of M A u and A M u, against M u, that counts as rounding


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
    report: dict[str, Any] = field(default_factory=dict)


def reduced_link(
    link: CoupledElements,
    interface: Interface,
    result: ReducedModes,
    report: dict[str, Any] | None = None,
    slice_count: int = 0,
) -> ReducedLink:
    """The reduced link of a coupled part: constants of inertia by sums over its nodes, once and for all.

    Args:
        link: finite elements with their couplings.
        interface: the inner node, the tip, and those named between them.
        result: its modes.
        report: kept in the file of the link.
        slice_count: further nodes between inner node and tip, where a surface is known: each follows the mean motion of
            a slice of the mesh. Named nodes are kept instead where there are some.
    """
    fe, base = link.fe, link.base
    modes = result.modes
    nodes = list(interface.nodes)
    origin = fe.points[nodes[0]]
    full = np.asarray(link.expand @ modes.clamped)
    at_nodes = fe.at_nodes(np.asarray(modes.clamped))[nodes]
    cuts = _slices_between(link, interface, slice_count)
    between = cuts[1:-1]
    names = [f"slice.{k + 1}" for k in range(len(between))]
    points = [piece.middle[None] for piece in between]
    shapes = [piece.motion(base, full)[None] for piece in between]
    outline = np.zeros((len(nodes), CORNERS, 3))
    if between:
        outline = np.stack([piece.outline for piece in cuts])
    drawn, triangles = _thin_surface(base)
    # Slices lie between the tip, which is the last node, and those before it.
    points = [fe.points[nodes[:-1]], *points, fe.points[nodes[-1:]]]
    return ReducedLink(
        names=(*interface.names[:-1], *names, interface.names[-1]),
        points=np.concatenate(points) - origin,
        shapes=np.concatenate([at_nodes[:-1], *shapes, at_nodes[-1:]]),
        outline=outline,
        stiffness=np.diag(modes.omega**2),
        inertia=inertia_from_nodes(base, origin, full),
        frequency_hz=np.asarray(modes.frequency_hz),
        exact=commutes(base),
        surface=base.points[drawn] - origin,
        triangles=triangles,
        surface_shapes=base.at_nodes(full)[drawn, :3],
        source=fe.source,
        report=report or {},
    )


def _slices_between(
    link: CoupledElements, interface: Interface, count: int
) -> list[Slice]:
    """Slices from the inner node to the tip, both included; none where nodes between them are named."""
    if not count or len(interface.nodes) > 2:
        return []
    start, end = link.fe.points[list(interface.nodes)]
    return cut_slices(link.base, start, end, count)


def inertia_from_nodes(
    fe: FiniteElements, origin: np.ndarray, elastic: np.ndarray
) -> Inertia:
    """X_a, Y_ab, Z_ab of [Vidoni2015] App. D over (rigid twist about `origin`, elastic motions): sums over the nodes.

    Every node's translation, and its rotation where it has one, is turned as a vector: M A_a. Where M = m (x) I3, as
    for solid elements, this is the integral of the displacement field itself, since the three components share their
    shape functions: exact. With rotations it is the paper's nodal shortcut.
    """
    rigid = fe.at_dofs(np.asarray(rigid_shapes(fe.points - origin)))
    N = np.concatenate([rigid, elastic], axis=1)
    M_N = fe.M @ N
    turned = [_turn_nodes(fe, N, A) for A in CROSS]
    weighed = [fe.M @ T for T in turned]
    Y = [[M_N.T @ _turn_nodes(fe, T, A) for T in turned] for A in CROSS]
    Z = [[T.T @ W for W in weighed] for T in turned]
    return Inertia(
        mass=N.T @ M_N,
        X=np.stack([N.T @ W for W in weighed]),
        Y=np.array(Y),
        Z=np.array(Z),
    )


def commutes(fe: FiniteElements) -> bool:
    """True if M = m (x) I3: every pair of nodes is coupled by a multiple of the unit matrix, without rotations."""
    if fe.has_rotations or len(fe.generalised):
        return False
    probe = np.random.default_rng(0).standard_normal((fe.size, 1))
    momentum = fe.M @ probe
    for A in CROSS:
        difference = fe.M @ _turn_nodes(fe, probe, A) - _turn_nodes(fe, momentum, A)
        if np.abs(difference).max() >= COMMUTES * np.abs(momentum).max():
            return False
    return True


def fe_link_body(link: ReducedLink, axes: np.ndarray | None = None) -> Body:
    """The body of a reduced link; `axes` are those of its finite elements in the link frame, as columns."""
    R = np.eye(3) if axes is None else np.asarray(axes)
    points = link.points @ R.T
    elastic = block_diagonal(R, R) @ link.shapes
    m = len(link.stiffness)
    elements = tuple((i, i + 1) for i in range(len(points) - 1))
    element_axes = np.zeros((0, 3, 3))
    if elements:
        element_axes = np.stack([_axes(points[i], points[j]) for i, j in elements])
    return Body(
        points=points,
        node_shape=np.concatenate([rigid_shapes(points), elastic], axis=2),
        # All inertia is in the constants: there are no stations.
        station_shape=np.zeros((0, 6, 6 + m)),
        station_rigid=np.zeros((0, 6, 6)),
        station_inertia=np.zeros((0, 6, 6)),
        stiffness=np.pad(link.stiffness, ((6, 0), (6, 0))),
        damping=np.zeros((6 + m, 6 + m)),
        alpha=0.0,
        rigid=np.eye(6 + m)[:, :6],
        axes=element_axes,
        elements=elements,
        names=tuple(f"mode.{i + 1}" for i in range(m)),
        extra_inertia=_over_coordinates(turned_inertia(link.inertia, R)),
    )


def turned_inertia(inertia: Inertia, R: np.ndarray) -> Inertia:
    """The same constants in other axes: the rigid twist and the axes a, b are counted in the new ones."""
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
    twist = np.concatenate([np.eye(6), np.eye(6), np.zeros((6, m))], axis=1)
    modes = np.concatenate([np.zeros((m, 12)), np.eye(m)], axis=1)
    return in_columns(inertia, np.concatenate([twist, modes]))


def _axes(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Axes of a piece of the link, for pictures."""
    length = np.linalg.norm(end - start)
    if length == 0:
        return np.eye(3)
    up = np.array([0.0, 0.0, 1.0])
    return np.asarray(section_axes((end - start) / length, up))


def _turn_nodes(fe: FiniteElements, values: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Every node's translation and rotation turned by A."""
    k = len(fe.points)
    nodal = fe.at_nodes(values).reshape(k, 2, 3, -1)
    turned = np.einsum("ij,ksjc->ksic", A, nodal)
    return fe.at_dofs(turned.reshape(k, 6, -1))


def _thin_surface(fe: FiniteElements) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and triangles of a surface coarse enough for pictures: nodes in one cell of a grid become one."""
    if fe.surface is None or not len(fe.surface):
        return np.zeros(0, dtype=int), np.zeros((0, 3), dtype=int)
    used = np.unique(fe.surface)
    trials = (_merge_in_cells(fe.points[used], cells) for cells in GRIDS)
    of_node, first = next(trial for trial in trials if len(trial[1]) <= DRAWN)
    where = np.zeros(len(fe.points), dtype=int)
    where[used] = of_node
    corners = where[fe.surface]
    a, b, c = corners.T
    # Triangles that have shrunk to an edge or a point, and those that fell together, are left out.
    corners = corners[(a != b) & (b != c) & (c != a)]
    once = np.unique(np.sort(corners, axis=1), axis=0, return_index=True)[1]
    return used[first], corners[np.sort(once)]


def _merge_in_cells(points: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Number of the cell of each point, counting the cells in use, and the first point in each of them."""
    width = np.ptp(points, axis=0).max() / cells
    key = np.floor((points - points.min(axis=0)) / width + 0.5).astype(int)
    _, first, of_node = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return of_node.reshape(-1), first


# --- files -----------------------------------------------------------------------------------------------------------


def save_link(link: ReducedLink, file: Any) -> None:
    """Writes a reduced link as `.npz`, to a path or an open file."""
    I = link.inertia
    np.savez_compressed(
        file,
        lissom_link=LINK_FORMAT,
        names=np.array(link.names),
        points=link.points,
        shapes=link.shapes,
        outline=link.outline,
        stiffness=link.stiffness,
        mass=I.mass,
        X=I.X,
        Y=I.Y,
        Z=I.Z,
        frequency_hz=link.frequency_hz,
        exact=link.exact,
        # Seven digits are enough for pictures.
        surface=link.surface.astype(np.float32),
        triangles=link.triangles.astype(np.int32),
        surface_shapes=link.surface_shapes.astype(np.float32),
        source=link.source,
        report=json.dumps(link.report),
        allow_pickle=False,
    )


def load_link(path: str | Path) -> ReducedLink:
    """The reduced link in an `.npz` file.

    Raises:
        FeError: the file is none, or of a later version.
    """
    arrays = read_arrays(Path(path))
    if "lissom_link" not in arrays:
        raise FeError(f"{path}: is not a reduced link")
    version = int(arrays["lissom_link"])
    if version != LINK_FORMAT:
        raise FeError(
            f"{path}: is of format {version}; this version reads format {LINK_FORMAT}"
        )
    return ReducedLink(
        names=tuple(str(name) for name in arrays["names"]),
        points=arrays["points"],
        shapes=arrays["shapes"],
        outline=arrays["outline"],
        stiffness=arrays["stiffness"],
        inertia=Inertia(arrays["mass"], arrays["X"], arrays["Y"], arrays["Z"]),
        frequency_hz=arrays["frequency_hz"],
        exact=bool(arrays["exact"]),
        surface=arrays["surface"].astype(float),
        triangles=arrays["triangles"].astype(int),
        surface_shapes=arrays["surface_shapes"].astype(float),
        source=str(arrays["source"]),
        report=json.loads(str(arrays["report"])),
    )


def with_modes(link: ReducedLink, count: int) -> ReducedLink:
    """The link with its first modes alone."""
    m = min(count, len(link.stiffness))
    kept = np.eye(len(link.inertia.mass))[:, : 6 + m]
    return replace(
        link,
        shapes=link.shapes[..., :m],
        stiffness=link.stiffness[:m, :m],
        inertia=in_columns(link.inertia, kept),
        frequency_hz=link.frequency_hz[:m],
        surface_shapes=link.surface_shapes[..., :m],
    )
