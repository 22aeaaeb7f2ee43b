"""What drives a robot, as smooth pieces between the times where something jumps or bends.

Tables are split at their points, so that a step never crosses a discontinuity: on each piece a table is a polynomial
in time.
"""

import abc
from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.interpolate import CubicSpline

from ..types import Real, real


class Piece(eqx.Module):
    """Polynomial in time since `start`: sum_k c_k (t - start)^k."""

    start: Float[Array, ""]
    coefficients: Float[Array, "k *shape"]

    def value(self, t) -> Float[Array, "*shape"]:
        """Value at time t."""
        total = jnp.zeros(self.coefficients.shape[1:])
        for c in self.coefficients[::-1]:
            total = total * (t - self.start) + c
        return total

    def derivative(self) -> "Piece":
        """The rate of change, as a polynomial."""
        k = jnp.arange(1, self.coefficients.shape[0], dtype=float)
        return Piece(
            self.start,
            self.coefficients[1:] * k.reshape(-1, *[1] * (self.coefficients.ndim - 1)),
        )


class Table:
    """Values over time, `linear` or `hold` between points; two points at one time are a jump."""

    def __init__(
        self,
        t: Sequence[float],
        value: Any,
        interpolation: str = "linear",
        after: str = "zero",
    ):
        self.t = np.asarray(t, dtype=float)
        self.value = np.asarray(value, dtype=float)
        self.interpolation, self.after = interpolation, after

    @property
    def breakpoints(self) -> np.ndarray:
        """Times where the table is not smooth."""
        return np.unique(self.t)

    def piece(self, a: float, b: float) -> Piece:
        """The polynomial on (a, b), which must not contain a breakpoint."""
        middle, (first, last) = 0.5 * (a + b), (self.t[0], self.t[-1])
        if middle < first:
            start, slope = (
                self.value[0] if self.after == "hold" else 0 * self.value[0],
                0 * self.value[0],
            )
        elif middle >= last:
            start, slope = (
                self.value[-1] if self.after == "hold" else 0 * self.value[-1],
                0 * self.value[-1],
            )
        else:
            k = int(np.searchsorted(self.t, middle, side="right")) - 1
            slope = (self.value[k + 1] - self.value[k]) / (self.t[k + 1] - self.t[k])
            slope = 0 * slope if self.interpolation == "hold" else slope
            start = self.value[k] + slope * (a - self.t[k])
        return Piece(real(a), real(np.stack([start, slope])))


class Spline:
    """Cubic spline through the points, at rest at both ends and holding the end values outside."""

    def __init__(self, t: Sequence[float], value: Any):
        self.t, self.value = np.asarray(t, dtype=float), np.asarray(value, dtype=float)
        self.spline = CubicSpline(self.t, self.value, bc_type="clamped")

    @property
    def breakpoints(self) -> np.ndarray:
        """The spline's knots."""
        return self.t

    def piece(self, a: float, b: float) -> Piece:
        """The cubic on (a, b), which must not contain a knot."""
        middle = 0.5 * (a + b)
        if not self.t[0] < middle < self.t[-1]:
            end = self.value[0] if middle <= self.t[0] else self.value[-1]
            return Piece(real(a), real(np.array([end, 0.0, 0.0, 0.0])))
        c = [
            self.spline(a, nu) / factor
            for nu, factor in enumerate((1.0, 1.0, 2.0, 6.0))
        ]
        # Derivatives at a knot belong to the piece on the right: they are taken back from the middle.
        third = self.spline(middle, 3)
        c[3], c[2] = third / 6.0, (self.spline(middle, 2) - third * (middle - a)) / 2.0
        return Piece(real(a), real(np.array(c, dtype=float)))


class AbstractLaw(eqx.Module):
    """A control law, smooth on one piece of time: (t, state) -> joint torques."""

    @abc.abstractmethod
    def __call__(self, t, state) -> Float[Array, " j"]:
        """Joint torques [N m or N]."""


class Function(AbstractLaw):
    """A user's function of (t, state): compiled if it is written in JAX, else called back each time (slower)."""

    function: Callable = eqx.field(static=True)

    def __call__(self, t, state) -> Float[Array, " j"]:
        """Joint torques [N m or N]."""
        try:
            return jnp.asarray(self.function(t, state), dtype=float)
        except (
            jax.errors.ConcretizationTypeError
        ):  # float(t), if t > 1, np.sin(t): plain Python
            return called_back(self.function, t, state)


def called_back(function: Callable, t, state) -> Float[Array, " j"]:
    """Value of a plain Python function inside compiled code; implicit steps treat it as constant while they iterate."""
    shape = jax.ShapeDtypeStruct(state.q.shape, state.q.dtype)

    def host(t, state):
        return np.asarray(function(t, state), dtype=float)

    frozen = jax.lax.stop_gradient((t, state))
    return _opaque(
        lambda at: jax.pure_callback(host, shape, *at, vmap_method="sequential"), frozen
    )


def _opaque(function: Callable, argument: Any) -> Any:
    """A function without derivatives."""
    wrapped = jax.custom_jvp(function)
    wrapped.defjvp(
        lambda primals, tangents: (function(*primals), jnp.zeros(primals[0][1].q.shape))
    )
    return wrapped(argument)


class NodeLoad(eqx.Module):
    """Wrench (force, moment) on one node over a piece of time."""

    link: int = eqx.field(static=True)
    node: int = eqx.field(static=True)  # counted along the link
    in_world: bool = eqx.field(static=True)  # world axes, else link axes
    wrench: Piece


class Loads(eqx.Module):
    """Everything that drives the robot during one piece of time."""

    torque: Piece | None = None
    law: AbstractLaw | None = None
    wrenches: tuple[NodeLoad, ...] = ()
    motion: tuple[Piece, ...] = ()
    prescribed: tuple[int, ...] = eqx.field(static=True, default=())


class Inputs:
    """Everything that drives the robot during a run."""

    def __init__(self, joints: int, torque=(), wrenches=(), motion=(), law: Any = None):
        self.joints = joints
        self.torque: tuple[tuple[int, Table], ...] = tuple(torque)
        self.wrenches: tuple[tuple[int, int, bool, Table], ...] = tuple(wrenches)
        self.motion: tuple[tuple[int, Spline], ...] = tuple(motion)
        self.law = law

    def breakpoints(self, t_end: float) -> np.ndarray:
        """Start, end, and every time between at which an input is not smooth."""
        tables = [table for *_, table in (*self.torque, *self.wrenches, *self.motion)]
        times = [table.breakpoints for table in tables] + [
            getattr(self.law, "breakpoints", np.zeros(0))
        ]
        inside = np.unique(np.concatenate([np.zeros(0), *times]))
        return np.concatenate(
            [[0.0], inside[(inside > 0.0) & (inside < t_end)], [t_end]]
        )

    def on(self, a: float, b: float) -> Loads:
        """The smooth loads on the piece (a, b)."""
        law = self.law.on(a, b) if hasattr(self.law, "on") else self.law
        return Loads(
            torque=self._torque(a, b),
            law=Function(law)
            if callable(law) and not isinstance(law, AbstractLaw)
            else law,
            wrenches=tuple(
                NodeLoad(i, k, bool(world), table.piece(a, b))
                for i, k, world, table in self.wrenches
            ),
            motion=tuple(spline.piece(a, b) for _, spline in self.motion),
            prescribed=tuple(joint for joint, _ in self.motion),
        )

    def _torque(self, a: float, b: float) -> Piece | None:
        if not self.torque:
            return None
        coefficients = np.zeros((2, self.joints))
        for joint, table in self.torque:
            coefficients[:, joint] += np.asarray(table.piece(a, b).coefficients)
        return Piece(real(a), real(coefficients))


def constant_torque(torque: Float[Real, " j"]) -> "Inputs":
    """A torque that never changes."""
    value = np.asarray(torque, dtype=float)
    tables = [
        (joint, Table([0.0], [tau], after="hold")) for joint, tau in enumerate(value)
    ]
    return Inputs(len(value), torque=tables)
