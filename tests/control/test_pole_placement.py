"""Gains from poles: the loop has the poles that were asked for."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

from lissom.control.design_model import DesignError, DesignModel
from lissom.control.margins import closed_loop_poles, open_loop
from lissom.control.pole_placement import placed_gain, wanted_poles
from lissom.control.tuned_law import tuned, tuned_by_poles
from sampled_laws import DESCRIBED, MOTION, SAMPLE, pendulum

H = 2e-3  # [s]


def two_drives():
    """Two rotors on springs with a mass behind each, coupled; drives push the rotors."""
    M = np.diag([0.4, 0.7, 1.1, 0.9])
    k1, k2, k3 = 300.0, 900.0, 50.0
    K = np.array(
        [
            [k1, 0.0, -k1, 0.0],
            [0.0, k2, 0.0, -k2],
            [-k1, 0.0, k1 + k3, -k3],
            [0.0, -k2, -k3, k2 + k3],
        ]
    )
    D = 1e-4 * K + 0.01 * M
    zero, one = np.zeros((4, 4)), np.eye(4)
    inverse = np.linalg.inv(M)
    A = np.block([[zero, one], [-inverse @ K, -inverse @ D]])
    B = np.concatenate([np.zeros((4, 2)), inverse[:, :2]])
    held = scipy.linalg.expm(
        H * np.block([[A, B], [np.zeros((2, 10))]]),
    )
    return DesignModel(
        A=held[:8, :8],
        B=held[:8, 8:],
        C=np.eye(8)[:2],
        D=np.zeros((2, 2)),
        energy=np.eye(8),
        sample=H,
        input_names=("left.torque", "right.torque"),
        output_names=("left.encoder", "right.encoder"),
        poles=np.linalg.eigvals(A),
        left_out=0,
        coordinate_names=("left", "right", "a", "b"),
        shape=np.eye(8)[:4],
        mass=M,
        damping=D,
        on_coordinates=np.eye(8)[:, :4],
        of_robot=np.eye(8),
    )


def test_the_loop_has_the_poles_that_were_asked_for():
    design = two_drives()
    poles = wanted_poles(design, bandwidth=3.0, damping=0.8, vibration=0.3)
    K = placed_gain(design, poles)
    found = np.linalg.eigvals(design.A - design.B @ K)
    known = np.exp(poles * H)
    # Two pairs are equal: together they move with the square root of rounding.
    for z in known:
        assert np.abs(found - z).min() < 1e-6
    assert_allclose(np.prod(found), np.prod(known), rtol=1e-8)
    damping = -poles.real / np.abs(poles)
    assert damping.min() == pytest.approx(0.3)
    assert_allclose(np.abs(poles[:4]), 2 * np.pi * 3.0, rtol=1e-12)


def test_a_vibration_that_is_damped_enough_stays_as_it_is():
    design = two_drives()
    own = np.asarray(design.poles)
    kept = wanted_poles(design, bandwidth=3.0, vibration=1e-6)[4:]
    for pole in kept:
        assert np.abs(own - pole).min() < 1e-12


def test_poles_of_a_motion_that_no_torque_moves_are_refused():
    design = two_drives()
    still = design._replace(B=np.zeros_like(design.B))
    with pytest.raises(DesignError, match="not stabilisable"):
        placed_gain(still, wanted_poles(design, 3.0))


@pytest.mark.slow
def test_a_law_tuned_by_poles_has_them_on_the_sampled_robot():
    """Sensors see every state of the controller's model: its poles are among those of the loop."""
    model = pendulum()
    noise, sensors = DESCRIBED["lqg"]["noise"], DESCRIBED["lqg"]["sensors"]
    common = {"sample": SAMPLE, "reference": MOTION, "sensors": sensors}
    description = {**common, "noise": noise, "fastest": 1e6}
    found = tuned_by_poles(model, description, bandwidth=2.0, vibration=0.3)
    assert found.margins.stable
    loop = open_loop(model, [MOTION["value"][-1][0]], found.law)
    poles = closed_loop_poles(loop)
    joint = 2 * np.pi * 2.0 * (-0.7 + 1j * np.sqrt(1 - 0.7**2))
    assert np.abs(poles - np.exp(joint * SAMPLE)).min() < 1e-8


@pytest.mark.slow
def test_a_law_tuned_by_bandwidth_comes_with_its_margins():
    gains = {"bandwidth": 2.0, "damping": 0.7}
    law = {"type": "pid", "sample": SAMPLE, "reference": MOTION, "gains": gains}
    found = tuned(pendulum(), law)
    assert found.margins.stable and found.margins.phase_deg > 10
    assert found.law.sample == SAMPLE
