"""From the elastic coordinates of the robot to those of its links, and back for forces."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from .links import Links


def place_elastic(links: Links, eta: Float[Array, " d"]) -> Float[Array, "l m"]:
    """Elastic coordinates of every link, zeros in unused slots; squared slopes after them where links are stiffened."""
    own = _of_links(links, eta)
    if links.slopes is None:
        return own
    squares = jnp.sum(_slopes(links, own) ** 2, axis=2)
    return jnp.concatenate([own, squares], axis=1)


def place_motion(
    links: Links,
    eta: Float[Array, " d"],
    eta_d: Float[Array, " d"],
    eta_dd: Float[Array, " d"],
) -> tuple[Float[Array, "l m"], ...]:
    """`place_elastic` with its first and second time derivative."""
    parts = [_of_links(links, part) for part in (eta, eta_d, eta_dd)]
    if links.slopes is None:
        return tuple(parts)
    a, d, dd = (_slopes(links, part) for part in parts)
    squares = (a * a, 2.0 * a * d, 2.0 * (d * d + a * dd))
    return tuple(
        jnp.concatenate([part, jnp.sum(square, axis=2)], axis=1)
        for part, square in zip(parts, squares, strict=True)
    )


def take_elastic(
    links: Links, eta: Float[Array, " d"], on_eta: Float[Array, "l m"]
) -> Float[Array, " d"]:
    """Transpose of the rates of `place_elastic` at eta: forces on eta from forces on every link's coordinates."""
    count = eta.shape[0]
    if links.slopes is not None:
        m = links.slopes.shape[-1]
        slope = _slopes(links, _of_links(links, eta))
        on_squares = on_eta[:, m:]
        along = jnp.einsum("lpkm,lpk,lp->lm", links.slopes, slope, on_squares)
        on_eta = on_eta[:, :m] + 2.0 * along
    # Unused slots of a link meet in one coordinate past the end, which is dropped.
    return jnp.zeros(count + 1).at[links.place].add(on_eta)[:count]


def behind_inner_node(eta: Float[Array, "l m"]) -> Float[Array, "l c"]:
    """Body coordinates q = (0, eta) of links whose inner node is where the link frame is."""
    return jnp.concatenate([jnp.zeros((eta.shape[0], 6)), eta], axis=1)


def _of_links(links: Links, eta: Float[Array, " d"]) -> Float[Array, "l m"]:
    return jnp.append(eta, 0.0)[links.place]


def _slopes(links: Links, eta: Float[Array, "l m"]) -> Float[Array, "l p 3"]:
    return jnp.einsum("lpkm,lm->lpk", links.slopes, eta)
