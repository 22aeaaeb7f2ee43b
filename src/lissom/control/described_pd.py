"""The simplest law from its description; it needs no design, and none of what designs take to import."""

from ..describe.controllers import PDController
from ..solve.model import Model
from .described_numbers import actuated_columns
from .pd import PD, GravityTorque, at_samples
from .references import reference_through


def pd_law(model: Model, controller: PDController) -> PD:
    """The PD law of a description."""
    table = controller.reference
    whole = reference_through(table.t, table.value, table.interpolation)
    feedforward = None
    if controller.gravity_compensation:
        # Passive joints carry no torque, and their places say where the robot is.
        feedforward = GravityTorque(model.formulation, whole)
        if controller.sample is not None:
            feedforward = at_samples(feedforward, controller.sample, float(table.t[-1]))
    columns = actuated_columns(model, table.value)
    return PD(
        actuated_columns(model, controller.kp),
        actuated_columns(model, controller.kd),
        reference_through(table.t, columns, table.interpolation),
        sample=controller.sample,
        feedforward=feedforward,
    )
