"""The entries of a scenario as its file has them, and the names that changes may use."""

from typing import Any

from ..describe import Robot
from ..describe.geometry import node_count
from ..files.summary import plain
from .sources import Source, runs_from_rest, scenario_of


def scenario_facts(source: Source) -> dict[str, Any]:
    """A library name, a scenario, robot or result file as a run has it, each key as the file or the default has it."""
    scenario = scenario_of(source)
    data = scenario.to_dict()
    return plain(
        {
            "robot": scenario.robot.name,
            "from_rest": runs_from_rest(source),  # a bare robot falls from rest
            "joints": _joints(scenario.robot),
            "nodes": _nodes(scenario.robot),
            "formulation": scenario.formulation,
            "basis": str(scenario.basis),
            "modes": data.get("modes"),
            "reference": data.get("reference"),
            "stiffening": scenario.stiffening,
            "t_end": float(scenario.t_end),
            "output_dt": float(scenario.output_dt),
            "initial": scenario.initial,
            "solver": scenario.solver,
            "controller": data.get("controller"),
            "inputs": scenario.inputs,
        }
    )


def _joints(robot: Robot) -> list[dict[str, Any]]:
    """Names and types of moving joints."""
    moving = [link for link in robot.links if link.joint.moves]
    return [
        {
            "name": link.name,
            "type": link.joint.type,
            "actuated": link.joint.actuated,
        }
        for link in moving
    ]


def _nodes(robot: Robot) -> list[str]:
    names = []
    for i, link in enumerate(robot.links):
        names += [f"{link.name}/{k}" for k in range(node_count(robot, i))]
    return names
