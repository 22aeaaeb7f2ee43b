"""What every step method promises, on a rigid double pendulum falling in gravity: smooth and nonlinear."""

import functools
import typing

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from helpers import ALL_STEPS, compiled_once, observed_order, rigid_robot, robot_named
from lissom import Model
from lissom.algebra.linear import factorise
from lissom.describe.scenario import Solver
from lissom.dynamics import engine
from lissom.solve.inputs import Loads, PolynomialPiece
from lissom.solve.problem import MotionProblem, is_none
from lissom.solve.radau import JumpMemory, RadauMemory
from lissom.solve.simulate import step_of
from lissom.solve.step import AbstractStep, Moment, Tolerance

DURATION = 0.5  # [s]
ORDER = {"radau": 5, "generalised-alpha": 2, "dopri5": 5, "dopri8": 8, "tsit5": 5}
# Steps of the coarsest run: where the order shows.
COARSEST = {
    "radau": 48,
    "generalised-alpha": 40,
    "dopri5": 64,
    "dopri8": 6,
    "tsit5": 64,
}


@compiled_once
def stepped(step, f, x, xd, h, count):
    """`count` steps of size h, iterated to round-off; the end, the middle of the last step, energy there."""
    problem, tolerance = (
        MotionProblem(f, Loads()),
        Tolerance(jnp.asarray(1e-13), jnp.asarray(1e-13)),
    )
    start = Moment(jnp.asarray(0.0), x, xd, jnp.zeros(2))

    def once(_, walk):
        now, memory, *_ = walk
        attempt = step.attempt(problem, tolerance, now, h, memory)
        return attempt.end, attempt.memory, now, attempt

    memory = step.begin(problem, tolerance, start)
    first = step.attempt(problem, tolerance, start, h, memory)
    walk = (first.end, first.memory, start, first)
    end, _, before, attempt = jax.lax.fori_loop(1, count, once, walk)
    motion = f.motion(end.x, end.xd, jnp.zeros_like(end.x))
    place = motion.place
    energy = engine.kinetic_energy(f, motion) + engine.gravity_energy(f, place)
    between = step.interpolate(before, attempt, h, jnp.asarray(0.5))
    return end, between, energy


@functools.cache
def falling():
    model = Model(rigid_robot(robot_named("double-pendulum")), "erls-fem")
    return model.formulation, jnp.array([0.3, 0.5]), jnp.array([-1.1, 0.7])


@functools.cache
def run(method, count):
    f, x, xd = falling()
    end, between, energy = stepped(
        step_of(Solver(method=method)), f, x, xd, jnp.asarray(DURATION / count), count
    )
    return np.asarray(end.x), np.asarray(end.xd), np.asarray(between.x), float(energy)


def reference():
    return run("dopri8", 400)  # error (1/400 s)^8, round-off


EXPLICIT = ("dopri5", "tsit5")  # of one kind with dopri8
all_steps = pytest.mark.parametrize(
    "method",
    [
        pytest.param(m, marks=[pytest.mark.slow] if m in EXPLICIT else [])
        for m in ALL_STEPS
    ],
)


def runs(method):
    return [run(method, COARSEST[method] * 2**k) for k in range(3)]


@all_steps
def test_error_falls_with_the_order_of_the_step(method):
    x, xd, *_ = reference()
    errors = [
        np.hypot(np.linalg.norm(run[0] - x), np.linalg.norm(run[1] - xd))
        for run in runs(method)
    ]
    order = observed_order(errors).mean()
    assert ORDER[method] - 0.3 < order < ORDER[method] + 0.9, (
        errors,
        order,
    )  # measured: 4.97, 2.00, 5.50, 8.66, 5.44


# Longest step [s]: below it the order shows; the estimate of dopri8 drowns in round-off soon after.
LONGEST = {"dopri8": 0.05}


@compiled_once
def estimated_error(step, f, x, xd, h):
    """What a step of size h says of its own error."""
    problem, tolerance = (
        MotionProblem(f, Loads()),
        Tolerance(jnp.asarray(1e-13), jnp.asarray(1e-13)),
    )
    start = Moment(jnp.asarray(0.0), x, xd, jnp.zeros(2))
    memory = step.begin(problem, tolerance, start)
    return step.attempt(problem, tolerance, start, h, memory).error


@pytest.mark.parametrize("method", ALL_STEPS)
def test_the_error_estimate_falls_with_the_order_that_sets_the_step_size(method):
    f, x, xd = falling()
    step = step_of(Solver(method=method))
    sizes = LONGEST.get(method, 0.02) / 2.0 ** np.arange(4)
    errors = [float(estimated_error(step, f, x, xd, jnp.asarray(h))) for h in sizes]
    # measured: 4.02, 3.10, 5.07, 8.03, 5.07
    assert observed_order(errors).mean() == pytest.approx(step.order + 1, abs=0.2)


@all_steps
def test_energy_drift_falls_with_the_order_of_the_step(method):
    energies = [energy - reference()[3] for *_, energy in runs(method)]
    order = observed_order(np.abs(energies)).mean()
    assert order > ORDER[method] - 0.3, (energies, order)


@all_steps
def test_output_between_steps_is_almost_as_good_as_at_their_ends(method):
    # Dense output of order at least 3 (Hermite, collocation, the explicit methods' own): h^4 locally.
    errors = []
    for k in range(3):
        count = COARSEST[method] * 2**k
        *_, between, _ = run(method, count)
        errors.append(np.abs(between - middle(count)).max())
    assert observed_order(errors)[-1] > min(ORDER[method], 4) - 0.6, errors


def middle(count):
    """The exact state half a step before the end of a run of `count` steps."""
    f, x, xd = falling()
    duration = DURATION * (1 - 0.5 / count)
    end, _, _ = stepped(
        step_of(Solver(method="dopri8")), f, x, xd, jnp.asarray(duration / 400), 400
    )
    return np.asarray(end.x)


def test_every_step_is_in_the_list():
    named = set(typing.get_args(Solver.model_fields["method"].annotation)) - {"auto"}
    assert named == set(ALL_STEPS)
    reached = {type(step_of(Solver(method=method))) for method in ALL_STEPS}
    assert reached == set(AbstractStep.__subclasses__())


def ready_for_jumps(memory):
    """Memory as under a sampled law: Radau keeps what jumps need only there."""
    if not isinstance(memory, RadauMemory):
        return memory
    assert memory.jumps is None
    n = memory.xdd.shape[0]
    inertia = factorise(memory.tangents.M)
    none = JumpMemory(jnp.asarray(False), jnp.zeros(n), jnp.zeros((3, n)), inertia)
    return eqx.tree_at(lambda m: m.jumps, memory, none, is_leaf=is_none)


@pytest.mark.parametrize("method", ["radau", "generalised-alpha", "dopri5"])
def test_a_step_resumes_from_a_jump_as_if_it_had_begun_there(method):
    # The torques jump: what a method keeps from before the jump must not change the step after it. The auxiliary
    # acceleration of generalised-alpha is that of a moment beside the step's start, by a part of h: beginning anew
    # forgets it, an error of h^2 times the jerk of some 1/s^3 in the rates.
    kept = {"generalised-alpha": 1e-6}.get(method, 1e-10)
    f, x, xd = falling()
    step = step_of(Solver(method=method))
    before = MotionProblem(f, Loads())
    after = MotionProblem(
        f, Loads(torque=PolynomialPiece(jnp.asarray(0.0), jnp.array([[1.7, -0.6]])))
    )
    tolerance = Tolerance(jnp.asarray(1e-13), jnp.asarray(1e-13))
    h = jnp.asarray(1e-3)
    start = Moment(jnp.asarray(0.0), x, xd, jnp.zeros(2))

    @compiled_once
    def both(start):
        memory = ready_for_jumps(step.begin(before, tolerance, start))
        first = step.attempt(before, tolerance, start, h, memory)
        end = first.end
        motion = f.motion(end.x, end.xd, jnp.zeros_like(end.x))
        jump = after.force_jump(before, end.t, motion)
        resumed = step.resume(after, tolerance, end, first.memory, jump)
        begun = ready_for_jumps(step.begin(after, tolerance, first.end))
        return [
            step.attempt(after, tolerance, first.end, h, memory).end
            for memory in (resumed, begun)
        ]

    resumed, begun = both(start)
    np.testing.assert_allclose(resumed.x, begun.x, atol=1e-3 * kept)
    np.testing.assert_allclose(resumed.xd, begun.xd, rtol=0, atol=kept)
