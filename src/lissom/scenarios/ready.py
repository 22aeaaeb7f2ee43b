"""A described scenario made ready to run: the model, where it starts, and what drives it."""

from typing import NamedTuple

import equinox as eqx

from ..describe.scenario import Scenario
from ..solve.inputs import Inputs
from ..solve.model import Model
from ..solve.signals import Spline, Table
from ..solve.state import State
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
    law = None
    if scenario.controller is not None:
        law = controller_law(model, scenario.controller)
    return Inputs(model.n_joints, torque, wrenches, motion, law)


def initial_state(model: Model, scenario: Scenario) -> State:
    """State at t = 0 of a scenario."""
    start = scenario.initial
    if start.elastic == "zero":
        return model.at(start.q, start.qd)
    state = model.static(start.q)
    moving = model.at(state.q, start.qd)
    # The links start in equilibrium, and move with the joints without vibrating.
    return eqx.tree_at(
        lambda s: (s.qd, s.encoder_d), state, (moving.qd, moving.encoder_d)
    )
