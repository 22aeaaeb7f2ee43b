"""Constants of a moving link: [Vidoni2015] Appendix D, as integrals of the displacement field or by the nodal shortcut.

With the field N~ = [B | N] over (rigid twist, coordinates), D the inertia at the stations and A_a u = e_a x u acting on
translations and rotations alike, the velocity of the field, in link axes, for y = (V, qd), p = (0, q) and the angular
velocity w is  N~ y + sum_a w_a A_a N~ p.  All that its energy and its virtual work need are the sums below.
"""

from collections.abc import Callable

import numpy as np

from ..algebra.products import clean_product
from ..algebra.so3 import CROSS
from ..types import Float, Real, namespace
from .body import Body, block_diagonal, in_rows
from .inertia import Inertia, add_inertias

# A_a on a displacement (translation, rotation), eq. (83)
TURNS = block_diagonal(CROSS, CROSS)
SQUARES = np.einsum("aij,bjk->abik", TURNS, TURNS)  # A_a A_b


def _square_parts() -> Float[Real, "6 6 6"]:
    """S_1..S_6, eq. (88): Omega^T Omega = sum_t s_t S_t.

    The factors are s = (wy^2 + wz^2, wx^2 + wz^2, wx^2 + wy^2, wx wy, wx wz, wy wz).
    """
    S = np.zeros((6, 3, 3))
    for i in range(3):
        S[i, i, i] = 1.0
    pairs = ((0, 1), (0, 2), (1, 2))
    for t, (i, j) in enumerate(pairs, start=3):
        S[t, i, j] = -1.0
        S[t, j, i] = -1.0
    return block_diagonal(S, S)


PARTS = _square_parts()

Field = Float[Real, "s 6 m"]
Weigh = Callable[[Field], Field]  # inertia times a field


def inertia_integrals(body: Body) -> Inertia:
    """Integrals of the displacement field: the energy is exact. Inertia known only by its constants is added."""
    stations = _inertia(*_station_field(body))
    if body.extra_inertia is None:
        return stations
    return add_inertias(stations, body.extra_inertia)


def nodal_integrals(body: Body) -> Inertia:
    """The nodal shortcut M A_a of [Vidoni2015], every node's displacement turned as a vector.

    Equal to `inertia_integrals` where M commutes with rotations (lumped masses at the nodes); with consistent mass it
    leaks the power w^T M (omega x) w. The body's coordinates must be nodal displacements (c = 6 per node).
    """
    return _inertia(*_nodal_field(body))


def cubic_integrals(body: Body, *, nodal: bool = False) -> Float[Real, "3 6 m m"]:
    """W_rt = N~^T A_r^T M S_t N~, eq. (96); t counts the parts of Omega^T Omega of eq. (88)."""
    xp = namespace(body)
    shape, weigh = _nodal_field(body) if nodal else _station_field(body)
    weighed = [weigh(S @ shape) for S in PARTS]
    rows = []
    for A in TURNS:
        turned = A @ shape
        row = [_sum(turned, field) for field in weighed]
        rows.append(xp.stack(row))
    return xp.stack(rows)


def gravity_integrals(body: Body, *, nodal: bool = False) -> Float[Real, "4 m 3"]:
    """Q_1, Q_2, Q_3 = N~^T A_r^T M I^, eq. (62), and Q_4 = N~^T M I^, eq. (61); I^ g is a uniform acceleration."""
    xp = namespace(body)
    shape, weigh = _nodal_field(body) if nodal else _station_field(body)
    translations = xp.eye(6)[:, :3]
    # The same unit accelerations at every station.
    everywhere = xp.broadcast_to(translations, (len(shape), 6, 3))
    unit = weigh(everywhere)
    Q = [_sum(A @ shape, unit) for A in TURNS]
    Q.append(_sum(shape, unit))
    inertia = body.extra_inertia
    if inertia is None or nodal:
        return xp.stack(Q)
    # A uniform acceleration is a rigid twist (g, 0): the first three columns of its constants.
    extra = [X[:3].T for X in inertia.X]
    extra.append(inertia.mass[:, :3])
    return xp.stack(Q) + xp.stack(extra)


def _inertia(shape: Field, weigh: Weigh) -> Inertia:
    """The four sums, for a field `shape` and the inertia that `weigh` gives it."""
    xp = namespace(shape)
    turned = [A @ shape for A in TURNS]
    weighed = [weigh(field) for field in turned]
    X = [_sum(shape, field) for field in weighed]
    # Y is not symmetric in a, b: A_a A_b is not A_b A_a.
    Y = []
    for products in SQUARES:
        twice_turned = [weigh(AA @ shape) for AA in products]
        row = [_sum(shape, field) for field in twice_turned]
        Y.append(xp.stack(row))
    Z = []
    for left in turned:
        row = [_sum(left, right) for right in weighed]
        Z.append(xp.stack(row))
    return Inertia(
        mass=_sum(shape, weigh(shape)),
        X=xp.stack(X),
        Y=xp.stack(Y),
        Z=xp.stack(Z),
    )


def _station_field(body: Body) -> tuple[Field, Weigh]:
    """N~ at the stations, and the product with the inertia there."""
    xp = namespace(body)
    rigid = xp.asarray(body.station_rigid)
    elastic = xp.asarray(body.station_shape)
    shape = xp.concatenate([rigid, elastic], axis=2)
    return shape, lambda field: body.station_inertia @ field


def _nodal_field(body: Body) -> tuple[Field, Weigh]:
    """N~ at the nodes, and the product with the mass matrix, which couples them."""
    xp = namespace(body)
    c = body.coordinates
    M = body.mass_matrix
    rigid = xp.asarray(body.rigid)
    shape = xp.hstack([rigid, xp.eye(c)])
    nodes = c // 6

    def weigh(field):
        weighed = M @ field.reshape(c, -1)
        return weighed.reshape(field.shape)

    return shape.reshape(nodes, 6, 6 + c), weigh


def _sum(left: Field, right: Float[Real, "s 6 n"]) -> Float[Real, "m n"]:
    """Sum over stations (or nodes) of left^T right."""
    return clean_product(in_rows(left).T, in_rows(right))
