"""Damped modes about any point of a motion: complex frequencies, right and left vectors."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Complex

from ...parameters import Count, Locked, Undeformed, WeightStiffness
from ...solve.balance import MotionPoint
from ...solve.massless import modes_with_inertia
from ...solve.model import Model
from ...solve.state import State
from ...types import Float
from ..linear.carried_weight import with_weight_stiffness
from ..linear.linear_feedback import LinearFeedback
from ..linear.linearize import (
    derivatives_at,
    formulation_on_branch_near,
    locked_derivatives,
    operating_point,
)
from .abstract_modes import AbstractModes
from .complex_modes import damping_ratio, frequency_hz, quadratic_modes
from .modes_origin import MOVING, STATIC, UNDEFORMED, FrequenciesOf, ModesOrigin
from .participation import participation


class DampedModes(AbstractModes):
    """Modes of the quadratic eigenproblem, [Palomba2019] eqs. (12)-(18), in order of |lambda|; one of each pair."""

    kind: ClassVar[str] = "damped modes"

    eigenvalue: Complex[np.ndarray, " m"]  # lambda [rad/s]
    frequency_hz: Float[np.ndarray, " m"]  # |lambda| / (2 pi); 0 for rigid motion
    damped_hz: Float[np.ndarray, " m"]  # Im(lambda) / (2 pi), the frequency seen
    # -Re(lambda) / |lambda|; NaN for rigid motion.
    damping_ratio: Float[np.ndarray, " m"]
    # phi, with phi^* M phi = 1, largest entry real and positive.
    right: Complex[np.ndarray, "n m"]
    # psi, with psi^* (2 lambda M + C) phi = 1 (rigid motion: psi^* M phi = 1).
    left: Complex[np.ndarray, "n m"]
    # Part of each link and joint in the kinetic energy.
    share: dict[str, Float[np.ndarray, " m"]]
    # vibration | overdamped | rigid | unstable
    stability: tuple[str, ...] = eqx.field(static=True)
    names: tuple[str, ...] = eqx.field(static=True)
    # Part of each link, and controller, in the potential energy.
    strain: dict[str, Float[np.ndarray, " m"]]
    # The point about which they are, for pictures.
    origin: ModesOrigin | None = eqx.field(static=True, default=None)

    @property
    def shapes(self) -> Float[np.ndarray, "n m"]:
        """The motion at the instant of its largest coordinate: real parts of the right vectors."""
        return np.real(self.right)

    @property
    def motion(self) -> Complex[np.ndarray, "n m"]:
        """Amplitude and phase of every coordinate; complex, as the coordinates do not swing in step."""
        return self.right


def damped_modes(
    model: Model,
    state: Any,
    qd: Any,
    qdd: Any,
    feedback: LinearFeedback | None,
    locked: Locked,
    count: Count,
    weight_stiffness: WeightStiffness = False,
    undeformed: Undeformed = False,
    frequencies_of: FrequenciesOf | None = None,
) -> DampedModes:
    """Modes of the linear model at a point; see `modes`."""
    point = modal_point(model, state, qd, qdd)
    f = formulation_on_branch_near(model, state)
    # Modes need neither inputs nor outputs.
    traced = derivatives_at(f, point, (), (), feedback)
    slopes: Any = jax.tree.map(np.asarray, traced)
    if weight_stiffness:
        matrices = with_weight_stiffness(slopes.matrices, model, f, point.x)
        slopes = slopes._replace(matrices=matrices)
    basis = np.eye(f.size)
    whole = slopes.matrices.M
    if locked:
        slopes, locking = locked_derivatives(slopes, f.independent)
        basis = locking.B
    M, C, K, _ = slopes.matrices
    modes = modes_with_inertia(model, whole, lambda: quadratic_modes(M, C, K, count))
    moving = qd is not None or qdd is not None
    lam: Any = modes.eigenvalue
    omega_d = lam.imag
    right = basis @ modes.right
    rigid = np.array([kind == "rigid" for kind in modes.stability])
    share, strain = participation(model, f, point.x, right, feedback)
    return DampedModes(
        eigenvalue=lam,
        frequency_hz=np.where(rigid, 0.0, frequency_hz(lam)),
        damped_hz=np.where(rigid, 0.0, omega_d / (2 * np.pi)),
        damping_ratio=np.where(rigid, np.nan, damping_ratio(lam)),
        right=right,
        left=basis @ modes.left,
        share=share,
        stability=modes.stability,
        names=(*model.independent_names, *model.coordinate_names),
        strain=strain,
        origin=ModesOrigin(
            model,
            f,
            point.x,
            pose=state,
            about=MOVING if moving else UNDEFORMED if undeformed else STATIC,
            locked=locked,
            weight_stiffness=weight_stiffness,
            frequencies_of=frequencies_of,
        ),
    )


def modal_point(model: Model, state: Any, qd: Any, qdd: Any) -> MotionPoint:
    """The point of `operating_point`; a state at rest without torques stays as it is, such as the undeformed robot."""
    if not isinstance(state, State) or qd is not None or qdd is not None:
        return operating_point(model, state, qd, qdd)
    at_rest = not np.any(np.asarray(state.xd))
    if state.torque is None and at_rest:
        still = jnp.zeros_like(state.x)
        no_torque = jnp.zeros(model.n_joints)
        return MotionPoint(state.x, still, still, no_torque)
    return operating_point(model, state)
