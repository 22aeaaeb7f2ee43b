"""Requests and their answers as plain data, ready for JSON: what the command line prints and other programs read.

Nothing here prints, and nothing is imported before it is needed: listing the library takes no numerical machinery.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..describe import (
    DescriptionError,
    Problem,
    Robot,
    Scenario,
    library_names,
    library_scenarios,
)
from ..describe.files import kind_of_file
from ..describe.geometry import beam_path, node_count, tip
from ..describe.section import Taper
from .request import (
    FORCE,
    PAGE,
    PICTURE,
    RESULT,
    check_outputs,
    joint_values,
    modes_of,
    reference_of,
    robot_of,
    runs_from_rest,
    scenario_of,
    source_line,
)

if TYPE_CHECKING:
    from ..show.run import Run
    from ..solve.model import Model
    from ..solve.problem import State

STATIC, UNDEFORMED, MOVING = (
    "static equilibrium under gravity",
    "undeformed",
    "motion given",
)


@dataclass(frozen=True)
class Choices:
    """How a robot is modelled: what a scenario and the options of every analysis have in common."""

    settings: Sequence[str] = ()  # key=value
    formulation: str | None = None
    modes: str | None = None  # 12, or 12,8
    reference: str | None = None  # tangent, minimum-norm, zeroed:upper/tip.y,lower/0.rz
    terms: str | None = None

    def options(self) -> dict[str, Any]:
        """Those that were made, by their key in a scenario."""
        chosen = {
            "formulation": self.formulation,
            "modes": modes_of(self.modes),
            "terms": self.terms,
        }
        return chosen | {"reference": reference_of(self.reference)}


AS_DESCRIBED = Choices()


# --- the library and its files -------------------------------------------------------------------------------------


def robots() -> dict[str, Any]:
    """The robots and scenarios that come with the package."""
    return {
        "robots": [_library_robot(name) for name in library_names()],
        "scenarios": [_library_scenario(name) for name in library_scenarios()],
    }


def _library_robot(name: str) -> dict[str, Any]:
    robot = Robot.load(name)
    bending = [link for link in robot.links if link.flexible]
    elements = [node_count(robot, robot.links.index(link)) - 1 for link in bending]
    return {
        "name": name,
        "joints": list(robot.joint_names),
        "flexible_links": [link.name for link in bending],
        "elements": elements,
        "source": source_line(name),
    }


def _library_scenario(name: str) -> dict[str, Any]:
    scenario = Scenario.load(name)
    return {
        "name": name,
        "robot": scenario.robot.name,
        "t_end": scenario.t_end,
        "source": source_line(name, scenario=True),
    }


def validate(file: str) -> dict[str, Any]:
    """What is wrong with a robot or scenario file: every error at once."""
    kind = None
    try:
        kind = kind_of_file(file)
        described = Robot.load(file) if kind == "robot" else Scenario.load(file)
        _check_loops(described, file)
        if isinstance(described, Scenario):
            _check_zeroed(described, file)
    except DescriptionError as failure:
        return {"valid": False, "kind": kind, "errors": errors_of(failure)}
    return {"valid": True, "kind": kind, "errors": []}


def _check_loops(described: Robot | Scenario, file: str) -> None:
    """Loops that are well written may still not close, or hold too much: only the geometry tells."""
    from ..kinematics.loops.assembly import AssemblyError
    from ..solve.model import Model

    robot, q = (
        (described.robot, described.initial.q)
        if isinstance(described, Scenario)
        else (described, None)
    )
    if not robot.loops:
        return
    try:
        Model(robot).assemble(_list(q))
    except AssemblyError as reason:
        field, _, text = str(reason).partition(": ")
        raise DescriptionError([Problem(file, None, field, None, text)]) from None


def _check_zeroed(scenario: Scenario, file: str) -> None:
    """Zeroed displacements that are well written may still define no ERLS: only the geometry tells."""
    if not isinstance(scenario.reference, Mapping):
        return
    from ..solve.model import UndefinedReferenceError

    model = model_of(scenario)
    try:
        model.check_reference(
            np.array(scenario.initial.q or np.zeros(model.n_joints), dtype=float)
        )
    except UndefinedReferenceError as reason:
        text = str(reason).removeprefix("reference.zeroed: ")
        raise DescriptionError(
            [Problem(file, None, "reference.zeroed", None, text)]
        ) from None


def errors_of(failure: DescriptionError) -> list[dict[str, Any]]:
    """The problems of a description as plain data."""
    return [
        {
            "file": p.file,
            "line": p.line,
            "field": p.field,
            "value": plain(p.value),
            "message": p.message,
        }
        for p in failure.problems
    ]


def show(
    source: str,
    q: str | None = None,
    picture: str | None = None,
    *,
    degrees: bool = False,
    settings=(),
) -> dict:
    """The links of a robot in a table, and its picture in the pose q."""
    check_outputs({"-o": (picture, PICTURE)})
    scenario = robot_of(source, settings)
    robot = scenario.robot
    pose = (
        joint_values(robot, "--q", q, degrees=degrees)
        or scenario.initial.q
        or (0.0,) * len(robot.joint_names)
    )
    independent = list(robot.joint_names)
    if robot.loops:
        model = model_of(scenario)
        pose = tuple(
            np.asarray(
                model.assemble(_list(pose) if q or scenario.initial.q else None)
            ).tolist()
        )
        independent = list(model.independent_names)
    links = [_link_row(robot, i) for i in range(len(robot.links))]
    if picture is not None:
        _draw(robot, pose, picture)
    return {
        "name": robot.name,
        "source": source_line(source),
        "gravity": list(robot.gravity),
        "joints": list(robot.joint_names),
        "loops": [
            {"link": loop.link, "to": loop.to, "at": list(loop.at), "type": loop.type}
            for loop in robot.loops
        ],
        "independent": independent,
        "q": dict(zip(robot.joint_names, pose, strict=True)),
        "links": links,
        "payload": None if robot.payload is None else robot.payload.mass,
        "mass": sum(row["mass"] for row in links)
        + (robot.payload.mass if robot.payload else 0.0),
        "damping": _has_damping(robot),
        "picture": picture,
    }


def _link_row(robot: Robot, i: int) -> dict[str, Any]:
    from ..bodies.link_body import body_of

    link = robot.links[i]
    body = body_of(robot.replace({"payload": None}) if robot.payload else robot, i)
    path = (
        np.zeros((1, 3))
        if link.beam is None
        else np.asarray(beam_path(robot, i), dtype=float)
    )
    length = (
        np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
        if len(path) > 1
        else np.linalg.norm(tip(robot, i))
    )
    return {
        "name": link.name,
        "joint": link.joint.type,
        "body": "beam"
        if link.beam is not None
        else "fe"
        if link.fe is not None
        else "rigid",
        "length": float(length),
        "section": _body_text(link, len(body.names)),
        "material": None
        if link.beam is None
        else {k: getattr(link.beam.material, k) for k in ("E", "nu", "density")},
        "mass": float(body.total_mass),
        "elements": node_count(robot, i) - 1 if link.flexible else 0,
        "theory": None if link.beam is None else link.beam.theory,
    }


def _body_text(link: Any, modes: int) -> str | None:
    """What a link bends like, in a few words; `None` for a rigid one."""
    if link.fe is not None:
        return f"{Path(link.fe.file).name}, {modes} modes"
    return None if link.beam is None else section_text(link.beam.section)


def section_text(section: Any) -> str:
    """A section in a few words: `rectangle y 30 mm, z 10 mm`."""
    if isinstance(section, Taper):
        return f"{section_text(section.start)} to {section_text(section.end)}"
    given = {k: getattr(section, k) for k in type(section).model_fields if k != "shape"}
    sizes = {k: v for k, v in given.items() if isinstance(v, float | int)}
    general = section.shape == "general"
    parts = [
        f"{k} {v:.3g}" if general else f"{k} {1e3 * v:.4g} mm" for k, v in sizes.items()
    ]
    return f"{section.shape} {', '.join(parts)}"


def _draw(robot: Robot, q: Sequence[float], path: str) -> None:
    from ..show.figure import draw_robot
    from ..show.robot_scene import scene_of
    from ..solve.model import Model

    model = Model(robot)
    state = model.at(list(q))
    position = _by_node(model, model.poses(state).position)
    draw_robot(scene_of(robot), position, link_axes(model, state), path)


# --- equilibrium and vibration -------------------------------------------------------------------------------------


def static(
    source: str,
    q: str | None = None,
    choices: Choices = AS_DESCRIBED,
    *,
    degrees: bool = False,
    free: bool = False,
    torque: str | None = None,
) -> dict[str, Any]:
    """Elastic equilibrium with the joints held at q, or free under torques."""
    scenario = robot_of(source, choices.settings, choices.options())
    robot = scenario.robot
    pose = joint_values(robot, "--q", q, degrees=degrees) or scenario.initial.q
    given = joint_values(robot, "--torque", torque, FORCE)
    if given is not None and not free:
        message = "only free joints take torques: add --free; held joints find theirs"
        raise DescriptionError([Problem(None, None, "--torque", torque, message)])
    model = model_of(scenario)
    state = model.static(_list(pose), _list(given), free=free)
    rigid = model.poses(model.at(state.encoder))
    position = _by_node(model, model.poses(state).position)
    displacement = position - _by_node(model, rigid.position)
    return {
        "robot": robot.name,
        "formulation": scenario.formulation,
        "joints_are": "free" if free else "held",
        "q": _by_joint(model, state.q),
        "encoder": _by_joint(model, state.encoder),
        "torque": _by_joint(model, state.torque),
        "position": named_nodes(model.node_names, position),
        "displacement": named_nodes(model.node_names, displacement),
        "energy": _energies(model, state),
    }


def modes(
    source: str,
    q: str | None = None,
    choices: Choices = AS_DESCRIBED,
    *,
    degrees: bool = False,
    locked: bool = False,
    count: int = 10,
    undeformed: bool = False,
    picture: str | None = None,
    damped: bool = False,
    motion: tuple[str | None, str | None] = (None, None),
    control: tuple[str | None, str | None] = (None, None),
    page: str | None = None,
    number: int = 1,
) -> dict[str, Any]:
    """Natural frequencies, damping ratios, and the share of each link and joint in each mode."""
    from ..analyse.modes.modal import modes as natural_modes
    from .service_linear import gains, motion_options

    check_outputs({"--plot": (picture, PICTURE), "--animate": (page, PAGE)})
    scenario = robot_of(source, choices.settings, choices.options())
    robot = scenario.robot
    pose = _list(joint_values(robot, "--q", q, degrees=degrees) or scenario.initial.q)
    moving = motion_options(robot, *motion, degrees)
    gain = {
        key: gains(robot, f"--{key}", text)
        for key, text in zip(("kp", "kd"), control, strict=True)
    }
    is_moving = any(value is not None for value in moving.values())
    if undeformed and is_moving:
        raise DescriptionError(
            [
                Problem(
                    None,
                    None,
                    "--undeformed",
                    None,
                    "a moving robot is balanced, never undeformed",
                )
            ]
        )
    if number > count:
        raise DescriptionError(
            [
                Problem(
                    None,
                    None,
                    "--mode",
                    number,
                    f"only {count} modes are asked for: --count",
                )
            ]
        )
    model = model_of(scenario)
    state = model.at(pose) if undeformed else model.static(pose)
    about = pose if is_moving else state
    found = natural_modes(
        model, about, locked=locked, count=count, damped=damped, **moving, **gain
    )
    share = [
        {name: row[m] for name, row in found.share.items()}
        for m in range(len(found.frequency_hz))
    ]
    if picture is not None:
        _draw_modes(model, state, found, share, picture)
    if page is not None:
        from ..show.mode_animation import animate_mode

        animate_mode(model, state, found, number, page)
    return {
        "robot": robot.name,
        "formulation": scenario.formulation,
        "about": UNDEFORMED if undeformed else MOVING if is_moving else STATIC,
        "locked": locked,
        "q": _by_joint(model, state.q),
        "frequency_hz": found.frequency_hz,
        "damping_ratio": found.damping_ratio,
        "share": share,
        "strain_share": [
            {k: row[m] for k, row in found.strain.items()}
            for m in range(len(found.frequency_hz))
        ],
        "eigenvalue": [
            {"real": value.real, "imag": value.imag} for value in _exponents(found)
        ],
        "stability": list(found.stability),
        "damping": _has_damping(robot),
        "picture": picture,
        "animation": page,
    }


def _exponents(found: Any) -> np.ndarray:
    """Lambda of each mode [rad/s]; i omega of an undamped one."""
    squared = np.asarray(found.eigenvalue)
    return squared if np.iscomplexobj(squared) else np.sqrt(-squared.astype(complex))


def _draw_modes(
    model: "Model", state: "State", found: Any, share: list[dict[str, Any]], path: str
) -> None:
    from ..show.plot import plot_modes

    motion = nodal_motion(model, state, found.shapes)
    largest = [
        max((part for part in row.items() if part[0] in model.link_names), key=_second)
        for row in share
    ]
    plot_modes(
        _by_node(model, model.poses(state).position),
        motion[..., :3],
        found.frequency_hz,
        np.nan_to_num(found.damping_ratio),
        path,
        rotations=motion[..., 3:],
        gravity=model.robot.gravity,
        labels=[
            f"{kind}, {name} {100 * part:.0f} %"
            for kind, (name, part) in zip(found.stability, largest, strict=True)
        ],
    )


# --- simulation ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Simulation:
    """A run that was asked for, checked and ready to start."""

    scenario: Scenario
    notes: tuple[str, ...] = ()
    result: str | None = None
    picture: str | None = None
    page: str | None = None


class FailedRun(RuntimeError):
    """A run that did not reach its end; what was computed has been saved where a file was asked for."""

    def __init__(self, message: str, details: Mapping[str, Any], interrupted: bool):
        super().__init__(message)
        self.details, self.interrupted = dict(details), interrupted


def plan_simulation(
    source: str,
    choices: Choices = AS_DESCRIBED,
    *,
    t_end: float | None = None,
    method: str | None = None,
    result: str | None = None,
    picture: str | None = None,
    page: str | None = None,
) -> Simulation:
    """Checks everything about a run before it begins: the scenario, its changes, and where the results go."""
    problems: list[Problem] = []
    scenario = None
    try:
        check_outputs(
            {
                "-o": (result, RESULT),
                "--plot": (picture, PICTURE),
                "--animate": (page, PAGE),
            }
        )
    except DescriptionError as failure:
        problems += failure.problems
    try:
        options = choices.options() | {"t_end": t_end, "solver.method": method}
        scenario = scenario_of(source, choices.settings, options)
    except DescriptionError as failure:
        problems += failure.problems
    if problems or scenario is None:
        raise DescriptionError(problems)
    _check_zeroed(scenario, source)
    rest = f"a robot without a scenario: {scenario.t_end:g} s under gravity from rest"
    notes = [rest] if runs_from_rest(source) else []
    if not _has_damping(scenario.robot):
        notes.append("no damping in the robot: vibration does not die out")
    return Simulation(scenario, tuple(notes), result, picture, page)


def simulate(
    plan: Simulation, watch: Callable[[float], None] = lambda t: None
) -> dict[str, Any]:
    """The run, its files, and its final state.

    Raises:
        FailedRun: it stopped early; the part that was computed is saved.
    """
    from ..show.run import Interrupted, SimulationError, run_scenario

    try:
        run = run_scenario(plan.scenario, watch)
    except SimulationError as failure:
        saved = _save(failure.run, plan.result)
        raise FailedRun(
            f"{failure}{_advice(failure.run)}",
            run_summary(failure.run) | {"notes": list(plan.notes), "files": saved},
            isinstance(failure, Interrupted),
        ) from failure
    files = _save(run, plan.result)
    if plan.picture is not None:
        run.plot(plan.picture)
        files["plot"] = plan.picture
    if plan.page is not None:
        run.animate(plan.page)
        files["animation"] = plan.page
    return run_summary(run) | {"notes": list(plan.notes), "files": files}


def _save(run: "Run", path: str | None) -> dict[str, str]:
    if path is None:
        return {}
    run.save(path)
    return {"result": path}


def _advice(run: "Run") -> str:
    """What to try where the reason itself does not say."""
    from ..types import RESULTS

    bare = (RESULTS[RESULTS.not_finite], RESULTS[RESULTS.step_too_small])
    if run.data.attrs["reason"] not in bare:
        return ""
    return " Try solver.rtol=1e-8, a smaller solver.max_step, damping, smaller loads or gains, or another reference."


def run_summary(run: "Run") -> dict[str, Any]:
    """The final state of a run, how it was computed, and how long that took."""
    data, facts = run.data, run.data.attrs
    final = data.isel(time=-1)
    joints, nodes = (
        [str(name) for name in data[key].values] for key in ("joint", "node")
    )
    at_end = {
        key: dict(zip(joints, final[key].values, strict=True))
        for key in ("q", "qd", "encoder", "torque")
    }
    largest = np.abs(
        data["energy"]
        .sel(kind=["kinetic", "strain", "gravity", "input", "dissipated"])
        .values
    ).max()
    return {
        "robot": facts["name"],
        "formulation": facts["formulation"],
        "t_end": final["time"].item(),
        "complete": bool(facts["complete"]),
        **at_end,
        "position": named_nodes(nodes, final["position"].values),
        "energy": {
            str(kind): final["energy"].sel(kind=kind).item()
            for kind in data["kind"].values
        },
        "energy_residual": float(
            np.abs(run.energy("residual")).max() / max(largest, 1e-300)
        ),
        "solver": {
            key: plain(facts[key])
            for key in ("method", "steps", "rejected", "rhs_evaluations")
        },
        "wall_s": {
            key: float(facts[f"wall_{key}_s"]) for key in ("build", "compile", "run")
        },
    }


# --- names and numbers ---------------------------------------------------------------------------------------------


def model_of(scenario: Scenario) -> "Model":
    """The robot of a scenario in its formulation."""
    from ..solve.model import Model

    return Model.of_scenario(scenario)


def link_axes(model: "Model", state: "State") -> np.ndarray:
    """Rotation matrices (L, 3, 3) of the link frames, world from link."""
    from ..compilation import compiled_quickly

    return np.asarray(
        compiled_quickly(lambda f, x: f.configuration(x).R)(
            model.formulation_at(state), state.x
        )
    )


def nodal_motion(model: "Model", state: "State", shapes: np.ndarray) -> np.ndarray:
    """Displacement and rotation (mode, node, 6) of every node in every mode, world axes."""
    import jax
    import jax.numpy as jnp

    from ..compilation import compiled_quickly
    from ..dynamics import engine
    from ..dynamics.nodes import node_poses

    @compiled_quickly
    def motion(f, x, shape):
        _, linear = jax.jvp(
            lambda x: node_poses(f, f.configuration(x)).position, (x,), (shape,)
        )
        N = engine.rate_map(f, x)
        bent = jnp.einsum(
            "lkdc,lcn->lkdn", jnp.asarray(f.links.node_shape)[:, :, 3:], N.q
        )
        angular = (
            jnp.einsum("lij,lkjn->lkin", f.configuration(x).R, N.V[:, None, 3:] + bent)
            @ shape
        )
        return jnp.concatenate([linear, angular], axis=-1)

    padded = [
        motion(model.formulation_at(state), state.x, jnp.asarray(shape))
        for shape in shapes.T
    ]
    return np.stack([_by_node(model, rows) for rows in padded])


def _energies(model: "Model", state: "State") -> dict[str, float]:
    from ..compilation import compiled_quickly
    from ..dynamics import engine

    @compiled_quickly
    def stored(f, x):
        place = f.configuration(x)
        return engine.strain_energy(f, place), engine.gravity_energy(f, place)

    strain, gravity = stored(model.formulation_at(state), state.x)
    return {"strain": float(strain), "gravity": float(gravity)}


def _has_damping(robot: Robot) -> bool:
    """True if a link or a joint takes energy out of the motion."""
    damped = [link.damping or robot.damping for link in robot.links if link.flexible]
    rubbed = [link.joint.friction for link in robot.links]
    return any(d is not None and (d.alpha or d.beta or d.ratio) for d in damped) or any(
        f is not None and (f.viscous or f.coulomb) for f in rubbed
    )


def named_nodes(names: Sequence[str], rows: np.ndarray) -> dict[str, list[float]]:
    """Rows by node name; the last node of each link also as `link/tip`."""
    named = {str(name): row.tolist() for name, row in zip(names, rows, strict=True)}
    tips = {f"{name.rpartition('/')[0]}/tip": row for name, row in named.items()}
    return named | tips


def _by_node(model: "Model", padded: Any) -> np.ndarray:
    link, node = np.array(model.node_index).T
    return np.asarray(padded)[link, node]


def _by_joint(model: "Model", values: Any) -> dict[str, float]:
    return dict(zip(model.joint_names, np.asarray(values).tolist(), strict=True))


def _list(values: Sequence[float] | None) -> list[float] | None:
    return None if values is None else list(values)


def _second(pair: tuple) -> Any:
    return pair[1]


def plain(value: Any) -> Any:
    """Numbers, texts, lists and mappings that JSON knows; what is not finite becomes `None`."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, bool | str | int) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(entry) for entry in value]
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):  # arrays and scalars of NumPy and JAX
        return plain(value.tolist())
    return str(value)
