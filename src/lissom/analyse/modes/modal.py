"""Natural vibration about an equilibrium: frequencies, damping ratios, shapes, and who takes part."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Array, Float

from ...algebra.linear import inverse
from ...compilation import compiled_quickly
from ...dynamics import engine
from ...dynamics.formulation import AbstractFormulation
from ...solve.model import Model
from ...solve.problem import State
from ..linear.linearize import loop_of
from .complex_modes import RIGID
from .damped import damped_modes
from .participation import participation


class Modes(eqx.Module):
    """Modes about an equilibrium, lowest frequency first; m modes of n coordinates."""

    frequency_hz: Float[
        np.ndarray, " m"
    ]  # undamped natural frequency; 0 for rigid and for unstable motion
    damping_ratio: Float[
        np.ndarray, " m"
    ]  # modal C / (2 omega), NaN where there is no vibration
    shapes: Float[
        np.ndarray, "n m"
    ]  # mass-normalised, largest nodal displacement positive
    share: dict[
        str, Float[np.ndarray, " m"]
    ]  # part of each link and joint in the kinetic energy; links add up to 1
    stability: tuple[str, ...] = eqx.field(static=True)  # vibration | rigid | unstable
    eigenvalue: Float[np.ndarray, " m"]  # omega^2 [rad^2/s^2]
    names: tuple[str, ...] = eqx.field(static=True)
    strain: dict[
        str, Float[np.ndarray, " m"]
    ]  # part of each link, and controller, in the potential energy

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
    N = engine.rate_map(f, x)
    K = jax.jacfwd(lambda x: engine.resting_force(f, x, tau))(x)
    C, _ = engine.structural_matrices(f, jnp.zeros_like(x), N)
    return engine.inertia(f, x, N), C, K, N.encoder


def modes(
    model: Model,
    state: Any = None,
    *,
    locked: bool = False,
    count: int | None = None,
    damped: bool = False,
    qd: Any = None,
    qdd: Any = None,
    kp: Any = None,
    kd: Any = None,
) -> Any:
    """Natural modes about a static state, or about a point of a motion.

    The state's holding torques act on; without a state, the equilibrium at q = 0 is taken. Frequencies and shapes are
    those of the undamped problem K phi = omega^2 M phi, damping ratios phi^T C phi / (2 omega), exact for Rayleigh
    and modal damping. With `damped`, and about a moving point always, those of the quadratic eigenproblem: complex,
    with right and left vectors, as `DampedModes`; else the answer is a `Modes`.

    Args:
        model: the robot.
        state: an equilibrium, from `model.static`, or joint coordinates q, at which the links are then balanced.
        locked: hold every joint; of a closed chain, the independent ones.
        count: number of modes, all by default.
        damped: solve the quadratic eigenproblem with damping, friction and gyroscopic terms.
        qd: joint speeds; the modes are those of that instant.
        qdd: joint accelerations.
        kp: proportional gains of a joint controller on the encoders, one or one for each joint.
        kd: its derivative gains.
    """
    loop = loop_of(model, kp, kd)
    if damped or qd is not None or qdd is not None:
        return damped_modes(model, state, qd, qdd, loop, locked, count)
    state = state if isinstance(state, State) else model.static(state)
    f = model.formulation_at(state)
    tau = jnp.zeros(model.n_joints) if state.torque is None else state.torque
    M, C, K, E = (np.asarray(A) for A in vibration_matrices(f, state.x, tau))
    if loop is not None:
        K, C = (
            A + E.T @ (np.asarray(gain)[:, None] * E)
            for A, gain in ((K, loop.kp), (C, loop.kd))
        )
    basis = locked_basis(E[list(f.independent)]) if locked else np.eye(len(M))
    M_r, C_r, K_r = (basis.T @ A @ basis for A in (M, C, K))
    lam, phi = scipy.linalg.eigh(0.5 * (K_r + K_r.T), 0.5 * (M_r + M_r.T))
    keep = slice(None, count)
    lam, phi = lam[keep], phi[:, keep]
    omega = np.sqrt(np.maximum(lam, 0.0))
    stability = tuple(_kind(value) for value in lam)
    vibrates = np.array([kind == "vibration" for kind in stability])
    with np.errstate(divide="ignore", invalid="ignore"):
        zeta = np.where(
            vibrates, np.einsum("im,ij,jm->m", phi, C_r, phi) / (2.0 * omega), np.nan
        )
    shapes = _signed(basis @ phi)
    names = (*model.independent_names, *model.coordinate_names)
    frequency = np.where(vibrates, omega / (2 * np.pi), 0.0)
    share, strain = participation(
        model, f, state.x, shapes, None if loop is None else loop.kp
    )
    return Modes(frequency, zeta, shapes, share, stability, lam, names, strain)


def natural_frequencies(
    model: Model, state: State, *, locked: bool = False
) -> Float[Array, " m"]:
    """Undamped natural frequencies [Hz], lowest first, as a pure JAX function: for `jax.grad` and `jax.vmap`.

    Rigid and unstable motions count as 0; derivatives exist where a frequency is not repeated.
    """
    f = model.formulation_at(state)
    tau = jnp.zeros(model.n_joints) if state.torque is None else state.torque
    M, _, K, E = vibration_matrices(f, state.x, tau)
    if locked:
        j, E = f.n_joints, E[jnp.asarray(f.independent)]
        basis = jnp.concatenate([-inverse(E[:, :j]) @ E[:, j:], jnp.eye(f.n_elastic)])
        M, K = basis.T @ M @ basis, basis.T @ K @ basis
    L = jnp.linalg.cholesky(M)
    half = jax.scipy.linalg.solve_triangular(L, 0.5 * (K + K.T), lower=True)
    lam = jnp.linalg.eigvalsh(jax.scipy.linalg.solve_triangular(L, half.T, lower=True))
    vibrates = lam > (2 * np.pi * RIGID) ** 2
    return jnp.where(vibrates, jnp.sqrt(jnp.where(vibrates, lam, 1.0)), 0.0) / (
        2 * np.pi
    )


def locked_basis(E: Float[np.ndarray, "j n"]) -> Float[np.ndarray, "n d"]:
    """Motions that leave the encoders where they are: E dx = 0, with the elastic coordinates free."""
    j = E.shape[0]
    return np.concatenate(
        [-np.linalg.solve(E[:, :j], E[:, j:]), np.eye(E.shape[1] - j)]
    )


def _kind(eigenvalue: float) -> str:
    bound = (2 * np.pi * RIGID) ** 2
    return (
        "vibration"
        if eigenvalue > bound
        else "unstable"
        if eigenvalue < -bound
        else "rigid"
    )


def _signed(shapes: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "n m"]:
    largest = np.argmax(np.abs(shapes), axis=0)
    return shapes * np.sign(shapes[largest, np.arange(shapes.shape[1])])
