"""Inverse dynamics of the bending robot at its encoders: torques under which the encoders follow a motion exactly.

From torques to the encoders beside them a bending robot is minimum phase: with its joints on their motion the links
vibrate as clamped ones do, and the vibration decays by its own damping. So the robot itself is the inverse. It is run
forward in time with its actuated joints on the motion, and the torques that this takes are written down.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Array

from jaxnative.compiled import compiled_quickly
from jaxnative.marks import vmap_rows

from ..describe.scenario import Solver
from ..solve.channels import Channel, measure, observed_motion, output_named
from ..solve.inputs import Inputs, Spline, Table
from ..solve.march import DrivenRobot
from ..solve.model import Model
from ..solve.outputs import RowsOfRun, map_run
from ..solve.problem import MotionProblem
from ..solve.signals import AbstractSignal
from ..solve.simulate import integrate
from ..types import RESULTS, Float, ended_as
from .design_error import DesignError
from .nominal import NominalMotion, actuated_reference, joint_motion, nominal_motion
from .tuning import first_driven_mode

LEFT = 1e-3  # part of a vibration that is left when the torques end
PERIODS = 20  # of the first mode, after which they end at the latest


def encoder_inversion(
    model: Model,
    reference: AbstractSignal,
    sensors: Sequence[str] = (),
    *,
    step: float = 1e-3,
    after: float | None = None,
) -> NominalMotion:
    """Torques that lead the encoders along a reference, and what the sensors read, vibration included.

    Args:
        model: the robot as the controller knows it.
        reference: places of the actuated joints over time, or of all moving joints.
        sensors: names of the channels to predict.
        step: between two rows of the tables [s].
        after: how long torques hold against the vibration after the end of the motion [s]; by default until a
            thousandth of it is left, or 20 periods of the first mode.

    Raises:
        DesignError: the robot cannot be led along this motion.
    """
    end = float(reference.breakpoints[-1])
    ends = joint_motion(model, reference, np.array([0.0, end]))[:, 0]
    if after is None:
        after = ring_down(model, ends[1])
    times = step * np.arange(int(np.ceil((end + after) / step)) + 1)
    inputs = _led_along(model, reference, times, end)
    solution = integrate(model, model.static(ends[0]), inputs, times, Solver())
    if not ended_as(solution.result, RESULTS.successful):
        raise DesignError("the joints cannot follow this motion", "feedforward")
    channels = tuple(output_named(model, name) for name in sensors)

    def rows(robot: DrivenRobot, t_end: float, part: RowsOfRun):
        ends = np.full(len(part.t), t_end)
        readings = _readings(
            robot, channels, ends, part.joints, part.t, part.x, part.xd
        )
        return tuple(np.asarray(values)[: part.count] for values in readings)

    torque, measured = map_run(model, inputs, solution, rows)
    # The last row is that of the robot at rest.
    rest = nominal_motion(model, Table([0.0], [ends[1]], after="hold"), sensors)
    drives = torque[:-1, list(model.actuated)]
    torque = np.concatenate([drives, [rest.torque.value(0.0)]])
    measured = np.concatenate([measured[:-1], [rest.measured.value(0.0)]])
    return NominalMotion(
        reference=actuated_reference(model, reference),
        torque=Table(times.tolist(), torque, "linear", after="hold"),
        measured=Table(times.tolist(), measured, "linear", after="hold"),
    )


def ring_down(model: Model, q: Any) -> float:
    """Decay time of the first mode that the motors excite at a pose [s]."""
    mode = first_driven_mode(model, q)
    longest = PERIODS * 2 * np.pi / mode.omega
    if not mode.zeta > 0:
        return longest
    return min(longest, np.log(1 / LEFT) / (mode.zeta * mode.omega))


def _led_along(
    model: Model, reference: AbstractSignal, times: Float[np.ndarray, " t"], end: float
) -> Inputs:
    """The actuated joints forced to follow a reference, and to stay where it ends."""
    knots = np.append(times[times < end * (1 - 1e-9)], end)
    places = joint_motion(model, reference, knots)[:, 0]
    motion = [(joint, Spline(knots, places[:, joint])) for joint in model.actuated]
    return Inputs(model.n_joints, motion=motion)


@compiled_quickly
def _readings(
    robot: DrivenRobot, channels: tuple[Channel, ...], ends, joints, t, x, xd
) -> tuple[Float[Array, "t j"], Float[Array, "t m"]]:
    """Torques of all joints, and what sensors read, at many times of a run."""

    def one(t_end, joints, t, x, xd):
        schedule = robot.schedule
        loads = schedule.loads(schedule.piece_at(t, t_end))
        here = MotionProblem(robot.formulation, loads).on_branch_near(joints)
        f = here.formulation
        motion = f.motion(x, xd, here.acceleration(t, x, xd))
        torque = here.torque(t, motion)
        return torque, measure(f, channels, observed_motion(f, motion), None, torque)

    return vmap_rows(one)(ends, joints, t, x, xd)
