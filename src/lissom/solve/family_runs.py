"""Runs of many robots of one structure: several in each instruction of the processor, or mapped by XLA."""

import logging
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from jaxnative.call_memory import with_positive_zeros
from jaxnative.compiled import chosen_backend
from jaxnative.lanes import LanesAhead, vector_width
from jaxnative.untranslatable import Unexpected, Untranslatable

from ..dynamics.formulation import AbstractFormulation
from ..types import RESULTS, real, whole
from .inputs import Inputs
from .march import DrivenRobot, MarchState, begin_march, first_sample, march
from .model import Model
from .record import COLUMNS, Record, window
from .simulate import (
    ENDLESS,
    Settings,
    first_step_of,
    first_window,
    numbers_of_robot,
    rollout,
    settings_of_run,
    start_of_march,
)
from .solution import Segment, Solution
from .state import State
from .step import AbstractStep, Tolerance

log = logging.getLogger("jaxnative")
# Rows of each member's window: all lanes together have to fit into the processor's cache.
ROWS = 256


def begin_member(
    step: AbstractStep,
    robot: DrivenRobot,
    tolerance: Tolerance,
    state: State,
    record: Record,
    first_step: Any,
) -> MarchState:
    """The march of one robot before its first step."""
    begin = record.t[0]
    at = start_of_march(robot, state, record, first_step, first_sample, begin)
    return begin_march(step, robot, tolerance, at)


_begin_member = LanesAhead(begin_member, numbers_of_robot, is_inner=True)
_march = LanesAhead(march, numbers_of_robot, is_inner=True)
_march_in_step = LanesAhead(march, numbers_of_robot, in_step=True, is_inner=True)


class FamilyTask(NamedTuple):
    """Runs of a family: robots, start, inputs and options."""

    model: Model  # any of them
    formulation: AbstractFormulation  # of all, arrays with a leading axis
    which: np.ndarray  # number of the distinct robot that each of them is
    state: State  # at the start: one for all, or with a leading axis
    inputs: Inputs
    times: np.ndarray  # output grid [s]; runs start at its first time
    solver: Any
    common_steps: bool  # of those that share a vector
    recorded: tuple[str, ...] = ()  # nodes whose motions the steps follow


def family_solution(task: FamilyTask) -> Solution:
    """Runs of all robots from t = 0, every array of the solution but its times with a leading axis over them."""
    backend = chosen_backend(task.solver.backend)
    if backend == "xla":
        return _by_xla(task)
    try:
        return lane_solution(task)
    except Untranslatable as reason:
        warns = backend == "native" or isinstance(reason, Unexpected)
        level = logging.WARNING if warns else logging.INFO
        log.log(
            level, "runs of a family have no native form: %s; XLA runs them", reason
        )
        return _by_xla(task)


def _by_xla(task: FamilyTask) -> Solution:
    times = task.times
    output_dt = float(times[1] - times[0])

    def one(formulation: AbstractFormulation, state: State) -> Solution:
        model = task.model.with_formulation(formulation)
        return rollout(
            model,
            state,
            t_end=float(times[-1]),
            output_dt=output_dt,
            inputs=task.inputs,
            solver=task.solver,
        )

    over_states = 0 if np.ndim(task.state.q) > 1 else None
    mapped = jax.jit(jax.vmap(one, in_axes=(0, over_states)))
    runs = mapped(task.formulation, task.state)
    return eqx.tree_at(lambda s: s.t, runs, times)


# --- lanes ---------------------------------------------------------------------------------------------------------


def lane_solution(task: FamilyTask) -> Solution:
    """Runs of all robots, several in each instruction of the processor.

    Raises:
        Untranslatable: something in them has no form in machine code.
    """
    end = float(task.times[-1])
    settings = settings_of_run(task.model, task.solver, task.times, task.recorded)
    robot, axes = _shared_or_own(task, end)
    at = _at_start(task, settings, robot, axes)
    rows = FamilyRows(task.times, at.record)
    # Steps end where a stop is touched: each robot has its own such times, and others would have to end there too.
    in_step = task.common_steps and robot.formulation.joints.stops is None
    runs = _Runs(settings, robot, axes, rows, end, in_step)
    members = similarity_order(task.which, task.state)
    at = runs.next_marches(at, members)
    # The neighbours may have caused so many common steps: run it again alone.
    ran_out = np.asarray(at.result == RESULTS.too_many_steps)
    if in_step and ran_out.any():
        fresh = _at_start(task, settings, robot, axes)
        for member in np.flatnonzero(ran_out)[:, None]:
            own = _members(fresh, member)
            rows.begin(own.record, member)
            at = runs.next_marches(_with_members(at, own, member), member)
    return _solution(rows, at, robot.formulation)


class _Runs(NamedTuple):
    """Runs of a family under way."""

    settings: Settings
    robot: DrivenRobot
    axes: DrivenRobot
    rows: "FamilyRows"
    end: float
    in_step: bool

    def next_marches(self, at: MarchState, members: np.ndarray) -> MarchState:
        """The marches of all members with those of some at their end, in vectors as they follow each other."""
        step, tolerance, max_step, max_steps = self.settings
        limits = (real(self.end), max_step, whole(ENDLESS), max_steps)
        fixed = (None,) * len(limits)
        run = _march_in_step if self.in_step else _march
        while len(members):
            part = _members(at, members)
            record = self.rows.next_window(part.record, members)
            part = eqx.tree_at(lambda s: s.record, part, record)
            some, axes = _select_members(self.robot, self.axes, members)
            part = run(
                (None, axes, None, 0, *fixed), step, some, tolerance, part, *limits
            )
            at = _with_members(at, part, members)
            self.rows.take(part.record, members)
            members = running_vectors(
                members, _is_under_way(part, self.end), vector_width()
            )
        return at


def running_vectors(
    members: np.ndarray, is_under_way: np.ndarray, width: int
) -> np.ndarray:
    """Members that are still under way, by vectors; a finished one is replaced by a second copy of another.

    Robots of one vector stand at one time. Mixing in those of other vectors would make them wait.
    """
    vectors = []
    for first in range(0, len(members), width):
        vector = members[first : first + width]
        is_left = is_under_way[first : first + width]
        if is_left.any():
            vectors.append(np.where(is_left, vector, vector[is_left][0]))
    return np.concatenate(vectors) if vectors else members[:0]


def similarity_order(which: np.ndarray, state: State) -> np.ndarray:
    """All members, ordered so that similar ones are neighbours.

    Robots that would take nearly the same steps alone share a vector: they take them together, or hardly wait.
    """
    q = np.atleast_2d(np.asarray(state.q))
    starts = np.broadcast_to(q, (len(which), q.shape[-1]))
    # The last key counts most: first the robot, then where its first joint starts, and so on.
    return np.lexsort([*starts.T[::-1], which])


def _shared_or_own(task: FamilyTask, end: float) -> tuple[DrivenRobot, DrivenRobot]:
    """The robots, with common numbers stored once, and a tree of axes that says which have a leading axis."""
    leaves, tree = jax.tree.flatten(task.formulation)
    arrays = [np.asarray(leaf) for leaf in leaves]
    is_own = [bool((array != array[:1]).any()) for array in arrays]
    if not any(is_own):
        # Something has to be mapped over.
        is_own = [True] * len(arrays)
    numbers = [a if own else a[0] for a, own in zip(arrays, is_own, strict=True)]
    schedule = task.inputs.wired(task.model).schedule(end)
    robot = DrivenRobot(jax.tree.unflatten(tree, numbers), schedule)
    flags: list[Any] = [0 if own else None for own in is_own]
    axes = (jax.tree.unflatten(tree, flags), None)
    return robot, eqx.tree_at(lambda r: (r.formulation, r.schedule), robot, axes)


def _select_members(
    robot: DrivenRobot, axes: DrivenRobot, members: np.ndarray
) -> tuple[DrivenRobot, DrivenRobot]:
    """The robots of some members, and which of their numbers have a leading axis."""
    formulation = jax.tree.map(
        lambda axis, leaf: leaf if axis is None else leaf[members],
        axes.formulation,
        robot.formulation,
        is_leaf=lambda axis: axis is None,
    )
    return DrivenRobot(formulation, robot.schedule), axes


def _at_start(
    task: FamilyTask, settings: Settings, robot: DrivenRobot, axes: DrivenRobot
) -> MarchState:
    duration = float(task.times[-1]) - float(task.times[0])
    # The window of one robot: arrays of all of them have an axis more.
    one, _ = _select_members(robot, axes, np.asarray(0))
    record = first_window(one, task.times, ROWS)
    over_states = 0 if np.ndim(task.state.q) > 1 else None
    return _begin_member(
        (None, axes, None, over_states, None, None),
        settings.step,
        robot,
        settings.tolerance,
        task.state,
        record,
        first_step_of(task.solver, duration),
    )


def _members(at: MarchState, members: np.ndarray) -> MarchState:
    return jax.tree.map(lambda leaf: np.asarray(leaf)[members], at)


def _with_members(at: MarchState, part: MarchState, members: np.ndarray) -> MarchState:
    def put(whole_leaf: np.ndarray, leaf: np.ndarray) -> np.ndarray:
        whole_leaf[members] = leaf
        return whole_leaf

    return jax.tree.map(put, at, part)


def _is_under_way(at: MarchState, end: float) -> np.ndarray:
    is_well = np.asarray(at.result == RESULTS.successful)
    return (np.asarray(at.now.t) < end) & is_well


class FamilyRows:
    """All rows of all runs, on the host; rows that are not reached are NaN."""

    def __init__(self, times: np.ndarray, record: Record):
        self.t = np.asarray(times, dtype=float)
        self.count = len(record.filled)
        self.filled = np.zeros(self.count, dtype=int)
        self.columns = {name: self._blank(getattr(record, name)) for name in COLUMNS}
        self.take(record, np.arange(self.count))

    def _blank(self, column: np.ndarray) -> np.ndarray:
        return np.full((self.count, len(self.t), column.shape[-1]), np.nan)

    def begin(self, record: Record, members: np.ndarray) -> None:
        """Discard the rows of some members except those in their windows."""
        for column in self.columns.values():
            column[members] = np.nan
        self.take(record, members)

    def take(self, record: Record, members: np.ndarray) -> None:
        """Store the rows of some members' windows."""
        for k, member in enumerate(members.tolist()):
            first, count = int(record.first[k]), int(record.filled[k])
            rows = slice(first, first + count)
            for name, column in self.columns.items():
                column[member, rows] = getattr(record, name)[k, :count]
            self.filled[member] = first + count

    def next_window(self, record: Record, members: np.ndarray) -> Record:
        """The windows of some members move on to the rows that follow."""
        firsts = self.filled[members]
        t = np.stack([window(self.t, first, ROWS) for first in firsts.tolist()])
        zeros = np.zeros_like(record.filled)
        return eqx.tree_at(
            lambda r: (r.t, r.filled, r.first), record, (t, zeros, firsts)
        )


def _solution(
    rows: FamilyRows, at: MarchState, formulation: AbstractFormulation
) -> Solution:
    segments = (Segment(formulation.independent, 0, float(rows.t[0])),)
    at = eqx.tree_at(lambda s: s.memory, at, None, is_leaf=lambda leaf: leaf is None)
    at = jax.tree.map(jnp.asarray, with_positive_zeros(at))
    return Solution(
        t=rows.t,
        **with_positive_zeros(rows.columns),
        filled=rows.filled,
        counts=at.counts,
        result=at.result,
        last=at.now,
        last_joints=at.joints,
        control=at.control,
        segments=segments,
    )
