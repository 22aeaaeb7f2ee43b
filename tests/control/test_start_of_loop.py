"""A run from a static state: the robot is held until the first command arrives, and laws know by what."""

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.control.real_loop import RealLoop
from lissom.solve.feedback import wire_law
from sampled_laws import DESCRIBED, SAMPLE, pendulum, sampled_law

DELAY = 2  # samples
POSE = [-1.25]  # on the way from START to END, where the nominal torque is another


def late_pd(**drives):
    reference = ls.Table([0.0], [[POSE[0] + 0.02]], "hold", after="hold")
    law = ls.PD([20.0], [1.0], reference, sample=SAMPLE)
    return RealLoop(law=law, sample=SAMPLE, delay=DELAY, **drives)


def late_run(run):
    model = pendulum()
    law = late_pd()
    state = model.static(POSE)
    return state, run(model, state, t_end=6 * SAMPLE, output_dt=SAMPLE, torque=law)


def test_a_delayed_loop_begins_with_the_holding_torque():
    """The weight of 1.2 N m does not fall for two samples: the robot stands still until the first command arrives."""
    state, run = late_run(ls.simulate)
    torque = run.data["torque"].values[:, 0]
    holding = float(state.torque[0])
    assert abs(holding) > 0.5
    assert_allclose(torque[:DELAY], holding, rtol=1e-12)
    # The first command, measured at rest: without feed-forward it is that of the error alone.
    assert torque[DELAY] == pytest.approx(20.0 * 0.02, rel=1e-9)
    q = run.data["q"].values[:, 0]
    assert_allclose(q[: DELAY + 1], POSE[0], atol=1e-9)


@pytest.mark.slow
def test_a_rollout_of_a_delayed_loop_begins_with_the_holding_torque_too():
    state, run = late_run(ls.rollout)
    assert_allclose(run.command[:DELAY, 0], float(state.torque[0]), rtol=1e-12)


def test_a_run_from_no_static_state_begins_without_torque():
    model = pendulum()
    options = {"t_end": 6 * SAMPLE, "output_dt": SAMPLE, "torque": late_pd()}
    run = ls.simulate(model, model.at(POSE), **options)
    assert_allclose(run.data["torque"].values[:DELAY, 0], 0.0, atol=0.0)


def test_a_drive_of_limited_rate_starts_from_the_holding_torque():
    model = pendulum()
    held = jnp.asarray([3.0])
    law = wire_law(model, late_pd(rate_limit=np.array([100.0]), bandwidth=50.0))
    control = law.start(held, jnp.asarray(0.0))
    assert_allclose(control.memory.drive, held)
    assert_allclose(control.memory.queue, np.full((DELAY, 1), 3.0))


LONG = ("ekf", "mixed-norm")
KINDS = [
    pytest.param(kind, marks=[pytest.mark.slow] if kind in LONG else [])
    for kind in DESCRIBED
    if "noise" in DESCRIBED[kind]
]


@pytest.mark.parametrize("kind", KINDS)
def test_filters_know_the_torque_under_which_they_measure_first(kind):
    """Accelerations are measured under the torque before: it is no surprise, on the nominal motion or beside it."""
    model = pendulum()
    law = sampled_law(kind)
    feedback = wire_law(model, law)
    t = jnp.asarray(0.0)
    held = jnp.asarray(model.static(POSE).torque)
    memory = feedback.start(held, t).memory
    nominal = law.nominal.torque.value(t - SAMPLE)
    is_deviation = kind != "ekf"
    known = memory.held + nominal if is_deviation else memory.held
    assert_allclose(known, held, rtol=1e-12)
    assert abs(float(held[0] - nominal[0])) > 0.05


def test_a_delay_hands_the_holding_torque_on_to_its_law():
    model = pendulum()
    inner = sampled_law("lqg")
    late = wire_law(model, RealLoop(law=inner, sample=SAMPLE, delay=1))
    held = jnp.asarray([0.7])
    alone = wire_law(model, inner).start(held, jnp.asarray(0.0)).memory
    memory = late.start(held, jnp.asarray(0.0)).memory
    assert_allclose(memory.law.held, alone.held)
