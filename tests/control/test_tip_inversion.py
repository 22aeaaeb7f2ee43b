"""Inversion at the tip: on the full nonlinear arm, without feedback, the tip follows; torques begin before it moves."""

import numpy as np
import pytest

import lissom as ls
from lissom.control.design_error import DesignError
from lissom.control.nominal import nominal_motion
from lissom.control.references import RestToRest
from lissom.control.tip_inversion import tip_inversion

START, END = 1.5, 3.5  # [s]
ROWS = [[0.0, 0.5], [0.4, 0.3]]


def tip_error(model, torque, inverse):
    """Largest distance of the tip from its path, open loop."""
    run = ls.simulate(
        model,
        model.static(ROWS[0]),
        t_end=float(inverse.times[-1]),
        output_dt=0.01,
        torque=lambda t, state: torque.value(t),
    )
    path = [np.interp(run.t, inverse.times, inverse.tip[:, k]) for k in range(3)]
    return np.abs(run.position("fore/tip") - np.stack(path, axis=1)).max()


@pytest.mark.slow
def test_the_tip_follows_its_path_a_hundred_times_closer_than_without_inversion():
    model = ls.Model("de-luca-siciliano", modes=2)
    reference = RestToRest([START, END], ROWS, "quintic")
    inverse = tip_inversion(model, reference)
    way = np.linalg.norm(inverse.tip[-1] - inverse.tip[0])
    plain = nominal_motion(model, reference, step=2e-3)
    close = tip_error(model, inverse.nominal.torque, inverse)
    far = tip_error(model, plain.torque, inverse)
    assert close < 1e-3 * way
    assert close < 0.01 * far
    # Before the tip moves the torques act, and long before they do not.
    torque = inverse.nominal.torque
    before = np.abs(np.asarray(torque.value(0.9 * START))).max()
    assert before > 0.05 * np.abs(torque.values).max()
    assert np.abs(np.asarray(torque.value(0.3 * START))).max() < 0.02 * before


@pytest.mark.slow
@pytest.mark.parametrize("start", [0.0, 0.02])
def test_a_motion_without_time_before_it_is_refused(start):
    """No time at all, and too little of it: the arm's first mode takes two seconds."""
    model = ls.Model("de-luca-siciliano", modes=2)
    reference = RestToRest([start, start + 1.0], ROWS, "quintic")
    with pytest.raises(DesignError, match="Start the motion later"):
        tip_inversion(model, reference)


def test_passive_joints_are_refused():
    body = {"mass": 1.0, "com": [0.2, 0, 0], "inertia": [0.01] * 3, "tip": [0.4, 0, 0]}
    links = []
    for k in range(2):
        joint = {"type": "revolute", "axis": [0, 0, 1], "actuated": k == 0}
        joint["origin"] = {"xyz": [0.4 * k, 0, 0]}
        links.append({"name": f"link{k}", "joint": joint, "rigid": body})
    model = ls.Model(ls.Robot.from_dict({"name": "arm", "links": links}), "erls-fem")
    with pytest.raises(DesignError, match="a motor on every independent joint"):
        tip_inversion(model, RestToRest([0.5, 1.0], [[0.0], [0.3]], "quintic"))
