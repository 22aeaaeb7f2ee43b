"""Warnings about a run as a whole: speed of its nodes, balance of its energies."""

from collections.abc import Iterator

import numpy as np

from ...algebra.so3 import lengths
from ...describe.supported import DEFAULT_FORMULATION
from ...dynamics.formulation import AbstractFormulation
from ...types import Float
from .ordinary import SPEED, outside
from .validity_warning import ValidityWarning

# Energy error relative to the largest energy: a thousand times the default tolerance.
RESIDUAL = 1e-3
# Work over stored energy: a drive and a brake that fight each other, or a number with a wrong unit.
PROPORTION = 1e4
TIGHTEN = "Tighten solver.rtol"
# So many steps sum the work of a motion that takes a whole turn to 1e-5 and better.
LED_STEPS = 50
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


def energy_remedy(
    formulation: AbstractFormulation, terms: str, method: str, led: int, duration: float
) -> str:
    """What makes the energies of a run add up.

    Args:
        formulation: of the run.
        terms: of its equations; other ones than `consistent` do not conserve energy, however small the steps.
        method: of integration.
        led: number of joints that follow a motion.
        duration: of the run [s].
    """
    if terms != "consistent":
        return "The published terms omit some virtual work: use terms: consistent"
    advice = []
    if led < formulation.size:
        advice.append("tighten solver.rtol")
    if method != "radau":
        advice.append("use solver.method: radau")
    if led:
        step = duration / LED_STEPS
        advice.append(
            f"set solver.max_step, {step:.2g} s for example: the work of joints that follow a motion is summed over "
            "steps that the motion itself does not shorten"
        )
    has_weight = bool(np.any(np.asarray(formulation.gravity)))
    if has_weight and formulation.has_first_order_work:
        advice.append(
            f"use formulation: {DEFAULT_FORMULATION}: here weight does work along screws of first order"
        )
    text = ", or ".join(advice)
    return text[0].upper() + text[1:]


def energy_warnings(
    energy: Float[np.ndarray, "t 6"], remedy: str = TIGHTEN
) -> Iterator[ValidityWarning]:
    """Energies that do not add up, or that change hands out of all proportion.

    Columns: kinetic, strain, gravity, put in, dissipated, and the residual of their balance [J]. The `remedy` is that
    of energies that do not add up.
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
