"""Control laws from their descriptions."""

from collections.abc import Callable
from typing import Any

from ..describe.controllers import (
    Common,
    ComputedTorqueController,
    DelayedReferenceController,
    EKFController,
    HybridController,
    LQGController,
    LQRController,
    MixedNormController,
    MPCController,
    PDController,
    PIDController,
    ScheduledLQRController,
)
from ..describe.part import Part
from ..solve.law import AbstractLaw
from ..solve.model import Model
from .described_joint_control import computed_torque_law, pd_law, pid_law
from .described_numbers import each_or_none, for_drives
from .described_scheduled import ekf_law, scheduled_lqr_law
from .described_state_feedback import lqg_law, lqr_law, mixed_norm_law, mpc_law
from .described_vibration import delayed_reference_law, hybrid_law
from .real_loop import RealLoop


def law_of(model: Model, controller: Part) -> AbstractLaw:
    """The law that a scenario describes, for the actuated joints of a robot.

    Gains and references may be written for every moving joint: those of passive joints are left out.

    Raises:
        DesignError: there is no such law for this robot.
    """
    if isinstance(controller, PDController):
        return pd_law(model, controller)
    assert isinstance(controller, Common)
    law = _BUILDERS[type(controller)](believed_model(model, controller), controller)
    loop = controller.loop
    if loop is None:
        return law
    sensors = len(law.sensors(model))
    return RealLoop(
        law=law,
        sample=controller.sample,
        delay=loop.delay,
        noise=each_or_none("loop.noise", loop.noise, sensors),
        resolution=each_or_none("loop.resolution", loop.resolution, sensors),
        torque_limit=for_drives(model, "loop.torque_limit", loop.torque_limit),
        rate_limit=for_drives(model, "loop.rate_limit", loop.rate_limit),
        bandwidth=loop.bandwidth,
        seed=loop.seed,
    )


def believed_model(model: Model, controller: Common) -> Model:
    """The robot as the controller knows it: other numbers, another formulation, fewer modes."""
    changes = dict(controller.model)
    if not changes:
        return model
    formulation = changes.pop("formulation", model.formulation_name)
    choices = model.choices._asdict()
    if formulation != model.formulation_name:
        # Choices of another formulation need not be offered by this one.
        choices = {"modes": choices["modes"]}
    for name in ("modes", "basis", "reference", "terms", "stiffening"):
        if name in changes:
            choices[name] = changes.pop(name)
    robot = model.robot.replace(changes) if changes else model.robot
    return Model(robot, formulation, **choices)


_BUILDERS: dict[type[Common], Callable[[Model, Any], AbstractLaw]] = {
    PIDController: pid_law,
    ComputedTorqueController: computed_torque_law,
    LQRController: lqr_law,
    LQGController: lqg_law,
    MPCController: mpc_law,
    ScheduledLQRController: scheduled_lqr_law,
    EKFController: ekf_law,
    MixedNormController: mixed_norm_law,
    DelayedReferenceController: delayed_reference_law,
    HybridController: hybrid_law,
}
