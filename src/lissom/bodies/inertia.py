"""The constants of a link's inertia, and how they change with its coordinates."""

import equinox as eqx
import jax

from ..one_thread import in_one_thread
from ..types import Float, Real, namespace

SMALL = 32  # columns: products of fewer stay in one thread anyway


class Inertia(eqx.Module):
    """Constants of one link, m = 6 + c columns: a rigid twist of the link, then its coordinates.

    Letters and equations of [Vidoni2015], Appendix D.
    """

    mass: Float[Real, "m m"]  # sum N~^T D N~
    X: Float[Real, "3 m m"]  # X_a  = sum N~^T D A_a N~, eqs. (84)-(86)
    # Y_ab = sum N~^T D A_a A_b N~, eq. (89): U^T M Omega^T Omega U = -sum w_a w_b Y_ab
    Y: Float[Real, "3 3 m m"]
    Z: Float[Real, "3 3 m m"]  # Z_ab = sum N~^T A_a^T D A_b N~, eqs. (91)-(93)


def add_inertias(one: Inertia, other: Inertia) -> Inertia:
    """Constants of two inertias that move together."""
    return jax.tree.map(lambda a, b: a + b, one, other)


def in_columns(inertia: Inertia, T: Float[Real, "m k"]) -> Inertia:
    """Constants over other columns, N~' = N~ T: T^T A T of each of them."""

    def changed() -> Inertia:
        return jax.tree.map(lambda A: T.T @ A @ T, inertia)

    if len(T) <= SMALL:
        return changed()
    # Links of finite elements: twenty products of matrices of some hundred columns.
    with in_one_thread():
        return changed()


def in_coordinates(inertia: Inertia, change: Float[Real, "c k"]) -> Inertia:
    """The same inertia over new coordinates, q = change q'; the rigid twist stays what it is."""
    xp = namespace(inertia.mass, change)
    c, k = change.shape
    no_coordinates = xp.zeros((6, k))
    no_twist = xp.zeros((c, 6))
    twist = xp.hstack([xp.eye(6), no_coordinates])
    coordinates = xp.hstack([no_twist, change])
    T = xp.vstack([twist, coordinates])
    return in_columns(inertia, T)
