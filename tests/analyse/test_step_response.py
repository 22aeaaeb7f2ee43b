"""Step responses beside the closed form of one mass on a spring and a damper."""

import numpy as np
import pytest

import lissom as ls

BODY = {"mass": 1.0, "com": [0.1, 0, 0], "inertia": [0.01, 0.01, 0.02]}
JOINT = {"type": "revolute", "origin": {}, "axis": [0, 1, 0]}
LINK = {"name": "bar", "joint": JOINT, "rigid": BODY | {"tip": [0.3, 0, 0]}}
ROBOT = {"name": "arm", "gravity": [0, 0, 0], "links": [LINK]}
INERTIA = 0.01 + 1.0 * 0.1**2  # about the joint [kg m^2]
KP, KD = 8.0, 0.08


@pytest.fixture(scope="module")
def linear():
    model = ls.Model(ls.Robot.from_dict(ROBOT))
    return ls.linearize(model, [0.0], kp=KP, kd=KD, outputs=["bar.encoder"])


def closed_form(t):
    omega = np.sqrt(KP / INERTIA)
    zeta = KD / (2 * np.sqrt(KP * INERTIA))
    damped = omega * np.sqrt(1 - zeta**2)
    swing = np.cos(damped * t) + zeta * omega / damped * np.sin(damped * t)
    return (1 - np.exp(-zeta * omega * t) * swing) / KP


def test_a_step_of_the_torque_turns_the_joint_as_the_closed_form_says(linear):
    found = ls.step_response(linear, "bar", "bar.encoder")
    assert found.input == "bar.torque" and found.output == "bar.encoder"
    np.testing.assert_allclose(found.response, closed_form(found.t), atol=1e-9 / KP)


def test_without_a_duration_it_lasts_until_the_vibration_has_faded(linear):
    found = ls.step_response(linear, "bar", "bar.encoder")
    late = found.response[found.t > 0.8 * found.t[-1]]
    assert np.abs(late * KP - 1).max() < 0.03


def test_a_sampled_model_answers_at_its_own_times(linear):
    found = ls.step_response(linear.discretize(0.01), "bar", "bar.encoder", 0.5)
    np.testing.assert_allclose(found.t, 0.01 * np.arange(51), atol=1e-12)
    np.testing.assert_allclose(found.response, closed_form(found.t), atol=1e-9 / KP)


@pytest.mark.parametrize("duration", [0.0, -1.0, np.inf, np.nan])
def test_a_duration_is_a_positive_number(linear, duration):
    with pytest.raises(ValueError, match="duration must be a positive number"):
        ls.step_response(linear, "bar", "bar.encoder", duration)
