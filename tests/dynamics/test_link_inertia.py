"""Kirchhoff's equations of one link, derived by hand, against automatic differentiation."""

import jax
import numpy as np
import pytest

import lissom as ls
from lissom.dynamics.link_inertia import (
    differentiated_inertial_force,
    inertial_force,
    momentum,
)

ROUNDING = 1e-13


@pytest.mark.parametrize(
    ("robot", "choices"),
    [
        ("double-pendulum", {"formulation": "erls-fem"}),
        ("cibicik-arm", {"formulation": "nonlinear", "stiffening": "geometric"}),
    ],
)
def test_force_of_a_moving_link_is_that_of_its_differentiated_momentum(robot, choices):
    links = ls.Model(robot, **choices).formulation.links
    l, c = links.stiffness.shape[:2]
    random = np.random.default_rng(3)
    y, y_d = random.normal(size=(2, l, 6 + c))
    q = random.normal(size=(l, c))
    force = jax.vmap(inertial_force)(links, y, q, y_d)
    oracle = jax.vmap(differentiated_inertial_force)(links, y, q, y_d)
    assert np.abs(force - oracle).max() < ROUNDING * np.abs(oracle).max()


def test_momentum_is_that_of_the_energy_with_the_constants_of_the_paper():
    links = ls.Model("cibicik-arm", "nonlinear").formulation.links
    l, c = links.stiffness.shape[:2]
    random = np.random.default_rng(5)
    y, q = random.normal(size=(l, 6 + c)), random.normal(size=(l, c))
    w = y[:, 3:6]
    # [Vidoni2015] Appendix D: T = 1/2 y^T M y + sum_a w_a y^T X_a q + 1/2 sum_ab w_a w_b q^T Z_ab q.
    of_mass = 0.5 * np.einsum("le,lef,lf->l", y, links.mass, y)
    of_bending = np.einsum("la,le,laec,lc->l", w, y, links.X, q)
    of_turning = 0.5 * np.einsum("la,lb,lc,labcd,ld->l", w, w, q, links.Z, q)
    wanted = of_mass + of_bending + of_turning
    energy = 0.5 * np.einsum("le,le->l", y, jax.vmap(momentum)(links, y, q))
    np.testing.assert_allclose(energy, wanted, rtol=1e-12)


@pytest.mark.parametrize("robot", ["cibicik-arm", "l-shape", "solid-arm"])
def test_a_link_moved_as_a_whole_has_the_moment_of_its_mass_whichever_way_it_turns(
    robot,
):
    """What Newton's and Euler's equations rest on; of the solid arm a mesh of elements says what its mass is."""
    links = ls.Model(robot, "nonlinear").formulation.links
    mass, X = np.asarray(links.mass), np.asarray(links.X)
    size = np.abs(mass[:, :3]).max()
    total = mass[:, 0, 0, None, None] * np.eye(3)
    np.testing.assert_allclose(mass[:, :3, :3], total, atol=ROUNDING * size)
    turning = mass[:, :3, 3:6]
    np.testing.assert_allclose(turning, -turning.swapaxes(1, 2), atol=ROUNDING * size)
    # X_a over translations is e_a x the mass matrix.
    axes = np.eye(3)[None, :, None, :]
    columns = mass[:, None, :3, 6:].swapaxes(2, 3)
    wanted = np.cross(axes, columns).swapaxes(2, 3)
    np.testing.assert_allclose(X[:, :, :3], wanted, atol=ROUNDING * size)


def test_what_cancels_in_the_symmetric_constants_is_zero():
    links = ls.Model("double-pendulum", "erls-fem").formulation.links
    X = np.asarray(links.X)[:, :, 6:]
    np.testing.assert_allclose(links.X_sum, X + X.swapaxes(2, 3), atol=1e-15)
    # Rounding is no inertia: what cancels is zero.
    size = np.abs(X).max()
    left = np.abs(links.X_sum)
    assert ((left == 0) | (left > 1e-12 * size)).all()
