"""Natural vibration about an equilibrium: frequencies, damping ratios, shapes, and participation."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from jaxnative.compiled import compiled_quickly

from ...algebra.eigen import normalise_signs, symmetric_modes, symmetric_modes_traced
from ...describe.defaults import SHOWN_MODES
from ...dynamics import engine
from ...dynamics.formulation import AbstractFormulation
from ...files.errors import refuse_idle, refused
from ...parameters import (
    Accelerations,
    Count,
    Damped,
    DerivativeGains,
    Locked,
    Pose,
    ProportionalGains,
    Speeds,
    Undeformed,
    WeightStiffness,
)
from ...solve.arguments import (
    ModelLike,
    check_count,
    check_something_moves,
    equilibrium_from,
    model_from,
    state_from,
)
from ...solve.massless import modes_with_inertia
from ...solve.model import Model
from ...solve.state import State
from ...types import Float
from ..linear.carried_weight import require_consistent_terms, weight_stiffness_at
from ..linear.linear_feedback import LOCKED_GAINS, joint_feedback
from ..linear.locking import locked_basis
from .abstract_modes import AbstractModes
from .complex_modes import RIGID_RATE
from .damped_modes import damped_modes
from .modes_origin import STATIC, UNDEFORMED, FrequenciesOf, ModesOrigin
from .participation import participation


class Modes(AbstractModes):
    """Modes about an equilibrium, lowest frequency first; m modes of n coordinates.

    Example:
        >>> import lissom as ls
        >>> found = ls.modes("simple-pendulum", [0.3], locked=True, count=2)
        >>> found.summary().columns[:3]
        ('mode', 'frequency [Hz]', 'damping [%]')
        >>> found.to_dict()["stability"]
        ['vibration', 'vibration']
        >>> path = found.save("modes.npz")
    """

    kind: ClassVar[str] = "modes"

    # Undamped natural frequency; 0 for rigid and for unstable motion.
    frequency_hz: Float[np.ndarray, " m"]
    # Modal C / (2 omega), NaN where there is no vibration.
    damping_ratio: Float[np.ndarray, " m"]
    # Mass-normalised, largest component positive.
    shapes: Float[np.ndarray, "n m"]
    # Part of each link and joint in the kinetic energy; links add up to 1.
    share: dict[str, Float[np.ndarray, " m"]]
    stability: tuple[str, ...] = eqx.field(static=True)  # vibration | rigid | unstable
    eigenvalue: Float[np.ndarray, " m"]  # omega^2 [rad^2/s^2]
    names: tuple[str, ...] = eqx.field(static=True)
    # Part of each link, and controller, in the potential energy.
    strain: dict[str, Float[np.ndarray, " m"]]
    # The point about which they are, for pictures.
    origin: ModesOrigin | None = eqx.field(static=True, default=None)

    @property
    def left(self) -> Float[np.ndarray, "n m"]:
        """Left vectors: those of a symmetric problem are its shapes, phi_i^T M phi_j = 1 if i = j, else 0."""
        return self.shapes

    @property
    def motion(self) -> Float[np.ndarray, "n m"]:
        """Amplitude of every coordinate; real, as all coordinates swing in step."""
        return self.shapes


@compiled_quickly
def vibration_matrices(
    f: AbstractFormulation, x: Float[Array, " n"], tau: Float[Array, " j"]
):
    """M, C, K of small motion about the equilibrium x held by the torques tau, and the encoders' map E.

    K differentiates the resting force exactly; at rest nothing but damping and friction depends on speed.
    """

    def resting_force(x):
        return engine.resting_force(f, engine.at_rest(f, x), tau)

    N = engine.rate_map(f, x)
    place = f.configuration(x)
    M = engine.inertia(f, place, N)
    C, _ = engine.structural_matrices(f, place, jnp.zeros_like(x), N)
    K = jax.jacfwd(resting_force)(x)
    return M, C, K, N.encoder


def modes(
    model: ModelLike,
    state: Pose = None,
    *,
    locked: Locked = False,
    count: Count = SHOWN_MODES,
    damped: Damped = False,
    undeformed: Undeformed = False,
    qd: Speeds = None,
    qdd: Accelerations = None,
    kp: ProportionalGains = None,
    kd: DerivativeGains = None,
    weight_stiffness: WeightStiffness = False,
) -> Any:
    """Natural modes about a static state, or about a point of a motion.

    The state's holding torques act on; without a state, the equilibrium at q = 0 is taken. Frequencies and shapes are
    those of the undamped problem K phi = omega^2 M phi, damping ratios phi^T C phi / (2 omega), exact for Rayleigh
    and modal damping. With `damped`, and about a moving point always, those of the quadratic eigenproblem,
    [Palomba2019] eqs. (12)-(18): complex, with right and left vectors.

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        state: an equilibrium, from `model.static`, or joint coordinates q, at which the links are then balanced.
        locked: hold every joint; of a closed chain, the independent ones.
        count: number of modes, lowest first; None for all.
        damped: solve the quadratic eigenproblem with damping, friction and gyroscopic terms.
        undeformed: about the undeformed robot at these joint coordinates, not about its equilibrium.
        qd: joint speeds; the modes are those of that instant.
        qdd: joint accelerations.
        kp: proportional gains of a joint controller on the encoders, one or one for each joint.
        kd: its derivative gains.
        weight_stiffness: add the second-order stiffness of carried weight, which formulations of first order leave out.

    Returns:
        `Modes`, or `DampedModes` of the quadratic eigenproblem, lowest frequency first: `frequency_hz` [Hz],
        `damping_ratio`, shapes with the names of the coordinates.

    Raises:
        EquilibriumError: no equilibrium was found at this pose.
        DescriptionError: nothing can move: rigid links and held joints.
        ValueError: `count` is not a positive number of modes, or a pose of another shape.

    Example:
        >>> import lissom as ls
        >>> found = ls.modes("double-pendulum", [0.0, 0.5], locked=True)
        >>> [f"{frequency:.2f}" for frequency in found.frequency_hz[:2]]
        ['8.63', '20.98']
    """
    model = model_from(model)
    check_count(count)
    check_something_moves(model, locked)
    moving = qd is not None or qdd is not None
    if undeformed and moving:
        message = "a moving robot is in quasi-static equilibrium, not undeformed"
        raise refused("undeformed", None, message)
    if locked:
        refuse_idle(modes, LOCKED_GAINS, kp=kp, kd=kd)
    if weight_stiffness:
        require_consistent_terms(model)
    feedback = joint_feedback(model, kp, kd)
    frequencies_of = _frequencies_at(
        state,
        undeformed,
        locked=locked,
        count=count,
        damped=damped,
        qd=qd,
        qdd=qdd,
        kp=kp,
        kd=kd,
        weight_stiffness=weight_stiffness,
    )
    if undeformed:
        state = state_from(model, state)
    if damped or moving:
        return damped_modes(
            model,
            state,
            qd,
            qdd,
            feedback,
            locked,
            count,
            weight_stiffness,
            undeformed,
            frequencies_of,
        )
    state = equilibrium_from(model, state)
    f = model.formulation_at(state)
    traced = _matrices_at(model, f, state)
    M, C, K, E = (np.asarray(A) for A in traced)
    if weight_stiffness:
        K = K + weight_stiffness_at(model, f, state.x)
    if feedback is not None:
        stiffness, damping = feedback.matrices(E, model.actuated)
        K = K + stiffness
        C = C + damping
    basis = np.eye(len(M))
    if locked:
        basis = locked_basis(E[list(f.independent)])
    M_r, C_r, K_r = (basis.T @ A @ basis for A in (M, C, K))
    squares, phi = modes_with_inertia(model, M, lambda: symmetric_modes(K_r, M_r))
    squares = squares[:count]
    phi = phi[:, :count]
    stability = tuple(_kind(value) for value in squares)
    vibrates = np.array([kind == "vibration" for kind in stability])
    omega = np.sqrt(np.where(vibrates, squares, 0.0))
    damping = np.einsum("im,ij,jm->m", phi, C_r, phi)
    # No frequency, no ratio: what does not vibrate is divided by NaN.
    zeta = damping / np.where(vibrates, 2.0 * omega, np.nan)
    # The sign is chosen once more: joints that follow may move more than any elastic coordinate.
    shapes = normalise_signs(basis @ phi)
    share, strain = participation(model, f, state.x, shapes, feedback)
    return Modes(
        frequency_hz=omega / (2 * np.pi),
        damping_ratio=zeta,
        shapes=shapes,
        share=share,
        stability=stability,
        eigenvalue=squares,
        names=(*model.independent_names, *model.coordinate_names),
        strain=strain,
        origin=ModesOrigin(
            model,
            f,
            state.x,
            pose=state,
            about=UNDEFORMED if undeformed else STATIC,
            locked=locked,
            weight_stiffness=weight_stiffness,
            frequencies_of=frequencies_of,
        ),
    )


def _frequencies_at(
    state: Any, undeformed: bool, **choices: Any
) -> FrequenciesOf | None:
    """Frequencies of a model with the same encoder readings; None where a state says more than these do."""
    pose = state
    if isinstance(state, State):
        if np.any(state.xd):
            return None
        if state.torque is None:
            if np.any(state.elastic):
                return None
            undeformed = True
        pose = state.encoder

    def frequencies_of(model: Model) -> Float[np.ndarray, " m"]:
        return modes(model, pose, undeformed=undeformed, **choices).frequency_hz

    return frequencies_of


def _matrices_at(model: Model, f: AbstractFormulation, state: State):
    """M, C, K and E about a state, held by its torques if it has any."""
    tau = state.torque
    if tau is None:
        tau = jnp.zeros(model.n_joints)
    return vibration_matrices(f, state.x, tau)


def natural_frequencies(
    model: ModelLike, state: Pose = None, *, locked: Locked = False
) -> Float[Array, " m"]:
    """Undamped natural frequencies [Hz], lowest first, as a pure JAX function: for `jax.grad` and `jax.vmap`.

    Rigid and unstable motions count as 0; derivatives exist where a frequency is not repeated.

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        state: an equilibrium, from `model.static`, or joint coordinates q; q = 0 by default.
        locked: hold every joint; of a closed chain, the independent ones.

    Returns:
        One frequency for each coordinate that is free to move [Hz].

    Raises:
        EquilibriumError: no equilibrium was found at this pose.

    Example:
        >>> import lissom as ls
        >>> f"{ls.natural_frequencies('simple-pendulum', [0.5], locked=True)[0]:.2f}"
        '32.65'
    """
    model = model_from(model)
    check_something_moves(model, locked)
    state = equilibrium_from(model, state)
    f = model.formulation_at(state)
    M, _, K, E = _matrices_at(model, f, state)
    if locked:
        basis = locked_basis(E[jnp.asarray(f.independent)])
        M = basis.T @ M @ basis
        K = basis.T @ K @ basis
    squares, _ = symmetric_modes_traced(K, M)
    vibrates = squares > RIGID_RATE**2
    # The root must have a finite derivative even where it is not used.
    omega = jnp.sqrt(jnp.where(vibrates, squares, 1.0))
    return jnp.where(vibrates, omega, 0.0) / (2 * np.pi)


def _kind(square: float) -> str:
    """Kind of a motion with this omega^2: `vibration`, `rigid` or `unstable`."""
    bound = RIGID_RATE**2
    if square > bound:
        return "vibration"
    return "unstable" if square < -bound else "rigid"
