"""Generalised-alpha on the second-order residual, [ChungHulbert1993], auxiliary acceleration of [ArnoldBruls2007].

Second order; `spectral_radius` says how much of a vibration far above the step's band is left after one step: 1 keeps
it, 0 kills it.
"""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..algebra.linear import Factors, factorise, identity_factors, solve
from ..types import real, whole
from .problem import Problem, Tangents
from .step import AbstractStep, Attempt, Moment, Sight, Tolerance, sight, size

MAX_ITERATIONS = 10
KAPPA = (
    0.003  # the iteration stops when its error is this small a part of the tolerance
)
SLOW = 0.1  # contraction per iteration beyond which the derivatives are taken anew


class Memory(eqx.Module):
    """Acceleration, its auxiliary twin, derivatives, and factors for one step size."""

    xdd: Float[Array, " n"]
    aside: Float[Array, " n"]
    tangents: Tangents
    view: Sight
    wanted: Any
    h: Float[Array, ""]
    factors: Factors


class GeneralisedAlpha(AbstractStep):
    """Dissipates what the step cannot follow, as much as `spectral_radius` says."""

    spectral_radius: float = eqx.field(static=True, default=0.9)
    order: ClassVar[int] = 2
    name: ClassVar[str] = "generalised-alpha"

    @property
    def weights(self) -> tuple[float, float, float, float]:
        """alpha_m, alpha_f, gamma, beta, [ChungHulbert1993] eqs. (17), (20), (25)."""
        rho = self.spectral_radius
        alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
        gamma = 0.5 - alpha_m + alpha_f
        return alpha_m, alpha_f, gamma, 0.25 * (1 - alpha_m + alpha_f) ** 2

    def begin(self, problem: Problem, tolerance: Tolerance, now: Moment) -> Memory:
        """Acceleration from the equations of motion, and their derivatives."""
        n = now.x.shape[0]
        d = problem.matrices(now.t, now.x, now.xd)
        xdd = -solve(
            factorise(d.M),
            problem.residual(now.t, now.x, now.xd, jnp.zeros(n)),
        )
        view = sight(problem, tolerance, d, now.x, now.xd)
        return Memory(
            xdd,
            xdd,
            d,
            view,
            jnp.asarray(False),
            real(0.0),
            identity_factors(n, float),
        )

    def attempt(
        self, problem: Problem, tolerance: Tolerance, now: Moment, h, memory: Memory
    ) -> Attempt:
        """One step of size h."""
        memory = self._refresh(problem, tolerance, now, h, memory)
        xdd, solved, iterations, rate = self._iterate(
            problem, tolerance, now, h, memory
        )
        x, xd, aside = self._end(now, h, memory, xdd)
        powers = jnp.stack(
            [
                problem.powers(now.t, now.x, now.xd, memory.xdd),
                problem.powers(now.t + h, x, xd, xdd),
            ]
        )
        end = Moment(now.t + h, x, xd, now.work + 0.5 * h * jnp.sum(powers, axis=0))
        beta = self.weights[3]
        error = size(
            tolerance,
            memory.view,
            (beta - 1 / 6) * h**2 * (xdd - memory.xdd),
            0.5 * h * (xdd - memory.xdd),
        )
        slow = (rate > SLOW) & (iterations > 2)
        kept = eqx.tree_at(
            lambda m: (m.xdd, m.aside, m.wanted), memory, (xdd, aside, slow)
        )
        return Attempt(end, error, solved, iterations, real(1.0), (x, xd, powers), kept)

    def _end(self, now: Moment, h, memory: Memory, xdd):
        alpha_m, alpha_f, gamma, beta = self.weights
        aside = (
            (1 - alpha_f) * xdd + alpha_f * memory.xdd - alpha_m * memory.aside
        ) / (1 - alpha_m)
        x = now.x + h * now.xd + h**2 * ((0.5 - beta) * memory.aside + beta * aside)
        return x, now.xd + h * ((1 - gamma) * memory.aside + gamma * aside), aside

    def _iterate(self, problem, tolerance, now: Moment, h, memory: Memory):
        alpha_m, alpha_f, gamma, beta = self.weights
        share = (1 - alpha_f) / (1 - alpha_m)

        def once(loop):
            xdd, i, before, _, _, _ = loop
            x, xd, _ = self._end(now, h, memory, xdd)
            d = -solve(memory.factors, problem.residual(now.t + h, x, xd, xdd))
            norm = size(
                tolerance, memory.view, beta * share * h**2 * d, gamma * share * h * d
            )
            rate = jnp.where(i > 0, norm / jnp.maximum(before, 1e-300), 0.5)
            left = norm * rate / jnp.maximum(1.0 - rate, 1e-3)
            lost = ~jnp.isfinite(norm) | ((i > 0) & (rate >= 0.95) & (left > KAPPA))
            return xdd + d, i + 1, norm, rate, (left < KAPPA) & ~lost, lost

        no, o = jnp.asarray(False), real(0.0)

        def going(loop):
            return (loop[1] < MAX_ITERATIONS) & ~loop[4] & ~loop[5]

        xdd, iterations, _, rate, solved, _ = jax.lax.while_loop(
            going, once, (memory.xdd, whole(0), o, o, no, no)
        )
        return xdd, solved, iterations, rate

    def _refresh(self, problem, tolerance, now: Moment, h, memory: Memory) -> Memory:
        def derivatives():
            d = problem.matrices(now.t, now.x, now.xd)
            return d, sight(problem, tolerance, d, now.x, now.xd)

        alpha_m, alpha_f, gamma, beta = self.weights
        share = (1 - alpha_f) / (1 - alpha_m)
        d, view = jax.lax.cond(
            memory.wanted, derivatives, lambda: (memory.tangents, memory.view)
        )
        factors = jax.lax.cond(
            memory.wanted | (memory.h != h),
            lambda d: factorise(
                d.M + (share * gamma * h) * d.D + (share * beta * h**2) * d.K
            ),
            lambda d: memory.factors,
            d,
        )
        return Memory(memory.xdd, memory.aside, d, view, jnp.asarray(False), h, factors)

    def reject(self, memory: Memory, attempt: Attempt) -> Memory:
        """Old accelerations; new derivatives if the iteration failed."""
        tried: Memory = attempt.memory
        return Memory(
            memory.xdd,
            memory.aside,
            tried.tangents,
            tried.view,
            ~attempt.solved,
            tried.h,
            tried.factors,
        )

    def interpolate(self, now: Moment, attempt: Attempt, h, part) -> Moment:
        """Cubic Hermite between the ends of the step."""
        x, xd, powers = attempt.dense
        s = jnp.asarray(part)
        a, b = x - now.x - h * now.xd, h * (xd - now.xd)
        c2, c3 = 3 * a - b, b - 2 * a
        work = now.work + h * (s * powers[0] + 0.5 * s**2 * (powers[1] - powers[0]))
        at_x = now.x + s * h * now.xd + s**2 * c2 + s**3 * c3
        at_xd = now.xd + (2 * s * c2 + 3 * s**2 * c3) / jnp.where(h > 0, h, 1.0)
        return Moment(now.t + s * h, at_x, at_xd, work)
