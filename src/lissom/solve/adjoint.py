"""A run on recorded steps: a loop of known length, which can be differentiated in both modes with bounded memory.

An adaptive march is a loop of unknown length, and such a loop has no reverse mode. Here a march first finds its steps,
as constants; then the same steps are taken again, and derivatives go through these. Steps are gathered in blocks: of
each block the start is kept, and the rest is computed again on the way back.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..types import RESULTS, Real, real, whole
from .march import DrivenRobot, MarchState, advance, let_law_act, with_jumps
from .record import SAME_TIME, Record
from .step import AbstractStep, Attempt, Moment, Tolerance, frozen

BLOCK = 32  # steps whose intermediate results are in memory at the same time


class StepTrace(eqx.Module):
    """What is kept of each step for the output times in it."""

    now: Moment  # where it begins
    dense: Any  # what the step method interpolates with
    joints: Float[Real, " j"]  # branch of a closed chain
    command: Float[Array, " a"]  # held by a sampled law


def recorded_times(
    step: AbstractStep,
    robot: DrivenRobot,
    tolerance: Tolerance,
    state: MarchState,
    t_end,
    max_step,
    max_steps,
    most_steps: int,
) -> tuple[MarchState, Float[Array, " s"]]:
    """The end of an adaptive march, and where its accepted steps begin and end; times after the last one repeat it.

    More than `most_steps` end the march with the result `too_many_steps`.
    """
    robot, state = frozen((robot, state))
    times = jnp.full(most_steps + 1, state.now.t)

    def going(carry):
        state, _ = carry
        is_well = state.result == RESULTS.successful
        return (state.now.t < t_end) & is_well

    def once(carry):
        state, times = carry
        state = taken(step, robot, tolerance, state, t_end, max_step, max_steps)
        times = times.at[state.counts.steps].set(state.now.t, mode="drop")
        is_long = (state.counts.steps >= most_steps) & (state.now.t < t_end)
        result = RESULTS.where(is_long, RESULTS.too_many_steps, state.result)
        return eqx.tree_at(lambda s: s.result, state, result), times

    state, times = jax.lax.while_loop(going, once, (state, times))
    number = jnp.arange(most_steps + 1)
    return state, jnp.where(number <= state.counts.steps, times, state.now.t)


def taken(
    step: AbstractStep,
    robot: DrivenRobot,
    tolerance: Tolerance,
    state: MarchState,
    t_end,
    max_step,
    max_steps,
) -> MarchState:
    """The march after one try of a step, and after what happens at its end."""
    state, accepted = advance(step, robot, tolerance, state, t_end, max_step, max_steps)
    if robot.sampled_law is not None:
        state = let_law_act(step, robot, tolerance, state, accepted)
    return with_jumps(step, robot, tolerance, state)


def replayed(
    step: AbstractStep,
    robot: DrivenRobot,
    tolerance: Tolerance,
    state: MarchState,
    times: Float[Array, " s"],
    record: Record,
) -> tuple[MarchState, Record]:
    """The march along recorded steps, and its output grid filled."""

    def take(state: MarchState, t):
        return replayed_step(step, robot, tolerance, state, t)

    shapes = eqx.filter_eval_shape(take, state, times[0])[1]
    blank = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)

    def once(state: MarchState, t):
        return jax.lax.cond(
            t > state.now.t, lambda: take(state, t), lambda: (state, blank)
        )

    def skip(state: MarchState, ends):
        many = jax.tree.map(lambda leaf: jnp.stack([leaf] * BLOCK), blank)
        return state, many

    @jax.checkpoint
    def block(state: MarchState, ends):
        # Most blocks are empty where far fewer steps were taken than there is room for.
        return jax.lax.cond(
            ends[-1] > state.now.t,
            lambda state, ends: jax.lax.scan(once, state, ends),
            skip,
            state,
            ends,
        )

    count = times.shape[0] - 1
    rows = -(-count // BLOCK)
    ends = jnp.pad(times[1:], (0, rows * BLOCK - count), mode="edge")
    state, traces = jax.lax.scan(block, state, ends.reshape(rows, BLOCK))
    traces = jax.tree.map(
        lambda leaf: leaf.reshape(rows * BLOCK, *leaf.shape[2:]), traces
    )
    return state, filled(step, robot, record, times, traces)


def replayed_step(
    step: AbstractStep, robot: DrivenRobot, tolerance: Tolerance, state: MarchState, t
) -> tuple[MarchState, StepTrace]:
    """The march after the step that ends at time t, and the trace of that step."""
    now = state.now
    here = robot.problem(state)
    # Steps that were rejected on the way are not taken again: the derivatives they left behind have to be new.
    memory = step.renew(state.memory)
    attempt = step.attempt(here, tolerance, now, frozen(t - now.t), memory)
    end = eqx.tree_at(lambda m: m.t, attempt.end, t)
    joints = here.formulation.mechanism.joint_coordinates(end.x)
    command = jnp.zeros(0) if state.command is None else state.command
    moved = eqx.tree_at(
        lambda s: (s.now, s.joints, s.memory),
        state,
        (end, frozen(joints), attempt.memory),
    )
    if robot.sampled_law is not None:
        moved = let_law_act(step, robot, tolerance, moved, jnp.asarray(True))
    moved = with_jumps(step, robot, tolerance, moved)
    return moved, StepTrace(now, attempt.dense, state.joints, command)


def filled(
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
    # At a sample the command is the one that is held from then on.
    later = jnp.searchsorted(times, record.t + slack, side="right") - 1
    held = traces.command[jnp.clip(later, 0, count - 1)]
    is_reached = record.t <= times[-1] + slack

    def row(t, k):
        trace = jax.tree.map(lambda leaf: leaf[k], traces)
        h = times[k + 1] - times[k]
        part = jnp.clip((t - times[k]) / jnp.where(h > 0, h, 1.0), 0.0, 1.0)
        at = step.interpolate(trace.now, _dense_only(trace), h, part)
        f = robot.formulation
        on_branch = f.mechanism.near(frozen(trace.joints))
        return at.x, at.xd, at.work, on_branch.joint_coordinates(at.x)

    columns = jax.vmap(row)(record.t, number)
    shown = [jnp.where(is_reached[:, None], c, jnp.nan) for c in (*columns, held)]
    x, xd, work, joints, command = shown
    total = jnp.sum(is_reached)
    return Record(record.t, x, xd, work, joints, command, total, whole(0))


def _dense_only(trace: StepTrace) -> Attempt:
    """What `interpolate` reads of a step."""
    none = real(0.0)
    return Attempt(trace.now, none, none, none, none, trace.dense, None)
