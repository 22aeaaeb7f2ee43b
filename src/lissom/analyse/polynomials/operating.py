"""Operating points along named parameters: what a parameter moves, where the links then are, and M, C, K there.

At every value of the parameters the links are in quasi-static balance with the motion of the joints: the elastic
coordinates satisfy the equations of motion with elastic speeds and accelerations zero, and the joint torques are those
of inverse dynamics. M, C and K are the exact derivatives of the equations of motion there, [Palomba2019] eqs. (4)-(6)
with the signs corrected. The balance is expanded in the parameters together with M, C and K.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ...algebra import series
from ...algebra.linear import inverse
from ...algebra.monomials import Monomials, monomials_of
from ...algebra.series import Series
from ...algebra.taylor import push_forward, variables
from ...compilation import compiled_quickly
from ...dynamics.formulation import AbstractFormulation
from ...solve.model import EquilibriumError, Model
from ...types import Real
from ..linear.linear_matrices import linear_matrices, parted, unbalanced

NEWTON_STEPS = 8
MOST_STEPS, CHORDS = (
    40,
    8,
)  # rounds of Newton's iteration at most, and between two derivatives
WORTH_COMPILING = (
    12  # points: below, interpreting the traced program is faster than compiling it
)
BALANCE = 1e-7  # force left over, against the largest force in the balance
KINDS = ("q", "qd", "qdd")


def padded(f: AbstractFormulation, joints: Float[Array, " j"]) -> Float[Array, " n"]:
    """Joint speeds or accelerations with elastic ones zero."""
    return jnp.concatenate([joints, jnp.zeros(f.n_elastic)])


def missing(
    f: AbstractFormulation, z, q, qd, qdd, encoders: bool
) -> Float[Array, " N"]:
    """What keeps z = (x, tau) from quasi-static balance at joint angles q (of the encoders, or theta of the ERLS)."""
    x, tau = z[: f.size], z[f.size :]
    reading = f.configuration(x).encoder if encoders else x[: f.n_joints]
    return jnp.concatenate(
        [reading - q, unbalanced(f, x, padded(f, qd), padded(f, qdd), tau)]
    )


def matrices(
    f: AbstractFormulation, z, qd, qdd, locked: bool
) -> tuple[Float[Real, "m m"], ...]:
    """M, C, K at a balanced point; with `locked` joints of the motions that leave the encoders as they are."""
    n = f.size
    point = z[:n], padded(f, qd), padded(f, qdd)
    M, C, K, _ = linear_matrices(f, *point, z[n:])
    if not locked:
        return M, C, K
    j = f.n_joints
    if f.encoders_read_theta:
        return M[j:, j:], C[j:, j:], K[j:, j:]
    return with_encoders_still(f, point, M, C, K)


def with_encoders_still(
    f: AbstractFormulation, point, M, C, K
) -> tuple[Float[Real, "d d"], ...]:
    """M, C, K of the elastic coordinates alone, the encoders following their motion: see `locked_derivatives`."""
    n, j = f.size, f.n_joints

    def encoders(y):
        x, xd, xdd, _ = parted(y, n)
        rates, rates_d = jax.jvp(f.rates, (x, xd), (xd, xdd))
        return jnp.stack([f.configuration(x).encoder, rates.encoder, rates_d.encoder])

    E, E_1, E_2 = jax.jacfwd(encoders)(jnp.concatenate(point))
    E, E_1, (E_2, E_21) = E[:, :n], E_1[:, :n], (E_2[:, :n], E_2[:, n : 2 * n])
    solve = inverse(E[:, :j])

    def joint(rows):
        return jnp.concatenate([-solve @ rows, jnp.zeros((n - j, n - j))])

    B = joint(E[:, j:]) + jnp.eye(n)[:, j:]
    P = joint(E_1 @ B)
    Q_1, Q_0 = joint(E_21 @ B), joint(E_2 @ B + E_21 @ P)
    return B.T @ M @ B, B.T @ (C @ B + M @ Q_1), B.T @ (K @ B + C @ P + M @ Q_0)


def _balanced(f: AbstractFormulation, q, qd, qdd, encoders: bool):
    def function(z):
        return missing(f, z, q, qd, qdd, encoders)

    def improve(_, z):
        return z - inverse(jax.jacfwd(function)(z)) @ function(z)

    z = jax.lax.fori_loop(
        0, NEWTON_STEPS, improve, jnp.concatenate([q, jnp.zeros(f.size)])
    )
    return z, jnp.max(jnp.abs(function(z))) / (
        jnp.max(jnp.abs(function(z.at[f.n_joints :].set(0.0)))) + 1e-9
    )


@compiled_quickly
def _exact(f: AbstractFormulation, q, qd, qdd, encoders: bool, locked: bool) -> Any:
    z, left = _balanced(f, q, qd, qdd, encoders)
    return *matrices(f, z, qd, qdd, locked), z, left


@dataclass(frozen=True, eq=False)
class OperatingPoints:
    """M, C, K of a model as functions of named parameters, exact at points or as Taylor series about one."""

    model: Model
    parameters: tuple[str, ...]
    quantities: Callable[
        [Any], Mapping[str, Any]
    ]  # parameters (p,) -> value of each quantity that they move
    base: Mapping[
        str, Float[np.ndarray, " j"]
    ]  # q, qd, qdd where no parameter moves them
    encoders: bool  # q is what the encoders read, else theta of the ERLS
    locked: bool

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the components of the vectors."""
        return (
            *(() if self.locked else self.model.joint_names),
            *self.model.coordinate_names,
        )

    @property
    def notes(self) -> dict[str, str]:
        """What the polynomials are of."""
        model = self.model
        return {
            "robot": model.robot.name,
            "formulation": f"{model.formulation_name}, {model.terms} terms",
            "joints": "locked" if self.locked else "free",
        }

    def resolve(self, p: Any) -> tuple[AbstractFormulation, Any, Any, Any]:
        """The formulation and the joints' motion at parameter values; traceable."""
        model, joints = self.model, self.model.joint_names
        moved = dict(self.quantities(p))
        motion = []
        for kind in KINDS:
            values = [
                moved.pop(f"{kind}.{name}", self.base[kind][i])
                for i, name in enumerate(joints)
            ]
            motion.append(
                jnp.stack([jnp.asarray(v, dtype=float) for v in values])
                if values
                else jnp.zeros(0)
            )
        return (model.replace(moved) if moved else model).formulation, *motion

    def exact(self, points: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """M, C, K at points, stacked; many points are worth compiling for, a few are not."""
        points = np.atleast_2d(np.asarray(points, dtype=float))
        found = [
            self._compiled(p)[:3]
            if len(points) >= WORTH_COMPILING
            else self._interpreted(p)
            for p in points
        ]
        return tuple(np.stack([np.asarray(one[i]) for one in found]) for i in range(3))  # pyright: ignore

    def balance(self, p: Float[np.ndarray, " p"]) -> Float[np.ndarray, " N"]:
        """Coordinates and joint torques (x, tau) of the balance at p: Newton's iteration with one derivative.

        Raises:
            EquilibriumError: it does not converge.
        """
        p = np.asarray(p, dtype=float)
        q = np.asarray(self.resolve(p)[1])
        self.model.check_reference(q)
        z, size = np.concatenate([q, np.zeros(self.model.formulation.size)]), np.inf
        J_inverse = np.linalg.inv(self._value(1, p, z))
        for k in range(MOST_STEPS):
            if k and k % CHORDS == 0:
                J_inverse = np.linalg.inv(self._value(1, p, z))
            step = -J_inverse @ self._value(0, p, z)
            z, size = z + step, np.abs(step).max()
            if size < 1e-11 * (1.0 + np.abs(z).max()):
                return z
        raise self._unbalanced(p, float(size))

    def _value(self, program: int, p: np.ndarray, z: np.ndarray) -> np.ndarray:
        inputs = [series.constant(p), series.constant(z)]
        return push_forward(monomials_of(len(p), 0), self._programs[program], inputs)[
            0
        ].value

    def series(
        self, p0: Float[np.ndarray, " p"], order: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Taylor coefficients of M, C, K about p0, first axis over the terms: [Palomba2019] eq. (20).

        Nothing is compiled for it: the balance at p0 and all series come from the traced programs.
        """
        p0 = np.asarray(p0, dtype=float)
        z0 = self.balance(p0)
        J = self._value(1, p0, z0) if order else np.eye(len(z0))
        whole = monomials_of(len(p0), order)
        z = balance_series(self._programs[0], J, whole, p0, z0)
        out = push_forward(whole, self._programs[2], [variables(whole, p0), z])
        return tuple(part.dense(whole.size) for part in out)  # pyright: ignore

    def _interpreted(self, p: np.ndarray):
        return tuple(part[0] for part in self.series(p, 0))

    def _compiled(self, p: np.ndarray):
        f, q, qd, qdd = self.resolve(p)
        self.model.check_reference(q)
        M, C, K, z, left = _exact(f, q, qd, qdd, self.encoders, self.locked)
        if not float(left) < BALANCE:
            raise self._unbalanced(p, float(left))
        return M, C, K, z

    def _unbalanced(self, p: np.ndarray, left: float) -> EquilibriumError:
        where = ", ".join(
            f"{name} = {value:.6g}"
            for name, value in zip(self.parameters, p, strict=True)
        )
        return EquilibriumError(
            f"the links find no quasi-static balance at {where}: {left:.1e} is left over"
        )

    @functools.cached_property
    def _programs(self):
        """The balance, its derivative with respect to z, and the matrices, traced once as functions of (p, z)."""

        def balance(p, z):
            f, q, qd, qdd = self.resolve(p)
            return missing(f, z, q, qd, qdd, self.encoders)

        def linear(p, z):
            f, _, qd, qdd = self.resolve(p)
            return matrices(f, z, qd, qdd, self.locked)

        size = self.model.formulation.size + self.model.n_joints
        p, z = jnp.zeros(len(self.parameters)), jnp.zeros(size)
        return tuple(
            jax.make_jaxpr(each)(p, z)
            for each in (balance, jax.jacfwd(balance, argnums=1), linear)
        )


def balance_series(
    balance, J: np.ndarray, monomials: Monomials, p0: np.ndarray, z0: np.ndarray
) -> Series:
    """z(p) with missing(p, z(p)) = 0 as a series: Newton's iteration whose every round settles one order more.

    The derivative at the expansion point is inverted once, as the implicit function theorem has it.
    """
    J_inverse = np.linalg.inv(J)
    z = series.constant(z0)
    for order in range(1, monomials.order + 1):
        level = monomials_of(len(p0), order)
        gap = push_forward(level, balance, [variables(level, p0), z])[0]
        fresh = level.degree[gap.terms] == order
        z = series.total([z, Series(gap.terms[fresh], -gap.data[fresh] @ J_inverse.T)])
    return z


def linear_quantities(
    names: Sequence[str], A: Float[np.ndarray, "k p"]
) -> Callable[[Any], Mapping[str, Any]]:
    """Quantities that are sums of the parameters, each times a coefficient."""

    def quantities(p):
        return {
            name: sum(c * p[i] for i, c in enumerate(row) if c)
            for name, row in zip(names, A, strict=True)
        }

    return quantities
