"""A simulated run: numbers by name, files, pictures."""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from .. import __version__
from ..analyse.validity.watch import doubts_of_run, doubts_of_scenario
from ..atomic import write_atomically
from ..describe.array_file import check_file
from ..describe.doubt import Doubt, lines_of
from ..describe.errors import nearest
from ..describe.modes import default_modes
from ..describe.part import plain
from ..describe.scenario import Scenario, Solver
from ..describe.summary import Summarised, Summary, count, number
from ..dynamics.formulation import near
from ..native.compiled import compiled_quickly, using
from ..progress import shown_progress
from ..scenarios.ready import ready
from ..solve.arguments import (
    ArgumentError,
    ModelLike,
    Seconds,
    SolverLike,
    model_from,
    solver_of,
    state_from,
)
from ..solve.channels import UnknownNameError
from ..solve.dead_point import DeadPointError, with_prescribed_joints
from ..solve.feedback import ControlState, WiredLaw
from ..solve.inputs import Inputs, inputs_from
from ..solve.model import Model
from ..solve.node_motion import (
    KINDS,
    node_motions,
    prepare_node_motions,
    recorded_nodes,
)
from ..solve.outputs import (
    ENERGIES,
    Outputs,
    at_nodes,
    energy_audit,
    outputs_of,
    prepare_outputs,
)
from ..solve.simulate import Before, output_times, prepare, step_of
from ..solve.simulate import simulate as solve_run
from ..solve.solution import Solution
from ..solve.state import State, state_at
from ..types import RESULTS, ended_as
from .checkpoint_file import CheckpointFile
from .robot_scene import scene_text
from .run_columns import node_label

if TYPE_CHECKING:
    from xarray import Dataset

    from .page import Page

MOST_NAMES = 20  # in a refusal
# Of a state, under the names of the data.
STATE = ("q", "qd", "elastic", "elastic_rate", "encoder", "encoder_rate")
JOINT_COLUMNS = ("joint", "lowest q", "highest q", "largest torque")
Variables = dict[str, tuple[Any, ...]]  # by name: dimensions, numbers, attributes


class SimulationError(RuntimeError):
    """A run that did not reach its end; `run` holds the part that was computed."""

    def __init__(self, message: str, run: "Run"):
        super().__init__(message)
        self.run = run


def unknown_name(kind: str, name: str, names: Iterable[str]) -> UnknownNameError:
    """The refusal of a name that a result does not hold."""
    known = list(names)
    hint = nearest(name, known) or "."
    shown = ", ".join(known[:MOST_NAMES])
    more = ", ..." if len(known) > MOST_NAMES else ""
    return UnknownNameError(name, f"no such {kind}{hint} There are: {shown}{more}")


class Interrupted(SimulationError):
    """A run stopped from the keyboard."""


class Run(Summarised):
    """Result of a simulation: `run.data` is the xarray.Dataset that `save` writes.

    Args:
        data: the dataset, or what it is made from when it is first asked for.
    """

    def __init__(self, data: "Dataset | RunTable"):
        self._source = data
        self._control: ControlState | None = None  # of its sampled law at the end

    def summary(self) -> Summary:
        """What was run, how it ended, and where every joint and tip went."""
        facts = self.facts
        name, times = facts.get("name", "robot"), self.t
        till = f"{number(times[0])} to {number(times[-1])} s" if len(times) else "none"
        ended = "" if self.complete else f", incomplete: {facts.get('reason', '')}"
        lines = [
            ("time", f"{till}, {count(len(times), 'sample')}{ended}"),
            ("formulation", str(facts.get("formulation", ""))),
            ("steps", f"{facts.get('steps', '-')} by {facts.get('method', '-')}"),
        ]
        lines += [("warning", line) for line in self.warnings]
        rows = []
        for k, joint in enumerate(self.values("joint")):
            q, torque = self.q[:, k], self.values("torque")[:, k]
            extent = (
                [q.min(), q.max(), np.abs(torque).max()] if len(q) else [np.nan] * 3
            )
            rows.append((str(joint), *map(number, extent)))
        return Summary(f"Run of {name}", tuple(lines), JOINT_COLUMNS, tuple(rows))

    @property
    def data(self) -> "Dataset":
        """All numbers with their names and units."""
        if isinstance(self._source, RunTable):
            self._source = self._source.dataset()
        return self._source

    @property
    def facts(self) -> dict[str, Any]:
        """What was run, how, and how it ended: the attributes of `data`."""
        return self._source.attrs

    def values(self, name: str) -> np.ndarray:
        """The numbers of one variable or coordinate of `data`."""
        if name not in self.names:
            raise unknown_name("quantity", name, self.names)
        source = self._source
        if isinstance(source, RunTable):
            return source.values(name)
        return source[name].values

    @property
    def names(self) -> list[str]:
        """Of everything that the run holds."""
        source = self._source
        if isinstance(source, RunTable):
            return source.names
        return [str(name) for name in source.variables]

    @property
    def t(self) -> np.ndarray:
        """Output times [s]."""
        return self.values("time")

    @property
    def q(self) -> np.ndarray:
        """Joint coordinates of the ERLS over time (time, joint)."""
        return self.values("q")

    @property
    def complete(self) -> bool:
        """True if the run reached its end."""
        return bool(self.facts["complete"])

    @property
    def warnings(self) -> tuple[str, ...]:
        """What there is to doubt about the run, one line each."""
        return tuple(self.facts.get("warnings", "").splitlines())

    def trajectory(self) -> tuple[np.ndarray, np.ndarray]:
        """Output times [s] and what the encoders read at each of them (time, joint)."""
        return self.t, self.values("encoder")

    def position(self, node: str) -> np.ndarray:
        """World position of a node over time (time, 3) [m]; `link/tip` is a link's last node."""
        return self.values("position")[:, self._place("node", self._node(node))]

    def velocity(self, node: str) -> np.ndarray:
        """World velocity of a recorded node over time (time, 3) [m/s]."""
        return self._of_recorded("velocity", node)

    def acceleration(self, node: str) -> np.ndarray:
        """World acceleration of a recorded node over time (time, 3) [m/s^2]."""
        return self._of_recorded("acceleration", node)

    def _of_recorded(self, quantity: str, node: str) -> np.ndarray:
        label = self._node(node)
        recorded = []
        if "recorded" in self.names:
            recorded = self.values("recorded").tolist()
        if label not in recorded:
            message = f"its {quantity} was not recorded: run with record={[*recorded, node]!r}"
            raise UnknownNameError(node, message)
        return self.values(quantity)[:, recorded.index(label)]

    def energy(self, kind: str) -> np.ndarray:
        """Energy of one kind over time [J]: kinetic, strain, gravity, input, dissipated, residual."""
        return self.values("energy")[:, self._place("kind", kind)]

    def _place(self, coordinate: str, name: str) -> int:
        """Where a name stands along a coordinate.

        Raises:
            UnknownNameError: there is no such name.
        """
        names = self.values(coordinate).tolist()
        if name not in names:
            raise unknown_name(coordinate, name, names)
        return names.index(name)

    def _node(self, node: str) -> str:
        """The name of a node in the data, where tips have their number."""
        names = [str(name) for name in self.values("node")]
        label = node_label(names, node)
        if label not in names:
            tips = dict.fromkeys(f"{name.rpartition('/')[0]}/tip" for name in names)
            raise unknown_name("node", node, [*tips, *names])
        return label

    def plot(self, path: str | Path | None = None):
        """Figure of joint angles, tip path, nodal displacements, energies and torques."""
        from .plot import plot_run  # slow to import, and few runs are drawn

        return plot_run(self.data, path)

    @overload
    def animate(self, path: None = None, *, scale: float | None = None) -> "Page": ...

    @overload
    def animate(self, path: str | Path, *, scale: float | None = None) -> Path: ...

    def animate(self, path: str | Path | None = None, *, scale: float | None = None):
        """One self-contained HTML page with the moving robot: a file, or without a path what notebooks show inline."""
        from .viewer import animate, moving_page

        if path is None:
            return moving_page(self.data, scale=scale)
        return animate(self.data, path, scale=scale)

    def to_csv(self, path: str | Path, quantities: Sequence[str] | None = None) -> Path:
        """A table with one row for each output time; `quantities` are names such as `q`, `position`, `elastic`.

        Raises:
            UnknownNameError: the run holds no such quantity.
        """
        from .run_columns import csv_text, usual

        wanted = usual(self.data) if quantities is None else quantities
        text = csv_text(self.data, self._known(wanted))
        return write_atomically(path, lambda file: file.write(text.encode()))

    def to_pandas(self, quantity: str | None = None) -> Any:
        """A `pandas.DataFrame` over time: of one quantity such as `position`, or of the usual ones."""
        import pandas

        from .run_columns import columns, usual

        wanted = usual(self.data) if quantity is None else (quantity,)
        names = self._known(wanted)
        table = dict(columns(self.data, names))
        time = table.pop("time")
        return pandas.DataFrame(table, index=pandas.Index(time, name="time [s]"))

    def _known(self, names: Sequence[str]) -> list[str]:
        """The names, if the run holds these quantities over time."""
        from .run_columns import quantities

        held = quantities(self.data)
        for name in names:
            if name not in held:
                raise unknown_name("quantity", name, held)
        return list(names)

    def state(self, k: int = -1) -> State:
        """The state at output time k, the last one by default: `simulate` goes on from there.

        Raises:
            ValueError: the run has no such time, or does not hold the rates of its links.
        """
        count = len(self.t)
        if not -count <= k < count:
            raise ValueError(f"k: {k}: the run has {count} output times")
        if "elastic_rate" not in self.names:
            raise ValueError(
                "the file is of an older version and holds no rates of elastic coordinates: run it again"
            )
        row = {name: jnp.asarray(self.values(name)[k]) for name in STATE}
        return State(
            q=row["q"],
            qd=row["qd"],
            elastic=row["elastic"],
            elastic_d=row["elastic_rate"],
            encoder=row["encoder"],
            encoder_d=row["encoder_rate"],
            independent=self._independent(float(self.t[k])),
        )

    def initial(self, k: int = -1) -> dict[str, Any]:
        """The state at output time k as the key `initial` of a scenario, whose run goes on from there."""
        state = self.state(k)
        return {
            "time": float(self.t[k]),
            "q": state.q.tolist(),
            "qd": state.qd.tolist(),
            "elastic": state.elastic.tolist(),
            "elastic_rate": state.elastic_d.tolist(),
        }

    def _independent(self, t: float) -> tuple[int, ...] | None:
        """Numbers of the joints of a closed chain that are coordinates at a time, None of an open one."""
        chosen = None
        for line in filter(None, self.facts.get("independent", "").split("; ")):
            names, _, since = line.removesuffix(" s").rpartition(" from ")
            if float(since) <= t * (1 + 1e-5):
                chosen = names.split(", ")
        if chosen is None:
            return None
        joints = [str(name) for name in self.values("joint")]
        return tuple(joints.index(name) for name in chosen)

    def save(self, path: str | Path) -> Path:
        """NetCDF-4 file that `xarray.open_dataset` and `lissom simulate` read."""
        content = self.netcdf()
        return write_atomically(path, lambda file: file.write(content))

    def netcdf(self) -> bytes:
        """The content of that file."""
        source = self._source
        if isinstance(source, RunTable):
            return source.netcdf()
        return bytes(source.to_netcdf(engine="h5netcdf"))

    @classmethod
    def load(cls, path: str | Path) -> "Run":
        """A run read back from its file."""
        import xarray as xr

        from .node_index import with_tips

        check_file(path, ".nc")
        return cls(with_tips(xr.load_dataset(path, engine="h5netcdf")))


@dataclass
class RunTable:
    """The content of a dataset; the dataset itself takes a while to import."""

    variables: Variables
    coordinates: dict[str, Any]
    attrs: dict[str, Any]

    @property
    def names(self) -> list[str]:
        """Of all variables and coordinates."""
        return [*self.variables, *self.coordinates]

    def values(self, name: str) -> np.ndarray:
        """The numbers of one variable or coordinate."""
        if name in self.variables:
            return np.asarray(self.variables[name][1])
        held = self.coordinates[name]
        return np.asarray(held[1] if isinstance(held, tuple) else held)

    def netcdf(self) -> bytes:
        """All of it as a file."""
        from .netcdf_file import netcdf_bytes

        variables = {}
        for name, held in (self.variables | self.coordinates).items():
            # A list of names stands for itself.
            described = held if isinstance(held, tuple) else ((name,), held, {})
            dimensions, values, attributes = described
            axes = (dimensions,) if isinstance(dimensions, str) else dimensions
            variables[name] = (axes, np.asarray(values), attributes)
        return netcdf_bytes(variables, self.attrs)

    def dataset(self) -> "Dataset":
        """All of it as a dataset."""
        import xarray as xr

        from .node_index import with_tips

        return with_tips(xr.Dataset(self.variables, self.coordinates, self.attrs))


def simulate(
    model: ModelLike,
    state: Any = None,
    *,
    start: Any = None,
    t_start: Any = 0.0,
    t_end: Seconds = 1.0,
    output_dt: Seconds = 0.001,
    torque: Any = None,
    inputs: Inputs | None = None,
    solver: SolverLike = None,
    record: Sequence[str] = (),
    progress: Any = None,
    watch: Callable[[float], None] = lambda t: None,
    throw: bool = True,
    scenario: Mapping[str, Any] | None = None,
    build_s: float = 0.0,
    doubts: Sequence[Doubt] = (),
    checkpoint: str | Path | None = None,
    resume: bool = False,
) -> Run:
    """Motion of a robot in time.

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        state: at the start, from `model.at` or `model.static`, or a pose, in which the robot rests undeformed; q = 0 by
            default.
        start: a run that goes on where it ended: state, time and works are those of its end. A sampled law goes on with
            what it remembers, unless the run comes from a file.
        t_start: time at the start [s], for states that come from elsewhere; inputs are read from there on.
        t_end: time at the end [s].
        output_dt: spacing of the output [s].
        torque: joint torques: constant array, function (t, state) -> array, or a controller such as `PD`.
        inputs: tables of torques, wrenches and motions, instead of `torque`.
        solver: `Solver` options, or a mapping of them.
        record: nodes, such as `lower/tip`, whose velocities and accelerations the run holds too.
        progress: True for a bar; False for none; None for one in terminals and notebooks if it takes over a second.
        watch: called with the time reached while the run goes on.
        throw: raise `SimulationError` if the run fails; else the incomplete run is returned.
        scenario: what the result file should remember as its origin.
        build_s: time already spent on building the model, for the record.
        doubts: about what the run was made of, to be told beside those about the run itself.
        checkpoint: file that keeps the run while it goes on, every 20 s and where it is interrupted; it stays.
        resume: go on from the checkpoint, where there is one.

    Raises:
        SimulationError: the run did not reach its end.
        CheckpointError: the checkpoint is not that of this run.
    """
    model = model_from(model)
    state, t_start, left = _start_of(state, start, t_start)
    state = state_from(model, state)
    options = solver_of(solver)
    inputs = inputs_from(model, torque, inputs).wired(model)
    state = starting_state(model, state, inputs, t_start)
    model.check_reference(state.q)
    times = output_times(t_end, output_dt, t_start)
    nodes = recorded_nodes(model, record)
    kept = None
    if checkpoint is not None:
        schedule = inputs.schedule(float(times[-1]))
        numbers = (model.formulation, state, schedule, times, options.model_dump_json())
        kept = CheckpointFile(checkpoint, dict(scenario) if scenario else numbers)
    began = time.perf_counter()
    with shown_progress("simulating", float(times[-1]), "s", progress, watch) as tell:
        compile_run(model, state, inputs, times, options, nodes)
        compiled = time.perf_counter()
        solution = solve_run(
            model, state, inputs, times, options, tell, kept, resume, left.before
        )
    data, seen = run_table(model, inputs, solution, options, nodes)
    ended = time.perf_counter()
    warnings = [*lines_of(doubts), *lines_of(seen), *_incidents(inputs)]
    warnings += _forgotten(inputs, t_start, left.before)
    data.variables["energy"][1][:, -1] += left.residual
    data.attrs |= {
        "wall_build_s": build_s,
        "wall_compile_s": compiled - began,
        "wall_run_s": ended - compiled,
        "scenario": json.dumps(scenario if scenario is not None else {}),
        "warnings": "\n".join(warnings),
    }
    run = Run(data)
    run._control = solution.control
    if throw and not run.complete:
        raise _error(run, solution)
    return run


class _End(NamedTuple):
    """What a run leaves to the one that continues it."""

    before: Before = Before()
    residual: float = 0.0  # of its energy balance [J]


def _start_of(state: Any, start: Any, t_start: Any) -> tuple[Any, float, "_End"]:
    """State and time at which a run begins, and what was before."""
    if start is None:
        is_number = isinstance(t_start, int | float | np.floating)
        if not is_number or isinstance(t_start, bool) or not 0.0 <= t_start < np.inf:
            message = "must be a number of seconds, zero or more"
            raise ArgumentError("t_start", t_start, message)
        return state, float(t_start), _End()
    if not isinstance(start, Run):
        message = "must be a Run; a state or a pose is given as `state`"
        raise ArgumentError("start", type(start).__name__, message)
    if state is not None or t_start != 0.0:
        message = "gives state and time: leave out `state` and `t_start`"
        raise ArgumentError("start", "Run", message)
    works = start.values("energy")[-1]
    kinds = start.values("kind").tolist()
    put_in, dissipated, residual = (
        float(works[kinds.index(kind)]) for kind in ("input", "dissipated", "residual")
    )
    before = Before((put_in, dissipated), start._control)
    return start.state(), float(start.t[-1]), _End(before, residual)


def _forgotten(inputs: Inputs, t_start: float, before: Before) -> list[str]:
    """Tells that a sampled law in the middle of time knows nothing of what was before."""
    law = inputs.feedback
    if (
        t_start == 0.0
        or law is None
        or law.sample is None
        or before.control is not None
    ):
        return []
    return [
        f"the control law begins anew at {t_start:g} s: what it remembered is not in the file of the first run"
    ]


def _incidents(inputs: Inputs) -> tuple[str, ...]:
    """What went wrong for the control law of a run."""
    feedback = inputs.law
    return feedback.law.incidents() if isinstance(feedback, WiredLaw) else ()


def run_scenario(
    scenario: Scenario,
    watch: Callable[[float], None] = lambda t: None,
    throw: bool = True,
    *,
    model: Model | None = None,
    build_s: float = 0.0,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    progress: Any = None,
) -> Run:
    """Build, start and simulate a scenario; a model of it that is there already, built in `build_s`, is taken.

    For the other arguments see `simulate`.
    """
    began = time.perf_counter()
    with using(scenario.solver.backend):
        model, state, inputs = ready(scenario, model)
    return simulate(
        model,
        state,
        t_start=scenario.initial.time,
        t_end=scenario.t_end,
        output_dt=scenario.output_dt,
        inputs=inputs,
        solver=scenario.solver,
        record=scenario.record,
        progress=progress,
        watch=watch,
        throw=throw,
        scenario=scenario.to_dict(),
        build_s=build_s + time.perf_counter() - began,
        doubts=doubts_of_scenario(scenario),
        checkpoint=checkpoint,
        resume=resume,
    )


def compile_run(
    model: Model,
    state: State,
    inputs: Inputs,
    times: np.ndarray,
    solver: Solver,
    nodes: Sequence[str] = (),
) -> None:
    """Compile everything that a run and its results need, without running it; `nodes` are recorded."""
    prepare(model, state, inputs, times, solver)
    end = float(times[-1])
    with using(solver.backend):
        prepare_outputs(model, state, inputs, end)
        if nodes:
            prepare_node_motions(model, state, inputs, end, nodes)


# --- start ---------------------------------------------------------------------------------------------------------


def starting_state(
    model: Model, state: State, inputs: Inputs, t_start: float = 0.0
) -> State:
    """The state in which joints with a prescribed motion start where and as fast as it says."""
    if not inputs.motion:
        return state
    q = np.array(state.q)
    qd = np.array(state.qd)
    for joint, spline in inputs.motion:
        # The motion is that of the encoder; with some choices of the ERLS it reads something else than q.
        elastic_part = np.array(state.encoder)[joint] - q[joint]
        at = float(np.clip(t_start, spline.t[0], spline.t[-1]))
        q[joint] = float(spline.spline(at)) - elastic_part
        # Before its first point and after its last one a motion stands still.
        qd[joint] = float(spline.spline(at, 1)) if at == t_start else 0.0
    if model.closed:
        return _starting_closed_chain(model, state, q, qd, inputs.prescribed)
    return eqx.tree_at(lambda s: (s.q, s.qd), state, (jnp.asarray(q), jnp.asarray(qd)))


def _starting_closed_chain(
    model: Model,
    state: State,
    q: np.ndarray,
    qd: np.ndarray,
    prescribed: tuple[int, ...],
) -> State:
    """The joints that follow a motion become coordinates of the closed chain, and the others follow them."""
    try:
        f, state = with_prescribed_joints(
            model.formulation_at(state), state, prescribed
        )
    except DeadPointError:
        names = ", ".join(model.joint_names[joint] for joint in prescribed)
        raise ValueError(
            f"inputs.motion: {names}: a dead point of the closed chain: these joints do not set its starting pose"
        ) from None
    x = np.array(state.x)
    xd = np.array(state.xd)
    for joint in prescribed:
        row = f.independent.index(joint)
        x[row] = q[joint]
        xd[row] = qd[joint]
    on_branch = near(f, jnp.asarray(q))
    return _state_at(on_branch, jnp.asarray(x), jnp.asarray(xd))


_state_at = compiled_quickly(state_at)


# --- results -------------------------------------------------------------------------------------------------------


def run_table(
    model: Model,
    inputs: Inputs,
    solution: Solution,
    solver: Solver,
    recorded: Sequence[str] = (),
) -> tuple[RunTable, tuple[Doubt, ...]]:
    """The results of a run with names and units, and what there is to doubt about them."""
    with using(solver.backend):
        outputs, torque = outputs_of(model, inputs, solution)
    times = np.asarray(solution.t)[: int(solution.filled)]
    doubts = doubts_of_run(model, inputs, times, outputs, torque)
    table = table_of_outputs(model, solution, solver, outputs, torque)
    if recorded:
        motions = _motions_of_nodes(model, inputs, solution, solver, recorded)
        places = {**table.coordinates, "recorded": list(recorded)}
        table = RunTable(table.variables | motions, places, table.attrs)
    return table, doubts


def table_of_outputs(
    model: Model,
    solution: Solution,
    solver: Solver,
    outputs: Outputs,
    torque: np.ndarray,
) -> RunTable:
    """What is seen of a run, with names and units."""
    n = int(solution.filled)
    j = model.formulation.n_joints
    elastic = np.asarray(solution.x)[:n, j:]
    joint = ("time", "joint")
    nodes = ("time", "node", "axis")
    variables = {
        "q": (
            joint,
            np.asarray(solution.joints)[:n],
            {"units": "rad or m", "long_name": "joint coordinates of the ERLS"},
        ),
        "qd": (joint, outputs.qd, {"units": "rad/s or m/s"}),
        "encoder": (
            joint,
            outputs.encoder,
            {"units": "rad or m", "long_name": "what the encoders read"},
        ),
        "torque": (joint, torque, {"units": "N m or N"}),
        "elastic": (("time", "coordinate"), elastic, {"units": "m or rad"}),
        "elastic_rate": (
            ("time", "coordinate"),
            np.asarray(solution.xd)[:n, j:],
            {"units": "m/s or rad/s"},
        ),
        "encoder_rate": (joint, outputs.encoder_rate, {"units": "rad/s or m/s"}),
        "position": (
            nodes,
            at_nodes(model, outputs.position),
            {"units": "m", "long_name": "nodes of the robot, world axes"},
        ),
        "erls_position": (
            nodes,
            at_nodes(model, outputs.erls_position),
            {"units": "m", "long_name": "nodes of the ERLS"},
        ),
        "rotation": (
            nodes,
            at_nodes(model, outputs.rotation),
            {"units": "rad", "long_name": "small rotation from the ERLS"},
        ),
        "frame": (
            ("time", "link", "row", "column"),
            outputs.rigid_frame[:, list(model.first_bodies)],
            {"long_name": "axes of the rigid links in the world"},
        ),
        "energy": (("time", "kind"), energy_audit(outputs), {"units": "J"}),
    }
    coordinates = {
        "time": ("time", np.asarray(solution.t)[:n], {"units": "s"}),
        "joint": list(model.joint_names),
        "coordinate": list(model.coordinate_names),
        "node": list(model.node_names),
        "link": list(model.link_names),
        "axis": ["x", "y", "z"],
        "kind": list(ENERGIES),
    }
    facts = _facts(model, solution, solver)
    facts["beyond_limits"] = ", ".join(_beyond_limits(model, outputs.encoder))
    return RunTable(variables, coordinates, facts)


def _motions_of_nodes(
    model: Model,
    inputs: Inputs,
    solution: Solution,
    solver: Solver,
    nodes: Sequence[str],
) -> Variables:
    """Velocities and accelerations of nodes, linear and angular."""
    with using(solver.backend):
        motions = node_motions(model, inputs, solution, nodes)
    variables: Variables = {}
    for name, values in motions.items():
        _, unit = KINDS[name]
        about = {"units": unit, "long_name": f"{name} of nodes, world axes"}
        variables[name] = (("time", "recorded", "axis"), values, about)
    return variables


def _beyond_limits(model: Model, encoder: np.ndarray) -> list[str]:
    """Joints that left their range; limits of position are watched, not enforced."""
    joints = [link.joint for link in model.robot.links if link.joint.moves]
    beyond = []
    for name, joint, reading in zip(model.joint_names, joints, encoder.T, strict=True):
        if joint.limits is None or joint.limits.position is None:
            continue
        low, high = joint.limits.position
        if np.any((reading < low) | (reading > high)):
            beyond.append(name)
    return beyond


def _facts(model: Model, solution: Solution, solver: Solver) -> dict[str, Any]:
    """Attributes of a result: what was run, how, and how it ended."""
    complete = ended_as(solution.result, RESULTS.successful)
    step = step_of(solver)
    return {
        "name": model.robot.name,
        **_choices(model),
        "lissom": __version__,
        "complete": int(complete),
        "reason": "" if complete else _reason(model, solution),
        "t_reached": float(solution.last.t),
        "method": solver.method if step.name == "explicit" else step.name,
        "steps": int(solution.counts.steps),
        "rejected": int(solution.counts.rejected),
        "rhs_evaluations": int(solution.counts.evaluations),
        "scene": scene_text(model.robot),
        "independent": "; ".join(_independent_joints(model, solution)),
    }


def _choices(model: Model) -> dict[str, str]:
    """Formulation, basis and modes of a run, also of one set up in Python."""
    support = model.formulation.support
    basis = model.choices.basis or support.default_basis
    modes = model.choices.modes
    if modes is None:
        modes = default_modes(basis)
    return {
        "formulation": model.formulation_name,
        "basis": basis,
        "modes": str(plain(modes)),
        "stiffening": model.choices.stiffening,
    }


def _reason(model: Model, solution: Solution) -> str:
    if ended_as(solution.result, RESULTS.dead_point):
        return dead_point(model, solution)
    return RESULTS[solution.result]


def _independent_joints(model: Model, solution: Solution) -> list[str]:
    """Independent joints of a closed chain, and when others took over at a dead point."""
    if not model.closed:
        return []
    lines = []
    for segment in solution.segments:
        names = ", ".join(model.joint_names[k] for k in segment.independent)
        lines.append(f"{names} from {segment.time:.6g} s")
    return lines


def dead_point(model: Model, solution: Solution) -> str:
    """Which joints are at a dead point, and where."""
    stuck = [model.joint_names[k] for k in solution.segments[-1].independent]
    others = [name for name in model.joint_names if name not in stuck]
    last = np.asarray(solution.last_joints)
    pose = ", ".join(
        f"{name} = {value:.4g}"
        for name, value in zip(model.joint_names, last, strict=True)
    )
    return (
        f"joint {', '.join(stuck)} {'is' if len(stuck) == 1 else 'are'} at a dead point of the closed chain ({pose}): "
        f"{', '.join(others)} no longer follow. No other choice of independent joints is regular there, or a motion is "
        "prescribed to this one: drive another joint."
    )


def _error(run: Run, solution: Solution) -> SimulationError:
    at = f"at t = {float(solution.last.t):.6g} s"
    if ended_as(solution.result, RESULTS.interrupted):
        return Interrupted(f"interrupted {at}", run)
    return SimulationError(f"stopped {at}: {run.facts['reason']}", run)
