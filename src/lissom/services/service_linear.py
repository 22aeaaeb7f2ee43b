"""Linear models, mode maps and frequency responses as plain data: what the command line prints."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..atomic import write_atomically
from ..describe import DescriptionError, Problem, Robot, Scenario
from ..describe.errors import refused
from .request import PICTURE, check_outputs, is_result, joint_values, robot_of
from .service import AS_DESCRIBED, Choices, model_of

if TYPE_CHECKING:
    from ..analyse.linear.state_space import LinearModel
    from ..analyse.modes.mode_map import ModeMap

SPEED = {"revolute": "rad/s", "prismatic": "m/s"}
LINEAR, MAP, DATA = (".npz", ".mat"), (".nc", ".npz"), (".csv", ".npz")
POINT = ("q", "qd", "qdd", "torque")
MOST = 100_000  # points of a map


def split_names(text: str | None) -> list[str] | None:
    """`upper,lower/tip.fx` as names."""
    return (
        None
        if text is None
        else [name.strip() for name in text.split(",") if name.strip()]
    )


def gains(robot: Robot, option: str, text: str | None) -> Any:
    """`300` for every joint, or `300,200`."""
    if text is None:
        return None
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise refused(
            option,
            text,
            "must be one number, or one for each moving joint such as 300,200",
        ) from None
    if len(values) not in (1, len(robot.joint_names)):
        names = ", ".join(robot.joint_names)
        raise refused(
            option, text, f"must be one number, or one for each moving joint: {names}"
        )
    return values[0] if len(values) == 1 else values


def motion_options(
    robot: Robot, qd: str | None, qdd: str | None, degrees: bool
) -> dict[str, Any]:
    """Speeds and accelerations of the joints."""
    given = {"qd": joint_values(robot, "--qd", qd, SPEED, degrees)}
    given["qdd"] = joint_values(
        robot,
        "--qdd",
        qdd,
        {kind: f"{unit}^2" for kind, unit in SPEED.items()},
        degrees,
    )
    return {key: None if value is None else list(value) for key, value in given.items()}


def by_name(
    build: Callable[[], Any], options: Mapping[str, Sequence[str] | None]
) -> Any:
    """What `build` gives; a name that the robot does not have is reported with the option that holds it."""
    from ..solve.channels import UnknownNameError

    try:
        return build()
    except UnknownNameError as failure:
        option = next(
            (key for key, names in options.items() if names and failure.name in names),
            "",
        )
        raise DescriptionError(
            [Problem(None, None, option, failure.name, failure.message)]
        ) from None


def linear_model(
    source: str,
    q: str | None,
    choices: Choices,
    *,
    qd: str | None = None,
    qdd: str | None = None,
    degrees: bool = False,
    inputs: str | None = None,
    outputs: str | None = None,
    kp: str | None = None,
    kd: str | None = None,
    locked: bool = False,
) -> tuple["LinearModel", Scenario]:
    """The linear model of a request."""
    from ..analyse.linear.linearize import linearize as linear

    scenario = robot_of(source, choices.settings, choices.options())
    robot = scenario.robot
    pose = joint_values(robot, "--q", q, degrees=degrees) or scenario.initial.q
    motion = motion_options(robot, qd, qdd, degrees)
    control = {
        key: gains(robot, f"--{key}", text) for key, text in (("kp", kp), ("kd", kd))
    }
    ins, outs = split_names(inputs), split_names(outputs)
    model = model_of(scenario)
    at = None if pose is None else list(pose)

    def build():
        return linear(
            model, at, inputs=ins, outputs=outs, locked=locked, **motion, **control
        )

    return by_name(build, {"--inputs": ins, "--outputs": outs}), scenario


def linearize(
    source: str,
    q: str | None = None,
    choices: Choices = AS_DESCRIBED,
    *,
    output: str | None = None,
    **how,
):
    """State-space model about a point: names, sizes and poles; the matrices go to a file."""
    check_outputs({"-o": (output, LINEAR)})
    linear, _ = linear_model(source, q, choices, **how)
    if output is not None:
        linear.save(output)
    point = linear.operating
    joints = _joint_names(linear)
    poles: Any = linear.poles
    poles = poles[np.lexsort((-poles.imag, np.abs(poles)))]
    return {
        "robot": point.robot,
        "formulation": point.formulation,
        "point": {
            key: dict(zip(joints(key), getattr(point, key), strict=False))
            for key in ("q", "qd", "qdd", "torque")
        },
        "shapes": {
            key: list(getattr(linear, key).shape) for key in ("A", "B", "C", "D")
        },
        "states": list(linear.state_names),
        "inputs": list(linear.input_names),
        "outputs": list(linear.output_names),
        "output_values": dict(zip(linear.output_names, point.outputs, strict=True)),
        "eigenvalues": [{"real": value.real, "imag": value.imag} for value in poles],
        "unstable": int(np.sum(poles.real > 1e-7 * np.abs(poles) + 1e-3)),
        "file": output,
    }


def _joint_names(linear: "LinearModel") -> Callable[[str], Sequence[str]]:
    robot_joints = [
        name
        for name in linear.state_names
        if "/" not in name and not name.endswith(".rate")
    ]
    return lambda key: (
        robot_joints or [str(k + 1) for k in range(len(getattr(linear.operating, key)))]
    )


def frequency_response(
    source: str,
    q: str | None,
    choices: Choices = AS_DESCRIBED,
    *,
    band: str | None = None,
    picture: str | None = None,
    output: str | None = None,
    **how: Any,
) -> dict[str, Any]:
    """Responses of every named output to every named input."""
    from ..analyse.linear.frequency_response import frequency_response as response

    check_outputs({"--plot": (picture, PICTURE), "-o": (output, DATA)})
    frequencies = band_of(band)
    linear, _ = linear_model(source, q, choices, **how)
    found = [
        response(linear, i, o, frequencies)
        for i in linear.input_names
        for o in linear.output_names
    ]
    if picture is not None:
        from ..show.plot_linear import plot_frequency_response

        plot_frequency_response(found, picture)
    if output is not None:
        save_responses(found, output)
    return {
        "robot": linear.operating.robot,
        "formulation": linear.operating.formulation,
        "frequency_hz": found[0].frequency_hz if found else [],
        "responses": [
            {
                "input": one.input,
                "output": one.output,
                "magnitude": one.magnitude,
                "phase_deg": one.phase_deg,
                "peaks": peaks_of(one),
            }
            for one in found
        ],
        "files": {
            key: path
            for key, path in (("plot", picture), ("data", output))
            if path is not None
        },
    }


def peaks_of(one: Any) -> list[dict[str, float]]:
    """Local maxima of a response, largest first."""
    height = one.magnitude
    inside = (
        np.flatnonzero((height[1:-1] > height[:-2]) & (height[1:-1] >= height[2:])) + 1
    )
    order = inside[np.argsort(-height[inside])][:8]
    return [
        {"frequency_hz": float(one.frequency_hz[k]), "magnitude": float(height[k])}
        for k in order
    ]


def band_of(text: str | None) -> np.ndarray | None:
    """`0.1:200` or `0.1:200:1000` as frequencies, spaced logarithmically."""
    if text is None:
        return None
    parts = text.split(":")
    try:
        low, high = float(parts[0]), float(parts[1])
        points = int(parts[2]) if len(parts) > 2 else 800
    except (ValueError, IndexError):
        raise refused(
            "--band", text, "must be LOW:HIGH or LOW:HIGH:POINTS in Hz, such as 0.1:200"
        ) from None
    if not 0.0 < low < high or points < 2:
        raise refused(
            "--band",
            text,
            "must be LOW:HIGH with 0 < LOW < HIGH, and at least 2 points",
        )
    return np.geomspace(low, high, points)


def save_responses(found: Sequence[Any], path: str) -> None:
    """Frequencies with real and imaginary parts of every response: `.csv` or `.npz`."""
    columns = {"frequency_hz": found[0].frequency_hz}
    for one in found:
        columns[f"{one.input}->{one.output}.real"] = one.response.real
        columns[f"{one.input}->{one.output}.imag"] = one.response.imag
    if path.lower().endswith(".npz"):
        arrays: dict[str, Any] = columns
        write_atomically(path, lambda file: np.savez_compressed(file, **arrays))
        return
    rows = np.stack(list(columns.values()), axis=1)
    text = (
        ",".join(columns)
        + "\n"
        + "".join(",".join(repr(float(v)) for v in row) + "\n" for row in rows)
    )
    write_atomically(path, lambda file: file.write(text.encode()))


# --- maps ----------------------------------------------------------------------------------------------------------


def mode_map(
    source: str,
    q: str | None,
    over: Sequence[str],
    choices: Choices = AS_DESCRIBED,
    *,
    along: str | None = None,
    degrees: bool = False,
    locked: bool = False,
    damped: bool = False,
    kp: str | None = None,
    kd: str | None = None,
    count: int = 6,
    picture: str | None = None,
    output: str | None = None,
    watch: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Modes over a grid of joint positions, joint speeds or data of the robot, or along a run."""
    from ..analyse.modes.mode_map import mode_map as mapped

    check_outputs({"--plot": (picture, PICTURE), "-o": (output, MAP)})
    scenario = robot_of(source, choices.settings, choices.options())
    robot = scenario.robot
    if bool(over) == (along is not None):
        raise refused(
            "--over",
            None,
            "say over what: --over upper=-1.5:1.5:31 (once or more), or --along RUN.nc",
        )
    if picture is not None and len(over) > 2:
        raise refused(
            "--plot", picture, "a map over more than two quantities cannot be drawn"
        )
    control = {
        key: gains(robot, f"--{key}", text) for key, text in (("kp", kp), ("kd", kd))
    }
    model = model_of(scenario)
    how: dict[str, Any] = {
        "locked": locked,
        "damped": damped,
        "count": count,
        "watch": watch,
        **control,
    }
    if along is not None:
        t, motion = _recorded_motion(model, along)
        found = mapped(
            model, motion[0], qd=motion[1], qdd=motion[2], axes={"time [s]": t}, **how
        )
    else:
        pose = (
            joint_values(robot, "--q", q, degrees=degrees)
            or scenario.initial.q
            or (0.0,) * len(robot.joint_names)
        )
        found = mapped(model, **grid_request(robot, over, pose, degrees), **how)
    _keep_map(found, picture, output)
    return map_summary(found, scenario) | {
        "files": {
            key: path
            for key, path in (("plot", picture), ("data", output))
            if path is not None
        }
    }


def grid_request(
    robot: Robot, over: Sequence[str], pose: Sequence[float], degrees: bool
) -> dict[str, Any]:
    """`upper=-1.5:1.5:31`, `upper.speed=0:10:21`, `payload.mass=0:2:9` as the arguments of `mode_map`."""
    ranges = [_range(text) for text in over]
    names = [name for name, _ in ranges]
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if twice:
        raise refused("--over", twice[0], "stands there twice")
    if np.prod([len(values) for _, values in ranges]) > MOST:
        raise refused("--over", " ".join(over), f"more than {MOST} points")
    mesh = np.meshgrid(*(values for _, values in ranges), indexing="ij")
    q = np.broadcast_to(
        np.asarray(pose, dtype=float), (*mesh[0].shape, len(pose))
    ).copy()
    qd, changes, axes = np.zeros_like(q), {}, {}
    kinds = {link.name: link.joint.type for link in robot.links if link.joint.moves}
    for (name, values), grid in zip(ranges, mesh, strict=True):
        joint, _, what = name.rpartition(".")
        turns = kinds.get(name if name in kinds else joint) == "revolute"
        factor, unit = (
            (np.pi / 180, "deg")
            if degrees and turns
            else (1.0, "rad" if turns else "m")
        )
        if name in kinds:
            q[..., robot.joint_names.index(name)] = factor * grid
            axes[f"{name} [{unit}]"] = values
        elif what == "speed" and joint in kinds:
            qd[..., robot.joint_names.index(joint)] = factor * grid
            axes[f"{joint} speed [{unit}/s]"] = values
        else:
            _check_key(robot, name, float(values[0]))
            changes[name] = grid
            axes[name] = values
    return {
        "q": q,
        "qd": qd if np.any(qd) else None,
        "changes": changes or None,
        "axes": axes,
    }


def _check_key(robot: Robot, key: str, value: float) -> None:
    """Refuse a key that is neither a joint nor in the robot, before anything is computed."""
    try:
        robot.replace({key: value})
    except DescriptionError as failure:
        joints = ", ".join(f"{name}, {name}.speed" for name in robot.joint_names)
        reason = failure.problems[0].message
        message = f"is neither a joint ({joints}) nor a key of the robot with a number: {reason}"
        raise refused("--over", key, message) from None


def _range(text: str) -> tuple[str, np.ndarray]:
    name, equals, numbers = text.partition("=")
    parts = numbers.split(":")
    try:
        if not equals or len(parts) != 3:
            raise ValueError
        low, high, points = float(parts[0]), float(parts[1]), int(parts[2])
        if points < 1 or not np.isfinite([low, high]).all():
            raise ValueError
    except ValueError:
        raise refused(
            "--over", text, "must be NAME=START:STOP:POINTS, such as upper=-1.5:1.5:31"
        ) from None
    return name.strip(), np.linspace(low, high, points)


def _recorded_motion(model: Any, path: str) -> tuple[np.ndarray, list[np.ndarray]]:
    from ..analyse.linear.linear_sequence import motion_of
    from ..show.run import Run

    if not is_result(path):
        raise refused("--along", path, "is not a result file of `lissom simulate -o`")
    run = Run.load(path)
    if list(run.data["joint"].values) != list(model.joint_names):
        raise refused("--along", path, "is a run of another robot")
    thin = max(1, len(run.t) // 200)
    t, motion = motion_of(model, run)
    return t[::thin], [part[::thin] for part in motion]


def _keep_map(found: "ModeMap", picture: str | None, output: str | None) -> None:
    if picture is not None:
        from ..show.plot_linear import plot_mode_map

        plot_mode_map(found, picture)
    if output is not None and output.lower().endswith(".npz"):
        found.save(output)
    elif output is not None:
        data = map_dataset(found)
        write_atomically(
            output, lambda file: file.write(data.to_netcdf(engine="h5netcdf"))
        )


def map_dataset(found: "ModeMap") -> Any:
    """A mode map as `xarray.Dataset`."""
    import xarray as xr

    grid = [f"axis_{k}" for k in range(len(found.shape))]
    coords: dict[str, Any] = {
        grid[k]: (grid[k], values, {"long_name": name})
        for k, (name, values) in enumerate(found.axes.items())
    }
    joints = [name for name in found.names if "/" not in name]
    modes, joint = ([*grid, "mode"], [*grid, "joint"])
    data = {
        "frequency": (modes, found.frequency_hz, {"units": "Hz"}),
        "damping_ratio": (modes, found.damping_ratio),
        "growth": (modes, found.growth, {"units": "1/s"}),
        "mac": (modes, found.mac, {"long_name": "likeness to the point before"}),
        "rigid": (grid, found.rigid, {"long_name": "number of rigid motions"}),
        "q": (joint, found.q, {"units": "rad or m"}),
        "qd": (joint, found.qd, {"units": "rad/s or m/s"}),
        "tip": ([*grid, "axis"], found.tip, {"units": "m"}),
    }
    coords |= {
        "mode": np.arange(1, found.frequency_hz.shape[-1] + 1),
        "joint": joints,
        "axis": ["x", "y", "z"],
    }
    return xr.Dataset(
        data, coords=coords, attrs={"name": found.robot, "locked": int(found.locked)}
    )


def map_summary(found: "ModeMap", scenario: Scenario) -> dict[str, Any]:
    """Range of every mode, where it is, and what could not be followed."""
    flat = found.frequency_hz.reshape(-1, found.frequency_hz.shape[-1])
    points = [dict(zip(found.axes, values, strict=False)) for values in _points(found)]
    rows = [
        {
            "mode": m + 1,
            "lowest_hz": float(flat[:, m].min()),
            "lowest_at": points[int(flat[:, m].argmin())],
            "highest_hz": float(flat[:, m].max()),
            "highest_at": points[int(flat[:, m].argmax())],
            "unstable": int(
                np.sum(found.growth[..., m] > 1e-9 * found.frequency_hz[..., m])
            ),
            "lost": int(np.sum(found.lost[..., m])),
        }
        for m in range(flat.shape[1])
    ]
    return {
        "robot": found.robot,
        "formulation": scenario.formulation,
        "locked": found.locked,
        "damped": found.damped,
        "axes": {name: values for name, values in found.axes.items()},
        "points": len(flat),
        "modes": rows,
        "frequency_hz": found.frequency_hz,
        "damping_ratio": found.damping_ratio,
    }


def _points(found: "ModeMap") -> list[tuple[float, ...]]:
    mesh = np.meshgrid(*found.axes.values(), indexing="ij")
    return list(zip(*(part.ravel().tolist() for part in mesh), strict=True))
