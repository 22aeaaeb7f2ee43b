"""From the elastic coordinates of the robot to those of its links, and back for forces."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int
from typing_extensions import override

from ..kinematics.chain import of_parents, on_parents
from ..kinematics.mechanism import AbstractSeats
from ..types import Float, Real
from .links import Links, coordinate_places


class ElasticSeats(AbstractSeats):
    """Displacements of the points that carry the frames of a chain, from the elastic coordinates of their links."""

    shape: Float[Real, "f 6 s"]  # from the coordinates of each frame's parent
    slopes: Float[Real, "l p k m"] | None
    counts: tuple[int, ...] = eqx.field(static=True)  # of elastic coordinates
    parents: tuple[int, ...] | None = eqx.field(static=True)

    @property
    def place(self) -> Int[np.ndarray, "l m"]:
        """Index of each link's elastic coordinates in eta; d where there is none."""
        return coordinate_places(self.counts)

    @override
    def displaced(self, eta: Float[Array, " d"]) -> Float[Array, "f 6"]:
        return self.of_links(place_elastic(self, eta))

    def of_links(self, placed: Float[Array, "l s"]) -> Float[Array, "f 6"]:
        """From those of every link, or the same of their rates."""
        carried = of_parents(self.parents, placed)
        return jnp.einsum("fdm,fm->fd", jnp.asarray(self.shape), carried)

    def on_links(
        self, on_seats: Float[Array, "f 6"], count: int
    ) -> Float[Array, "l s"]:
        """Transpose of `of_links`: forces on the coordinates of `count` links."""
        carried = jnp.einsum("fdm,fd->fm", jnp.asarray(self.shape), on_seats)
        return on_parents(self.parents, carried, count)


def place_elastic(
    links: Links | ElasticSeats, eta: Float[Array, " d"]
) -> Float[Array, "l s"]:
    """Elastic coordinates of every link, zeros in unused slots; squared slopes after them where links are stiffened."""
    own = link_coordinates(links, eta)
    if links.slopes is None:
        return own
    squares = jnp.sum(own_slopes(links, own) ** 2, axis=2)
    return jnp.concatenate([own, squares], axis=1)


def place_motion(
    links: Links,
    eta: Float[Array, " d"],
    eta_d: Float[Array, " d"],
    eta_dd: Float[Array, " d"],
) -> tuple[Float[Array, "l s"], ...]:
    """`place_elastic` with its first and second time derivative."""
    parts = tuple(link_coordinates(links, part) for part in (eta, eta_d, eta_dd))
    if links.slopes is None:
        return parts
    a, d, dd = (own_slopes(links, part) for part in parts)
    return coordinates_with_squares(parts, squares_of((a, d, dd)))


def squares_of(
    slopes: tuple[Float[Array, "l p k"], ...],
) -> tuple[Float[Array, "l p"], ...]:
    """Squared slopes, their rates and accelerations."""
    a, d, dd = slopes
    squares = (a * a, 2.0 * a * d, 2.0 * (d * d + a * dd))
    return tuple(jnp.sum(square, axis=2) for square in squares)


def coordinates_with_squares(parts, squares) -> tuple[Float[Array, "l m"], ...]:
    """Coordinates of the links, their squared slopes after them; the same of rates and accelerations."""
    return tuple(
        jnp.concatenate(both, axis=1) for both in zip(parts, squares, strict=True)
    )


def take_elastic(
    links: Links, eta: Float[Array, " d"], on_eta: Float[Array, "l s"]
) -> Float[Array, " d"]:
    """Transpose of the rates of `place_elastic` at eta: forces on eta from forces on every link's coordinates."""
    if links.slopes is not None:
        m = links.slopes.shape[-1]
        slope = own_slopes(links, link_coordinates(links, eta))
        on_slope = 2.0 * slope * on_eta[:, m:, None]
        along = jnp.einsum("lpkm,lpk->lm", links.slopes, on_slope)
        on_eta = on_eta[:, :m] + along
    return on_robot(links, eta.shape[0], on_eta)


def behind_inner_node(eta: Float[Array, "l m"]) -> Float[Array, "l c"]:
    """Body coordinates q = (0, eta) of links whose inner node is where the link frame is."""
    return jnp.concatenate([jnp.zeros((eta.shape[0], 6)), eta], axis=1)


def link_coordinates(
    links: Links | ElasticSeats, eta: Float[Array, " d"]
) -> Float[Array, "l m"]:
    """Elastic coordinates of every link, zeros in unused slots."""
    return jnp.append(eta, 0.0)[links.place]


def own_slopes(
    links: Links | ElasticSeats, eta: Float[Array, "l m"]
) -> Float[Array, "l p k"]:
    """Slopes of stiffened links at the points of their axes, from their own coordinates."""
    return jnp.einsum("lpkm,lm->lpk", links.slopes, eta)


def on_robot(
    links: Links, count: int, on_links: Float[Array, "l m"]
) -> Float[Array, " d"]:
    """Transpose of `link_coordinates`: forces on eta."""
    # Unused slots of a link meet in one coordinate past the end, which is dropped.
    return jnp.zeros(count + 1).at[links.place].add(on_links)[:count]
