"""Closed chains whose independent joints change: for joints that follow a motion, and beyond dead points."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from jaxnative.compiled import compiled_quickly

from ..dynamics.coordinates import (
    change_coordinates,
    other_coordinates,
    with_independent_joints,
)
from ..dynamics.formulation import AbstractFormulation, on_branch_near
from ..kinematics.mechanism import DEAD_POINT_GAIN
from ..types import RESULTS, ended_as
from .march import MarchState
from .state import State, state_at
from .step import Moment

SUSPECT = 5.0  # joint gain from which on a failed step may be the work of a dead point


class DeadPointError(ValueError):
    """Joints that follow a motion and cannot set the pose of a closed chain where it starts."""

    def __init__(self, joints: tuple[int, ...]):
        super().__init__(f"joints {joints} do not set the pose of the closed chain")
        self.joints = joints


def with_prescribed_joints(
    formulation: AbstractFormulation, state: State, prescribed: tuple[int, ...]
) -> tuple[AbstractFormulation, State]:
    """The robot with the joints that follow a motion among its coordinates, and the state in those coordinates.

    Raises:
        DeadPointError: these joints do not set the pose.
    """
    if state.independent is not None:
        formulation = with_independent_joints(formulation, state.independent)
    if not prescribed or set(prescribed) <= set(formulation.independent):
        return formulation, state
    here = on_branch_near(formulation, state.q)
    other = other_coordinates(here, np.asarray(state.x), prescribed)
    if other is None:
        raise DeadPointError(prescribed)
    x, xd = change_coordinates(here, other, state.x, state.xd)
    return other, state_at(on_branch_near(other, state.q), x, xd, state.torque)


def beyond_dead_point(
    formulation: AbstractFormulation, at: MarchState, prescribed: tuple[int, ...]
) -> tuple[AbstractFormulation, MarchState]:
    """The march with other independent joints, the same physical state; as it was where no choice is regular."""
    is_open = formulation.n_joints == formulation.n_encoders
    if is_open or ended_as(at.result, RESULTS.too_many_steps):
        return formulation, at
    here = on_branch_near(formulation, at.joints)
    if float(_joint_gain(here, at.now.x)) < SUSPECT:
        return formulation, at
    other = other_coordinates(here, np.asarray(at.now.x), prescribed)
    stuck = eqx.tree_at(lambda s: s.result, at, RESULTS.dead_point)
    if other is None or other.independent == here.independent:
        return formulation, stuck
    x, xd = change_coordinates(here, other, at.now.x, at.now.xd)
    there = on_branch_near(other, at.joints)
    if float(_joint_gain(there, x)) > 0.5 * DEAD_POINT_GAIN:
        return formulation, stuck
    moved = MarchState(
        now=Moment(at.now.t, x, xd, at.now.work),
        joints=_joint_coordinates(there, x),
        piece=at.piece,
        h=at.h,
        memory=None,
        control=at.control,
        contacts=at.contacts,
        counts=at.counts,
        record=at.record,
        result=RESULTS.successful,
    )
    return other, moved


@compiled_quickly
def _joint_coordinates(f: AbstractFormulation, x):
    return f.mechanism.joint_coordinates(x)


@compiled_quickly
def _joint_gain(f: AbstractFormulation, x):
    return jnp.asarray(f.mechanism.joint_gain(x))
