"""A described scenario made ready to run: the model, where it starts, and what drives it."""

from typing import NamedTuple

import equinox as eqx
import numpy as np

from ..describe.errors import refused
from ..describe.scenario import Initial, Scenario
from ..dynamics.formulation import near
from ..native.compiled import compiled_quickly
from ..solve.balance import of_independent
from ..solve.inputs import Inputs
from ..solve.law import AbstractLaw
from ..solve.model import Model
from ..solve.signals import Spline, Table
from ..solve.state import State, state_at
from ..types import joined, real
from .controller_law import controller_law


class ReadyScenario(NamedTuple):
    """Everything that a run needs."""

    model: Model
    state: State
    inputs: Inputs


def ready(scenario: Scenario, model: Model | None = None) -> ReadyScenario:
    """The scenario made ready; a model of it that exists already is used."""
    if model is None:
        model = Model.of_scenario(scenario)
    state = initial_state(model, scenario)
    return ReadyScenario(model, state, inputs_of(model, scenario))


def inputs_of(model: Model, scenario: Scenario) -> Inputs:
    """Tables, wrenches, motions and controller of a scenario.

    Raises:
        DescriptionError: there is no such controller for this robot.
    """
    law = None
    if scenario.controller is not None:
        law = controller_law(model, scenario.controller)
    return inputs_beside(model, scenario, law)


def inputs_beside(model: Model, scenario: Scenario, law: AbstractLaw | None) -> Inputs:
    """Tables, wrenches and motions of a scenario, beside a law in the place of its controller."""
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
    return Inputs(model.n_joints, torque, wrenches, motion, law)


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
    """The state of which every coordinate is given, as a run leaves it.

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
    return _state_at(near(f, q), x, xd)


_state_at = compiled_quickly(state_at)
