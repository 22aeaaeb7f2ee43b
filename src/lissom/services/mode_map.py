"""Modes over the workspace: a grid of joint positions, joint speeds or data of the robot, or a motion."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from jaxnative.compiled import using

from ..analyse.linear.linear_sequence import motion_of
from ..analyse.modes.mode_map import ModeMap
from ..analyse.modes.mode_map import mode_map as mapped_modes
from ..analyse.validity.description import robot_warnings
from ..analyse.validity.validity_warning import warning_lines
from ..atomic import write_atomically
from ..describe import DescriptionError, Robot, Scenario
from ..describe.defaults import FOLLOWED_MODES
from ..dynamics.formulation import on_branch_near
from ..files.errors import refused
from ..parameters import Locked
from ..runs.forecast import affordable_model
from ..runs.output_files import PICTURE, check_outputs, written_files
from ..runs.sources import is_result
from ..solve.model import Model
from .frozen_model import FrozenModel, Gains, NumberArray
from .modelled_result import ModelledResult, model_of
from .robot_request import RobotRequest

DATA = (".nc", ".npz")
MOST_POINTS = 100_000
MOST_INSTANTS = 200  # along a run: more would cost time and show nothing new


class MapAxis(FrozenModel):
    """Evenly spaced values of a joint (`upper`), a joint speed (`upper.speed`) or a key of the robot."""

    name: str
    start: float
    stop: float
    points: int = Field(ge=1)

    def __str__(self) -> str:
        return f"{self.name}={self.start:g}:{self.stop:g}:{self.points}"

    @property
    def values(self) -> np.ndarray:
        """From start to stop, both included."""
        return np.linspace(self.start, self.stop, self.points)


class ModeMapRequest(RobotRequest):
    """Over what the modes are mapped: the axes of a grid, or the run in a result file."""

    over: tuple[MapAxis, ...] = ()
    along: str | None = None
    degrees: bool = False  # axes of revolute joints are in degrees
    locked: Locked = False
    damped: bool = False
    # Where joints move: roots of the instant's matrices as they are, as [Palomba2019] has them.
    frozen: bool = False
    kp: Gains | None = None
    kd: Gains | None = None
    count: int = Field(default=FOLLOWED_MODES, ge=1)  # modes that are followed
    picture: str | None = None
    data: str | None = None  # file for the numbers


class MappedMode(FrozenModel):
    """Range of one mode over the map, where it is, and what could not be followed."""

    mode: int  # counted from 1
    lowest_hz: float
    lowest_at: dict[str, float]
    highest_hz: float
    highest_at: dict[str, float]
    unstable: int  # points at which the mode grows; where joints move, if it is faster than the motion changes
    # Points to which it could not be followed: MAC below 0.9, or a frequency that changes by more than 15 %.
    lost: int
    lowest_mac: float  # between neighbours
    largest_step: float  # relative change of its frequency between neighbours


class ModeMapResult(ModelledResult):
    """A map of modes."""

    locked: Locked
    damped: bool
    computed: str  # what frequencies and damping ratios are those of
    axes: dict[str, NumberArray]
    points: int
    modes: tuple[MappedMode, ...]
    frequency_hz: NumberArray  # grid and mode
    damping_ratio: NumberArray
    growth: NumberArray  # [1/s]
    mac: NumberArray  # likeness to the neighbour before
    q: dict[str, NumberArray]  # joint coordinates over the grid, all joints
    warnings: tuple[str, ...]  # about the robot, one line each
    files: dict[str, str]


def mode_map(
    request: ModeMapRequest, watch: Callable[[float], None] = lambda share: None
) -> ModeMapResult:
    """Modes over a grid, or along a run, followed through crossings.

    Args:
        request: robot, what varies, and what is asked for.
        watch: called with the share of the work that is done.
    """
    check_outputs(
        {"picture": (request.picture, PICTURE), "data": (request.data, DATA)},
    )
    scenario = request.scenario()
    if bool(request.over) == (request.along is not None):
        message = "say over what: the axes of a grid in `over`, or a run in `along`"
        raise refused("over", None, message)
    if request.picture is not None and len(request.over) > 2:
        message = "a map over more than two quantities cannot be drawn"
        raise refused("picture", request.picture, message)
    with using(scenario.solver.backend):
        found = _found_map(request, scenario, watch)
    if request.picture is not None:
        from ..show.plot_linear import plot_mode_map

        plot_mode_map(found, request.picture)
    if request.data is not None:
        _save_map(found, request.data)
    return ModeMapResult(
        **model_of(scenario),
        locked=found.locked,
        damped=found.damped,
        computed=what_is_computed(found),
        axes=found.axes,
        points=int(np.prod(found.shape)),
        modes=_mapped_modes(found),
        frequency_hz=found.frequency_hz,
        damping_ratio=found.damping_ratio,
        growth=found.growth,
        mac=found.mac,
        q={name: found.q[..., k] for k, name in enumerate(found.joints)},
        warnings=warning_lines(robot_warnings(scenario.robot)),
        files=written_files(plot=request.picture, data=request.data),
    )


def _found_map(
    request: ModeMapRequest, scenario: Scenario, watch: Callable[[float], None]
) -> ModeMap:
    """The map itself."""
    model = affordable_model(scenario)
    if request.along is not None:
        points = _recorded_points(model, request.along)
    else:
        model = _on_branch(model, request.q or scenario.initial.q)
        points = _grid_points(model, request, scenario.initial.q)
    return mapped_modes(
        model,
        points.q,
        qd=points.qd,
        qdd=points.qdd,
        changes=points.changes,
        axes=points.axes,
        locked=request.locked,
        damped=request.damped,
        frozen=request.frozen,
        kp=request.kp,
        kd=request.kd,
        count=request.count,
        progress=False,
        watch=watch,
    )


class _Points(NamedTuple):
    """Where modes are computed: joint motions, changed data of the robot, and the axes of the map."""

    q: np.ndarray
    qd: np.ndarray | None
    qdd: np.ndarray | None
    changes: dict[str, np.ndarray] | None
    axes: dict[str, np.ndarray]


def what_is_computed(found: ModeMap) -> str:
    """What the frequencies and damping ratios of a map are those of, in words."""
    if not found.damped:
        return "undamped modes about rest; damping ratios to first order"
    if not np.any(found.qd):
        return "damped modes about rest"
    if found.frozen:
        return "modes of frozen instants, changes of the coordinates in time included: growth may be apparent"
    return "modes of the instant without the change of the coordinates in time: growth is that of energy / frequency"


def _on_branch(model: Model, pose: Sequence[float] | None) -> Model:
    """The model; a closed chain starts on the branch of this pose."""
    if not model.closed:
        return model
    theta = model.assemble(pose)
    return model.with_formulation(on_branch_near(model.formulation, theta))


def _grid_points(
    model: Model, request: ModeMapRequest, initial: Sequence[float] | None
) -> _Points:
    """All combinations of the values on the axes."""
    robot = model.robot
    _check_axes(request.over)
    _check_independent(model, request.over)
    pose: Any = request.q or initial or (0.0,) * len(robot.joint_names)
    if model.closed:
        pose = np.full(len(robot.joint_names), np.nan)
        independent = list(model.formulation.independent)
        # Dependent joints follow: the map leads them from point to point.
        pose[independent] = np.asarray(model.assemble())[independent]
    values = [axis.values for axis in request.over]
    grids = np.meshgrid(*values, indexing="ij")
    shape = grids[0].shape
    # Every point starts from the pose; the axes then overwrite what they vary.
    q = np.tile(np.asarray(pose, dtype=float), (*shape, 1))
    qd = np.zeros(q.shape)
    changes: dict[str, np.ndarray] = {}
    axes: dict[str, np.ndarray] = {}
    kinds = {link.name: link.joint.type for link in robot.links if link.joint.moves}
    for axis, grid in zip(request.over, grids, strict=True):
        owner, _, quantity = axis.name.rpartition(".")
        if axis.name in kinds:
            unit, factor = _unit(kinds[axis.name], request.degrees)
            q[..., robot.joint_names.index(axis.name)] = factor * grid
            axes[f"{axis.name} [{unit}]"] = axis.values
        elif quantity == "speed" and owner in kinds:
            unit, factor = _unit(kinds[owner], request.degrees)
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
    for k, name in enumerate(names):
        if name in names[:k]:
            raise refused("over", name, "is given twice")
    # Counted with whole numbers of any size: those of NumPy overflow.
    count = math.prod(axis.points for axis in axes)
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
    """Instants of a run, evenly left out where there are many."""
    from ..runs.run import Run

    if not is_result(path):
        raise refused("along", path, "is not a result file of `lissom simulate -o`")
    run = Run.load(path)
    if list(run.data["joint"].values) != list(model.joint_names):
        raise refused("along", path, "is a run of another robot")
    t, motion = motion_of(model, run)
    every = max(1, len(t) // MOST_INSTANTS)
    q, qd, qdd = (part[::every] for part in motion)
    axes = {"time [s]": t[::every]}
    return _Points(q, qd, qdd, None, axes)


def _mapped_modes(found: ModeMap) -> tuple[MappedMode, ...]:
    """Range of every mode, where it is, and what could not be followed."""
    count = found.frequency_hz.shape[-1]
    points = _grid_values(found)
    modes = []
    for m in range(count):
        hz = found.frequency_hz[..., m].ravel()
        lowest = int(hz.argmin())
        highest = int(hz.argmax())
        modes.append(
            MappedMode(
                mode=m + 1,
                lowest_hz=float(hz[lowest]),
                lowest_at=points[lowest],
                highest_hz=float(hz[highest]),
                highest_at=points[highest],
                unstable=int(np.sum(found.unstable[..., m])),
                lost=int(np.sum(found.lost[..., m])),
                lowest_mac=float(found.mac[..., m].min()),
                largest_step=float(np.abs(found.step[..., m]).max()),
            )
        )
    return tuple(modes)


def _grid_values(found: ModeMap) -> list[dict[str, float]]:
    """What the axes say at every point, the last axis running fastest."""
    grids = np.meshgrid(*found.axes.values(), indexing="ij")
    columns = [grid.ravel().tolist() for grid in grids]
    points = []
    for values in zip(*columns, strict=True):
        points.append(dict(zip(found.axes, values, strict=True)))
    return points


def _save_map(found: ModeMap, path: str) -> None:
    if path.lower().endswith(".npz"):
        found.save(path)
        return
    content = map_dataset(found).to_netcdf(engine="h5netcdf")
    write_atomically(path, lambda file: file.write(content))


def map_dataset(found: ModeMap) -> Any:
    """A mode map as `xarray.Dataset`."""
    import xarray as xr

    grid = [f"axis_{k}" for k in range(len(found.shape))]
    modes = [*grid, "mode"]
    joint = [*grid, "joint"]
    likeness = {"long_name": "likeness to the point before"}
    step = {"long_name": "relative change of the frequency from the point before"}
    rigid = {"long_name": "number of rigid motions"}
    data = {
        "frequency": (modes, found.frequency_hz, {"units": "Hz"}),
        "damping_ratio": (modes, found.damping_ratio),
        "growth": (modes, found.growth, {"units": "1/s"}),
        "mac": (modes, found.mac, likeness),
        "step": (modes, found.step, step),
        "rigid": (grid, found.rigid, rigid),
        "q": (joint, found.q, {"units": "rad or m"}),
        "qd": (joint, found.qd, {"units": "rad/s or m/s"}),
        "tip": ([*grid, "axis"], found.tip, {"units": "m"}),
    }
    coords: dict[str, Any] = {
        "mode": np.arange(1, found.frequency_hz.shape[-1] + 1),
        "joint": list(found.joints),
        "axis": ["x", "y", "z"],
    }
    for name, (axis, values) in zip(grid, found.axes.items(), strict=True):
        coords[name] = (name, values, {"long_name": axis})
    attrs = {
        "name": found.robot,
        "locked": int(found.locked),
        "computed": what_is_computed(found),
    }
    return xr.Dataset(data, coords=coords, attrs=attrs)
