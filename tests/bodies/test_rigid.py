"""Rigid links and masses fixed to nodes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from lissom.bodies.body import with_mass
from lissom.bodies.rigid_body import rigid_body

from .helpers import BENT, PRINCIPAL, TENSOR, beam

MASS, CENTRE = 1.7, np.array([0.1, 0.02, -0.03])
FULL = np.array([[2.0e-3, 2e-4, -3e-4], [2e-4, 3.0e-3, 1e-4], [-3e-4, 1e-4, 2.5e-3]])


def steiner(mass, at):
    """Inertia of a point mass about the origin."""
    return mass * (at @ at * np.eye(3) - np.outer(at, at))


@pytest.mark.parametrize(
    "given, tensor", [(PRINCIPAL, np.diag(PRINCIPAL)), (TENSOR, FULL), (FULL, FULL)]
)
def test_rigid_link_has_the_mass_centre_and_inertia_it_was_given(given, tensor):
    body = rigid_body(MASS, CENTRE, given, (0.2, 0, 0))
    assert_allclose(body.total_mass, MASS)
    assert_allclose(body.centre, CENTRE)
    assert_allclose(body.inertia, tensor + steiner(MASS, CENTRE), rtol=1e-12)


@pytest.mark.parametrize("tip, nodes", [((0.2, 0, 0.1), 2), ((0, 0, 0), 1)])
def test_rigid_link_has_a_node_at_its_tip_unless_that_is_the_joint(tip, nodes):
    body = rigid_body(MASS, CENTRE, PRINCIPAL, tip)
    assert len(body.points) == nodes
    assert_allclose(body.points[-1], tip)


def test_mass_at_a_node_adds_its_mass_moment_and_inertia():
    before, arm = beam(BENT), np.array([0.02, 0.05, -0.03])
    after = with_mass(before, 4, 0.7, TENSOR, arm)
    at = before.points[4] + arm
    assert_allclose(after.total_mass, before.total_mass + 0.7)
    moment = before.total_mass * before.centre + 0.7 * at
    assert_allclose(after.centre, moment / after.total_mass, rtol=1e-12)
    assert_allclose(after.inertia, before.inertia + FULL + steiner(0.7, at), rtol=1e-12)


def test_mass_at_a_node_moves_with_that_node_alone():
    before = beam(BENT)
    added = with_mass(before, 2, 0.3, PRINCIPAL).mass_matrix - before.mass_matrix
    expected = np.zeros_like(added)
    expected[12:18, 12:18] = np.diag([0.3, 0.3, 0.3, *PRINCIPAL])
    assert_allclose(added, expected, atol=1e-15)


def test_tip_is_the_last_node():
    body = beam(BENT)
    a, b = with_mass(body, -1, 0.3), with_mass(body, len(body.points) - 1, 0.3)
    assert_allclose(a.mass_matrix, b.mass_matrix)


def test_many_payloads_at_once_are_each_of_them():
    body, masses = beam(BENT), jnp.linspace(0.1, 2.0, 5)
    together = jax.vmap(
        lambda m: with_mass(body, -1, m, m * PRINCIPAL, (0.0, 0.0, 0.1)).mass_matrix
    )(masses)
    for mass, M in zip(masses, together, strict=True):
        alone = with_mass(
            body, -1, float(mass), float(mass) * PRINCIPAL, (0.0, 0.0, 0.1)
        )
        assert_allclose(M, alone.mass_matrix, rtol=1e-13, atol=1e-15)


def test_arrays_of_the_wrong_shape_are_refused_by_name():
    body = beam()
    arguments = {name: getattr(body, name) for name in body.__dataclass_fields__}
    with pytest.raises((ValueError, TypeError), match="stiffness"):
        type(body)(**(arguments | {"stiffness": np.zeros((3, 3))}))
