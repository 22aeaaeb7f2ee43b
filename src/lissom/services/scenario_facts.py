"""What a run begins with as its file has it, and the names that changes to it may use."""

from typing import Any

from ..describe import Robot, Scenario
from ..describe.geometry import node_count
from ..runs.sources import runs_from_rest, scenario_of
from .frozen_model import FrozenModel, plain
from .robot_request import Source


class NamedJoint(FrozenModel):
    """A moving joint."""

    name: str
    type: str  # revolute or prismatic
    actuated: bool


class ScenarioFacts(FrozenModel):
    """A scenario in a few words, each as its file or the default has it."""

    robot: str
    from_rest: bool  # a bare robot, which falls from rest
    joints: tuple[NamedJoint, ...]
    nodes: tuple[str, ...]
    formulation: str
    basis: str
    modes: Any
    reference: Any
    stiffening: str
    t_end: float  # [s]
    output_dt: float
    initial: dict[str, Any]
    solver: dict[str, Any]
    controller: dict[str, Any] | None
    inputs: dict[str, Any]


def scenario_facts(source: Source) -> ScenarioFacts:
    """What a run of a library name, of a scenario, robot or result file begins with."""
    scenario = scenario_of(source)
    data = scenario.to_dict()
    return ScenarioFacts(
        robot=scenario.robot.name,
        from_rest=runs_from_rest(source),
        joints=_joints(scenario.robot),
        nodes=_nodes(scenario.robot),
        formulation=scenario.formulation,
        basis=str(scenario.basis),
        modes=plain(data.get("modes")),
        reference=plain(data.get("reference")),
        stiffening=scenario.stiffening,
        t_end=float(scenario.t_end),
        output_dt=float(scenario.output_dt),
        initial=_plain_part(scenario, "initial"),
        solver=_plain_part(scenario, "solver"),
        controller=plain(data.get("controller")),
        inputs=_plain_part(scenario, "inputs"),
    )


def _plain_part(scenario: Scenario, key: str) -> dict[str, Any]:
    return plain(getattr(scenario, key).model_dump())


def _joints(robot: Robot) -> tuple[NamedJoint, ...]:
    joints = []
    for link in robot.links:
        if link.joint.moves:
            joint = NamedJoint(
                name=link.name, type=link.joint.type, actuated=link.joint.actuated
            )
            joints.append(joint)
    return tuple(joints)


def _nodes(robot: Robot) -> tuple[str, ...]:
    names = []
    for i, link in enumerate(robot.links):
        names += [f"{link.name}/{k}" for k in range(node_count(robot, i))]
    return tuple(names)
