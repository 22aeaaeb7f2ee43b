"""Mixed-norm synthesis: norms against closed forms, bounds that hold, and LQG as its limit."""

import numpy as np
import pytest
import scipy.linalg

from lissom.control.design_error import DesignError
from lissom.control.margins import open_loop
from lissom.control.mixed_norm import (
    Controller,
    Plant,
    closed_loop,
    h2_norm,
    mixed_synthesis,
    peak_norm,
    scaled_plant,
)
from sampled_laws import END, SAMPLE, pendulum, sampled_law


def two_masses():
    """A motor and a load on a spring: the motor's place is measured, the load is to be held."""
    k, c, motor, load = 40.0, 0.08, 1.0, 0.3
    A = np.zeros((4, 4))
    A[:2, 2:] = np.eye(2)
    A[2] = np.array([-k, k, -c, c]) / motor
    A[3] = np.array([k, -k, c, -c]) / load
    B = np.zeros((4, 1))
    B[2] = 1 / motor
    first, second = np.eye(4)[:1], np.eye(4)[1:2]
    none = np.zeros((1, 1))
    return Plant(
        A=A,
        B=B,
        C=first,
        B_w=np.hstack([0.1 * B, np.zeros((4, 1))]),
        D_w=np.array([[0.0, 1e-4]]),
        C_2=np.vstack([first, second, np.zeros((1, 4))]) / 0.01,
        D_2=np.vstack([none, none, np.ones((1, 1))]),
        B_inf=B,
        D_inf=np.ones((1, 1)),
    )


def side_by_side(plant, count):
    """Several robots of one kind that do not feel each other."""
    copies = [scipy.linalg.block_diag(*[part] * count) for part in plant]
    return Plant(*copies)


def test_motions_that_nothing_disturbs_take_no_part():
    plant = two_masses()
    hidden = scipy.linalg.block_diag(plant.A, [[-3.0]])
    none = np.zeros((1, 1))
    larger = plant._replace(
        A=hidden,
        B=np.vstack([plant.B, none]),
        C=np.hstack([plant.C, none]),
        B_w=np.vstack([plant.B_w, np.zeros((1, 2))]),
        C_2=np.hstack([plant.C_2, np.ones((3, 1))]),
        B_inf=np.vstack([plant.B_inf, none]),
    )
    assert len(scaled_plant(larger)[0].A) == 4


def lqg(plant):
    """The controller of least H2 norm, from two Riccati equations."""
    A, B, C = plant.A, plant.B, plant.C
    R, V = plant.D_2.T @ plant.D_2, plant.D_w @ plant.D_w.T
    X = scipy.linalg.solve_continuous_are(A, B, plant.C_2.T @ plant.C_2, R)
    Y = scipy.linalg.solve_continuous_are(A.T, C.T, plant.B_w @ plant.B_w.T, V)
    F = -np.linalg.solve(R, B.T @ X)
    L = np.linalg.solve(V, C @ Y).T
    return Controller(A + B @ F - L @ C, L, F)


def test_norms_are_those_of_closed_forms():
    a, zeta, omega = 3.0, 0.05, 7.0
    one = np.ones((1, 1))
    assert h2_norm(-a * one, one, one) == pytest.approx(np.sqrt(1 / (2 * a)))
    A = np.array([[0.0, 1.0], [-(omega**2), -2 * zeta * omega]])
    B, C = np.array([[0.0], [omega**2]]), np.array([[1.0, 0.0]])
    peak = 1 / (2 * zeta * np.sqrt(1 - zeta**2))
    assert peak_norm(A, B, C) == pytest.approx(peak, rel=1e-5)
    assert h2_norm(-A, B, C) == peak_norm(-A, B, C) == np.inf


def test_without_a_bound_on_the_peak_the_cost_is_that_of_lqg():
    plant = two_masses()
    loop = closed_loop(plant, lqg(plant))
    least = h2_norm(loop.A, loop.B_w, loop.C_2)
    found = mixed_synthesis(plant, 1e4)
    # Two per cent are given away for moderate numbers.
    assert least * (1 - 1e-6) <= found.h2 <= found.h2_bound <= 1.03 * least


@pytest.mark.parametrize("peak", [2.0, 1.4])
def test_measured_norms_lie_below_their_bounds(peak):
    plant = two_masses()
    found = mixed_synthesis(plant, peak)
    loop = closed_loop(plant, found.controller)
    assert np.linalg.eigvals(loop.A).real.max() < 0
    assert found.h2 <= found.h2_bound
    assert found.peak <= peak
    # The peak over frequencies, by looking at them.
    omega = np.geomspace(0.1, 1e3, 4000)
    gains = [
        np.abs(
            loop.C_inf
            @ np.linalg.solve(1j * w * np.eye(len(loop.A)) - loop.A, loop.B_inf)
        ).max()
        for w in omega
    ]
    assert max(gains) == pytest.approx(found.peak, rel=1e-4)


def test_a_lower_peak_is_paid_with_cost():
    plant = two_masses()
    loop = closed_loop(plant, lqg(plant))
    assert peak_norm(loop.A, loop.B_inf, loop.C_inf) > 1.7
    costs = [mixed_synthesis(plant, peak).h2 for peak in (10.0, 1.2)]
    assert costs[0] < costs[1]


def test_scaling_changes_the_states_and_the_unit_of_time_alone():
    plant = two_masses()
    scaled, time = scaled_plant(plant)
    s = 1.7 + 2.9j
    for B, C in (("B", "C"), ("B_w", "C_2"), ("B_inf", "C")):
        own, other = (
            getattr(p, C) @ np.linalg.solve(x * np.eye(4) - p.A, getattr(p, B))
            for p, x in ((plant, s), (scaled, s * time))
        )
        np.testing.assert_allclose(own, other, rtol=1e-6, atol=1e-9)


def test_models_that_are_too_large_and_peaks_that_cannot_be_are_refused():
    plant = two_masses()
    with pytest.raises(DesignError, match="20 states, at most 16"):
        mixed_synthesis(side_by_side(plant, 5), 2.0)
    with pytest.raises(DesignError, match="any torque, not measured by any sensor"):
        mixed_synthesis(plant._replace(B=0 * plant.B), 2.0)
    with pytest.raises(DesignError, match="no controller with a peak of 0.9"):
        mixed_synthesis(plant, 0.9)


@pytest.mark.slow
def test_the_sampled_law_keeps_the_peak_on_the_robot():
    """Sampling and the modes that were left out change the peak a little."""
    loop = open_loop(pendulum(), [END], sampled_law("mixed-norm"))
    peaks = []
    for omega in np.geomspace(1.0, 0.5 * np.pi / SAMPLE, 500):
        L = loop.gain(np.exp(1j * omega * SAMPLE))
        T = np.linalg.solve(np.eye(len(L)) + L, L)
        peaks.append(np.linalg.norm(T, 2))
    assert 1.0 < max(peaks) < 1.1 * 2.0
