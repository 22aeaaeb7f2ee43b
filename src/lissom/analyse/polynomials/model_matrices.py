"""M, C, K of a robot along named parameters: what a parameter moves, where the links then are, and the matrices there.

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

from jaxnative.compiled import compiled_quickly

from ...algebra import series
from ...algebra.monomials import Monomials, monomials_of
from ...algebra.series import Series
from ...algebra.taylor import push_forward, variables
from ...dynamics.basis import link_bodies
from ...dynamics.coordinates import with_independent_joints
from ...dynamics.formulation import AbstractFormulation, on_branch_near
from ...dynamics.formulations import formulation_of
from ...files.summary import named_numbers
from ...parameters import Locked
from ...solve.balance import (
    SMALL_STEP,
    MotionPoint,
    balance_guess,
    balance_residual,
    balanced_point,
    moving_joints,
    newton_by_chords,
    on_independent,
    relative_residual,
)
from ...solve.model import EquilibriumError, Model
from ...types import Float, Real
from ..linear.linear_matrices import linear_matrices, split_motion
from ..linear.linearize import BALANCE
from ..linear.locking import locking
from .aligned_bodies import aligned_bodies

# Points from which on compiling pays: for fewer, interpreting the traced program is faster.
WORTH_COMPILING = 12
KINDS = ("q", "qd", "qdd")

Matrices = tuple[np.ndarray, np.ndarray, np.ndarray]  # M, C, K


def matrices(
    f: AbstractFormulation, point: MotionPoint, locked: Locked
) -> tuple[Float[Real, "m m"], ...]:
    """M, C, K at a balanced point; with `locked` joints of the motions that leave the encoders as they are."""
    M, C, K, _ = linear_matrices(f, *point)
    if not locked:
        return M, C, K
    if theta_is_encoder(f):
        elastic = slice(f.n_joints, None)
        return tuple(A[elastic, elastic] for A in (M, C, K))
    drives = jnp.asarray(f.independent, dtype=int)
    slopes = [part[drives] for part in _encoder_slopes(f, point)]
    lock = locking(*slopes)
    return lock.reduced(M, C, K)


def theta_is_encoder(f: Any) -> bool:
    """Whether the joint coordinates theta are what the encoders read, whatever the links do."""
    return f.encoders_read_theta


def _encoder_slopes(f: AbstractFormulation, point: MotionPoint):
    """E, E_1, E_2, E_21 of `locking`: derivatives of the encoders' readings, rates and accelerations."""
    n = f.size

    def encoders(y):
        x, xd, xdd, _ = split_motion(y, n)
        place = f.configuration(x)
        rates, rates_d = jax.jvp(f.rates, (x, xd), (xd, xdd))
        return jnp.stack([place.encoder, rates.encoder, rates_d.encoder])

    at = jnp.concatenate([point.x, point.xd, point.xdd])
    reading, speed, acceleration = jax.jacfwd(encoders)(at)
    E = reading[:, :n]
    E_1 = speed[:, :n]
    E_2, E_21, _, _ = split_motion(acceleration, n)
    return E, E_1, E_2, E_21


@compiled_quickly
def _exact(f: AbstractFormulation, q, qd, qdd, encoders: bool, locked: Locked) -> Any:
    """M, C, K at one point, and the relative residual force there."""
    point = balanced_point(f, q, qd, qdd, encoders)
    return matrices(f, point, locked), relative_residual(f, point)


@dataclass(frozen=True, eq=False)
class ModelMatrices:
    """M, C, K of a model as functions of named parameters, exact at points or as Taylor series about one."""

    model: Model
    parameters: tuple[str, ...]
    # From parameters (p,) to the value of each quantity that they move.
    quantities: Callable[[Any], Mapping[str, Any]]
    # q, qd, qdd where no parameter moves them.
    base: Mapping[str, Float[np.ndarray, " j"]]
    encoders: bool  # q is what the encoders read, else theta of the ERLS
    locked: Locked

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the components of the vectors."""
        if self.locked:
            return self.model.coordinate_names
        return (*self.model.independent_names, *self.model.coordinate_names)

    @property
    def notes(self) -> dict[str, str]:
        """Robot, formulation and options that the polynomials belong to."""
        model = self.model
        return {
            "robot": model.robot.name,
            "formulation": f"{model.formulation_name}, {model.terms} terms",
            "joints": "locked" if self.locked else "free",
        }

    def resolve(self, p: Any) -> tuple[AbstractFormulation, Any, Any, Any]:
        """The formulation and the joints' motion at parameter values; traceable."""
        moved = dict(self.quantities(p))
        q, qd, qdd = (self._joint_values(kind, moved) for kind in KINDS)
        # What is left after the joints' motion is data of the robot.
        f = self._formulation(moved) if moved else self.model.formulation
        return f, q, qd, qdd

    def _formulation(self, moved: Mapping[str, Any]) -> AbstractFormulation:
        """The formulation with other data of the robot; its coordinates mean what they do in the robot as it is."""
        model = self.model
        own = model.formulation
        robot = model.robot.replace(moved)
        name, choices = model.formulation_name, model.choices
        bodies = link_bodies(robot, name, choices)
        bodies = aligned_bodies(robot.links, bodies, model.bodies)
        f = formulation_of(robot, name, choices, bodies)
        if not model.closed:
            return f
        # A closed chain keeps its branch and its independent joints.
        f = with_independent_joints(f, own.independent)
        return on_branch_near(f, jnp.asarray(own.mechanism.home))

    def _joint_values(self, kind: str, moved: dict[str, Any]) -> Any:
        """One kind of joint values, those taken out of `moved` that a parameter moves."""
        values = []
        for i, name in enumerate(self.model.joint_names):
            value = moved.pop(f"{kind}.{name}", self.base[kind][i])
            values.append(jnp.asarray(value, dtype=float))
        return jnp.stack(values) if values else jnp.zeros(0)

    def exact(self, points: Any) -> Matrices:
        """M, C, K at points, stacked; many points are worth compiling for, a few are not."""
        points = np.atleast_2d(np.asarray(points, dtype=float))
        one = self._compiled if len(points) >= WORTH_COMPILING else self._interpreted
        return stacked_matrices([one(p) for p in points])

    def balance(self, p: Float[np.ndarray, " p"]) -> Float[np.ndarray, " N"]:
        """Coordinates and joint torques (x, tau) of the balance at p, from the traced programs.

        Raises:
            EquilibriumError: Newton's iteration does not converge.
        """
        p = np.asarray(p, dtype=float)
        f, q, _, _ = self.resolve(p)
        self.model.check_reference(np.asarray(q))
        start = np.asarray(balance_guess(f, q))
        z, step = newton_by_chords(
            lambda z: self._value(self._programs[0], p, z),
            lambda z: self._value(self._programs[1], p, z),
            start,
        )
        if not step < SMALL_STEP:
            raise self._unbalanced(p, step)
        return z

    def _value(self, program: Any, p: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Value of a traced program: its series of order 0."""
        constants = monomials_of(len(p), 0)
        inputs = [series.constant(p), series.constant(z)]
        outputs = push_forward(constants, program, inputs)
        return outputs[0].value

    def series(self, p0: Float[np.ndarray, " p"], order: int) -> Matrices:
        """Taylor coefficients of M, C, K about p0, first axis over the terms: [Palomba2019] eq. (20).

        Nothing is compiled for it: the balance at p0 and all series come from the traced programs.
        """
        balance, slope, linear = self._programs
        p0 = np.asarray(p0, dtype=float)
        z0 = self.balance(p0)
        whole = monomials_of(len(p0), order)
        z = series.constant(z0)
        if order:
            J = self._value(slope, p0, z0)
            z = balance_series(balance, J, whole, p0, z0)
        p = variables(whole, p0)
        outputs = push_forward(whole, linear, [p, z])
        M, C, K = (part.dense(whole.size) for part in outputs)
        return M, C, K

    def _interpreted(self, p: np.ndarray) -> Matrices:
        M, C, K = self.series(p, 0)
        return M[0], C[0], K[0]

    def _compiled(self, p: np.ndarray) -> Matrices:
        f, q, qd, qdd = self.resolve(p)
        self.model.check_reference(q)
        traced, left = _exact(f, q, qd, qdd, self.encoders, self.locked)
        if not float(left) < BALANCE:
            raise self._unbalanced(p, float(left))
        M, C, K = (np.asarray(A) for A in traced)
        return M, C, K

    def _unbalanced(self, p: np.ndarray, residual: float) -> EquilibriumError:
        where = named_numbers(self.parameters, p)
        return EquilibriumError(
            f"the links have no quasi-static equilibrium at {where}: {residual:.1e} of "
            "the forces remains unbalanced"
        )

    @functools.cached_property
    def _programs(self):
        """The balance, its derivative with respect to z, and the matrices, traced once as functions of (p, z)."""

        def balance(p, z):
            f, q, qd, qdd = self.resolve(p)
            return balance_residual(f, z, q, qd, qdd, self.encoders)

        def linear(p, z):
            f, _, qd, qdd = self.resolve(p)
            x, tau = z[: f.size], z[f.size :]
            xd = moving_joints(f, qd)
            xdd = moving_joints(f, qdd)
            tau = on_independent(f, tau)
            return matrices(f, MotionPoint(x, xd, xdd, tau), self.locked)

        f = self.model.formulation
        size = f.size + f.n_joints
        p = jnp.zeros(len(self.parameters))
        z = jnp.zeros(size)
        functions = (balance, jax.jacfwd(balance, argnums=1), linear)
        return tuple(jax.make_jaxpr(function)(p, z) for function in functions)


def stacked_matrices(points: Sequence[Any]) -> Matrices:
    """M, C, K of several points, each with a leading axis over them."""
    M, C, K = (np.stack(part) for part in zip(*points, strict=True))
    return M, C, K


def balance_series(
    balance, J: np.ndarray, monomials: Monomials, p0: np.ndarray, z0: np.ndarray
) -> Series:
    """z(p) with balance(p, z(p)) = 0 as a series: Newton's iteration, whose every round adds one order.

    The derivative at the expansion point is inverted once, as the implicit function theorem has it.
    """
    J_inverse = np.linalg.inv(J)
    z = series.constant(z0)
    for order in range(1, monomials.order + 1):
        level = monomials_of(len(p0), order)
        p = variables(level, p0)
        gap = push_forward(level, balance, [p, z])[0]
        # Lower orders are balanced already; what they show is rounding.
        fresh = level.degree[gap.terms] == order
        step = -gap.data[fresh] @ J_inverse.T
        z = series.add_series([z, Series(gap.terms[fresh], step)])
    return z


def linear_quantities(
    names: Sequence[str], A: Float[np.ndarray, "k p"]
) -> Callable[[Any], Mapping[str, Any]]:
    """Quantities that are sums of the parameters, each times a coefficient."""

    def quantities(p):
        moved = {}
        for name, row in zip(names, A, strict=True):
            # Products with zero are left out: they would cost terms of a series.
            moved[name] = sum(row[i] * p[i] for i in np.flatnonzero(row))
        return moved

    return quantities
