"""Families of robots: computed side by side, each member is the robot that its numbers describe."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from helpers import compiled_once
from lissom.algebra.eigen import symmetric_modes_traced
from lissom.describe import DescriptionError
from lissom.dynamics import engine
from lissom.solve.family import Family

MASSES = np.array([0.3, 1.1, 0.3])
MODULI = np.array([[1.9e11], [2.1e11]])
MASS, MODULUS = "payload.mass", "links.rod.beam.material.E"


@functools.cache
def pendulum():
    return ls.Model("simple-pendulum", "erls-fem")


@functools.cache
def family():
    return Family(pendulum(), {MASS: MASSES, MODULUS: MODULI})


def locked_frequency(formulation):
    """Lowest frequency [rad/s] of the undeformed link, its joint held."""
    j, x = formulation.n_joints, jnp.zeros(formulation.size)
    M = engine.inertia_at(formulation, x)
    no_torque = jnp.zeros(formulation.n_encoders)
    K = jax.jacfwd(
        lambda x: engine.resting_force(
            formulation, engine.at_rest(formulation, x), no_torque
        )
    )(x)
    return jnp.sqrt(symmetric_modes_traced(K[j:, j:], M[j:, j:])[0][0])


def test_a_frequency_over_payloads_is_that_of_the_single_robots():
    found = compiled_once(lambda family: family.map(locked_frequency))(family())
    single = compiled_once(locked_frequency)
    for k, (row, column) in enumerate(np.ndindex(2, 3)):
        changes = {MASS: MASSES[column], MODULUS: MODULI[row, 0]}
        alone = pendulum().replace(changes).formulation
        assert_allclose(found[k], single(alone), rtol=1e-10)
        assert_allclose(found[k], single(family().member(k)), rtol=1e-10)
    assert found[1] < found[0] and found[3] > found[0]


def test_members_are_counted_along_the_grid_and_equal_ones_are_built_once():
    assert family().shape == (2, 3) and len(family()) == 6
    assert family().which[0] == family().which[2] != family().which[1]
    assert family().formulation.links.mass.shape[0] == 4
    some = family().take([1, 4])
    for leaf, other in zip(
        jax.tree.leaves(some), jax.tree.leaves(family().member(4)), strict=True
    ):
        np.testing.assert_array_equal(leaf[1], other)


def test_what_goes_with_each_member_is_mapped_beside_it():
    angles = np.linspace(0.0, 1.0, 6)

    def tip(formulation, angle):
        return formulation.configuration(
            jnp.zeros(formulation.size).at[0].set(angle)
        ).R[0]

    turned = family().map(tip, angles)
    assert_allclose(turned[:, 0, 0] - turned[0, 0, 0], np.cos(angles) - 1.0, atol=1e-12)


def test_a_family_without_changes_is_the_robot_itself():
    alone = Family(pendulum(), {})
    assert alone.shape == () and len(alone) == 1
    assert_allclose(
        locked_frequency(alone.member(0)),
        locked_frequency(pendulum().formulation),
        rtol=1e-12,
    )


def test_robots_of_another_structure_are_refused_by_their_key():
    with pytest.raises(
        ValueError,
        match=r"links.rod.beam.elements = 3 and 2: the robots of a family must have",
    ):
        Family(pendulum(), {MASS: [0.1, 0.2], "links.rod.beam.elements": [2, 3]})
    with pytest.raises(DescriptionError):
        Family(pendulum(), {"payload.colour": [1.0, 2.0]})
