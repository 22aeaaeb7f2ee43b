"""Rotations of space: the cross-product matrix, the exponential, roll-pitch-yaw."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..types import Matrix3, Scalar, Vector3, namespace


def skew(w: Vector3) -> Matrix3:
    """Matrix `(w x)` with `skew(w) @ a = w x a`, [Boscariol2012] eq. (10), [Vidoni2015] eq. (47)."""
    xp = namespace(w)
    x, y, z = w[0], w[1], w[2]
    o = 0.0 * x
    # fmt: off
    return xp.stack([xp.stack([ o, -z,  y]),
                     xp.stack([ z,  o, -x]),
                     xp.stack([-y,  x,  o])])
    # fmt: on


def axis_rotation(axis: Vector3, angle: Scalar) -> Float[Array, "3 3"]:
    """Rotation about a unit axis (Rodrigues); an axis of zero length gives the identity."""
    a = skew(jnp.asarray(axis))
    return jnp.eye(3) + jnp.sin(angle) * a + (1.0 - jnp.cos(angle)) * (a @ a)


def elementary(axis: int, angle: Scalar) -> Matrix3:
    """Rotation about the coordinate axis 0, 1 or 2."""
    xp = namespace(angle)
    c, s = xp.cos(xp.asarray(angle, dtype=float)), xp.sin(xp.asarray(angle, dtype=float))
    one, o = xp.ones_like(c), xp.zeros_like(c)
    rows = {
        0: [[one, o, o], [o, c, -s], [o, s, c]],
        1: [[c, o, s], [o, one, o], [-s, o, c]],
        2: [[c, -s, o], [s, c, o], [o, o, one]],
    }[axis]
    return xp.stack([xp.stack(row) for row in rows])


def from_rpy(rpy: Any) -> Matrix3:
    """Rotation `Rz(yaw) Ry(pitch) Rx(roll)` from (roll, pitch, yaw), the URDF convention."""
    roll, pitch, yaw = rpy
    return elementary(2, yaw) @ elementary(1, pitch) @ elementary(0, roll)
