"""Generalised-alpha on the second-order residual, [ChungHulbert1993], auxiliary acceleration of [ArnoldBruls2007].

Second order; `spectral_radius` says how much of a vibration far above the step's band remains after one step: 1 all
of it, 0 nothing.
"""

from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array
from typing_extensions import override

from jaxnative.marks import in_all_lanes, in_some_lane, recompute_where

from ..algebra.linear import Factors, factorise, identity_factors, solve, solve_with
from ..types import Float, real, whole
from .implicit import root
from .problem import MotionProblem, Tangents
from .step import (
    AbstractStep,
    Attempt,
    ErrorWeights,
    Moment,
    Tolerance,
    error_weights,
    select,
    stop_gradient,
    weighted_size,
)

MAX_ITERATIONS = 10
KAPPA = 0.003  # the iteration stops when its error is this part of the tolerance
SLOW = 0.1  # contraction per iteration beyond which the derivatives are recomputed


class AlphaMemory(eqx.Module):
    """Acceleration, its auxiliary twin, derivatives, and factors for one step size."""

    xdd: Float[Array, " n"]
    auxiliary: Float[Array, " n"]
    tangents: Tangents
    weights: ErrorWeights
    needs_tangents: Any  # recompute the derivatives before the next step
    h: Float[Array, ""]  # step size the factors are for
    factors: Factors


class AlphaIteration(NamedTuple):
    """State of the simplified Newton iteration."""

    xdd: Float[Array, " n"]
    count: Any
    size: Any  # of the last change, in units of the tolerance
    rate: Any  # by which changes shrink
    converged: Any
    diverged: Any


class GeneralisedAlpha(AbstractStep):
    """Generalised-alpha, with the high-frequency dissipation of `spectral_radius`."""

    spectral_radius: float = eqx.field(static=True, default=0.9)
    order: ClassVar[int] = 2
    name: ClassVar[str] = "generalised-alpha"

    @property
    def weights(self) -> tuple[float, float, float, float]:
        """alpha_m, alpha_f, gamma, beta, [ChungHulbert1993] eqs. (17), (20), (25)."""
        rho = self.spectral_radius
        alpha_m = (2 * rho - 1) / (rho + 1)
        alpha_f = rho / (rho + 1)
        gamma = 0.5 - alpha_m + alpha_f
        beta = 0.25 * (1 - alpha_m + alpha_f) ** 2
        return alpha_m, alpha_f, gamma, beta

    @property
    def _share(self) -> float:
        """Change of the auxiliary acceleration for a unit change of the acceleration."""
        alpha_m, alpha_f, _, _ = self.weights
        return (1 - alpha_f) / (1 - alpha_m)

    def begin(
        self, problem: MotionProblem, tolerance: Tolerance, now: Moment
    ) -> AlphaMemory:
        """Acceleration from the equations of motion, and their derivatives."""
        n = now.x.shape[0]
        motion = problem.formulation.motion(now.x, now.xd, jnp.zeros(n))
        tangents, N = problem.matrices_of(now.t, motion)
        force = problem.residual_of(now.t, motion)
        xdd = -solve(tangents.M, force)
        tangents = stop_gradient(tangents)
        still, N, x, xd = stop_gradient((problem, N, now.x, now.xd))
        weights = error_weights(still, tolerance, N, x, xd)
        no = jnp.asarray(False)
        return AlphaMemory(
            xdd, xdd, tangents, weights, no, real(0.0), identity_factors(n, float)
        )

    def resume(
        self,
        problem: MotionProblem,
        tolerance: Tolerance,
        now: Moment,
        memory: AlphaMemory,
        jump: Float[Array, " n"],
    ) -> AlphaMemory:
        """Both accelerations jump with the torques; derivatives and factors do not know about held torques."""
        xdd = problem.acceleration(now.t, now.x, now.xd)
        auxiliary = memory.auxiliary + (xdd - memory.xdd)
        return eqx.tree_at(lambda m: (m.xdd, m.auxiliary), memory, (xdd, auxiliary))

    @override
    def discard_tangents(self, memory: AlphaMemory) -> AlphaMemory:
        return eqx.tree_at(lambda m: m.needs_tangents, memory, jnp.asarray(True))

    @override
    def attempt(
        self,
        problem: MotionProblem,
        tolerance: Tolerance,
        now: Moment,
        h,
        memory: AlphaMemory,
    ) -> Attempt:
        memory = self._refresh(problem, tolerance, now, h, memory)
        solution, converged, iterations, rate = self._iterate(
            *stop_gradient((problem, tolerance, now, h, memory))
        )
        xdd = root(_residual, _change, solution, (self, problem, now, h, memory))
        x, xd, auxiliary = self._end(now, h, memory, xdd)
        power_before = problem.powers(now.t, now.x, now.xd, memory.xdd)
        power_after = problem.powers(now.t + h, x, xd, xdd)
        powers = jnp.stack([power_before, power_after])
        work = now.work + 0.5 * h * jnp.sum(powers, axis=0)
        # What the trapezoidal rule misses of a linear acceleration.
        beta = self.weights[3]
        jump = xdd - memory.xdd
        error_x = (beta - 1 / 6) * h**2 * jump
        error_x, error_xd = stop_gradient((error_x, 0.5 * h * jump))
        error = weighted_size(tolerance, memory.weights, error_x, error_xd)
        slow = (rate > SLOW) & (iterations > 2)
        next_memory = eqx.tree_at(
            lambda m: (m.xdd, m.auxiliary, m.needs_tangents),
            memory,
            (xdd, auxiliary, slow),
        )
        end = Moment(now.t + h, x, xd, work)
        dense = (x, xd, powers)
        return Attempt(end, error, converged, iterations, real(1.0), dense, next_memory)

    def _end(self, now: Moment, h, memory: AlphaMemory, xdd):
        """Coordinates, rates and auxiliary acceleration at the end of the step."""
        alpha_m, alpha_f, gamma, beta = self.weights
        mixed = (1 - alpha_f) * xdd + alpha_f * memory.xdd
        auxiliary = (mixed - alpha_m * memory.auxiliary) / (1 - alpha_m)
        mean_x = (0.5 - beta) * memory.auxiliary + beta * auxiliary
        mean_xd = (1 - gamma) * memory.auxiliary + gamma * auxiliary
        x = now.x + h * now.xd + h**2 * mean_x
        return x, now.xd + h * mean_xd, auxiliary

    def _iterate(self, problem, tolerance, now: Moment, h, memory: AlphaMemory):
        _, _, gamma, beta = self.weights
        share = self._share

        def once(at: AlphaIteration) -> AlphaIteration:
            arguments = (self, problem, now, h, memory)
            d = -_change(_residual(at.xdd, arguments), arguments)
            dx = beta * share * h**2 * d
            dxd = gamma * share * h * d
            size = weighted_size(tolerance, memory.weights, dx, dxd)
            rate = jnp.where(at.count > 0, size / jnp.maximum(at.size, 1e-300), 0.5)
            left = size * rate / jnp.maximum(1.0 - rate, 1e-3)
            diverges = (at.count > 0) & (rate >= 0.95) & (left > KAPPA)
            diverged = ~jnp.isfinite(size) | diverges
            converged = (left < KAPPA) & ~diverged
            # Changes of a robot that has converged are rounding: they say nothing about its convergence.
            before = (at.rate, at.converged, at.diverged)
            verdict = select(
                at.converged | at.diverged, before, (rate, converged, diverged)
            )
            return AlphaIteration(at.xdd + d, at.count + 1, size, *verdict)

        def going(at: AlphaIteration):
            # Robots in step iterate until the last of them is done.
            return (at.count < MAX_ITERATIONS) & ~in_all_lanes(
                at.converged | at.diverged
            )

        no = jnp.asarray(False)
        start = AlphaIteration(memory.xdd, whole(0), real(0.0), real(0.0), no, no)
        end = jax.lax.while_loop(going, once, start)
        return end.xdd, end.converged, end.count, end.rate

    def _refresh(self, problem, tolerance, now: Moment, h, memory: AlphaMemory):
        """Memory with derivatives recomputed where needed, factors where these or the step size are new."""
        problem, now = stop_gradient((problem, now))
        is_wanted = in_some_lane(memory.needs_tangents)
        _, _, gamma, beta = self.weights
        share = self._share

        def derivatives():
            tangents, N = problem.matrices(now.t, now.x, now.xd)
            weights = error_weights(problem, tolerance, N, now.x, now.xd)
            return tangents, weights

        def factors(tangents, h):
            by_rate = (share * gamma * h) * tangents.D
            by_displacement = (share * beta * h**2) * tangents.K
            return factorise(tangents.M + by_rate + by_displacement)

        tangents, weights = jax.lax.cond(
            is_wanted, derivatives, lambda: (memory.tangents, memory.weights)
        )
        is_new = is_wanted | (memory.h != h)
        new_factors = recompute_where(is_new, factors, memory.factors, tangents, h)
        no = jnp.asarray(False)
        return AlphaMemory(
            memory.xdd, memory.auxiliary, tangents, weights, no, h, new_factors
        )

    def reject(self, memory: AlphaMemory, attempt: Attempt) -> AlphaMemory:
        """Old accelerations; new derivatives if the iteration failed."""
        tried: AlphaMemory = attempt.memory
        return AlphaMemory(
            memory.xdd,
            memory.auxiliary,
            tried.tangents,
            tried.weights,
            ~attempt.converged,
            tried.h,
            tried.factors,
        )

    def interpolate(self, now: Moment, attempt: Attempt, h, part) -> Moment:
        """Cubic Hermite between the ends of the step."""
        x, xd, powers = attempt.dense
        s = jnp.asarray(part)
        # x(s) = x_0 + s h v_0 + c_2 s^2 + c_3 s^3 with the end's x and xd.
        rise = x - now.x - h * now.xd
        turn = h * (xd - now.xd)
        c_2 = 3 * rise - turn
        c_3 = turn - 2 * rise
        at_x = now.x + s * h * now.xd + s**2 * c_2 + s**3 * c_3
        slope = 2 * s * c_2 + 3 * s**2 * c_3
        at_xd = now.xd + slope / jnp.where(h > 0, h, 1.0)
        first, second = powers
        work = now.work + h * (s * first + 0.5 * s**2 * (second - first))
        return Moment(now.t + s * h, at_x, at_xd, work)


def _residual(xdd: Float[Array, " n"], arguments: Any) -> Float[Array, " n"]:
    """Residual of the equations of motion at the end of a step."""
    step, problem, now, h, memory = arguments
    x, xd, _ = step._end(now, h, memory, xdd)
    return problem.residual(now.t + h, x, xd, xdd)


def _change(r: Float[Array, " n"], arguments: Any) -> Float[Array, " n"]:
    """Change of the acceleration that removes a residual, by the factors in the memory."""
    return solve_with(arguments[4].factors, r)
