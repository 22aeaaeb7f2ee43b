"""Control laws from their descriptions."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..analyse.linear.linearize import linearize
from ..describe.controllers import (
    Common,
    ComputedTorqueController,
    DelayedReferenceController,
    EstimatedStateFeedback,
    HybridController,
    JointGains,
    LQGController,
    LQRController,
    MPCController,
    PDController,
    PIDController,
    Shaper,
    StateFeedback,
)
from ..describe.part import Part
from ..solve.law import AbstractLaw
from ..solve.model import Model
from ..solve.signals import AbstractSignal
from .computed_torque import ComputedTorque
from .delayed_reference import DelayedReference
from .described_motions import described_motion, planned_nominal
from .design_model import DesignError, DesignModel, design_model
from .estimator import Estimator, kalman_filter
from .hybrid import Hybrid
from .nominal import NominalMotion, nominal_motion, of_actuated
from .optimal import LQG, LQR, Regulator, Tolerances, integral_regulator, regulator
from .pd import PD, GravityTorque
from .pid import PID
from .predictive import MPC, Limits, Solver, program_of
from .real_loop import RealLoop
from .references import reference_through
from .shaping import Mode, shaped, shaper_for
from .tuning import delay_gain, driven_modes, joint_inertia, pid_gains, vibration_gain

LAG = 2.0  # samples: time constant of a derivative's filter
SETTLING = 3.0  # periods of the first mode: time constant of a vibration loop's high-pass filter


def law_of(model: Model, controller: Part) -> AbstractLaw:
    """The law that a scenario describes, for the actuated joints of a robot.

    Gains and references may be written for every moving joint: those of passive joints are left out.

    Raises:
        DesignError: there is no such law for this robot.
    """
    if isinstance(controller, PDController):
        return _pd(model, controller)
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
        noise=_each("loop.noise", loop.noise, sensors),
        resolution=_each("loop.resolution", loop.resolution, sensors),
        torque_limit=_drives(model, "loop.torque_limit", loop.torque_limit),
        rate_limit=_drives(model, "loop.rate_limit", loop.rate_limit),
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


# --- reference and feed-forward ------------------------------------------------------------------------------------


def reference_of(model: Model, controller: Common) -> AbstractSignal:
    """The motion of the actuated joints, through its shaper."""
    motion = of_actuated(model, described_motion(model, controller))
    if controller.shaper is None:
        return motion
    target = design_pose(model, controller)
    wanted = shaped_modes(model, target, controller.shaper)
    return shaped(motion, shaper_for(controller.shaper.type, wanted))


def shaped_modes(model: Model, q: Any, shaper: Shaper) -> list[Mode]:
    """The modes that a shaper is for.

    Raises:
        DesignError: a mode that the robot does not have.
    """
    if shaper.frequency is not None:
        zeta = shaper.damping or 0.0
        return [Mode(2 * np.pi * f, zeta) for f in shaper.frequency]
    found = driven_modes(model, q)
    chosen = []
    for number in shaper.modes:
        if int(number) > len(found):
            raise DesignError(
                f"shaper.modes: the robot has {len(found)} modes that its motors move, there is no mode {number:g}"
            )
        mode = found[int(number) - 1]
        chosen.append(
            mode if shaper.damping is None else Mode(mode.omega, shaper.damping)
        )
    return chosen


def design_pose(model: Model, controller: Common) -> np.ndarray:
    """Where the robot is linearised: the pose that is named, or the end of the motion."""
    pose = controller.pose if isinstance(controller, StateFeedback) else None
    if pose is not None:
        return np.asarray(model.assemble(pose))
    last = np.asarray(controller.reference.value[-1], dtype=float)
    if len(last) == model.n_joints:
        return np.asarray(model.assemble(last))
    if model.closed and model.actuated == model.formulation.independent:
        return np.asarray(model.assemble(last))
    whole = np.array(model.formulation.mechanism.home, dtype=float)
    whole[list(model.actuated)] = last
    return np.asarray(model.assemble(whole))


def _nominal(
    model: Model, controller: Common, sensors: tuple[str, ...] = ()
) -> NominalMotion:
    planned = planned_nominal(model, controller, sensors)
    if planned is not None:
        return planned
    reference = reference_of(model, controller)
    return nominal_motion(
        model, reference, sensors, controller.feedforward, step=controller.sample
    )


# --- one builder for each type -------------------------------------------------------------------------------------


def _pd(model: Model, controller: PDController) -> PD:
    table = controller.reference
    whole = reference_through(table.t, table.value, table.interpolation)
    feedforward = None
    if controller.gravity_compensation:
        # Passive joints carry no torque, and their places say where the robot is.
        feedforward = GravityTorque(model.formulation, whole)
    columns = _of_actuated(model, table.value)
    return PD(
        _of_actuated(model, controller.kp),
        _of_actuated(model, controller.kd),
        reference_through(table.t, columns, table.interpolation),
        sample=controller.sample,
        feedforward=feedforward,
    )


def _pid(model: Model, controller: PIDController) -> PID:
    return _position_loop(model, controller, controller.gains)


def _position_loop(model: Model, controller: Common, gains: JointGains) -> PID:
    q = design_pose(model, controller)
    if gains.bandwidth is not None:
        kp, ki, kd = pid_gains(model, q, gains.bandwidth, gains.damping)
    else:
        kp = _gains(model, "gains.kp", gains.kp)
        ki = _gains(model, "gains.ki", gains.ki)
        kd = _gains(model, "gains.kd", gains.kd)
    return PID(
        kp=kp,
        ki=ki,
        kd=kd,
        nominal=_nominal(model, controller),
        sample=controller.sample,
        lag=gains.lag or LAG * controller.sample,
        torque_limit=_drives(model, "torque_limit", controller.torque_limit),
    )


def _computed_torque(
    model: Model, controller: ComputedTorqueController
) -> ComputedTorque:
    omega = 2 * np.pi * controller.bandwidth
    ones = np.ones(len(model.actuated))
    return ComputedTorque(
        formulation=model.formulation,
        reference=reference_of(model, controller),
        kp=omega**2 * ones,
        kd=2 * controller.damping * omega * ones,
        sample=controller.sample,
        torque_limit=_drives(model, "torque_limit", controller.torque_limit),
    )


def _tolerances(controller: StateFeedback) -> Tolerances:
    described = controller.tolerances
    integral = described.integral
    if integral is None:
        # The error that the position tolerance leaves in half a second.
        integral = tuple(0.5 * value for value in described.position)
    return Tolerances(
        described.position,
        described.torque,
        np.inf if described.energy is None else described.energy,
        integral,
    )


def _encoders(model: Model) -> tuple[str, ...]:
    return tuple(f"{name}.encoder" for name in model.actuated_names)


def _lqr(model: Model, controller: LQRController) -> LQR:
    names = tuple(model.independent_names) + tuple(model.coordinate_names)
    states = (*names, *(f"{name}.rate" for name in names))
    encoders = _encoders(model)
    outputs = (*states, *encoders)
    q = design_pose(model, controller)
    design = design_model(
        model, q, outputs, controller.sample, fastest=controller.fastest
    )
    gains, K_integral = integral_regulator(design, _tolerances(controller), encoders)
    # The states of the design model are combinations of the robot's: the slow part of what is measured.
    slow = np.linalg.pinv(design.rows(states))
    return LQR(
        K=gains.K @ slow,
        K_integral=K_integral,
        nominal=_nominal(model, controller, outputs),
        sample=controller.sample,
        state_names=states,
        torque_limit=_drives(model, "torque_limit", controller.torque_limit),
    )


def _estimated(
    model: Model, controller: EstimatedStateFeedback
) -> tuple[tuple[str, ...], DesignModel, Regulator, Estimator]:
    """Sensors, design model, state feedback and filter of LQG and predictive control."""
    encoders = _encoders(model)
    sensors = controller.sensors or encoders
    # Errors of position are weighed whether or not an encoder is among the sensors.
    outputs = tuple(dict.fromkeys((*sensors, *encoders)))
    q = design_pose(model, controller)
    whole = design_model(
        model, q, outputs, controller.sample, fastest=controller.fastest
    )
    gains = regulator(whole, _tolerances(controller), encoders)
    count = len(sensors)
    design = whole._replace(
        C=whole.C[:count], D=whole.D[:count], output_names=outputs[:count]
    )
    noise = controller.noise
    drift = noise.drift or tuple(0.1 * value for value in noise.torque)
    estimator = kalman_filter(
        design,
        torque_noise=noise.torque,
        disturbance_drift=drift,
        sensor_noise=_each("noise.sensors", noise.sensors, count),
    )
    return sensors, design, gains, estimator


def _lqg(model: Model, controller: LQGController) -> LQG:
    sensors, _, gains, estimator = _estimated(model, controller)
    return LQG(
        K=gains.K,
        estimator=estimator,
        nominal=_nominal(model, controller, sensors),
        sample=controller.sample,
        sensor_names=sensors,
        torque_limit=_drives(model, "torque_limit", controller.torque_limit),
    )


def _mpc(model: Model, controller: MPCController) -> MPC:
    sensors, design, gains, estimator = _estimated(model, controller)
    described = controller.limits
    names = tuple(described.deflection)
    program = program_of(
        design, gains, names, controller.horizon, controller.control_horizon
    )
    infinite = np.full(len(model.actuated), np.inf)
    torque = _drives(
        model, "limits.torque", described.torque or controller.torque_limit
    )
    rate = _drives(model, "limits.rate", described.rate)
    limits = Limits(
        infinite if torque is None else torque,
        infinite if rate is None else rate,
        np.array(list(described.deflection.values())),
        described.hard,
    )
    return MPC(
        K=gains.K,
        estimator=estimator,
        nominal=_nominal(model, controller, sensors),
        sample=controller.sample,
        sensor_names=sensors,
        constrained=tuple(sensors.index(name) for name in names),
        solver=Solver(program, limits, controller.sample),
    )


def _delayed_reference(
    model: Model, controller: DelayedReferenceController
) -> DelayedReference:
    inner = _position_loop(model, controller, controller.gains)
    sensors = controller.sensors
    slow = _at_rest(model, controller, sensors)
    q = design_pose(model, controller)
    W = strain_filter(model, q, sensors)
    gain = controller.gain
    if gain is None:
        rows = np.asarray(controller.reference.value, dtype=float)
        direction = _of_actuated(model, rows[-1] - rows[0])
        largest = 100 * driven_modes(model, q)[0].omega
        found = delay_gain(model, q, inner, sensors, W, direction, largest)
        gain = found.chosen
    return DelayedReference(
        inner=inner,
        sample=controller.sample,
        static=slow,
        strain_names=sensors,
        filter=W,
        gain=gain,
        slowest=controller.slowest,
        limit=controller.limit,
    )


def _at_rest(
    model: Model, controller: Common, sensors: tuple[str, ...]
) -> NominalMotion:
    """What sensors read along the motion if it were infinitely slow."""
    reference = reference_of(model, controller)
    return nominal_motion(
        model, reference, sensors, "gravity", step=controller.sample, slow=True
    )


def strain_filter(model: Model, q: Any, sensors: tuple[str, ...]) -> np.ndarray:
    """W: what the gauges read per unit joint acceleration, turned round, so that W eps is in joint accelerations.

    Scaled by the first mode's frequency, so that W eps is the speed that a joint would gain in a period.
    """
    omega = driven_modes(model, q)[0].omega
    joints = len(model.actuated)
    still = np.zeros(model.n_joints)
    base = _static_reading(model, q, sensors, still)
    columns = []
    for k in model.actuated:
        push = still.copy()
        push[k] = 1.0
        columns.append(_static_reading(model, q, sensors, push) - base)
    per_acceleration = np.stack(columns, axis=1)
    return np.linalg.pinv(per_acceleration).reshape(joints, len(sensors)) / omega


def _static_reading(model: Model, q: Any, sensors, qdd) -> np.ndarray:
    point = linearize(model, q, qdd=qdd, inputs=(), outputs=sensors)
    return np.asarray(point.operating.outputs)


def _hybrid(model: Model, controller: HybridController) -> Hybrid:
    inner = _position_loop(model, controller, controller.gains)
    sensors = controller.sensors
    nominal = _nominal(model, controller, sensors)
    q = design_pose(model, controller)
    first = driven_modes(model, q)[0]
    settling = controller.settling or SETTLING * 2 * np.pi / first.omega

    def law_with(gain: np.ndarray) -> Hybrid:
        return Hybrid(
            inner=inner,
            sample=controller.sample,
            nominal=nominal,
            signal_names=sensors,
            gain=gain,
            settling=settling,
            of_rate=controller.signal == "rate",
        )

    if controller.gain is not None:
        return law_with(np.asarray(controller.gain, dtype=float))
    # Torques per joint acceleration, from what the gauges read per joint acceleration.
    W = strain_filter(model, q, sensors)
    direction = joint_inertia(model, q)[:, None] * W
    found = vibration_gain(model, q, lambda g: law_with(g * direction), 100.0)
    return law_with(found.chosen * direction)


_BUILDERS: dict[type[Common], Callable[[Model, Any], AbstractLaw]] = {
    PIDController: _pid,
    ComputedTorqueController: _computed_torque,
    LQRController: _lqr,
    LQGController: _lqg,
    MPCController: _mpc,
    DelayedReferenceController: _delayed_reference,
    HybridController: _hybrid,
}


# --- numbers for each joint or sensor ------------------------------------------------------------------------------


def _of_actuated(model: Model, values) -> np.ndarray:
    """The columns of the actuated joints, where there is one for every moving joint."""
    values = np.asarray(values, dtype=float)
    if values.shape[-1] == model.n_joints:
        return values[..., list(model.actuated)]
    return values


def _drives(model: Model, name: str, values: Any) -> np.ndarray | None:
    """One number for each actuated joint, from one, these, or one for every moving joint."""
    if values is None:
        return None
    return _each(name, _of_actuated(model, values), len(model.actuated))


def _gains(model: Model, name: str, values: Any) -> np.ndarray:
    """The same, zero where nothing is written."""
    found = _drives(model, name, values)
    return np.zeros(len(model.actuated)) if found is None else found


def _each(name: str, values: Any, count: int) -> np.ndarray | None:
    if values is None:
        return None
    array = np.asarray(values, dtype=float)
    if array.shape not in ((1,), (count,)):
        raise DesignError(f"{name}: one number, or {count}, got {array.size}")
    return np.broadcast_to(array, (count,)).copy()
