"""Paths through points, timed as fast as the torques of the rigid robot allow [PhamPham2018].

Along a path q(s) the torques of the rigid robot are a(s) s'' + b(s) s'^2 + c(s): linear in s'' and s'^2.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array
from scipy.interpolate import CubicSpline

from jaxnative.compiled import compiled_quickly
from jaxnative.marks import vmap_rows

from ..dynamics.formulation import AbstractFormulation, on_branch_near
from ..solve.arguments import ModelLike, model_from
from ..solve.model import Model
from ..types import Float
from .design_error import DesignError
from .nominal import in_chunks, joint_motion, rigid_torque
from .optional_package import optional_package
from .references import PolynomialSignal
from .time_optimal import limit_of_each_joint

GRID = 200  # pieces of a path on which s'' is constant
TIGHTENINGS = (
    5  # times that limits are tightened where a torque passes them between two points
)
ROOM = 0.999  # part of the limits that is used after a tightening
CLOSE = 1e-9  # relative: a torque at its limit but for rounding


class TimedPath(NamedTuple):
    """A motion through points."""

    reference: PolynomialSignal
    torque_share: float  # largest torque of the rigid robot, in parts of its limit; zero without limits


class TorqueCoefficients(NamedTuple):
    """Torques along a path are a s'' + b s'^2 + c."""

    a: Float[np.ndarray, "p a"]
    b: Float[np.ndarray, "p a"]
    c: Float[np.ndarray, "p a"]


def through_points(
    model: ModelLike,
    rows: Any,
    *,
    torque: Any = None,
    speed: Any = None,
    acceleration: Any = None,
    pieces: int = GRID,
) -> TimedPath:
    """The fastest motion along the smooth path through rows of joint coordinates, at rest at its ends.

    Args:
        model: the robot; its links are taken as rigid.
        rows: of the actuated joints, or of all moving ones.
        torque: largest torque of each actuated joint [N m or N].
        speed: largest speed of each column [rad/s or m/s].
        acceleration: largest acceleration of each column [rad/s^2 or m/s^2].
        pieces: number of intervals into which the path is divided.

    Returns:
        `TimedPath`: the reference, and the largest share of the torque limits that it needs.

    Raises:
        DesignError: no motion keeps the limits, as where a pose cannot be held.

    Example:
        >>> import lissom as ls
        >>> rows = [[0.0, 0.3], [0.5, 0.5], [1.0, 0.0]]
        >>> motion = ls.through_points("double-pendulum", rows, speed=1.0, acceleration=5.0)
        >>> [f"{angle:.3f}" for angle in motion.reference.value(1e3)[:1]]
        ['1.000']
    """
    model = model_from(model)
    rows = np.asarray(rows, dtype=float)
    lengths = np.linalg.norm(np.diff(rows, axis=0), axis=1)
    marks = np.concatenate([[0.0], np.cumsum(lengths)])
    path = CubicSpline(marks, rows, bc_type="natural")
    s = np.unique(np.concatenate([np.linspace(0.0, marks[-1], pieces + 1), marks]))
    simple = _simple_limits(rows.shape[1], speed, acceleration)
    if torque is None:
        return TimedPath(_time_path(path, s, simple), 0.0)
    limit = limit_of_each_joint("torque", torque, len(model.actuated))
    along = torque_coefficients(model, path, s)
    used = limit
    for _ in range(TIGHTENINGS):
        reference = _time_path(path, s, [*simple, _torque_limits(along, used)])
        shares = np.max(np.abs(torques_along(model, reference)) / limit, axis=0)
        if np.all(shares <= 1 + CLOSE):
            return TimedPath(reference, float(shares.max()))
        used = ROOM * used / np.maximum(shares, 1.0)
    raise DesignError(
        f"between points of its path the motion needs {shares.max():.3g} of the limits",
        "reference.torque",
    )


def torque_coefficients(
    model: Model, path: CubicSpline, s: Float[np.ndarray, " p"]
) -> TorqueCoefficients:
    """A, b and c along a path, from three motions through each of its points."""
    places = joint_motion(model, _as_signal(path), s)[:, 0]
    slope, bend = (_of_all_joints(model, path(s, order)) for order in (1, 2))
    still = np.zeros_like(slope)
    c = _torques(model, places, still, still)
    a = _torques(model, places, still, slope) - c
    b = _torques(model, places, slope, bend) - c
    return TorqueCoefficients(a, b, c)


def torques_along(
    model: Model, reference: PolynomialSignal, per_piece: int = 4
) -> Float[np.ndarray, "t a"]:
    """Torques of the rigid robot along a motion, at and between its knots."""
    knots = np.asarray(reference.knots)
    # Just inside the pieces: the acceleration jumps at their ends.
    inside = np.linspace(1e-6, 1 - 1e-6, per_piece)
    times = (knots[:-1, None] + np.diff(knots)[:, None] * inside).ravel()
    motion = joint_motion(model, reference, times)
    return _torques(model, *np.swapaxes(motion, 0, 1))


def _simple_limits(columns: int, speed: Any, acceleration: Any) -> list[Any]:
    constraint = optional_package("toppra.constraint", "a motion through points")
    kinds = {
        "speed": (speed, constraint.JointVelocityConstraint),
        "acceleration": (acceleration, constraint.JointAccelerationConstraint),
    }
    limits = []
    for name, (values, kind) in kinds.items():
        if values is not None:
            bound = limit_of_each_joint(name, values, columns)
            limits.append(kind(np.stack([-bound, bound], axis=1)))
    return limits


def _torque_limits(along: TorqueCoefficients, limit: Float[np.ndarray, " a"]) -> Any:
    """The limits of torque as the timing takes them."""
    constraint = optional_package("toppra.constraint", "a motion through points")
    both = np.concatenate([np.eye(len(limit)), -np.eye(len(limit))])

    class TorqueLimits(constraint.LinearConstraint):
        def __init__(self):
            super().__init__()
            self.identical = True

        def compute_constraint_params(self, path, gridpoints):
            bound = np.tile(limit, 2)
            # At both ends of a piece, where one s'' acts: torques jump from piece to piece.
            return constraint.canlinear_colloc_to_interpolate(
                *along, both, bound, None, None, gridpoints, identical=True
            )

    return TorqueLimits()


def _time_path(path: CubicSpline, s: Float[np.ndarray, " p"], limits) -> Any:
    """The motion along the path, its speed from point to point of s as large as the limits allow."""
    toppra = optional_package("toppra", "a motion through points")
    algorithm = optional_package("toppra.algorithm", "a motion through points")
    line = toppra.SplineInterpolator(path.x, path(path.x), bc_type="natural")
    timing = algorithm.TOPPRA(limits, line, gridpoints=s)
    _, speed, _ = timing.compute_parameterization(0.0, 0.0)
    if speed is None or not np.all(np.isfinite(speed)):
        raise DesignError(
            "no motion through these points satisfies the limits. Raise the limits of "
            "torque (the weight alone may exceed them), or move the points.",
            "reference",
        )
    return _compose(path, s, np.asarray(speed))


def _compose(path: CubicSpline, s, speed) -> PolynomialSignal:
    """Polynomials in time: between two points s'' is constant, and q is a cubic in s."""
    coefficients = []
    widths = []
    for k, way in enumerate(np.diff(s)):
        before, after = speed[k], speed[k + 1]
        acceleration = (after**2 - before**2) / (2 * way)
        widths.append(2 * way / (before + after))
        middle = s[k] + way / 2
        third = path(middle, 3)
        second = path(middle, 2) - third * way / 2
        cubic = (path(s[k]), path(s[k], 1), second / 2, third / 6)
        coefficients.append(_in_time(cubic, before, acceleration))
    knots = np.concatenate([[0.0], np.cumsum(widths)])
    return PolynomialSignal(knots, np.array(coefficients))


def _in_time(cubic, speed: float, acceleration: float) -> Float[np.ndarray, "7 c"]:
    """Coefficients of sum_k c_k (speed t + acceleration t^2 / 2)^k, lowest power first."""
    way = np.array([0.0, speed, acceleration / 2])
    power = np.ones(1)
    total = np.zeros((7, len(cubic[0])))
    for c in cubic:
        total[: len(power)] += np.outer(power, c)
        power = np.convolve(power, way)
    return total


def _as_signal(path: CubicSpline) -> PolynomialSignal:
    """The path with s in place of time."""
    return PolynomialSignal(path.x, np.moveaxis(path.c[::-1], 1, 0))


def _of_all_joints(model: Model, columns: Float[np.ndarray, "p c"]) -> np.ndarray:
    """Columns of the actuated joints among those of all moving ones."""
    if columns.shape[1] == model.n_joints:
        return columns
    whole = np.zeros((len(columns), model.n_joints))
    whole[:, list(model.actuated)] = columns
    return whole


def _torques(model: Model, q, qd, qdd) -> Float[np.ndarray, "p a"]:
    rows = np.stack([q, qd, qdd], axis=1)
    f = model.formulation
    return np.asarray(in_chunks(lambda part: _rigid_torques(f, part), rows))


@compiled_quickly
def _rigid_torques(
    f: AbstractFormulation, rows: Float[Array, "p 3 j"]
) -> Float[Array, "p a"]:
    def one(row):
        q, qd, qdd = row
        return rigid_torque(on_branch_near(f, q), q, qd, qdd)

    return vmap_rows(one)(rows)
