"""The Kalman filter of the deviations, and of unknown torques.

States are (dx, d): d is a torque that adds to the command, constant from sample to sample except for a small drift. A
controller that takes it back has integral action (offset-free control).
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..types import Float, Real
from .design_error import DesignError
from .design_model import DesignModel, Matrix, check_detectable
from .riccati import discrete_riccati

# Singular value, against the largest, of a balance that is not seen at all.
ROUNDING = 1e-13


class Estimate(NamedTuple):
    """Prediction for the next sample, before it is measured."""

    state: Float[Array, " s"]
    disturbance: Float[Array, " a"]
    held: Float[Array, " a"]  # deviation of the torque that is held until then


class Estimator(eqx.Module):
    """xhat += L (y - C xhat - D u), then one step ahead."""

    A: Float[Real, "s s"]
    B: Float[Real, "s a"]
    C: Float[Real, "m s"]
    D: Float[Real, "m a"]
    L_state: Float[Real, "s m"]
    L_disturbance: Float[Real, "a m"]

    def start(self) -> Estimate:
        """Estimate before the first sample: no deviation, no disturbance."""
        s, a = np.shape(self.B)
        return Estimate(jnp.zeros(s), jnp.zeros(a), jnp.zeros(a))

    def update(
        self, expected: Estimate, deviation: Float[Array, " m"]
    ) -> tuple[Float[Array, " s"], Float[Array, " a"]]:
        """State and disturbance after a measurement."""
        torque = expected.held + expected.disturbance
        predicted = jnp.asarray(self.C) @ expected.state + jnp.asarray(self.D) @ torque
        surprise = deviation - predicted
        state = expected.state + jnp.asarray(self.L_state) @ surprise
        return state, expected.disturbance + jnp.asarray(self.L_disturbance) @ surprise

    def predict(
        self,
        state: Float[Array, " s"],
        disturbance: Float[Array, " a"],
        torque: Float[Array, " a"],
        push: Float[Array, " s"] | float = 0.0,
    ) -> Estimate:
        """Prediction for the next sample under a torque, held from now on, and a known change of the state."""
        A, B = jnp.asarray(self.A), jnp.asarray(self.B)
        following = A @ state + B @ (torque + disturbance) + push
        return Estimate(following, disturbance, torque)


def kalman_filter(
    design: DesignModel,
    *,
    torque_noise: Any,
    disturbance_drift: Any,
    sensor_noise: Any,
) -> Estimator:
    """The stationary Kalman filter of a design model.

    Args:
        design: the model.
        torque_noise: standard deviation of unknown torques from sample to sample, one for each input [N m or N].
        disturbance_drift: how much a lasting unknown torque changes in one sample [N m or N].
        sensor_noise: standard deviation of every sensor, in its unit.

    Raises:
        DesignError: a motion that lasts, or a lasting torque, is seen by no sensor.
    """
    check_detectable(design)
    check_lasting_torques(design)
    model = design.A, design.B, design.C, design.D
    L = stationary_gain(model, torque_noise, disturbance_drift, sensor_noise)
    s = design.states
    return Estimator(*model, L[:s], L[s:])


def stationary_gain(
    model: tuple[Matrix, Matrix, Matrix, Matrix],
    torque_noise: Any,
    disturbance_drift: Any,
    sensor_noise: Any,
) -> Matrix:
    """Gain of the stationary Kalman filter of (dx, d), from A, B, C, D of a sampled model and its noises."""
    B = model[1]
    s, a = B.shape
    A, C = _with_disturbance(*model)
    G = np.concatenate([B, np.zeros((a, a))])
    drift = np.concatenate([np.zeros((s, a)), np.eye(a)])
    Q = _spread(G, torque_noise) + _spread(drift, disturbance_drift)
    # A little process noise on every state stands for what the model leaves out.
    Q = Q + 1e-12 * np.trace(Q) / len(Q) * np.eye(len(Q))
    m = len(C)
    R = np.diag(np.broadcast_to(np.asarray(sensor_noise, dtype=float), (m,)) ** 2)
    P = discrete_riccati(A.T, C.T, Q, R)
    return P @ C.T @ np.linalg.inv(C @ P @ C.T + R)


def check_lasting_torques(design: DesignModel) -> None:
    """Refuse sensors that cannot distinguish constant torques: some equilibrium (dx, d) is seen by none of them."""
    s = design.states
    A, C = with_disturbance(design)
    balance = np.concatenate([A[:s] - np.eye(s, len(A)), C])
    # Metres, radians and torques are scaled by their effect.
    size = np.maximum(np.linalg.norm(balance, axis=0), 1e-300)
    _, singular, motions = np.linalg.svd(balance / size)
    rows, columns = balance.shape
    if rows >= columns and singular[-1] > ROUNDING * singular[0]:
        return
    torques = (motions[-1] / size)[s:]
    drive = design.input_names[int(np.argmax(np.abs(torques)))]
    names = ", ".join(design.output_names)
    count = len(design.input_names)
    if count == 1:
        message = f"{names} alone cannot estimate a constant {drive}"
    else:
        message = (
            f"by {names} alone the constant torques of {count} drives cannot be "
            f"distinguished, {drive} least of all"
        )
    raise DesignError(
        f"not detectable: {message}. Add the encoder of its joint.", "sensors"
    )


def with_disturbance(design: DesignModel) -> tuple[Matrix, Matrix]:
    """A and C of the states (dx, d)."""
    return _with_disturbance(design.A, design.B, design.C, design.D)


def _with_disturbance(
    A: Matrix, B: Matrix, C: Matrix, D: Matrix
) -> tuple[Matrix, Matrix]:
    s, a = B.shape
    whole = np.block([[A, B], [np.zeros((a, s)), np.eye(a)]])
    return whole, np.concatenate([C, D], axis=1)


def estimator_poles(design: DesignModel, estimator: Estimator) -> Any:
    """Eigenvalues of the estimation error from sample to sample."""
    A, C = with_disturbance(design)
    L = np.concatenate([estimator.L_state, estimator.L_disturbance])
    return np.linalg.eigvals(A - A @ L @ C)


def _spread(G: Matrix, deviation: Any) -> Matrix:
    """Covariance of independent noises that enter through G."""
    size = np.broadcast_to(np.asarray(deviation, dtype=float), (G.shape[1],))
    return G * size**2 @ G.T
