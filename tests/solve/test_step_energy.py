"""The energy that a step of Radau takes, beside the stability function and beside the balance of its own powers."""

import numpy as np
import pytest

from lissom.solve.radau import A2, A, C
from lissom.solve.step_energy import largest_energy, lost_energy

# Three masses between springs, damped, nothing symmetric about their start.
M = np.diag([1.3, 0.7, 2.1])
K = np.array([[50.0, -20.0, 0.0], [-20.0, 90.0, -35.0], [0.0, -35.0, 60.0]])
D = 0.3 * np.eye(3) + 0.01 * K
X = np.array([0.02, -0.05, 0.01])
XD = np.array([0.4, 0.1, -0.3])
FORCE = np.array([3.0, -2.0, 1.0])


def stages_of(M, D, K, force, x, xd, h):
    """Accelerations of the three stages of one step, solved as one linear system."""
    n = len(x)
    whole = np.kron(np.eye(3), M) + np.kron(h * A, D) + np.kron(h**2 * A2, K)
    right = [force - D @ xd - K @ (x + c * h * xd) for c in C]
    xdd = np.linalg.solve(whole, np.concatenate(right)).reshape(3, n)
    at = x + (h * C)[:, None] * xd + h**2 * (A2 @ xdd)
    return at, xd + h * (A @ xdd), xdd


def found_loss(M, K, x, xd, h, stages):
    at, rates, xdd = stages
    return float(lost_energy(M, K, h, A[2], at - x, rates - xd, rates, xdd))


@pytest.mark.parametrize("y", [0.3, 1.0, 4.0, 30.0])
def test_a_vibration_loses_what_the_stability_function_takes_from_it(y):
    """R(z) = (1 + 2z/5 + z^2/20) / (1 - 3z/5 + 3z^2/20 - z^3/60), [HairerWanner1996] table IV.3.1; y = h omega."""
    z = 1j * y
    R = (1 + 2 * z / 5 + z**2 / 20) / (1 - 3 * z / 5 + 3 * z**2 / 20 - z**3 / 60)
    omega, h = 7.0, y / 7.0
    one = np.eye(1)
    x, xd = np.array([0.3]), np.array([-1.1])
    stages = stages_of(one, 0 * one, omega**2 * one, np.zeros(1), x, xd, h)
    energy = 0.5 * (xd @ xd + omega**2 * x @ x)
    known = energy * (abs(R) ** 2 - 1)
    lost = found_loss(one, omega**2 * one, x, xd, h, stages)
    assert lost == pytest.approx(known, rel=1e-9, abs=1e-12 * energy)
    assert lost < 0


def test_under_damping_and_loads_it_is_what_the_balance_of_energies_leaves_over():
    h = 0.11
    stages = stages_of(M, D, K, FORCE, X, XD, h)
    x, xd, _ = stages
    put_in = h * A[2] @ (xd @ FORCE)
    dissipated = h * A[2] @ np.sum(xd @ D * xd, axis=1)
    before = 0.5 * (XD @ M @ XD + X @ K @ X)
    after = 0.5 * (xd[2] @ M @ xd[2] + x[2] @ K @ x[2])
    known = after - before - put_in + dissipated
    lost = found_loss(M, K, X, XD, h, stages)
    # The step is coarse: what is lost is far above the rounding of the energies.
    assert abs(known) > 1e-4 * before
    assert lost == pytest.approx(known, rel=1e-9)


def test_the_largest_energy_is_the_larger_of_kinetic_and_elastic():
    kinetic, elastic = 0.5 * XD @ M @ XD, 0.5 * X @ K @ X
    assert kinetic != pytest.approx(elastic, rel=0.1)
    assert float(largest_energy(M, K, X, XD)) == pytest.approx(max(kinetic, elastic))
    assert float(largest_energy(M, K, 9 * X, XD)) == pytest.approx(81 * elastic)
