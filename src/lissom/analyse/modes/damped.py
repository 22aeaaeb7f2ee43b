"""Damped modes about any point of a motion: complex frequencies, right and left vectors."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Complex, Float

from ...solve.channels import Loop
from ...solve.model import Model
from ...solve.problem import State
from ..linear.linear_matrices import Point
from ..linear.linearize import derivatives_at, locked_derivatives, operating_point
from .complex_modes import quadratic_modes
from .participation import participation


class DampedModes(eqx.Module):
    """Modes of the quadratic eigenproblem, [Palomba2019] eqs. (12)-(18), in order of |lambda|; one of each pair."""

    eigenvalue: Complex[np.ndarray, " m"]  # lambda [rad/s]
    frequency_hz: Float[np.ndarray, " m"]  # |lambda| / (2 pi); 0 for rigid motion
    damped_hz: Float[np.ndarray, " m"]  # Im(lambda) / (2 pi), the frequency seen
    damping_ratio: Float[
        np.ndarray, " m"
    ]  # -Re(lambda) / |lambda|; NaN for rigid motion
    right: Complex[
        np.ndarray, "n m"
    ]  # phi, phi^* M phi = 1, largest entry real and positive
    left: Complex[
        np.ndarray, "n m"
    ]  # psi, psi^* (2 lambda M + C) phi = 1 (rigid motion: psi^* M phi = 1)
    share: dict[
        str, Float[np.ndarray, " m"]
    ]  # part of each link and joint in the kinetic energy
    stability: tuple[str, ...] = eqx.field(
        static=True
    )  # vibration | overdamped | rigid | unstable
    names: tuple[str, ...] = eqx.field(static=True)
    strain: dict[
        str, Float[np.ndarray, " m"]
    ]  # part of each link, and controller, in the potential energy

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
    loop: Loop | None,
    locked: bool,
    count: int | None,
) -> DampedModes:
    """Modes of the linear model at a point; see `modes`."""
    point = modal_point(model, state, qd, qdd)
    f = model.formulation_at(
        state if isinstance(state, State) else model.assemble(state)
    )
    found: Any = jax.tree.map(np.asarray, derivatives_at(f, point, (), (), loop))
    basis = None
    if locked:
        found = found._replace(E=found.E[:, list(f.independent)])
        j, E = f.n_joints, found.E[0, :, : len(found.matrices.M)]
        basis = np.concatenate(
            [-np.linalg.solve(E[:, :j], E[:, j:]), np.eye(len(found.matrices.M) - j)]
        )
        found = locked_derivatives(found, j)
    M, C, K, _ = found.matrices
    modes = quadratic_modes(M, C, K, count)
    right, left = modes.right, modes.left
    if basis is not None:
        right, left = basis @ right, basis @ left
    lam: Any = modes.eigenvalue
    size = np.abs(lam)
    rigid = np.array([kind == "rigid" for kind in modes.stability])
    share, strain = participation(
        model, f, point.x, right, None if loop is None else loop.kp
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(rigid, np.nan, -lam.real / size)
    return DampedModes(
        eigenvalue=lam,
        frequency_hz=np.where(rigid, 0.0, size / (2 * np.pi)),
        damped_hz=np.where(rigid, 0.0, lam.imag / (2 * np.pi)),
        damping_ratio=ratio,
        right=right,
        left=left,
        share=share,
        stability=modes.stability,
        names=(*model.joint_names, *model.coordinate_names),
        strain=strain,
    )


def modal_point(model: Model, state: Any, qd: Any, qdd: Any) -> Point:
    """The point of `operating_point`; a state at rest without torques stays as it is, such as the undeformed robot."""
    if isinstance(state, State) and state.torque is None and qd is None and qdd is None:
        if not np.any(np.asarray(state.xd)):
            still = jnp.zeros_like(state.x)
            return Point(state.x, still, still, jnp.zeros(model.n_joints))
    return operating_point(model, state, qd, qdd)
