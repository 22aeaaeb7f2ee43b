"""Operating points along named parameters: what a parameter moves, where the links then are, and M, C, K there.

At every value of the parameters the links are in quasi-static balance with the motion of the joints: the elastic
coordinates satisfy the equations of motion with elastic speeds and accelerations zero, and the joint torques are those
of inverse dynamics. M, C and K are the exact derivatives of the equations of motion there, [Palomba2019] eqs. (4)-(6)
with the signs corrected. The balance is expanded in the parameters together with M, C and K.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..algebra import series
from ..algebra.linear import inverse
from ..algebra.monomials import Monomials, monomials_of
from ..algebra.series import Series
from ..algebra.taylor import push_forward, variables
from ..dynamics import engine
from ..dynamics.compile import compiled_quickly
from ..dynamics.formulation import AbstractFormulation
from ..kinematics.compatibility import Tangent
from ..solve.model import EquilibriumError, Model

NEWTON_STEPS = 8
BALANCE = 1e-7  # force left over, against the largest force in the balance
KINDS = ("q", "qd", "qdd")


def unbalanced(f: AbstractFormulation, x, xd, xdd, tau) -> Float[Array, " n"]:
    """Gamma of [Palomba2019] eq. (2)."""
    links, c = f.links.stiffness.shape[:2]
    return engine.needed_force(f, x, xd, xdd, engine.Rates(jnp.zeros((links, 6)), jnp.zeros((links, c)), tau))


def padded(f: AbstractFormulation, joints: Float[Array, " j"]) -> Float[Array, " n"]:
    """Joint speeds or accelerations with elastic ones zero."""
    return jnp.concatenate([joints, jnp.zeros(f.n_elastic)])


def missing(f: AbstractFormulation, z, q, qd, qdd, encoders: bool) -> Float[Array, " N"]:
    """What keeps z = (x, tau) from quasi-static balance at joint angles q (of the encoders, or theta of the ERLS)."""
    x, tau = z[: f.size], z[f.size :]
    reading = f.configuration(x).encoder if encoders else x[: f.n_joints]
    return jnp.concatenate([reading - q, unbalanced(f, x, padded(f, qd), padded(f, qdd), tau)])


def matrices(f: AbstractFormulation, z, qd, qdd, locked: bool) -> tuple[Float[Array, "m m"], ...]:
    """M, C, K at a balanced point; with `locked` joints of the motions that leave the encoders where they are."""
    n = f.size
    x, tau = z[:n], z[n:]
    gamma = lambda y: unbalanced(f, y[:n], y[n : 2 * n], y[2 * n :], tau)  # noqa: E731
    derivative = jax.jacfwd(gamma)(jnp.concatenate([x, padded(f, qd), padded(f, qdd)]))
    K, C, M = derivative[:, :n], derivative[:, n : 2 * n], derivative[:, 2 * n :]
    if not locked:
        return M, C, K
    j = f.n_joints
    if _is_tangent(f):
        return M[j:, j:], C[j:, j:], K[j:, j:]
    E = engine.torque_map(f, x)
    B = jnp.concatenate([-inverse(E[:, :j]) @ E[:, j:], jnp.eye(n - j)])
    return B.T @ M @ B, B.T @ C @ B, B.T @ K @ B


def _is_tangent(f: Any) -> bool:
    return isinstance(getattr(f, "reference", Tangent()), Tangent)


def _balanced(f: AbstractFormulation, q, qd, qdd, encoders: bool):
    function = lambda z: missing(f, z, q, qd, qdd, encoders)  # noqa: E731
    improve = lambda _, z: z - inverse(jax.jacfwd(function)(z)) @ function(z)  # noqa: E731
    z = jax.lax.fori_loop(0, NEWTON_STEPS, improve, jnp.concatenate([q, jnp.zeros(f.size)]))
    return z, jnp.max(jnp.abs(function(z))) / (jnp.max(jnp.abs(function(z.at[f.n_joints :].set(0.0)))) + 1e-9)


@compiled_quickly
def _exact(f: AbstractFormulation, q, qd, qdd, encoders: bool, locked: bool) -> Any:
    z, left = _balanced(f, q, qd, qdd, encoders)
    return *matrices(f, z, qd, qdd, locked), z, left


@dataclass(frozen=True, eq=False)
class OperatingPoints:
    """M, C, K of a model as functions of named parameters, exact at points or as Taylor series about one."""

    model: Model
    parameters: tuple[str, ...]
    quantities: Callable[[Any], Mapping[str, Any]]  # parameters (p,) -> value of each quantity that they move
    base: Mapping[str, Float[np.ndarray, " j"]]  # q, qd, qdd where no parameter moves them
    encoders: bool  # q is what the encoders read, else theta of the ERLS
    locked: bool

    def resolve(self, p: Any) -> tuple[AbstractFormulation, Any, Any, Any]:
        """The formulation and the joints' motion at parameter values; traceable."""
        model, joints = self.model, self.model.joint_names
        moved = dict(self.quantities(p))
        motion = []
        for kind in KINDS:
            values = [moved.pop(f"{kind}.{name}", self.base[kind][i]) for i, name in enumerate(joints)]
            motion.append(jnp.stack([jnp.asarray(v, dtype=float) for v in values]) if values else jnp.zeros(0))
        return (rebuilt(model, moved) if moved else model.formulation), *motion

    def exact(self, points: Float[np.ndarray, "N p"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """M, C, K at points, stacked."""
        found = [self._at(p)[:3] for p in np.atleast_2d(points)]
        return tuple(np.stack([np.asarray(one[i]) for one in found]) for i in range(3))  # pyright: ignore

    def torques(self, points: Float[np.ndarray, "N p"]) -> np.ndarray:
        """Joint torques of the balance at points."""
        n = self.model.formulation.size
        return np.stack([np.asarray(self._at(p)[3])[n:] for p in np.atleast_2d(points)])

    def _at(self, p: np.ndarray):
        f, q, qd, qdd = self.resolve(np.asarray(p, dtype=float))
        self.model.check_reference(q)
        M, C, K, z, left = _exact(f, q, qd, qdd, self.encoders, self.locked)
        if not float(left) < BALANCE:
            where = ", ".join(f"{name} = {value:.6g}" for name, value in zip(self.parameters, p, strict=True))
            raise EquilibriumError(f"the links find no quasi-static balance at {where}: {float(left):.1e} is left over")
        return M, C, K, z

    def series(self, p0: Float[np.ndarray, " p"], order: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Taylor coefficients of M, C, K about p0, first axis over the terms: [Palomba2019] eq. (20)."""
        *_, z0 = self._at(p0)
        z0 = np.asarray(z0)
        balance, linear = self._programs(np.asarray(p0, dtype=float), z0)
        whole = monomials_of(len(p0), order)
        z = balance_series(balance, whole, p0, z0)
        out = push_forward(whole, linear, [variables(whole, p0), z])
        return tuple(part.dense(whole.size) for part in out)  # pyright: ignore

    def _programs(self, p0: Any, z0: Any):
        """The balance with its derivative, and the matrices, traced as functions of (p, z)."""

        def balance(p, z):
            f, q, qd, qdd = self.resolve(p)
            return missing(f, z, q, qd, qdd, self.encoders)

        def linear(p, z):
            f, _, qd, qdd = self.resolve(p)
            return matrices(f, z, qd, qdd, self.locked)

        p0, z0 = jnp.asarray(p0), jnp.asarray(z0)
        slope = jax.make_jaxpr(jax.jacfwd(balance, argnums=1))(p0, z0)
        return (jax.make_jaxpr(balance)(p0, z0), slope), jax.make_jaxpr(linear)(p0, z0)


def balance_series(programs, monomials: Monomials, p0: np.ndarray, z0: np.ndarray) -> Series:
    """z(p) with missing(p, z(p)) = 0 as a series: Newton's iteration whose every round settles one order more.

    The derivative at the expansion point is factorised once, as the implicit function theorem has it.
    """
    balance, slope = programs
    start = monomials_of(len(p0), 0)
    J = push_forward(start, slope, [series.constant(p0), series.constant(z0)])[0].value
    J_inverse = np.linalg.inv(J)
    z = series.constant(z0)
    for order in range(1, monomials.order + 1):
        level = monomials_of(len(p0), order)
        gap = push_forward(level, balance, [variables(level, p0), z])[0]
        fresh = level.degree[gap.terms] == order
        z = series.total([z, Series(gap.terms[fresh], -gap.data[fresh] @ J_inverse.T)])
    return z


def rebuilt(model: Model, changes: Mapping[str, Any]) -> AbstractFormulation:
    """The model's formulation with other values in its robot."""
    robot = model.robot.replace(changes)
    return Model(robot, model.formulation_name, model.modes, model.reference, model.terms).formulation


def linear_quantities(names: Sequence[str], A: Float[np.ndarray, "k p"]) -> Callable[[Any], Mapping[str, Any]]:
    """Quantities that are sums of the parameters, each times a coefficient."""

    def quantities(p):
        return {name: sum(c * p[i] for i, c in enumerate(row) if c) for name, row in zip(names, A, strict=True)}

    return quantities
