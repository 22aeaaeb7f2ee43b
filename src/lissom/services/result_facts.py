"""A result in a few words and numbers: what was run, how it ended, and what there is to plot."""

from typing import TYPE_CHECKING

import numpy as np

from ..describe import DescriptionError
from ..describe.geometry import node_count
from ..describe.modelled import modelled_run
from ..runs.result_files import loaded_run
from ..runs.sources import scenario_of
from .frozen_model import FrozenModel
from .modelled_result import ModelledResult
from .simulate import energy_residual

if TYPE_CHECKING:
    from ..runs.run import Run


class JointFacts(FrozenModel):
    """Where a joint went, and what moved it."""

    name: str
    type: str  # revolute or prismatic; empty where the file does not say
    lowest: float  # [rad or m]
    highest: float
    torque: float  # largest [N m or N]


class TipFacts(FrozenModel):
    """How far the tip of a link was from the rigid robot."""

    name: str
    displacement: float  # largest [m]
    at: float  # when [s]


class ResultFacts(ModelledResult):
    """What a result file tells about its run."""

    run: str
    method: str
    steps: int
    samples: int
    start: float  # [s]
    end: float
    complete: bool
    reason: str  # why it stopped early
    wall_s: float  # of building, compiling and running
    energy_residual: float  # largest, against the largest energy
    warnings: tuple[str, ...]
    joints: tuple[JointFacts, ...]
    tips: tuple[TipFacts, ...]
    nodes: tuple[str, ...]
    elements: dict[str, int]  # of links with section forces


def result_facts(file: str) -> ResultFacts:
    """What a result file tells about its run.

    Raises:
        DescriptionError: it is no result.
    """
    run = loaded_run(file)
    kinds, elements = _robot_facts(file)
    facts = run.facts
    wall = [facts.get(f"wall_{part}_s", 0.0) for part in ("build", "compile", "run")]
    return ResultFacts(
        run=file,
        robot=str(facts.get("name", "")),
        **modelled_run(facts)._asdict(),
        method=str(facts.get("method", "")),
        steps=int(facts.get("steps", 0)),
        samples=len(run.t),
        start=float(run.t[0]),
        end=float(run.t[-1]),
        complete=run.complete,
        reason=str(facts.get("reason", "")),
        wall_s=float(sum(wall)),
        energy_residual=energy_residual(run),
        warnings=run.warnings,
        joints=_joints(run, kinds),
        tips=_tips(run),
        nodes=tuple(str(name) for name in run.values("node")),
        elements=elements,
    )


def _robot_facts(file: str) -> tuple[dict[str, str], dict[str, int]]:
    """Types of joints, and numbers of beam elements of links; empty of a run that was set up in Python."""
    try:
        robot = scenario_of(file).robot
    except DescriptionError:
        return {}, {}
    kinds, elements = {}, {}
    for i, link in enumerate(robot.links):
        kinds[link.name] = link.joint.type
        if link.beam is not None:
            elements[link.name] = node_count(robot, i) - 1
    return kinds, elements


def _joints(run: "Run", kinds: dict[str, str]) -> tuple[JointFacts, ...]:
    torque = np.abs(run.values("torque")).max(axis=0)
    joints = []
    for k, name in enumerate(str(joint) for joint in run.values("joint")):
        q = run.q[:, k]
        joint = JointFacts(
            name=name,
            type=kinds.get(name, ""),
            lowest=float(q.min()),
            highest=float(q.max()),
            torque=float(torque[k]),
        )
        joints.append(joint)
    return tuple(joints)


def _tips(run: "Run") -> tuple[TipFacts, ...]:
    shift = run.values("position") - run.values("erls_position")
    distance = np.linalg.norm(shift, axis=-1)
    nodes = [str(name) for name in run.values("node")]
    tips = []
    for link in (str(name) for name in run.values("link")):
        own = [k for k, name in enumerate(nodes) if name.rpartition("/")[0] == link]
        if not own:
            continue
        way = distance[:, own[-1]]
        k = int(way.argmax())
        tip = TipFacts(
            name=f"{link}/tip", displacement=float(way[k]), at=float(run.t[k])
        )
        tips.append(tip)
    return tuple(tips)
