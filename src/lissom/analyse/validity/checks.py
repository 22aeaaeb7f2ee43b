"""Checks of validity: all warnings about a robot, about one of its states, and about a run."""

from typing import Any, NamedTuple

import numpy as np

from ...describe.scenario import Scenario
from ...solve.arguments import ModelLike, model_from, state_from
from ...solve.inputs import Inputs
from ...solve.model import Model, poses_at
from ...solve.smallest_inertia import smallest_at
from ...solve.state import State
from ..linear.state_space import LinearModel
from .bending import bending_warnings
from .deformation import bent_bodies
from .description import robot_warnings, scenario_warnings
from .inertia import inertia_warnings
from .joints import drive_warnings, joint_start_warnings, range_warnings, table_warnings
from .motion import energy_remedy, energy_warnings, fast_node, speed_warnings
from .strength import strength_warnings
from .validity_warning import ValidityWarning

# [rad or m] Of joints, over which the way of a node is straight to nine digits.
SMALL_TURN = 1e-5


def run_start_warnings(
    scenario: Scenario, model: Model, state: State
) -> tuple[ValidityWarning, ...]:
    """Warnings about the data of a scenario and the state that its run starts from."""
    encoder = np.asarray(state.encoder)
    return (
        *scenario_warnings(scenario),
        *robot_warnings(model.robot),
        *joint_start_warnings(model, encoder),
        *range_warnings(model, encoder[None]),
    )


def check(model: ModelLike, state: Any = None) -> tuple[ValidityWarning, ...]:
    """Warnings about a robot and one of its states, such as an equilibrium from `model.static`, or a pose.

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
        >>> ls.check(model, model.at([0.3]))[0].check
        'E'
    """
    model = model_from(model)
    state = state_from(model, state)
    torque = np.zeros(model.n_joints) if state.torque is None else state.torque
    return point_warnings(model, state.q, state.x, state.encoder, torque)


def linear_model_warnings(
    model: Model, linear: LinearModel
) -> tuple[ValidityWarning, ...]:
    """Warnings about a robot at the point about which it was made linear."""
    point = linear.operating
    x = np.concatenate([point.q, point.elastic])
    speed = _node_speeds(model, point.encoder, x, point.qd)
    return (
        *point_warnings(model, point.encoder, x, point.encoder, point.torque),
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


def point_warnings(
    model: Model, q: Any, x: Any, encoder: Any, torque: Any
) -> tuple[ValidityWarning, ...]:
    """Warnings at a point: joint coordinates q, coordinates x of the model, encoders and torques of all joints."""
    poses = poses_at(model.formulation_at(q), x)
    bodies = bent_bodies(model, np.asarray(poses.body)[None])
    inertia = smallest_at(model, q, x)
    return (
        *robot_warnings(model.robot),
        *joint_start_warnings(model, encoder),
        *range_warnings(model, np.asarray(encoder)[None]),
        *drive_warnings(model, np.asarray(torque)[None]),
        *bending_warnings(model, bodies),
        *strength_warnings(model, bodies),
        *(() if inertia is None else inertia_warnings(np.array([inertia]))),
    )


class RunSamples(NamedTuple):
    """Results of a run at its output times, as far as they are checked."""

    t: np.ndarray
    encoder: np.ndarray  # (t, j)
    torque: np.ndarray  # (t, j)
    body: np.ndarray  # (t, l, c) coordinates of the bodies
    position: np.ndarray  # (t, n, 3) in the order of `model.node_names`
    energy: np.ndarray  # (t, 6) with the residual of their balance
    # (t,) smallest eigenvalue of the inertia; None where the equations keep it above zero.
    inertia: np.ndarray | None = None
    method: str = "radau"  # of integration


def run_warnings(
    model: Model, inputs: Inputs, seen: RunSamples
) -> tuple[ValidityWarning, ...]:
    """Warnings about a run at its output times."""
    bodies = bent_bodies(model, seen.body)
    t = seen.t
    duration = float(t[-1] - t[0])
    led = len(inputs.motion)
    remedy = energy_remedy(model.formulation, model.terms, seen.method, led, duration)
    return (
        *robot_warnings(model.robot),
        *joint_start_warnings(model, seen.encoder[0]),
        *range_warnings(model, seen.encoder, t),
        *table_warnings(model, inputs),
        *drive_warnings(model, seen.torque, t),
        *bending_warnings(model, bodies, t),
        *strength_warnings(model, bodies, t),
        *speed_warnings(seen.position, t, model.node_names),
        *energy_warnings(seen.energy, remedy),
        *(() if seen.inertia is None else inertia_warnings(seen.inertia, t)),
    )
