"""Time-optimal motions with limits of speed, acceleration and jerk, from rest to rest [BerscheidKroeger2021]."""

from typing import Any

import numpy as np

from ..types import Float
from .design_error import DesignError, wrong_count
from .optional_package import optional_package
from .references import PolynomialSignal

SHORTEST = 1e-12  # relative: pieces that are shorter than this are rounding


def time_optimal(
    rows: Any, speed: Any, acceleration: Any, jerk: Any
) -> PolynomialSignal:
    """The fastest motion from row to row, at rest at each of them; all joints arrive at the same time.

    Args:
        rows: joint coordinates, one row after the other.
        speed: largest speed, one number or one for each joint [rad/s or m/s].
        acceleration: largest acceleration [rad/s^2 or m/s^2].
        jerk: largest rate of the acceleration [rad/s^3 or m/s^3].

    Returns:
        `PolynomialSignal` in time, a reference for laws: `value(t)`, `breakpoints` [s].

    Raises:
        DesignError: limits of the wrong number, or the package `ruckig` is missing.

    Example:
        >>> import lissom as ls
        >>> motion = ls.time_optimal([[0.0], [1.0]], speed=1.0, acceleration=5.0, jerk=40.0)
        >>> f"{motion.breakpoints[-1]:.3f}"
        '1.325'
    """
    rows = np.asarray(rows, dtype=float)
    joints = rows.shape[1]
    limits = [
        limit_of_each_joint(name, values, joints)
        for name, values in (
            ("speed", speed),
            ("acceleration", acceleration),
            ("jerk", jerk),
        )
    ]
    begin = 0.0
    starts, pieces = [], []
    for row, following in zip(rows[:-1], rows[1:], strict=True):
        trajectory = _trajectory(row, following, *limits)
        knots, coefficients = _cubics(trajectory)
        starts.append(begin + knots[:-1])
        pieces.append(coefficients)
        begin += knots[-1]
    return PolynomialSignal(
        np.append(np.concatenate(starts), begin), np.concatenate(pieces)
    )


def limit_of_each_joint(name: str, values: Any, joints: int) -> Float[np.ndarray, " j"]:
    """One limit for each joint, from one for all or one for each."""
    field = f"reference.{name}"
    array = np.atleast_1d(np.asarray(values, dtype=float))
    if array.shape not in ((1,), (joints,)):
        raise wrong_count(array.size, joints, field)
    if not np.all(array > 0):
        raise DesignError(f"limits must be positive, got {array.tolist()}", field)
    return np.broadcast_to(array, (joints,)).copy()


def _trajectory(row, following, speed, acceleration, jerk) -> Any:
    ruckig = optional_package("ruckig", "a time-optimal motion")
    joints = len(row)
    wanted = ruckig.InputParameter(joints)
    wanted.current_position = row.tolist()
    wanted.target_position = following.tolist()
    wanted.max_velocity = speed.tolist()
    wanted.max_acceleration = acceleration.tolist()
    wanted.max_jerk = jerk.tolist()
    trajectory = ruckig.Trajectory(joints)
    outcome = ruckig.Ruckig(joints).calculate(wanted, trajectory)
    if outcome != ruckig.Result.Working:
        raise DesignError(
            f"no motion from {row.tolist()} to {following.tolist()} within the limits ({outcome.name})",
            "reference",
        )
    return trajectory


def _cubics(trajectory: Any) -> tuple[np.ndarray, np.ndarray]:
    """Knots and coefficients: the jerk of every joint is constant between the switches of all of them."""
    profiles = trajectory.profiles[0]
    switches = [np.cumsum(profile.t) for profile in profiles]
    end = trajectory.duration
    times = np.unique(np.concatenate([[0.0], *switches]).clip(0.0, end))
    is_new = np.diff(times, prepend=-np.inf) > SHORTEST * end
    knots = np.append(times[is_new][:-1], end)
    coefficients = []
    for start, stop in zip(knots[:-1], knots[1:], strict=True):
        place, speed, acceleration = map(np.asarray, trajectory.at_time(start))
        after = np.asarray(trajectory.at_time(stop)[2])
        jerk = (after - acceleration) / (stop - start)
        coefficients.append([place, speed, acceleration / 2, jerk / 6])
    return knots, np.array(coefficients)
