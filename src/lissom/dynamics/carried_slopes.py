"""Slopes of stiffened links that small displacements carry and turn: what loops and trees of the ERLS are made of.

The equivalent rigid-link system (ERLS) carries a link at its inner node, which the links before it, and the joints that
give way in a loop, displace and turn by small angles. Shortening by bending is counted from the axes of the ERLS: a
link that is pinned at both ends is shortened by its slopes against the line between the pins, whatever its inner node
does. The rotations of the inner nodes are those of first order, so that nothing has to be iterated.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from ..types import Float
from .elastic import coordinates_with_squares, link_coordinates, own_slopes, squares_of
from .links import Links


class CarriedSlopes(eqx.Module):
    """Slopes of the axes of all links against the equivalent rigid-link system (ERLS), with their derivatives.

    A link that is turned by phi as a whole leans by phi x t beside the slopes of its own bending. Its points come
    nearer to the joint by the squares of both together.
    """

    value: Float[Array, "l p k"]
    rate: Float[Array, "l p k"]
    acceleration: Float[Array, "l p k"]

    @property
    def squares(self) -> tuple[Float[Array, "l p"], ...]:
        """Squared slopes, their rates and accelerations."""
        return squares_of((self.value, self.rate, self.acceleration))


def carried_slopes(
    links: Links,
    eta: tuple[Float[Array, "l s"], ...],
    phi: tuple[Float[Array, "l 3"], ...],
) -> CarriedSlopes:
    """Slopes from elastic coordinates and rotations of the inner nodes, each with rates and accelerations."""
    assert links.slopes is not None
    m = links.slopes.shape[-1]
    parts = []
    for own, turned in zip(eta, phi, strict=True):
        lean = jnp.einsum("lpka,la->lpk", links.leans, turned)
        parts.append(own_slopes(links, own[:, :m]) + lean)
    return CarriedSlopes(*parts)


def linear_motion(
    links: Links, *eta: Float[Array, " d"]
) -> tuple[Float[Array, "l s"], ...]:
    """Elastic coordinates of every link without what their squared slopes do: zeros in the places of these."""
    parts = [link_coordinates(links, part) for part in eta]
    points = 0 if links.slopes is None else links.slopes.shape[1]
    return tuple(jnp.pad(part, ((0, 0), (0, points))) for part in parts)


def with_slopes(
    links: Links, linear: tuple[Float[Array, "l s"], ...], slopes: CarriedSlopes
) -> tuple[Float[Array, "l s"], ...]:
    """Coordinates of the links with their squared slopes in place."""
    assert links.slopes is not None
    m = links.slopes.shape[-1]
    parts = [part[:, :m] for part in linear]
    return coordinates_with_squares(parts, slopes.squares)


def with_squared_slopes(
    links: Links, linear: Float[Array, "l s"], phi: Float[Array, "l 3"]
) -> Float[Array, "l s"]:
    """`with_slopes` of a place alone."""
    none, still = jnp.zeros_like(linear), jnp.zeros_like(phi)
    parts = (linear, none, none)
    slopes = carried_slopes(links, parts, (phi, still, still))
    return with_slopes(links, parts, slopes)[0]


def forces_on_slopes(
    links: Links, slopes: CarriedSlopes, on_links: Float[Array, "l s"]
) -> tuple[Float[Array, "l 3"], Float[Array, "l m"]]:
    """Forces on the rotations of the inner nodes, and on the elastic coordinates, from those on all coordinates."""
    assert links.slopes is not None
    m = links.slopes.shape[-1]
    on_slope = 2.0 * slopes.value * on_links[:, m:, None]
    on_phi = jnp.einsum("lpka,lpk->la", links.leans, on_slope)
    along = jnp.einsum("lpkm,lpk->lm", links.slopes, on_slope)
    return on_phi, on_links[:, :m] + along
