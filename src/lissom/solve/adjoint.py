"""A run on recorded steps: a loop of known length, which can be differentiated in both modes with bounded memory.

An adaptive march is a loop of unknown length, and such a loop has no reverse mode. Here a march first finds its steps
and their solutions, as constants; then the same steps are repeated, without iterations, and derivatives go
through these. The start of each step is stored, the rest is recomputed in the backward pass.
"""

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..types import RESULTS, Float, Real, real, whole
from .march import DrivenRobot, MarchState, advance, update_law, with_jumps
from .record import SAME_TIME, Record
from .step import AbstractStep, Attempt, Moment, Tolerance, stop_gradient

BLOCK = 32  # steps that are passed over together where no more were taken


class StepTrace(eqx.Module):
    """Data of each step for the output times in it."""

    now: Moment  # where it begins
    dense: Any  # what the step method interpolates with
    joints: Float[Real, " j"]  # branch of a closed chain
    command: Float[Array, " a"]  # held by a sampled law


class Recording(eqx.Module):
    """The steps of a march: where they begin and end, and what their iterations found."""

    times: Float[Array, " s"]  # times after the last step repeat it
    solutions: Any  # of each step, see `AbstractStep.solution`


def record_march(
    step: AbstractStep,
    robot: DrivenRobot,
    tolerance: Tolerance,
    state: MarchState,
    t_end,
    max_step,
    max_steps,
    most_steps: int,
) -> tuple[MarchState, Recording]:
    """The end of an adaptive march, and its accepted steps.

    More than `most_steps` end the march with the result `too_many_steps`.
    """
    robot, state = stop_gradient((robot, state))
    times = jnp.full(most_steps + 1, state.now.t)
    solutions = empty_rows(step.solution(state.memory), most_steps)

    def going(carry):
        state, *_ = carry
        is_well = state.result == RESULTS.successful
        return (state.now.t < t_end) & is_well

    def once(carry):
        state, times, solutions = carry
        state, accepted = advance(
            step, robot, tolerance, state, t_end, max_step, max_steps
        )
        times = times.at[state.counts.steps].set(state.now.t, mode="drop")
        row = jnp.where(accepted, state.counts.steps - 1, most_steps)
        solutions = with_entry(solutions, row, step.solution(state.memory))
        state = after_step(step, robot, tolerance, state, accepted)
        is_long = (state.counts.steps >= most_steps) & (state.now.t < t_end)
        result = RESULTS.where(is_long, RESULTS.too_many_steps, state.result)
        state = eqx.tree_at(lambda s: s.result, state, result)
        return state, times, solutions

    start = (state, times, solutions)
    state, times, solutions = jax.lax.while_loop(going, once, start)
    number = jnp.arange(most_steps + 1)
    times = jnp.where(number <= state.counts.steps, times, state.now.t)
    return state, Recording(times, solutions)


def record_steps(
    step: AbstractStep,
    robot: DrivenRobot,
    tolerance: Tolerance,
    state: MarchState,
    times: Float[Array, " s"],
) -> Recording:
    """The steps of a march whose times are given."""
    robot, state, times = stop_gradient((robot, state, times))

    def take(state: MarchState, t):
        here = robot.problem(state)
        h = t - state.now.t
        memory = step.discard_tangents(state.memory)
        attempt = step.attempt(here, tolerance, state.now, h, memory)
        moved = finish_step(step, robot, tolerance, state, t, attempt)
        return moved, step.solution(attempt.memory)

    def once(state: MarchState, t):
        none = jax.tree.map(jnp.zeros_like, step.solution(state.memory))
        return jax.lax.cond(
            t > state.now.t, lambda: take(state, t), lambda: (state, none)
        )

    _, solutions = jax.lax.scan(once, state, times[1:])
    return Recording(times, solutions)


def empty_rows(tree: Any, count: int) -> Any:
    """Zeros with `count` rows for every array of a tree."""
    return jax.tree.map(lambda leaf: jnp.zeros((count, *leaf.shape), leaf.dtype), tree)


def with_entry(rows: Any, k, tree: Any) -> Any:
    """Rows of arrays with those of a tree in row k; nothing is done where there is no such row."""
    return jax.tree.map(lambda row, leaf: row.at[k].set(leaf, mode="drop"), rows, tree)


def after_step(
    step: AbstractStep,
    robot: DrivenRobot,
    tolerance: Tolerance,
    state: MarchState,
    accepted,
) -> MarchState:
    """The march after what happens at the end of a step: a law acts, a smooth piece of time is over."""
    if robot.sampled_law is not None:
        state = update_law(step, robot, tolerance, state, accepted)
    return with_jumps(step, robot, tolerance, state)


def replay(
    step: AbstractStep,
    robot: DrivenRobot,
    tolerance: Tolerance,
    state: MarchState,
    recording: Recording,
    record: Record,
) -> tuple[MarchState, Record]:
    """The march along recorded steps, and its output grid filled."""
    times, solutions = recording.times, stop_gradient(recording.solutions)

    # The linear map of a step consists of many small arrays: recomputed where it is used, none of them is stored.
    @partial(jax.checkpoint, prevent_cse=False)
    def take(state: MarchState, at):
        return replay_step(step, robot, tolerance, state, *at)

    first = jax.tree.map(lambda leaf: leaf[0], (times, solutions))
    shapes = eqx.filter_eval_shape(take, state, first)[1]
    blank = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)

    def once(state: MarchState, at):
        return jax.lax.cond(
            at[0] > state.now.t, lambda: take(state, at), lambda: (state, blank)
        )

    def skip(state: MarchState, steps):
        many = jax.tree.map(lambda leaf: jnp.stack([leaf] * BLOCK), blank)
        return state, many

    def block(state: MarchState, steps):
        # Most blocks are empty where far fewer steps were taken than there is room for.
        return jax.lax.cond(
            steps[0][-1] > state.now.t,
            lambda state, steps: jax.lax.scan(once, state, steps),
            skip,
            state,
            steps,
        )

    count = times.shape[0] - 1
    rows = -(-count // BLOCK)

    def in_blocks(leaf):
        # Steps that repeat the last time are not taken.
        more = [(0, rows * BLOCK - count)] + [(0, 0)] * (leaf.ndim - 1)
        whole = jnp.pad(leaf, more, mode="edge")
        return whole.reshape(rows, BLOCK, *leaf.shape[1:])

    steps = jax.tree.map(in_blocks, (times[1:], solutions))
    state, traces = jax.lax.scan(block, state, steps)
    traces = jax.tree.map(
        lambda leaf: leaf.reshape(rows * BLOCK, *leaf.shape[2:]), traces
    )
    return state, fill_grid(step, robot, record, times, traces)


def replay_step(
    step: AbstractStep,
    robot: DrivenRobot,
    tolerance: Tolerance,
    state: MarchState,
    t,
    solution: Any,
) -> tuple[MarchState, StepTrace]:
    """The march after the step that ends at time t, and the trace of that step."""
    now = state.now
    here = robot.problem(state)
    h = stop_gradient(t - now.t)
    attempt = step.retrace(here, tolerance, now, h, state.memory, solution)
    command = jnp.zeros(0) if state.command is None else state.command
    moved = finish_step(step, robot, tolerance, state, t, attempt)
    return moved, StepTrace(now, attempt.dense, state.joints, command)


def finish_step(
    step: AbstractStep,
    robot: DrivenRobot,
    tolerance: Tolerance,
    state: MarchState,
    t,
    attempt: Attempt,
) -> MarchState:
    """The march at the end of a step, at time t."""
    end = eqx.tree_at(lambda m: m.t, attempt.end, t)
    mechanism = robot.problem(state).formulation.mechanism
    joints = mechanism.joint_coordinates(end.x)
    finished = eqx.tree_at(
        lambda s: (s.now, s.joints, s.memory),
        state,
        (end, stop_gradient(joints), attempt.memory),
    )
    return after_step(step, robot, tolerance, finished, jnp.asarray(True))


def fill_grid(
    step: AbstractStep,
    robot: DrivenRobot,
    record: Record,
    times: Float[Array, " s"],
    traces: StepTrace,
) -> Record:
    """The output grid, each row from the step that it lies in."""
    count = times.shape[0] - 1
    slack = SAME_TIME * (1.0 + jnp.abs(record.t))
    number = jnp.searchsorted(times, record.t - slack, side="left") - 1
    number = jnp.clip(number, 0, count - 1)
    # At a sample the new command counts.
    later = jnp.searchsorted(times, record.t + slack, side="right") - 1
    held = traces.command[jnp.clip(later, 0, count - 1)]
    is_reached = record.t <= times[-1] + slack

    def row(t, k):
        trace = jax.tree.map(lambda leaf: leaf[k], traces)
        h = times[k + 1] - times[k]
        part = jnp.clip((t - times[k]) / jnp.where(h > 0, h, 1.0), 0.0, 1.0)
        at = step.interpolate(trace.now, _dense_only(trace), h, part)
        f = robot.formulation
        on_branch = f.mechanism.on_branch_near(stop_gradient(trace.joints))
        return at.x, at.xd, at.work, on_branch.joint_coordinates(real(at.x))

    columns = jax.vmap(row)(record.t, number)
    shown = [jnp.where(is_reached[:, None], c, jnp.nan) for c in (*columns, held)]
    x, xd, work, joints, command = shown
    total = jnp.sum(is_reached)
    return Record(record.t, x, xd, work, joints, command, total, whole(0))


def _dense_only(trace: StepTrace) -> Attempt:
    """What `interpolate` reads of a step."""
    none = real(0.0)
    return Attempt(trace.now, none, none, none, none, trace.dense, None)
