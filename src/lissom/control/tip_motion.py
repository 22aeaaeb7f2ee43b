"""Straight lines of the tip: joint motions that lead a node along a line."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..solve.arguments import ModelLike, model_from
from ..solve.inverse_kinematics import UnreachableError, inverse_kinematics
from ..solve.model import Model
from .profiles import PROFILES
from .references import PolynomialSignal, spline_through

KNOTS = 61  # poses along a line: a spline through them leaves it by the fourth power of their distance


class TipLine(NamedTuple):
    """A motion of all moving joints, and how far it leaves the line between its knots [m]."""

    reference: PolynomialSignal
    deviation: float


def tip_line(
    model: ModelLike,
    start: Any,
    target: Any,
    duration: float,
    *,
    profile: str = "quintic",
    node: str | None = None,
    begin: float = 0.0,
    knots: int = KNOTS,
) -> TipLine:
    """The motion of the joints that leads a node on a straight line, at rest at both ends.

    Args:
        model: the robot; its links are taken as rigid.
        start: joint coordinates at the beginning.
        target: position at the end, world axes [m].
        duration: of the motion [s].
        profile: `quintic`, `cycloidal`, `trapezoid` or `s-curve`.
        node: default the last link's tip.
        begin: time at which the motion begins [s].
        knots: poses that are computed.

    Returns:
        `TipLine`: the reference of all moving joints, and how far the node leaves the line between the knots [m].

    Raises:
        UnreachableError: part of the line is out of reach.

    Example:
        >>> import lissom as ls
        >>> line = ls.tip_line("double-pendulum", [0.3, 0.3], [0.6, 0.4, 0.0], duration=1.0)
        >>> bool(line.deviation < 1e-5)
        True
    """
    model = model_from(model)
    q = np.asarray(model.assemble(start), dtype=float)
    first = np.asarray(model.fkine(q, frame=node))[:3, 3]
    last = np.asarray(target, dtype=float)
    tau = np.linspace(0.0, 1.0, knots)
    s = np.asarray(jax.vmap(PROFILES[profile].at)(jnp.asarray(tau)).s)
    rows = [q]
    for share in s[1:]:
        # From the pose before: the arm does not change its posture on the way.
        place = first + share * (last - first)
        try:
            q = inverse_kinematics(model, place, node=node, start=q)
        except UnreachableError as failure:
            raise _leaving(share, place, failure) from None
        rows.append(q)
    times = begin + duration * tau
    reference = spline_through(times.tolist(), rows)
    return TipLine(reference, _deviation(model, reference, times, first, last, node))


def _leaving(share: float, place: np.ndarray, failure: UnreachableError):
    """The refusal of a line that leaves the reach of the robot, with the place where it does."""
    x, y, z = place
    text = f"after {100 * share:.3g} % of its way, at ({x:.4g}, {y:.4g}, {z:.4g}) m, the line is {failure}"
    return UnreachableError(text, failure.q)


def _deviation(model: Model, reference, times, first, last, node) -> float:
    """Largest distance from the line in the middle between the knots."""
    along = last - first
    length = np.linalg.norm(along)
    direction = along / length if length else along
    worst = 0.0
    for t in 0.5 * (times[1:] + times[:-1]):
        q = np.asarray(reference.value(t))
        away = np.asarray(model.fkine(q, frame=node))[:3, 3] - first
        worst = max(worst, np.linalg.norm(away - direction * (direction @ away)))
    return float(worst)
