"""Parts that optimal and predictive control share: tolerances, sensors, filter, and preview of the motion."""

import numpy as np

from ..describe.controllers import (
    Common,
    EstimatedStateFeedback,
    PreviewedFeedback,
    StateFeedback,
)
from ..solve.model import Model
from ..solve.signals import Table
from .described_numbers import each_or_none, for_drives
from .described_references import design_pose, nominal_of
from .design_model import DesignModel, design_model
from .estimator import Estimator, kalman_filter
from .nominal import NominalMotion, joint_motion
from .preview import Preview, neglected_push, preview
from .regulator import AllowedDeviations, Regulator, regulator
from .slow_model import encoder_names


def estimated(
    model: Model, controller: EstimatedStateFeedback
) -> tuple[tuple[str, ...], DesignModel, Regulator, Estimator]:
    """Sensors, design model, state feedback and filter of LQG and predictive control."""
    encoders = encoder_names(model)
    sensors = controller.sensors or encoders
    # Errors of position are weighed whether or not an encoder is among the sensors.
    outputs = tuple(dict.fromkeys((*sensors, *encoders)))
    q = design_pose(model, controller)
    whole = design_model(
        model, q, outputs, controller.sample, fastest=controller.fastest
    )
    gains = regulator(whole, tolerances_of(controller), encoders)
    count = len(sensors)
    design = whole._replace(
        C=whole.C[:count], D=whole.D[:count], output_names=outputs[:count]
    )
    noise = controller.noise
    drift = noise.drift or tuple(0.1 * value for value in noise.torque)
    estimator = kalman_filter(
        design,
        torque_noise=for_drives(model, "noise.torque", noise.torque),
        disturbance_drift=for_drives(model, "noise.drift", drift),
        sensor_noise=each_or_none("noise.sensors", noise.sensors, count),
    )
    return sensors, design, gains, estimator


def known_motion(
    model: Model,
    controller: PreviewedFeedback,
    sensors: tuple[str, ...],
    design: DesignModel,
    gains: Regulator,
) -> tuple[NominalMotion, Preview | None]:
    """The nominal motion of the sensors, and the neglected forces of the links if preview is used."""
    if not controller.preview:
        return nominal_of(model, controller, sensors), None
    names = (*model.independent_names, *model.coordinate_names)
    whole = nominal_of(model, controller, (*sensors, *names))
    table = whole.measured
    assert isinstance(table, Table)
    rows = np.asarray(table.values)
    links = rows[:, len(sensors) :].copy()
    joints = len(model.independent_names)
    reference = joint_motion(model, whole.reference, np.asarray(table.t))
    links[:, :joints] -= reference[:, 0, list(model.formulation.independent)]
    readings = Table(table.t, rows[:, : len(sensors)], "linear", after="hold")
    nominal = NominalMotion(whole.reference, whole.torque, readings)
    return nominal, preview(design, gains, neglected_push(design, links))


def over_time(controller: Common, rows: np.ndarray) -> Table:
    """Rows of the samples as a signal, zero after the last one."""
    times = controller.sample * np.arange(len(rows) + 1)
    ended = np.concatenate([rows, np.zeros_like(rows[:1])])
    return Table(times.tolist(), ended, "linear", after="hold")


def tolerances_of(controller: StateFeedback) -> AllowedDeviations:
    """The tolerances of a description, the integral one from that of position where it is not written."""
    described = controller.tolerances
    integral = described.integral
    if integral is None:
        # The error that the position tolerance leaves in half a second.
        integral = tuple(0.5 * value for value in described.position)
    return AllowedDeviations(
        described.position,
        described.torque,
        np.inf if described.energy is None else described.energy,
        integral,
    )
