"""Which function makes which law from its description."""

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
    PIDController,
    ScheduledLQRController,
)
from ..solve.law import AbstractLaw
from ..solve.model import Model
from .described_joint_control import computed_torque_law, pid_law
from .described_scheduled import ekf_law, scheduled_lqr_law
from .described_state_feedback import lqg_law, lqr_law, mixed_norm_law, mpc_law
from .described_vibration import delayed_reference_law, hybrid_law

BUILDERS: dict[type[Common], Callable[[Model, Any], AbstractLaw]] = {
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
