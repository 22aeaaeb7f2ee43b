"""Outputs of a run: positions, frames, energies and torques at its output times."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from jaxnative.compilation import QUICK
from jaxnative.compiled import is_compiling_quickly, is_native
from jaxnative.marks import noinline
from jaxnative.rows import RowsAhead, joined_rows, windows_of

from ..dynamics import engine
from ..dynamics.coordinates import with_independent_joints
from ..dynamics.formulation import on_branch_near
from ..dynamics.nodes import node_poses
from ..dynamics.stops import stop_energy
from ..once import LastValueCache, once_for_each
from ..types import Float
from .dead_point import with_prescribed_joints
from .inputs import Inputs
from .march import DrivenRobot
from .model import Model
from .problem import MotionProblem
from .record import rows_of_window
from .solution import Solution
from .state import State

# Energies of a run, and the residual of their balance.
ENERGIES = ("kinetic", "strain", "gravity", "input", "dissipated", "residual")


class Outputs(eqx.Module):
    """Quantities over time; t times, l links, k nodes (padded), j moving joints."""

    qd: Any  # (t, j)
    encoder: Any  # (t, j)
    encoder_rate: Any  # (t, j)
    position: Any  # (t, l, k, 3) of the nodes, world axes [m]
    erls_position: Any  # (t, l, k, 3)
    rotation: Any  # (t, l, k, 3) from the ERLS [rad]
    frame: Any  # (t, l, 3, 3) axes of the bodies in the world
    # (t, l, 3, 3) the same of the rigid robot, from which rotations of nodes are counted
    rigid_frame: Any
    body: Any  # (t, l, c) coordinates of the bodies
    energy: Any  # (t, 5): kinetic, strain, gravity, input, dissipated [J]


@noinline
def _outputs_at(formulation, joints, x, xd, work) -> Outputs:
    """Outputs of one state; `joints` say on which branch a closed chain is."""
    f = on_branch_near(formulation, joints)
    motion = f.motion(x, xd, jnp.zeros_like(x))
    place = motion.place
    poses = node_poses(f, place)
    kinetic = engine.kinetic_energy(f, motion)
    # The springs of end stops bend too.
    strain = engine.strain_energy(f, place)
    strain = strain + stop_energy(f.joints.stops, place.encoder)
    gravity = engine.gravity_energy(f, place)
    return Outputs(
        qd=motion.theta_d,
        encoder=place.encoder,
        encoder_rate=motion.rates.encoder,
        position=poses.position,
        erls_position=poses.erls_position,
        rotation=poses.rotation,
        frame=place.R,
        rigid_frame=f.rigid_frames(place)[0],
        body=place.q,
        energy=jnp.stack([kinetic, strain, gravity, *work]),
    )


@noinline
def _torques_at(robot: DrivenRobot, t_end, joints, command, t, x, xd):
    """Torques at one time of a run that ends at `t_end`."""
    schedule = robot.schedule
    loads = schedule.loads(schedule.piece_at(t, t_end))
    here = MotionProblem(robot.formulation, loads).on_branch_near(joints)
    if here.sampled_law is not None:
        here = here.with_command(command)
    # Only the reaction of a prescribed joint depends on accelerations.
    xdd = here.acceleration(t, x, xd) if here.loads.prescribed else 0.0 * x
    return here.torque(t, here.formulation.motion(x, xd, xdd))


# Of a formulation, or a robot, and rows of a run.
shown_motion = RowsAhead(_outputs_at, rows_of_window, **QUICK)
_torques = RowsAhead(
    _torques_at, rows_of_window, lambda robot: robot.formulation, **QUICK
)


class RowsOfRun(NamedTuple):
    """A few rows of a run."""

    count: int  # of those that are meant: windows are filled up
    joints: Any
    command: Any
    t: Any
    x: Any
    xd: Any
    work: Any


Compute = Callable[[DrivenRobot, float, RowsOfRun], Any]


def map_segments(
    model: Model, inputs: Inputs, solution: Solution, compute: Compute
) -> Any:
    """Values of `compute` at the output times reached, each segment of the run in its own coordinates."""
    t_end = float(solution.t[-1])
    inputs = inputs.wired(model)
    starts = [segment.row for segment in solution.segments]
    ends = [*starts[1:], int(solution.filled)]
    names = RowsOfRun._fields[1:]
    columns = [np.asarray(getattr(solution, name)) for name in names]
    parts = []
    for segment, end in zip(solution.segments, ends, strict=True):
        f = with_independent_joints(model.formulation, segment.independent)
        robot = inputs.robot(f, t_end)
        here = slice(segment.row, end)
        rows = RowsOfRun(end - segment.row, *(column[here] for column in columns))
        if rows.count:
            parts.append(compute(robot, t_end, rows))
    return joined_rows(parts)


def map_run(model: Model, inputs: Inputs, solution: Solution, compute: Compute) -> Any:
    """`map_segments` in windows as long as those of the march: compiled code takes no other number of rows."""

    def in_windows(robot: DrivenRobot, t_end: float, rows: RowsOfRun) -> Any:
        windows = windows_of(rows[1:], rows_of_window())
        return joined_rows(
            [compute(robot, t_end, RowsOfRun(n, *window)) for n, window in windows]
        )

    return map_segments(model, inputs, solution, in_windows)


def outputs_of(
    model: Model, inputs: Inputs, solution: Solution
) -> tuple[Outputs, np.ndarray]:
    """Outputs and joint torques at the output times reached."""
    return map_segments(model, inputs, solution, _outputs_of_rows)


def _outputs_of_rows(
    robot: DrivenRobot, t_end: float, rows: RowsOfRun
) -> tuple[Outputs, np.ndarray]:
    """Outputs and torques of a few rows."""
    _, joints, command, t, x, xd, work = rows
    outputs = shown_motion(robot.formulation, joints, x, xd, work)
    ends = np.full(len(t), t_end)
    return outputs, _torques(robot, ends, joints, command, t, x, xd)


_compiled_for = LastValueCache()


def prepare_outputs(model: Model, state: State, inputs: Inputs, t_end: float) -> None:
    """Compile what `outputs_of` needs for a run from this state to `t_end`."""
    robot = robot_at_start(model, state, inputs, t_end)
    circumstances = (is_native(), is_compiling_quickly())
    if _compiled_for.get(robot) == circumstances:
        return
    _compiled_for.set(robot, circumstances)
    _, joints, command, t, x, xd, work = window_shapes(robot)
    shown_motion.prepare(robot.formulation, joints, x, xd, work)
    _torques.prepare(robot, t, joints, command, t, x, xd)


def robot_at_start(
    model: Model, state: State, inputs: Inputs, t_end: float
) -> DrivenRobot:
    """The robot in the coordinates in which a run from this state to `t_end` begins."""
    inputs = inputs.wired(model)
    f, _ = with_prescribed_joints(model.formulation, state, inputs.prescribed)
    return inputs.robot(f, t_end)


def window_shapes(robot: DrivenRobot) -> RowsOfRun:
    """The shapes of a window of rows."""
    most, f = rows_of_window(), robot.formulation

    def blank(*shape: int) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((most, *shape), float)

    joints, x = blank(f.n_encoders), blank(f.size)
    law = robot.sampled_law
    command = blank(0 if law is None else len(f.joints.actuated))
    return RowsOfRun(most, joints, command, blank(), x, x, blank(2))


def at_nodes(
    model: Model, padded: Float[np.ndarray, "t l k *d"]
) -> Float[np.ndarray, "t n *d"]:
    """Values over time in the order of `model.node_names`, from an array padded to the longest body."""
    times, bodies, nodes = padded.shape[:3]
    flat = padded.reshape(times, bodies * nodes, *padded.shape[3:])
    body, node, is_in_order = _node_numbers(model)
    if is_in_order and len(node) == bodies * nodes:
        return flat
    return flat.take(body * nodes + node, axis=1)


@once_for_each
def _node_numbers(model: Model) -> tuple[np.ndarray, np.ndarray, bool]:
    """Numbers of the body of each node and of the node along it, and whether one follows the other everywhere."""
    body, node = np.array(model.node_index).T
    is_in_order = list(model.node_index) == sorted(set(model.node_index))
    return body, node, is_in_order


def energy_audit(outputs: Outputs) -> np.ndarray:
    """Energies over time with the residual of their balance as last column [J]."""
    kinetic, strain, gravity, put_in, dissipated = outputs.energy.T
    stored = kinetic + strain + gravity
    # A run that continues another one adds its work to that of the first.
    residual = stored - stored[:1] - (put_in - put_in[:1]) + dissipated - dissipated[:1]
    audit = np.empty((len(residual), len(ENERGIES)))
    audit[:, :-1] = outputs.energy
    audit[:, -1] = residual
    return audit
