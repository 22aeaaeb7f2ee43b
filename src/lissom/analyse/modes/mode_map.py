"""Modes over poses, payloads, speeds, or along a motion: followed from point to point by how the links move."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from jaxnative.compiled import compiled_quickly
from jaxnative.marks import vmap_rows

from ...algebra.eigen import symmetric_modes
from ...atomic import write_atomically
from ...describe.defaults import FOLLOWED_MODES
from ...drawing import dataset_file_of, picture_of
from ...dynamics import engine
from ...dynamics.formulation import AbstractFormulation, on_branch_near
from ...dynamics.nodes import node_poses
from ...files.errors import refused
from ...files.summary import Result, Summary
from ...parameters import Locked
from ...progress import shown_progress
from ...solve.arguments import ModelLike, check_something_moves, model_from
from ...solve.balance import balanced_point, relative_residual
from ...solve.family import Family
from ...solve.massless import modes_with_inertia
from ...solve.model import Model
from ...types import Float
from ..linear.linear_feedback import LinearFeedback, joint_feedback
from ..linear.linear_sequence import chunks, row_of
from ..linear.linearize import (
    Derivatives,
    derivatives,
    locked_derivatives,
    require_balance,
)
from ..linear.moving_matrices import (
    MatrixRates,
    change_rates,
    locked_rates,
    matrix_rates,
    self_adjoint,
)
from .complex_modes import RIGID_RATE, quadratic_modes
from .grid_points import grid_of
from .map_summary import map_data, map_summary, map_warnings
from .tracking import FOLLOWED, LONGEST_STEP, PointModes, track, weighted_motion

CHUNK = 16  # points in one batch
GROWING = 1e-9  # growth, relative to |lambda|, that rounding alone can cause
SPARE = 3  # times the wanted modes, and ten more, are followed: one that sinks below others is found


@dataclass(frozen=True, repr=False)
class ModeMap(Result):
    """Frequencies and damping of m modes over a grid of points; a mode keeps its number through crossings.

    Example:
        >>> import lissom as ls
        >>> found = ls.mode_map("simple-pendulum", [[0.0], [1.0]], locked=True, count=2)
        >>> found.shape
        (2,)
        >>> path = found.save("map.npz")
    """

    frequency_hz: Float[np.ndarray, "*grid m"]  # |lambda| / (2 pi)
    damping_ratio: Float[np.ndarray, "*grid m"]
    # Real part of lambda [1/s]: above 0 the vibration grows. See `frozen`.
    growth: Float[np.ndarray, "*grid m"]
    # Likeness to the neighbouring point from which the mode was followed: MAC of the displacements of the links' mass.
    mac: Float[np.ndarray, "*grid m"]
    # Relative change of the frequency from there.
    step: Float[np.ndarray, "*grid m"]
    rigid: np.ndarray  # number of rigid motions at each point
    # Rate at which the mode's inertia changes along the motion [1/s]; 0 at rest, and where `frozen`.
    change_rate: Float[np.ndarray, "*grid m"]
    q: Float[np.ndarray, "*grid j"]
    qd: Float[np.ndarray, "*grid j"]
    torque: Float[np.ndarray, "*grid j"]  # that hold the motion
    tip: Float[np.ndarray, "*grid 3"]  # position of the last link's tip [m]
    shapes: np.ndarray  # (*grid, n, m), mass-normalised
    displacement: np.ndarray  # (*grid, node, 3, m), of every node in world axes
    names: tuple[str, ...]  # of the n coordinates of `shapes`
    joints: tuple[str, ...]  # of `q`, `qd` and `torque`
    nodes: tuple[str, ...]  # of `displacement`
    # What varies along each axis of the grid.
    axes: dict[str, np.ndarray] = field(default_factory=dict)
    robot: str = ""
    damped: bool = False
    locked: Locked = False
    # Where joints move: roots of the matrices of the instant as they are ([Palomba2019]); else of their self-adjoint
    # form, without what the changing of the coordinates puts into them.
    frozen: bool = False
    # The model of the robot; lost in a file.
    origin: Model | None = field(default=None, compare=False)

    def plot(self, path: Any = None) -> Any:
        """Figure of the frequencies over the axes of the map; `path` writes it too."""
        return picture_of(self, path=path)

    def summary(self) -> Summary:
        """The range of each mode's frequency over the grid, and where it is."""
        return map_summary(self)

    def to_dict(self) -> dict[str, Any]:
        """Ranges, frequencies, damping and where the joints stand, as plain data."""
        return map_data(self)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may be wrong with the data of the robot, one line each."""
        return map_warnings(self)

    @property
    def shape(self) -> tuple[int, ...]:
        """Points along each axis of the grid."""
        return self.frequency_hz.shape[:-1]

    @property
    def lost(self) -> np.ndarray:
        """True where a mode was not followed: MAC below 0.9, or its frequency changed by more than 15 %."""
        return (self.mac < FOLLOWED) | (np.abs(self.step) > LONGEST_STEP)

    @property
    def unstable(self) -> np.ndarray:
        """True where a mode grows by more than rounding; modes slower than the change of the motion never count."""
        size = 2 * np.pi * np.abs(self.frequency_hz)
        is_vibration = size > self.change_rate
        return is_vibration & (self.growth > GROWING * size)

    def save(self, path: Any) -> Any:
        """Write everything in full precision: `.npz` for NumPy, `.nc` for xarray."""
        if str(path).lower().endswith(".nc"):
            return dataset_file_of(self, path)
        if not str(path).lower().endswith(".npz"):
            raise refused("path", str(path), "the name must end in .nc or .npz")
        arrays: dict[str, Any] = {}
        for key, value in self.__dict__.items():
            if key not in ("axes", "origin"):
                arrays[key] = np.asarray(value)
        for k, values in enumerate(self.axes.values()):
            arrays[f"axis_{k}"] = values
        arrays["axis_names"] = np.array(list(self.axes), dtype=str)
        return write_atomically(path, lambda file: np.savez_compressed(file, **arrays))


class LinkMotions(eqx.Module):
    """How links and nodes move for a unit rate of each coordinate (last axis)."""

    links: Any  # twists and rates of body coordinates (l, e, n), link axes
    inertia: Any  # of each link over these (l, e, e)
    encoder: Any  # (j, n)
    nodes: Any  # velocity of the nodes (l, k, 3, n), world axes


def link_motions(f: AbstractFormulation, x: Float[Any, " n"]) -> LinkMotions:
    """Motions of all links and nodes about x: pure, for `jit` and `vmap`."""
    place = f.configuration(x)
    columns = jax.vmap(lambda dx: f.rates(x, dx))(jnp.eye(f.size))
    N = jax.tree.map(lambda part: jnp.moveaxis(part, 0, -1), columns)

    def position(x):
        return node_poses(f, f.configuration(x)).position

    return LinkMotions(
        links=jnp.concatenate([N.V, N.q], axis=1),
        inertia=jax.vmap(engine.body_inertia)(f.links, place.q),
        encoder=N.encoder,
        nodes=jax.jacfwd(position)(x),
    )


class LinearPoint(eqx.Module):
    """Quantities at one point of the grid; all points are computed in one batch."""

    slopes: Derivatives
    tau: Any  # torques that hold the motion
    relative_residual: Any  # share of the forces that is not balanced
    nodes: Any  # positions of the nodes of the last link
    motions: LinkMotions
    # How the matrices change along the motion, where joints move.
    rates: MatrixRates | None


def linear_point(
    f: AbstractFormulation,
    q,
    qd,
    qdd,
    feedback: LinearFeedback | None,
    with_rates: bool,
) -> LinearPoint:
    """Balance and derivatives at one point; pure and without LAPACK, to be batched."""
    # A closed chain stays on the branch of its own point.
    f = on_branch_near(f, q)
    point = balanced_point(f, q, qd, qdd)
    place = f.configuration(point.x)
    return LinearPoint(
        slopes=derivatives(f, point, (), (), feedback),
        tau=point.tau,
        relative_residual=relative_residual(f, point),
        nodes=node_poses(f, place).position[-1],
        motions=link_motions(f, point.x),
        rates=matrix_rates(f, point) if with_rates else None,
    )


@compiled_quickly
def _over_poses(f, motion, feedback, with_rates: bool) -> LinearPoint:
    """Linear points of one robot at many points."""

    def one(q, qd, qdd):
        return linear_point(f, q, qd, qdd, feedback, with_rates)

    return vmap_rows(one)(*motion)


@compiled_quickly
def _over_robots(f, motion, feedback, with_rates: bool) -> LinearPoint:
    """Linear points of another robot at every point: the arrays of f have a leading axis."""

    def one(f, q, qd, qdd):
        return linear_point(f, q, qd, qdd, feedback, with_rates)

    return vmap_rows(one)(f, *motion)


def mode_map(
    model: ModelLike,
    q: Any = None,
    *,
    qd: Any = None,
    qdd: Any = None,
    changes: Mapping[str, Any] | None = None,
    locked: Locked = False,
    damped: bool = False,
    frozen: bool = False,
    kp: Any = None,
    kd: Any = None,
    count: int = FOLLOWED_MODES,
    axes: Mapping[str, Any] | None = None,
    progress: Any = None,
    watch: Callable[[float], None] = lambda share: None,
) -> ModeMap:
    """Modes over a grid of poses, speeds, payloads or other data of the robot, or along a motion.

    At every point the links are in quasi-static balance with the motion (q, qd, qdd). All points are computed in
    batches; modes are then followed from each point to the next by the likeness of the displacements of the links' mass
    (MAC, best assignment) and by their frequencies, so that a mode keeps its number where frequencies cross. `lost`
    marks where that fails.

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        q: joint coordinates (*grid, j); zero by default. Of a closed chain, those of the independent joints are enough:
            the others are led from the assembled pose from neighbour to neighbour, on one branch.
        qd: joint speeds, in the shape of q or to be repeated.
        qdd: joint accelerations.
        changes: data of the robot that vary over the grid, by their key: `{"payload.mass": masses}`.
        locked: hold every joint.
        damped: damping, friction and gyroscopic terms in; always so where joints move.
        frozen: where joints move, the roots of the instant's matrices as they are; by default without what the change
            of the coordinates in time puts into them (`lissom.analyse.linear.moving_matrices`).
        kp: proportional gains of a joint controller.
        kd: its derivative gains.
        count: modes, the lowest at the first point of the grid; rigid motions are counted, not followed.
        axes: names and values of what varies along each axis of the grid, for plots and files.
        progress: a bar, as in `simulate`.
        watch: called with the share of the work done.

    Returns:
        `ModeMap`: frequencies [Hz], damping ratios and shapes, with the axes of the grid first.

    Raises:
        EquilibriumError: the links find no balance at a point.
        AssemblyError: a closed chain cannot reach a point.
        ValueError: arrays that do not fit the grid, or the joints.

    Example:
        >>> import lissom as ls
        >>> modes = ls.mode_map("simple-pendulum", [[0.0], [0.5], [1.0]], locked=True, count=3)
        >>> modes.frequency_hz.shape
        (3, 3)
    """
    model = model_from(model)
    check_something_moves(model, locked)
    feedback = joint_feedback(model, kp, kd)
    grid, motion = grid_of(model, q, qd, qdd, changes)
    moves = any(np.any(part) for part in motion[1:])
    damped = damped or moves
    # More modes than requested: one that sinks below others along the grid is still found.
    several = SPARE * count + 10
    family = _family_over(model, changes, grid) if changes else None
    points: list[PointModes] = []
    with_rates = moves and not frozen
    with shown_progress("modes", 1.0, "", progress, watch) as report:
        linear = _linear_points(model, family, motion, feedback, with_rates, report)
        for at, here in linear:
            where = f"near q = {at.tolist()}"
            require_balance(float(here.relative_residual), where)
            points.append(_modes_at(model, here, locked, damped, several, where))
    followed = _mode_map(model, grid, motion, points, count)
    return dataclasses.replace(
        followed,
        axes={name: np.asarray(axis) for name, axis in (axes or {}).items()},
        damped=damped,
        locked=locked,
        frozen=frozen,
        origin=model,
    )


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
    with_rates: bool,
    watch: Callable[[float], None],
) -> Iterator[tuple[np.ndarray, LinearPoint]]:
    """Joint coordinates of every point, and its linear point."""
    total = len(motion[0])
    for start, rows in chunks(total, CHUNK):
        here = tuple(jnp.asarray(part[rows]) for part in motion)
        if family is None:
            answer = _over_poses(model.formulation, here, feedback, with_rates)
        else:
            answer = _over_robots(family.take(rows), here, feedback, with_rates)
        answer = jax.tree.map(np.asarray, answer)
        for k in range(min(CHUNK, total - start)):
            yield motion[0][start + k], row_of(answer, k)
        watch(min(start + CHUNK, total) / total)


def _modes_at(
    model: Model,
    here: LinearPoint,
    locked: Locked,
    damped: bool,
    count: int,
    where: str,
) -> PointModes:
    """The lowest modes at a point, in order of their size; `where` it is, for messages."""
    slopes = here.slopes
    rates = here.rates
    whole = slopes.matrices
    basis = np.eye(len(whole.M))
    if locked:
        slopes, locking = locked_derivatives(slopes, model.formulation.independent)
        basis = locking.B
        if rates is not None:
            rates = locked_rates(rates, whole, locking)
    matrices = slopes.matrices
    if rates is not None:
        matrices = self_adjoint(matrices, rates)
    solve = _damped_solution if damped else _undamped_solution
    find_modes = partial(solve, *matrices[:3])
    solution = modes_with_inertia(model, whole.M, find_modes, where)
    size, ratio, growth, phi = solution
    rigid = size < RIGID_RATE
    chosen = np.flatnonzero(~rigid)[:count]
    changes = np.zeros(len(chosen))
    if rates is not None:
        changes = change_rates(matrices, rates, phi[:, chosen])
    shapes = basis @ phi[:, chosen]
    tip = model.node_index[-1][1]
    return PointModes(
        size=size[chosen],
        ratio=ratio[chosen],
        growth=growth[chosen],
        shapes=shapes,
        motion=_weighted_motion(model, here.motions, shapes),
        displacement=_node_displacements(model, here.motions, shapes),
        rigid=int(rigid.sum()),
        change_rate=changes,
        torque=here.tau,
        tip=here.nodes[tip],
    )


def _weighted_motion(
    model: Model, motions: LinkMotions, shapes: np.ndarray
) -> np.ndarray:
    """Motions of links and rotors in each mode, weighted with the roots of their inertias."""
    links = weighted_motion(motions.links @ shapes, motions.inertia)
    rotor = np.sqrt(np.asarray(model.formulation.joints.motor_inertia))
    rotors = rotor[:, None] * (motions.encoder @ shapes)
    return np.concatenate([links, rotors])


def _node_displacements(
    model: Model, motions: LinkMotions, shapes: np.ndarray
) -> np.ndarray:
    """Displacements of the named nodes in each mode, world axes."""
    rows = [motions.nodes[i, k] for i, k in model.node_index]
    return np.stack(rows) @ shapes


def _damped_solution(M, C, K):
    """Size, damping ratio, growth and vectors of the damped modes."""
    modes = quadratic_modes(M, C, K)
    lam = np.asarray(modes.eigenvalue)
    size = np.abs(lam)
    growth = np.real(lam)
    ratio = -growth / np.maximum(size, 1e-12)
    # Without vibration there is no ratio: 1 stands for decay, -1 for growth.
    ratio = np.where(np.imag(lam) > 0, ratio, -np.sign(growth))
    return size, ratio, growth, modes.right


def _undamped_solution(M, C, K):
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


def _mode_map(
    model: Model,
    grid: tuple[int, ...],
    motion: Sequence[np.ndarray],
    points: Sequence[PointModes],
    count: int,
) -> ModeMap:
    """Modes numbered by those of the first point, followed over the grid."""
    # Only modes that every point has can be followed.
    fewest = min(len(point.size) for point in points)
    at = dict(zip(np.ndindex(*grid), points, strict=True))
    place, mac, step = track(at, grid, min(count, fewest))

    def by_mode(name):
        rows = []
        for index, point in at.items():
            values = getattr(point, name)
            rows.append(values[..., place[index]])
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
        step=step,
        rigid=rigid.reshape(grid),
        change_rate=by_mode("change_rate"),
        q=by_point(motion[0]),
        qd=by_point(motion[1]),
        torque=by_point([point.torque for point in points]),
        tip=by_point([point.tip for point in points]),
        shapes=by_mode("shapes"),
        displacement=by_mode("displacement"),
        names=(*model.independent_names, *model.coordinate_names),
        joints=model.joint_names,
        nodes=tuple(model.node_names),
        robot=model.robot.name,
    )
