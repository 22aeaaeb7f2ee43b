"""The bodies of all links stacked, so that one batched product serves them all; zeros fill up shorter ones."""

from collections.abc import Sequence

import equinox as eqx
import numpy as np
from jaxtyping import Int

from ..algebra.products import clean_sum
from ..bodies.body import Body
from ..bodies.inertia import Inertia
from ..kinematics.compatibility import Shapes
from ..types import Float, Real, namespace
from .published_modes import NodalConstants


class Links(eqx.Module):
    """Constants of every link in its own frame; l links, k nodes, c body coordinates, e = 6 + c."""

    points: Float[Real, "l k 3"]  # X
    node_shape: Float[Real, "l k 6 c"]  # U
    mass: Float[Real, "l e e"]  # sum N~^T D N~
    # Appendix D of [Vidoni2015], eqs. (83)-(96), as field integrals.
    X: Float[Real, "l 3 e c"]
    Y: Float[Real, "l 3 3 e c"]
    Z: Float[Real, "l 3 3 c c"]
    # Of X and Z, what is symmetric: X_a + X_a^T over q, which rotary inertia alone leaves; X_a over w_b, and Z_ab, of
    # `PAIRS`.
    X_sum: Float[Real, "l 3 c c"]
    X_pairs: Float[Real, "l 6 c"]
    Z_sum: Float[Real, "l 6 c c"]
    stiffness: Float[Real, "l c c"]  # K
    damping: Float[Real, "l c c"]  # internal damping
    alpha: (
        Float[Real, " l"] | None
    )  # Rayleigh mass coefficient [1/s]; None: no link has one
    shapes: Shapes
    # Number of elastic coordinates of each link.
    counts: tuple[int, ...] = eqx.field(static=True)
    # Of stiffened links, whose q = (r, eta, squares): slopes of an axis, or factors of second-order displacements.
    slopes: Float[Real, "l p d m"] | None = None
    # The same for unit rotations of the inner node, of links that small displacements carry.
    leans: Float[Real, "l p d 3"] | None = None
    # Where inertia follows the nodal shortcut of [Vidoni2015].
    nodal: NodalConstants | None = None

    @property
    def place(self) -> Int[np.ndarray, "l m"]:
        """Index of each link's elastic coordinates in eta; d where there is none."""
        return coordinate_places(self.counts)


# Axes (a, b) of Z_sum: Z_aa, and Z_ab + Z_ba; of X_pairs likewise.
PAIRS = np.array([(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)])


def symmetric_parts(
    X: Float[Real, "l 3 e c"], Z: Float[Real, "l 3 3 c c"]
) -> dict[str, Float[Real, "..."]]:
    """X_sum, X_pairs and Z_sum of the links."""
    of_w, of_q = X[:, :, 3:6], X[:, :, 6:]
    return {
        "X_sum": clean_sum(of_q, of_q.swapaxes(2, 3)),
        "X_pairs": _of_pairs(of_w),
        "Z_sum": _of_pairs(Z),
    }


def _of_pairs(parts: Float[Real, "l 3 3 ..."]) -> Float[Real, "l 6 ..."]:
    """Parts for two axes, for each of `PAIRS` the sum of both orders."""
    pairs = [
        parts[:, a, a] if a == b else clean_sum(parts[:, a, b], parts[:, b, a])
        for a, b in PAIRS.tolist()
    ]
    return namespace(parts).stack(pairs, axis=1)


def stack_links(
    bodies: Sequence[Body],
    inertias: Sequence[Inertia],
    cubic: Sequence[Real] | None = None,
) -> Links:
    """Stack bodies of different sizes, measured from their inner nodes; unused slots stay zero.

    Args:
        bodies: of all links.
        inertias: their constants.
        cubic: constants W of the nodal shortcut, where inertia follows it.
    """
    c = max(body.rigid.shape[0] for body in bodies)
    k = max(body.points.shape[0] for body in bodies)
    # How far each body is filled up: with coordinates, and with nodes.
    more_c = [(0, c - body.rigid.shape[0]) for body in bodies]
    more_k = [(0, k - body.points.shape[0]) for body in bodies]
    none = (0, 0)

    def stacked(arrays, widths):
        xp = namespace(*arrays)
        filled = [
            xp.pad(xp.asarray(array), width)
            for array, width in zip(arrays, widths, strict=True)
        ]
        return xp.stack(filled)

    def over_coordinates(arrays, leading: int):
        """Arrays whose last two axes are coordinates, after `leading` others."""
        return stacked(arrays, [(none,) * leading + (n, n) for n in more_c])

    tips = [body.node_shape[-1] for body in bodies]
    nodal = None
    if cubic is not None:
        nodal = NodalConstants(over_coordinates(cubic, 2))
    # Displacements of the inner node are those of the link frame: their rows and columns are left out.
    X = over_coordinates([i.X[:, :, 6:] for i in inertias], 1)
    Z = over_coordinates([i.Z[:, :, 6:, 6:] for i in inertias], 2)
    return Links(
        points=stacked([b.points for b in bodies], [(n, none) for n in more_k]),
        node_shape=stacked(
            [b.node_shape for b in bodies],
            [(m, none, n) for m, n in zip(more_k, more_c, strict=True)],
        ),
        mass=over_coordinates([i.mass for i in inertias], 0),
        X=X,
        Y=over_coordinates([i.Y[:, :, :, 6:] for i in inertias], 2),
        Z=Z,
        **symmetric_parts(X, Z),
        stiffness=over_coordinates([b.stiffness for b in bodies], 0),
        damping=over_coordinates([b.damping for b in bodies], 0),
        alpha=mass_coefficients(bodies),
        shapes=Shapes(tip=stacked(tips, [(none, n) for n in more_c])),
        counts=tuple(body.rigid.shape[0] - 6 for body in bodies),
        nodal=nodal,
    )


def mass_coefficients(bodies: Sequence[Body]) -> Float[Real, " l"] | None:
    """Rayleigh's alpha of every link; None where no link is given one."""
    if all(body.alpha is None for body in bodies):
        return None
    alphas = [0.0 if body.alpha is None else body.alpha for body in bodies]
    return namespace(*alphas).stack(alphas).astype(float)


def coordinate_places(counts: Sequence[int]) -> Int[np.ndarray, "l m"]:
    """Where each link's elastic coordinates sit in eta; unused slots point one past the end, at a zero."""
    total = sum(counts)
    slot = np.arange(max(counts, default=0))
    places = []
    start = 0
    for count in counts:
        places.append(np.where(slot < count, start + slot, total))
        start += count
    return np.stack(places)
