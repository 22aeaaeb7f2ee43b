"""Putting a closed chain together: from a rough guess to closed loops."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxnative.compiled import compiled_quickly

from ...describe.robot import Robot
from ...types import Float, namespace, real
from ..chain import Chain
from .assembly_errors import AssemblyError, loop_names
from .closure import Closure, closing_guess, opening
from .independent import (
    best_independent,
    check_rank,
    independent_count,
    with_independent,
)

CLOSED = 1e-11  # [m or rad] opening of a loop that counts as closed
STARTS = 40  # other guesses tried before a loop counts as impossible to close
ENOUGH = 4  # closed poses found from other guesses, of which the nearest is taken
STEPS = 80
BRANCH_STEP = 0.1  # [rad or m] by which independent joints are led from pose to pose


@compiled_quickly
def _opening_and_slope(chain: Chain, closure: Closure, theta):
    def g(theta):
        return opening(chain, closure, theta)

    return g(theta), jax.jacfwd(g)(theta)


_closing_guess = compiled_quickly(closing_guess)


def assembled_closure(robot: Robot, chain: Chain, closure: Closure) -> Closure:
    """Close the loops near the robot's `assembly` and choose the independent joints: those named, else the best ones.

    Raises:
        AssemblyError: the loops do not close, hold too much, or the named joints do not fit.
    """
    named = _named_joints(robot, robot.independent)
    if namespace(chain, closure.guess) is not np:
        # Under a transformation nothing can be searched for: the guess must do.
        first = tuple(range(independent_count(closure)))
        return with_independent(closure, named or first)
    posed = _named_joints(robot, robot.assembly)
    held = [j for j in named if j in posed]
    # Joints that are both independent and posed are wanted exactly there; all others may give way.
    theta = close(robot, chain, closure, np.asarray(closure.guess), held)
    check_rank(robot, chain, closure, theta)
    chosen = best_independent(robot, chain, closure, theta, named)
    return with_independent(dataclasses.replace(closure, guess=theta), chosen)


def _named_joints(robot: Robot, names) -> tuple[int, ...]:
    return tuple(robot.joint_names.index(name) for name in names or ())


def close(
    robot: Robot,
    chain: Chain,
    closure: Closure,
    theta: Float[np.ndarray, " j"],
    held: Sequence[int],
) -> Float[np.ndarray, " j"]:
    """All joint coordinates with closed loops near theta, the joints `held` where they are.

    Newton's step of least size, damped (Levenberg-Marquardt); where it does not close the loops, from other guesses,
    and of the poses found the one nearest to theta.

    Raises:
        AssemblyError: no guess leads to closed loops.
    """
    free = _free_joints(len(theta), held)
    first = close_from(chain, closure, theta, free)
    if first.gap <= CLOSED:
        return first.theta
    poses = []
    least = first.gap
    random = np.random.default_rng(0)
    for _ in range(STARTS):
        start = theta.copy()
        turn = random.uniform(-np.pi, np.pi, len(free))
        start[free] += np.asarray(closure.reach)[free] * turn
        # Closing frames start as near to their tips as they come.
        joints = jnp.asarray(start[: closure.joints])
        start = np.asarray(_closing_guess(chain, closure, joints))
        end = close_from(chain, closure, start, free)
        least = min(least, end.gap)
        if end.gap <= CLOSED:
            poses.append(_within_half_a_turn(chain, end.theta, theta))
        if len(poses) == ENOUGH:
            break
    if not poses:
        raise AssemblyError(_cannot_close(robot, theta, held, least))

    def distance(end):
        return float(np.abs(end - theta)[: closure.joints].max())

    return min(poses, key=distance)


def _free_joints(count: int, held: Sequence[int]) -> np.ndarray:
    return np.array([j for j in range(count) if j not in set(held)], dtype=int)


def _within_half_a_turn(chain: Chain, theta, reference):
    """Angles within half a turn of those given; not of joints that others follow, since a turn moves those anywhere."""
    turning = (np.asarray(chain.turns) @ chain.own_joints).astype(bool)
    turning[[chain.joints[i] for i in chain.followers]] = False
    turns = np.round((theta - reference) / (2 * np.pi))
    return np.where(turning, theta - 2 * np.pi * turns, theta)


class ClosingAttempt(NamedTuple):
    """Result of an attempt to close the loops: joint coordinates, and the gap that is left."""

    theta: Float[np.ndarray, " j"]
    gap: float  # [m or rad]


def close_from(chain: Chain, closure: Closure, theta, free) -> ClosingAttempt:
    """Damped least-squares steps towards closed loops (Levenberg-Marquardt), moving the `free` joints."""
    reach = np.asarray(closure.reach)[free]
    theta = np.array(theta, dtype=float)
    damping = 1e-3

    def linearised(theta):
        g, A = _opening_and_slope(chain, closure, real(theta))
        return np.asarray(g), np.asarray(A)

    g, A = linearised(theta)
    for _ in range(STEPS):
        if np.abs(g).max() <= 1e-15:
            break
        step = _damped_step(A[:, free] * reach, g, damping)
        trial = theta.copy()
        trial[free] += step * reach
        g_trial, A_trial = linearised(trial)
        # A step that closes the loops further is taken and trusted more; another is tried again, shorter.
        if np.linalg.norm(g_trial) < np.linalg.norm(g):
            theta, g, A = trial, g_trial, A_trial
            damping = damping * 0.05
        elif damping > 1e6 or np.abs(step).max() < 1e-15:
            break
        else:
            damping = max(damping, 1e-12) * 10
    return ClosingAttempt(theta, float(np.abs(g).max()))


def _damped_step(A, g, damping: float) -> np.ndarray:
    """The step s that makes |A s + g|^2 + damping |s|^2 least."""
    n = A.shape[1]
    rows = np.concatenate([A, np.sqrt(damping) * np.eye(n)])
    right = np.concatenate([g, np.zeros(n)])
    return -np.linalg.lstsq(rows, right, rcond=None)[0]


def _cannot_close(robot: Robot, theta, held: Sequence[int], gap: float) -> str:
    names = robot.joint_names
    posed = [f"{names[j]} = {theta[j]:.6g}" for j in held if j < len(names)]
    at = f" with {', '.join(posed)}" if posed else ""
    free = ", ".join(name for j, name in enumerate(names) if j not in set(held))
    return (
        f"loops: {loop_names(robot)} cannot be closed{at}: whatever the joints {free} "
        f"do, a gap of {gap:.3g} (m or rad) is left. Check lengths and points, or "
        "start from another pose."
    )


def lead_to(
    robot: Robot, chain: Chain, closure: Closure, value: Float[np.ndarray, " i"]
) -> Float[np.ndarray, " j"]:
    """All joints when the independent ones are led from the assembled pose to `value`: the same assembly branch.

    Raises:
        AssemblyError: the way there meets a pose where the loops do not close.
    """
    independent = list(closure.independent)
    theta = np.array(closure.guess, dtype=float)
    start = theta[independent]
    way = np.abs((value - start) / np.asarray(closure.reach)[independent])
    count = max(1, int(np.ceil(way.max() / BRANCH_STEP)))
    free = _free_joints(len(theta), independent)
    # Small steps, each from the pose before it, cannot jump to another branch.
    for part in np.arange(1, count + 1) / count:
        theta[independent] = start + part * (value - start)
        theta, gap = close_from(chain, closure, theta, free)
        if gap > CLOSED:
            target = theta.copy()
            target[independent] = value
            raise AssemblyError(_cannot_close(robot, target, independent, gap))
    return theta
