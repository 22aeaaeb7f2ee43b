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
from jaxtyping import Array, Float

from ...algebra.linear import inverse
from ...dynamics import engine
from ...dynamics.formulation import AbstractFormulation, Rates
from ...solve.static import on_drives
from ...types import Real

NEWTON_STEPS = 6  # the elastic balance is nearly linear: three are enough, the rest costs nothing in accuracy


class Point(NamedTuple):
    """A point of a motion that satisfies the equations: coordinates, speeds, accelerations, joint torques."""

    x: Float[Array, " n"]
    xd: Float[Array, " n"]
    xdd: Float[Array, " n"]
    tau: Float[Array, " j"]


class LinearMatrices(NamedTuple):
    """M dxdd + C dxd + K dx = F du about a point; n coordinates, u inputs."""

    M: Float[Real, "n n"]
    C: Float[Real, "n n"]
    K: Float[Real, "n n"]
    F: Float[Real, "n u"]


def joint_loads(formulation: AbstractFormulation, tau: Float[Array, " j"]) -> Rates:
    """Torques on the joints, nothing on the links."""
    return engine.on_joints(formulation, tau)


def unbalanced(formulation: AbstractFormulation, x, xd, xdd, tau) -> Float[Array, " n"]:
    """Gamma of [Palomba2019] eq. (2): zero along every motion under the joint torques tau."""
    motion = formulation.motion(x, xd, xdd)
    return engine.needed_force(formulation, motion, joint_loads(formulation, tau))


def linear_matrices(
    formulation: AbstractFormulation,
    x: Float[Array, " n"],
    xd: Float[Array, " n"],
    xdd: Float[Array, " n"],
    tau: Float[Array, " j"],
) -> LinearMatrices:
    """M, C, K, F about the point (x, xd, xdd, tau), with the joint torques as inputs; pure, for `jit`, `vmap`, `grad`.

    [Palomba2019] eqs. (4)-(7) with corrected signs, for every formulation.
    """

    def gamma(z):
        return unbalanced(formulation, *parted(z, x.shape[0]))

    K, C, M, minus_F = parted(
        jax.jacfwd(gamma)(jnp.concatenate([x, xd, xdd, tau])), x.shape[0]
    )
    return LinearMatrices(M, C, K, -minus_F)


def parted(z: Any, n: int) -> tuple[Any, Any, Any, Any]:
    """The parts of x, xd, xdd and of whatever follows, along the last axis."""
    return z[..., :n], z[..., n : 2 * n], z[..., 2 * n : 3 * n], z[..., 3 * n :]


def balanced_point(
    formulation: AbstractFormulation,
    q: Float[Array, " j"],
    qd: Float[Array, " j"],
    qdd: Float[Array, " j"],
    steps: int = NEWTON_STEPS,
) -> Point:
    """The point of a joint motion whose links are in quasi-static balance with it, torques from inverse dynamics.

    Newton's iteration with a fixed number of steps and without LAPACK: it may be batched, and differentiated any number
    of times. q is what the encoders read, in a closed chain those of the independent joints; the elastic coordinates
    have no speed and no acceleration.
    """
    n, d, drives = (
        formulation.size,
        formulation.n_elastic,
        jnp.asarray(formulation.independent, dtype=int),
    )
    xd, xdd = (jnp.concatenate([part[drives], jnp.zeros(d)]) for part in (qd, qdd))

    def missing(z):
        x, tau = z[:n], on_drives(formulation, z[n:])
        encoder = formulation.configuration(x).encoder
        return jnp.concatenate(
            [(encoder - q)[drives], unbalanced(formulation, x, xd, xdd, tau)]
        )

    def improve(_, z):
        return z - inverse(jax.jacfwd(missing)(z)) @ missing(z)

    z = jax.lax.fori_loop(0, steps, improve, jnp.concatenate([q[drives], jnp.zeros(n)]))
    return Point(z[:n], xd, xdd, on_drives(formulation, z[n:]))


def accelerated_point(
    formulation: AbstractFormulation,
    x: Float[Array, " n"],
    xd: Float[Array, " n"],
    tau: Float[Array, " j"],
) -> Point:
    """The point of any motion: accelerations from the equations of motion, which are affine in them."""
    at_rest = jnp.zeros_like(x)
    M = jax.jacfwd(lambda xdd: unbalanced(formulation, x, xd, xdd, tau))(at_rest)
    return Point(x, xd, -inverse(M) @ unbalanced(formulation, x, xd, at_rest, tau), tau)


def left_over(formulation: AbstractFormulation, point: Point) -> Float[Array, ""]:
    """Largest generalised force left over at a point, against the largest of strain, drive and all the rest."""
    motion = formulation.motion(*point[:3])
    needed, drive = (
        engine.link_forces(formulation, motion),
        joint_loads(formulation, point.tau),
    )
    strain = jax.vmap(engine.elastic_force)(formulation.links, motion.place.q)
    parts = [
        needed,
        drive,
        Rates(strain[:, :6], strain[:, 6:], jnp.zeros_like(point.tau)),
    ]
    forces = jax.vmap(motion.pull_back)(
        jax.tree.map(lambda *part: jnp.stack(part), *parts)
    )
    return jnp.max(jnp.abs(forces[0] - forces[1])) / (jnp.max(jnp.abs(forces)) + 1e-9)
