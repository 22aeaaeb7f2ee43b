"""Radau IIA of order five on the second-order residual, L-stable and stiffly accurate, [HairerWanner1996] section IV.8.

Unknown are the accelerations of the three stages. With the eigenvectors of the Runge-Kutta matrix, the iteration
decouples into one real and one complex system of the robot's own size n,

    (M + h mu D + h^2 mu^2 K) w = -r,

whose factors are reused while the iteration converges well.
"""

from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from typing_extensions import override

from jaxnative.marks import in_all_lanes, in_some_lane, recompute_where, vmap_rows

from ..algebra.linear import Factors, factorise, identity_factors, solve_with
from ..types import Float, real, whole
from .implicit import root
from .problem import MotionProblem, Tangents, is_none
from .recorded import (
    REACH,
    ErrorAccount,
    RecordedQuantities,
    balance_step,
    first_account,
    iteration_error,
    recorded_errors,
    recorded_maps,
    recorded_sizes,
)
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
from .step_energy import largest_energy, lost_energy

S6 = 6**0.5
# fmt: off
C = np.array([(4 - S6) / 10, (4 + S6) / 10, 1.0])
A = np.array([[(88 -  7*S6) / 360,   (296 - 169*S6) / 1800, (-2 + 3*S6) / 225],
              [(296 + 169*S6) / 1800, (88 +   7*S6) / 360,  (-2 - 3*S6) / 225],
              [(16 - S6) / 36,        (16 + S6) / 36,        1 / 9          ]])
# fmt: on
A2 = A @ A
# Lagrange's polynomials on the nodes C, l_j(s) = sum_k LAGRANGE[k, j] s^k, and their first and second integral.
LAGRANGE = np.linalg.inv(np.vander(C, increasing=True))
ONCE = LAGRANGE / np.array([1, 2, 3])[:, None]  # in powers s^1..s^3
TWICE = LAGRANGE / np.array([2, 6, 12])[:, None]  # in powers s^2..s^4

# A has one real and a pair of complex eigenvalues; of the pair, the one with positive imaginary part is used.
_mu, _T = np.linalg.eig(A)
_Tinv = np.linalg.inv(_T)
_real = int(np.argmin(abs(np.imag(_mu))))
_complex = int(np.argmax(np.imag(_mu)))
MU_REAL = float(_mu[_real].real)
MU_COMPLEX = complex(_mu[_complex])
# LAPACK leaves the phase of the real eigenvector open.
_phase = _T[0, _real] / np.real(_T[0, _real])
TO_REAL = np.real(_Tinv[_real] * _phase)
TO_COMPLEX = _Tinv[_complex]
FROM_REAL = np.real(_T[:, _real] / _phase)
FROM_COMPLEX = _T[:, _complex]
ERROR = np.array([-13 - 7 * S6, -13 + 7 * S6, -1.0]) / 3.0

MAX_ITERATIONS = 8
KAPPA = 0.003  # the iteration stops when its error is this part of the tolerance
# Parts of the energy that a run may lose: by residuals of the iteration, and by the method itself.
ENERGY_KAPPA = 0.1
ENERGY_METHOD = 0.5
RECORDED_KAPPA = 0.1  # the same part of the errors of what is recorded
# Filters that a lasting error passes: each halves a vibration at omega h = 3.6, all of them one at 1.4.
FILTERS = 5
# Share of the unused allowance of earlier steps, in one step.
ENERGY_SPENT = 0.25
# Losses fall with h^6, what is allowed with h: the error of a step is taken to fall with h^4.
ENERGY_POWER = 0.8
# A step whose motion is right to this part of the tolerance is short enough: a robot at rest has no energy to lose.
ENERGY_REACH = 1e3
SLOW = 0.1  # contraction per iteration beyond which the derivatives are recomputed


class JumpMemory(eqx.Module):
    """Memory for steps that begin with a jump of the forces, as under sampled laws."""

    jumped: Any  # whether the next step begins so,
    jump: Float[Array, " n"]  # and by how much
    # M xdd + D xd + K x at the stages of the step before, which changes slowly even while links vibrate.
    slow_forces: Float[Array, "3 n"]
    inertia: Factors  # of M: accelerations jump too


class RadauMemory(eqx.Module):
    """State of the method between steps: accelerations for prediction, derivatives, and factors for one step size."""

    xdd: Float[Array, " n"]  # at the start of the step
    stages: Float[Array, "3 n"]  # of the step before
    jumps: JumpMemory | None  # None where no sampled law acts
    h_before: Float[Array, ""]
    tangents: Tangents
    weights: ErrorWeights
    stale: Any  # are the derivatives possibly outdated
    # recompute them before the next step: all robots in lanes do, or none
    needs_tangents: Any
    h: Float[Array, ""]  # step size the factors are for
    real: Factors
    cplx: Factors
    contraction: Float[Array, ""]
    largest_energy: Float[Array, ""]  # of the run so far, see `largest_energy`
    spare_energy: Float[Array, ""]  # unused allowance of the steps so far
    account: ErrorAccount | None = None  # of errors in what the run records


def iteration_matrix(tangents: Tangents, h, mu):
    """M + h mu D + h^2 mu^2 K."""
    return tangents.M + (h * mu) * tangents.D + (h * mu) ** 2 * tangents.K


class Radau(AbstractStep):
    """The default: large steps through vibration below the tolerance, fifth order above it."""

    order: ClassVar[int] = 3
    name: ClassVar[str] = "radau"
    follows_recorded: ClassVar[bool] = True

    def begin(
        self, problem: MotionProblem, tolerance: Tolerance, now: Moment
    ) -> RadauMemory:
        """Acceleration from the equations of motion, and their derivatives."""
        problem, now = stop_gradient((problem, now))
        n = now.x.shape[0]
        tangents, N = problem.matrices(now.t, now.x, now.xd)
        # As one stage: machine code has one function for all stages, and needs no other.
        at_rest = (now.t[None], now.x[None], now.xd[None], jnp.zeros((1, n)))
        (force,) = vmap_rows(problem.residual)(*at_rest)
        inertia = factorise(tangents.M)
        xdd = -solve_with(inertia, force)
        no = jnp.asarray(False)
        jumps = JumpMemory(no, jnp.zeros(n), jnp.zeros((3, n)), inertia)
        account = None
        if tolerance.recorded is not None:
            account = first_account(problem, tolerance.recorded, tangents, N)
        return RadauMemory(
            xdd=xdd,
            stages=jnp.broadcast_to(xdd, (3, n)),
            jumps=None if problem.sampled_law is None else jumps,
            h_before=real(0.0),
            tangents=tangents,
            weights=error_weights(problem, tolerance, N, now.x, now.xd),
            stale=no,
            needs_tangents=no,
            h=real(0.0),
            real=identity_factors(n, float),
            cplx=identity_factors(n, complex),
            contraction=real(1.0),
            largest_energy=largest_energy(tangents.M, tangents.elastic, now.x, now.xd),
            spare_energy=real(0.0),
            account=account,
        )

    def restart(
        self,
        problem: MotionProblem,
        tolerance: Tolerance,
        now: Moment,
        memory: RadauMemory,
    ) -> RadauMemory:
        """Restart that keeps what is known about the run as a whole."""
        fresh = self.begin(problem, tolerance, now)
        most = jnp.maximum(fresh.largest_energy, memory.largest_energy)
        energies = (most, memory.spare_energy)
        fresh = eqx.tree_at(
            lambda m: (m.largest_energy, m.spare_energy), fresh, energies
        )
        if memory.account is None:
            return fresh
        return eqx.tree_at(
            lambda m: (m.account.largest, m.account.spent, m.account.earned),
            fresh,
            (memory.account.largest, memory.account.spent, memory.account.earned),
        )

    def resume(
        self,
        problem: MotionProblem,
        tolerance: Tolerance,
        now: Moment,
        memory: RadauMemory,
        jump: Float[Array, " n"],
    ) -> RadauMemory:
        """The accelerations jump with the torques; derivatives and factors do not know about held torques."""
        jumps = memory.jumps
        if jumps is None:
            return super().resume(problem, tolerance, now, memory, jump)
        jump = stop_gradient(jump)
        xdd = memory.xdd + solve_with(jumps.inertia, jump)
        jumps = JumpMemory(jnp.asarray(True), jump, jumps.slow_forces, jumps.inertia)
        return eqx.tree_at(lambda m: (m.xdd, m.jumps), memory, (xdd, jumps))

    @override
    def discard_tangents(self, memory: RadauMemory) -> RadauMemory:
        return eqx.tree_at(lambda m: m.needs_tangents, memory, jnp.asarray(True))

    @override
    def attempt(
        self,
        problem: MotionProblem,
        tolerance: Tolerance,
        now: Moment,
        h,
        memory: RadauMemory,
    ) -> Attempt:
        before = memory
        memory = self._refresh(problem, tolerance, now, h, memory)
        still, at_rest = stop_gradient((problem, now))
        guess = predict(memory, h)
        if before.jumps is not None:
            # Slow forces belong to the derivatives that they were formed with.
            is_linear = before.jumps.jumped & ~before.needs_tangents
            linear = predict_after_jump(memory, at_rest, h)
            guess = jnp.where(is_linear, linear, guess)
        solution, converged, iterations, contraction = iterate(
            still, tolerance, at_rest, h, memory, guess
        )
        stages = root(residuals, stage_changes, solution, (problem, now, h, memory))
        end, dense = end_of_step(problem, now, h, stages)
        error = estimate(tolerance, at_rest, h, memory, solution)
        if is_audited(problem, tolerance):
            memory, energy_size = energy_error(tolerance, at_rest, h, memory, solution)
            error = jnp.maximum(error, jnp.minimum(energy_size, ENERGY_REACH * error))
        if tolerance.recorded is not None:
            memory, size = recorded_error(
                still, tolerance.recorded, at_rest, h, memory, solution
            )
            error = jnp.maximum(error, jnp.minimum(size, REACH * error))
        slow = in_some_lane((contraction > SLOW) & (iterations > 2))
        next_memory = eqx.tree_at(
            lambda m: (
                m.xdd,
                m.stages,
                m.h_before,
                m.stale,
                m.needs_tangents,
                m.contraction,
            ),
            memory,
            (solution[2], solution, h, jnp.asarray(True), slow, contraction),
        )
        if memory.jumps is not None:
            d = memory.tangents
            x, xd, _ = stage_states(at_rest, h, solution)
            slow_forces = solution @ d.M.T + xd @ d.D.T + x @ d.K.T
            no = jnp.asarray(False)
            next_memory = eqx.tree_at(
                lambda m: (m.jumps.jumped, m.jumps.slow_forces),
                next_memory,
                (no, slow_forces),
            )
        # A step that took many iterations is followed by a shorter one, as in [HairerWanner1996] section IV.8.
        effort = (2.0 * MAX_ITERATIONS + 1.0) / (2.0 * MAX_ITERATIONS + iterations)
        return Attempt(
            end, error, converged, 3 * iterations, effort, dense, next_memory
        )

    def solution(self, memory: RadauMemory) -> Float[Array, "3 n"]:
        """Accelerations (3, n) of the stages."""
        return memory.stages

    def retrace(
        self,
        problem: MotionProblem,
        tolerance: Tolerance,
        now: Moment,
        h,
        memory: RadauMemory,
        solution: Float[Array, "3 n"],
    ) -> Attempt:
        """A step whose stages are known: nothing is iterated, and matrices serve derivatives alone."""
        still, at_rest = stop_gradient((problem, now))
        x, xd, t = stage_states(at_rest, h, solution)
        # The second stage lies between the two others: its matrices are nearest to those of all three.
        tangents, _ = still.matrices(t[1], x[1], xd[1])
        factors = step_factors(tangents, h)
        fresh = eqx.tree_at(lambda m: (m.real, m.cplx), memory, factors)
        stages = root(residuals, stage_changes, solution, (problem, now, h, fresh))
        end, dense = end_of_step(problem, now, h, stages)
        none = real(0.0)
        return Attempt(end, none, jnp.asarray(True), whole(0), none, dense, memory)

    def _refresh(self, problem, tolerance, now, h, memory: RadauMemory) -> RadauMemory:
        """Memory with derivatives recomputed where needed, factors where these or the step size are new."""
        problem, now = stop_gradient((problem, now))
        is_wanted = in_some_lane(memory.needs_tangents)
        jumps, account = memory.jumps, memory.account
        inertia_before = None if jumps is None else jumps.inertia
        maps_before = None if account is None else account.maps

        def derivatives():
            tangents, N = problem.matrices(now.t, now.x, now.xd)
            weights = error_weights(problem, tolerance, N, now.x, now.xd)
            inertia = None if jumps is None else factorise(tangents.M)
            maps = None
            if account is not None:
                maps = recorded_maps(problem, tolerance.recorded, tangents, N)
            return tangents, weights, inertia, maps, jnp.asarray(False)

        tangents, weights, inertia, maps, stale = jax.lax.cond(
            is_wanted,
            derivatives,
            lambda: (
                memory.tangents,
                memory.weights,
                inertia_before,
                maps_before,
                memory.stale,
            ),
        )
        if jumps is not None:
            jumps = eqx.tree_at(lambda j: j.inertia, jumps, inertia)
        if account is not None:
            account = eqx.tree_at(lambda a: a.maps, account, maps)
        is_new = is_wanted | (memory.h != h)
        factors = (memory.real, memory.cplx)
        real_factors, complex_factors = recompute_where(
            is_new, step_factors, factors, tangents, h
        )
        no = jnp.asarray(False)
        return eqx.tree_at(
            lambda m: (
                m.tangents,
                m.weights,
                m.jumps,
                m.stale,
                m.needs_tangents,
                m.h,
                m.real,
                m.cplx,
                m.account,
            ),
            memory,
            (
                tangents,
                weights,
                jumps,
                stale,
                no,
                h,
                real_factors,
                complex_factors,
                account,
            ),
            is_leaf=is_none,
        )

    def reject(self, memory: RadauMemory, attempt: Attempt) -> RadauMemory:
        """Keep the derivatives just taken; take new ones if the iteration failed with old ones."""
        tried: RadauMemory = attempt.memory
        was_fresh = jnp.logical_not(memory.stale) | memory.needs_tangents
        still_stale = memory.stale & ~memory.needs_tangents
        take_anew = in_some_lane(~attempt.converged & ~was_fresh)
        # A converged step that is repeated begins as it did.
        is_good = attempt.converged & (attempt.error <= 1.0)
        contraction = jnp.where(is_good, memory.contraction, tried.contraction)
        jumps = memory.jumps
        if jumps is not None and tried.jumps is not None:
            jumped = jumps.jumped & ~memory.needs_tangents
            inertia = tried.jumps.inertia
            jumps = JumpMemory(jumped, jumps.jump, jumps.slow_forces, inertia)
        account = memory.account
        if account is not None and tried.account is not None:
            account = eqx.tree_at(lambda a: a.maps, account, tried.account.maps)
        return eqx.tree_at(
            lambda m: (
                m.xdd,
                m.stages,
                m.jumps,
                m.h_before,
                m.stale,
                m.needs_tangents,
                m.contraction,
                m.largest_energy,
                m.spare_energy,
                m.account,
            ),
            tried,
            (
                memory.xdd,
                memory.stages,
                jumps,
                memory.h_before,
                still_stale,
                take_anew,
                contraction,
                memory.largest_energy,
                memory.spare_energy,
                account,
            ),
            is_leaf=is_none,
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


def step_factors(tangents: Tangents, h) -> tuple[Factors, Factors]:
    """Factors of the real and of the complex iteration matrix of a step."""
    real_matrix = iteration_matrix(tangents, h, MU_REAL)
    complex_matrix = iteration_matrix(tangents, h, MU_COMPLEX)
    return factorise(real_matrix), factorise(complex_matrix)


def end_of_step(problem: MotionProblem, now: Moment, h, stages) -> tuple[Moment, Any]:
    """The end of a step with these accelerations of its stages, and what `interpolate` needs."""
    x, xd, t = stage_states(now, h, stages)
    powers = vmap_rows(problem.powers)(t, x, xd, stages)
    work = now.work + h * (A[2] @ powers)
    return Moment(now.t + h, x[2], xd[2], work), (stages, powers)


def stage_states(now: Moment, h, stages):
    """Coordinates, rates and times of the three stages."""
    x = now.x + (h * C)[:, None] * now.xd + h**2 * (A2 @ stages)
    xd = now.xd + h * (A @ stages)
    return x, xd, now.t + C * h


def predict(memory: RadauMemory, h) -> Float[Array, "3 n"]:
    """Accelerations of the new stages from the polynomial of the step before."""
    return _extrapolate(memory, h, memory.stages)


def _extrapolate(
    memory: RadauMemory, h, values: Float[Array, "3 n"]
) -> Float[Array, "3 n"]:
    """Values at the new stages from those at the stages of the step before; constant where there was none."""
    has_past = memory.h_before > 0
    ratio = h / jnp.where(has_past, memory.h_before, 1.0)
    s = 1.0 + C * jnp.where(has_past, ratio, 0.0)
    powers = jnp.stack([jnp.ones(3), s, s**2], axis=1)
    return powers @ LAGRANGE @ values


def predict_after_jump(memory: RadauMemory, now: Moment, h) -> Float[Array, "3 n"]:
    """Accelerations of the new stages after a jump of the forces, which excites the links.

    Oscillating accelerations have no polynomial worth continuing. The forces M xdd + D xd + K x = slow(t) have: they
    are continued, with the jump, and the linear equations of the stages are solved under them.
    """
    d, jumps = memory.tangents, memory.jumps
    assert jumps is not None
    slow = _extrapolate(memory, h, jumps.slow_forces) + jumps.jump
    drift = now.x + (h * C)[:, None] * now.xd
    missing = d.D @ now.xd + drift @ d.K.T - slow
    return -_stages_of(memory, missing)


def _stages_of(memory: RadauMemory, force: Float[Array, "3 n"]) -> Float[Array, "3 n"]:
    """Accelerations of the stages under forces at the stages, by the transformed systems."""
    w = solve_with(memory.real, TO_REAL @ force)
    # Real and imaginary part apart: a product with complex forces would be twice the work.
    transformed = jax.lax.complex(TO_COMPLEX.real @ force, TO_COMPLEX.imag @ force)
    z = solve_with(memory.cplx, transformed)
    # The second complex system is the conjugate of the first: twice the real part.
    return jnp.outer(FROM_REAL, w) + 2.0 * jnp.real(jnp.outer(FROM_COMPLEX, z))


def residuals(stages: Float[Array, "3 n"], arguments: Any) -> Float[Array, "3 n"]:
    """Residuals of the equations of motion at the three stages."""
    problem, now, h, _ = arguments
    x, xd, t = stage_states(now, h, stages)
    return vmap_rows(problem.residual)(t, x, xd, stages)


def stage_changes(r: Float[Array, "3 n"], arguments: Any) -> Float[Array, "3 n"]:
    """Changes of the stages' accelerations that remove the residuals, by the factors in the memory."""
    return _stages_of(arguments[3], r)


class RadauIteration(NamedTuple):
    """State of the simplified Newton iteration."""

    stages: Float[Array, "3 n"]
    count: Any
    size: Any  # of the last change, in units of the tolerance
    rate: Any  # by which changes shrink
    is_near: Any  # is the error of encoders and nodes small enough
    converged: Any  # and that of the energy
    diverged: Any


def iterate(
    problem: MotionProblem,
    tolerance: Tolerance,
    now: Moment,
    h,
    memory: RadauMemory,
    guess,
):
    """Simplified Newton iteration on the stage accelerations, [HairerWanner1996] section IV.8."""
    arguments = (problem, now, h, memory)

    def size_of(d):
        dx = h**2 * (A2 @ d)
        dxd = h * (A @ d)
        sizes = jax.vmap(
            lambda dx, dxd: weighted_size(tolerance, memory.weights, dx, dxd)
        )(dx, dxd)
        return jnp.max(sizes)

    def work_of(r, stages):
        if not is_audited(problem, tolerance):
            return real(0.0)
        return unbalanced_work(tolerance, now, h, memory, r, stages)

    def recorded_part(d, size):
        """Changes of what is recorded at the end of the step, in units of what the step may make."""
        account, recorded = memory.account, tolerance.recorded
        assert account is not None and recorded is not None
        dx, dxd = h**2 * (A2[2] @ d), h * (A[2] @ d)
        part = iteration_error(account, recorded, memory.tangents, h, dx, dxd)
        return jnp.minimum(part, REACH * size)

    def going(at: RadauIteration):
        # Robots in step iterate until the last of them is done.
        return (at.count < MAX_ITERATIONS) & ~in_all_lanes(at.converged | at.diverged)

    def once(at: RadauIteration) -> RadauIteration:
        r = residuals(at.stages, arguments)
        d = -stage_changes(r, arguments)
        size = size_of(d)
        # Before a second change is known, the rate of the step before is used.
        first_rate = jnp.clip(at.rate, 1e-3, 0.9)
        rate = jnp.where(at.count > 0, size / jnp.maximum(at.size, 1e-300), first_rate)
        shrinking = rate / jnp.maximum(1.0 - rate, 1e-3)
        left = size * shrinking
        diverges = (at.count > 0) & (rate >= 0.95) & (left > KAPPA)
        diverged = ~jnp.isfinite(size) | diverges
        is_near = (left < KAPPA) & ~diverged
        converged = is_near & (work_of(r, at.stages) * shrinking <= ENERGY_KAPPA)
        if tolerance.recorded is not None:
            part = recorded_part(d, size) * shrinking
            converged = converged & (part <= RECORDED_KAPPA)
        verdict = (rate, is_near, converged, diverged)
        # Changes of a robot that has converged are rounding: they say nothing about its convergence.
        before = (at.rate, at.is_near, at.converged, at.diverged)
        verdict = select(at.converged | at.diverged, before, verdict)
        return RadauIteration(at.stages + d, at.count + 1, size, *verdict)

    no = jnp.asarray(False)
    first_rate = jnp.minimum(memory.contraction, 0.5)
    start = RadauIteration(guess, whole(0), real(0.0), first_rate, no, no, no)
    end = jax.lax.while_loop(going, once, start)
    # At the level of rounding the iteration cannot improve the energy any more.
    return end.stages, end.is_near, end.count, end.rate


def estimate(
    tolerance: Tolerance, now: Moment, h, memory: RadauMemory, stages
) -> Float[Array, ""]:
    """Embedded error of third order, filtered by the real iteration matrix, [HairerWanner1996] eq. (IV.8.19)."""
    dx, dxd = embedded_error(now, h, memory, stages)
    return weighted_size(tolerance, memory.weights, dx, dxd)


def embedded_error(now: Moment, h, memory: RadauMemory, stages):
    """Difference of coordinates and rates from those of third order, see `estimate`."""
    x, xd, _ = stage_states(now, h, stages)
    gamma = MU_REAL
    M, K = memory.tangents.M, memory.tangents.K
    e_x = gamma * (h * now.xd + ERROR @ (x - now.x))
    e_xd = gamma * (h * memory.xdd + ERROR @ (xd - now.xd))
    dxd = solve_with(memory.real, M @ e_xd - (h * gamma) * (K @ e_x))
    return e_x + h * gamma * dxd, dxd


def vibration_error(now: Moment, h, memory: RadauMemory, stages):
    """Error of coordinates and rates of a vibration, of fifth order like the method itself.

    With z = i omega h the embedded error is gamma z^4 / 60 of the amplitude, and that of the method z^6 / 7200: the one
    times z^2 / (120 gamma), and z^2 is h^2 times the acceleration under the structure's own forces. With the real
    iteration matrix in place of M it stays bounded where a step is long: the error is at most the vibration itself.
    """
    d, ratio = memory.tangents, h**2 / (120.0 * MU_REAL)
    dx, dxd = embedded_error(now, h, memory, stages)
    xdd = -solve_with(memory.real, d.K @ dx + d.D @ dxd)
    jerk = -solve_with(memory.real, d.K @ dxd + d.D @ xdd)
    return ratio * xdd, ratio * jerk


# --- recorded quantities -------------------------------------------------------------------------------------------


def recorded_error(
    problem: MotionProblem,
    recorded: RecordedQuantities,
    now: Moment,
    h,
    memory: RadauMemory,
    stages,
) -> tuple[RadauMemory, Float[Array, ""]]:
    """Memory with the account of the run after the step, and the error of the step, where 1 is just acceptable.

    A vibration that a step does not follow is gone after it. What lasts is the error of slower ones: it adds up.
    """
    account, tangents = memory.account, memory.tangents
    assert account is not None
    x, xd, _ = stage_states(now, h, stages)
    sizes = recorded_sizes(problem, recorded, x[2], xd[2], stages[2])
    dx, dxd = vibration_error(now, h, memory, stages)
    errors = recorded_errors(account.maps, tangents, dx, dxd)
    for _ in range(FILTERS):
        dx = solve_with(memory.real, tangents.M @ dx)
        dxd = solve_with(memory.real, tangents.M @ dxd)
    lasting = recorded_errors(account.maps, tangents, dx, dxd)
    account, error = balance_step(account, recorded, h, sizes, errors, lasting)
    return eqx.tree_at(lambda m: m.account, memory, account), error


# --- energy --------------------------------------------------------------------------------------------------------


def is_audited(problem: MotionProblem, tolerance: Tolerance) -> bool:
    """Whether the energy that steps lose is bounded: under a law; rows of prescribed joints balance no forces."""
    loads = problem.loads
    return (
        tolerance.energy is not None
        and loads.feedback is not None
        and not loads.prescribed
    )


def energy_error(
    tolerance: Tolerance, now: Moment, h, memory: RadauMemory, stages
) -> tuple[RadauMemory, Float[Array, ""]]:
    """Memory with the energies updated, and the loss of the step in units of its allowance.

    Unused allowance is saved for steps after a jump of the torques: in total a run loses no more than its
    tolerance.
    """
    d = memory.tangents
    x, xd, _ = stage_states(now, h, stages)
    gain = lost_energy(d.M, d.elastic, h, A[2], x - now.x, xd - now.xd, xd, stages)
    loss = jnp.abs(gain)
    most = energy_so_far(memory, x, xd)
    due = ENERGY_METHOD * tolerance.energy * h * most
    before = memory.spare_energy
    share = loss / jnp.maximum(due + ENERGY_SPENT * before, 1e-300)
    spare = jnp.maximum(before + due - loss, 0.0)
    memory = eqx.tree_at(
        lambda m: (m.largest_energy, m.spare_energy), memory, (most, spare)
    )
    return memory, share**ENERGY_POWER


def unbalanced_work(
    tolerance: Tolerance, now: Moment, h, memory: RadauMemory, r, stages
) -> Float[Array, ""]:
    """Work that residuals of the stages do, which no audit counts, in units of the tolerance."""
    x, xd, _ = stage_states(now, h, stages)
    work = h * (A[2] @ jnp.sum(r * xd, axis=1))
    most = energy_so_far(memory, x, xd)
    return jnp.abs(work) / jnp.maximum(tolerance.energy * h * most, 1e-300)


def energy_so_far(memory: RadauMemory, x, xd) -> Float[Array, ""]:
    """The largest energy of the run up to the end of a step."""
    d = memory.tangents
    end = largest_energy(d.M, d.elastic, x[2], xd[2])
    return jnp.maximum(memory.largest_energy, end)
