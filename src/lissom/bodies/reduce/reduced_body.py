"""A link with few modal coordinates in place of its nodal ones."""

from typing import Literal, NamedTuple, get_args

import numpy as np

from ...describe.modes import DEFAULT_MODES
from ...describe.reduction_names import Method, method_name
from ...types import Float, Real, namespace
from ..body import (
    Body,
    elastic_part,
    in_basis,
    measured_from_inner_node,
    mode_names,
    with_kept_coordinates,
)
from .component_modes import craig_bampton, free_interface
from .free_modes import (
    Excitation,
    FreeModes,
    Truncation,
    free_modes,
    truncate_modes,
)
from .lowest_modes import lowest_modes

SPARE = 6  # normal modes beside the interface's own, at least, from which the lowest are kept
HELD = range(6)
# Singular value of the motions of an interface, against the largest, below which two of them are the same.
SAME_MOTION = 1e-9

Ranking = Literal["interface", "free"]
METHODS: tuple[Method, ...] = get_args(Method)
RANKINGS: tuple[Ranking, ...] = ("interface", "free")


class Reduction(NamedTuple):
    """Choices for the reduction of a link.

    A method builds a basis; a ranking says which of its motions are kept:

    - `interface` (default) clamps the inner node and keeps every static deflection of the other interface nodes, so
      that answers to loads there stay exact, then the lowest modes between the held interfaces. Where fewer modes are
      asked for than the interface has motions, the softest of these are kept.
    - `free` keeps the lowest modes of the free link, as [Vidoni2015] does with the twelve constraint modes of two
      interface nodes and six fixed-interface modes (18 with the rigid ones).
    """

    modes: int | None = (
        DEFAULT_MODES  # elastic modes kept; None for all, 0 for a rigid link
    )
    method: Method = "craig-bampton"
    # nodes; the inner node, 0, always belongs to it
    interface: tuple[int, ...] = (0, -1)
    # fixed-interface or free modes in the basis; None: as many as `modes` needs
    normal: int | None = None
    below_hz: float | None = None  # keep no mode at or above [Hz]
    # rank by energy; force over the body's coordinates (r, eta)
    excitation: Excitation | None = None
    # None: `interface`, unless a limit, an excitation or the method looks at free modes
    ranking: Ranking | None = None

    @property
    def keeps_interface(self) -> bool:
        """True if the motions of the interface are kept before all others."""
        if self.ranking is not None:
            return self.ranking == "interface"
        looks_at_free_modes = self.below_hz is not None or self.excitation is not None
        clamps_inner_node = self.method in ("craig-bampton", "guyan")
        return clamps_inner_node and not looks_at_free_modes


def reduced_body(body: Body, reduction: Reduction | None = None) -> Body:
    """The body with modal coordinates `mode.1`, `mode.2`, ...: displacements stay known at all its nodes and stations.

    Modes are those of the free link, counted from its inner node as the coordinates of every body are, [Vidoni2015]
    eq. (2). A body that is modal already (a link from a finite-element program) is reduced once more, within its own
    modes.

    Args:
        body: one link, such as `lissom.bodies.link_body.body_of(robot, 0)`.
        reduction: method, interface and modes; by default Craig-Bampton with the interface exact.

    Returns:
        The body in its new coordinates, the six rigid ones first.

    Raises:
        ValueError: the link has no such node, or no such mode.

    Example:
        >>> import lissom as ls
        >>> from lissom.bodies.link_body import body_of
        >>> body = body_of(ls.Robot.load("simple-pendulum"), 0)
        >>> ls.reduced_body(body, ls.Reduction(modes=3)).names
        ('mode.1', 'mode.2', 'mode.3')
    """
    return reduce_body(body, reduction or Reduction())[0]


def reduce_body(body: Body, reduction: Reduction) -> tuple[Body, Truncation | None]:
    """`reduced_body` with the record of what was kept and dropped; None where nothing was chosen."""
    body = measured_from_inner_node(body)
    n = body.coordinates - 6
    if n == 0 or reduction.modes == 0:
        return with_kept_coordinates(body, ()), None
    if is_modal(body) and (reduction.modes is None or reduction.modes >= n):
        return body, None
    if is_modal(body) and not reduction.keeps_interface:
        assert reduction.modes is not None
        return with_kept_coordinates(body, range(reduction.modes)), None
    modes, record = chosen_modes(body, reduction)
    names = mode_names(len(modes.omega))
    return in_basis(body, modes.clamped, names), record


def is_modal(body: Body) -> bool:
    """True if the coordinates of the body are modes."""
    return all(name.startswith("mode.") for name in body.names)


def chosen_modes(body: Body, reduction: Reduction) -> tuple[FreeModes, Truncation]:
    """Orthonormal modes of a body measured from its inner node, after truncation."""
    K = body.stiffness
    M = body.mass_matrix
    basis = _basis(body, M, reduction)
    modes = free_modes(K, M, body.rigid, HELD, basis)
    if reduction.keeps_interface:
        return truncate_modes(modes)
    return truncate_modes(
        modes, reduction.modes, reduction.below_hz, reduction.excitation
    )


def interface_coordinates(body: Body, nodes: tuple[int, ...]) -> list[int]:
    """Elastic coordinates (numbered from 0) that are displacements of the nodes; the inner node has none."""
    count = len(body.points)
    numbers = set()
    for node in nodes:
        if not -count <= node < count:
            raise ValueError(
                f"interface node {node} is not in the link: its nodes are numbered from 0 to {count - 1}"
            )
        numbers.add(node % count)
    coordinates = []
    for k, name in enumerate(body.names):
        node = int(name.partition(".")[0])
        if node in numbers:
            coordinates.append(k)
    return coordinates


def _basis(
    body: Body, M: Float[Real, "c c"], reduction: Reduction
) -> Float[Real, "c k"] | None:
    """Elastic motions of the body, measured from its inner node, that its modes are made of; None for all."""
    method = method_name(reduction.method)
    if method == "modal":
        return None
    if method == "free-interface":
        return _free_interface_basis(body, M, reduction)
    if method not in METHODS:
        raise ValueError(
            f"method must be {', '.join(METHODS[:-1])} or {METHODS[-1]}, got {reduction.method!r}"
        )
    K = elastic_part(body.stiffness)
    W = _constraint_and_normal_modes(body, K, elastic_part(M), reduction)
    xp = namespace(K, M)
    at_rest = xp.zeros((6, W.shape[1]))
    return xp.vstack([at_rest, W])


def _free_interface_basis(
    body: Body, M: Float[Real, "c c"], reduction: Reduction
) -> Float[Real, "c k"]:
    boundary = interface_coordinates(body, reduction.interface)
    loaded = [6 + k for k in boundary]
    loads = np.array([*HELD, *loaded])
    normal = _normal_modes(reduction, len(loads), body.coordinates - 6)
    shapes = free_interface(body.stiffness, M, body.rigid, loads, normal, held=HELD)
    return shapes[:, 6:]


def _constraint_and_normal_modes(
    body: Body, K: Float[Real, "n n"], M: Float[Real, "n n"], reduction: Reduction
) -> Float[Real, "n k"]:
    """Static deflections of the interface with the inner node clamped, and modes between the held interfaces."""
    if is_modal(body):
        K, M, change, own = _interface_first(
            body, np.asarray(K), np.asarray(M), reduction.interface
        )
        boundary = list(range(own))
    else:
        boundary = interface_coordinates(body, reduction.interface)
        own = len(boundary)
        change = None
    fewer = reduction.keeps_interface and _fewer_than(reduction.modes, own)
    normal = 0
    if reduction.method == "craig-bampton" and not fewer:
        normal = _normal_modes(reduction, own, len(K) - own)
    W = craig_bampton(K, M, boundary, normal)
    if fewer:
        assert reduction.modes is not None
        # Static deflections alone: the softest ones are the lowest modes within their span.
        _, V = lowest_modes(W.T @ K @ W, W.T @ M @ W, reduction.modes)
        W = W @ V
    return W if change is None else change @ W


def _fewer_than(modes: int | None, own: int) -> bool:
    return modes is not None and modes < own


def _interface_first(
    body: Body, K: np.ndarray, M: np.ndarray, nodes: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """A modal body over (motions of its interface, motions that leave it at rest): K, M, the change, how many move.

    The rows of the interface nodes over the modes, T = U S V^T, split the coordinates: V has both kinds.
    """
    count = len(body.points)
    others = sorted({node % count for node in nodes} - {0})
    T = np.asarray(body.node_shape)[others, :, 6:]
    _, S, Vt = np.linalg.svd(T.reshape(-1, len(K)))
    own = int((S > SAME_MOTION * S.max(initial=0.0)).sum())
    V = Vt.T
    return V.T @ K @ V, V.T @ M @ V, V, own


def _normal_modes(reduction: Reduction, own: int, available: int) -> int:
    """Normal modes of the basis, beside the `own` motions of the interface."""
    modes = reduction.modes
    if reduction.normal is not None:
        return min(reduction.normal, available)
    # A limit or a ranking by energy chooses among all modes: none may be missing.
    chooses = reduction.below_hz is not None or reduction.excitation is not None
    if modes is None or chooses:
        return available
    if reduction.keeps_interface:
        return min(max(modes - own, 0), available)
    return min(max(modes - own, SPARE), available)
