"""Control laws from their descriptions."""

import numpy as np

from ..describe.scenario import Controller
from ..solve.law import AbstractLaw
from ..solve.model import Model
from ..solve.signals import Table
from .pd import PD, GravityTorque


def law_of(model: Model, controller: Controller) -> AbstractLaw:
    """The law that a scenario describes, for the actuated joints of a robot.

    Gains and references may be written for every moving joint: those of passive joints are left out.
    """
    described = controller.reference
    reference = Table(
        described.t,
        _of_actuated(model, described.value),
        described.interpolation,
        after="hold",
    )
    feedforward = None
    if controller.gravity_compensation:
        # Passive joints carry no torque, and their places say where the robot is.
        whole = Table(described.t, described.value, described.interpolation, "hold")
        feedforward = GravityTorque(model.formulation, whole)
    return PD(
        _of_actuated(model, controller.kp),
        _of_actuated(model, controller.kd),
        reference,
        sample=controller.sample,
        feedforward=feedforward,
    )


def _of_actuated(model: Model, values) -> np.ndarray:
    """The columns of the actuated joints, where there is one for every moving joint."""
    values = np.asarray(values, dtype=float)
    if values.shape[-1] == model.n_joints:
        return values[..., list(model.actuated)]
    return values
