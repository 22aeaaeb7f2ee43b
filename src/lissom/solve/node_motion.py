"""Velocities and accelerations of chosen nodes along a run that is over."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Array

from jaxnative.compilation import QUICK
from jaxnative.compiled import NativeAhead
from jaxnative.marks import noinline, vmap_first_rows

from ..types import Float, host_real, host_whole
from .channels import Channel, UnknownNameError, measure, observed_motion
from .inputs import Inputs
from .march import DrivenRobot
from .model import Model
from .outputs import RowsOfRun, map_run, robot_at_start, window_shapes
from .problem import MotionProblem
from .solution import Solution
from .state import State

# Kinds of channels under the names that results give them, and their units.
KINDS = {
    "velocity": ("velocity", "m/s"),
    "acceleration": ("node_acceleration", "m/s^2"),
    "angular_velocity": ("angular_velocity", "rad/s"),
    "angular_acceleration": ("angular_acceleration", "rad/s^2"),
}


def recorded_nodes(model: Model, nodes: Sequence[str]) -> tuple[str, ...]:
    """Names of nodes as results have them, tips by their numbers, each once.

    Raises:
        UnknownNameError: the robot has no such node.
    """
    if isinstance(nodes, str):
        nodes = (nodes,)
    names = []
    for node in nodes:
        problem = model.robot.outline.node_problem(node)
        if problem:
            raise UnknownNameError(f"record: {node}", problem)
        place = model.node_index.index(model.find_node(node))
        names.append(model.node_names[place])
    return tuple(dict.fromkeys(names))


def node_channels(model: Model, nodes: Sequence[str]) -> tuple[Channel, ...]:
    """Channels of every kind of motion of every node, along x, y and z of the world."""
    channels = []
    for kind, _ in KINDS.values():
        for node in nodes:
            link, number = model.find_node(node)
            for axis in range(3):
                channels.append(Channel(node, kind, link, number, axis))
    return tuple(channels)


def measured_rows(
    robot: DrivenRobot, channels, t_end, count, joints, command, t, x, xd
) -> Float[Array, "t c"]:
    """The channels at the first `count` of many times of a run that ends at `t_end`."""

    def one(*state):
        return _measured_at(robot, channels, t_end, *state)

    return vmap_first_rows(one, count)(joints, command, t, x, xd)


@noinline
def _measured_at(robot: DrivenRobot, channels, t_end, joints, command, t, x, xd):
    """The channels at one time: the accelerations are those of the equations of motion."""
    schedule = robot.schedule
    loads = schedule.loads(schedule.piece_at(t, t_end))
    here = MotionProblem(robot.formulation, loads).on_branch_near(joints)
    if here.sampled_law is not None:
        here = here.with_command(command)
    f = here.formulation
    motion = f.motion(x, xd, here.acceleration_by_parts(t, x, xd))
    return measure(
        f, channels, observed_motion(f, motion), None, here.torque(t, motion)
    )


_measured = NativeAhead(measured_rows, lambda robot, *_: robot.formulation, **QUICK)


def node_motions(
    model: Model, inputs: Inputs, solution: Solution, nodes: Sequence[str]
) -> dict[str, Float[np.ndarray, "t n 3"]]:
    """Motions of nodes by the names of `KINDS`, in world axes."""
    channels = node_channels(model, nodes)

    def measure_rows(robot: DrivenRobot, t_end: float, rows: RowsOfRun) -> np.ndarray:
        count, end = host_whole(rows.count), host_real(t_end)
        columns = (rows.joints, rows.command, rows.t, rows.x, rows.xd)
        values = _measured(robot, channels, end, count, *columns)
        return np.asarray(values)[: rows.count]

    table = map_run(model, inputs, solution, measure_rows)
    shaped = table.reshape(len(table), len(KINDS), len(nodes), 3)
    return {name: shaped[:, k] for k, name in enumerate(KINDS)}


def prepare_node_motions(
    model: Model, state: State, inputs: Inputs, t_end: float, nodes: Sequence[str]
) -> None:
    """Compile what `node_motions` needs for a run from this state to `t_end`."""
    robot = robot_at_start(model, state, inputs, t_end)
    blank = window_shapes(robot)
    channels = node_channels(model, nodes)
    end, count = host_real(t_end), host_whole(blank.count)
    columns = (blank.joints, blank.command, blank.t, blank.x, blank.xd)
    _measured.prepare(robot, channels, end, count, *columns)
