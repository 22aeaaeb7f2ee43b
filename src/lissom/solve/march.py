"""Adaptive march in time: takes steps, fills the output grid, lets sampled laws act, and stops at given times.

Robots in step, which share the vectors of a processor, take common steps: the shortest that any of them wants, and a
step that is too long for one is taken again by all. So none of them waits for another in the middle of a step.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from jaxnative.marks import in_all_lanes, least_of_lanes

from ..dynamics.formulation import AbstractFormulation
from ..kinematics.mechanism import DEAD_POINT_GAIN
from ..types import RESULTS, Float, Real, real
from .contacts import Contacts, locate, next_contacts
from .feedback import ControlState, WiredLaw
from .problem import MotionProblem
from .record import Record, is_due, with_command, write
from .schedule import Schedule
from .solution import Counts
from .step import AbstractStep, Attempt, Moment, Tolerance, select, stop_gradient

SAFETY = 0.9
SHRINK = 0.2  # a step becomes shorter at most by this factor,
GROW = 8.0  # longer at most by this factor,
KEEP = 1.2  # and unchanged if it would grow by less


class MarchState(eqx.Module):
    """The state that the march's loop carries."""

    now: Moment
    # Coordinates of all moving joints: the branch of a closed chain.
    joints: Float[Real, " j"]
    piece: Any  # number of the smooth piece of time that the loads are on
    h: Float[Real, ""]
    memory: Any  # of the step method
    control: ControlState | None  # of a sampled law
    contacts: Contacts | None  # with end stops
    counts: Counts
    record: Record
    result: RESULTS

    @property
    def command(self) -> Float[Array, " a"] | None:
        """Torques that a sampled law holds; None without one."""
        return None if self.control is None else self.control.command


class DrivenRobot(eqx.Module):
    """A robot and its inputs during a run."""

    formulation: AbstractFormulation
    schedule: Schedule

    def problem(self, state: MarchState) -> MotionProblem:
        """The equations of motion on the piece of time, the branch, and under the command of a march."""
        loads = self.schedule.loads(state.piece)
        on_branch = MotionProblem(self.formulation, loads).on_branch_near(
            stop_gradient(state.joints)
        )
        contacts = state.contacts
        contact = None if contacts is None else contacts.now
        return on_branch.with_command(state.command).with_contact(contact)

    def on_piece(self, piece) -> MotionProblem:
        """The equations of motion on a piece of time, by its number."""
        return MotionProblem(self.formulation, self.schedule.loads(piece))

    @property
    def sampled_law(self) -> WiredLaw | None:
        """The law that acts at samples, None where there is none."""
        feedback = self.schedule.constant.feedback
        # The period is the same on all pieces.
        if feedback is None or feedback.sample is None:
            return None
        return self.on_piece(0).sampled_law


def first_sample(
    problem: MotionProblem, now: Moment, held: Float[Array, " a"]
) -> ControlState | None:
    """A sampled law at the start of a run: it acts at once, and measures under the torques held before."""
    law = problem.sampled_law
    if law is None:
        return None
    control = law.start(held, now.t)
    still = problem.with_command(control.command)
    motion = still.motion_at_sample(now.t, now.x, now.xd)
    return law.update(now.t, still.measured(now.t, motion), control)


def begin_march(
    step: AbstractStep, robot: DrivenRobot, tolerance: Tolerance, state: MarchState
) -> MarchState:
    """Start of a march, or of its next part in other coordinates: fresh acceleration, no memory of what was before."""
    here = robot.problem(state)
    memory = step.begin(here, tolerance, state.now)
    record = write(step, here, state.record, state.now, None, real(0.0))
    return MarchState(
        state.now,
        state.joints,
        state.piece,
        state.h,
        memory,
        state.control,
        state.contacts,
        state.counts,
        record,
        RESULTS.successful,
    )


def next_size(step: AbstractStep, attempt: Attempt, h, accepted):
    """Step size from the error estimate; small growth is not worth new factors."""
    is_finite = jnp.isfinite(attempt.error)
    error = jnp.where(is_finite, jnp.maximum(attempt.error, 1e-10), 1e10)
    factor = SAFETY * attempt.effort * error ** (-1.0 / (step.order + 1))
    factor = jnp.clip(factor, SHRINK, GROW)
    is_little = (factor >= 1.0) & (factor < KEEP)
    after_success = jnp.where(is_little, 1.0, factor)
    after_failure = jnp.minimum(factor, 0.9)
    factor = jnp.where(accepted, after_success, after_failure)
    return h * jnp.where(attempt.converged, factor, 0.5)


def march(
    step: AbstractStep,
    robot: DrivenRobot,
    tolerance: Tolerance,
    state: MarchState,
    t_end,
    max_step,
    budget,
    max_steps,
) -> MarchState:
    """March to `t_end`, or until `budget` more tries are made, the window of outputs is full, or the run fails.

    Robots in step stop together, as soon as one of them does.
    """
    last_try = state.counts.steps + state.counts.rejected + budget

    def going(state: MarchState):
        tries = state.counts.steps + state.counts.rejected
        is_well = state.result == RESULTS.successful
        is_early = (state.now.t < t_end) & (tries < last_try)
        return in_all_lanes(is_early & is_well & ~state.record.is_full)

    def once(state: MarchState) -> MarchState:
        state, accepted = advance(
            step, robot, tolerance, state, t_end, max_step, max_steps
        )
        if robot.sampled_law is not None:
            state = update_law(step, robot, tolerance, state, accepted)
        return with_jumps(step, robot, tolerance, state)

    return jax.lax.while_loop(going, once, state)


def advance(
    step: AbstractStep,
    robot: DrivenRobot,
    tolerance: Tolerance,
    state: MarchState,
    t_end,
    max_step,
    max_steps,
) -> tuple[MarchState, Any]:
    """One try of a step, and whether it was accepted."""
    now = state.now
    here = robot.problem(state)
    stop = next_stop(robot, state, t_end)
    left = stop - now.t
    longest = here.longest_step(now.xd)
    wanted = jnp.minimum(state.h, jnp.minimum(max_step, longest))
    # Two halves rather than a step and a tiny rest.
    shortened = jnp.where(wanted > 0.5 * left, 0.5 * left, wanted)
    h = stop_gradient(jnp.where(wanted >= left * (1 - 1e-9), left, shortened))
    h = least_of_lanes(h)
    attempt = step.attempt(here, tolerance, now, h, state.memory)
    joints = here.joint_coordinates(attempt.end.x)
    attempt = with_closed_loops(here, attempt, joints)
    is_good = attempt.converged & (attempt.error <= 1.0)
    accepted = in_all_lanes(is_good)
    contacts = state.contacts
    if contacts is not None:
        next_change = locate(step, here.formulation, now, attempt, h, contacts)
        next_change = select(accepted, next_change, contacts)
        # The step is taken again, to where a stop begins or ceases to push.
        is_same = next_change.change_at == contacts.change_at
        is_good, accepted = is_good & is_same, accepted & is_same
        contacts = next_change

    end_time = jnp.where(h == left, stop, attempt.end.t)
    end = eqx.tree_at(lambda m: m.t, attempt.end, end_time)
    written = jnp.where(accepted, h, -1.0)
    record = write(step, here, state.record, now, attempt, written)
    # Outputs that fit into the window are written. Where others are left, the same step is taken again when the host
    # has emptied the window, and goes on writing.
    has_room = ~(accepted & is_due(record, end_time))
    taken = accepted & has_room
    counts = Counts(
        state.counts.steps + taken,
        state.counts.rejected + ~accepted,
        state.counts.evaluations + has_room * attempt.evaluations,
    )
    # Its own step size: a robot slowed by others has not failed when steps become too short.
    size = stop_gradient(next_size(step, attempt, h, is_good))
    # A step that was cut short says nothing about how long the next one may be.
    was_cut = is_good & (h < wanted)
    size = jnp.where(was_cut, jnp.maximum(size, wanted), size)
    size = jnp.where(has_room, size, state.h)
    result = judge(state, attempt, size, counts, max_steps)
    result = near_dead_point(here, end, taken, result)
    if contacts is not None:
        contacts = select(has_room, contacts, state.contacts)
    moved = MarchState(
        select(taken, end, now),
        jnp.where(taken, joints, state.joints),
        state.piece,
        size,
        select(taken, attempt.memory, step.reject(state.memory, attempt)),
        state.control,
        contacts,
        counts,
        record,
        result,
    )
    return moved, taken


def next_stop(robot: DrivenRobot, state: MarchState, t_end) -> Float[Array, ""]:
    """Where the next step may end at the latest: the end of the run, of the piece, or the next sample."""
    stop = t_end
    if robot.schedule.has_jumps:
        stop = jnp.minimum(stop, robot.schedule.end(state.piece))
    if state.contacts is not None:
        stop = jnp.minimum(stop, state.contacts.change_at)
    law = robot.sampled_law
    if law is None:
        return stop
    assert state.control is not None
    return jnp.minimum(stop, law.time_of_next(state.control))


def with_jumps(
    step: AbstractStep, robot: DrivenRobot, tolerance: Tolerance, state: MarchState
) -> MarchState:
    """The march at the end of a smooth piece of time goes over to the next one, and where contacts change they do.

    The method begins afresh there.
    """
    is_well = state.result == RESULTS.successful
    there, is_over = state, jnp.asarray(False)
    if robot.schedule.has_jumps:
        is_over = is_well & (state.now.t >= robot.schedule.end(state.piece))
        piece = jnp.where(is_over, state.piece + 1, state.piece)
        there = eqx.tree_at(lambda s: s.piece, there, piece)
    if state.contacts is not None:
        has_changed = is_well & (state.now.t >= state.contacts.change_at)
        contacts = select(has_changed, next_contacts(state.contacts), state.contacts)
        there = eqx.tree_at(lambda s: s.contacts, there, contacts)
        is_over = is_over | has_changed
    if there is state:
        return state

    def begin():
        problem = robot.problem(there)
        return step.restart(problem, tolerance, state.now, state.memory)

    memory = jax.lax.cond(is_over, begin, lambda: state.memory)
    return eqx.tree_at(lambda s: s.memory, there, memory)


def with_closed_loops(
    problem: MotionProblem, attempt: Attempt, joints: Float[Array, " j"]
) -> Attempt:
    """The attempt, which is none where loops cannot be closed at its end: a step over a dead point."""
    f = problem.formulation
    if f.n_joints == f.n_encoders:
        return attempt
    # With a prescribed joint the error estimate does not see this: its encoder follows the motion.
    closes = jnp.all(jnp.isfinite(joints))
    return eqx.tree_at(lambda a: a.converged, attempt, attempt.converged & closes)


def near_dead_point(
    problem: MotionProblem, end: Moment, accepted, result: RESULTS
) -> RESULTS:
    """The result, or `dead_point` where an independent joint of a closed chain hardly moves the others any more."""
    f = problem.formulation
    if f.n_joints == f.n_encoders:
        return result
    is_near = problem.joint_gain(end.x) > DEAD_POINT_GAIN
    is_dead = accepted & is_near & (result == RESULTS.successful)
    return RESULTS.where(is_dead, RESULTS.dead_point, result)


def judge(
    state: MarchState, attempt: Attempt, size, counts: Counts, max_steps
) -> RESULTS:
    """Result code of the run after a try."""
    is_tiny = size < 1e-13 * (1.0 + jnp.abs(state.now.t))
    is_finite = jnp.all(jnp.isfinite(attempt.end.x)) & jnp.isfinite(attempt.error)
    stuck = RESULTS.where(
        attempt.converged, RESULTS.step_too_small, RESULTS.newton_diverged
    )
    stuck = RESULTS.where(is_finite, stuck, RESULTS.not_finite)
    is_long = counts.steps + counts.rejected >= max_steps
    well = RESULTS.where(is_long, RESULTS.too_many_steps, RESULTS.successful)
    return RESULTS.where(is_tiny, stuck, well)


# --- samples -------------------------------------------------------------------------------------------------------


def update_law(
    step: AbstractStep,
    robot: DrivenRobot,
    tolerance: Tolerance,
    state: MarchState,
    accepted,
) -> MarchState:
    """The march after a step: where it has come to a sample, the law measures and its new command is held."""
    law, control = robot.sampled_law, state.control
    assert law is not None and control is not None
    is_due = accepted & (state.now.t >= law.time_of_next(control))
    is_well = state.result == RESULTS.successful

    def act() -> tuple[ControlState, Any]:
        here = robot.problem(state)
        now = state.now
        motion = here.motion_at_sample(now.t, now.x, now.xd)
        new = law.update(now.t, here.measured(now.t, motion), control)
        there = here.with_command(new.command)
        jump = there.force_jump(here, now.t, motion)
        memory = step.resume(there, tolerance, now, state.memory, jump)
        return new, memory

    new, memory = jax.lax.cond(is_due & is_well, act, lambda: (control, state.memory))
    record = with_command(state.record, state.now.t, new.command)
    return eqx.tree_at(
        lambda s: (s.control, s.memory, s.record), state, (new, memory, record)
    )
