"""Linear models with names about any point of a robot's motion, and along a whole motion."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from jaxnative.compiled import compiled_quickly

from ...dynamics import engine
from ...dynamics.formulation import AbstractFormulation
from ...files.errors import refuse_idle
from ...parameters import (
    Accelerations,
    DerivativeGains,
    Inputs,
    Locked,
    Outputs,
    Pose,
    ProportionalGains,
    Speeds,
    WeightStiffness,
)
from ...solve.arguments import ModelLike, model_from
from ...solve.balance import (
    MotionPoint,
    balance_guess,
    balanced_point,
    of_independent,
    relative_residual,
)
from ...solve.channels import (
    Channel,
    default_inputs,
    default_outputs,
    default_set_points,
    input_named,
    measure,
    observed_motion,
    output_named,
)
from ...solve.feedback import WiredLaw
from ...solve.model import EquilibriumError, Model
from ...solve.state import State
from ...types import Float, real
from .carried_weight import require_consistent_terms, with_weight_stiffness
from .linear_feedback import (
    LOCKED_GAINS,
    LinearFeedback,
    driving_loads,
    joint_feedback,
    law_feedback,
    require_law,
)
from .linear_matrices import LinearMatrices, accelerated_point, split_motion
from .linear_origin import LinearOrigin
from .locking import Locking, locking
from .sampled_loop import sampled_loop
from .state_space import LinearModel, OperatingPoint

BALANCE = 1e-7  # residual force at a point, relative to the largest force there
ROUNDING = 1e-4  # accelerations of an equilibrium that come from rounding stay below [rad/s^2 and the like]
SINGULAR = 1e-14  # reciprocal condition of the scaled inertia matrix below which there is no state-space form


class LinearizationError(RuntimeError):
    """No linear model exists at this point, such as where a coordinate moves no mass."""


class Derivatives(NamedTuple):
    """Derivatives for the linear model at one point: dy = G_x dx + G_v dxd + G_a dxdd + G_u du."""

    matrices: LinearMatrices
    G_x: Any
    G_v: Any
    G_a: Any
    G_u: Any
    y: Any  # outputs at the point
    encoder: Any  # reading, speed and acceleration of the encoders (3, j) at the point
    E: Any  # their derivatives (3, j, 3 n) with respect to (x, xd, xdd)


def derivatives(
    f: AbstractFormulation,
    point: MotionPoint,
    inputs: tuple[Channel, ...],
    outputs: tuple[Channel, ...],
    feedback: LinearFeedback | None,
) -> Derivatives:
    """Exact derivatives of the equations of motion and of the outputs: pure, for `jit` and `vmap`.

    The law behind `feedback` measures from the point, so that it changes nothing there.
    """
    n = f.size
    j = f.n_encoders
    p = len(outputs)
    with_reactions = any(channel.kind == "reaction" for channel in outputs)
    at_point = None
    if feedback is not None:
        at_point = feedback.signals(f, f.motion(point.x, point.xd, point.xdd))

    def everything(z):
        x, xd, xdd, u = split_motion(z, n)
        motion = f.motion(x, xd, xdd)
        applied = driving_loads(f, motion, inputs, u, point.tau, feedback, at_point)
        # Forces by link cost much, and only reactions at joints are made of them.
        needed = engine.link_forces(f, motion, applied) if with_reactions else None
        force = engine.needed_force(f, motion, applied)
        observed = observed_motion(f, motion)
        y = measure(f, outputs, observed, needed, applied.encoder)
        encoder = [
            observed.place.encoder,
            observed.rates.encoder,
            observed.rates_d.encoder,
        ]
        value = jnp.concatenate([force, y, *encoder])
        return value, value

    # One pass of forward differentiation gives the derivatives of the equations, the outputs and the encoders.
    no_inputs = jnp.zeros(len(inputs))
    z = jnp.concatenate([point.x, point.xd, point.xdd, no_inputs])
    slope, value = jax.jacfwd(everything, has_aux=True)(z)
    K, C, M, minus_F = split_motion(slope[:n], n)
    G_x, G_v, G_a, G_u = split_motion(slope[n : n + p], n)
    return Derivatives(
        matrices=LinearMatrices(M, C, K, -minus_F),
        G_x=G_x,
        G_v=G_v,
        G_a=G_a,
        G_u=G_u,
        y=value[n : n + p],
        encoder=value[n + p :].reshape(3, j),
        E=slope[n + p :, : 3 * n].reshape(3, j, 3 * n),
    )


derivatives_at = compiled_quickly(derivatives)


@compiled_quickly
def _balance(
    f: AbstractFormulation, q, qd, qdd, start: Float[Array, " N"]
) -> tuple[MotionPoint, Float[Array, ""]]:
    point = balanced_point(f, q, qd, qdd, start=start)
    return point, relative_residual(f, point)


_accelerated = compiled_quickly(accelerated_point)


def operating_point(
    model: Model, state: Any = None, qd: Any = None, qdd: Any = None
) -> MotionPoint:
    """The point of a motion about which a model is linearised.

    Joint coordinates q (what the encoders read), with speeds and accelerations: the links in quasi-static balance with
    this motion, the torques by inverse dynamics. A `State` is taken as it is, with its torques, and its accelerations
    follow from the equations of motion; one without torques is first balanced at its encoder readings and speeds.

    Raises:
        EquilibriumError: the links find no balance.
    """
    if isinstance(state, State) and state.torque is not None:
        if qd is not None or qdd is not None:
            raise ValueError(
                "a state with torques has its own speeds and accelerations: give q instead, or no qd, qdd"
            )
        return _point_of_state(model, state, state.torque)
    if isinstance(state, State):
        # Encoder readings stay; the balance of the links is computed again.
        qd = state.encoder_d if qd is None else qd
        state = state.encoder
    q = model.assemble(state)
    qd = model.joint_vector("qd", qd)
    qdd = model.joint_vector("qdd", qdd)
    model.check_reference(q)
    f = model.formulation_at(q)
    point, left = _balance(f, q, qd, qdd, balance_guess(f, q))
    if not float(left) < BALANCE:
        # Newton's iteration diverged, as it does with very soft links: it restarts where they hang at rest.
        resting = model.static(q)
        tau = of_independent(f, real(resting.torque))
        start = jnp.concatenate([resting.x, tau])
        point, left = _balance(model.formulation_at(resting), q, qd, qdd, start)
    require_balance(float(left), f"near q = {np.asarray(q).tolist()}")
    return point


def _point_of_state(model: Model, state: State, torque: Any) -> MotionPoint:
    model.check_reference(state.q)
    f = model.formulation_at(state)
    point = _accelerated(f, state.x, state.xd, torque)
    at_rest = not np.any(np.asarray(state.xd))
    largest = np.abs(np.asarray(point.xdd)).max()
    # An equilibrium loses the rounding of its accelerations; a state at rest that is none keeps them.
    if at_rest and largest < ROUNDING:
        return point._replace(xdd=jnp.zeros_like(point.xdd))
    return point


def require_balance(residual: float, where: str) -> None:
    """Refuse a point whose forces do not balance.

    Raises:
        EquilibriumError: more than `BALANCE` of the forces remains unbalanced.
    """
    # Written so that a number that is not finite is refused too.
    if not residual < BALANCE:
        raise EquilibriumError(
            f"no quasi-static equilibrium of the links found {where}: {residual:.1e} of "
            "the forces remains unbalanced"
        )


def formulation_on_branch_near(model: Model, state: Any) -> AbstractFormulation:
    """The formulation whose loops, if there are any, are closed near a state or near joint coordinates."""
    return model.formulation_at(
        state if isinstance(state, State) else model.assemble(state)
    )


def linearize(
    model: ModelLike,
    state: Pose = None,
    *,
    qd: Speeds = None,
    qdd: Accelerations = None,
    inputs: Inputs = None,
    outputs: Outputs = None,
    kp: ProportionalGains = None,
    kd: DerivativeGains = None,
    controller: Any = None,
    locked: Locked = False,
    weight_stiffness: WeightStiffness = False,
) -> LinearModel:
    """State-space model of small motion about a point, at rest or moving, with named states, inputs and outputs.

    By exact differentiation of the equations of motion, in every formulation, [Boscariol2017] eqs. (12)-(15). About a
    moving point the matrices are those of that instant; `linearize_along` gives them along the whole motion.

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        state: joint coordinates q (encoder readings, zero by default), the links then in quasi-static balance with the
            motion (q, qd, qdd) and the torques from inverse dynamics; or a `State`, taken as it is with its torques.
        qd: joint speeds.
        qdd: joint accelerations.
        inputs: names such as `upper.torque`, `lower/tip.fz`, `upper.setpoint`; every joint torque by default.
        outputs: names such as `upper.encoder`, `lower/tip.ax`; encoders, speeds, tip position and acceleration by
            default.
        kp: proportional gains of a joint controller on the encoders, one or one for each joint.
        kd: its derivative gains.
        controller: a control law such as `PD`, instead of gains: differentiated at the point, which it does not move.
            A sampled law gives the discrete closed loop, with the memory of the law among its states.
        locked: the encoders follow their motion whatever happens; the joints' coordinates leave the model.
        weight_stiffness: add the second-order stiffness of carried weight, which formulations of first order leave out.

    Returns:
        `LinearModel`: d(dx)/dt = A dx + B du, dy = C dx + D du with the names of states, inputs and outputs, and the
        operating point from which dx, du and dy count.

    Raises:
        UnknownNameError: the robot has no such input or output.
        ValueError: gains and a controller together, a name that stands twice, or a point of another shape.
        EquilibriumError: the links find no balance at the point.
        LinearizationError: the inertia matrix is singular at the point.

    Example:
        >>> import lissom as ls
        >>> model = ls.Model("double-pendulum")
        >>> small = ls.linearize(model, [0.0, 0.5], outputs=["lower/tip.ay"])
        >>> small.A.shape, small.input_names, small.output_names
        ((28, 28), ('upper.torque', 'lower.torque'), ('lower/tip.ay',))
    """
    model = model_from(model)
    if controller is not None and (kp is not None or kd is not None):
        raise ValueError("give gains kp and kd, or a controller, not both")
    if locked:
        refuse_idle(linearize, LOCKED_GAINS, kp=kp, kd=kd)
    if weight_stiffness:
        require_consistent_terms(model)
    is_closed = controller is not None or kp is not None or kd is not None
    if inputs is None and controller is not None:
        inputs = default_set_points(model)
    ins, outs = channels_of(model, inputs, outputs, is_closed, locked)
    point = operating_point(model, state, qd, qdd)
    f = formulation_on_branch_near(model, state)
    feedback = joint_feedback(model, kp, kd)
    if controller is not None:
        law = require_law(model, controller)
        if law.sample is not None:
            loop = _sampled_closed_loop(
                model, f, point, law, ins, outs, locked, weight_stiffness
            )
            return replace(loop, origin=LinearOrigin(model, weight_stiffness))
        feedback = law_feedback(f, law, f.motion(point.x, point.xd, point.xdd))
    slopes = _slopes_at(f, point, ins, outs, feedback)
    if weight_stiffness:
        slopes = _with_weight(model, f, point, slopes)
    linear = model_of(model, point, slopes, ins, outs, locked)
    return replace(linear, origin=LinearOrigin(model, weight_stiffness))


def _slopes_at(f, point, ins, outs, feedback: LinearFeedback | None) -> Derivatives:
    return jax.tree.map(np.asarray, derivatives_at(f, point, ins, outs, feedback))


def _with_weight(
    model: Model, f: AbstractFormulation, point: MotionPoint, slopes: Derivatives
) -> Derivatives:
    matrices = with_weight_stiffness(slopes.matrices, model, f, point.x)
    return slopes._replace(matrices=matrices)


def _sampled_closed_loop(
    model: Model,
    f: AbstractFormulation,
    point: MotionPoint,
    law: WiredLaw,
    ins: tuple[Channel, ...],
    outs: tuple[Channel, ...],
    locked: Locked,
    weight_stiffness: WeightStiffness,
) -> LinearModel:
    """The closed loop of a sampled law: first the robot with its torques and measured signals, then the loop."""
    if locked:
        raise ValueError("locked joints follow their motion: there is no loop to close")
    torques = [input_named(model, f"{name}.torque") for name in model.actuated_names]
    others = [channel for channel in ins if not channel.is_set_point]
    own_ins = (*torques, *others)
    own_outs = (*law.channels, *outs)
    slopes = _slopes_at(f, point, own_ins, own_outs, None)
    if weight_stiffness:
        slopes = _with_weight(model, f, point, slopes)
    robot = model_of(model, point, slopes, own_ins, own_outs, False)
    return sampled_loop(robot, law, ins, outs)


# --- names and matrices --------------------------------------------------------------------------------------------


def channels_of(
    model: Model,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
    is_closed: bool,
    locked: Locked = False,
) -> tuple[tuple[Channel, ...], tuple[Channel, ...]]:
    """The inputs and outputs of these names.

    Raises:
        UnknownNameError: the robot has no such name.
    """
    if inputs is None:
        # Torques of locked joints move nothing.
        inputs = () if locked else default_inputs(model)
    if outputs is None:
        outputs = default_outputs(model)
    _require_once("inputs", inputs)
    _require_once("outputs", outputs)
    ins = tuple(input_named(model, name, is_closed) for name in inputs)
    outs = tuple(output_named(model, name) for name in outputs)
    return ins, outs


def _require_once(kind: str, names: Sequence[str]) -> None:
    counts = Counter(names)
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(f"{kind}: {', '.join(repeated)} is given twice")


def model_of(
    model: Model,
    point: MotionPoint,
    slopes: Derivatives,
    ins: tuple[Channel, ...],
    outs: tuple[Channel, ...],
    locked: Locked,
) -> LinearModel:
    """The state-space form of the derivatives at one point."""
    drives = model.formulation.independent
    names = (*model.independent_names, *model.coordinate_names)
    if locked:
        slopes, _ = locked_derivatives(slopes, drives)
        names = model.coordinate_names
    A, B, C, D = first_order(slopes)
    return LinearModel(
        A=A,
        B=B,
        C=C,
        D=D,
        state_names=(*names, *(f"{name}.rate" for name in names)),
        input_names=tuple(channel.name for channel in ins),
        output_names=tuple(channel.name for channel in outs),
        matrices=slopes.matrices,
        operating=_operating_point(model, point, slopes),
    )


def _operating_point(
    model: Model, point: MotionPoint, slopes: Derivatives
) -> OperatingPoint:
    j = len(model.formulation.independent)
    x, xd, xdd, tau = (np.asarray(part) for part in point)
    return OperatingPoint(
        robot=model.robot.name,
        formulation=model.formulation_name,
        q=x[:j],
        qd=xd[:j],
        qdd=xdd[:j],
        elastic=x[j:],
        encoder=slopes.encoder[0],
        torque=tau,
        outputs=slopes.y,
        joints=model.joint_names,
        independent=model.independent_names,
    )


def first_order(
    slopes: Derivatives,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A, B, C, D over the states (dx, dxd), [Boscariol2017] eqs. (12)-(15), about static and moving points."""
    M, C, K, F = slopes.matrices
    n = M.shape[0]
    _require_inertia(M)
    # dxdd = -M^-1 K dx - M^-1 C dxd + M^-1 F du, with one factorisation of M.
    forces = np.concatenate([K, C, F], axis=1)
    accelerations = np.linalg.solve(M, forces)
    on_x = -accelerations[:, :n]
    on_v = -accelerations[:, n : 2 * n]
    on_u = accelerations[:, 2 * n :]
    zero = np.zeros((n, n))
    one = np.eye(n)
    A = np.block([[zero, one], [on_x, on_v]])
    B = np.concatenate([np.zeros_like(on_u), on_u])
    # Outputs may contain accelerations, which are put in from the equations of motion.
    C_x = slopes.G_x + slopes.G_a @ on_x
    C_v = slopes.G_v + slopes.G_a @ on_v
    C_y = np.concatenate([C_x, C_v], axis=1)
    D = slopes.G_u + slopes.G_a @ on_u
    return A, B, C_y, D


def _require_inertia(M: Any) -> None:
    """Refuse an inertia matrix that is singular even with its coordinates scaled to a unit diagonal."""
    if not len(M):
        return
    own_inertia = np.abs(np.diag(M))
    scale = 1.0 / np.sqrt(np.maximum(own_inertia, 1e-300))
    scaled = scale[:, None] * M * scale
    # Written so that a number that is not finite is refused too.
    if not 1.0 / np.linalg.cond(scaled) > SINGULAR:
        raise LinearizationError(
            "the inertia matrix is singular: a coordinate moves no mass"
        )


def locked_derivatives(
    slopes: Derivatives, drives: Sequence[int]
) -> tuple[Derivatives, Locking]:
    """Derivatives with the encoders of `drives` following their motion: the elastic coordinates alone are left."""
    n = slopes.matrices.M.shape[0]
    reading, speed, acceleration = slopes.E[:, list(drives)]
    E = reading[:, :n]
    E_1 = speed[:, :n]
    E_2, E_21, _, _ = split_motion(acceleration, n)
    lock = locking(E, E_1, E_2, E_21)
    B, P, Q_1, Q_0 = lock
    M, C, K, F = slopes.matrices
    M_r, C_r, K_r = lock.reduced(M, C, K)
    locked = slopes._replace(
        matrices=LinearMatrices(M_r, C_r, K_r, B.T @ F),
        G_x=slopes.G_x @ B + slopes.G_v @ P + slopes.G_a @ Q_0,
        G_v=slopes.G_v @ B + slopes.G_a @ Q_1,
        G_a=slopes.G_a @ B,
    )
    return locked, lock
