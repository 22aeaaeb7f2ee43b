"""Kirchhoff's equations of one link, derived by hand, against automatic differentiation."""

import jax
import numpy as np
import pytest

import lissom as ls
from lissom.dynamics.link_inertia import differentiated_inertial_force, inertial_force

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
