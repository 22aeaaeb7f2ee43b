"""The sampled loop in time has the poles that it was designed with."""

import numpy as np
import pytest

import lissom as ls
from lissom.control.design_model import design_model
from lissom.control.estimator import estimator_poles, kalman_filter
from lissom.control.lqg import LQG
from lissom.control.nominal import NominalMotion
from lissom.control.regulator import AllowedDeviations, regulator
from lissom.solve.signals import Table

PERIOD = 0.013  # [s]
SAMPLES = 24
STATES = 5  # of rotor, its estimate, and the lasting torque that is learnt
ENCODER = ("arm.encoder",)


def rotor():
    """A rigid arm without weight: linear, and exact under torques that are held."""
    body = {"mass": 1.3, "com": [0.17, 0, 0], "inertia": [0.011, 0.017, 0.021]}
    body["tip"] = [0.4, 0, 0]
    joint = {"type": "revolute", "axis": [0, 0, 1]}
    link = {"name": "arm", "joint": joint, "rigid": body}
    robot = {"name": "rotor", "gravity": [0, 0, 0], "links": [link]}
    return ls.Model(ls.Robot.from_dict(robot), "erls-fem")


def law_and_poles(model):
    design = design_model(model, [0.0], ENCODER, PERIOD)
    gains = regulator(design, AllowedDeviations([0.02], [1.0]), ENCODER)
    noise = {"torque_noise": [0.5], "disturbance_drift": [0.3], "sensor_noise": [1e-3]}
    estimator = kalman_filter(design, **noise)
    rest = Table([0.0], [[0.0]], "hold", after="hold")
    law = LQG(gains.K, estimator, NominalMotion(rest, rest, rest), PERIOD, ENCODER)
    own = np.linalg.eigvals(design.A - design.B @ gains.K)
    return law, np.concatenate([own, estimator_poles(design, estimator)])


def response(model, law, q, qd):
    """Angle, speed and torque at the samples, brought to about one size."""
    run = ls.rollout(
        model,
        model.at([q], [qd]),
        t_end=SAMPLES * PERIOD,
        output_dt=PERIOD,
        torque=law,
        solver={"rtol": 1e-9, "atol": 1e-11},
    )
    return np.concatenate([run.x, PERIOD * run.xd, 1e-2 * run.command], axis=1)


def poles_of_responses(responses):
    """Poles of the linear system of least order that has these responses (Ho and Kalman)."""
    before, after = [], []
    for rows in responses:
        # Three torques in a row, with angle and speed, tell all five states.
        stacked = np.concatenate([rows[:-2], rows[1:-1], rows[2:]], axis=1)
        before.append(stacked[:-1])
        after.append(stacked[1:])
    X, Y = np.concatenate(before).T, np.concatenate(after).T
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    assert s[STATES] < 1e-11 * s[0] and s[STATES - 1] > 1e-5 * s[0]
    U, s, Vt = U[:, :STATES], s[:STATES], Vt[:STATES]
    return np.linalg.eigvals(U.T @ Y @ Vt.T / s)


@pytest.mark.slow
def test_poles_of_the_response_are_those_of_controller_and_estimator():
    model = rotor()
    law, wanted = law_and_poles(model)
    runs = [response(model, law, 0.3, 0.0), response(model, law, -0.1, 2.0)]
    in_time = poles_of_responses(runs)
    linear = ls.linearize(model, [0.0], inputs=[], controller=law).poles
    moving = linear[np.abs(linear) > 1e-3]
    for found in (in_time, moving):
        assert len(found) == len(wanted) == STATES
        for pole in wanted:
            assert np.abs(found - pole).min() < 1e-8 * abs(pole)
