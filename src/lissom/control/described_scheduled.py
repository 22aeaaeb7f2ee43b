"""Laws that change with the pose, from their descriptions."""

from typing import Any

from ..describe.controllers import EKFController, ScheduledLQRController
from ..solve.channels import output_named
from ..solve.model import Model
from .described_motions import end_rows
from .described_numbers import each, for_drives, gains_or_zero
from .described_references import nominal_of
from .described_state_feedback import encoder_names, tolerances_of
from .design_error import DesignError
from .design_model import check_detectable, design_model
from .estimator import check_lasting_torques
from .extended_kalman import EKFControl, ExtendedKalman
from .scheduled import ScheduledLQR, scheduled_gain, scheduled_lqr, state_names
from .slow_model import whole_pose


def scheduled_lqr_law(model: Model, controller: ScheduledLQRController) -> ScheduledLQR:
    """The scheduled state feedback of a description."""
    first, last = end_rows(model, controller)
    return scheduled_lqr(
        model,
        first,
        last,
        tolerances_of(controller),
        lambda names: nominal_of(model, controller, names),
        poses=controller.poses,
        sample=controller.sample,
        fastest=controller.fastest,
        torque_limit=for_drives(model, "torque_limit", controller.torque_limit),
    )


def ekf_law(model: Model, controller: EKFController) -> EKFControl:
    """Scheduled feedback on an extended Kalman filter.

    Raises:
        DesignError: the robot is a closed chain, or a motion that lasts, or a lasting torque, is seen by no sensor.
    """
    if model.closed:
        raise DesignError(
            "the filter of ekf steps open chains; use lqg on a closed one", "type"
        )
    first, last = end_rows(model, controller)
    K = scheduled_gain(
        model,
        first,
        last,
        tolerances_of(controller),
        poses=controller.poses,
        sample=controller.sample,
        fastest=controller.fastest,
    )
    sensors = controller.sensors or encoder_names(model)
    _check_sensors(model, controller, last, sensors)
    noise = controller.noise
    drift = noise.drift or tuple(0.1 * value for value in noise.torque)
    return EKFControl(
        filter=ExtendedKalman(
            formulation=model.formulation,
            channels=tuple(output_named(model, name) for name in sensors),
            torque_noise=gains_or_zero(model, "noise.torque", noise.torque),
            drift=gains_or_zero(model, "noise.drift", drift),
            sensor_noise=each("noise.sensors", noise.sensors, len(sensors)),
            sample=controller.sample,
        ),
        K=K,
        nominal=nominal_of(model, controller, state_names(model)),
        sample=controller.sample,
        sensor_names=sensors,
        columns=model.actuated,
        torque_limit=for_drives(model, "torque_limit", controller.torque_limit),
    )


def _check_sensors(
    model: Model, controller: EKFController, last: Any, sensors: tuple[str, ...]
) -> None:
    """Refuse sensors that do not see what lasts, where the motion ends."""
    q = whole_pose(model, last)
    period, fastest = controller.sample, controller.fastest
    design = design_model(model, q, sensors, period, fastest=fastest)
    check_detectable(design)
    check_lasting_torques(design)
