"""Control laws from their descriptions."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..analyse.linear.linearize import linearize
from ..describe.controllers import (
    Common,
    ComputedTorqueController,
    DelayedReferenceController,
    EKFController,
    EstimatedStateFeedback,
    HybridController,
    JointGains,
    LQGController,
    LQRController,
    MixedNormController,
    MPCController,
    PDController,
    PIDController,
    ScheduledLQRController,
    Shaper,
    StateFeedback,
)
from ..describe.part import Part
from ..solve.channels import output_named
from ..solve.law import AbstractLaw
from ..solve.model import Model
from ..solve.signals import AbstractSignal, Table
from .computed_torque import ComputedTorque
from .delayed_reference import DelayedReference
from .described_motions import described_motion, planned_nominal
from .design_model import DesignError, DesignModel, design_model
from .estimator import Estimator, kalman_filter
from .extended_kalman import EKFControl, ExtendedKalman
from .following_shaper import followed, mode_along
from .hybrid import Hybrid
from .mixed_norm import (
    OutputFeedback,
    mixed_synthesis,
    robot_plant,
    sampled_controller,
)
from .nominal import NominalMotion, joint_motion, nominal_motion, of_actuated
from .optimal import (
    LQG,
    LQR,
    Foreseen,
    Regulator,
    Tolerances,
    integral_regulator,
    regulator,
)
from .pd import PD, GravityTorque
from .pid import PID
from .predictive import MPC, Limits, Solver, foreseen_program, program_of
from .preview import Preview, left_out, preview
from .real_loop import RealLoop
from .references import reference_through
from .scheduled import ScheduledLQR, scheduled_gain, scheduled_lqr, state_names
from .shaping import Impulses, Mode, shaped, shaper_for
from .slow_model import slow_model
from .tuning import (
    delay_gain,
    driven_modes,
    driven_shapes,
    first_driven_mode,
    joint_inertia,
    modal_filter,
    pid_gains,
    vibration_gain,
)

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
    shaper = controller.shaper
    target = design_pose(model, controller)
    wanted = shaped_modes(model, target, shaper)
    if shaper.follow:
        return shaped_along(model, motion, shaper, wanted)
    return shaped(motion, impulses_of(shaper, wanted))


def impulses_of(shaper: Shaper, wanted: list[Mode]) -> Impulses:
    """The impulses of a described shaper for modes.

    Raises:
        DesignError: no shaper has such a band.
    """
    try:
        return shaper_for(shaper.type, wanted, shaper.width)
    except ValueError as failure:
        raise DesignError(f"shaper: {failure}") from None


def shaped_along(
    model: Model, motion: AbstractSignal, shaper: Shaper, wanted: list[Mode]
) -> AbstractSignal:
    """A motion through a shaper that follows the modes along it."""
    found = motion
    for number, mode in zip(shaper.modes, wanted, strict=True):
        unit = impulses_of(shaper, [Mode(1.0, mode.zeta)])
        frequency = mode_along(model, int(number))
        found = followed(found, unit, mode.zeta, frequency)
    return found


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
            hertz = ", ".join(f"{m.omega / (2 * np.pi):.3g}" for m in found)
            raise DesignError(
                f"the robot has {len(found)} modes that its motors move ({hertz} Hz), there is no mode {number:g}",
                "shaper.modes",
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
    # Inversion at the tip is a planned motion.
    assert controller.feedforward != "tip"
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


def _known(
    model: Model,
    controller: EstimatedStateFeedback,
    sensors: tuple[str, ...],
    design: DesignModel,
    gains: Regulator,
) -> tuple[NominalMotion, Preview]:
    """The nominal motion of the sensors, and what it leaves out of the links' own motion."""
    names = (*model.independent_names, *model.coordinate_names)
    whole = _nominal(model, controller, (*sensors, *names))
    table = whole.measured
    assert isinstance(table, Table)
    rows = np.asarray(table.values)
    links = rows[:, len(sensors) :].copy()
    joints = len(model.independent_names)
    reference = joint_motion(model, whole.reference, np.asarray(table.t))
    links[:, :joints] -= reference[:, 0, list(model.formulation.independent)]
    seen = Table(table.t, rows[:, : len(sensors)], "linear", after="hold")
    nominal = NominalMotion(whole.reference, whole.torque, seen)
    return nominal, preview(design, gains, left_out(design, links))


def _over_time(controller: Common, rows: np.ndarray) -> Table:
    """Rows of the samples as a signal, zero after the last one."""
    times = controller.sample * np.arange(len(rows) + 1)
    ended = np.concatenate([rows, np.zeros_like(rows[:1])])
    return Table(times.tolist(), ended, "linear", after="hold")


def _lqg(model: Model, controller: LQGController) -> LQG:
    sensors, design, gains, estimator = _estimated(model, controller)
    nominal, known = _known(model, controller, sensors, design, gains)
    foreseen = Foreseen(
        torque=_over_time(controller, known.torque),
        push=_over_time(controller, known.push),
    )
    return LQG(
        K=gains.K,
        estimator=estimator,
        nominal=nominal,
        sample=controller.sample,
        sensor_names=sensors,
        torque_limit=_drives(model, "torque_limit", controller.torque_limit),
        foreseen=foreseen,
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
    nominal, known = _known(model, controller, sensors, design, gains)
    foreseen = foreseen_program(design, gains, program, known, names)
    return MPC(
        K=gains.K,
        estimator=estimator,
        nominal=nominal,
        sample=controller.sample,
        sensor_names=sensors,
        constrained=tuple(sensors.index(name) for name in names),
        solver=Solver(program, limits, controller.sample, names, foreseen),
        push=_over_time(controller, known.push),
    )


def _delayed_reference(
    model: Model, controller: DelayedReferenceController
) -> DelayedReference:
    inner = _position_loop(model, controller, controller.gains)
    sensors = controller.sensors
    slow = _at_rest(model, controller, sensors)
    q = design_pose(model, controller)
    W = strain_filter(model, q, sensors)
    rows = np.asarray(controller.reference.value, dtype=float)
    direction = _of_actuated(model, rows[-1] - rows[0])
    found = delay_gain(model, q, inner, sensors, W, direction)
    gain, catch_up = controller.gain, controller.catch_up
    return DelayedReference(
        inner=inner,
        sample=controller.sample,
        static=slow,
        strain_names=sensors,
        filter=W,
        gain=found.chosen if gain is None else gain,
        slowest=controller.slowest,
        limit=controller.limit,
        catch_up=controller.limit if catch_up is None else catch_up,
        stable=(found.least, found.largest),
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
    """W of the gauges at a pose, see `modal_filter`.

    Raises:
        DesignError: the gauges see none of the modes that the motors move.
    """
    point = linearize(model, q, inputs=(), outputs=sensors)
    second = point.matrices
    assert second is not None
    joints = len(model.formulation.independent)
    elastic = slice(joints, len(second.M))
    found = driven_shapes(second.M, second.K, joints)
    readings = np.asarray(point.C)[:, elastic] @ found.shapes
    W = modal_filter(readings, found.omega, found.carried)
    if not np.any(W):
        raise DesignError("these gauges see no mode that the motors move", "sensors")
    independent = list(model.formulation.independent)
    if not set(model.actuated) <= set(independent):
        raise DesignError(
            "a loop on strains needs the joints with motors as the independent ones: write `independent` in the robot"
        )
    return W[[independent.index(k) for k in model.actuated]]


def _hybrid(model: Model, controller: HybridController) -> Hybrid:
    inner = _position_loop(model, controller, controller.gains)
    sensors = controller.sensors
    nominal = _nominal(model, controller, sensors)
    q = design_pose(model, controller)
    first = first_driven_mode(model, q)
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


def _scheduled_lqr(model: Model, controller: ScheduledLQRController) -> ScheduledLQR:
    rows = controller.reference.value
    return scheduled_lqr(
        model,
        rows[0],
        rows[-1],
        _tolerances(controller),
        lambda names: _nominal(model, controller, names),
        poses=controller.poses,
        sample=controller.sample,
        fastest=controller.fastest,
        torque_limit=_drives(model, "torque_limit", controller.torque_limit),
    )


def _ekf(model: Model, controller: EKFController) -> EKFControl:
    if model.closed:
        raise DesignError("ekf: the filter steps open chains; use lqg on a closed one")
    rows = controller.reference.value
    K = scheduled_gain(
        model,
        rows[0],
        rows[-1],
        _tolerances(controller),
        poses=controller.poses,
        sample=controller.sample,
        fastest=controller.fastest,
    )
    sensors = controller.sensors or _encoders(model)
    noise = controller.noise
    drift = noise.drift or tuple(0.1 * value for value in noise.torque)
    count = len(model.actuated)
    return EKFControl(
        filter=ExtendedKalman(
            formulation=model.formulation,
            channels=tuple(output_named(model, name) for name in sensors),
            torque_noise=np.broadcast_to(noise.torque, (count,)),
            drift=np.broadcast_to(drift, (count,)),
            sensor_noise=_given("noise.sensors", noise.sensors, len(sensors)),
            sample=controller.sample,
        ),
        K=K,
        nominal=_nominal(model, controller, state_names(model)),
        sample=controller.sample,
        sensor_names=sensors,
        columns=model.actuated,
        torque_limit=_drives(model, "torque_limit", controller.torque_limit),
    )


def _mixed_norm(model: Model, controller: MixedNormController) -> OutputFeedback:
    encoders = _encoders(model)
    sensors = controller.sensors or encoders
    count = len(sensors)
    q = design_pose(model, controller)
    slow = slow_model(
        model, q, (*sensors, *encoders), controller.sample, controller.fastest
    )
    noise = _each("noise.sensors", controller.noise.sensors, count)
    tolerances = _tolerances(controller)
    plant = robot_plant(slow, count, tolerances, noise, controller.noise.torque)
    found = mixed_synthesis(plant, controller.peak)
    A, B, C, D = sampled_controller(found.controller, controller.sample)
    return OutputFeedback(
        A=A,
        B=B,
        C=C,
        D=D,
        through=slow.D[:count],
        nominal=_nominal(model, controller, sensors),
        sample=controller.sample,
        sensor_names=sensors,
        torque_limit=_drives(model, "torque_limit", controller.torque_limit),
    )


_BUILDERS: dict[type[Common], Callable[[Model, Any], AbstractLaw]] = {
    PIDController: _pid,
    ComputedTorqueController: _computed_torque,
    LQRController: _lqr,
    LQGController: _lqg,
    MPCController: _mpc,
    ScheduledLQRController: _scheduled_lqr,
    EKFController: _ekf,
    MixedNormController: _mixed_norm,
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
    return None if values is None else _given(name, values, count)


def _given(name: str, values: Any, count: int) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    if array.shape not in ((1,), (count,)):
        raise DesignError(f"one number, or {count}, got {array.size}", name)
    return np.broadcast_to(array, (count,)).copy()
