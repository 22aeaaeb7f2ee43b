"""Geometric stiffening: shortening of bent links, and what the loads that work along it do to spinning beams."""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose
from scipy.sparse.csgraph import connected_components

from helpers import compiled_once, motion_of
from lissom import Model, Robot, Scenario, run_scenario
from lissom.analyse.linear.linear_matrices import linear_matrices
from lissom.bodies.slopes import integral_weights
from lissom.dynamics.basis import ModelOptions, link_bodies
from lissom.dynamics.nodes import node_displacements


def test_the_weights_integrate_polynomials_from_the_joint():
    x = np.polynomial.legendre.leggauss(5)[0] * 0.5 + 0.5
    targets = np.array([0.0, 0.2, 0.71, 1.0])
    W = integral_weights(targets, 5)
    for k in range(5):
        assert_allclose(W @ x**k, targets ** (k + 1) / (k + 1), atol=1e-14)


def blade(formulation="nonlinear", basis="nodal", stiffening="geometric", elements=8):
    """A square beam of 1.7 m that turns about the z axis."""
    robot = Robot.from_dict(
        {
            "lissom": 1,
            "name": "blade",
            "gravity": [0, 0, 0],
            "links": [
                {
                    "name": "blade",
                    "joint": {"type": "revolute", "axis": [0, 0, 1]},
                    "beam": {
                        "path": [[0, 0, 0], [1.7, 0, 0]],
                        "section": {"shape": "rectangle", "y": 0.02, "z": 0.02},
                        "up": [0, 0, 1],
                        "material": {"E": 7e10, "nu": 0.3, "density": 2700},
                        "elements": elements,
                    },
                }
            ],
        }
    )
    return Model(robot, formulation, basis=basis, stiffening=stiffening)


@pytest.mark.parametrize("basis", ["nodal", "assumed"])
def test_a_bent_beam_is_shortened_by_half_the_square_of_its_slope(basis):
    # The displacement field along the axis, differentiated and integrated numerically on a fine grid.
    model = blade(basis=basis)
    f = model.formulation
    x, *_ = motion_of(f, seed=3, bend=1e-3)
    tip = np.asarray(displaced(f, x))[0, -1]
    (plain,) = link_bodies(model.robot, "nonlinear", ModelOptions(basis=basis))
    eta = np.asarray(x)[1:]
    u = np.asarray(plain.node_shape[-1])[:, 6:] @ eta
    mass = plain.station_inertia[:, 0, 0]
    phi = (
        plain.station_shape[:, 3:, 6:] @ eta
    )  # slopes are rotations where there is no shear
    shortened = 0.5 * np.sum(
        mass / mass.sum() * 1.7 * (phi[:, 1] ** 2 + phi[:, 2] ** 2)
    )
    assert_allclose(tip[:3] - u[:3], [-shortened, 0.0, 0.0], rtol=1e-9, atol=1e-15)


@compiled_once
def displaced(f, x):
    return node_displacements(f, f.configuration(x).q)


# Flapping frequencies of a uniform beam on a hub without radius, nondimensional by sqrt(EI / (rho A L^4)), at
# spin rates nondimensional in the same way: [Wright1982], repeated by many since.
SPIN = (0.0, 1.0, 2.0, 3.0, 6.0, 10.0)
FLAP_1 = (3.5160, 3.6816, 4.1373, 4.7973, 7.3604, 11.2023)
FLAP_2 = (22.0345, 22.1810, 22.6149, 23.3203, 26.8091, 33.6404)


@compiled_once
def spinning(f, x, xd):
    still = jnp.zeros_like(x)
    return linear_matrices(f, x, xd, still, jnp.zeros(f.n_joints))


def spun_frequencies(model, rate):
    """Frequencies [rad/s] of the undeformed beam that spins about its joint, the joint's own motion given."""
    f = model.formulation
    x, xd = (jnp.zeros(f.size).at[0].set(value) for value in (0.3, rate))
    d = spinning(f, x, xd)
    M, C, K = (np.asarray(part)[1:, 1:] for part in (d.M, d.C, d.K))
    # Planes that do not act on each other are solved apart: a square beam at rest bends as fast in one as in the other.
    size = np.sqrt(np.abs(np.outer(np.diag(K), np.diag(K))))
    count, part = connected_components(np.abs(K) + np.abs(C) > 1e-9 * size)
    found = [_vibrations(M, C, K, np.flatnonzero(part == k)) for k in range(count)]
    frequency, shape = zip(*found, strict=True)
    return np.concatenate(frequency), np.concatenate(shape, axis=1)


def _vibrations(M, C, K, own):
    """Frequencies and shapes of the coordinates `own`, which no others act on."""
    whole = len(M)
    M, C, K = (part[np.ix_(own, own)] for part in (M, C, K))
    n = len(M)
    A = np.block(
        [
            [np.zeros((n, n)), np.eye(n)],
            [-np.linalg.solve(M, K), -np.linalg.solve(M, C)],
        ]
    )
    values, vectors = scipy.linalg.eig(A)
    kept = values.imag > 1e-6
    shape = np.zeros((whole, kept.sum()), complex)
    shape[own] = vectors[:n, kept]
    return values[kept].imag, shape


def flap_and_lag(model, rate):
    """The two lowest flapping (out of the plane of rotation) and the lowest lagging frequency."""
    frequency, shape = spun_frequencies(model, rate)
    tip = (
        np.asarray(model.formulation.links.node_shape)[0, -1, :, 6 : 6 + len(shape)]
        @ shape
    )
    order = np.argsort(frequency)
    across = np.abs(tip[2]) > np.abs(tip[1])
    flap = [frequency[k] for k in order if across[k]]
    lag = [frequency[k] for k in order if not across[k] and abs(tip[1, k]) > 1e-6]
    return flap[:2], lag[:1]


@pytest.mark.parametrize(
    "formulation, basis",
    [
        ("nonlinear", "assumed"),
        ("nonlinear", "nodal"),
        ("erls-fem", None),
        ("dual-screw", "nodal"),
    ],
)
def test_a_spinning_beam_has_the_published_frequencies(formulation, basis):
    # In the plane of rotation the same beam lags at sqrt(flap^2 - spin^2).
    model = blade(formulation, basis)
    unit = np.sqrt(
        7e10 * 0.02**4 / 12 / (2700 * 0.02**2) / 1.7**4
    )  # bending out of the plane
    near = (
        7e-4 if basis == "assumed" else 1e-4
    )  # four modes of the resting beam do not quite span those of a fast one
    for spin, first, second in zip(SPIN, FLAP_1, FLAP_2, strict=True):
        flap, lag = flap_and_lag(model, spin * unit)
        assert_allclose(np.array(flap) / unit, [first, second], rtol=near)
        assert_allclose(
            np.hypot(lag[0] / unit, spin), first, rtol=7e-4
        )  # this beam stretches, theirs does not


def test_without_stiffening_a_fast_beam_is_unstable_in_the_plane_of_rotation():
    # The linear theory softens by the square of the spin rate: beyond the first frequency at rest nothing holds it.
    model = blade(stiffening="none")
    unit = np.sqrt(7e10 * 0.02**4 / 12 / (2700 * 0.02**2) / 1.7**4)
    f = model.formulation
    for spin, stable in ((3.4, True), (3.6, False)):
        x, xd = (jnp.zeros(f.size).at[0].set(value) for value in (0.3, spin * unit))
        d = spinning(f, x, xd)
        assert bool(np.linalg.eigvalsh(np.asarray(d.K)[1:, 1:]).min() > 0) is stable


@pytest.mark.slow
def test_a_cantilever_spun_up_lags_and_comes_back():
    # [KaneRyanBanerjee1987], data of [SimoVuQuoc1986], who show a lag of almost 0.6 m near 7 s and a straight beam
    # after 15 s. Sixteen geometrically exact beams (Exudyn, see benchmarks/physics/spin_up.py) give
    # PEAK, and this beam lies within 2.5 mm of them throughout.
    run = run_scenario(Scenario.load("spin-up"))
    psi, tip = run.q[:, 0], run.position("blade/tip")
    across = np.cos(psi) * tip[:, 1] - np.sin(psi) * tip[:, 0]
    k = int(np.argmin(across))
    assert across[k] == pytest.approx(PEAK[1], abs=0.01) and run.t[k] == pytest.approx(
        PEAK[0], abs=0.2
    )
    assert np.abs(across[run.t > 15]).max() < 0.01
    total = np.abs(run.energy("kinetic")).max()
    assert np.abs(run.energy("residual")).max() < 1e-5 * total


PEAK = (6.76, -0.5737)  # time [s], deflection of the tip [m]
