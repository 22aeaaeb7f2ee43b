"""Adaptive march in time: takes steps, fills the output grid, never goes over the end of a smooth piece."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..kinematics.mechanism import DEAD_POINT_GAIN
from ..types import RESULTS, real, whole
from .problem import Problem
from .step import AbstractStep, Attempt, Moment, Tolerance

SAFETY = 0.9
SHRINK, GROW, KEEP = (
    0.2,
    8.0,
    1.2,
)  # a step grows at most GROW times, and is kept if it would grow less than KEEP times


class Counts(eqx.Module):
    """What the march did."""

    steps: Any
    rejected: Any
    evaluations: Any


class Record(eqx.Module):
    """Output grid, filled as the march passes its times."""

    t: Float[Array, " t"]
    x: Float[Array, "t n"]
    xd: Float[Array, "t n"]
    work: Float[Array, "t 2"]
    joints: Float[Array, "t j"]  # coordinates of all moving joints
    filled: Any


class Walk(eqx.Module):
    """Everything that goes round the loop."""

    now: Moment
    joints: Float[
        Array, " j"
    ]  # coordinates of all moving joints: where loops are closed
    h: Float[Array, ""]
    memory: Any
    counts: Counts
    record: Record
    failure: Any  # 0 while all is well, else an index of FAILURES


FAILURES = (
    RESULTS.successful,
    RESULTS.newton_diverged,
    RESULTS.step_too_small,
    RESULTS.not_finite,
    RESULTS.too_many_steps,
    RESULTS.dead_point,
)
DEAD_POINT = 5


def new_record(t: Float[Array, " t"], n: int, joints: int) -> Record:
    """An empty output grid."""

    def blank(width):
        return real(jnp.full((t.shape[0], width), jnp.nan))

    return Record(t, blank(n), blank(n), blank(2), blank(joints), whole(0))


def set_off(
    step: AbstractStep,
    problem: Problem,
    tolerance: Tolerance,
    now: Moment,
    joints: Float[Array, " j"],
    h,
    record: Record,
    counts: Counts,
) -> Walk:
    """Start of a smooth piece: fresh acceleration, no memory of what was before the jump."""
    here = problem.near(joints)
    walk = Walk(
        now, joints, real(h), step.begin(here, tolerance, now), counts, record, whole(0)
    )
    return eqx.tree_at(
        lambda w: w.record, walk, write(step, here, walk.record, now, None, real(0.0))
    )


def write(
    step: AbstractStep,
    problem: Problem,
    record: Record,
    now: Moment,
    attempt: Attempt | None,
    h,
) -> Record:
    """Fill in every output time up to the end of the step."""
    end = now.t + h
    slack = 1e-12 * (1.0 + jnp.abs(end))

    def due(record: Record):
        inside = record.filled < record.t.shape[0]
        return inside & (
            record.t[jnp.minimum(record.filled, record.t.shape[0] - 1)] <= end + slack
        )

    def put(record: Record):
        k = record.filled
        part = jnp.clip(
            jnp.where(h > 0, (record.t[k] - now.t) / jnp.where(h > 0, h, 1.0), 0.0),
            0.0,
            1.0,
        )
        at = now if attempt is None else step.interpolate(now, attempt, h, part)
        return Record(
            record.t,
            record.x.at[k].set(at.x),
            record.xd.at[k].set(at.xd),
            record.work.at[k].set(at.work),
            record.joints.at[k].set(
                problem.formulation.mechanism.joint_coordinates(at.x)
            ),
            k + 1,
        )

    return jax.lax.while_loop(due, put, record)


def next_size(step: AbstractStep, attempt: Attempt, h, accepted):
    """Step size from the error estimate; a little growth is not worth new inverses."""
    error = jnp.where(
        jnp.isfinite(attempt.error), jnp.maximum(attempt.error, 1e-10), 1e10
    )
    factor = jnp.clip(
        SAFETY * attempt.effort * error ** (-1.0 / (step.order + 1)), SHRINK, GROW
    )
    factor = jnp.where(
        accepted,
        jnp.where((factor >= 1.0) & (factor < KEEP), 1.0, factor),
        jnp.minimum(factor, 0.9),
    )
    return h * jnp.where(attempt.solved, factor, 0.5)


def march(
    step: AbstractStep,
    problem: Problem,
    tolerance: Tolerance,
    walk: Walk,
    t_end,
    max_step,
    budget,
    max_steps,
) -> Walk:
    """March to `t_end`, or until `budget` more tries are made or the run fails."""
    stop = walk.counts.steps + walk.counts.rejected + budget

    def going(walk: Walk):
        tries = walk.counts.steps + walk.counts.rejected
        return (walk.now.t < t_end) & (walk.failure == 0) & (tries < stop)

    def once(walk: Walk):
        left = t_end - walk.now.t
        wanted = jnp.minimum(
            walk.h,
            jnp.minimum(
                max_step, problem.formulation.mechanism.longest_step(walk.now.xd)
            ),
        )
        h = jnp.where(
            wanted >= left * (1 - 1e-9),
            left,
            jnp.where(wanted > 0.5 * left, 0.5 * left, wanted),
        )
        here = problem.near(walk.joints)
        attempt = step.attempt(here, tolerance, walk.now, h, walk.memory)
        accepted = attempt.solved & (attempt.error <= 1.0)
        end = eqx.tree_at(
            lambda m: m.t, attempt.end, jnp.where(h == left, t_end, attempt.end.t)
        )

        def choose(a, b):
            return jax.tree.map(lambda p, q: jnp.where(accepted, p, q), a, b)

        record = write(
            step, here, walk.record, walk.now, attempt, jnp.where(accepted, h, -1.0)
        )
        counts = Counts(
            walk.counts.steps + accepted,
            walk.counts.rejected + ~accepted,
            walk.counts.evaluations + attempt.evaluations,
        )
        size = next_size(step, attempt, h, accepted)
        size = jnp.where(
            accepted & (h < wanted), jnp.maximum(size, wanted), size
        )  # a short last step says nothing about the next
        failure = judge(walk, attempt, size, counts, max_steps)
        memory = choose(attempt.memory, step.reject(walk.memory, attempt))
        joints, failure = settle(here, end, walk, accepted, failure)
        return Walk(
            choose(end, walk.now), joints, size, memory, counts, record, failure
        )

    return jax.lax.while_loop(going, once, walk)


def settle(problem: Problem, end: Moment, walk: Walk, accepted, failure):
    """Joint coordinates after the step, and whether an independent joint of a closed chain nears its dead point."""
    f = problem.formulation
    if f.n_joints == f.n_encoders:
        return jnp.where(
            accepted, f.mechanism.joint_coordinates(end.x), walk.joints
        ), failure
    joints = jnp.where(accepted, f.mechanism.joint_coordinates(end.x), walk.joints)
    dead = accepted & (f.mechanism.joint_gain(end.x) > DEAD_POINT_GAIN) & (failure == 0)
    return joints, jnp.where(dead, DEAD_POINT, failure)


def judge(walk: Walk, attempt: Attempt, size, counts: Counts, max_steps):
    """Index of the failure, 0 if there is none."""
    tiny = size < 1e-13 * (1.0 + jnp.abs(walk.now.t))
    broken = ~jnp.all(jnp.isfinite(attempt.end.x)) | ~jnp.isfinite(attempt.error)
    stuck = jnp.where(broken, 3, jnp.where(attempt.solved, 2, 1))
    many = jnp.where(counts.steps + counts.rejected >= max_steps, 4, 0)
    return jnp.where(tiny, stuck, many).astype(jnp.int64)
