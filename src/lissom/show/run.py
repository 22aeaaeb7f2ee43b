"""A simulated run: numbers by name, files, pictures."""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from ..atomic import write_atomically
from ..compilation import compiled_quickly
from ..control.pd import PD
from ..describe.scenario import Scenario, Solver
from ..dynamics import engine
from ..dynamics.build import find_node
from ..dynamics.nodes import node_poses
from ..solve.inputs import Inputs, Spline, Table, constant_torque
from ..solve.integrate import (
    DeadPointError,
    Outcome,
    driven,
    integrate,
    output_times,
    step_of,
)
from ..solve.model import Model
from ..solve.problem import Problem, State, state_of
from ..types import RESULTS
from .robot_scene import scene_of
from .scene import scene_to_json

KINDS = ("kinetic", "strain", "gravity", "input", "dissipated", "residual")


class SimulationError(RuntimeError):
    """A run that did not reach its end; `run` holds the part that was computed."""

    def __init__(self, message: str, run: "Run"):
        super().__init__(message)
        self.run = run


class Interrupted(SimulationError):
    """A run stopped from the keyboard."""


class Run:
    """Result of a simulation: `run.data` is the xarray.Dataset that `save` writes."""

    def __init__(self, data: xr.Dataset):
        self.data = data

    @property
    def t(self) -> np.ndarray:
        """Output times [s]."""
        return self.data["time"].values

    @property
    def q(self) -> np.ndarray:
        """Joint coordinates of the ERLS over time (time, joint)."""
        return self.data["q"].values

    @property
    def complete(self) -> bool:
        """True if the run reached its end."""
        return bool(self.data.attrs["complete"])

    def position(self, node: str) -> np.ndarray:
        """World position of a node over time (time, 3) [m]; `link/tip` is a link's last node."""
        return self.data["position"].sel(node=self._node(node)).values

    def energy(self, kind: str) -> np.ndarray:
        """Energy of one kind over time [J]: kinetic, strain, gravity, input, dissipated, residual."""
        return self.data["energy"].sel(kind=kind).values

    def _node(self, node: str) -> str:
        if node.endswith("/tip"):
            link = node[: -len("/tip")]
            return [
                name
                for name in self.data["node"].values
                if name.rpartition("/")[0] == link
            ][-1]
        return node

    def plot(self, path: str | Path | None = None):
        """Figure of joint angles, tip path, nodal displacements, energies and torques."""
        from .plot import plot_run

        return plot_run(self.data, path)

    def animate(self, path: str | Path, *, scale: float | None = None) -> Path:
        """One self-contained HTML page with the moving robot."""
        from .viewer import animate

        return animate(self.data, path, scale=scale)

    def save(self, path: str | Path) -> Path:
        """NetCDF-4 file that `xarray.open_dataset` and `lissom simulate` read."""
        return write_atomically(
            path, lambda file: file.write(self.data.to_netcdf(engine="h5netcdf"))
        )

    @classmethod
    def load(cls, path: str | Path) -> "Run":
        """A run read back from its file."""
        return cls(xr.load_dataset(path, engine="h5netcdf"))


def simulate(
    model: Model,
    state: State | None = None,
    *,
    t_end: float = 1.0,
    output_dt: float = 0.001,
    torque: Any = None,
    inputs: Inputs | None = None,
    solver: Solver | Mapping[str, Any] | None = None,
    watch: Callable[[float], None] = lambda t: None,
    throw: bool = True,
    scenario: Mapping[str, Any] | None = None,
    build_s: float = 0.0,
) -> Run:
    """Motion of a robot in time.

    Args:
        model: the robot.
        state: at t = 0, from `model.at` or `model.static`; at rest with q = 0 by default.
        t_end: duration [s].
        output_dt: spacing of the output [s].
        torque: joint torques: constant array, function (t, state) -> array, or a controller such as `PD`.
        inputs: tables of torques, wrenches and motions, instead of `torque`.
        solver: `Solver` options, or a mapping of them.
        watch: called with the time reached while the run goes on.
        throw: raise `SimulationError` if the run fails; else the incomplete run is returned.
        scenario: what the result file should remember as its origin.
        build_s: time already spent on building the model, for the record.
    """
    state = model.at() if state is None else state
    solver = solver if isinstance(solver, Solver) else Solver(**dict(solver or {}))
    inputs = inputs if inputs is not None else _inputs_of_torque(model, torque)
    state = _follow(model, state, inputs)
    model.check_reference(state.q)
    times = output_times(t_end, output_dt)
    began = time.perf_counter()
    compile_run(model, state, inputs, times, solver)
    compile_s = time.perf_counter() - began
    began = time.perf_counter()
    outcome = integrate(model.formulation, state, inputs, times, solver, watch)
    data = dataset(model, inputs, outcome, times, solver)
    wall = {"build": build_s, "compile": compile_s, "run": time.perf_counter() - began}
    data.attrs |= {f"wall_{name}_s": seconds for name, seconds in wall.items()}
    data.attrs["scenario"] = json.dumps(scenario if scenario is not None else {})
    run = Run(data)
    return _checked(run, outcome) if throw else run


def compile_run(
    model: Model, state: State, inputs: Inputs, times: np.ndarray, solver: Solver
) -> None:
    """Compile everything a run needs, by taking its first step."""
    short = solver.model_copy(update={"max_steps": 1})
    outcome = integrate(model.formulation, state, inputs, times, short)
    if outcome.failure == RESULTS.interrupted:
        raise KeyboardInterrupt
    dataset(model, inputs, outcome, times, solver)


def inputs_of(model: Model, scenario: Scenario) -> Inputs:
    """Tables, wrenches, motions and controller of a scenario."""
    joint = {name: k for k, name in enumerate(model.joint_names)}
    given, controller = scenario.inputs, scenario.controller
    law = None
    if controller is not None:
        reference = Table(
            controller.reference.t,
            controller.reference.value,
            controller.reference.interpolation,
            "hold",
        )
        compensate = model.formulation if controller.gravity_compensation else None
        law = PD(controller.kp, controller.kd, reference, compensate)
    return Inputs(
        model.n_joints,
        torque=[
            (joint[name], Table(table.t, table.value, table.interpolation))
            for name, table in given.torque.items()
        ],
        wrenches=[
            (
                *find_node(model.robot, w.node),
                w.frame == "world",
                Table(w.t, w.value, w.interpolation),
            )
            for w in given.wrench
        ],
        motion=[
            (joint[name], Spline(spline.t, spline.value))
            for name, spline in given.motion.items()
        ],
        law=law,
    )


def initial_state(model: Model, scenario: Scenario) -> State:
    """State at t = 0 of a scenario."""
    start = scenario.initial
    if start.elastic == "zero":
        return model.at(start.q, start.qd)
    state = model.static(start.q)
    moving = model.at(state.q, start.qd)
    return eqx.tree_at(
        lambda s: (s.qd, s.encoder_d), state, (moving.qd, moving.encoder_d)
    )


def run_scenario(
    scenario: Scenario,
    watch: Callable[[float], None] = lambda t: None,
    throw: bool = True,
    *,
    model: Model | None = None,
    build_s: float = 0.0,
) -> Run:
    """Build, start and simulate a scenario; a model of it that is there already, built in `build_s`, is taken."""
    began = time.perf_counter()
    model = Model.of_scenario(scenario) if model is None else model
    state, inputs = initial_state(model, scenario), inputs_of(model, scenario)
    build_s += time.perf_counter() - began
    return simulate(
        model,
        state,
        t_end=scenario.t_end,
        output_dt=scenario.output_dt,
        inputs=inputs,
        solver=scenario.solver,
        watch=watch,
        throw=throw,
        scenario=scenario.to_dict(),
        build_s=build_s,
    )


def _inputs_of_torque(model: Model, torque: Any) -> Inputs:
    if torque is None or callable(torque) or hasattr(torque, "on"):
        return Inputs(model.n_joints, law=torque)
    if np.shape(torque) != (model.n_joints,):
        raise ValueError(
            f"torque must have {model.n_joints} values, one for each joint, got shape {np.shape(torque)}"
        )
    return constant_torque(np.asarray(torque, dtype=float))


def _follow(model: Model, state: State, inputs: Inputs) -> State:
    """Joints with a prescribed motion start where and as fast as it says."""
    if not inputs.motion:
        return state
    q, qd = np.array(state.q), np.array(state.qd)
    for joint, spline in inputs.motion:
        shift = np.array(state.encoder)[joint] - q[joint]
        q[joint], qd[joint] = float(spline.spline(max(0.0, spline.t[0]))) - shift, 0.0
        if spline.t[0] < 0.0:
            qd[joint] = float(spline.spline(0.0, 1))
    if model.closed:
        return _followed_loops(
            model, state, q, qd, [joint for joint, _ in inputs.motion]
        )
    return eqx.tree_at(lambda s: (s.q, s.qd), state, (jnp.asarray(q), jnp.asarray(qd)))


def _followed_loops(
    model: Model, state: State, q: np.ndarray, qd: np.ndarray, prescribed: list[int]
) -> State:
    """The joints that follow a motion become coordinates of the closed chain, and the others follow them."""
    try:
        f, state = driven(model.formulation_at(state), state, tuple(prescribed))
    except DeadPointError:
        names = ", ".join(model.joint_names[joint] for joint in prescribed)
        raise ValueError(
            f"inputs.motion: {names}: a dead point of the closed chain: these joints do not set its starting pose"
        ) from None
    chosen = list(f.independent)
    moved = np.array(state.x), np.array(state.xd)
    for joint in prescribed:
        moved[0][chosen.index(joint)], moved[1][chosen.index(joint)] = (
            q[joint],
            qd[joint],
        )
    return state_at(f.near(jnp.asarray(q)), *map(jnp.asarray, moved))


state_at = compiled_quickly(state_of)


class _Shown(eqx.Module):
    qd: Any
    encoder: Any
    position: Any
    erls_position: Any
    rotation: Any
    frame: Any
    energy: Any


@compiled_quickly
def shown_motion(formulation, joints, x, xd, work) -> _Shown:
    """Positions, frames and energies of many states at once; `joints` are those that the loops are closed near."""

    def one(joints, x, xd, work):
        f = formulation.near(joints)
        place = f.configuration(x)
        poses = node_poses(f, place)
        stored = [
            engine.kinetic_energy(f, x, xd),
            engine.strain_energy(f, place),
            engine.gravity_energy(f, place),
        ]
        energy, qd = jnp.stack([*stored, *work]), f.joint_map(x) @ xd[: f.n_joints]
        return _Shown(
            qd,
            place.encoder,
            poses.position,
            poses.erls_position,
            poses.rotation,
            place.R,
            energy,
        )

    return jax.vmap(one)(joints, x, xd, work)


@compiled_quickly
def _torques(f, loads, piece, joints, t, x, xd):
    def one(piece, joints, t, x, xd):
        here = Problem(f, jax.tree.map(lambda part: part[piece], loads)).near(joints)
        xdd = (
            here.acceleration(t, x, xd, portable=True)
            if here.loads.prescribed
            else jnp.zeros_like(x)
        )
        return here.torque(t, x, xd, xdd)

    return jax.vmap(one)(piece, joints, t, x, xd)


def _torque_history(f, inputs: Inputs, times: np.ndarray, record) -> np.ndarray:
    """Torques at the output times, each from the piece that starts there or holds it."""
    ends = inputs.breakpoints(float(times[-1]))
    piece = np.clip(
        np.searchsorted(ends, times + 1e-12, side="right") - 1, 0, len(ends) - 2
    )
    pieces = [
        inputs.on(float(a), float(b)) for a, b in zip(ends[:-1], ends[1:], strict=True)
    ]
    loads = jax.tree.map(lambda *parts: np.stack(parts), *pieces)
    return np.asarray(
        _torques(
            f,
            loads,
            jnp.asarray(piece),
            record.joints,
            jnp.asarray(times),
            record.x,
            record.xd,
        )
    )


def _history(
    inputs: Inputs, outcome: Outcome, times: np.ndarray
) -> tuple[_Shown, np.ndarray]:
    """What is shown of every output time, each stretch of the run in its own coordinates."""
    record, stretches = outcome.record, outcome.stretches
    ends = [*(stretch.row for stretch in stretches[1:]), outcome.filled]
    shown, torques = [], []
    for stretch, end in zip(stretches, ends, strict=True):
        f, rows = stretch.formulation, slice(stretch.row, end)
        part = shown_motion(f, record.joints, record.x, record.xd, record.work)
        shown.append(jax.tree.map(lambda a, rows=rows: np.asarray(a)[rows], part))
        torques.append(_torque_history(f, inputs, times, record)[rows])
    return jax.tree.map(lambda *parts: np.concatenate(parts), *shown), np.concatenate(
        torques
    )


def dataset(
    model: Model, inputs: Inputs, outcome: Outcome, times: np.ndarray, solver: Solver
) -> xr.Dataset:
    """The results of contract, section 4, with names and units."""
    n, j, record = outcome.filled, model.formulation.n_joints, outcome.record
    shown, torque = _history(inputs, outcome, times)
    x, joints = np.asarray(record.x)[:n], np.asarray(record.joints)[:n]
    link, node = np.array(model.node_index).T
    stored = shown.energy[:, :3].sum(axis=1)
    balance = stored - stored[:1] - shown.energy[:, 3] + shown.energy[:, 4]
    energy = np.concatenate([shown.energy, balance[:, None]], axis=1)
    joint, nodes = ("time", "joint"), ("time", "node", "axis")
    data = xr.Dataset(
        {
            "q": (
                joint,
                joints,
                {"units": "rad or m", "long_name": "joint coordinates of the ERLS"},
            ),
            "qd": (joint, shown.qd, {"units": "rad/s or m/s"}),
            "encoder": (
                joint,
                shown.encoder,
                {"units": "rad or m", "long_name": "what the encoders read"},
            ),
            "torque": (joint, torque, {"units": "N m or N"}),
            "elastic": (("time", "coordinate"), x[:, j:], {"units": "m or rad"}),
            "position": (
                nodes,
                shown.position[:, link, node],
                {"units": "m", "long_name": "nodes of the robot, world axes"},
            ),
            "erls_position": (
                nodes,
                shown.erls_position[:, link, node],
                {"units": "m", "long_name": "nodes of the ERLS"},
            ),
            "rotation": (
                nodes,
                shown.rotation[:, link, node],
                {"units": "rad", "long_name": "small rotation from the ERLS"},
            ),
            "frame": (
                ("time", "link", "row", "column"),
                shown.frame,
                {"long_name": "link axes in the world"},
            ),
            "energy": (("time", "kind"), energy, {"units": "J"}),
        },
        coords={
            "time": ("time", times[:n], {"units": "s"}),
            "joint": list(model.joint_names),
            "coordinate": list(model.coordinate_names),
            "node": list(model.node_names),
            "link": list(model.link_names),
            "axis": ["x", "y", "z"],
            "kind": list(KINDS),
        },
    )
    return data.assign_attrs(
        _facts(model, outcome, solver),
        beyond_limits=", ".join(_beyond_limits(model, shown.encoder)),
    )


def _beyond_limits(model: Model, encoder: np.ndarray) -> list[str]:
    """Joints that left their range; limits of position are watched, not enforced."""
    limits = [link.joint.limits for link in model.robot.links if link.joint.moves]
    ranges = [
        (-np.inf, np.inf) if limit is None or limit.position is None else limit.position
        for limit in limits
    ]
    left = [
        np.any((reading < low) | (reading > high))
        for reading, (low, high) in zip(encoder.T, ranges, strict=True)
    ]
    return [name for name, out in zip(model.joint_names, left, strict=True) if out]


def _facts(model: Model, outcome: Outcome, solver: Solver) -> dict[str, Any]:
    from .. import __version__

    complete = outcome.failure == RESULTS.successful
    return {
        "name": model.robot.name,
        "formulation": model.formulation_name,
        "lissom": __version__,
        "complete": int(complete),
        "reason": "" if complete else _reason(model, outcome),
        "t_reached": outcome.time,
        "method": _method(solver, step_of(solver)),
        "steps": int(outcome.counts.steps),
        "rejected": int(outcome.counts.rejected),
        "rhs_evaluations": int(outcome.counts.evaluations),
        "scene": scene_to_json(scene_of(model.robot)),
        "independent": "; ".join(_coordinates(model, outcome)),
    }


def _reason(model: Model, outcome: Outcome) -> str:
    return (
        dead_point(model, outcome)
        if outcome.failure == RESULTS.dead_point
        else RESULTS[outcome.failure]
    )


def _coordinates(model: Model, outcome: Outcome) -> list[str]:
    """Independent joints of a closed chain, and when others took over at a dead point."""
    if not model.closed:
        return []
    names = [
        ", ".join(model.joint_names[k] for k in stretch.formulation.independent)
        for stretch in outcome.stretches
    ]
    return [
        f"{name} from {stretch.time:.6g} s"
        for name, stretch in zip(names, outcome.stretches, strict=True)
    ]


def dead_point(model: Model, outcome: Outcome) -> str:
    """Which joints are at a dead point, and where."""
    stuck = [
        model.joint_names[k] for k in outcome.stretches[-1].formulation.independent
    ]
    pose = ", ".join(
        f"{name} = {value:.4g}"
        for name, value in zip(model.joint_names, outcome.joints, strict=True)
    )
    others = [name for name in model.joint_names if name not in stuck]
    return (
        f"joint {', '.join(stuck)} {'is' if len(stuck) == 1 else 'are'} at a dead point of the closed chain ({pose}): "
        f"{', '.join(others)} no longer follow. No other choice of independent joints is regular there, or a motion is "
        "prescribed to this one: drive another joint."
    )


def _method(solver: Solver, step) -> str:
    return solver.method if step.name == "explicit" else step.name


def _checked(run: Run, outcome: Outcome) -> Run:
    if run.complete:
        return run
    at = f"at t = {outcome.time:.6g} s"
    if outcome.failure == RESULTS.interrupted:
        raise Interrupted(f"interrupted {at}", run)
    raise SimulationError(f"stopped {at}: {run.data.attrs['reason']}", run)
