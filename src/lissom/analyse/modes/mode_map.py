"""Modes over poses, payloads, speeds, or along a motion: followed from point to point by their shapes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.optimize
from jaxtyping import Float

from ...algebra.eigen import modal_assurance, symmetric_modes
from ...atomic import write_atomically
from ...compilation import compiled_quickly
from ...dynamics.formulation import AbstractFormulation, near
from ...dynamics.nodes import node_poses
from ...solve.balance import balanced_point, left_over
from ...solve.family import Family
from ...solve.model import Model
from ..linear.linear_feedback import LinearFeedback, joint_feedback
from ..linear.linear_sequence import chunks, row_of
from ..linear.linearize import (
    Derivatives,
    derivatives,
    locked_derivatives,
    require_balance,
)
from .complex_modes import RIGID_RATE, quadratic_modes

CHUNK = 16  # points computed at a time, side by side
SPARE = 3  # times as many modes are looked at as are asked for, and ten: one that comes from above is found
FOLLOWED = 0.5  # MAC below which a mode counts as lost


@dataclass(frozen=True)
class ModeMap:
    """Frequencies and damping of m modes over a grid of points; a mode keeps its number through crossings."""

    frequency_hz: Float[np.ndarray, "*grid m"]  # |lambda| / (2 pi)
    damping_ratio: Float[np.ndarray, "*grid m"]
    # Largest real part of lambda [1/s]: above 0 the motion is unstable.
    growth: Float[np.ndarray, "*grid m"]
    # Likeness to the neighbouring point from which the mode was followed.
    mac: Float[np.ndarray, "*grid m"]
    rigid: np.ndarray  # number of rigid motions at each point
    q: Float[np.ndarray, "*grid j"]
    qd: Float[np.ndarray, "*grid j"]
    torque: Float[np.ndarray, "*grid j"]  # that hold the motion
    tip: Float[np.ndarray, "*grid 3"]  # position of the last link's tip [m]
    shapes: np.ndarray  # (*grid, n, m), mass-normalised
    names: tuple[str, ...]  # of the n coordinates
    # What varies along each axis of the grid.
    axes: dict[str, np.ndarray] = field(default_factory=dict)
    robot: str = ""
    damped: bool = False
    locked: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """Points along each axis of the grid."""
        return self.frequency_hz.shape[:-1]

    @property
    def lost(self) -> np.ndarray:
        """Where a mode was not recognised: MAC below 0.5; a finer grid may help."""
        return self.mac < FOLLOWED

    def save(self, path: Any) -> Any:
        """Write everything as `.npz`, full precision."""
        if not str(path).lower().endswith(".npz"):
            raise ValueError(f"{path}: the name must end in .npz")
        arrays: dict[str, Any] = {}
        for key, value in self.__dict__.items():
            if key not in ("axes", "names"):
                arrays[key] = np.asarray(value)
        for k, values in enumerate(self.axes.values()):
            arrays[f"axis_{k}"] = values
        axis_names = list(self.axes)
        arrays["names"] = np.array(self.names, dtype=str)
        arrays["axis_names"] = np.array(axis_names, dtype=str)
        return write_atomically(path, lambda file: np.savez_compressed(file, **arrays))


class LinearPoint(eqx.Module):
    """What is computed side by side at every point of the grid."""

    slopes: Derivatives
    tau: Any  # torques that hold the motion
    left_over: Any  # share of the forces that is not balanced
    nodes: Any  # positions of the nodes of the last link


def linear_point(
    f: AbstractFormulation, q, qd, qdd, feedback: LinearFeedback | None
) -> LinearPoint:
    """Balance and derivatives at one point; pure and without LAPACK, to be batched."""
    # A closed chain stays on the branch of its own point.
    f = near(f, q)
    point = balanced_point(f, q, qd, qdd)
    place = f.configuration(point.x)
    return LinearPoint(
        slopes=derivatives(f, point, (), (), feedback),
        tau=point.tau,
        left_over=left_over(f, point),
        nodes=node_poses(f, place).position[-1],
    )


@compiled_quickly
def _over_poses(f, q, qd, qdd, feedback) -> LinearPoint:
    """One robot at many points."""
    batched = jax.vmap(linear_point, in_axes=(None, 0, 0, 0, None))
    return batched(f, q, qd, qdd, feedback)


@compiled_quickly
def _over_robots(f, q, qd, qdd, feedback) -> LinearPoint:
    """Another robot at every point: the arrays of f have a leading axis."""
    batched = jax.vmap(linear_point, in_axes=(0, 0, 0, 0, None))
    return batched(f, q, qd, qdd, feedback)


def mode_map(
    model: Model,
    q: Any = None,
    *,
    qd: Any = None,
    qdd: Any = None,
    changes: Mapping[str, Any] | None = None,
    locked: bool = False,
    damped: bool = False,
    kp: Any = None,
    kd: Any = None,
    count: int = 6,
    axes: Mapping[str, Any] | None = None,
    watch: Callable[[float], None] = lambda share: None,
) -> ModeMap:
    """Modes over a grid of poses, speeds, payloads or other data of the robot, or along a motion.

    At every point the links are in quasi-static balance with the motion (q, qd, qdd). All points are computed side by
    side; modes are then followed from each point to the next by the likeness of their shapes (MAC, best assignment), so
    that a mode keeps its number where frequencies cross.

    Args:
        model: the robot.
        q: joint coordinates (*grid, j); zero by default.
        qd: joint speeds, in the shape of q or to be repeated.
        qdd: joint accelerations.
        changes: data of the robot that vary over the grid, by their key: `{"payload.mass": masses}`.
        locked: hold every joint.
        damped: damping, friction and gyroscopic terms in; always so where joints move.
        kp: proportional gains of a joint controller.
        kd: its derivative gains.
        count: modes, the lowest at the first point of the grid; rigid motions are counted, not followed.
        axes: names and values of what varies along each axis of the grid, for plots and files.
        watch: called with the share of the work done.

    Raises:
        EquilibriumError: the links find no balance at a point.
    """
    feedback = joint_feedback(model, kp, kd)
    grid, motion = grid_of(model, q, qd, qdd, changes)
    moves = any(np.any(part) for part in motion[1:])
    damped = damped or moves
    # More modes than asked for: one that sinks below others along the grid is still found.
    several = SPARE * count + 10
    family = _family_over(model, changes, grid) if changes else None
    points: list[PointModes] = []
    for at, here in _linear_points(model, family, motion, feedback, watch):
        require_balance(float(here.left_over), f"near q = {at.tolist()}")
        points.append(_modes_at(model, here, locked, damped, several))
    axes = dict(axes or {})
    return _mode_map(model, grid, motion, points, count, axes, damped, locked)


def _family_over(
    model: Model, changes: Mapping[str, Any], grid: tuple[int, ...]
) -> Family:
    """The robots at the points of the grid."""
    over_grid = {}
    for path, value in changes.items():
        values = np.asarray(value, dtype=float)
        over_grid[path] = np.broadcast_to(values, grid)
    return Family(model, over_grid)


def _linear_points(
    model: Model,
    family: Family | None,
    motion: list[np.ndarray],
    feedback: LinearFeedback | None,
    watch: Callable[[float], None],
) -> Iterator[tuple[np.ndarray, LinearPoint]]:
    """Joint coordinates of every point, and what was computed there."""
    total = len(motion[0])
    for start, rows in chunks(total, CHUNK):
        q, qd, qdd = (jnp.asarray(part[rows]) for part in motion)
        if family is None:
            answer = _over_poses(model.formulation, q, qd, qdd, feedback)
        else:
            answer = _over_robots(family.take(rows), q, qd, qdd, feedback)
        answer = jax.tree.map(np.asarray, answer)
        for k in range(min(CHUNK, total - start)):
            yield motion[0][start + k], row_of(answer, k)
        watch(min(start + CHUNK, total) / total)


def grid_of(
    model: Model, q, qd, qdd, changes
) -> tuple[tuple[int, ...], list[np.ndarray]]:
    """Shape of the grid, and q, qd, qdd at every point of it in a row."""
    j = model.n_joints
    parts = []
    for name, value in (("q", q), ("qd", qd), ("qdd", qdd)):
        part = np.zeros(j)
        if value is not None:
            part = np.asarray(value, dtype=float)
        if part.shape[-1:] != (j,):
            names = ", ".join(model.joint_names)
            raise ValueError(
                f"{name} must have {j} values at each point, one for each joint ({names}), got {part.shape}"
            )
        parts.append(part)
    shapes = [part.shape[:-1] for part in parts]
    changes = changes or {}
    shapes += [np.shape(value) for value in changes.values()]
    grid = np.broadcast_shapes(*shapes) or (1,)
    motion = []
    for part in parts:
        over_grid = np.broadcast_to(part, (*grid, j))
        motion.append(over_grid.reshape(-1, j))
    if model.closed:
        motion[0] = _assembled(model, motion[0], q is None)
    return grid, motion


def _assembled(model: Model, rows: np.ndarray, as_built: bool) -> np.ndarray:
    """Joint coordinates with the loops closed at every point; `as_built`, those of the assembled robot."""
    closed = []
    for row in rows:
        theta = model.assemble(None if as_built else row)
        closed.append(np.asarray(theta))
    return np.stack(closed)


@dataclass(frozen=True)
class PointModes:
    """Modes at one point that are not rigid motions."""

    size: np.ndarray  # |lambda|, or omega of an undamped mode [rad/s]
    ratio: np.ndarray  # damping ratio; -1 for a motion that grows without vibration, 1 for one that decays so
    growth: np.ndarray  # real part of lambda [1/s]
    shapes: np.ndarray  # over all coordinates, mass-normalised
    weight: np.ndarray  # of each coordinate in a comparison of shapes: its own inertia
    rigid: int  # number of rigid motions
    torque: np.ndarray
    tip: np.ndarray


def _modes_at(
    model: Model, here: LinearPoint, locked: bool, damped: bool, count: int
) -> PointModes:
    """The lowest modes at a point, in order of their size."""
    slopes = here.slopes
    M = slopes.matrices.M
    basis = np.eye(len(M))
    if locked:
        slopes, locking = locked_derivatives(slopes, model.formulation.independent)
        basis = locking.B
    solve = _damped if damped else _undamped
    size, ratio, growth, phi = solve(*slopes.matrices[:3])
    rigid = size < RIGID_RATE
    chosen = np.flatnonzero(~rigid)[:count]
    tip = model.node_index[-1][1]
    return PointModes(
        size=size[chosen],
        ratio=ratio[chosen],
        growth=growth[chosen],
        shapes=basis @ phi[:, chosen],
        weight=np.diag(M),
        rigid=int(rigid.sum()),
        torque=here.tau,
        tip=here.nodes[tip],
    )


def _damped(M, C, K):
    """Size, damping ratio, growth and vectors of the damped modes."""
    modes = quadratic_modes(M, C, K)
    lam = np.asarray(modes.eigenvalue)
    size = np.abs(lam)
    growth = np.real(lam)
    ratio = -growth / np.maximum(size, 1e-12)
    # Without vibration there is no ratio: 1 stands for decay, -1 for growth.
    ratio = np.where(np.imag(lam) > 0, ratio, -np.sign(growth))
    return size, ratio, growth, modes.right


def _undamped(M, C, K):
    """Size, damping ratio, growth and vectors of the undamped modes, damping to first order."""
    squares, phi = symmetric_modes(K, M)
    order = np.argsort(np.abs(squares))
    squares = squares[order]
    phi = phi[:, order]
    size = np.sqrt(np.abs(squares))
    damping = np.einsum("im,ij,jm->m", phi, C, phi)
    ratio = damping / np.maximum(2 * size, 1e-12)
    # omega^2 < 0 is a motion that grows without vibration.
    ratio = np.where(squares > 0, ratio, -1.0)
    return size, ratio, -ratio * size, phi


def follow(
    before: PointModes, tracked: np.ndarray, here: PointModes
) -> tuple[np.ndarray, np.ndarray]:
    """Which mode here continues each tracked mode of the point before, and how alike the two are.

    Shapes are compared with the inertia of each coordinate as weight. The whole inertia matrix would not do: a shape
    that balances two links in one pose does not in the next, and weighs much more there.
    """
    weight = np.diag(0.5 * (before.weight + here.weight))
    old = before.shapes[:, tracked].T
    new = here.shapes.T
    likeness = modal_assurance(old[:, None], new[None], weight)
    # The best assignment of all modes together: two modes never continue in the same one.
    rows, columns = scipy.optimize.linear_sum_assignment(-likeness)
    # Fewer modes here than before leave some without a continuation, marked by -1.
    chosen = np.full(len(tracked), -1)
    chosen[rows] = columns
    mac = likeness[np.arange(len(tracked)), chosen]
    return chosen, np.where(chosen >= 0, mac, 0.0)


def neighbour(index: tuple[int, ...]) -> tuple[int, ...]:
    """The point from which a point of the grid is reached: one back along its last axis that is not at its start."""
    axis = max(k for k, i in enumerate(index) if i > 0)
    back = list(index)
    back[axis] -= 1
    return tuple(back)


def _mode_map(
    model, grid, motion, points: Sequence[PointModes], count, axes, damped, locked
) -> ModeMap:
    """Modes numbered by those of the first point, followed over the grid."""
    # Only modes that every point has can be followed.
    fewest = min(len(point.size) for point in points)
    m = min(count, fewest)
    at = dict(zip(np.ndindex(*grid), points, strict=True))
    order, mac = _numbered(at, grid, m)

    def by_mode(name):
        rows = []
        for index, point in at.items():
            values = getattr(point, name)
            rows.append(values[..., order[index]])
        whole = np.stack(rows)
        return whole.reshape(*grid, *whole.shape[1:])

    def by_point(rows):
        return np.stack(rows).reshape(*grid, -1)

    rigid = np.array([point.rigid for point in points])
    return ModeMap(
        frequency_hz=by_mode("size") / (2 * np.pi),
        damping_ratio=by_mode("ratio"),
        growth=by_mode("growth"),
        mac=mac,
        rigid=rigid.reshape(grid),
        q=by_point(motion[0]),
        qd=by_point(motion[1]),
        torque=by_point([point.torque for point in points]),
        tip=by_point([point.tip for point in points]),
        shapes=by_mode("shapes"),
        names=(*model.joint_names, *model.coordinate_names),
        axes={name: np.asarray(axis) for name, axis in axes.items()},
        robot=model.robot.name,
        damped=damped,
        locked=locked,
    )


def _numbered(
    at: Mapping[tuple[int, ...], PointModes], grid: tuple[int, ...], m: int
) -> tuple[np.ndarray, np.ndarray]:
    """Place of each followed mode among those of its point, and its likeness to the point before."""
    order = np.zeros((*grid, m), dtype=int)
    mac = np.ones((*grid, m))
    for index, point in at.items():
        if any(index):
            back = neighbour(index)
            places, likeness = follow(at[back], order[back], point)
            order[index] = places
            mac[index] = likeness
        else:
            order[index] = np.arange(m)
    return order, mac
