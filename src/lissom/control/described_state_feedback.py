"""Optimal and predictive control from their descriptions: the full state, or an estimate of it."""

import numpy as np

from ..describe.controllers import (
    Common,
    EstimatedStateFeedback,
    LQGController,
    LQRController,
    MixedNormController,
    MPCController,
    PreviewedFeedback,
    StateFeedback,
)
from ..solve.model import Model
from ..solve.signals import Table
from .described_numbers import each_or_none, for_drives
from .described_references import design_pose, nominal_of
from .design_model import DesignModel, design_model
from .estimator import Estimator, kalman_filter
from .mixed_norm import OutputFeedback, mixed_synthesis, robot_plant, sampled_controller
from .nominal import NominalMotion, joint_motion
from .optimal import (
    LQG,
    LQR,
    AllowedDeviations,
    PreviewInputs,
    Regulator,
    integral_regulator,
    regulator,
)
from .predictive import (
    MPC,
    PredictiveLimits,
    QuadraticSolver,
    preview_program,
    program_of,
)
from .preview import Preview, neglected_push, preview
from .scheduled import state_names
from .slow_model import encoder_names, slow_model


def lqr_law(model: Model, controller: LQRController) -> LQR:
    """Optimal feedback of the full state."""
    states = state_names(model)
    encoders = encoder_names(model)
    q = design_pose(model, controller)
    design = design_model(
        model, q, encoders, controller.sample, fastest=controller.fastest
    )
    gains, K_integral = integral_regulator(design, tolerances_of(controller), encoders)
    return LQR(
        K=gains.K @ design.of_robot,
        K_integral=K_integral,
        nominal=nominal_of(model, controller, (*states, *encoders)),
        sample=controller.sample,
        state_names=states,
        torque_limit=for_drives(model, "torque_limit", controller.torque_limit),
    )


def lqg_law(model: Model, controller: LQGController) -> LQG:
    """Optimal feedback on the estimate of a Kalman filter."""
    sensors, design, gains, estimator = estimated(model, controller)
    nominal, known = _known(model, controller, sensors, design, gains)
    foreseen = None
    if known is not None:
        foreseen = PreviewInputs(
            torque=_over_time(controller, known.torque),
            push=_over_time(controller, known.push),
        )
    return LQG(
        K=gains.K,
        estimator=estimator,
        nominal=nominal,
        sample=controller.sample,
        sensor_names=sensors,
        torque_limit=for_drives(model, "torque_limit", controller.torque_limit),
        preview=foreseen,
    )


def mpc_law(model: Model, controller: MPCController) -> MPC:
    """Predictive control on the estimate of a Kalman filter."""
    sensors, design, gains, estimator = estimated(model, controller)
    described = controller.limits
    names = tuple(described.deflection)
    program = program_of(
        design, gains, names, controller.horizon, controller.control_horizon
    )
    infinite = np.full(len(model.actuated), np.inf)
    torque = for_drives(
        model, "limits.torque", described.torque or controller.torque_limit
    )
    rate = for_drives(model, "limits.rate", described.rate)
    limits = PredictiveLimits(
        infinite if torque is None else torque,
        infinite if rate is None else rate,
        np.array(list(described.deflection.values())),
        described.hard,
    )
    nominal, known = _known(model, controller, sensors, design, gains)
    foreseen, push = None, None
    if known is not None:
        foreseen = preview_program(design, gains, program, known, names)
        push = _over_time(controller, known.push)
    return MPC(
        K=gains.K,
        estimator=estimator,
        nominal=nominal,
        sample=controller.sample,
        sensor_names=sensors,
        constrained=tuple(sensors.index(name) for name in names),
        solver=QuadraticSolver(program, limits, controller.sample, names, foreseen),
        push=push,
    )


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


def _known(
    model: Model,
    controller: PreviewedFeedback,
    sensors: tuple[str, ...],
    design: DesignModel,
    gains: Regulator,
) -> tuple[NominalMotion, Preview | None]:
    """The nominal motion of the sensors, and what it leaves out of the links' own motion where that is foreseen."""
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
    seen = Table(table.t, rows[:, : len(sensors)], "linear", after="hold")
    nominal = NominalMotion(whole.reference, whole.torque, seen)
    return nominal, preview(design, gains, neglected_push(design, links))


def _over_time(controller: Common, rows: np.ndarray) -> Table:
    """Rows of the samples as a signal, zero after the last one."""
    times = controller.sample * np.arange(len(rows) + 1)
    ended = np.concatenate([rows, np.zeros_like(rows[:1])])
    return Table(times.tolist(), ended, "linear", after="hold")


def mixed_norm_law(model: Model, controller: MixedNormController) -> OutputFeedback:
    """The sampled controller of a mixed-norm synthesis."""
    encoders = encoder_names(model)
    sensors = controller.sensors or encoders
    count = len(sensors)
    q = design_pose(model, controller)
    outputs = tuple(dict.fromkeys((*sensors, *encoders)))
    whole = slow_model(model, q, outputs, controller.sample, controller.fastest)
    # Sensors, then encoders, those that are sensors once more.
    rows = [outputs.index(name) for name in (*sensors, *encoders)]
    slow = whole._replace(C=whole.C[rows], D=whole.D[rows], outputs=whole.outputs[rows])
    noise = each_or_none("noise.sensors", controller.noise.sensors, count)
    tolerances = tolerances_of(controller)
    stirred = for_drives(model, "noise.torque", controller.noise.torque)
    plant = robot_plant(slow, count, tolerances, noise, stirred)
    found = mixed_synthesis(plant, controller.peak)
    A, B, C, D = sampled_controller(found.controller, controller.sample)
    return OutputFeedback(
        A=A,
        B=B,
        C=C,
        D=D,
        through=slow.D[:count],
        nominal=nominal_of(model, controller, sensors),
        sample=controller.sample,
        sensor_names=sensors,
        torque_limit=for_drives(model, "torque_limit", controller.torque_limit),
    )


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
