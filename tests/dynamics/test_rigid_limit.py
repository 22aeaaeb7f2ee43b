"""Robots whose links do not bend against Pinocchio: crba, rnea, gravity."""

import functools

import pytest

from arms import arm
from helpers import (
    ALL_ROBOTS,
    LIBRARY,
    conservative,
    rigid_robot,
    robot_named,
)
from lissom import Model
from lissom.dynamics.formulations import formulation_of
from pinocchio_robot import worst_differences

AGREE = 1e-9  # required; both programs work in double precision and agree to 1e-13
POSES = 5


def check(formulation, robot, seed=0):
    worst = worst_differences(formulation, robot, seed, POSES)
    assert max(worst.values()) < AGREE, worst


@functools.cache
def rigid_named(name):
    return rigid_robot(robot_named(name))


@pytest.mark.parametrize("name", (*LIBRARY, *ALL_ROBOTS))
def test_a_robot_made_rigid_has_the_dynamics_of_pinocchio(name):
    robot = rigid_named(name)
    check(conservative(formulation_of(robot, "erls-fem")), robot)


@pytest.mark.parametrize("name", ALL_ROBOTS)
def test_a_flexible_robot_held_undeformed_has_the_dynamics_of_pinocchio(name):
    check(
        conservative(formulation_of(robot_named(name), "erls-fem")),
        rigid_named(name),
        seed=1,
    )


@pytest.mark.parametrize("terms", ["consistent", "published"])
def test_dual_screws_held_undeformed_have_the_dynamics_of_pinocchio(terms):
    model = Model(arm("arm-4"), formulation="dual-screw", modes=6, terms=terms)
    check(conservative(model.formulation), rigid_robot(model.robot), seed=2)
