"""Putting a closed chain together: from a rough guess to closed loops, and which joints are then its coordinates."""

import dataclasses
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Float

from ...compilation import compiled_quickly
from ...describe.robot import Robot
from ...types import namespace
from ..chain import Chain
from .closure import Closure, closing_guess, closing_jacobian, opening

CLOSED = 1e-11  # [m or rad] opening of a loop that counts as closed
RANK = 1e-7  # singular value, against the largest, below which closing rows count as dependent
DEAD = 1e-6  # share of the independent joints in a unit motion of the mechanism below which they are at a dead point
STARTS = 40  # other guesses tried before a loop counts as impossible to close
STEPS = 80
BRANCH_STEP = (
    0.1  # [rad or m] by which independent joints are carried from one pose to another
)


class AssemblyError(ValueError):
    """Loops that cannot be closed, or closing joints that hold more than they can."""


@compiled_quickly
def _gap(chain: Chain, closure: Closure, theta):
    def g(theta):
        return opening(chain, closure, theta)

    return g(theta), jax.jacfwd(g)(theta)


_rows = compiled_quickly(closing_jacobian)
_guess = compiled_quickly(closing_guess)


def put_together(robot: Robot, chain: Chain, closure: Closure | None) -> Closure | None:
    """Close the loops near the robot's `assembly` and choose the independent joints: those named, else the best ones.

    Raises:
        AssemblyError: the loops do not close, hold too much, or the named joints do not fit.
    """
    if closure is None:
        return None
    if (
        namespace(chain, closure.rows, closure.tips) is not np
    ):  # under a transformation: the guess must do
        count = closure.reach.shape[0] - closure.rows.shape[0]
        return with_independent(closure, _named(robot) or tuple(range(count)))
    named = _named(robot)
    free = (
        []
        if robot.assembly is None
        else [robot.joint_names.index(name) for name in robot.assembly]
    )
    held = [j for j in named or () if j in free]
    theta = close(robot, chain, closure, np.asarray(closure.guess), held)
    check_rank(robot, chain, closure, theta)
    best = best_independent(robot, chain, closure, theta, named or ())
    return with_independent(dataclasses.replace(closure, guess=theta), best)


def _named(robot: Robot) -> tuple[int, ...] | None:
    return (
        None
        if robot.independent is None
        else tuple(robot.joint_names.index(name) for name in robot.independent)
    )


def with_independent(closure: Closure, independent: Sequence[int]) -> Closure:
    """The same loops with other joints as coordinates."""
    return dataclasses.replace(closure, independent=tuple(sorted(independent)))


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
    free = np.array([j for j in range(len(theta)) if j not in set(held)], dtype=int)
    best, gap = _walk(chain, closure, theta, free)
    if gap <= CLOSED:
        return best
    random, found, least = np.random.default_rng(0), [], gap
    for _ in range(STARTS):
        start = theta.copy()
        start[free] += np.asarray(closure.reach)[free] * random.uniform(
            -np.pi, np.pi, len(free)
        )
        start = np.asarray(_guess(chain, closure, jnp.asarray(start[: closure.joints])))
        end, gap = _walk(chain, closure, start, free)
        least = min(least, gap)
        if gap <= CLOSED:
            found.append(end)
        if len(found) == 4:
            break
    if not found:
        raise AssemblyError(_cannot_close(robot, theta, held, least))
    turned = [_same_turn(chain, end, theta) for end in found]
    return min(
        turned, key=lambda end: float(np.abs(end - theta)[: closure.joints].max())
    )


def _same_turn(chain: Chain, theta, near):
    """Angles within half a turn of those given."""
    turning = (np.asarray(chain.turns) @ np.asarray(chain.selection)).astype(bool)
    return np.where(
        turning, theta - 2 * np.pi * np.round((theta - near) / (2 * np.pi)), theta
    )


def _walk(
    chain: Chain, closure: Closure, theta, free
) -> tuple[Float[np.ndarray, " j"], float]:
    """Damped least-squares steps towards closed loops; the pose reached and the opening left."""
    reach = np.asarray(closure.reach)[free]
    theta, damping = np.array(theta, dtype=float), 1e-3
    g, A = (np.asarray(part) for part in _gap(chain, closure, jnp.asarray(theta)))
    for _ in range(STEPS):
        if np.abs(g).max() <= 1e-15:
            break
        B = A[:, free] * reach
        step = -np.linalg.lstsq(
            np.concatenate([B, np.sqrt(damping) * np.eye(len(free))]),
            np.concatenate([g, np.zeros(len(free))]),
            rcond=None,
        )[0]
        trial = theta.copy()
        trial[free] += step * reach
        h, B = (np.asarray(part) for part in _gap(chain, closure, jnp.asarray(trial)))
        if np.linalg.norm(h) < np.linalg.norm(g):
            theta, g, A, damping = trial, h, B, damping * 0.05
        elif damping > 1e6 or np.abs(step).max() < 1e-15:
            break
        else:
            damping = max(damping, 1e-12) * 10
    return theta, float(np.abs(g).max())


def _cannot_close(robot: Robot, theta, held: Sequence[int], gap: float) -> str:
    where = ", ".join(
        f"{robot.joint_names[j]} = {theta[j]:.6g}"
        for j in held
        if j < len(robot.joint_names)
    )
    tied = ", ".join(
        name for j, name in enumerate(robot.joint_names) if j not in set(held)
    )
    what = _loops(robot)
    at = f" with {where}" if where else ""
    return (
        f"loops: {what} cannot be closed{at}: whatever the joints {tied} do, an opening of {gap:.3g} (m or rad) is "
        "left. Check lengths and points, or begin from another pose."
    )


def _loops(robot: Robot) -> str:
    return " and ".join(
        f"the loop of link {loop.link!r} to {loop.to!r}" for loop in robot.loops
    )


def scaled_rows(chain: Chain, closure: Closure, theta) -> Float[np.ndarray, "r j"]:
    """Z J with lengths measured in the robot's reach: no units."""
    reach = np.asarray(closure.reach)
    length = max(float(np.linalg.norm(np.asarray(chain.position), axis=1).max()), 1e-12)
    rows = np.array(
        [1.0 / length if component < 3 else 1.0 for component in closure.components]
        * closure.frames
    )
    return (
        np.asarray(_rows(chain, closure, jnp.asarray(theta)))
        * reach[None, :]
        * rows[:, None]
    )


def check_rank(robot: Robot, chain: Chain, closure: Closure, theta) -> None:
    """Refuse loops whose closing joints hold the same motion twice, or leave none.

    Raises:
        AssemblyError: with the joints' names.
    """
    rows = scaled_rows(chain, closure, theta)
    deficit = _deficit(rows)
    joints = ", ".join(robot.joint_names)
    if deficit:
        random = np.random.default_rng(1).uniform(0.5, 1.5, len(theta)) * np.asarray(
            closure.reach
        )
        always = _deficit(scaled_rows(chain, closure, np.asarray(theta) + random))
        if always:
            hint = (
                ""
                if robot.planar
                else " Where all axes are parallel, `planar: true` leaves the others out."
            )
            raise AssemblyError(
                f"loops: {_loops(robot)} is over-constrained: the joints {joints} and the closing joint move the tip "
                f"in {len(rows) - deficit} of the {len(rows)} directions that have to be closed, so {deficit} of them "
                f"would hold by luck alone.{hint}"
            )
        raise AssemblyError(
            f"loops: {_loops(robot)} is put together at a dead point of all its joints ({joints}): {deficit} of "
            f"{len(rows)} closing conditions are lost there. Give `assembly` another pose."
        )
    if rows.shape[1] - rows.shape[0] < 1:
        raise AssemblyError(
            f"loops: {_loops(robot)} leaves no motion: {len(rows)} closing conditions on {rows.shape[1]} joints "
            f"({joints}, and the closing ones). A mechanism needs more joints than conditions."
        )


def _deficit(rows) -> int:
    s = np.linalg.svd(rows, compute_uv=False)
    return int(len(rows) - np.sum(s > RANK * s[0]))


def best_independent(
    robot: Robot, chain: Chain, closure: Closure, theta, wanted: Sequence[int] = ()
) -> tuple[int, ...]:
    """Independent joints at a pose, those `wanted` among them.

    Raises:
        AssemblyError: too many joints are wanted, or they do not set the pose.
    """
    given = ", ".join(robot.joint_names[j] for j in wanted)
    count = closure.reach.shape[0] - closure.rows.shape[0]
    if len(wanted) > count or (
        robot.independent is not None and len(robot.independent) != count
    ):
        raise AssemblyError(
            f"independent: [{given}]: this closed chain has {count} independent joint{'s' if count > 1 else ''}, "
            f"not {len(wanted)}"
        )
    chosen = choose(chain, closure, theta, wanted)
    if chosen is None:
        raise AssemblyError(
            f"independent: [{given}] {'is' if len(wanted) == 1 else 'are'} at a dead point in this pose: the other "
            "joints do not follow. Choose other independent joints, or another pose."
        )
    return chosen


def choose(
    chain: Chain, closure: Closure, theta, wanted: Sequence[int] = ()
) -> tuple[int, ...] | None:
    """Joints whose motion moves all others least: rows of the null space of Z J by pivoting, those `wanted` first.

    None where the wanted ones do not set the pose, or nothing does.
    """
    null = scipy.linalg.null_space(scaled_rows(chain, closure, theta), rcond=RANK)
    count = closure.reach.shape[0] - closure.rows.shape[0]
    if null.shape[1] != count or len(wanted) > count:
        return None
    chosen = list(wanted)
    for _ in range(count - len(chosen)):
        left = (
            null - null @ np.linalg.pinv(null[chosen]) @ null[chosen]
            if chosen
            else null
        )
        sizes = np.linalg.norm(left[: closure.joints], axis=1)
        sizes[chosen] = -1.0
        chosen.append(int(np.argmax(sizes)))
    regular = np.linalg.svd(null[chosen], compute_uv=False)[-1] > DEAD
    return tuple(sorted(chosen)) if regular else None


def liveliness_of(
    chain: Chain, closure: Closure, theta, independent: Sequence[int]
) -> float:
    """Largest motion of any joint per unit of the independent ones; large near their dead point."""
    null = scipy.linalg.null_space(scaled_rows(chain, closure, theta), rcond=RANK)
    chosen = null[list(independent)]
    if chosen.shape[0] != chosen.shape[1] or not np.linalg.cond(chosen) < 1e12:
        return np.inf
    return float(np.abs(null @ np.linalg.inv(chosen)).max())


def carried(
    robot: Robot,
    chain: Chain,
    closure: Closure,
    independent: Sequence[int],
    value: Float[np.ndarray, " i"],
) -> Float[np.ndarray, " j"]:
    """All joints when the independent ones are led from the assembled pose to `value`: the same assembly branch.

    Raises:
        AssemblyError: the way there meets a pose where the loops do not close.
    """
    theta = np.array(closure.guess, dtype=float)
    start = theta[list(independent)]
    count = max(
        1,
        int(
            np.ceil(
                np.abs(
                    (value - start) / np.asarray(closure.reach)[list(independent)]
                ).max()
                / BRANCH_STEP
            )
        ),
    )
    free = np.array(
        [j for j in range(len(theta)) if j not in set(independent)], dtype=int
    )
    for part in np.arange(1, count + 1) / count:
        theta[list(independent)] = start + part * (value - start)
        theta, gap = _walk(chain, closure, theta, free)
        if gap > CLOSED:
            target = theta.copy()
            target[list(independent)] = value
            raise AssemblyError(_cannot_close(robot, target, independent, gap))
    return theta
