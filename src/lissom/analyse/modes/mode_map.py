"""Modes over poses, payloads, speeds, or along a motion: followed from point to point by their shapes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
import scipy.optimize
from jaxtyping import Float

from ...atomic import write_atomically
from ...compilation import compiled_quickly
from ...dynamics.formulation import AbstractFormulation, near
from ...dynamics.nodes import node_poses
from ...solve.channels import Loop
from ...solve.model import EquilibriumError, Model
from ..linear.linear_matrices import balanced_point, left_over
from ..linear.linearize import (
    BALANCE,
    Derivatives,
    derivatives,
    locked_derivatives,
    loop_of,
)
from .complex_modes import RIGID, modal_assurance, quadratic_modes

CHUNK = 16  # points computed at a time, side by side
SPARE = 3  # times as many modes are looked at as are asked for, and ten: one that comes from above is found
FOLLOWED = 0.5  # MAC below which a mode counts as lost


@dataclass(frozen=True)
class ModeMap:
    """Frequencies and damping of m modes over a grid of points; a mode keeps its number through crossings."""

    frequency_hz: Float[np.ndarray, "*grid m"]  # |lambda| / (2 pi)
    damping_ratio: Float[np.ndarray, "*grid m"]
    growth: Float[
        np.ndarray, "*grid m"
    ]  # largest real part of lambda [1/s]: above 0 the motion is unstable
    mac: Float[
        np.ndarray, "*grid m"
    ]  # likeness to the neighbouring point from which the mode was followed
    rigid: np.ndarray  # number of rigid motions at each point
    q: Float[np.ndarray, "*grid j"]
    qd: Float[np.ndarray, "*grid j"]
    torque: Float[np.ndarray, "*grid j"]  # that hold the motion
    tip: Float[np.ndarray, "*grid 3"]  # position of the last link's tip [m]
    shapes: np.ndarray  # (*grid, n, m), mass-normalised
    names: tuple[str, ...]  # of the n coordinates
    axes: dict[str, np.ndarray] = field(
        default_factory=dict
    )  # what varies along each axis of the grid
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
        arrays = {
            key: np.asarray(value)
            for key, value in self.__dict__.items()
            if key not in ("axes", "names")
        }
        arrays |= {f"axis_{k}": values for k, values in enumerate(self.axes.values())}
        arrays |= {
            "names": np.array(self.names, dtype=str),
            "axis_names": np.array(list(self.axes), dtype=str),
        }
        return write_atomically(path, lambda file: np.savez_compressed(file, **arrays))  # type: ignore[arg-type]


class Found(eqx.Module):
    """What the batched part gives for each point."""

    found: Derivatives
    x: Any
    tau: Any
    left: Any
    tip: Any


def at_point(f: AbstractFormulation, q, qd, qdd, loop: Loop | None) -> Found:
    """Balance, derivatives and tip position at one point; pure and without LAPACK, to be batched."""
    point = balanced_point(f, q, qd, qdd)
    place = f.configuration(point.x)
    tip = node_poses(f, place).position[-1]
    return Found(
        derivatives(f, point, (), (), loop),
        point.x,
        point.tau,
        left_over(f, point),
        tip,
    )


@compiled_quickly
def _poses(f, q, qd, qdd, loop) -> Found:
    return jax.vmap(lambda q, qd, qdd: at_point(near(f, q), q, qd, qdd, loop))(
        q, qd, qdd
    )


@compiled_quickly
def _robots(f, q, qd, qdd, loop) -> Found:
    return jax.vmap(lambda f, q, qd, qdd: at_point(near(f, q), q, qd, qdd, loop))(
        f, q, qd, qdd
    )


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
    loop = loop_of(model, kp, kd)
    grid, motion = grid_of(model, q, qd, qdd, changes)
    damped = damped or any(np.any(part) for part in motion[1:])
    total = len(motion[0])
    pairs, records = [], []
    robots = None if not changes else _formulations(model, changes, grid)
    for start in range(0, total, CHUNK):
        rows = (
            np.minimum(np.arange(start, start + CHUNK), total - 1)
            if total > CHUNK
            else np.arange(total)
        )
        at: Any = [jnp.asarray(part[rows]) for part in motion]
        solve, f = (
            (_robots, _stacked(robots, rows)) if robots else (_poses, model.formulation)
        )
        found = jax.tree.map(np.asarray, solve(f, at[0], at[1], at[2], loop))
        for k in range(min(CHUNK, total - start)):
            one = jax.tree.map(lambda part, k=k: part[k], found)
            _check(one, motion[0][start + k])
            pairs.append(
                _modes_at(
                    one.found,
                    list(model.formulation.independent),
                    locked,
                    damped,
                    SPARE * count + 10,
                )
            )
            records.append((one.tau, one.tip))
        watch(min(start + CHUNK, total) / total)
    return _assembled(
        model, grid, motion, pairs, records, count, dict(axes or {}), damped, locked
    )


def grid_of(
    model: Model, q, qd, qdd, changes
) -> tuple[tuple[int, ...], list[np.ndarray]]:
    """Shape of the grid, and q, qd, qdd at every point of it in a row."""
    j = model.n_joints
    parts = []
    for name, value in (("q", q), ("qd", qd), ("qdd", qdd)):
        part = np.zeros(j) if value is None else np.asarray(value, dtype=float)
        if part.shape[-1:] != (j,):
            names = ", ".join(model.joint_names)
            raise ValueError(
                f"{name} must have {j} values at each point, one for each joint ({names}), got {part.shape}"
            )
        parts.append(part)
    grid = np.broadcast_shapes(
        *(part.shape[:-1] for part in parts),
        *(np.shape(v) for v in (changes or {}).values()),
    )
    grid = grid or (1,)
    motion = [np.broadcast_to(part, (*grid, j)).reshape(-1, j) for part in parts]
    if model.closed:
        motion[0] = np.stack(
            [
                np.asarray(model.assemble(None if q is None else row))
                for row in motion[0]
            ]
        )
    return grid, motion


def _formulations(
    model: Model, changes: Mapping[str, Any], grid: tuple[int, ...]
) -> tuple[list[Any], np.ndarray]:
    """The formulation for every distinct set of data, and which one each point has."""
    values = np.stack(
        [
            np.broadcast_to(np.asarray(v, dtype=float), grid).ravel()
            for v in changes.values()
        ],
        axis=1,
    )
    distinct, which = np.unique(values, axis=0, return_inverse=True)
    robots = [
        model.robot.replace(dict(zip(changes, row.tolist(), strict=True)))
        for row in distinct
    ]
    return [model.formulation_with(robot) for robot in robots], which.ravel()


def _stacked(robots: tuple[list[Any], np.ndarray], rows: np.ndarray) -> Any:
    built, which = robots
    return jax.tree.map(
        lambda *parts: jnp.stack([jnp.asarray(part) for part in parts]),
        *(built[k] for k in which[rows]),
    )


def _check(one: Found, q: np.ndarray) -> None:
    if not float(one.left) < BALANCE:
        raise EquilibriumError(
            f"no balance of the links found near q = {q.tolist()}: {float(one.left):.1e} left over"
        )


@dataclass(frozen=True)
class Pairs:
    """Modes at one point that are not rigid motions."""

    size: np.ndarray  # |lambda|, or omega of an undamped mode [rad/s]
    ratio: np.ndarray  # damping ratio; -1 for a motion that grows without vibration, 1 for one that decays so
    growth: np.ndarray  # real part of lambda [1/s]
    shapes: np.ndarray  # over all coordinates, mass-normalised
    weight: np.ndarray  # of each coordinate in a comparison of shapes: its own inertia
    rigid: int


def _modes_at(
    found: Any, drives: list[int], locked: bool, damped: bool, count: int
) -> Pairs:
    M, n = found.matrices.M, len(found.matrices.M)
    basis = np.eye(n)
    if locked:
        found, j = found._replace(E=found.E[:, drives]), len(drives)
        E = found.E[0, :, :n]
        basis = np.concatenate([-np.linalg.solve(E[:, :j], E[:, j:]), np.eye(n - j)])
        found = locked_derivatives(found, j)
    M_r, C_r, K_r = found.matrices[:3]
    if damped:
        modes = quadratic_modes(M_r, C_r, K_r)
        lam, phi = np.asarray(modes.eigenvalue), modes.right
        size, growth = np.abs(lam), np.real(lam)
        ratio = np.where(
            np.imag(lam) > 0, -growth / np.maximum(size, 1e-12), -np.sign(growth)
        )
    else:
        squared, phi = scipy.linalg.eigh(0.5 * (K_r + K_r.T), 0.5 * (M_r + M_r.T))
        order = np.argsort(np.abs(squared))
        squared, phi = squared[order], phi[:, order]
        size = np.sqrt(np.abs(squared))
        ratio = np.einsum("im,ij,jm->m", phi, C_r, phi) / np.maximum(2 * size, 1e-12)
        ratio = np.where(squared > 0, ratio, -1.0)
        growth = -ratio * size
    rigid = size < 2 * np.pi * RIGID
    keep = np.flatnonzero(~rigid)[:count]
    return Pairs(
        size[keep],
        ratio[keep],
        growth[keep],
        basis @ phi[:, keep],
        np.diag(M),
        int(rigid.sum()),
    )


def follow(
    before: Pairs, tracked: np.ndarray, here: Pairs
) -> tuple[np.ndarray, np.ndarray]:
    """Which mode here continues each tracked mode of the point before, and how alike the two are.

    Shapes are compared with the inertia of each coordinate as weight. The whole inertia matrix would not do: a shape
    that balances two links in one pose does not in the next, and weighs much more there.
    """
    weight = np.diag(0.5 * (before.weight + here.weight))
    likeness = modal_assurance(weight, before.shapes[:, tracked], here.shapes)
    rows, columns = scipy.optimize.linear_sum_assignment(-likeness)
    chosen = np.full(len(tracked), -1)
    chosen[rows] = columns
    return chosen, np.where(chosen >= 0, likeness[np.arange(len(tracked)), chosen], 0.0)


def neighbour(index: tuple[int, ...]) -> tuple[int, ...]:
    """The point from which a point of the grid is reached: one back along its last axis that is not at its start."""
    axis = max(k for k, i in enumerate(index) if i > 0)
    return tuple(i - (k == axis) for k, i in enumerate(index))


def _assembled(
    model, grid, motion, pairs: Sequence[Pairs], records, count, axes, damped, locked
) -> ModeMap:
    """Modes numbered by those of the first point, followed over the grid."""
    m = min(count, min(len(pair.size) for pair in pairs))
    order = np.zeros((*grid, m), dtype=int)
    mac = np.ones((*grid, m))
    at = {index: pairs[k] for k, index in enumerate(np.ndindex(*grid))}
    for index, pair in at.items():
        if not any(index):
            order[index] = np.arange(m)
            continue
        back = neighbour(index)
        order[index], mac[index] = follow(at[back], order[back], pair)

    def picked(name):
        return np.stack([getattr(at[i], name)[order[i]] for i in at]).reshape(*grid, m)

    shapes = np.stack([at[index].shapes[:, order[index]] for index in at]).reshape(
        *grid, -1, m
    )

    def whole(parts):
        return np.stack(parts).reshape(*grid, -1)

    tip = model.node_index[-1][1]
    return ModeMap(
        frequency_hz=picked("size") / (2 * np.pi),
        damping_ratio=picked("ratio"),
        growth=picked("growth"),
        mac=mac,
        rigid=np.array([pair.rigid for pair in pairs]).reshape(grid),
        q=motion[0].reshape(*grid, -1),
        qd=motion[1].reshape(*grid, -1),
        torque=whole([tau for tau, _ in records]),
        tip=whole([nodes[tip] for _, nodes in records]),
        shapes=shapes,
        names=(*model.joint_names, *model.coordinate_names),
        axes={name: np.asarray(values) for name, values in axes.items()},
        robot=model.robot.name,
        damped=damped,
        locked=locked,
    )
