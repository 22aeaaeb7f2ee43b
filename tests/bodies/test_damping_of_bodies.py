"""Damping of one link."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

from lissom.bodies.body import with_mass
from lissom.bodies.damping import frequency_matrix, with_modal_ratio, with_rayleigh

from .helpers import ALL_BODIES, BENT, PRINCIPAL, beam, clamped, rectangle

SQUARE = rectangle(0.02, 0.02)


@pytest.mark.parametrize(
    "body", [beam(), beam(BENT, theory="timoshenko"), beam(section=SQUARE)]
)
def test_every_mode_of_the_clamped_link_has_the_ratio(body):
    body = with_modal_ratio(with_mass(body, -1, 0.4, PRINCIPAL), 0.03)
    K, M = clamped(body)
    eigenvalue, modes = scipy.linalg.eigh(K, M)
    expected = np.diag(2 * 0.03 * np.sqrt(eigenvalue))
    assert_allclose(
        modes.T @ body.damping[6:, 6:] @ modes, expected, atol=1e-6 * expected.max()
    )


def test_ratio_shows_as_decay_of_the_free_vibration():
    body = with_modal_ratio(beam(BENT, elements=1), 0.03)
    K, M = clamped(body)
    n = len(K)
    first_order = np.block(
        [
            [np.zeros((n, n)), np.eye(n)],
            [-np.linalg.solve(M, np.hstack([K, body.damping[6:, 6:]]))],
        ]
    )
    roots = np.linalg.eigvals(first_order)
    assert_allclose(-roots.real / np.abs(roots), 0.03, rtol=1e-6)


def test_rayleigh_coefficients_are_stored_separately():
    body = beam(BENT)
    damped = with_rayleigh(body, alpha=1.3, beta=2e-4)
    assert damped.alpha == 1.3
    assert_allclose(damped.damping, 2e-4 * body.stiffness)


def test_rigid_link_has_nothing_to_damp():
    damped = with_modal_ratio(ALL_BODIES["rigid"], 0.05)
    assert_allclose(damped.damping, 0)


def test_frequency_matrix_squares_to_the_stiffness():
    K, M = clamped(beam(BENT, elements=1))
    S = frequency_matrix(M, K)
    assert_allclose(S @ np.linalg.solve(M, S), K, atol=1e-9 * np.abs(K).max())
