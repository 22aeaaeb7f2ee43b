"""The validity watch: every doubt about a robot, about a robot in one position, and about a run."""

from typing import Any

import numpy as np

from ...compilation import compiled_quickly
from ...describe.doubt import Doubt
from ...describe.robot import Robot
from ...dynamics.formulation import AbstractFormulation
from ...dynamics.nodes import Poses, node_poses
from ...solve.model import Model
from ...solve.outputs import Outputs
from ...solve.state import State
from ..linear.state_space import LinearModel
from .bending import bending_doubts
from .deformation import NodeMotion, bent_bodies
from .description import description_doubts


def doubts_of_robot(robot: Robot) -> tuple[Doubt, ...]:
    """Doubts about the data of a robot, before anything is computed."""
    return tuple(description_doubts(robot))


def doubts(model: Model, state: State) -> tuple[Doubt, ...]:
    """Doubts about a robot and one of its states, such as an equilibrium from `model.static`.

    Example:
        >>> import lissom as ls
        >>> model = ls.Model(ls.Robot.load("simple-pendulum").replace({"links.*.beam.material.E": 70.0}))
        >>> ls.doubts(model, model.at([0.3]))[0].check
        'E'
    """
    return doubts_at(model, state.q, state.x)


def doubts_of_linear_model(model: Model, linear: LinearModel) -> tuple[Doubt, ...]:
    """Doubts about a robot at the point about which it was made linear."""
    point = linear.operating
    x = np.concatenate([point.q, point.elastic])
    return doubts_at(model, point.encoder, x)


def doubts_at(model: Model, q: Any, x: Any) -> tuple[Doubt, ...]:
    """The same at joint coordinates q (of all joints) and coordinates x of the model."""
    poses = _poses(model.formulation_at(q), x)
    nodes = NodeMotion(*_as_one_instant(poses))
    bodies = bent_bodies(model, nodes)
    return (
        *description_doubts(model.robot),
        *bending_doubts(model, bodies),
    )


def doubts_of_run(model: Model, t: np.ndarray, outputs: Outputs) -> tuple[Doubt, ...]:
    """Doubts about a run at its output times."""
    nodes = NodeMotion(outputs.position, outputs.rotation, outputs.frame)
    bodies = bent_bodies(model, nodes)
    return (
        *description_doubts(model.robot),
        *bending_doubts(model, bodies, t),
    )


@compiled_quickly
def _poses(f: AbstractFormulation, x: Any) -> Poses:
    return node_poses(f, f.configuration(x))


def _as_one_instant(poses: Poses) -> tuple[np.ndarray, ...]:
    arrays = (poses.position, poses.rotation, poses.frame)
    return tuple(np.asarray(a)[None] for a in arrays)
