"""Rotations of space: the cross-product matrix, the exponential, roll-pitch-yaw."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..types import Float, Matrix3, Scalar, Vector3, namespace


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


# A sine or cosine of a concrete angle below this is the rounding of a quarter turn.
QUARTER = 4e-16


def cosine_and_sine(angle: Scalar) -> tuple[Any, Any]:
    """Cosine and sine; quarter turns are exact, so that a robot in a plane stays in it to the last digit."""
    xp = namespace(angle)
    angle = xp.asarray(angle, dtype=float)
    c, s = xp.cos(angle), xp.sin(angle)
    if xp is jnp:
        # A traced angle keeps its derivative: nothing is cut off.
        return c, s
    return np.where(abs(c) < QUARTER, 0.0, c), np.where(abs(s) < QUARTER, 0.0, s)


def elementary(axis: int, angle: Scalar) -> Matrix3:
    """Rotation about the coordinate axis 0, 1 or 2."""
    xp = namespace(angle)
    c, s = cosine_and_sine(angle)
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


# Power series in s = |phi|^2 of sin(a)/a, (1 - cos a)/a^2 and (a - sin a)/a^3: no branch at zero, smooth everywhere.
# Of a 32nd of the angle, which is then doubled: exact to rounding for rotations up to twelve turns.
TERMS = 12
DOUBLINGS = 5
MOST_TURN = 75.0  # [rad] exact up to here
SERIES = np.array(
    [[(-1.0) ** k / math.factorial(2 * k + n) for n in (1, 2, 3)] for k in range(TERMS)]
)
# The derivatives of the last two: every power is one lower.
SERIES_RATES = np.vstack([np.arange(1, TERMS)[:, None] * SERIES[1:, 1:], np.zeros(2)])
COEFFICIENTS = np.hstack([SERIES, SERIES_RATES])


Series = tuple[Float[Array, "*n"], ...]


@jax.jit  # of every finite rotation, in many places: traced once
def rotation_series(s: Float[Array, "*n"]) -> Series:
    """sin(a)/a, (1 - cos a)/a^2 and (a - sin a)/a^3 at s = a^2, then the derivatives of the last two by s."""
    small = s * 0.25**DOUBLINGS
    values = _short_series(small)
    for n in range(DOUBLINGS):
        values = _of_double_angle(small * 4.0**n, values)
    return values


def _short_series(s: Float[Array, "*n"]) -> Series:
    """`rotation_series` of small angles."""
    s = s[..., None]
    values = jnp.zeros((*s.shape[:-1], COEFFICIENTS.shape[1]))
    # Horner's rule, for values and derivatives at once.
    for row in reversed(COEFFICIENTS):
        values = values * s + row
    return tuple(jnp.moveaxis(values, -1, 0))


def _of_double_angle(s: Float[Array, "*n"], values: Series) -> Series:
    """`rotation_series` of twice the angle, from its values A, B, C, B', C' at s; A = 1 - s C, cos a = 1 - s B."""
    A, B, C, dB, dC = values
    dA = -(C + s * dC)
    return (
        A * (1.0 - s * B),
        0.5 * A * A,
        0.25 * (C + A * B),
        0.25 * A * dA,
        0.0625 * (dC + dA * B + A * dB),
    )


def series_of(phi: Float[Array, "*n 3"]) -> Series:
    """`rotation_series` of rotation vectors."""
    return rotation_series(jnp.sum(phi**2, axis=-1))


def exponential(
    phi: Float[Array, "*n 3"], series: Series | None = None
) -> Float[Array, "*n 3 3"]:
    """Finite rotation exp(phi x) of a rotation vector, up to twelve turns; `series`: `series_of(phi)`, if known."""
    sinc, half, _, _, _ = series_of(phi) if series is None else series
    return _quadratic(phi, sinc, half)


def left_jacobian(
    phi: Float[Array, "*n 3"], series: Series | None = None
) -> Float[Array, "*n 3 3"]:
    """J with w = J phidot, the angular velocity of exp(phi x) in the axes it starts from."""
    _, half, sixth, _, _ = series_of(phi) if series is None else series
    return _quadratic(phi, half, sixth)


def _quadratic(phi, first, second) -> Float[Array, "*n 3 3"]:
    """1 + first (phi x) + second (phi x)^2."""
    a = cross_matrix(phi)
    first, second = first[..., None, None], second[..., None, None]
    return jnp.eye(3) + first * a + second * (a @ a)


@jax.jit
def logarithm(R: Float[Array, "*n 3 3"]) -> Float[Array, "*n 3"]:
    """Rotation vector of a rotation by less than half a turn."""
    # The skew part of R is sin(angle) times the axis, its trace 1 + 2 cos(angle).
    x = R[..., 2, 1] - R[..., 1, 2]
    y = R[..., 0, 2] - R[..., 2, 0]
    z = R[..., 1, 0] - R[..., 0, 1]
    w = 0.5 * jnp.stack([x, y, z], axis=-1)
    cosine = 0.5 * (jnp.trace(R, axis1=-2, axis2=-1) - 1.0)
    square = jnp.sum(w**2, axis=-1)
    # angle / sine = 1 + square / 6 + O(square^2): exact to rounding below 1e-8, where the root has no derivative.
    is_small = square < 1e-8
    sine = jnp.sqrt(jnp.where(is_small, 1.0, square))
    angle = jnp.arctan2(sine, cosine)
    ratio = jnp.where(is_small, 1.0 + square / 6.0, angle / sine)
    return w * ratio[..., None]


def lengths(vectors: Float[np.ndarray, "*n 3"]) -> Float[np.ndarray, "*n"]:
    """Lengths of many vectors; many times as fast as `np.linalg.norm`, which adds up three numbers at a time."""
    x, y, z = np.moveaxis(np.asarray(vectors), -1, 0)
    # What is too long for a double is infinitely long.
    with np.errstate(over="ignore"):
        return np.sqrt(x * x + y * y + z * z)


@jax.jit  # of every motion, in many places: traced once
def cross(a: Float[Array, "*#n 3"], b: Float[Array, "*#n 3"]) -> Float[Array, "*#n 3"]:
    """Cross product a x b of stacks of vectors; with fewer operations to trace than `jnp.cross`."""
    a_x, a_y, a_z = _components(a)
    b_x, b_y, b_z = _components(b)
    return jnp.concatenate(
        [a_y * b_z - a_z * b_y, a_z * b_x - a_x * b_z, a_x * b_y - a_y * b_x], axis=-1
    )


def _components(a: Float[Array, "*n 3"]) -> list[Float[Array, "*n 1"]]:
    last = a.ndim - 1
    return [jax.lax.slice_in_dim(a, k, k + 1, axis=last) for k in range(3)]


def cross_matrix(w: Float[Array, "*n 3"]) -> Float[Array, "*n 3 3"]:
    """`skew` of a stack of vectors."""
    return jnp.einsum("...a,aij->...ij", w, CROSS)


CROSS = np.stack([skew(e) for e in np.eye(3)])  # (w x) = w_a CROSS[a]
