"""Modes over the workspace: a grid of joint positions, joint speeds or data of the robot, a motion, or polynomials."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..algebra.taylor import SeriesError
from ..analyse.linear.linear_feedback import LOCKED_GAINS
from ..analyse.linear.linear_sequence import motion_of
from ..analyse.modes.map_axis import MapAxis
from ..analyse.modes.mode_map import ModeMap, mode_map
from ..analyse.polynomials.eigenseries import RepeatedEigenvalueError
from ..analyse.polynomials.expansion import AccuracyError
from ..analyse.polynomials.mode_polynomials import ModePolynomials
from ..analyse.polynomials.parametric_modes import parametric_modes
from ..describe import DescriptionError, Robot
from ..describe.defaults import FOLLOWED_MODES
from ..dynamics.formulation import on_branch_near
from ..files.errors import refuse_idle, refused
from ..parameters import (
    Accuracy,
    Along,
    AxesInDegrees,
    Damped,
    DerivativeGains,
    FollowedModes,
    Frozen,
    Locked,
    MapAxes,
    Order,
    Pose,
    ProportionalGains,
)
from ..solve.arguments import ModelLike, model_from
from ..solve.model import Model, UndefinedReferenceError
from .failures import AnalysisError
from .result_files import loaded_run
from .sources import is_result

MOST_POINTS = 100_000
MOST_INSTANTS = 200  # along a run: more would cost time and add nothing
GRID = "must be NAME=START:STOP:POINTS, such as upper=-1.5:1.5:31"
RANGE = "must be NAME=START:STOP with START < STOP, such as upper=-1.5:1.5"


def map_modes(
    model: ModelLike,
    pose: Pose = None,
    *,
    over: MapAxes = (),
    along: Along = None,
    locked: Locked = False,
    damped: Damped = False,
    frozen: Frozen = False,
    kp: ProportionalGains = None,
    kd: DerivativeGains = None,
    count: FollowedModes = FOLLOWED_MODES,
    polynomial: Order = None,
    accuracy: Accuracy = None,
    degrees: AxesInDegrees = False,
    watch: Callable[..., None] = lambda share, remark="": None,
) -> ModeMap | ModePolynomials:
    """Modes over a grid, along a run, or as polynomials over ranges; `mode_map` takes arrays of any motion.

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        pose: joint coordinates of the joints that no axis moves [rad or m].
        over: `MapAxis` of each quantity that varies.
        along: result file of a run, along whose motion modes are followed instead.
        locked: hold every joint.
        damped: damping, friction and gyroscopic terms in; always so where joints move.
        frozen: where joints move, eigenvalues of the frozen-time system.
        kp: proportional gains of a joint controller [N m/rad or N/m].
        kd: its derivative gains [N m s/rad or N s/m].
        count: modes that are followed.
        polynomial: order of polynomials over the ranges of `over`, instead of a grid.
        accuracy: relative error of the frequencies within which polynomials stay, instead of their order.
        degrees: axes of revolute joints are in degrees.
        watch: called with the share of the work that is done.

    Returns:
        A `ModeMap`, or `ModePolynomials` where an order or an accuracy is given.

    Raises:
        DescriptionError: nothing to map over, an axis that the robot does not have, or a run of another robot.
        AnalysisError: polynomials do not reach the accuracy.

    Example:
        >>> import lissom as ls
        >>> axis = ls.MapAxis("rod", 0.0, 1.0, 3)
        >>> ls.map_modes("simple-pendulum", over=[axis], locked=True, count=2).frequency_hz.shape
        (3, 2)
    """
    model = model_from(model)
    if polynomial is not None or accuracy is not None:
        why = "polynomials are of the robot alone, at rest and undamped, over ranges: leave this out"
        refuse_idle(
            map_modes, why, along=along, frozen=frozen, damped=damped, kp=kp, kd=kd
        )
        return _polynomials(
            model, pose, over, polynomial, accuracy, locked, count, degrees
        )
    if bool(over) == (along is not None):
        message = (
            "say over what: --over upper=-1.5:1.5:31 (once or more), or --along RUN.nc"
        )
        raise refused("over", None, message)
    if locked:
        refuse_idle(map_modes, LOCKED_GAINS, kp=kp, kd=kd)
    if along is not None:
        why = "the joints move as in the result: leave this out"
        refuse_idle(map_modes, why, pose=pose, degrees=degrees)
        points = _recorded_points(model, along)
    else:
        model = _on_branch(model, pose)
        points = _grid_points(model, over, pose, degrees)
    if points.qd is None:
        why = "no joint moves here: vary a speed (--over upper=0:2:5 is a position, upper.speed=0:2:5 a speed)"
        refuse_idle(map_modes, why, frozen=frozen)
    return mode_map(
        model,
        **points._asdict(),
        locked=locked,
        damped=damped,
        frozen=frozen,
        kp=kp,
        kd=kd,
        count=count,
        progress=False,
        watch=watch,
    )


def _polynomials(
    model: Model,
    pose: Any,
    over: Sequence[MapAxis],
    order: int | None,
    accuracy: float | None,
    locked: Locked,
    count: int,
    degrees: bool,
) -> ModePolynomials:
    if not over:
        message = "say over what: --over upper=-1.5:1.5 (once or more)"
        raise refused("over", None, message)
    ranges = ranges_of(model.robot, over, degrees)
    try:
        return parametric_modes(
            model,
            list(ranges),
            order=order,
            over=ranges,
            accuracy=accuracy,
            q=None if pose is None else list(pose),
            count=count,
            locked=locked,
        )
    except (AccuracyError, RepeatedEigenvalueError, SeriesError) as failure:
        raise AnalysisError(str(failure)) from None
    except (DescriptionError, UndefinedReferenceError):
        raise
    except ValueError as failure:
        # All others are names and ranges that do not fit the robot.
        raise refused("over", None, str(failure)) from None


def ranges_of(
    robot: Robot, over: Sequence[MapAxis], degrees: bool
) -> dict[str, tuple[float, float]]:
    """Ranges by name; with `degrees`, those of revolute joints are in degrees."""
    ranges = {}
    kinds = {link.name: link.joint.type for link in robot.links}
    for axis in over:
        if not axis.start < axis.stop:
            raise refused("over", str(axis), RANGE)
        turns = kinds.get(axis.name.partition(".")[0]) == "revolute"
        factor = np.pi / 180 if degrees and turns else 1.0
        ranges[axis.name] = (factor * axis.start, factor * axis.stop)
    return ranges


class _Points(NamedTuple):
    """Arguments of `mode_map`: joint motions, changed data of the robot, and the axes of the map."""

    q: np.ndarray
    qd: np.ndarray | None
    qdd: np.ndarray | None
    changes: dict[str, np.ndarray] | None
    axes: dict[str, np.ndarray]


def _on_branch(model: Model, pose: Sequence[float] | None) -> Model:
    """The model; a closed chain starts on the branch of this pose."""
    if not model.closed:
        return model
    theta = model.assemble(pose)
    return model.with_formulation(on_branch_near(model.formulation, theta))


def _grid_points(
    model: Model, over: Sequence[MapAxis], start: Any, degrees: bool
) -> _Points:
    """All combinations of the values on the axes."""
    robot = model.robot
    _check_axes(over)
    _check_independent(model, over)
    pose: Any = start or (0.0,) * len(robot.joint_names)
    if model.closed:
        pose = np.full(len(robot.joint_names), np.nan)
        independent = list(model.formulation.independent)
        # Dependent joints follow: the map continues them from point to point.
        pose[independent] = np.asarray(model.assemble())[independent]
    values = [axis.values for axis in over]
    grids = np.meshgrid(*values, indexing="ij")
    shape = grids[0].shape
    # Every point starts from the pose; the axes then overwrite what they vary.
    q = np.tile(np.asarray(pose, dtype=float), (*shape, 1))
    qd = np.zeros(q.shape)
    changes: dict[str, np.ndarray] = {}
    axes: dict[str, np.ndarray] = {}
    kinds = {link.name: link.joint.type for link in robot.links if link.joint.moves}
    for axis, grid in zip(over, grids, strict=True):
        owner, _, quantity = axis.name.rpartition(".")
        if axis.name in kinds:
            unit, factor = _unit(kinds[axis.name], degrees)
            q[..., robot.joint_names.index(axis.name)] = factor * grid
            axes[f"{axis.name} [{unit}]"] = axis.values
        elif quantity == "speed" and owner in kinds:
            unit, factor = _unit(kinds[owner], degrees)
            qd[..., robot.joint_names.index(owner)] = factor * grid
            axes[f"{owner} speed [{unit}/s]"] = axis.values
        else:
            _check_key(robot, axis)
            changes[axis.name] = grid
            axes[axis.name] = axis.values
    # A robot at rest has real modes, a moving one complex ones: zero speeds mean rest.
    moving = bool(np.any(qd))
    return _Points(q, qd if moving else None, None, changes or None, axes)


def _unit(kind: str, degrees: bool) -> tuple[str, float]:
    """Unit of a joint's axis, and the factor that makes rad or m of it."""
    if kind != "revolute":
        return "m", 1.0
    return ("deg", np.pi / 180) if degrees else ("rad", 1.0)


def _check_axes(axes: Sequence[MapAxis]) -> None:
    """Refuse a quantity that is given twice, and grids too large for the memory."""
    names = [axis.name for axis in axes]
    for k, axis in enumerate(axes):
        if axis.points is None:
            raise refused("over", str(axis), GRID)
        if axis.name in names[:k]:
            raise refused("over", axis.name, "is given twice")
    # Counted with whole numbers of any size: those of NumPy overflow.
    count = math.prod(axis.points or 1 for axis in axes)
    if count > MOST_POINTS:
        text = " ".join(str(axis) for axis in axes)
        message = f"{count} points, at most {MOST_POINTS}: take fewer along each axis"
        raise refused("over", text, message)


def _check_independent(model: Model, axes: Sequence[MapAxis]) -> None:
    """Refuse joints of a closed chain that follow from others."""
    for axis in axes:
        joint = axis.name.removesuffix(".speed")
        if joint in model.joint_names and joint not in model.independent_names:
            others = ", ".join(model.independent_names)
            message = (
                f"{joint} follows from {others} in this closed chain: vary {others}, or make {joint} independent "
                f"(--set robot.independent=[{joint}])"
            )
            raise refused("over", axis.name, message)


def _check_key(robot: Robot, axis: MapAxis) -> None:
    """Refuse a key that is neither a joint nor in the robot, before anything is computed."""
    try:
        robot.replace({axis.name: axis.start})
    except DescriptionError as failure:
        joints = ", ".join(f"{name}, {name}.speed" for name in robot.joint_names)
        reason = failure.problems[0].message
        message = f"is neither a joint ({joints}) nor a key of the robot with a number: {reason}"
        raise refused("over", axis.name, message) from None


def _recorded_points(model: Model, path: str) -> _Points:
    """Output times of a run, evenly thinned out where there are many."""
    if not is_result(path):
        raise refused("along", path, "is not a result file of `lissom simulate -o`")
    run = loaded_run(path)
    if list(run.data["joint"].values) != list(model.joint_names):
        raise refused("along", path, "is a run of another robot")
    t, motion = motion_of(model, run)
    every = max(1, len(t) // MOST_INSTANTS)
    q, qd, qdd = (part[::every] for part in motion)
    axes = {"time [s]": t[::every]}
    return _Points(q, qd, qdd, None, axes)
