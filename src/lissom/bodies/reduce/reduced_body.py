"""A link with few modal coordinates in place of its nodal ones."""

from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from ...types import Real, namespace
from ..body import (
    Body,
    elastic_part,
    in_basis,
    measured_from_inner_node,
    mode_names,
    with_coordinates,
)
from .component_modes import craig_bampton, free_interface
from .free_modes import (
    Excitation,
    FreeModes,
    Truncation,
    free_modes,
    truncate_modes,
)

MODES = 12  # elastic modes of a link where nothing else is said: the 18 of [Vidoni2015], six of them rigid
SPARE = 6  # normal modes beside the interface's own, at least, from which the lowest are kept
HELD = range(6)

Method = Literal["craig-bampton", "guyan", "free-interface", "modal"]


class Reduction(NamedTuple):
    """How a link is reduced.

    Every method first builds a basis and makes it orthonormal; then modes are dropped. [Vidoni2015] exports the twelve
    constraint modes of two interface nodes and six fixed-interface modes (18), and keeps the lowest of these: so does
    `modes` below 12 here, which counts elastic modes only. With `exact_interface` nothing is dropped after the basis is
    made, so that static answers to interface loads stay exact; the basis then has `modes` elastic motions.
    """

    modes: int | None = MODES  # elastic modes kept; None for all, 0 for a rigid link
    method: Method = "craig-bampton"
    # nodes; the inner node, 0, always belongs to it
    interface: tuple[int, ...] = (0, -1)
    # fixed-interface or free modes in the basis; None: as many as `modes` needs
    normal: int | None = None
    below_hz: float | None = None  # keep no mode at or above [Hz]
    # rank by energy; force over the body's coordinates (r, eta)
    excitation: Excitation | None = None
    exact_interface: bool = False


def reduced_body(body: Body, reduction: Reduction | None = None) -> Body:
    """The body with modal coordinates `mode.1`, `mode.2`, ...: displacements stay known at all its nodes and stations.

    Modes are those of the free link, counted from its inner node as the coordinates of every body are. A body that is
    modal already (a link from a finite-element program) keeps its first modes.
    """
    return reduce_body(body, reduction or Reduction())[0]


def reduce_body(body: Body, reduction: Reduction) -> tuple[Body, Truncation | None]:
    """`reduced_body` with the record of what was kept and dropped; None where nothing was chosen."""
    body = measured_from_inner_node(body)
    n = body.coordinates - 6
    if n == 0 or reduction.modes == 0:
        return with_coordinates(body, ()), None
    if is_modal(body):
        every = range(n)
        return with_coordinates(body, every[: reduction.modes]), None
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
    if reduction.exact_interface:
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
    found = []
    for k, name in enumerate(body.names):
        node = int(name.partition(".")[0])
        if node in numbers:
            found.append(k)
    return found


def _basis(
    body: Body, M: Float[Real, "c c"], reduction: Reduction
) -> Float[Real, "c k"] | None:
    """Elastic motions of the body, measured from its inner node, that its modes are made of; None for all."""
    boundary = interface_coordinates(body, reduction.interface)
    K = body.stiffness
    n = body.coordinates - 6
    if reduction.method == "modal":
        return None
    if reduction.method == "free-interface":
        loaded = [6 + k for k in boundary]
        loads = np.array([*HELD, *loaded])
        normal = _normal_modes(reduction, len(loads), n)
        shapes = free_interface(K, M, body.rigid, loads, normal, held=HELD)
        return shapes[:, 6:]
    if reduction.method == "guyan":
        normal = 0
    elif reduction.method == "craig-bampton":
        inside = n - len(boundary)
        normal = _normal_modes(reduction, len(boundary), inside)
    else:
        raise ValueError(
            f"method must be craig-bampton, guyan, free-interface or modal, got {reduction.method!r}"
        )
    W = craig_bampton(elastic_part(K), elastic_part(M), boundary, normal)
    xp = namespace(K, M)
    at_rest = xp.zeros((6, W.shape[1]))
    return xp.vstack([at_rest, W])


def _normal_modes(reduction: Reduction, own: int, available: int) -> int:
    """Normal modes of the basis, beside the `own` motions of the interface."""
    modes = reduction.modes
    if reduction.normal is not None:
        return min(reduction.normal, available)
    if reduction.exact_interface and modes is not None:
        if modes < own:
            raise ValueError(
                f"an exact interface needs at least {own} modes, its own motions; got modes = {modes}"
            )
        return min(modes - own, available)
    # A limit or a ranking chooses among all modes: none may be missing.
    chooses = reduction.below_hz is not None or reduction.excitation is not None
    if modes is None or chooses:
        return available
    return min(max(modes - own, SPARE), available)
