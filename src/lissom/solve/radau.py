"""Radau IIA of order five on the second-order residual, L-stable and stiffly accurate, [HairerWanner1996] section IV.8.

Unknown are the accelerations of the three stages. With the eigenvectors of the Runge-Kutta matrix, the iteration
falls apart into one real and one complex system of the robot's own size n,

    (M + h mu D + h^2 mu^2 K) w = -r,

whose factors are kept while the iteration converges well.
"""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..algebra.linear import Factors, factorise, identity_factors, solve
from ..types import real, whole
from .problem import Problem, Tangents
from .step import AbstractStep, Attempt, Moment, Sight, Tolerance, sight, size

S6 = 6**0.5
# fmt: off
C = np.array([(4 - S6) / 10, (4 + S6) / 10, 1.0])
A = np.array([[(88 -  7*S6) / 360,   (296 - 169*S6) / 1800, (-2 + 3*S6) / 225],
              [(296 + 169*S6) / 1800, (88 +   7*S6) / 360,  (-2 - 3*S6) / 225],
              [(16 - S6) / 36,        (16 + S6) / 36,        1 / 9          ]])
# fmt: on
A2 = A @ A
LAGRANGE = np.linalg.inv(
    np.vander(C, increasing=True)
)  # l_j(s) = sum_k LAGRANGE[k, j] s^k on the nodes C
ONCE = LAGRANGE / np.array([1, 2, 3])[:, None]  # integrated once, in powers s^1..s^3
TWICE = LAGRANGE / np.array([2, 6, 12])[:, None]  # integrated twice, in powers s^2..s^4

_mu, _T = np.linalg.eig(A)
_real, _complex = int(np.argmin(abs(np.imag(_mu)))), int(np.argmax(np.imag(_mu)))
_Tinv = np.linalg.inv(_T)
MU_REAL, MU_COMPLEX = float(_mu[_real].real), complex(_mu[_complex])
_scale = _T[:, _real] / np.real(
    _T[:, _real]
)  # the real eigenvector, freed from an arbitrary phase
TO_REAL, TO_COMPLEX = np.real(_Tinv[_real] * _scale[0]), _Tinv[_complex]
FROM_REAL, FROM_COMPLEX = np.real(_T[:, _real] / _scale[0]), _T[:, _complex]
ERROR = np.array([-13 - 7 * S6, -13 + 7 * S6, -1.0]) / 3.0

MAX_ITERATIONS = 8
KAPPA = (
    0.003  # the iteration stops when its error is this small a part of the tolerance
)
SLOW = 0.1  # contraction per iteration beyond which the derivatives are taken anew


class Memory(eqx.Module):
    """What a step hands on: accelerations for prediction, derivatives, and factors for one step size."""

    xdd: Float[Array, " n"]  # at the start of the step
    stages: Float[Array, "3 n"]  # of the step before
    h_before: Float[Array, ""]
    tangents: Tangents
    view: Sight
    stale: Any  # are the derivatives old enough to be suspected
    wanted: Any  # take them anew before the next step
    h: Float[Array, ""]  # step size the factors are for
    real: Factors
    cplx: Factors
    contraction: Float[Array, ""]


def iteration_matrix(d: Tangents, h, mu):
    """M + h mu D + h^2 mu^2 K."""
    return d.M + (h * mu) * d.D + (h * mu) ** 2 * d.K


class Radau(AbstractStep):
    """The default: large steps through vibration nobody sees, fifth order where it is seen."""

    order: ClassVar[int] = 3
    name: ClassVar[str] = "radau"

    def begin(self, problem: Problem, tolerance: Tolerance, now: Moment) -> Memory:
        """Acceleration from the equations of motion, and their derivatives."""
        n = now.x.shape[0]
        d = problem.matrices(now.t, now.x, now.xd)
        xdd = -solve(
            factorise(d.M),
            problem.residual(now.t, now.x, now.xd, jnp.zeros(n)),
        )
        no, o = jnp.asarray(False), real(0.0)
        return Memory(
            xdd=xdd,
            stages=jnp.broadcast_to(xdd, (3, n)),
            h_before=o,
            tangents=d,
            view=sight(problem, tolerance, d, now.x, now.xd),
            stale=no,
            wanted=no,
            h=o,
            real=identity_factors(n, float),
            cplx=identity_factors(n, complex),
            contraction=real(1.0),
        )

    def attempt(
        self, problem: Problem, tolerance: Tolerance, now: Moment, h, memory: Memory
    ) -> Attempt:
        """One step of size h."""
        memory = self._refresh(problem, tolerance, now, h, memory)
        guess = predict(memory, h)
        stages, solved, iterations, contraction = iterate(
            problem, tolerance, now, h, memory, guess
        )
        x, xd, _ = stage_states(now, h, stages)
        powers = jax.vmap(problem.powers)(now.t + C * h, x, xd, stages)
        work = now.work + h * (A[2] @ powers)
        end = Moment(now.t + h, x[2], xd[2], work)
        error = estimate(tolerance, now, h, memory, stages)
        slow = (contraction > SLOW) & (iterations > 2)
        kept = eqx.tree_at(
            lambda m: (m.xdd, m.stages, m.h_before, m.stale, m.wanted, m.contraction),
            memory,
            (stages[2], stages, h, jnp.asarray(True), slow, contraction),
        )
        effort = (2.0 * MAX_ITERATIONS + 1.0) / (2.0 * MAX_ITERATIONS + iterations)
        return Attempt(
            end, error, solved, 3 * iterations, effort, (stages, powers), kept
        )

    def _refresh(self, problem, tolerance, now, h, memory: Memory) -> Memory:
        def derivatives():
            d = problem.matrices(now.t, now.x, now.xd)
            return d, sight(problem, tolerance, d, now.x, now.xd), jnp.asarray(False)

        def factors(d):
            return tuple(
                factorise(iteration_matrix(d, h, mu)) for mu in (MU_REAL, MU_COMPLEX)
            )

        d, view, stale = jax.lax.cond(
            memory.wanted,
            derivatives,
            lambda: (memory.tangents, memory.view, memory.stale),
        )
        new = memory.wanted | (memory.h != h)
        real, cplx = jax.lax.cond(new, factors, lambda d: (memory.real, memory.cplx), d)
        return eqx.tree_at(
            lambda m: (m.tangents, m.view, m.stale, m.wanted, m.h, m.real, m.cplx),
            memory,
            (d, view, stale, jnp.asarray(False), h, real, cplx),
        )

    def reject(self, memory: Memory, attempt: Attempt) -> Memory:
        """Keep the derivatives just taken; take new ones if the iteration failed with old ones."""
        tried: Memory = attempt.memory
        was_fresh = jnp.logical_not(memory.stale) | memory.wanted
        return eqx.tree_at(
            lambda m: (m.xdd, m.stages, m.h_before, m.stale, m.wanted),
            tried,
            (
                memory.xdd,
                memory.stages,
                memory.h_before,
                memory.stale & ~memory.wanted,
                ~attempt.solved & ~was_fresh,
            ),
        )

    def interpolate(self, now: Moment, attempt: Attempt, h, part) -> Moment:
        """The collocation polynomial: quadratic accelerations, integrated."""
        stages, powers = attempt.dense
        s = jnp.asarray(part)
        once = jnp.stack([s, s**2, s**3]) @ ONCE
        twice = jnp.stack([s**2, s**3, s**4]) @ TWICE
        return Moment(
            now.t + s * h,
            now.x + (s * h) * now.xd + h**2 * (twice @ stages),
            now.xd + h * (once @ stages),
            now.work + h * (once @ powers),
        )


def stage_states(now: Moment, h, stages):
    """Coordinates, rates and times of the three stages."""
    x = now.x + (h * C)[:, None] * now.xd + h**2 * (A2 @ stages)
    xd = now.xd + h * (A @ stages)
    return x, xd, now.t + C * h


def predict(memory: Memory, h) -> Float[Array, "3 n"]:
    """Accelerations of the new stages from the polynomial of the step before."""
    ratio = jnp.where(
        memory.h_before > 0,
        h / jnp.where(memory.h_before > 0, memory.h_before, 1.0),
        0.0,
    )
    s = 1.0 + C * ratio
    return jnp.stack([jnp.ones(3), s, s**2], axis=1) @ LAGRANGE @ memory.stages


def iterate(
    problem: Problem, tolerance: Tolerance, now: Moment, h, memory: Memory, guess
):
    """Simplified Newton iteration on the stage accelerations."""

    def change(stages):
        x, xd, t = stage_states(now, h, stages)
        r = jax.vmap(problem.residual)(t, x, xd, stages)
        w, z = (
            solve(memory.real, TO_REAL @ r),
            solve(memory.cplx, TO_COMPLEX @ r.astype(complex)),
        )
        return -(jnp.outer(FROM_REAL, w) + 2.0 * jnp.real(jnp.outer(FROM_COMPLEX, z)))

    def going(loop):
        return (loop[1] < MAX_ITERATIONS) & ~loop[4] & ~loop[5]

    def once(loop):
        stages, i, before, rate, _, _ = loop
        d = change(stages)
        dx, dxd = h**2 * (A2 @ d), h * (A @ d)
        norm = jnp.max(
            jax.vmap(lambda dx, dxd: size(tolerance, memory.view, dx, dxd))(dx, dxd)
        )
        rate = jnp.where(
            i > 0, norm / jnp.maximum(before, 1e-300), jnp.clip(rate, 1e-3, 0.9)
        )
        left = norm * rate / jnp.maximum(1.0 - rate, 1e-3)
        lost = ~jnp.isfinite(norm) | ((i > 0) & (rate >= 0.95) & (left > KAPPA))
        return stages + d, i + 1, norm, rate, (left < KAPPA) & ~lost, lost

    no = jnp.asarray(False)
    start = (guess, whole(0), real(0.0), jnp.minimum(memory.contraction, 0.5), no, no)
    stages, iterations, _, rate, solved, _ = jax.lax.while_loop(going, once, start)
    return stages, solved, iterations, rate


def estimate(
    tolerance: Tolerance, now: Moment, h, memory: Memory, stages
) -> Float[Array, ""]:
    """Embedded error of third order, filtered by the real iteration matrix, [HairerWanner1996] eq. (IV.8.19)."""
    x, xd, _ = stage_states(now, h, stages)
    gamma, d = MU_REAL, memory.tangents
    e_x = gamma * (h * now.xd + ERROR @ (x - now.x))
    e_xd = gamma * (h * memory.xdd + ERROR @ (xd - now.xd))
    dxd = solve(memory.real, d.M @ e_xd - (h * gamma) * (d.K @ e_x))
    return size(tolerance, memory.view, e_x + h * gamma * dxd, dxd)
