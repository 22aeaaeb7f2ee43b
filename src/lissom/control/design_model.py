"""The linear model that a controller is designed on: sampled, with the slow motions of the robot alone.

Motions faster than the controller can follow are left out; what they add at rest stays as a feed-through. The states
are deviations from a nominal motion,

    dx_(k+1) = A dx_k + B du_k,       dy_k = C dx_k + D du_(k-1),

measured under the torque that was held until then.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from jaxtyping import Float

from ..analyse.linear.linearize import linearize
from ..analyse.linear.state_space import LinearModel
from ..solve.model import Model

# Motions slower than this part of the sampling frequency are kept: ten samples in a period.
KEPT_SHARE = 0.1
UNSEEN = 1e-8  # singular value, against the largest, of a motion that no input moves or no output sees

Matrix = Float[np.ndarray, "_ _"]


class DesignError(ValueError):
    """No controller can be designed for this robot in this way, and why."""


class DesignModel(NamedTuple):
    """A sampled linear model with named inputs and outputs, and the energy of its states."""

    A: Matrix
    B: Matrix
    C: Matrix
    D: Matrix
    energy: Matrix  # elastic and kinetic energy is 1/2 dx^T energy dx [J]
    sample: float  # [s]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    poles: Any  # of the motions that are kept, in continuous time [rad/s]
    left_out: int  # number of states of the faster motions

    @property
    def states(self) -> int:
        """Number of states."""
        return len(self.A)

    def rows(self, names: Sequence[str]) -> Matrix:
        """The rows of C of these outputs."""
        return self.C[[self.output_names.index(name) for name in names]]


def design_model(
    model: Model,
    q: Any,
    sensors: Sequence[str],
    sample: float,
    *,
    fastest: float | None = None,
) -> DesignModel:
    """The design model of a robot at a pose, at rest.

    Args:
        model: the robot as the controller knows it.
        q: joint coordinates.
        sensors: names of the outputs.
        sample: period of the controller [s].
        fastest: natural frequency up to which motions are kept [Hz]; a tenth of the sampling frequency by default.
    """
    linear = linearize(model, q, outputs=tuple(sensors))
    limit = 2 * np.pi * (KEPT_SHARE / sample if fastest is None else fastest)
    slow, fast, basis = slow_and_fast(linear, limit)
    A_f, B_f, C_f = fast
    # At rest the faster motions follow the torques at once: 0 = A_f z + B_f u.
    follow = -np.linalg.solve(A_f, B_f) if len(A_f) else np.zeros_like(B_f)
    D = linear.D + C_f @ follow
    A, B, C = slow
    held = _held(A, B, sample)
    return DesignModel(
        A=held[0],
        B=held[1],
        C=C,
        D=D,
        energy=basis.T @ energy_matrix(linear) @ basis,
        sample=sample,
        input_names=linear.input_names,
        output_names=linear.output_names,
        poles=np.linalg.eigvals(A),
        left_out=len(A_f),
    )


def slow_and_fast(linear: LinearModel, limit: float):
    """(A, B, C) of the motions slower than a limit [rad/s] and of the others, and the states of the slow ones.

    By an ordered Schur form: the two parts do not couple, x = T_slow z_slow + T_fast z_fast.
    """
    A, (scale, _) = scipy.linalg.matrix_balance(linear.A, permute=False, separate=True)
    B = linear.B / scale[:, None]
    C = linear.C * scale
    ordered: Any = scipy.linalg.schur(
        A, output="real", sort=lambda re, im: np.hypot(re, im) < limit
    )
    T, Z, l = ordered
    A_s, A_f, A_c = T[:l, :l], T[l:, l:], T[:l, l:]
    X = np.zeros_like(A_c)
    if X.size:
        X = scipy.linalg.solve_sylvester(A_s, -A_f, -A_c)
    B_z = Z.T @ B
    C_z = C @ Z
    slow = (A_s, B_z[:l] - X @ B_z[l:], C_z[:, :l])
    fast = (A_f, B_z[l:], C_z[:, :l] @ X + C_z[:, l:])
    return slow, fast, scale[:, None] * Z[:, :l]


def energy_matrix(linear: LinearModel) -> Matrix:
    """Twice the energy of a deviation: strain and weight of the coordinates, inertia of their rates."""
    second = linear.matrices
    assert second is not None
    n = len(second.M)
    whole = np.zeros((2 * n, 2 * n))
    K = 0.5 * (second.K + second.K.T)
    # A hanging or leaning robot has no least energy in its joints: what pushes it away is no energy to be kept small.
    lam, V = np.linalg.eigh(K)
    whole[:n, :n] = V * np.maximum(lam, 0.0) @ V.T
    whole[n:, n:] = 0.5 * (second.M + second.M.T)
    return whole


def _held(A: Matrix, B: Matrix, sample: float) -> tuple[Matrix, Matrix]:
    """The system between two samples, its inputs held (exact)."""
    s, u = B.shape
    block = np.zeros((s + u, s + u))
    block[:s, :s] = A
    block[:s, s:] = B
    step = scipy.linalg.expm(block * sample)
    return step[:s, :s], step[:s, s:]


def check_stabilisable(design: DesignModel) -> None:
    """Refuse a model with a motion that does not die out and that no torque moves (Hautus' test)."""
    for z, v in _lasting(design.A.T):
        if np.linalg.norm(v.conj() @ design.B) < UNSEEN * np.linalg.norm(design.B):
            raise DesignError(
                f"not stabilisable: no torque moves the motion at {_described(z, design)}. Actuate another joint, or "
                "give the robot damping."
            )


def check_detectable(design: DesignModel) -> None:
    """Refuse a model with a motion that does not die out and that no sensor sees (Hautus' test)."""
    for z, v in _lasting(design.A):
        if np.linalg.norm(design.C @ v) < UNSEEN * np.linalg.norm(design.C):
            raise DesignError(
                f"not detectable: no sensor sees the motion at {_described(z, design)}. Add a sensor, such as a strain "
                "gauge on the link that moves."
            )


def _lasting(A: Matrix):
    """Eigenvalues and vectors of motions that do not die out by themselves."""
    pairs: Any = np.linalg.eig(A)
    for z, v in zip(pairs[0], pairs[1].T, strict=True):
        if abs(z) >= 1.0 - 1e-9:
            yield z, v


def _described(z: complex, design: DesignModel) -> str:
    frequency = abs(np.log(z)) / design.sample / (2 * np.pi)
    return f"{frequency:.4g} Hz"
