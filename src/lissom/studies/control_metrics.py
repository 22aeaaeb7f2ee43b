"""Metrics of comparisons of controllers: one number for each controller."""

from typing import Any, NamedTuple

import numpy as np

from .metric import SMALLEST, metric

CONTROL = "control"
WAS_OF_GAUGES = (
    "of a comparison it is now the largest strain of all beams; up to version 0.2.0 it was that of the gauges, "
    "which is gauge_strain"
)


class Comparison(NamedTuple):
    """The controllers of a comparison on one robot: their numbers, and why some have none."""

    first: str  # controller, the measure of all others
    numbers: dict[str, dict[str, Any]]  # by controller
    failures: dict[str, str]

    @property
    def reason(self) -> str:
        """Why controllers have no numbers; empty where all of them do."""
        return "; ".join(f"{name}: {why}" for name, why in self.failures.items())

    def number(self, request: Any, name: str) -> float:
        """A number of the table; NaN where the controller has none."""
        number = self.numbers.get(request.controller, {}).get(name)
        return float("nan") if number is None else float(number)


@metric(CONTROL, "m", "controller")
def residual_vibration(at: Comparison, request: Any) -> float:
    """Peak elastic displacement of the node about its rest, over five periods of the first mode after the motion."""
    return at.number(request, "residual")


@metric(CONTROL, "1", "controller")
def residual_share(at: Comparison, request: Any) -> float:
    """Residual vibration, in parts of that of the first controller."""
    first = at.numbers.get(at.first, {}).get("residual")
    return at.number(request, "residual") / first if first else float("nan")


@metric(CONTROL, "s", "controller")
def settling_time(at: Comparison, request: Any) -> float:
    """Time after the end of the motion from which the node stays near its rest; infinite where it does not."""
    numbers = at.numbers.get(request.controller)
    has_none = numbers is not None and numbers["settling"] is None
    return np.inf if has_none else at.number(request, "settling")


@metric(CONTROL, "s", "controller")
def finish_time(at: Comparison, request: Any) -> float:
    """Time from which all encoders stay near their ends."""
    return at.number(request, "finish")


@metric(CONTROL, "rad or m", "controller")
def tracking_rms(at: Comparison, request: Any) -> float:
    """Root mean square of the encoders' distance from the motion."""
    return at.number(request, "tracking_rms")


@metric(CONTROL, "rad or m", "controller")
def tracking_peak(at: Comparison, request: Any) -> float:
    """Largest distance of an encoder from the motion."""
    return at.number(request, "tracking_peak")


@metric(CONTROL, "rad or m", "controller")
def final_error(at: Comparison, request: Any) -> float:
    """Largest distance of an encoder from the end of the motion, at the end of the run."""
    return at.number(request, "end_error")


@metric(CONTROL, "m", "controller")
def line_error(at: Comparison, request: Any) -> float:
    """Largest distance of the node from the line that it is led along."""
    return at.number(request, "line_error")


@metric(CONTROL, "1", "controller", changed=WAS_OF_GAUGES)
def largest_strain(at: Comparison, request: Any) -> float:
    """Largest normal strain in the outer fibres of any beam."""
    return at.number(request, "largest_strain")


@metric(CONTROL, "1", "controller")
def gauge_strain(at: Comparison, request: Any) -> float:
    """Largest strain of the gauges of the comparison, at the outer fibre."""
    return at.number(request, "strain_peak")


@metric(CONTROL, "N m or N", "controller")
def torque_peak(at: Comparison, request: Any) -> float:
    """Largest torque of any joint."""
    return at.number(request, "torque_peak")


@metric(CONTROL, "N m or N", "controller")
def torque_rms(at: Comparison, request: Any) -> float:
    """Root mean square of the torques of all joints."""
    return at.number(request, "torque_rms")


@metric(CONTROL, "J", "controller")
def drive_energy(at: Comparison, request: Any) -> float:
    """Positive work of the drives over the whole run; what they take out again is lost."""
    return at.number(request, "energy")


@metric(CONTROL, "deg", "controller", worst=SMALLEST)
def phase_margin(at: Comparison, request: Any) -> float:
    """Phase margin of the loop at rest; none for continuous laws."""
    return at.number(request, "phase_margin_deg")


@metric(CONTROL, "1", "controller")
def sensitivity(at: Comparison, request: Any) -> float:
    """Largest singular value of the loop's sensitivity; none for continuous laws."""
    return at.number(request, "sensitivity")
