"""A reduced link: what a robot needs of finite elements, in one small file, and the body made of it."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ...describe.fe_file import LINK_FORMAT
from ..body import GENERATORS, Body, block_diagonal, rigid_shapes
from ..inertia import Inertia
from ..mesh import section_axes
from .coupling import Coupled
from .elements import FeError, FiniteElements
from .interface import Interface
from .own import read_arrays
from .reduction import Reduced
from .slices import CORNERS, slices

DRAWN = 600  # nodes of the surface that a file keeps for pictures, at most
TURNS = GENERATORS  # A_a u = e_a x u


@dataclass(frozen=True)
class ReducedLink:
    """A link in the axes of its finite elements, its inner node at the origin; m elastic modes measured from there."""

    names: tuple[
        str, ...
    ]  # of its nodes: inner, ..., tip; slices of the mesh between them
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
    link: Coupled,
    interface: Interface,
    result: Reduced,
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
    fe, modes = link.fe, result.modes
    nodes = list(interface.nodes)
    ends = fe.points[nodes[0]], fe.points[nodes[-1]]
    origin = ends[0]
    full = np.asarray(link.expand @ modes.clamped)
    cut = (
        slices(link.base, *ends, slice_count) if slice_count and len(nodes) == 2 else []
    )
    inner = cut[1:-1] if len(cut) > 2 else []
    shapes = fe.nodal(np.asarray(modes.clamped))[nodes]
    between = [piece.motion(link.base, full)[None] for piece in inner]
    drawn, triangles = _thinned(link.base)
    return ReducedLink(
        names=(
            *interface.names[:-1],
            *(f"slice.{k + 1}" for k in range(len(inner))),
            interface.names[-1],
        ),
        points=np.concatenate(
            [fe.points[nodes[:-1]], *[p.middle[None] for p in inner], ends[1][None]]
        )
        - origin,
        shapes=np.concatenate([shapes[:-1], *between, shapes[-1:]]),
        outline=np.stack([p.outline for p in cut])
        if inner
        else np.zeros((len(nodes), CORNERS, 3)),
        stiffness=np.diag(modes.omega**2),
        inertia=nodal_constants(link.base, origin, full),
        frequency_hz=np.asarray(modes.frequency_hz),
        exact=commutes(link.base),
        surface=link.base.points[drawn] - origin,
        triangles=triangles,
        surface_shapes=link.base.nodal(full)[drawn, :3],
        source=fe.source,
        report=report or {},
    )


def nodal_constants(
    fe: FiniteElements, origin: np.ndarray, elastic: np.ndarray
) -> Inertia:
    """X_a, Y_ab, Z_ab of [Vidoni2015] App. D over (rigid twist about `origin`, elastic motions): sums over the nodes.

    Every node's translation, and its rotation where it has one, is turned as a vector: M A_a. Where M = m (x) I3, as
    for solid elements, this is the integral of the displacement field itself, since the three components share their
    shape functions: exact. With rotations it is the paper's nodal shortcut.
    """
    rigid = fe.gathered(np.asarray(rigid_shapes(fe.points - origin)))
    N = np.concatenate([rigid, elastic], axis=1)
    turned = [_turned(fe, N, A) for A in TURNS]
    weighed, M_N = [fe.M @ T for T in turned], fe.M @ N
    return Inertia(
        mass=N.T @ M_N,
        X=np.stack([N.T @ W for W in weighed]),
        Y=np.stack(
            [np.stack([M_N.T @ _turned(fe, T, A) for T in turned]) for A in TURNS]
        ),
        Z=np.stack([np.stack([T.T @ W for W in weighed]) for T in turned]),
    )


def commutes(fe: FiniteElements) -> bool:
    """True if M = m (x) I3: every pair of nodes is coupled by a multiple of the unit matrix, without rotations."""
    if fe.has_rotations or len(fe.generalised):
        return False
    probe = np.random.default_rng(0).standard_normal((fe.size, 1))
    size = np.abs(fe.M @ probe).max()
    return all(
        np.abs(fe.M @ _turned(fe, probe, A) - _turned(fe, fe.M @ probe, A)).max()
        < 1e-9 * size
        for A in TURNS
    )


def link_body(link: ReducedLink, turn: np.ndarray | None = None) -> Body:
    """The body of a reduced link; `turn` holds the axes of its finite elements in the link frame, as columns."""
    R = np.eye(3) if turn is None else np.asarray(turn)
    both = block_diagonal(R, R)
    points = link.points @ R.T
    k, m = len(points), len(link.stiffness)
    shape = np.concatenate([rigid_shapes(points), both @ link.shapes], axis=2)
    elements = tuple((i, i + 1) for i in range(k - 1))
    return Body(
        points=points,
        node_shape=shape,
        station_shape=np.zeros((0, 6, 6 + m)),
        station_rigid=np.zeros((0, 6, 6)),
        station_inertia=np.zeros((0, 6, 6)),
        stiffness=np.pad(link.stiffness, ((6, 0), (6, 0))),
        damping=np.zeros((6 + m, 6 + m)),
        alpha=0.0,
        rigid=np.eye(6 + m)[:, :6],
        axes=np.stack([_axes(points[i], points[j]) for i, j in elements])
        if elements
        else np.zeros((0, 3, 3)),
        elements=elements,
        names=tuple(f"mode.{i + 1}" for i in range(m)),
        own=_own(turned_inertia(link.inertia, R)),
    )


def turned_inertia(inertia: Inertia, R: np.ndarray) -> Inertia:
    """The same constants in other axes: the rigid twist and the axes a, b are counted in the new ones."""
    m = inertia.mass.shape[0] - 6
    T = np.eye(6 + m)
    T[:6, :6] = block_diagonal(R, R).T
    back = jax.tree.map(lambda A: np.swapaxes(T, -1, -2) @ A @ T, inertia)
    return Inertia(
        mass=back.mass,
        X=np.einsum("ab,bij->aij", R, back.X),
        Y=np.einsum("ac,bd,cdij->abij", R, R, back.Y),
        Z=np.einsum("ac,bd,cdij->abij", R, R, back.Z),
    )


def _own(inertia: Inertia) -> Inertia:
    """Constants over (rigid twist, r, modes): the displacement r of the inner node moves the link as a twist does."""
    m = inertia.mass.shape[0] - 6
    change = np.concatenate([np.concatenate([np.eye(6), np.eye(6), np.zeros((6, m))], axis=1),
                             np.concatenate([np.zeros((m, 12)), np.eye(m)], axis=1)])  # fmt: skip
    return jax.tree.map(lambda A: change.T @ A @ change, inertia)


def _axes(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(end - start)
    return (
        np.asarray(section_axes((end - start) / length, np.array([0.0, 0.0, 1.0])))
        if length > 0
        else np.eye(3)
    )


def _turned(fe: FiniteElements, values: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Every node's translation and rotation turned by A."""
    nodal = fe.nodal(values).reshape(len(fe.points), 2, 3, -1)
    return fe.gathered(
        np.einsum("ij,ksjc->ksic", A, nodal).reshape(len(fe.points), 6, -1)
    )


def _thinned(fe: FiniteElements) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and triangles of a surface coarse enough for pictures: nodes in one cell of a grid become one."""
    if fe.surface is None or not len(fe.surface):
        return np.zeros(0, dtype=int), np.zeros((0, 3), dtype=int)
    used = np.unique(fe.surface)
    trials = (
        _cells(fe.points[used], cells)
        for cells in (256, 181, 128, 90, 64, 45, 32, 22, 16, 11, 8, 4, 2)
    )
    of_node, first = next(trial for trial in trials if len(trial[1]) <= DRAWN)
    where = np.zeros(len(fe.points), dtype=int)
    where[used] = of_node
    corners = where[fe.surface]
    real = (
        (corners[:, 0] != corners[:, 1])
        & (corners[:, 1] != corners[:, 2])
        & (corners[:, 2] != corners[:, 0])
    )
    triangles = np.unique(np.sort(corners[real], axis=1), axis=0, return_index=True)[1]
    return used[first], corners[real][np.sort(triangles)]


def _cells(points: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray]:
    width = np.ptp(points, axis=0).max() / cells
    key = np.floor((points - points.min(axis=0)) / width + 0.5).astype(int)
    _, first, of_node = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return of_node.reshape(-1), first


# --- files -----------------------------------------------------------------------------------------------------------


def save_link(link: ReducedLink, file: Any) -> None:
    """Writes a reduced link as `.npz`, to a path or an open file."""
    I, small = link.inertia, np.float32
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
        surface=link.surface.astype(small),
        triangles=link.triangles.astype(np.int32),
        surface_shapes=link.surface_shapes.astype(small),
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
    if int(arrays["lissom_link"]) != LINK_FORMAT:
        raise FeError(
            f"{path}: is of format {int(arrays['lissom_link'])}; this version reads format {LINK_FORMAT}"
        )
    return ReducedLink(
        names=tuple(str(name) for name in arrays["names"]),
        inertia=Inertia(arrays["mass"], arrays["X"], arrays["Y"], arrays["Z"]),
        exact=bool(arrays["exact"]),
        surface=arrays["surface"].astype(float),
        triangles=arrays["triangles"].astype(int),
        surface_shapes=arrays["surface_shapes"].astype(float),
        source=str(arrays["source"]),
        report=json.loads(str(arrays["report"])),
        **{
            name: arrays[name]
            for name in ("points", "shapes", "outline", "stiffness", "frequency_hz")
        },
    )


def with_modes(link: ReducedLink, count: int) -> ReducedLink:
    """The link with its first modes alone."""
    m = min(count, len(link.stiffness))
    change = np.eye(6 + len(link.stiffness))[:, : 6 + m]
    return replace(
        link,
        shapes=link.shapes[..., :m],
        stiffness=link.stiffness[:m, :m],
        inertia=jax.tree.map(lambda A: change.T @ A @ change, link.inertia),
        frequency_hz=link.frequency_hz[:m],
        surface_shapes=link.surface_shapes[..., :m],
    )
