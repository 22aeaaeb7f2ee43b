"""The equations of motion linearised about a point of a motion, by exact differentiation.

With Gamma(x, xd, xdd, u) = 0 the equations of motion, a small departure from a motion that satisfies them obeys

    M dxdd + C dxd + K dx = F du,

    M = dGamma/dxdd,    C = dGamma/dxd,    K = dGamma/dx,    F = -dGamma/du,

[Palomba2019] eqs. (3)-(11); K contains dM/dx xdd with a plus sign, and everything else that a printed list of terms may
forget: gravity, centrifugal and gyroscopic terms, the torques' and wrenches' own turning.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ...algebra.linear import inverse
from ...dynamics.formulation import AbstractFormulation
from ...solve.balance import MotionPoint, motion_residual
from ...types import Float, Real


class LinearMatrices(NamedTuple):
    """M dxdd + C dxd + K dx = F du about a point; n coordinates, u inputs."""

    M: Float[Real, "n n"]
    C: Float[Real, "n n"]
    K: Float[Real, "n n"]
    F: Float[Real, "n u"]


def linear_matrices(
    formulation: AbstractFormulation,
    x: Float[Array, " n"],
    xd: Float[Array, " n"],
    xdd: Float[Array, " n"],
    tau: Float[Array, " j"],
) -> LinearMatrices:
    """M, C, K, F about the point (x, xd, xdd, tau), with the joint torques as inputs; pure, for `jit`, `vmap`, `grad`.

    [Palomba2019] eqs. (4)-(7) with corrected signs, for every formulation.

    Args:
        formulation: equations of motion, such as `model.formulation`.
        x: generalised coordinates (theta, elastic) [rad, m or modal].
        xd: their speeds.
        xdd: their accelerations.
        tau: joint torques [N m or N].

    Returns:
        `LinearMatrices`: M dxdd + C dxd + K dx = F du.

    Example:
        >>> import jax, lissom as ls
        >>> model = ls.Model("simple-pendulum")
        >>> state = model.static([0.3])
        >>> zero = 0.0 * state.x
        >>> M, C, K, F = jax.jit(ls.linear_matrices)(model.formulation, state.x, zero, zero, state.torque)
        >>> K.shape, F.shape
        ((13, 13), (13, 1))
    """
    n = x.shape[0]

    def gamma(z):
        return motion_residual(formulation, *split_motion(z, n))

    z = jnp.concatenate([x, xd, xdd, tau])
    slope = jax.jacfwd(gamma)(z)
    # Gamma is the residual of the balance: torques enter it with a minus.
    K, C, M, minus_F = split_motion(slope, n)
    return LinearMatrices(M, C, K, -minus_F)


def split_motion(z: Any, n: int) -> tuple[Any, Any, Any, Any]:
    """The parts of x, xd, xdd and of whatever follows, along the last axis."""
    x = z[..., :n]
    xd = z[..., n : 2 * n]
    xdd = z[..., 2 * n : 3 * n]
    rest = z[..., 3 * n :]
    return x, xd, xdd, rest


def accelerated_point(
    formulation: AbstractFormulation,
    x: Float[Array, " n"],
    xd: Float[Array, " n"],
    tau: Float[Array, " j"],
) -> MotionPoint:
    """The point of any motion: accelerations from the equations of motion, which are affine in them."""

    def gamma(xdd):
        return motion_residual(formulation, x, xd, xdd, tau)

    at_rest = jnp.zeros_like(x)
    M = jax.jacfwd(gamma)(at_rest)
    xdd = -inverse(M) @ gamma(at_rest)
    return MotionPoint(x, xd, xdd, tau)
