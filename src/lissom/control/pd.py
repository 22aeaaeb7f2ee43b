"""Joint PD control on encoder readings."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..compilation import compiled_quickly
from ..dynamics.engine import gravity_energy
from ..dynamics.formulation import AbstractFormulation, near
from ..solve.inputs import AbstractLaw, Piece, Table
from ..types import Real, real


class PDLaw(AbstractLaw):
    """tau = kp (r - e) + kd (rdot - edot) + feed-forward, e the encoder readings, r a smooth reference."""

    kp: Float[Real, " j"]
    kd: Float[Real, " j"]
    reference: Piece
    feedforward: Piece

    def __call__(self, t, state) -> Float[Array, " j"]:
        """Joint torques [N m or N]."""
        error = self.reference.value(t) - state.encoder
        error_d = self.reference.derivative().value(t) - state.encoder_d
        return self.kp * error + self.kd * error_d + self.feedforward.value(t)


class PD:
    """PD control along a reference table; `compensate` adds the torque that holds the rigid robot at the reference."""

    def __init__(
        self, kp, kd, reference: Table, compensate: AbstractFormulation | None = None
    ):
        self.kp, self.kd = np.asarray(kp, dtype=float), np.asarray(kd, dtype=float)
        self.reference, self.compensate = reference, compensate

    @property
    def breakpoints(self) -> np.ndarray:
        """Times where the reference jumps or bends."""
        return self.reference.breakpoints

    def on(self, a: float, b: float) -> PDLaw:
        """The law on the piece (a, b); its feed-forward is the cubic through four gravity torques along the piece."""
        reference = self.reference.piece(a, b)
        return PDLaw(self.kp, self.kd, reference, self._feedforward(reference, a, b))

    def _feedforward(self, reference: Piece, a: float, b: float) -> Piece:
        if self.compensate is None:
            return Piece(real(a), jnp.zeros((4, len(self.kp))))
        times = np.linspace(a, b, 4)
        held = [
            np.asarray(rigid_gravity_torque(self.compensate, reference.value(t)))
            for t in times
        ]
        return Piece(
            real(a),
            real(
                np.linalg.solve(np.vander(times - a, increasing=True), np.stack(held))
            ),
        )


@compiled_quickly
def rigid_gravity_torque(
    formulation: AbstractFormulation, theta: Float[Array, " j"]
) -> Float[Array, " j"]:
    """Torque that holds the rigid robot at theta against gravity: dV/dtheta, on the independent joints."""
    drives = jnp.asarray(formulation.independent, dtype=int)
    here = near(formulation, theta)

    def potential(theta_i):
        x = jnp.concatenate([theta_i, jnp.zeros(formulation.n_elastic)])
        return gravity_energy(here, here.configuration(x))

    return jnp.zeros_like(theta).at[drives].set(jax.jacfwd(potential)(theta[drives]))
