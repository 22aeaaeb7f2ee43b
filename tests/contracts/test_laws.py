"""What every control law promises: torques for the actuated joints, a memory of one shape, and a limit it comes to."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import lissom as ls
from helpers import ALL_LAWS, rigid_robot, robot_named
from lissom.control.computed_torque import ComputedTorque
from lissom.control.delayed_reference import DelayedReference
from lissom.control.extended_kalman import EKFControl
from lissom.control.hybrid import Hybrid
from lissom.control.lqg import LQG
from lissom.control.lqr import LQR
from lissom.control.mixed_norm import OutputFeedback
from lissom.control.numpy_law import NumpyLaw
from lissom.control.pid import PID
from lissom.control.predictive import MPC
from lissom.control.real_loop import RealLoop
from lissom.control.scheduled import ScheduledLQR
from lissom.solve.feedback import WiredLaw, wire_law
from lissom.solve.law import AbstractLaw

DURATION = 0.2  # [s]
SAMPLES = (0.01, 0.005, 0.0025)  # [s]


@functools.cache
def arm():
    return ls.Model(rigid_robot(robot_named("double-pendulum")), "erls-fem")


def wired_law(name, sample) -> WiredLaw:
    feedback = wire_law(arm(), ALL_LAWS[name](sample))
    assert isinstance(feedback, WiredLaw)
    return feedback


@pytest.mark.parametrize("name", ALL_LAWS)
@pytest.mark.parametrize("sample", [None, 0.01])
def test_a_law_gives_one_torque_for_each_actuated_joint_and_keeps_its_memory(
    name, sample
):
    law = wired_law(name, sample)
    measured = jnp.linspace(-0.7, 0.9, len(law.channels))
    command, memory = eqx.filter_jit(law.law)(jnp.asarray(0.3), measured, law.memory)
    assert command.shape == (len(arm().actuated),)
    assert jax.tree.structure(memory) == jax.tree.structure(law.memory)
    assert np.all(np.isfinite(command))


@functools.cache
def end_of_run(name, sample):
    model = arm()
    run = ls.rollout(
        model,
        model.at([0.1, 0.4], [0.0, 0.0]),
        t_end=DURATION,
        output_dt=DURATION,
        torque=ALL_LAWS[name](sample),
        solver={"rtol": 1e-10, "atol": 1e-12},
    )
    return np.asarray(run.x[-1])


@pytest.mark.parametrize("name", ALL_LAWS)
def test_a_sampled_law_comes_to_the_continuous_one_as_its_period_shrinks(name):
    # A held torque is on average half a period late: the error falls with the first power of the period.
    exact = end_of_run(name, None)
    errors = [np.abs(end_of_run(name, sample) - exact).max() for sample in SAMPLES]
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    np.testing.assert_allclose(orders, 1.0, atol=0.15)


def final_laws(law=AbstractLaw):
    """Every law of the package that is not abstract."""
    for kind in law.__subclasses__():
        yield from final_laws(kind)
        if kind.__module__.startswith("lissom") and not kind.__abstractmethods__:
            yield kind


def test_every_law_is_in_the_list():
    listed = {type(make(None)) for make in ALL_LAWS.values()}
    # Laws that are sampled alone: tests/control/test_sampled_kit.py.
    sampled = {PID, ComputedTorque, LQR, LQG, MPC, DelayedReference, Hybrid, RealLoop}
    sampled |= {ScheduledLQR, EKFControl, OutputFeedback, NumpyLaw}
    assert set(final_laws()) == listed | sampled


def test_a_law_is_data():
    # Numbers are leaves: other gains need no new compilation.
    for make in ALL_LAWS.values():
        law = make(0.01)
        doubled = jax.tree.map(
            lambda leaf: 2 * leaf, eqx.filter(law, eqx.is_inexact_array_like)
        )
        assert jax.tree.structure(doubled) == jax.tree.structure(
            eqx.filter(law, eqx.is_inexact_array_like)
        )
