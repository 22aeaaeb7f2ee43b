"""Which joints of a closed chain are its coordinates: those that move all others least."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxnative.compiled import compiled_quickly

from ...describe.robot import Robot
from ...types import Float, real
from ..chain import Chain
from .assembly_errors import AssemblyError, loop_names
from .closure import Closure, closing_jacobian

RANK = 1e-7  # singular value, against the largest, below which closing rows count as dependent
DEAD = 1e-6  # share of the independent joints in a unit motion of the mechanism below which they are at a dead point

_closing_jacobian = compiled_quickly(closing_jacobian)


def with_independent(closure: Closure, independent: Sequence[int]) -> Closure:
    """The same loops with other joints as coordinates."""
    return dataclasses.replace(closure, independent=tuple(sorted(independent)))


def independent_count(closure: Closure) -> int:
    """Number of independent joints: one for each joint without a closing row."""
    return closure.reach.shape[0] - closure.rows.shape[0]


def scaled_rows(
    chain: Chain, closure: Closure, theta, displaced=None
) -> Float[np.ndarray, "r j"]:
    """Z J with lengths measured in the robot's reach: no units."""
    reach = np.asarray(closure.reach)
    length = max(float(np.linalg.norm(np.asarray(chain.position), axis=1).max()), 1e-12)
    units = [1.0 / length if part < 3 else 1.0 for part in closure.components]
    row_scale = np.array(units * closure.loops)
    theta = real(theta)
    ZJ = np.asarray(_closing_jacobian(chain, closure, theta, displaced))
    return ZJ * reach[None, :] * row_scale[:, None]


def check_rank(robot: Robot, chain: Chain, closure: Closure, theta) -> None:
    """Refuse loops whose closing joints hold the same motion twice, or leave none.

    Raises:
        AssemblyError: with the joints' names.
    """
    rows = scaled_rows(chain, closure, theta)
    deficit = _rank_deficit(rows)
    joints = ", ".join(robot.joint_names)
    if deficit:
        # A deficit in this pose alone is a dead point; one in a random pose too lies in the mechanism itself.
        random = np.random.default_rng(1).uniform(0.5, 1.5, len(theta))
        elsewhere = np.asarray(theta) + random * np.asarray(closure.reach)
        if _rank_deficit(scaled_rows(chain, closure, elsewhere)):
            hint = " Where all axes are parallel, `planar: true` removes the others."
            raise AssemblyError(
                f"loops: {loop_names(robot)} is over-constrained: the joints {joints} "
                f"and the closing joint move the tip in {len(rows) - deficit} of the "
                f"{len(rows)} directions that have to be closed, so {deficit} of them "
                "would be satisfied only for exactly matching "
                f"dimensions.{'' if robot.planar else hint}"
            )
        raise AssemblyError(
            f"loops: {loop_names(robot)} is assembled at a dead point of all its "
            f"joints ({joints}): {deficit} of {len(rows)} closing conditions are "
            "dependent there. Give `assembly` another pose."
        )
    if rows.shape[1] - rows.shape[0] < 1:
        raise AssemblyError(
            f"loops: {loop_names(robot)} leaves no motion: {len(rows)} closing conditions on {rows.shape[1]} joints "
            f"({joints}, and the closing ones). A mechanism needs more joints than conditions."
        )


def _rank_deficit(rows: Float[np.ndarray, "r j"]) -> int:
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
    count = independent_count(closure)
    named = robot.independent
    if len(wanted) > count or (named is not None and len(named) != count):
        raise AssemblyError(
            f"independent: [{given}]: this closed chain has {count} independent joint{'s' if count > 1 else ''}, "
            f"not {len(wanted)}"
        )
    chosen = choose_independent(chain, closure, theta, wanted)
    if chosen is None:
        raise AssemblyError(
            f"independent: [{given}] {'is' if len(wanted) == 1 else 'are'} at a dead point in this pose: the other "
            "joints do not follow. Choose other independent joints, or another pose."
        )
    return chosen


def choose_independent(
    chain: Chain, closure: Closure, theta, wanted: Sequence[int] = (), displaced=None
) -> tuple[int, ...] | None:
    """Joints whose motion moves all others least: rows of the null space of Z J by pivoting, those `wanted` first.

    None where the wanted ones do not set the pose, or nothing does.
    """
    rows = scaled_rows(chain, closure, theta, displaced)
    _, s, directions = np.linalg.svd(rows)
    rank = int(np.sum(s > RANK * s[0]))
    null = directions[rank:].T
    count = independent_count(closure)
    if null.shape[1] != count or len(wanted) > count:
        return None
    chosen = list(wanted)
    while len(chosen) < count:
        # What the motions of the mechanism leave when the chosen joints are held: its largest row is the next joint.
        rest = null
        if chosen:
            rest = null - null @ np.linalg.pinv(null[chosen]) @ null[chosen]
        sizes = np.linalg.norm(rest[: closure.joints], axis=1)
        sizes[chosen] = -1.0
        chosen.append(int(np.argmax(sizes)))
    is_regular = np.linalg.svd(null[chosen], compute_uv=False)[-1] > DEAD
    return tuple(sorted(chosen)) if is_regular else None
