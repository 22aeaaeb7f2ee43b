"""Eigenmodes of a link clamped at its inner node: the smallest set of shapes that knows the link's own vibration."""

import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Float

from ..types import Real, namespace
from .body import Body, in_basis, measured_from_inner_node


def clamped_modes(body: Body, count: int | None = None) -> Body:
    """The body in its own modes, clamped at the inner node, lowest first and mass-normalised.

    Args:
        body: the link, masses and payload included.
        count: number of modes kept; all of them by default, or if there are fewer.
    """
    body = measured_from_inner_node(body)
    shapes = clamped_shapes(body.mass_matrix[6:, 6:], body.stiffness[6:, 6:])[:, :count]
    xp = namespace(body.rigid, shapes)
    elastic = xp.concatenate([xp.zeros((6, shapes.shape[1])), shapes])
    return in_basis(body, elastic, [f"mode.{k + 1}" for k in range(shapes.shape[1])])


def clamped_shapes(mass: Float[Real, "d d"], stiffness: Float[Real, "d d"]) -> Float[Real, "d d"]:
    """Mass-normalised eigenvectors, lowest frequency first."""
    if namespace(mass, stiffness) is np:
        if mass.shape[0] == 0:
            return mass
        return _signed(scipy.linalg.eigh(stiffness, mass)[1], np)
    L = jnp.linalg.cholesky(mass)
    half = jnp.linalg.solve(L, stiffness)
    A = jnp.linalg.solve(L, half.T)
    return _signed(jnp.linalg.solve(L.T, jnp.linalg.eigh(0.5 * (A + A.T))[1]), jnp)


def _signed(shapes, xp):
    """Each shape with its largest entry positive, so that a mode keeps its sign from run to run."""
    largest = xp.take_along_axis(shapes, xp.argmax(xp.abs(shapes), axis=0)[None], axis=0)
    return shapes * xp.sign(largest)
