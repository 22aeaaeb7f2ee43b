"""The validity watch: every doubt about a robot, about a robot in one position, and about a run."""

from typing import Any, NamedTuple

import numpy as np

from ...describe.doubt import Doubt
from ...describe.robot import Robot
from ...describe.scenario import Scenario
from ...solve.arguments import ModelLike, model_from, state_from
from ...solve.inputs import Inputs
from ...solve.model import Model, poses_at
from ...solve.state import State
from ..linear.state_space import LinearModel
from .bending import bending_doubts
from .deformation import bent_bodies
from .description import description_doubts, scenario_doubts
from .joints import drive_doubts, range_doubts, start_doubts, table_doubts
from .motion import energy_doubts, fast_node, speed_doubts
from .strength import strength_doubts

# [rad or m] Of joints, over which the way of a node is straight to nine digits.
SMALL_TURN = 1e-5


def doubts_of_robot(robot: Robot) -> tuple[Doubt, ...]:
    """Doubts about the data of a robot, before anything is computed."""
    return description_doubts(robot)


def doubts_of_scenario(scenario: Scenario) -> tuple[Doubt, ...]:
    """Doubts about the data of a scenario, beside those of its robot."""
    return tuple(scenario_doubts(scenario))


def doubts_of_start(
    scenario: Scenario, model: Model, state: State
) -> tuple[Doubt, ...]:
    """Doubts about the data of a scenario and the state that its run starts from."""
    encoder = np.asarray(state.encoder)
    return (
        *scenario_doubts(scenario),
        *description_doubts(model.robot),
        *start_doubts(model, encoder),
        *range_doubts(model, encoder[None]),
    )


def doubts(model: ModelLike, state: Any = None) -> tuple[Doubt, ...]:
    """Doubts about a robot and one of its states, such as an equilibrium from `model.static`, or a pose.

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        state: an equilibrium from `model.static`, a state from `model.at`, or joint coordinates q; q = 0 by default.

    Returns:
        One warning for each assumption that the robot or the state breaks, with its check and its number.

    Raises:
        DescriptionError: the robot is wrong.

    Example:
        >>> import lissom as ls
        >>> model = ls.Model(ls.Robot.load("simple-pendulum").replace({"links.*.beam.material.E": 70.0}))
        >>> ls.doubts(model, model.at([0.3]))[0].check
        'E'
    """
    model = model_from(model)
    state = state_from(model, state)
    torque = np.zeros(model.n_joints) if state.torque is None else state.torque
    return doubts_at(model, state.q, state.x, state.encoder, torque)


def doubts_of_linear_model(model: Model, linear: LinearModel) -> tuple[Doubt, ...]:
    """Doubts about a robot at the point about which it was made linear."""
    point = linear.operating
    x = np.concatenate([point.q, point.elastic])
    speed = _node_speeds(model, point.encoder, x, point.qd)
    return (
        *doubts_at(model, point.encoder, x, point.encoder, point.torque),
        *fast_node(speed, model.node_names),
    )


def _node_speeds(model: Model, q: Any, x: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Speeds of all nodes while the joints move and the links keep their shape [m/s]."""
    f = model.formulation_at(q)
    link, node = np.array(model.node_index).T
    # A central difference over a small turn needs no further program.
    h = SMALL_TURN / max(float(np.abs(qd).max(initial=0.0)), 1.0)
    way = h * np.concatenate([qd, np.zeros(len(x) - len(qd))])
    before, after = poses_at(f, x - way).position, poses_at(f, x + way).position
    speed = np.linalg.norm(np.asarray(after) - np.asarray(before), axis=-1) / (2 * h)
    return speed[link, node]


def doubts_at(
    model: Model, q: Any, x: Any, encoder: Any, torque: Any
) -> tuple[Doubt, ...]:
    """The same by the coordinates: q of all joints, x of the model, readings and torques of all joints."""
    poses = poses_at(model.formulation_at(q), x)
    bodies = bent_bodies(model, np.asarray(poses.body)[None])
    return (
        *description_doubts(model.robot),
        *start_doubts(model, encoder),
        *range_doubts(model, np.asarray(encoder)[None]),
        *drive_doubts(model, np.asarray(torque)[None]),
        *bending_doubts(model, bodies),
        *strength_doubts(model, bodies),
    )


class SeenRun(NamedTuple):
    """What is seen of a run at its output times."""

    t: np.ndarray
    encoder: np.ndarray  # (t, j)
    torque: np.ndarray  # (t, j)
    body: np.ndarray  # (t, l, c) coordinates of the bodies
    position: np.ndarray  # (t, n, 3) in the order of `model.node_names`
    energy: np.ndarray  # (t, 6) with the residual of their balance


def doubts_of_run(model: Model, inputs: Inputs, seen: SeenRun) -> tuple[Doubt, ...]:
    """Doubts about a run at its output times."""
    bodies = bent_bodies(model, seen.body)
    t = seen.t
    return (
        *description_doubts(model.robot),
        *start_doubts(model, seen.encoder[0]),
        *range_doubts(model, seen.encoder, t),
        *table_doubts(model, inputs),
        *drive_doubts(model, seen.torque, t),
        *bending_doubts(model, bodies, t),
        *strength_doubts(model, bodies, t),
        *speed_doubts(seen.position, t, model.node_names),
        *energy_doubts(seen.energy, model.terms == "consistent"),
    )
