"""Joint control from its description: PID and computed torque."""

import numpy as np

from ..describe.controllers import (
    Common,
    ComputedTorqueController,
    JointGains,
    PIDController,
)
from ..solve.model import Model
from .computed_torque import ComputedTorque
from .described_numbers import for_drives, gains_or_zero
from .described_references import design_pose, nominal_of, shaped_reference
from .pid import PID
from .tuning import pid_gains

LAG = 2.0  # samples: time constant of a derivative's filter


def pid_law(model: Model, controller: PIDController) -> PID:
    """The PID of a description."""
    return position_loop(model, controller, controller.gains)


def position_loop(model: Model, controller: Common, gains: JointGains) -> PID:
    """A PID on encoders with gains as numbers, or from a bandwidth at the end of the motion."""
    q = design_pose(model, controller)
    if gains.bandwidth is not None:
        kp, ki, kd = pid_gains(model, q, gains.bandwidth, gains.damping)
    else:
        kp = gains_or_zero(model, "gains.kp", gains.kp)
        ki = gains_or_zero(model, "gains.ki", gains.ki)
        kd = gains_or_zero(model, "gains.kd", gains.kd)
    return PID(
        kp=kp,
        ki=ki,
        kd=kd,
        nominal=nominal_of(model, controller),
        sample=controller.sample,
        lag=gains.lag or LAG * controller.sample,
        torque_limit=for_drives(model, "torque_limit", controller.torque_limit),
    )


def computed_torque_law(
    model: Model, controller: ComputedTorqueController
) -> ComputedTorque:
    """The computed-torque law of a description."""
    omega = 2 * np.pi * controller.bandwidth
    ones = np.ones(len(model.actuated))
    return ComputedTorque(
        formulation=model.formulation,
        reference=shaped_reference(model, controller),
        kp=omega**2 * ones,
        kd=2 * controller.damping * omega * ones,
        sample=controller.sample,
        torque_limit=for_drives(model, "torque_limit", controller.torque_limit),
    )
