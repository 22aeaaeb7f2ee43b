"""Linear models with names about any point of a robot's motion, and along a whole motion."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ...compilation import compiled_quickly
from ...dynamics import engine
from ...dynamics.formulation import AbstractFormulation, Motion
from ...solve.channels import (
    Channel,
    Loop,
    default_inputs,
    default_outputs,
    drive,
    input_named,
    output_named,
    outputs_of,
)
from ...solve.model import EquilibriumError, Model
from ...solve.problem import State
from .linear_matrices import (
    LinearMatrices,
    Point,
    accelerated_point,
    balanced_point,
    left_over,
    parted,
)
from .state_space import LinearModel, Operating

BALANCE = 1e-7  # force left over at a point, against the largest force there
SINGULAR = 1e-14  # reciprocal condition of the scaled inertia matrix below which there is no state-space form


class LinearizationError(RuntimeError):
    """There is no linear model at this point."""


class Derivatives(NamedTuple):
    """Everything the linear model is made of, at one point: dy = G_x dx + G_v dxd + G_a dxdd + G_u du."""

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
    point: Point,
    inputs: tuple[Channel, ...],
    outputs: tuple[Channel, ...],
    loop: Loop | None,
) -> Derivatives:
    """Exact derivatives of the equations of motion and of the outputs: pure, for `jit` and `vmap`.

    The controller of `loop` measures from the point, so that it changes nothing there.
    """
    n, j, p = f.size, f.n_encoders, len(outputs)
    reactions = any(channel.kind == "reaction" for channel in outputs)
    at = f.motion(*point[:3])
    encoders = (at.place.encoder, at.rates.encoder)

    def everything(z):
        x, xd, xdd, u = parted(z, n)
        motion = f.motion(x, xd, xdd)
        applied = drive(f, motion, inputs, u, point.tau, loop, encoders)
        needed = engine.link_forces(f, motion, applied) if reactions else None
        seen = seen_motion(f, motion, x, xd, xdd)
        y = outputs_of(f, outputs, (x, xd, xdd), seen, needed, applied.encoder)
        encoder = jnp.stack(
            [seen.place.encoder, seen.rates.encoder, seen.rates_d.encoder]
        )
        value = jnp.concatenate(
            [engine.needed_force(f, motion, applied), y, encoder.reshape(-1)]
        )
        return value, value

    z = jnp.concatenate([*point[:3], jnp.zeros(len(inputs))])
    slope, value = jax.jacfwd(everything, has_aux=True)(z)
    K, C, M, minus_F = parted(slope[:n], n)
    E = slope[n + p :, : 3 * n].reshape(3, j, 3 * n)
    matrices = LinearMatrices(M, C, K, -minus_F)
    return Derivatives(
        matrices,
        *parted(slope[n : n + p], n),
        value[n : n + p],
        value[n + p :].reshape(3, j),
        E,
    )


def seen_motion(f: AbstractFormulation, motion: Motion, x, xd, xdd) -> Motion:
    """The motion as an observer sees it: with every acceleration, also those that `published` terms leave out."""
    if not f.published:
        return motion
    _, rates_d = jax.jvp(f.rates, (x, xd), (xd, xdd))
    return motion._replace(rates_d=rates_d)


derivatives_at = compiled_quickly(derivatives)


@compiled_quickly
def _balanced(f: AbstractFormulation, q, qd, qdd) -> tuple[Point, Float[Array, ""]]:
    point = balanced_point(f, q, qd, qdd)
    return point, left_over(f, point)


@compiled_quickly
def _accelerated(f: AbstractFormulation, x, xd, tau) -> Point:
    return accelerated_point(f, x, xd, tau)


def operating_point(
    model: Model, state: Any = None, qd: Any = None, qdd: Any = None
) -> Point:
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
        model.check_reference(state.q)
        point = _accelerated(
            model.formulation_at(state), state.x, state.xd, state.torque
        )
        return point if np.any(np.asarray(state.xd)) else _at_rest(point)
    if isinstance(state, State):
        qd = state.encoder_d if qd is None else qd
        state = state.encoder
    q, qd, qdd = (
        model.assemble(state),
        model.joint_vector("qd", qd),
        model.joint_vector("qdd", qdd),
    )
    model.check_reference(q)
    point, left = _balanced(model.formulation_at(q), q, qd, qdd)
    if not float(left) < BALANCE:
        raise EquilibriumError(
            f"no balance of the links found near q = {np.asarray(q).tolist()}: {left:.1e} left over"
        )
    return point


def _at_rest(point: Point) -> Point:
    """An equilibrium without the rounding of its accelerations; a state that is none keeps them."""
    still = np.abs(np.asarray(point.xdd)).max() < 1e-4
    return point._replace(xdd=jnp.zeros_like(point.xdd)) if still else point


def linearize(
    model: Model,
    state: Any = None,
    *,
    qd: Any = None,
    qdd: Any = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    kp: Any = None,
    kd: Any = None,
    locked: bool = False,
) -> LinearModel:
    """State-space model of small motion about a point, at rest or moving, with named states, inputs and outputs.

    By exact differentiation of the equations of motion, in every formulation. About a moving point the matrices are
    those of that instant; `linearize_along` gives them along the whole motion.

    Args:
        model: the robot.
        state: joint coordinates q (encoder readings, zero by default), the links then in quasi-static balance with the
            motion (q, qd, qdd) and the torques from inverse dynamics; or a `State`, taken as it is with its torques.
        qd: joint speeds.
        qdd: joint accelerations.
        inputs: names such as `upper.torque`, `lower/tip.fz`, `upper.setpoint`; every joint torque by default.
        outputs: names such as `upper.encoder`, `lower/tip.ax`; encoders, speeds, tip position and acceleration by
            default.
        kp: proportional gains of a joint controller on the encoders, one or one for each joint.
        kd: its derivative gains.
        locked: the encoders follow their motion whatever happens; the joints' coordinates leave the model.

    Example:
        >>> import lissom as ls
        >>> model = ls.Model("double-pendulum")
        >>> small = ls.linearize(model, [0.0, 0.5], outputs=["lower/tip.ay"])
        >>> small.A.shape, small.input_names, small.output_names
        ((28, 28), ('upper.torque', 'lower.torque'), ('lower/tip.ay',))
    """
    loop = loop_of(model, kp, kd)
    ins, outs = channels_of(model, inputs, outputs, loop, locked)
    point = operating_point(model, state, qd, qdd)
    f = model.formulation_at(
        state if isinstance(state, State) else model.assemble(state)
    )
    found: Derivatives = jax.tree.map(
        np.asarray, derivatives_at(f, point, ins, outs, loop)
    )
    return model_of(model, point, found, ins, outs, locked)


def loop_of(model: Model, kp: Any, kd: Any) -> Loop | None:
    """The controller of these gains, None without."""
    if kp is None and kd is None:
        return None
    gains = [
        _gains(model, name, 0.0 if value is None else value)
        for name, value in (("kp", kp), ("kd", kd))
    ]
    return Loop(*gains)


def _gains(model: Model, name: str, value: Any) -> Float[Array, " j"]:
    gains = (
        np.broadcast_to(np.asarray(value, dtype=float), (model.n_joints,))
        if np.ndim(value) == 0
        else value
    )
    gains = model.joint_vector(name, gains)
    if not np.all(np.isfinite(np.asarray(gains))):
        raise ValueError(f"{name} must be finite numbers")
    return gains


def channels_of(
    model: Model,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
    loop: Loop | None,
    locked: bool = False,
) -> tuple[tuple[Channel, ...], tuple[Channel, ...]]:
    """The inputs and outputs of these names.

    Raises:
        UnknownNameError: the robot has no such name.
    """
    if inputs is None:
        inputs = () if locked else default_inputs(model)
    outputs = default_outputs(model) if outputs is None else outputs
    for kind, names in (("inputs", inputs), ("outputs", outputs)):
        twice = [name for k, name in enumerate(names) if name in list(names)[:k]]
        if twice:
            raise ValueError(f"{kind}: {', '.join(twice)} stands there twice")
    ins = tuple(input_named(model, name, loop is not None) for name in inputs)
    return ins, tuple(output_named(model, name) for name in outputs)


def model_of(
    model: Model,
    point: Point,
    found: Derivatives,
    ins: tuple[Channel, ...],
    outs: tuple[Channel, ...],
    locked: bool,
) -> LinearModel:
    """The state-space form of the derivatives at one point."""
    names, drives = (
        (*model.independent_names, *model.coordinate_names),
        list(model.formulation.independent),
    )
    if locked:
        found, names = (
            locked_derivatives(found._replace(E=found.E[:, drives]), len(drives)),
            model.coordinate_names,
        )
    A, B, C, D = first_order(found)
    j = len(drives)
    x, xd, xdd, tau = (np.asarray(part) for part in point)
    operating = Operating(
        robot=model.robot.name,
        formulation=model.formulation_name,
        q=x[:j],
        qd=xd[:j],
        qdd=xdd[:j],
        elastic=x[j:],
        encoder=found.encoder[0],
        torque=tau,
        outputs=found.y,
    )
    return LinearModel(
        A=A,
        B=B,
        C=C,
        D=D,
        state_names=(*names, *(f"{name}.rate" for name in names)),
        input_names=tuple(channel.name for channel in ins),
        output_names=tuple(channel.name for channel in outs),
        matrices=found.matrices,
        operating=operating,
    )


def first_order(
    found: Derivatives,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A, B, C, D over the states (dx, dxd), [Boscariol2017] eqs. (12)-(15), about static and moving points."""
    M, C, K, F = found.matrices
    n = M.shape[0]
    scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(M)), 1e-300))
    if n and not 1.0 / np.linalg.cond(scale[:, None] * M * scale) > SINGULAR:
        raise LinearizationError(
            "the inertia matrix is singular: a coordinate moves nothing that has mass"
        )
    solved = np.linalg.solve(M, np.concatenate([K, C, F], axis=1))
    on_x, on_v, on_u = -solved[:, :n], -solved[:, n : 2 * n], solved[:, 2 * n :]
    A = np.block([[np.zeros((n, n)), np.eye(n)], [on_x, on_v]])
    B = np.concatenate([np.zeros_like(on_u), on_u])
    C_y = np.concatenate(
        [found.G_x + found.G_a @ on_x, found.G_v + found.G_a @ on_v], axis=1
    )
    return A, B, C_y, found.G_u + found.G_a @ on_u


def locked_derivatives(found: Derivatives, j: int) -> Derivatives:
    """The same with the encoders following their motion: the elastic coordinates alone are left.

    From de = 0, ded = 0 and dedd = 0 follow dx = B deta, dxd = B detad + P deta and dxdd = B detadd + Q_1 detad + Q_0
    deta; P and Q vanish at rest and wherever theta is the encoder's reading.
    """
    (M, C, K, F), n = found.matrices, found.matrices.M.shape[0]
    (E, _, _, _), (E_1, _, _, _), (E_2, E_21, _, _) = (
        parted(rows, n) for rows in found.E
    )
    d = n - j

    def joint(rows):
        return np.concatenate([-np.linalg.solve(E[:, :j], rows), np.zeros((d, d))])

    B = joint(E[:, j:]) + np.eye(n)[:, j:]
    P = joint(E_1 @ B)
    Q_1, Q_0 = joint(E_21 @ B), joint(E_2 @ B + E_21 @ P)
    matrices = LinearMatrices(
        M=B.T @ M @ B,
        C=B.T @ (C @ B + M @ Q_1),
        K=B.T @ (K @ B + C @ P + M @ Q_0),
        F=B.T @ F,
    )
    return found._replace(
        matrices=matrices,
        G_x=found.G_x @ B + found.G_v @ P + found.G_a @ Q_0,
        G_v=found.G_v @ B + found.G_a @ Q_1,
        G_a=found.G_a @ B,
    )
