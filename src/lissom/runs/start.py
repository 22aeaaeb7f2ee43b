"""The start of a run: its model, its state, its output times, and what drives it.

Every run begins here: `ls.simulate`, scenarios, dry runs of `validate`, sweeps, comparisons of controllers, the studio.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from jaxnative.compiled import compiled_quickly, using

from ..describe.scenario import Initial, Scenario, Solver
from ..dynamics.formulation import on_branch_near
from ..files.errors import refused
from ..solve.arguments import ArgumentError, Seconds, seconds_from
from ..solve.balance import of_independent
from ..solve.dead_point import DeadPointError, with_prescribed_joints
from ..solve.inputs import Inputs
from ..solve.law import AbstractLaw
from ..solve.model import Model
from ..solve.node_motion import recorded_nodes
from ..solve.signals import Spline, Table
from ..solve.simulate import output_times
from ..solve.state import State, state_at
from ..types import joined, real
from .controller_law import controller_law


class RunStart(NamedTuple):
    """A run before its first step: model, state, times, inputs and solver, all checked."""

    model: Model
    state: State  # at the first output time
    inputs: Inputs  # wired to the channels of the model
    times: np.ndarray  # output times [s], from the start to the end
    solver: Solver
    recorded: tuple[str, ...] = ()  # nodes whose velocities and accelerations are saved

    @property
    def t_start(self) -> float:
        """Time at the start [s]."""
        return float(self.times[0])

    @property
    def t_end(self) -> float:
        """Time at the end [s]."""
        return float(self.times[-1])


def start_run(
    model: Model,
    state: State,
    inputs: Inputs,
    *,
    t_start: Any = 0.0,
    t_end: Seconds = 1.0,
    output_dt: Seconds = 0.001,
    solver: Solver,
    record: Sequence[str] = (),
    law_field: str = "inputs.law",
) -> RunStart:
    """The start of a run from a state.

    Joints with a prescribed motion start where, and as fast as, the motion is at `t_start`.

    Args:
        model: the robot.
        state: at the start.
        inputs: what drives the robot.
        t_start: time at the start [s].
        t_end: time at the end [s].
        output_dt: spacing of the output [s].
        solver: options of the integrator.
        record: nodes whose velocities and accelerations the run holds too.
        law_field: the argument that brought the law, for messages.

    Raises:
        ArgumentError: a time is no number, or a law is sampled less than once.
        ValueError: an input, a node or the pose does not fit the robot.
    """
    begin = _start_time(t_start)
    _check_sample(law_field, inputs.law, t_end)
    inputs = inputs.wired(model)
    state = _at_prescribed_motion(model, state, inputs, begin)
    model.check_reference(state.q)
    times = output_times(t_end, output_dt, begin)
    recorded = tuple(recorded_nodes(model, record))
    return RunStart(model, state, inputs, times, solver, recorded)


def start_scenario(
    scenario: Scenario,
    model: Model | None = None,
    *,
    law: AbstractLaw | None = None,
    t_end: float | None = None,
    output_dt: float | None = None,
) -> RunStart:
    """The start of a scenario.

    Args:
        scenario: what is run.
        model: of the scenario, where there is one already.
        law: takes the place of the scenario's controller; tables, wrenches and motions stay.
        t_end: time at the end [s] instead of the scenario's.
        output_dt: spacing of the output [s] instead of the scenario's.

    Raises:
        DescriptionError: there is no such controller for this robot, or the start does not fit the model.
        EquilibriumError: the links find no equilibrium to start from.
    """
    with using(scenario.solver.backend):
        if model is None:
            model = Model.of_scenario(scenario)
        return start_run(
            model,
            initial_state(model, scenario),
            inputs_of(model, scenario, law),
            t_start=scenario.initial.time,
            t_end=scenario.t_end if t_end is None else t_end,
            output_dt=scenario.output_dt if output_dt is None else output_dt,
            solver=scenario.solver,
            record=scenario.record,
        )


def scenario_times(scenario: Scenario) -> np.ndarray:
    """Output times of a scenario [s]."""
    return output_times(scenario.t_end, scenario.output_dt, scenario.initial.time)


# --- inputs --------------------------------------------------------------------------------------------------------


def inputs_of(
    model: Model, scenario: Scenario, law: AbstractLaw | None = None
) -> Inputs:
    """Tables, wrenches, motions and controller of a scenario; `law` takes the place of the controller.

    Raises:
        DescriptionError: there is no such controller for this robot.
    """
    described = scenario.inputs
    number = {name: k for k, name in enumerate(model.joint_names)}
    torque = []
    for name, table in described.torque.items():
        torque.append((number[name], Table(table.t, table.value, table.interpolation)))
    wrenches = []
    for wrench in described.wrench:
        link, node = model.find_node(wrench.node)
        table = Table(wrench.t, wrench.value, wrench.interpolation)
        wrenches.append((link, node, wrench.frame == "world", table))
    motion = []
    for name, spline in described.motion.items():
        motion.append((number[name], Spline(spline.t, spline.value)))
    if law is None and scenario.controller is not None:
        law = controller_law(model, scenario.controller)
    return Inputs(model.n_joints, torque, wrenches, motion, law)


# --- initial state -------------------------------------------------------------------------------------------------


def initial_state(model: Model, scenario: Scenario) -> State:
    """State at the start of a scenario."""
    start = scenario.initial
    if not isinstance(start.elastic, str):
        return _given_state(model, start)
    if start.elastic == "zero":
        return model.at(start.q, start.qd)
    state = model.static(start.q)
    moving = model.at(state.q, start.qd)
    # The links start in equilibrium, and move with the joints without vibrating.
    return eqx.tree_at(
        lambda s: (s.qd, s.encoder_d), state, (moving.qd, moving.encoder_d)
    )


def _given_state(model: Model, start: Initial) -> State:
    """The state with every coordinate given, as at the end of a run.

    Raises:
        DescriptionError: there are more or fewer elastic coordinates.
    """
    f = model.formulation
    count = len(start.elastic)
    if count != f.n_elastic:
        message = f"must have {f.n_elastic} numbers, one for each elastic coordinate of the model, or be zero or static"
        raise refused("initial.elastic", f"{count} numbers", message)
    q, qd = model.joint_vector("q", start.q), model.joint_vector("qd", start.qd)
    still = (0.0,) * count
    elastic = real(np.asarray(start.elastic))
    rates = real(np.asarray(start.elastic_rate or still))
    x = joined(of_independent(f, q), elastic)
    xd = joined(of_independent(f, qd), rates)
    return _state_at(on_branch_near(f, q), x, xd)


def _at_prescribed_motion(
    model: Model, state: State, inputs: Inputs, t_start: float
) -> State:
    """The state in which joints with a prescribed motion start at its position and speed."""
    if not inputs.motion:
        return state
    q = np.array(state.q)
    qd = np.array(state.qd)
    for joint, spline in inputs.motion:
        # The motion is that of the encoder, which differs from q with some choices of the ERLS.
        elastic_part = np.array(state.encoder)[joint] - q[joint]
        # Before its first point and after its last one a motion is at rest.
        place, speed, *_ = spline.on(t_start, t_start).coefficients
        q[joint] = float(place) - elastic_part
        qd[joint] = float(speed)
    if model.closed:
        return _starting_closed_chain(model, state, q, qd, inputs.prescribed)
    # The difference between encoder and q comes from the bending of the links, which stays.
    encoder = state.encoder + (q - state.q)
    encoder_d = state.encoder_d + (qd - state.qd)
    return eqx.tree_at(
        lambda s: (s.q, s.qd, s.encoder, s.encoder_d),
        state,
        (jnp.asarray(q), jnp.asarray(qd), encoder, encoder_d),
    )


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
    on_branch = on_branch_near(f, jnp.asarray(q))
    return _state_at(on_branch, jnp.asarray(x), jnp.asarray(xd))


_state_at = compiled_quickly(state_at)


# --- checks -------------------------------------------------------------------------------------------------------


def _check_sample(field: str, law: Any, t_end: Any) -> None:
    """Refuse a law that would be sampled once and then hold its command to the end."""
    sample = law.sample if isinstance(law, AbstractLaw) else None
    end = seconds_from("t_end", t_end)
    if sample is not None and float(np.asarray(sample)) > end:
        message = f"must not be longer than the run (t_end {end:g} s)"
        raise ArgumentError(f"{field}.sample", sample, message)


def _start_time(t_start: Any) -> float:
    is_number = isinstance(t_start, int | float | np.floating)
    if not is_number or isinstance(t_start, bool) or not 0.0 <= t_start < np.inf:
        message = "must be a number of seconds, zero or more"
        raise ArgumentError("t_start", t_start, message)
    return float(t_start)
