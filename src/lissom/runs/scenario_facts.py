"""The entries of a scenario, and the names that changes may use."""

from typing import Any

from ..describe.geometry import node_names
from ..files.summary import plain
from .sources import Source, runs_from_rest, scenario_of


def scenario_facts(source: Source) -> dict[str, Any]:
    """The scenario of a library name, or of a scenario, robot or result file: each key with its default."""
    scenario = scenario_of(source)
    data = scenario.to_dict()
    moving = [link for link in scenario.robot.links if link.joint.moves]
    joints = [
        {"name": link.name, "type": link.joint.type, "actuated": link.joint.actuated}
        for link in moving
    ]
    return plain(
        {
            "robot": scenario.robot.name,
            "from_rest": runs_from_rest(source),  # a bare robot falls from rest
            "joints": joints,
            "nodes": node_names(scenario.robot),
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
