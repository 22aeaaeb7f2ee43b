"""Gains from poles: the loop has the poles that were asked for."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

from lissom.control.design_error import DesignError
from lissom.control.design_model import DesignModel, design_model
from lissom.control.estimator import estimator_poles
from lissom.control.margins import closed_loop_poles, open_loop
from lissom.control.pole_placement import desired_poles, placed_gain
from lissom.control.tuned_law import tune, tune_by_poles
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
        fast_states=0,
        coordinate_names=("left", "right", "a", "b"),
        shape=np.eye(8)[:4],
        rates=np.eye(8)[4:],
        mass=M,
        damping=D,
        on_coordinates=np.eye(8)[:, :4],
        of_robot=np.eye(8),
    )


def test_the_loop_has_the_poles_that_were_asked_for():
    design = two_drives()
    poles = desired_poles(design, bandwidth=3.0, damping=0.8, vibration=0.3)
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
    kept = desired_poles(design, bandwidth=3.0, vibration=1e-6)[4:]
    for pole in kept:
        assert np.abs(own - pole).min() < 1e-12


def test_poles_of_a_motion_that_no_torque_moves_are_refused():
    design = two_drives()
    still = design._replace(B=np.zeros_like(design.B))
    with pytest.raises(DesignError, match="not stabilisable"):
        placed_gain(still, desired_poles(design, 3.0))


def out_of_plane(design, pole):
    """The same drives with a vibration beside them that no torque moves."""
    turning = np.array([[pole.real, pole.imag], [-pole.imag, pole.real]])
    alone = scipy.linalg.expm(H * turning)
    A = scipy.linalg.block_diag(design.A, alone)
    # States of a robot are mixtures of its motions.
    mix, _ = np.linalg.qr(np.random.default_rng(1).normal(size=A.shape))
    B = np.concatenate([design.B, np.zeros((2, 2))])
    poles = np.concatenate([design.poles, [pole, np.conj(pole)]])
    return design._replace(A=mix @ A @ mix.T, B=mix @ B, poles=poles)


@pytest.mark.parametrize("is_equal", [True, False])
def test_a_motion_that_no_torque_moves_keeps_its_pole_and_spoils_no_other(is_equal):
    """Bending out of the plane, at the frequency of bending in the plane too: what a round beam does."""
    plane = two_drives()
    fast = plane.poles[np.argmax(np.abs(plane.poles))]
    pole = fast if is_equal else -0.3 + 47.0j
    design = out_of_plane(plane, pole)
    poles = desired_poles(design, bandwidth=3.0, vibration=0.3)
    assert_allclose(poles[:8], desired_poles(plane, 3.0, vibration=0.3), rtol=1e-9)
    assert_allclose(np.sort_complex(poles[8:]), np.sort_complex([pole, np.conj(pole)]))
    K = placed_gain(design, poles)
    found = np.linalg.eigvals(design.A - design.B @ K)
    for z in np.exp(poles * H):
        assert np.abs(found - z).min() < 1e-8
    moved = np.concatenate([poles[:8], 2 * poles[8:]])
    with pytest.raises(DesignError, match=r"no torque excites the motion at [\d.]+ Hz"):
        placed_gain(design, moved)


@pytest.mark.slow
def test_a_law_tuned_by_poles_has_them_on_the_sampled_robot():
    """Its own, and those of its filter: beside a rod that bends out of the plane too, where no torque moves it."""
    model = pendulum()
    noise, sensors = DESCRIBED["lqg"]["noise"], DESCRIBED["lqg"]["sensors"]
    common = {"sample": SAMPLE, "reference": MOTION, "sensors": sensors}
    description = {**common, "noise": noise, "fastest": 1e6}
    found = tune_by_poles(model, description, bandwidth=2.0, vibration=0.3)
    assert found.margins.stable
    last = [MOTION["value"][-1][0]]
    poles = closed_loop_poles(open_loop(model, last, found.law))
    joint = 2 * np.pi * 2.0 * (-0.7 + 1j * np.sqrt(1 - 0.7**2))
    design = design_model(model, last, sensors, SAMPLE, fastest=1e6)
    own = np.exp(desired_poles(design, 2.0, vibration=0.3) * SAMPLE)
    assert np.abs(own - np.exp(joint * SAMPLE)).min() < 1e-14
    of_filter = estimator_poles(design, found.law.estimator)
    # A pole of nearly zero dies out within a sample.
    lasting = of_filter[np.abs(of_filter) > 1e-3]
    for z in (*own, *lasting):
        assert np.abs(poles - z).min() < 1e-8 * abs(z)


@pytest.mark.slow
def test_a_law_tuned_by_bandwidth_comes_with_its_margins():
    gains = {"bandwidth": 2.0, "damping": 0.7}
    law = {"type": "pid", "sample": SAMPLE, "reference": MOTION, "gains": gains}
    found = tune(pendulum(), law)
    assert found.margins.stable and found.margins.phase_deg > 10
    assert found.law.sample == SAMPLE
