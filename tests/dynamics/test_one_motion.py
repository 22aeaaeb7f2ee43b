"""A motion is evaluated once: whatever is asked about it, the links' motion is not traced again."""

import jax
import jax.numpy as jnp
import pytest

from helpers import model_named, motion_of
from lissom.control.pd import PD
from lissom.dynamics import engine
from lissom.dynamics.nodes import node_wrench
from lissom.solve.inputs import Inputs, Table
from lissom.solve.problem import MotionProblem

COUNTED = ("tangent", "minimum-norm", "erls-cms", "nonlinear", "dual-screw")


@pytest.fixture
def count(monkeypatch):
    """Counts how often the motion of a formulation is traced."""

    def counted(formulation):
        calls = []
        original = type(formulation).motion

        def motion(self, x, xd, xdd):
            calls.append(1)
            return original(self, x, xd, xdd)

        monkeypatch.setattr(type(formulation), "motion", motion)
        return calls

    return counted


def everything(f, x, xd, xdd):
    """All that one motion is asked for, wrenches and torques included."""
    motion = f.motion(x, xd, xdd)
    torque = jnp.ones(f.n_encoders)
    load = node_wrench(f, motion.place, 0, 0, jnp.ones(6), True)
    return (
        engine.needed_force(f, motion, load),
        engine.link_forces(f, motion, load),
        engine.resting_forces(f, motion, torque),
        engine.torque_map(f, motion),
        engine.damping_power(f, motion),
        engine.kinetic_energy(f, motion),
        engine.strain_energy(f, motion.place),
        engine.gravity_energy(f, motion.place),
        engine.power_of_forces(f, motion, load),
        motion.theta,
        motion.theta_d,
    )


def equations(f, x, xd):
    """What an explicit step needs: the inertia, its stiff matrices, and the force without acceleration."""
    motion = f.motion(x, xd, jnp.zeros_like(x))
    N = engine.rate_map(f, x)
    M = engine.inertia(f, motion.place, N)
    return (
        M,
        engine.structural_matrices(f, motion.place, xd, N),
        engine.needed_force(f, motion),
    )


@pytest.mark.parametrize("choice", COUNTED)
def test_one_motion_answers_all_questions(choice, count):
    f = model_named("crane", choice).formulation
    calls = count(f)
    jax.make_jaxpr(everything)(f, *motion_of(f))
    assert len(calls) == 1


@pytest.mark.parametrize("choice", COUNTED)
def test_an_acceleration_under_a_law_takes_one_motion_and_the_rate_map(choice, count):
    model = model_named("crane", choice)
    law = PD([3.0] * 3, [0.2] * 3, Table([0.0], [[0.1, 0.2, 0.3]], after="hold"))
    loads = Inputs(3, law=law).wired(model).on(0.0, 1.0)
    problem = MotionProblem(model.formulation, loads)
    calls = count(model.formulation)
    x, xd, _ = motion_of(model.formulation)
    jax.make_jaxpr(problem.acceleration)(0.3, x, xd)
    assert len(calls) == 2


@pytest.mark.parametrize("choice", COUNTED)
def test_the_rate_map_adds_one_motion_batched_over_its_columns(choice, count):
    f = model_named("crane", choice).formulation
    calls = count(f)
    x, xd, _ = motion_of(f)
    jax.make_jaxpr(equations)(f, x, xd)
    assert len(calls) == 2
