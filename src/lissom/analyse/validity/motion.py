"""Warnings about a run as a whole: speed of its nodes, balance of its energies."""

from collections.abc import Iterator

import numpy as np

from ...algebra.so3 import lengths
from ...types import Float
from .ordinary import SPEED, outside
from .validity_warning import ValidityWarning

# Energy error relative to the largest energy: a thousand times the default tolerance.
RESIDUAL = 1e-3
# Work over stored energy: a drive and a brake that fight each other, or a number with a wrong unit.
PROPORTION = 1e4
# [J] Energies below this are not compared.
NO_ENERGY = 1e-12


def speed_warnings(
    position: Float[np.ndarray, "t n 3"], t: np.ndarray, names: tuple[str, ...]
) -> Iterator[ValidityWarning]:
    """A node that is faster than machines are, by its way between two output times: it is at least that fast."""
    if len(t) < 2:
        return
    ways = position[1:] - position[:-1]
    steps = t[1:] - t[:-1]
    # Most robots are far slower, as the longest side of any way shows; what is no number is no answer.
    longest = max(float(ways.max()), -float(ways.min()))
    if np.sqrt(3.0) * longest <= SPEED.high * float(steps.min()):
        return
    # What is too far for a double is infinitely far.
    with np.errstate(over="ignore"):
        farthest = (ways * ways @ np.ones(3)).max(axis=1)
    row = int(np.argmax(np.sqrt(farthest) / steps))
    speed = lengths(ways[row]) / steps[row]
    yield from fast_node(speed, names, f" at {t[row]:.4g} s")


def fast_node(
    speed: Float[np.ndarray, " n"], names: tuple[str, ...], moment: str = ""
) -> Iterator[ValidityWarning]:
    """A warning about the fastest of all nodes, if it is faster than machines are."""
    node = int(np.argmax(speed))
    about = f"node {names[node]}"
    yield from outside(about, f"its speed{moment}", float(speed[node]), SPEED)


def energy_warnings(
    energy: Float[np.ndarray, "t 6"], consistent: bool = True
) -> Iterator[ValidityWarning]:
    """Energies that do not add up, or that change hands out of all proportion.

    Columns: kinetic, strain, gravity, put in, dissipated, and the residual of their balance [J]. Equations of motion
    whose terms are not `consistent` do not conserve energy, however small the steps.
    """
    columns = np.ascontiguousarray(energy.T)
    first, low, high = columns[:, 0], columns.min(axis=1), columns.max(axis=1)
    change = np.maximum(high - first, first - low)
    magnitude = np.maximum(high, -low)
    stored = float(max(change[:3].max(), high[:2].max()))
    work = float(magnitude[3:5].max())
    in_play = max(stored, work)
    if in_play < NO_ENERGY:
        return
    residual = float(magnitude[5]) / in_play
    if not residual <= RESIDUAL:
        message = (
            f"energy error {100 * residual:.2g} % (accepted: {100 * RESIDUAL:g} %)"
        )
        remedy = "Tighten solver.rtol, or use solver.method: radau"
        if not consistent:
            remedy = "The published terms omit some virtual work: use terms: consistent"
        yield ValidityWarning(
            "energy balance", "run", message, residual, RESIDUAL, remedy
        )
    proportion = work / max(stored, NO_ENERGY)
    if not proportion <= PROPORTION:
        message = (
            f"{work:.3g} J are put in or dissipated, {proportion:.2g} times the largest "
            f"stored energy of {stored:.3g} J (accepted: {PROPORTION:g} times)"
        )
        remedy = "Look for a drive that works against a brake: gains, friction, damping"
        yield ValidityWarning(
            "energy exchange", "run", message, proportion, PROPORTION, remedy
        )
