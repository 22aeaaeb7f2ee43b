"""A result in brief: what was run, how it ended, and what can be plotted."""

from typing import Any

import numpy as np

from ..describe import DescriptionError
from ..describe.geometry import node_count
from ..describe.modelled import run_model_facts
from ..files.summary import plain
from .result_files import loaded_run
from .run import Run
from .sources import scenario_of


def result_facts(file: str) -> dict[str, Any]:
    """Facts of a result file about its run, as plain data.

    Raises:
        DescriptionError: it is no result.
    """
    run = loaded_run(file)
    kinds, elements = _robot_facts(file)
    facts = run.facts
    wall = [facts.get(f"wall_{part}_s", 0.0) for part in ("build", "compile", "run")]
    return plain(
        run_model_facts(facts)
        | {
            "run": file,
            "method": str(facts.get("method", "")),
            "steps": int(facts.get("steps", 0)),
            "samples": len(run.t),
            "start": run.t[0],  # [s]
            "end": run.t[-1],
            "complete": run.complete,
            "reason": str(facts.get("reason", "")),  # why it stopped early
            "wall_s": float(sum(wall)),
            "energy_residual": run.energy_residual,
            "warnings": run.warnings,
            "joints": _joints(run, kinds),
            "tips": _tips(run),
            "nodes": run.labels("node"),
            "elements": elements,  # of links with section forces
        }
    )


def _robot_facts(file: str) -> tuple[dict[str, str], dict[str, int]]:
    """Types of joints, and numbers of beam elements of links; empty of a run that was set up in Python."""
    try:
        robot = scenario_of(file).robot
    except DescriptionError:
        return {}, {}
    kinds = {link.name: link.joint.type for link in robot.links}
    beams = [i for i, link in enumerate(robot.links) if link.beam is not None]
    return kinds, {robot.links[i].name: node_count(robot, i) - 1 for i in beams}


def _joints(run: Run, kinds: dict[str, str]) -> list[dict[str, Any]]:
    """Range of each joint [rad or m], and the largest torque on it [N m or N]."""
    torque = np.abs(run.values("torque")).max(axis=0)
    return [
        {
            "name": name,
            "type": kinds.get(name, ""),
            "lowest": run.q[:, k].min(),
            "highest": run.q[:, k].max(),
            "torque": torque[k],
        }
        for k, name in enumerate(run.labels("joint"))
    ]


def _tips(run: Run) -> list[dict[str, Any]]:
    """Largest distance of the tip of each link from the rigid robot [m], and its time [s]."""
    shift = run.values("position") - run.values("erls_position")
    distance = np.linalg.norm(shift, axis=-1)
    # Nodes of a link are counted outwards: its last one is the tip.
    last = {name.rpartition("/")[0]: k for k, name in enumerate(run.labels("node"))}
    tips = []
    for link in run.labels("link"):
        if link in last:
            away = distance[:, last[link]]
            k = int(away.argmax())
            tip = {"name": f"{link}/tip", "displacement": away[k], "at": run.t[k]}
            tips.append(tip)
    return tips
