"""Lines of the physics table, and the other program's numbers."""

import csv
from importlib import resources
from typing import Any

import numpy as np

UNEXPLAINED = "not known"


def row(
    check: str,
    source: str,
    known: Any,
    ours: Any,
    unit: str,
    tolerance: float,
    relative: bool = False,
    reason: str | None = None,
) -> dict[str, Any]:
    """One line: largest difference of the values, against the tolerance it has to keep.

    `reason` says why the values differ, where that is known; a line that agrees holds none.
    """
    known = np.atleast_1d(np.asarray(known, dtype=float))
    ours = np.atleast_1d(np.asarray(ours, dtype=float))
    gap = np.abs(ours - known)
    if relative:
        gap = gap / np.abs(known)
    largest = float(gap.max())
    # Asked this way round, NaN does not agree.
    agrees = bool(largest <= tolerance)
    return {
        "check": check,
        "source": source,
        "known": known.tolist(),
        "ours": ours.tolist(),
        "unit": unit,
        "difference": largest,
        "tolerance": tolerance,
        "relative": relative,
        "agrees": agrees,
        "reason": None if agrees else reason or UNEXPLAINED,
    }


def bound(
    check: str, source: str, limit: float, ours: float, unit: str
) -> dict[str, Any]:
    """One line: a number that must stay below a limit."""
    return row(check, source, 0.0, ours, unit, limit)


def keypoints(case: str, model: str) -> dict[float, list[float]]:
    """Tip positions [m] of the other program by time [s]: case `inplane` or `spatial`, model `FFRF` or `GE`."""
    text = resources.files(__package__ or "").joinpath("keypoints.csv").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    points = {}
    for entry in csv.DictReader(lines):
        if entry["case"] == case and entry["model"] == model:
            points[float(entry["t"])] = [float(entry[axis]) for axis in "xyz"]
    return points
