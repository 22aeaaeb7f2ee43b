"""Adaptive march in time: takes steps, fills the output grid, lets sampled laws act, and stops at given times."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..kinematics.mechanism import DEAD_POINT_GAIN
from ..types import RESULTS, real, whole
from .feedback import ControlState
from .problem import MotionProblem
from .solution import Counts
from .step import AbstractStep, Attempt, Moment, Tolerance

SAFETY = 0.9
SHRINK = 0.2  # a step becomes at most so many times shorter,
GROW = 8.0  # at most so many times longer,
KEEP = 1.2  # and is kept if it would grow by less
SAME_TIME = 1e-12  # relative: times closer than this are the same instant


class Record(eqx.Module):
    """Output grid, filled as the march passes its times."""

    t: Float[Array, " t"]
    x: Float[Array, "t n"]
    xd: Float[Array, "t n"]
    work: Float[Array, "t 2"]
    joints: Float[Array, "t j"]  # coordinates of all moving joints
    command: Float[Array, "t a"]  # held by a sampled law
    filled: Any


class MarchState(eqx.Module):
    """Everything that goes round the loop."""

    now: Moment
    joints: Float[
        Array, " j"
    ]  # coordinates of all moving joints: the branch of a closed chain
    h: Float[Array, ""]
    memory: Any  # of the step method
    control: ControlState | None  # of a sampled law
    counts: Counts
    record: Record
    result: RESULTS

    @property
    def command(self) -> Float[Array, " a"] | None:
        """Torques that a sampled law holds; None without one."""
        return None if self.control is None else self.control.command


def empty_record(t: Float[Array, " t"], n: int, joints: int, commands: int) -> Record:
    """An output grid yet to be filled."""

    def blank(width):
        return real(jnp.full((t.shape[0], width), jnp.nan))

    return Record(
        t, blank(n), blank(n), blank(2), blank(joints), blank(commands), whole(0)
    )


def first_sample(problem: MotionProblem, now: Moment) -> ControlState | None:
    """A sampled law before the start of a run: it acts at t = 0, before anything is driven."""
    law = problem.sampled_law
    if law is None:
        return None
    control = law.start(problem.formulation)
    still = problem.holding(control.command)
    motion = still.motion_at_sample(now.t, now.x, now.xd)
    return law.acted(now.t, still.measured(now.t, motion), control)


def set_off(
    step: AbstractStep, problem: MotionProblem, tolerance: Tolerance, state: MarchState
) -> MarchState:
    """Start of a smooth piece: fresh acceleration, no memory of what was before the jump."""
    here = problem.near(state.joints).holding(state.command)
    memory = step.begin(here, tolerance, state.now)
    record = write(step, here, state.record, state.now, None, real(0.0))
    return MarchState(
        state.now,
        state.joints,
        state.h,
        memory,
        state.control,
        state.counts,
        record,
        RESULTS.successful,
    )


def write(
    step: AbstractStep,
    problem: MotionProblem,
    record: Record,
    now: Moment,
    attempt: Attempt | None,
    h,
) -> Record:
    """Fill in every output time up to the end of the step."""
    end = now.t + h
    slack = SAME_TIME * (1.0 + jnp.abs(end))
    count = record.t.shape[0]

    def is_due(record: Record):
        next_time = record.t[jnp.minimum(record.filled, count - 1)]
        return (record.filled < count) & (next_time <= end + slack)

    def put(record: Record) -> Record:
        k = record.filled
        length = jnp.where(h > 0, h, 1.0)
        part = jnp.where(h > 0, (record.t[k] - now.t) / length, 0.0)
        part = jnp.clip(part, 0.0, 1.0)
        at = now if attempt is None else step.interpolate(now, attempt, h, part)
        joints = problem.formulation.mechanism.joint_coordinates(at.x)
        command = record.command
        if problem.loads.held is not None:
            command = command.at[k].set(problem.loads.held)
        return Record(
            record.t,
            record.x.at[k].set(at.x),
            record.xd.at[k].set(at.xd),
            record.work.at[k].set(at.work),
            record.joints.at[k].set(joints),
            command,
            k + 1,
        )

    return jax.lax.while_loop(is_due, put, record)


def next_size(step: AbstractStep, attempt: Attempt, h, accepted):
    """Step size from the error estimate; a little growth is not worth new factors."""
    is_finite = jnp.isfinite(attempt.error)
    error = jnp.where(is_finite, jnp.maximum(attempt.error, 1e-10), 1e10)
    factor = SAFETY * attempt.effort * error ** (-1.0 / (step.order + 1))
    factor = jnp.clip(factor, SHRINK, GROW)
    is_little = (factor >= 1.0) & (factor < KEEP)
    after_success = jnp.where(is_little, 1.0, factor)
    after_failure = jnp.minimum(factor, 0.9)
    factor = jnp.where(accepted, after_success, after_failure)
    return h * jnp.where(attempt.solved, factor, 0.5)


def march(
    step: AbstractStep,
    problem: MotionProblem,
    tolerance: Tolerance,
    state: MarchState,
    t_end,
    max_step,
    budget,
    max_steps,
) -> MarchState:
    """March to `t_end`, or until `budget` more tries are made or the run fails."""
    last_try = state.counts.steps + state.counts.rejected + budget

    def going(state: MarchState):
        tries = state.counts.steps + state.counts.rejected
        is_well = state.result == RESULTS.successful
        return (state.now.t < t_end) & is_well & (tries < last_try)

    def once(state: MarchState) -> MarchState:
        state, accepted = advance(
            step, problem, tolerance, state, t_end, max_step, max_steps
        )
        if problem.sampled_law is None:
            return state
        return let_law_act(step, problem, tolerance, state, accepted)

    return jax.lax.while_loop(going, once, state)


def advance(
    step: AbstractStep,
    problem: MotionProblem,
    tolerance: Tolerance,
    state: MarchState,
    t_end,
    max_step,
    max_steps,
) -> tuple[MarchState, Any]:
    """One try of a step, and whether it was accepted."""
    now = state.now
    here = problem.near(state.joints).holding(state.command)
    stop = next_stop(problem, state, t_end)
    left = stop - now.t
    longest = problem.formulation.mechanism.longest_step(now.xd)
    wanted = jnp.minimum(state.h, jnp.minimum(max_step, longest))
    # Two halves end better than a step and a rest.
    shortened = jnp.where(wanted > 0.5 * left, 0.5 * left, wanted)
    h = jnp.where(wanted >= left * (1 - 1e-9), left, shortened)
    attempt = step.attempt(here, tolerance, now, h, state.memory)
    accepted = attempt.solved & (attempt.error <= 1.0)

    def choose(new, old):
        return jax.tree.map(lambda a, b: jnp.where(accepted, a, b), new, old)

    end_time = jnp.where(h == left, stop, attempt.end.t)
    end = eqx.tree_at(lambda m: m.t, attempt.end, end_time)
    written = jnp.where(accepted, h, -1.0)
    record = write(step, here, state.record, now, attempt, written)
    counts = Counts(
        state.counts.steps + accepted,
        state.counts.rejected + ~accepted,
        state.counts.evaluations + attempt.evaluations,
    )
    size = next_size(step, attempt, h, accepted)
    # A step that was cut short says nothing about how long the next one may be.
    was_cut = accepted & (h < wanted)
    size = jnp.where(was_cut, jnp.maximum(size, wanted), size)
    result = judge(state, attempt, size, counts, max_steps)
    memory = choose(attempt.memory, step.reject(state.memory, attempt))
    joints = here.formulation.mechanism.joint_coordinates(end.x)
    joints = jnp.where(accepted, joints, state.joints)
    result = near_dead_point(here, end, accepted, result)
    moved = MarchState(
        choose(end, now), joints, size, memory, state.control, counts, record, result
    )
    return moved, accepted


def next_stop(problem: MotionProblem, state: MarchState, t_end) -> Float[Array, ""]:
    """Where the next step may end at the latest: the end of the piece, or the next sample."""
    law = problem.sampled_law
    if law is None:
        return t_end
    assert state.control is not None
    return jnp.minimum(t_end, law.time_of_next(state.control))


def near_dead_point(
    problem: MotionProblem, end: Moment, accepted, result: RESULTS
) -> RESULTS:
    """The result, or `dead_point` where an independent joint of a closed chain hardly moves the others any more."""
    f = problem.formulation
    if f.n_joints == f.n_encoders:
        return result
    is_near = f.mechanism.joint_gain(end.x) > DEAD_POINT_GAIN
    is_dead = accepted & is_near & (result == RESULTS.successful)
    return RESULTS.where(is_dead, RESULTS.dead_point, result)


def judge(
    state: MarchState, attempt: Attempt, size, counts: Counts, max_steps
) -> RESULTS:
    """How the run stands after a try."""
    is_tiny = size < 1e-13 * (1.0 + jnp.abs(state.now.t))
    is_finite = jnp.all(jnp.isfinite(attempt.end.x)) & jnp.isfinite(attempt.error)
    stuck = RESULTS.where(
        attempt.solved, RESULTS.step_too_small, RESULTS.newton_diverged
    )
    stuck = RESULTS.where(is_finite, stuck, RESULTS.not_finite)
    is_long = counts.steps + counts.rejected >= max_steps
    well = RESULTS.where(is_long, RESULTS.too_many_steps, RESULTS.successful)
    return RESULTS.where(is_tiny, stuck, well)


# --- samples -------------------------------------------------------------------------------------------------------


def let_law_act(
    step: AbstractStep,
    problem: MotionProblem,
    tolerance: Tolerance,
    state: MarchState,
    accepted,
) -> MarchState:
    """The march after a step: where it has come to a sample, the law measures and its new command is held."""
    law, control = problem.sampled_law, state.control
    assert law is not None and control is not None
    is_due = accepted & (state.now.t >= law.time_of_next(control))
    is_well = state.result == RESULTS.successful

    def act() -> tuple[ControlState, Any]:
        here = problem.near(state.joints).holding(control.command)
        now = state.now
        motion = here.motion_at_sample(now.t, now.x, now.xd)
        new = law.acted(now.t, here.measured(now.t, motion), control)
        there = here.holding(new.command)
        jump = there.force_jump(here, now.t, motion)
        memory = step.resume(there, tolerance, now, state.memory, jump)
        return new, memory

    new, memory = jax.lax.cond(is_due & is_well, act, lambda: (control, state.memory))
    record = with_command(state.record, state.now.t, new.command)
    return eqx.tree_at(
        lambda s: (s.control, s.memory, s.record), state, (new, memory, record)
    )


def with_command(record: Record, t, command: Float[Array, " a"]) -> Record:
    """The record with the command that is held from the time t on, where that is the last output time written."""
    k = jnp.maximum(record.filled - 1, 0)
    is_now = (record.filled > 0) & (record.t[k] >= t * (1.0 - SAME_TIME) - SAME_TIME)
    row = jnp.where(is_now, command, record.command[k])
    return eqx.tree_at(lambda r: r.command, record, record.command.at[k].set(row))
