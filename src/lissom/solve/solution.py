"""Result of a run: states on its output grid, counts of steps and how it ended. Pure numbers, a pytree."""

from typing import Any

import equinox as eqx

from ..types import RESULTS, Float, Real
from .feedback import ControlState
from .step import Moment


class Counts(eqx.Module):
    """Counts of the march: steps, rejected steps, evaluations."""

    steps: Any
    rejected: Any
    evaluations: Any  # of residuals or right-hand sides


class Segment(eqx.Module):
    """Part of a run with one choice of independent joints: closed chains change it at dead points."""

    independent: tuple[int, ...] = eqx.field(static=True)
    row: int = eqx.field(static=True)  # of the output grid, where it begins
    time: float = eqx.field(static=True)  # [s]


class Solution(eqx.Module):
    """A run on its output grid: times, states, work, counts and how it ended.

    The first `filled` rows are valid; where a run stopped early, the rest is NaN. The runs of a family have a leading
    axis, and the output times in common.
    """

    t: Float[Real, " t"]  # output times [s]
    x: Float[Real, "*runs t n"]  # coordinates: joints first, then elastic ones
    xd: Float[Real, "*runs t n"]
    work: Float[Real, "*runs t 2"]  # put in, and dissipated, since the start [J]
    joints: Float[Real, "*runs t j"]  # coordinates of all moving joints
    command: Float[Real, "*runs t a"]  # held by a sampled law; no columns without one
    filled: Any
    counts: Counts
    result: RESULTS
    last: Moment  # how far it got
    last_joints: Float[Real, "*runs j"]  # coordinates of all moving joints there
    control: ControlState | None  # of a sampled law, at the end
    segments: tuple[Segment, ...]
