"""Explicit Runge-Kutta methods, from diffrax: for robots without stiff links, and to check the implicit ones."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from typing_extensions import override

from ..types import real, whole
from .problem import MotionProblem
from .step import (
    AbstractStep,
    Attempt,
    Moment,
    Tolerance,
    error_weights,
    stop_gradient,
    weighted_size,
)

METHODS = {"dopri5": "Dopri5", "dopri8": "Dopri8", "tsit5": "Tsit5"}
# Order of the embedded method whose difference from the step is the error estimate; dopri8: [PrinceDormand1981].
EMBEDDED_ORDER = {"dopri5": 4, "dopri8": 7, "tsit5": 4}


def full_state_tolerance(tolerance: Tolerance) -> Tolerance:
    """An explicit method must follow every vibration to stay stable, so its error counts every coordinate and rate."""
    return Tolerance(tolerance.rtol, tolerance.atol, everything=True)


class Explicit(AbstractStep):
    """One of `METHODS` on xdd = M^-1 (Q - h)."""

    method: str = eqx.field(static=True, default="dopri8")
    name: ClassVar[str] = "explicit"

    @property
    def order(self) -> int:
        """Order of the embedded method: 7 for dopri8, 4 for dopri5 and tsit5."""
        return EMBEDDED_ORDER[self.method]

    @property
    def solver(self) -> Any:
        """The diffrax solver of the method."""
        import diffrax  # slow to import, and few runs are explicit

        return getattr(diffrax, METHODS[self.method])()

    def _term(self, problem: MotionProblem) -> Any:
        import diffrax

        def slope(t, y, args):
            x, xd, _ = y
            xdd = problem.acceleration(t, x, xd)
            return xd, xdd, problem.powers(t, x, xd, xdd)

        return diffrax.ODETerm(slope)

    def begin(self, problem: MotionProblem, tolerance: Tolerance, now: Moment) -> Any:
        """The method's own state, and the error weights."""
        y = (now.x, now.xd, now.work)
        still, x, xd = stop_gradient((problem, now.x, now.xd))
        _, N = still.matrices(now.t, x, xd)
        tolerance = full_state_tolerance(tolerance)
        weights = error_weights(still, tolerance, N, x, xd)
        term = self._term(problem)
        # diffrax requires the length of the first step, which these methods do not use.
        state = self.solver.init(term, now.t, now.t + 1e-3, y, None)
        return state, weights

    @override
    def attempt(
        self, problem: MotionProblem, tolerance: Tolerance, now: Moment, h, memory
    ) -> Attempt:
        state, weights = memory
        y = (now.x, now.xd, now.work)
        y, error, dense, state, _ = self.solver.step(
            self._term(problem), now.t, now.t + h, y, None, state, made_jump=False
        )
        dx, dxd, _ = stop_gradient(error)
        size = weighted_size(full_state_tolerance(tolerance), weights, dx, dxd)
        return Attempt(
            end=Moment(now.t + h, *y),
            error=size,
            converged=jnp.isfinite(size),
            evaluations=whole(self.solver.tableau.num_stages),
            effort=real(1.0),
            dense=dense,
            memory=(state, weights),
        )

    @override
    def reject(self, memory, attempt: Attempt) -> Any:
        return memory

    def interpolate(self, now: Moment, attempt: Attempt, h, part) -> Moment:
        """The method's own dense output."""
        t = now.t + part * h
        curve = self.solver.interpolation_cls(t0=now.t, t1=now.t + h, **attempt.dense)
        return Moment(t, *curve.evaluate(t))
