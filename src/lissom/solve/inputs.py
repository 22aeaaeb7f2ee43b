"""Inputs of a run: torques, wrenches and motions over time, and feedback.

Inputs are cut into smooth pieces between the times where something jumps or bends.
"""

from typing import Any

import numpy as np

from ..dynamics.formulation import AbstractFormulation
from ..files.errors import shortened
from ..once import LastValueCache, once_for_each
from ..types import Float, Real
from .feedback import AbstractFeedback, wire_law
from .march import DrivenRobot
from .model import Model
from .schedule import Loads as Loads
from .schedule import NodeLoad as NodeLoad
from .schedule import Schedule, schedule_of, with_padded_tables
from .signals import PolynomialPiece as PolynomialPiece
from .signals import Spline as Spline
from .signals import Table as Table

# Link, node, whether its axes are those of the world, and values.
WRENCH_PARTS = (int | np.integer, int | np.integer, bool | np.bool_, Table)
MOST_CACHED = 8  # durations whose loads are cached


def _joint_count(joints: Any) -> int:
    if isinstance(joints, bool) or not isinstance(joints, int) or joints < 0:
        message = "must be the number of moving joints, model.n_joints"
        raise ValueError(f"joints: {shortened(joints)}: {message}")
    return joints


def _check_pairs(name: str, pairs: tuple[Any, ...], joints: int, kind: type) -> None:
    for pair in pairs:
        is_pair = isinstance(pair, tuple | list) and len(pair) == 2
        if not is_pair or pair[0] not in range(joints) or not _holds(pair[1], kind, ()):
            message = f"must be a pair of a joint's number, 0 to {joints - 1}, and its {kind.__name__} of single values"
            raise ValueError(f"{name}: {shortened(pair)}: {message}")


def _check_wrenches(wrenches: tuple[Any, ...]) -> None:
    for wrench in wrenches:
        if not _is_wrench(wrench):
            message = (
                "must be (link, node, in world axes, Table): two numbers as `model.find_node` gives them, True or "
                "False, and a Table with rows of six values (fx, fy, fz, mx, my, mz)"
            )
            raise ValueError(f"wrenches: {shortened(wrench)}: {message}")


def _is_wrench(wrench: Any) -> bool:
    if not isinstance(wrench, tuple | list) or len(wrench) != len(WRENCH_PARTS):
        return False
    kinds_fit = all(map(isinstance, wrench, WRENCH_PARTS))
    return kinds_fit and _holds(wrench[-1], Table, (6,))


def _holds(signal: Any, kind: type, shape: tuple[int, ...]) -> bool:
    """True of a table or spline whose values have a shape."""
    return isinstance(signal, kind) and np.shape(signal.values)[1:] == shape


class Inputs:
    """Inputs of a run: tables, wrenches, prescribed motions and feedback.

    Args:
        joints: number of moving joints.
        torque: pairs of a joint's number and its `Table`.
        wrenches: (link, node, in world axes, `Table`) of each wrench on a node.
        motion: pairs of a joint's number and the `Spline` that it is forced to follow.
        law: a control law, or a function (t, state) -> torques.
    """

    def __init__(self, joints: int, torque=(), wrenches=(), motion=(), law: Any = None):
        self.joints = _joint_count(joints)
        self.torque: tuple[tuple[int, Table], ...] = tuple(torque)
        self.wrenches: tuple[tuple[int, int, bool, Table], ...] = tuple(wrenches)
        self.motion: tuple[tuple[int, Spline], ...] = tuple(motion)
        _check_pairs("torque", self.torque, joints, Table)
        _check_pairs("motion", self.motion, joints, Spline)
        _check_wrenches(self.wrenches)
        self.law = law
        self._schedules: dict[float, Schedule] = {}
        self._robots: dict[float, DrivenRobot] = {}
        # Weak: cached inputs do not keep the robot alive.
        self._wired = LastValueCache()

    def __repr__(self) -> str:
        """The inputs in words: tables, wrenches, motions and law."""
        law = "no law" if self.law is None else f"law {type(self.law).__name__}"
        return (
            f"Inputs of {self.joints} joints: {len(self.torque)} torques, {len(self.wrenches)} wrenches, "
            f"{len(self.motion)} motions, {law}"
        )

    def wired(self, model: Model) -> "Inputs":
        """The same inputs, their law wired to the channels of a robot.

        Raises:
            ValueError: tables, wrenches or the law do not fit the robot, or a torque is put on a passive joint.
        """
        if isinstance(self.law, AbstractFeedback):
            return self
        # Used twice in a run, for its steps and for its outputs; and runs are repeated.
        wired_inputs = self._wired.get(model)
        if wired_inputs is None:
            wired_inputs = self._wired_to(model)
            self._wired.set(model, wired_inputs)
            wired_inputs._wired.set(model, wired_inputs)
        return wired_inputs

    def _wired_to(self, model: Model) -> "Inputs":
        if self.joints != model.n_joints:
            names = ", ".join(model.joint_names)
            message = f"the robot has {model.n_joints} moving joints ({names}): Inputs(model.n_joints, ...)"
            raise ValueError(f"inputs: are those of {self.joints} joints; {message}")
        for link, node, *_ in self.wrenches:
            if (link, node) not in model.node_index:
                message = "the robot has no such node: `model.find_node` gives both numbers of a name"
                raise ValueError(f"wrenches: link {link}, node {node}: {message}")
        for joint, _ in self.torque:
            if joint not in model.actuated:
                name = model.joint_names[joint]
                raise ValueError(
                    f"torque: joint {name!r} is passive (actuated: false): it takes no torque"
                )
        feedback = wire_law(model, self.law)
        return Inputs(self.joints, self.torque, self.wrenches, self.motion, feedback)

    @property
    def feedback(self) -> AbstractFeedback | None:
        """The feedback, once the inputs are wired."""
        if self.law is None or isinstance(self.law, AbstractFeedback):
            return self.law
        raise TypeError("connect the law to a robot first: inputs.wired(model)")

    @property
    def prescribed(self) -> tuple[int, ...]:
        """Numbers of the joints that are forced to follow a motion."""
        return tuple(joint for joint, _ in self.motion)

    def schedule(self, t_end: float) -> Schedule:
        """The loads of a whole run, from 0 to beyond the last time at which something jumps or bends."""
        if t_end not in self._schedules:
            if len(self._schedules) >= MOST_CACHED:
                self._schedules.clear()
                self._robots.clear()
            starts = self._starts()
            last = max(t_end, starts[-1] + 1.0)
            ends = np.append(starts[1:], last)
            if ends[0] > t_end:
                # A run that ends before anything jumps is one smooth piece, and runs of a family share instructions.
                starts, ends = starts[:1], ends[:1]
            tables, laws = self._tables(starts, ends), self._laws(starts, ends)
            self._schedules[t_end] = schedule_of(starts, tables, laws)
        return self._schedules[t_end]

    def robot(self, formulation: AbstractFormulation, t_end: float) -> DrivenRobot:
        """A robot with its inputs during a run, cached: the same object again."""
        known = self._robots.get(t_end)
        if known is None or known.formulation is not formulation:
            known = DrivenRobot(formulation, self.schedule(t_end))
            self._robots[t_end] = known
        return known

    def _starts(self) -> np.ndarray:
        """0, and every later time at which an input is not smooth."""
        signals = [*self.torque, *self.wrenches, *self.motion]
        times = [signal.breakpoints for *_, signal in signals]
        if self.feedback is not None:
            times.append(self.feedback.breakpoints)
        every = np.unique(np.concatenate([np.zeros(1), *times]))
        return every[every >= 0.0]

    def _laws(self, starts: np.ndarray, ends: np.ndarray) -> list[Any]:
        """The feedback on each piece; a single one where it is smooth all the time."""
        feedback = self.feedback
        if feedback is None:
            return [None]
        feedback = with_padded_tables(feedback)
        later = feedback.breakpoints
        if not np.any(later > 0.0):
            return [feedback.on(0.0, ends[-1])]
        return feedback.pieces(starts.tolist(), ends.tolist())

    def on(self, start: float, end: float) -> Loads:
        """The smooth loads on the piece (start, end)."""
        feedback = self.feedback
        tables = self._tables(start, end)
        return Loads(
            torque=tables.torque,
            feedback=None if feedback is None else feedback.on(start, end),
            wrenches=tables.wrenches,
            motion=tables.motion,
            prescribed=tables.prescribed,
        )

    def _tables(self, start: Any, end: Any) -> Loads:
        """Torques, wrenches and motions on one piece, or on many where start and end are arrays."""
        return Loads(
            torque=self._torque(start, end),
            wrenches=tuple(
                NodeLoad(link, node, bool(in_world), table.on(start, end))
                for link, node, in_world, table in self.wrenches
            ),
            motion=tuple(spline.on(start, end) for _, spline in self.motion),
            prescribed=self.prescribed,
        )

    def _torque(self, start: Any, end: Any) -> PolynomialPiece | None:
        """All torque tables in one polynomial; joints without a table have zeros."""
        if not self.torque:
            return None
        coefficients = np.zeros((*np.shape(start), 2, self.joints))
        for joint, table in self.torque:
            coefficients[..., joint] += table.on(start, end).coefficients
        return PolynomialPiece(np.asarray(start, dtype=float), coefficients)


def constant_torque(torque: Float[Real, " j"]) -> Inputs:
    """A torque that never changes, one value for each moving joint."""
    values = np.asarray(torque, dtype=float)
    tables = []
    for joint, value in enumerate(values):
        if value != 0.0:
            tables.append((joint, Table([0.0], [value], after="hold")))
    return Inputs(len(values), torque=tables)


def inputs_from(model: Model, torque: Any, inputs: Inputs | None) -> Inputs:
    """What drives a run: `inputs` as they are, or those of the keyword `torque`.

    Raises:
        ValueError: both are given, or the torque does not fit the robot.
    """
    if inputs is None:
        return inputs_of_torque(model, torque)
    if torque is not None:
        raise ValueError(
            "give either torque or inputs; a law or a constant torque belongs in "
            "Inputs(..., law=...)"
        )
    if not isinstance(inputs, Inputs):
        raise ValueError(f"inputs: must be an Inputs, got {type(inputs).__name__}")
    return inputs


@once_for_each
def _no_inputs(model: Model) -> Inputs:
    """Empty inputs; the same object for all runs of a robot."""
    return Inputs(model.n_joints)


def inputs_of_torque(model: Model, torque: Any) -> Inputs:
    """Inputs of the keyword `torque`: a constant for each joint, a function (t, state), or a controller."""
    if torque is None:
        return _no_inputs(model)
    if callable(torque):
        return Inputs(model.n_joints, law=torque)
    try:
        values = np.asarray(torque, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            f"torque: {torque!r}: must be one number for each joint, a function (t, state) -> torques, or a controller"
        ) from None
    if values.shape == (len(model.actuated),):
        full = np.zeros(model.n_joints)
        full[list(model.actuated)] = values
        values = full
    if values.shape != (model.n_joints,):
        raise ValueError(
            f"torque must have {model.n_joints} values, one for each joint ({', '.join(model.joint_names)}), "
            f"got shape {np.shape(torque)}"
        )
    return constant_torque(values)
