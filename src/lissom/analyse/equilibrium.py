"""Elastic equilibrium: holding torques, sag and energy."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from jaxnative.compiled import compiled_quickly

from ..describe.modelled import model_facts
from ..describe.robot_facts import named_nodes, values_by_name
from ..drawing import picture_of
from ..dynamics import engine
from ..files.errors import refused, shortened
from ..files.summary import Result, Summary, fixed, number, plain
from ..parameters import Free, JointTorques, NodeWrenches, Pose
from ..solve.arguments import ModelLike, model_from
from ..solve.model import Model
from ..solve.state import State
from ..types import Float
from .validity.checks import check
from .validity.validity_warning import warning_lines

MILLIMETRES = 1e3


@dataclass(frozen=True, repr=False)
class Equilibrium(Result):
    """A robot at rest under gravity: its state, and where its nodes are."""

    model: Model
    state: State
    free: bool  # whether the joints were free to move
    position: Float[np.ndarray, "k 3"]  # of the nodes, world axes [m]
    # From the rigid robot with the same encoder readings, world axes [m].
    displacement: Float[np.ndarray, "k 3"]
    strain_energy: float  # [J]
    gravity_energy: float  # [J]
    # Forces and moments along world axes by the nodes that they act on [N, N m].
    wrench: Mapping[str, tuple[float, ...]]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may be wrong with the robot in this state, one line each."""
        return warning_lines(check(self.model, self.state))

    @property
    def joints_are(self) -> str:
        """State of the joints in words: `held` or `free`."""
        return "free" if self.free else "held"

    def to_dict(self) -> dict[str, Any]:
        """Joints and nodes by their names, as plain data."""
        joints, nodes = self.model.joint_names, self.model.node_names
        data = model_facts(self.model.robot.name, self.model.modelled) | {
            "joints_are": self.joints_are,
            "q": values_by_name(joints, self.state.q),
            "encoder": values_by_name(joints, self.state.encoder),
            "torque": values_by_name(joints, self.state.torque),
            "position": named_nodes(nodes, self.position),
            "displacement": named_nodes(nodes, self.displacement),
            "energy": {"strain": self.strain_energy, "gravity": self.gravity_energy},
            "warnings": self.warnings,
        }
        if self.wrench:
            data["wrench"] = dict(self.wrench)
        return plain(data)

    def summary(self) -> Summary:
        """Joints with their torques, and nodes with their displacements."""
        model, state = self.model, self.state
        torque = "torque" if self.free else "holding torque"
        columns = (
            "joint",
            "encoder [rad or m]",
            "q of the rigid robot (ERLS) [rad or m]",
            f"{torque} [N m or N]",
        )
        values = [np.asarray(part) for part in (state.encoder, state.q, state.torque)]
        rows = [
            (name, *(number(value[k]) for value in values))
            for k, name in enumerate(model.joint_names)
        ]
        energy = f"strain {number(self.strain_energy)} J, gravity {number(self.gravity_energy)} J"
        loads = [
            (f"wrench on {node}", ", ".join(map(number, value)))
            for node, value in self.wrench.items()
        ]
        facts = (("model", str(model.modelled)), *loads, ("energy", energy))
        title = f"{model.robot.name}: joints {self.joints_are}"
        return Summary(title, facts, columns, tuple(rows), parts=(self._nodes(),))

    def plot(self, path: Any = None) -> Any:
        """Figure of the robot in equilibrium, the rigid one dashed; `path` writes it too."""
        return picture_of(self, path=path)

    def _nodes(self) -> Summary:
        rows = []
        moved = MILLIMETRES * self.displacement
        for k, name in enumerate(self.model.node_names):
            rows.append((name, *fixed((*self.position[k], *moved[k]))))
        columns = ("node", "x [m]", "y [m]", "z [m]", "dx [mm]", "dy [mm]", "dz [mm]")
        title = "Nodes: position, and displacement from the rigid robot with the same encoders"
        return Summary(title, (), columns, tuple(rows))


def static(
    model: ModelLike,
    q: Pose = None,
    *,
    free: Free = False,
    torque: JointTorques = None,
    wrench: NodeWrenches = None,
) -> Equilibrium:
    """Elastic equilibrium under gravity, with the joints held at q or free under torques.

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        q: what the encoders read [rad or m], zero by default.
        free: joints move too, downhill from q to a stable equilibrium.
        torque: on free joints [N m or N], zero by default.
        wrench: on nodes, with the joints held: (fx, fy, fz, mx, my, mz) along world axes by the nodes' names [N, N m].

    Returns:
        The equilibrium; its `state` goes to other analyses, as that of `model.static` does.

    Raises:
        EquilibriumError: no equilibrium was found.
        DescriptionError: torques on joints that are held, wrenches with joints that are free, or on no node.

    Example:
        >>> import lissom as ls
        >>> ls.static("double-pendulum", [0.0, 1.0]).joints_are
        'held'
    """
    model = model_from(model)
    if torque is not None and not free:
        given = ",".join(f"{value:g}" for value in np.ravel(torque))
        message = "only free joints take torques: add --free; held joints find theirs"
        raise refused("torque", given, message)
    wrench = wrench or {}
    for node, value in wrench.items():
        problem = model.robot.outline.node_problem(node)
        if problem or free:
            message = problem or "acts on held joints: leave --free out"
            raise refused("wrench", f"{node}={shortened(value)}", message)
    state = model.static(q, torque, free=free, wrench=wrench)
    position = model.node_rows(model.poses(state).position)
    # Reference: the robot with rigid links and the same encoder readings.
    rigid = model.poses(model.at(state.encoder))
    strain, gravity = _stored_energies(model.formulation_at(state), state.x)
    return Equilibrium(
        model=model,
        state=state,
        free=free,
        position=position,
        displacement=position - model.node_rows(rigid.position),
        strain_energy=float(strain),
        gravity_energy=float(gravity),
        wrench={node: tuple(map(float, value)) for node, value in wrench.items()},
    )


@compiled_quickly
def _stored_energies(f: Any, x: Any) -> tuple[Any, Any]:
    """Strain energy and gravity energy [J]."""
    place = f.configuration(x)
    return engine.strain_energy(f, place), engine.gravity_energy(f, place)
