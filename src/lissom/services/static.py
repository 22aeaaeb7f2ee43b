"""Elastic equilibrium."""

from typing import Any

from pydantic import model_validator

from jaxnative.compiled import compiled_quickly, using

from ..analyse.robot_facts import named_nodes, values_by_name
from ..analyse.validity.checks import check
from ..analyse.validity.description import scenario_warnings
from ..analyse.validity.validity_warning import warning_lines
from ..describe.scenario import Scenario
from ..dynamics import engine
from ..runs.forecast import affordable_model
from .frozen_model import FrozenModel, JointValues, Position
from .modelled_result import ModelledResult, model_of
from .robot_request import RobotRequest


class StaticRequest(RobotRequest):
    """Joints held at q, or free under torques from q on."""

    free: bool = False
    torque: JointValues | None = None  # on free joints [N m or N]; default zero

    @model_validator(mode="after")
    def _torques_act_on_free_joints(self) -> "StaticRequest":
        if self.torque is not None and not self.free:
            raise ValueError(
                "torque: only free joints take torques: set free; held joints find theirs"
            )
        return self


class StoredEnergy(FrozenModel):
    """What an equilibrium holds [J]."""

    strain: float
    gravity: float


class StaticResult(ModelledResult):
    """An equilibrium by the names of joints and nodes."""

    joints_are: str  # held or free
    q: dict[str, float]
    encoder: dict[str, float]
    torque: dict[str, float]
    position: dict[str, Position]
    displacement: dict[str, Position]  # from the rigid robot with the same encoders
    energy: StoredEnergy
    warnings: tuple[str, ...]  # one line each


def static(request: StaticRequest) -> StaticResult:
    """Elastic equilibrium with the joints held at q, or free under torques."""
    scenario = request.scenario()
    with using(scenario.solver.backend):
        return _static(request, scenario)


def _static(request: StaticRequest, scenario: Scenario) -> StaticResult:
    model = affordable_model(scenario)
    pose = request.q or scenario.initial.q
    state = model.static(pose, request.torque, free=request.free)
    position = model.node_rows(model.poses(state).position)
    # What a user can measure with the links unbent: encoders read the same, nothing sags.
    rigid = model.poses(model.at(state.encoder))
    displacement = position - model.node_rows(rigid.position)
    strain, gravity = _stored_energies(model.formulation_at(state), state.x)
    joints = model.joint_names
    return StaticResult(
        **model_of(scenario),
        joints_are="free" if request.free else "held",
        q=values_by_name(joints, state.q),
        encoder=values_by_name(joints, state.encoder),
        torque=values_by_name(joints, state.torque),
        position=named_nodes(model.node_names, position),
        displacement=named_nodes(model.node_names, displacement),
        energy=StoredEnergy(strain=float(strain), gravity=float(gravity)),
        warnings=warning_lines([*scenario_warnings(scenario), *check(model, state)]),
    )


@compiled_quickly
def _stored_energies(f: Any, x: Any) -> tuple[Any, Any]:
    """Strain energy and gravity energy [J]."""
    place = f.configuration(x)
    return engine.strain_energy(f, place), engine.gravity_energy(f, place)
