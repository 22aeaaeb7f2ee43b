"""The reduced link of finite elements: nodes, constants and pictures for the modes that are kept."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...algebra.so3 import CROSS
from ...files.fe_file import symmetric_blocks
from ..body import rigid_shapes
from ..inertia import Inertia
from .coupling import CoupledElements
from .elements import FiniteElements
from .interface import Interface
from .reduce_elements import ReducedModes
from .reduced_link import ReducedLink, SecondOrderShapes
from .slices import CORNERS, Slice, cut_slices

DRAWN = 600  # nodes of the surface that a file keeps for pictures, at most
# Cells along the longest side of a part whose surface is thinned out, finest first.
GRIDS = (256, 181, 128, 90, 64, 45, 32, 22, 16, 11, 8, 4, 2)
COMMUTES = 1e-9  # difference of M A u and A M u, against M u, that counts as rounding


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
    cuts = _slices_between(link, interface, slice_count)
    between = cuts[1:-1]
    names = [f"slice.{k + 1}" for k in range(len(between))]
    middles = [piece.middle for piece in between]
    outline = np.zeros((len(nodes), CORNERS, 3))
    if between:
        outline = np.stack([piece.outline for piece in cuts])
    drawn, triangles = _thin_surface(base)

    points = _with_slices(fe.points[nodes], middles)
    return ReducedLink(
        names=tuple(_with_slices(interface.names, names)),
        points=np.stack(points) - origin,
        shapes=_at_link_nodes(link, nodes, between, np.asarray(modes.clamped)),
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
        second_order=_second_order_shapes(link, nodes, between, result),
    )


def _second_order_shapes(
    link: CoupledElements, nodes: list[int], slices: list[Slice], result: ReducedModes
) -> SecondOrderShapes | None:
    second = result.second_order
    if second is None:
        return None
    motions = np.hstack([np.asarray(result.modes.clamped), second.fields])
    whole = np.asarray(link.expand @ motions)
    origin = link.fe.points[nodes[0]]
    return SecondOrderShapes(
        factors=second.factors,
        leans=second.leans,
        shapes=_at_link_nodes(link, nodes, slices, second.fields),
        inertia=inertia_from_nodes(link.base, origin, whole),
    )


def _at_link_nodes(
    link: CoupledElements, nodes: list[int], slices: list[Slice], motions: np.ndarray
) -> np.ndarray:
    """Displacements (k, 6, ...) of the nodes of the link, from motions over the dofs of its coupled elements."""
    whole = np.asarray(link.expand @ motions)
    of_slices = [piece.motion(link.base, whole) for piece in slices]
    return np.stack(_with_slices(link.fe.at_nodes(motions)[nodes], of_slices))


def _with_slices(of_nodes: Iterable[Any], of_slices: Iterable[Any]) -> list[Any]:
    """Slices lie between the tip, which is the last node, and those before it."""
    *before, tip = of_nodes
    return [*before, *of_slices, tip]


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
    shapes = rigid_shapes(fe.points - origin)
    rigid = fe.at_dofs(np.asarray(shapes))
    N = np.hstack([rigid, elastic])
    M_N = fe.M @ N
    turned = [_turn_nodes(fe, N, A) for A in CROSS]
    weighed = [fe.M @ T for T in turned]
    X = [N.T @ W for W in weighed]
    Y = []
    for A in CROSS:
        twice_turned = [_turn_nodes(fe, T, A) for T in turned]
        Y.append([M_N.T @ T for T in twice_turned])
    Z = []
    for T in turned:
        Z.append([T.T @ W for W in weighed])
    return Inertia(
        mass=N.T @ M_N,
        X=np.array(X),
        Y=symmetric_blocks(np.array(Y)),
        Z=symmetric_blocks(np.array(Z)),
    )


def commutes(fe: FiniteElements) -> bool:
    """True if M = m (x) I3: every pair of nodes is coupled by a multiple of the unit matrix, without rotations."""
    if fe.has_rotations or len(fe.generalised):
        return False
    probe = np.random.default_rng(0).standard_normal((fe.size, 1))
    momentum = fe.M @ probe
    limit = COMMUTES * np.abs(momentum).max()
    for A in CROSS:
        turned_first = fe.M @ _turn_nodes(fe, probe, A)
        turned_last = _turn_nodes(fe, momentum, A)
        difference = np.abs(turned_first - turned_last)
        if difference.max() >= limit:
            return False
    return True


def _turn_nodes(fe: FiniteElements, values: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Every node's translation and rotation turned by A."""
    k = len(fe.points)
    nodal = fe.at_nodes(values).reshape(k, 2, 3, -1)
    turned = np.einsum("ij,ksjc->ksic", A, nodal)
    return fe.at_dofs(turned.reshape(k, 6, -1))


def _thin_surface(fe: FiniteElements) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and triangles of a surface coarse enough for pictures: nodes in one cell of a grid become one."""
    if fe.surface is None or not len(fe.surface):
        none = np.zeros(0, dtype=int)
        return none, none.reshape(0, 3)
    used = np.unique(fe.surface)
    trials = (_merge_in_cells(fe.points[used], cells) for cells in GRIDS)
    few_enough = (trial for trial in trials if len(trial[1]) <= DRAWN)
    of_node, first = next(few_enough)
    where = np.zeros(len(fe.points), dtype=int)
    where[used] = of_node
    corners = where[fe.surface]
    a, b, c = corners.T
    # Triangles that have shrunk to an edge or a point, and those that fell together, are left out.
    corners = corners[(a != b) & (b != c) & (c != a)]
    sorted_corners = np.sort(corners, axis=1)
    _, once = np.unique(sorted_corners, axis=0, return_index=True)
    return used[first], corners[np.sort(once)]


def _merge_in_cells(points: np.ndarray, cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Number of the cell of each point, counting the cells in use, and the first point in each of them."""
    corner = points.min(axis=0)
    box = points.max(axis=0) - corner
    width = box.max() / cells
    key = np.floor((points - corner) / width + 0.5)
    _, first, of_node = np.unique(
        key.astype(int), axis=0, return_index=True, return_inverse=True
    )
    return of_node.reshape(-1), first
