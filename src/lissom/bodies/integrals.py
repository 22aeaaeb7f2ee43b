"""Constants of a moving link: [Vidoni2015] Appendix D, as integrals of the displacement field or by the nodal shortcut.

With the field N~ = [B | N] over (rigid twist, coordinates), D the inertia at the stations and A_a u = e_a x u acting on
translations and rotations alike, the velocity of the field, in link axes, for y = (V, qd), p = (0, q) and the angular
velocity w is  N~ y + sum_a w_a A_a N~ p.  All that its energy and its virtual work need are the sums below.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from ..types import Real, namespace
from .body import GENERATORS, Body, block_diagonal
from .inertia import Inertia, added

TURNS = block_diagonal(
    GENERATORS, GENERATORS
)  # A_a on a displacement (translation, rotation), eq. (83)
SQUARES = np.einsum("aij,bjk->abik", TURNS, TURNS)  # A_a A_b

# S_1..S_6, eq. (88): Omega^T Omega = sum_t s_t S_t, s = (wy^2 + wz^2, wx^2 + wz^2, wx^2 + wy^2, wx wy, wx wz, wy wz).
_S = np.zeros((6, 3, 3))
for _t, (_i, _j) in enumerate([(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]):
    _S[_t, _i, _j] = _S[_t, _j, _i] = 1.0 if _i == _j else -1.0
PARTS = block_diagonal(_S, _S)

Field = Float[Real, "s 6 m"]


def inertia_integrals(body: Body) -> Inertia:
    """Integrals of the displacement field: the energy is exact. Inertia known only by its constants is added."""
    stations = _inertia(*_field(body))
    return stations if body.own is None else added(stations, body.own)


def nodal_integrals(body: Body) -> Inertia:
    """The nodal shortcut M A_a of [Vidoni2015], every node's displacement turned as a vector.

    Equal to `inertia_integrals` where M commutes with rotations (lumped masses at the nodes); with consistent mass it
    leaks the power w^T M (omega x) w. The body's coordinates must be nodal displacements (c = 6 per node).
    """
    return _inertia(*_nodes(body))


def cubic_integrals(body: Body, *, nodal: bool = False) -> Float[Real, "3 6 m m"]:
    """W_rt = N~^T A_r^T M S_t N~, eq. (96); t counts the parts of Omega^T Omega of eq. (88)."""
    shape, weigh = _nodes(body) if nodal else _field(body)
    xp = namespace(body)
    return xp.stack(
        [xp.stack([_sum(A @ shape, weigh(S @ shape)) for S in PARTS]) for A in TURNS]
    )


def gravity_integrals(body: Body, *, nodal: bool = False) -> Float[Real, "4 m 3"]:
    """Q_1, Q_2, Q_3 = N~^T A_r^T M I^, eq. (62), and Q_4 = N~^T M I^, eq. (61); I^ g is a uniform acceleration."""
    shape, weigh = _nodes(body) if nodal else _field(body)
    xp = namespace(body)
    unit = weigh(xp.broadcast_to(xp.eye(6)[:, :3], (len(shape), 6, 3)))
    stations = xp.stack([*(_sum(A @ shape, unit) for A in TURNS), _sum(shape, unit)])
    if body.own is None or nodal:
        return stations
    return stations + xp.stack([*(X[:3].T for X in body.own.X), body.own.mass[:, :3]])


def _inertia(shape: Field, weigh: Callable[[Field], Field]) -> Inertia:
    """The four sums, for a field `shape` and the inertia that `weigh` gives it."""
    xp = namespace(shape)
    turned = [A @ shape for A in TURNS]
    weighed = [weigh(field) for field in turned]
    return Inertia(
        mass=_sum(shape, weigh(shape)),
        X=xp.stack([_sum(shape, field) for field in weighed]),
        Y=xp.stack(
            [
                xp.stack([_sum(shape, weigh(AA @ shape)) for AA in row])
                for row in SQUARES
            ]
        ),
        Z=xp.stack(
            [xp.stack([_sum(left, right) for right in weighed]) for left in turned]
        ),
    )


def _field(body: Body) -> tuple[Field, Callable[[Field], Field]]:
    xp = namespace(body)
    shape = xp.concatenate(
        [xp.asarray(body.station_rigid), xp.asarray(body.station_shape)], axis=2
    )
    return shape, lambda field: body.station_inertia @ field


def _nodes(body: Body) -> tuple[Field, Callable[[Field], Field]]:
    xp = namespace(body)
    c, M = body.coordinates, body.mass_matrix
    shape = xp.concatenate([xp.asarray(body.rigid), xp.eye(c)], axis=1).reshape(
        c // 6, 6, 6 + c
    )
    return shape, lambda field: (M @ field.reshape(c, -1)).reshape(field.shape)


def _sum(left: Field, right: Float[Real, "s 6 n"]) -> Float[Real, "m n"]:
    return left.reshape(-1, left.shape[-1]).T @ right.reshape(-1, right.shape[-1])
