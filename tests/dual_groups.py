"""Dual numbers (eps^2 = 0) and the groups G1 and G2 of [Cibicik2021]: elements, inverse, adjoint, exp, log.

G1 holds dual rotations, 6 x 6 matrices [[A, 0], [theta x A, A]]; G2 dual homogeneous transformations, 7 x 7 matrices
[[X, v], [0, 1]] with X in G1. A dual vector is (real, dual), six numbers; a dual twist is (omega, v), two dual vectors,
twelve numbers: the order of the paper, so that its matrices can be read off. All functions take stacks of elements.
The program itself needs none of this: it is the paper's own way, which the program's shorter one is tested against.
"""

import math

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from lissom.algebra.so3 import (
    cross_matrix,
    exponential,
    left_jacobian,
    logarithm,
    rotation_series,
)
from lissom.dynamics.truncated import Dual

TERMS = 18
# Series in s = phi^2 of (phi^2/2 + cos phi - 1) / phi^4 and of (phi - sin phi - phi^3/6) / phi^5 with its sign changed.
FOURTH, FIFTH = (
    np.array([(-1.0) ** k / math.factorial(2 * k + n) for k in range(TERMS)])
    for n in (4, 5)
)
# Of ((1 - cos phi)/phi^2 - sin phi/(2 phi)) / phi^2, the square term of the inverse Jacobian times (1 - cos phi)/phi^2.
SQUARE = np.array(
    [
        (-1.0) ** k * (1 / math.factorial(2 * k + 2) - 0.5 / math.factorial(2 * k + 1))
        for k in range(1, TERMS)
    ]
)

Vector = Float[Array, "*#n 6"]
Matrix = Float[Array, "*#n 6 6"]


def dual_sum(a: Dual, b: Dual) -> Dual:
    """Sum of two dual quantities."""
    return Dual(a.real + b.real, a.dual + b.dual)


def dual_product(a: Dual, b: Dual) -> Dual:
    """Product entry by entry: (a b, a_d b + a b_d); no product of two dual parts."""
    return Dual(a.real * b.real, a.dual * b.real + a.real * b.dual)


def dual_matrix_product(a: Dual, b: Dual) -> Dual:
    """Matrix product of dual matrices."""
    return Dual(a.real @ b.real, a.dual @ b.real + a.real @ b.dual)


def dual_quotient(a: Dual, b: Dual) -> Dual:
    """Quotient entry by entry; the real part of b is not zero."""
    q = a.real / b.real
    return Dual(q, (a.dual - q * b.dual) / b.real)


def _blocks(*rows: tuple[Array, ...]) -> Array:
    return jnp.concatenate([jnp.concatenate(row, axis=-1) for row in rows], axis=-2)


def _polynomial(coefficients: np.ndarray, s: Array) -> Array:
    value = jnp.zeros_like(s)
    for c in coefficients[::-1]:
        value = value * s + c
    return value


def g1_element(A: Float[Array, "*#n 3 3"], theta: Float[Array, "*#n 3"]) -> Matrix:
    """X = [[A, 0], [theta x A, A]], eqs. (8), (31)."""
    return _blocks((A, jnp.zeros_like(A)), (cross_matrix(theta) @ A, A))


def g1_parts(X: Matrix) -> tuple[Float[Array, "*#n 3 3"], Float[Array, "*#n 3"]]:
    """(A, theta) of an element of G1."""
    A = X[..., :3, :3]
    return A, _vector(X[..., 3:, :3] @ jnp.swapaxes(A, -1, -2))


def g1_inverse(X: Matrix) -> Matrix:
    """X^-1 = (A^T, -A^T theta), eq. (32)."""
    A, theta = g1_parts(X)
    At = jnp.swapaxes(A, -1, -2)
    return g1_element(At, -jnp.einsum("...ij,...j->...i", At, theta))


def g1_hat(w: Vector) -> Matrix:
    """[w]^ = [[a x, 0], [b x, a x]] of a dual vector (a, b), eqs. (10), (38); also the adjoint ad(w), eq. (13)."""
    a, b = cross_matrix(w[..., :3]), cross_matrix(w[..., 3:])
    return _blocks((a, jnp.zeros_like(a)), (b, a))


def g1_vee(W: Matrix) -> Vector:
    """The dual vector of `g1_hat`."""
    return jnp.concatenate([_vector(W[..., :3, :3]), _vector(W[..., 3:, :3])], axis=-1)


def g1_exp(w: Vector) -> Matrix:
    """exp([w]^) = (exp(U), J_l(u) w), eq. (136); |u| up to half a turn."""
    u, b = w[..., :3], w[..., 3:]
    return g1_element(
        exponential(u), jnp.einsum("...ij,...j->...i", left_jacobian(u), b)
    )


def g1_log(X: Matrix) -> Vector:
    """Dual vector of the logarithm, eq. (137)."""
    A, theta = g1_parts(X)
    phi = logarithm(A)
    return jnp.concatenate(
        [phi, jnp.einsum("...ij,...j->...i", inverse_left_jacobian(phi), theta)],
        axis=-1,
    )


def inverse_left_jacobian(phi: Float[Array, "*#n 3"]) -> Float[Array, "*#n 3 3"]:
    """Inverse of `left_jacobian` in closed form, 1 - phi x / 2 + c (phi x)^2; less than a full turn."""
    s = jnp.sum(phi**2, axis=-1)
    c = _polynomial(SQUARE, s) / rotation_series(s)[1]
    a = cross_matrix(phi)
    return jnp.eye(3) - 0.5 * a + c[..., None, None] * (a @ a)


def g1_left_jacobian(w: Vector) -> Matrix:
    """Left Jacobian of G1, eqs. (142)-(144)."""
    J, Q = _jacobian_parts(w)
    return _blocks((J, jnp.zeros_like(J)), (Q, J))


def g1_inverse_left_jacobian(w: Vector) -> Matrix:
    """Its inverse, block by block."""
    _, Q = _jacobian_parts(w)
    J = inverse_left_jacobian(w[..., :3])
    return _blocks((J, jnp.zeros_like(J)), (-J @ Q @ J, J))


def _jacobian_parts(w: Vector) -> tuple[Array, Array]:
    phi, gamma = cross_matrix(w[..., :3]), cross_matrix(w[..., 3:])
    s = jnp.sum(w[..., :3] ** 2, axis=-1)
    third, fourth, fifth = (
        rotation_series(s)[2],
        _polynomial(FOURTH, s),
        _polynomial(FIFTH, s),
    )
    a, b, c = (
        part[..., None, None] for part in (third, fourth, 0.5 * (fourth - 3.0 * fifth))
    )
    pgp, pp = phi @ gamma @ phi, phi @ phi
    Q = (
        0.5 * gamma
        + a * (phi @ gamma + gamma @ phi + pgp)
        + b * (pp @ gamma + gamma @ pp - 3.0 * pgp)
        + c * (pgp @ phi + phi @ pgp)
    )
    return left_jacobian(w[..., :3]), Q


def g2_element(X: Matrix, v: Vector) -> Float[Array, "*n 7 7"]:
    """Y = [[X, v], [0, 1]], eqs. (14), (50)."""
    last = jnp.broadcast_to(jnp.append(jnp.zeros(6), 1.0), (*X.shape[:-2], 1, 7))
    return jnp.concatenate([jnp.concatenate([X, v[..., None]], axis=-1), last], axis=-2)


def g2_parts(Y: Float[Array, "*n 7 7"]) -> tuple[Matrix, Vector]:
    """(X, v) of an element of G2."""
    return Y[..., :6, :6], Y[..., :6, 6]


def g2_inverse(Y: Float[Array, "*n 7 7"]) -> Float[Array, "*n 7 7"]:
    """Y^-1 = (X^-1, -X^-1 v), eq. (51)."""
    X, v = g2_parts(Y)
    X = g1_inverse(X)
    return g2_element(X, -jnp.einsum("...ij,...j->...i", X, v))


def g2_hat(t: Float[Array, "*n 12"]) -> Float[Array, "*n 7 7"]:
    """[t]^ = [[omega^, v], [0, 0]] of a dual twist, eqs. (16), (55)."""
    top = jnp.concatenate([g1_hat(t[..., :6]), t[..., 6:, None]], axis=-1)
    return jnp.concatenate([top, jnp.zeros_like(top[..., :1, :])], axis=-2)


def g2_vee(T: Float[Array, "*n 7 7"]) -> Float[Array, "*n 12"]:
    """The dual twist of `g2_hat`."""
    return jnp.concatenate([g1_vee(T[..., :6, :6]), T[..., :6, 6]], axis=-1)


def g2_adjoint(Y: Float[Array, "*n 7 7"]) -> Float[Array, "*n 12 12"]:
    """Ad(Y) = [[X, 0], [v^ X, X]], eq. (19): the dual screw transformation (66) of the displacement Y."""
    X, v = g2_parts(Y)
    return _blocks((X, jnp.zeros_like(X)), (g1_hat(v) @ X, X))


def g2_ad(t: Float[Array, "*n 12"]) -> Float[Array, "*n 12 12"]:
    """ad(t), with [ad(a) b]^ = [a^, b^]."""
    w, v = g1_hat(t[..., :6]), g1_hat(t[..., 6:])
    return _blocks((w, jnp.zeros_like(w)), (v, w))


def g2_exp(t: Float[Array, "*n 12"]) -> Float[Array, "*n 7 7"]:
    """exp([t]^) = (exp(omega^), J_l(omega) v), eq. (141) with the 1 that belongs in its last corner."""
    w, v = t[..., :6], t[..., 6:]
    return g2_element(g1_exp(w), jnp.einsum("...ij,...j->...i", g1_left_jacobian(w), v))


def g2_log(Y: Float[Array, "*n 7 7"]) -> Float[Array, "*n 12"]:
    """Dual twist of the logarithm, eq. (145)."""
    X, v = g2_parts(Y)
    w = g1_log(X)
    return jnp.concatenate(
        [w, jnp.einsum("...ij,...j->...i", g1_inverse_left_jacobian(w), v)], axis=-1
    )


def _vector(W: Array) -> Array:
    return jnp.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=-1)
