"""Quality of a control law: numbers of one closed-loop run."""

import numpy as np

from ..types import Float

PERIODS = 5  # of the first mode, over which residual vibration is watched
SETTLED = 0.005  # part of the tip's way within which it must stay
ARRIVED = 0.02  # part of the joints' way

Times = Float[np.ndarray, " t"]
Path = Float[np.ndarray, "t 3"]


def residual_vibration(
    t: Times,
    displacement: Path,
    final: Float[np.ndarray, " 3"],
    stop: float,
    watch: float,
) -> float:
    """Peak elastic displacement about its final value over a time after the stop."""
    after = (t >= stop) & (t <= stop + watch)
    if not np.any(after):
        return float("nan")
    away = np.linalg.norm(displacement[after] - final, axis=1)
    return float(away.max())


def settling_time(
    t: Times, path: Path, end: Float[np.ndarray, " 3"], stop: float
) -> float:
    """Time after the stop from which the path stays within `SETTLED` of its way from its end."""
    way = np.linalg.norm(path[0] - end)
    far = np.linalg.norm(path - end, axis=1) > SETTLED * max(way, 1e-12)
    if far[-1]:
        return float("inf")
    last = np.flatnonzero(far)
    # If the path begins after the stop, nothing is known before its first time.
    first = last[-1] + 1 if len(last) else 0
    return max(0.0, float(t[first] - stop))


def finish_time(t: Times, encoder, end) -> float:
    """Time from which every encoder stays within `ARRIVED` of the longest way from its end."""
    away = np.abs(np.asarray(encoder) - end)
    way = np.abs(np.asarray(encoder)[0] - end).max()
    far = np.flatnonzero(away.max(axis=1) > ARRIVED * max(way, 1e-12))
    if not len(far):
        return float(t[0])
    return float(t[min(far[-1] + 1, len(t) - 1)])


def drive_work(t: Times, torque, speed) -> float:
    """Energy that the drives put in; what they take out again is lost."""
    power = np.maximum(np.asarray(torque) * np.asarray(speed), 0.0).sum(axis=1)
    return float(np.trapezoid(power, t))
