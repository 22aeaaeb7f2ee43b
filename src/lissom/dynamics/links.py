"""The bodies of all links stacked, so that one batched product replaces a loop; zeros fill up shorter ones."""

from collections.abc import Sequence

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from ..bodies.body import Body
from ..bodies.inertia import Inertia
from ..kinematics.compatibility import Shapes
from ..types import Real, namespace
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
    stiffness: Float[Real, "l c c"]  # K
    damping: Float[Real, "l c c"]  # internal damping
    alpha: Float[Real, " l"]  # Rayleigh mass coefficient [1/s]
    shapes: Shapes
    # Index of each body coordinate in eta; d where there is none.
    place: Int[np.ndarray, "l m"] = eqx.field(static=False)
    # Of stiffened links, whose q = (r, eta, squared slopes).
    slopes: Float[Real, "l p 3 m"] | None = None
    # Where inertia follows the nodal shortcut of [Vidoni2015].
    nodal: NodalConstants | None = None


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
    pad = [c - body.rigid.shape[0] for body in bodies]
    more = [k - body.points.shape[0] for body in bodies]

    def stacked(arrays, widths):
        xp = namespace(*arrays)
        return xp.stack(
            [
                xp.pad(xp.asarray(array), width)
                for array, width in zip(arrays, widths, strict=True)
            ]
        )

    square = [((0, n), (0, n)) for n in pad]
    o = (0, 0)
    return Links(
        points=stacked([b.points for b in bodies], [((0, m), o) for m in more]),
        node_shape=stacked(
            [b.node_shape for b in bodies],
            [((0, m), o, (0, n)) for m, n in zip(more, pad, strict=True)],
        ),
        mass=stacked([i.mass for i in inertias], square),
        X=stacked(
            [i.X[:, :, 6:] for i in inertias], [(o, (0, n), (0, n)) for n in pad]
        ),
        Y=stacked(
            [i.Y[:, :, :, 6:] for i in inertias], [(o, o, (0, n), (0, n)) for n in pad]
        ),
        Z=stacked(
            [i.Z[:, :, 6:, 6:] for i in inertias], [(o, o, (0, n), (0, n)) for n in pad]
        ),
        stiffness=stacked([b.stiffness for b in bodies], square),
        damping=stacked([b.damping for b in bodies], square),
        alpha=namespace(*[b.alpha for b in bodies])
        .stack([b.alpha for b in bodies])
        .astype(float),
        shapes=Shapes(
            tip=stacked([b.node_shape[-1] for b in bodies], [(o, (0, n)) for n in pad])
        ),
        place=coordinate_places([body.rigid.shape[0] - 6 for body in bodies], c - 6),
        nodal=None
        if cubic is None
        else NodalConstants(stacked(cubic, [(o, o, (0, n), (0, n)) for n in pad])),
    )


def coordinate_places(counts: Sequence[int], slots: int) -> Int[np.ndarray, "l m"]:
    """Where each link's elastic coordinates sit in eta; unused slots point one past the end, at a zero."""
    starts, total = np.cumsum([0, *counts[:-1]]), sum(counts)
    slot = np.arange(slots)
    return np.stack(
        [
            np.where(slot < n, start + slot, total)
            for start, n in zip(starts, counts, strict=True)
        ]
    )
