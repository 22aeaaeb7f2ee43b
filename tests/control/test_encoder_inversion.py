"""Torques from the bending robot led along its motion: played back to the free robot, its encoders follow."""

import functools

import numpy as np
import pytest

import lissom as ls
from lissom.control.encoder_inversion import encoder_inversion, ring_down
from lissom.control.nominal import nominal_motion
from lissom.control.references import reference_through
from sampled_laws import END, MOTION, START, TIP, pendulum

STEP = 1e-4  # [s]


def played(nominal):
    """Largest distance of the encoder from its reference, with the torques alone and no feedback."""
    model = pendulum()
    run = ls.simulate(
        model,
        model.static([START]),
        t_end=0.3,
        output_dt=1e-3,
        torque=lambda t, state: nominal.torque.value(t),
    )
    wanted = np.array([nominal.reference.value(t)[0] for t in run.t])
    return np.abs(run.values("encoder")[:, 0] - wanted).max()


@functools.cache
def inverted():
    reference = reference_through(MOTION["t"], MOTION["value"], "quintic")
    return encoder_inversion(pendulum(), reference, ("rod.encoder", TIP), step=STEP)


@pytest.mark.slow
def test_without_feedback_the_encoder_follows_the_flexible_feed_forward_alone():
    model = pendulum()
    exact = inverted()
    bent = nominal_motion(model, exact.reference, feedforward="quasi-static", step=STEP)
    rigid = nominal_motion(model, exact.reference, feedforward="rigid", step=STEP)
    away = played(exact)
    assert away < 1e-4 * abs(END - START)
    assert away < 0.02 * min(played(bent), played(rigid))


@pytest.mark.slow
def test_the_encoder_is_predicted_on_its_reference_and_all_ends_at_rest():
    exact = inverted()
    times = np.asarray(exact.measured.t)
    encoder, tip = np.asarray(exact.measured.values).T
    wanted = np.array([exact.reference.value(t)[0] for t in times])
    assert np.abs(encoder - wanted).max() < 1e-6 * abs(END - START)
    # The link goes on after the stop, and the last row is that of rest.
    after = np.abs(tip[times > MOTION["t"][-1]])
    assert after.max() > 0.01 * np.abs(tip).max()
    rest = np.asarray(pendulum().static([END]).torque)
    assert exact.torque.value(1e3) == pytest.approx(rest, rel=1e-6)
    assert tip[-1] == pytest.approx(0.0, abs=1e-9)


def test_a_vibration_without_damping_is_held_for_twenty_periods():
    robot = pendulum().robot.replace({"damping": None})
    model = ls.Model(robot, "nonlinear", basis="assumed", modes=2)
    longest = ring_down(model, [END])
    assert ring_down(pendulum(), [END]) <= longest * (1 + 1e-9)
    frequency = ls.modes(model, [END], locked=True, count=None).frequency_hz
    # One of the modes with the joint held: the first that the motor moves.
    assert np.abs(longest * frequency - 20).min() < 1e-3
