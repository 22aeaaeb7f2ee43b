"""The linear model that a controller is designed on: sampled, reduced to the slow motions of the robot.

Motions faster than the controller can follow are left out; what they add at rest stays as a feed-through. The states
are deviations from a nominal motion,

    dx_(k+1) = A dx_k + B du_k,       dy_k = C dx_k + D du_(k-1),

measured under the torque that was held until then.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..algebra.eigen import symmetric_part
from ..analyse.linear.linearize import linearize
from ..analyse.linear.state_space import LinearModel
from ..analyse.modes.complex_modes import RIGID_RATE, modal_form
from ..solve.model import Model
from ..types import Float
from .design_error import DesignError

# Motions slower than this part of the sampling frequency are kept: ten samples in a period.
KEPT_SHARE = 0.1
UNSEEN = 1e-8  # singular value, against the largest, of a motion that no input moves or no output sees

LASTING = 1e-9  # |z| of a motion that lasts is not further below 1 than this

Matrix = Float[np.ndarray, "_ _"]


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
    fast_states: int  # number of states of the faster motions
    coordinate_names: tuple[str, ...]  # of the robot
    shape: Matrix  # coordinates of the robot from the states
    rates: Matrix  # and their rates
    mass: Matrix  # of the coordinates
    damping: Matrix
    on_coordinates: Matrix  # forces on the coordinates, held for a sample -> states
    # States from coordinates and rates of the robot: faster motions do not show in them.
    of_robot: Matrix

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
    slow, fast = slow_and_fast(linear, limit, sample)
    second = linear.matrices
    assert second is not None
    n = len(second.M)
    A, B = _zero_order_hold(slow.A, slow.B, sample)
    accelerations = slow.of_states[:, n:] @ np.linalg.inv(second.M)
    _, on_coordinates = _zero_order_hold(slow.A, accelerations, sample)
    return DesignModel(
        A=A,
        B=B,
        C=slow.C,
        D=linear.D + fast.C @ quasi_static_part(fast),
        energy=slow.states.T @ energy_matrix(linear) @ slow.states,
        sample=sample,
        input_names=linear.input_names,
        output_names=linear.output_names,
        poles=np.linalg.eigvals(slow.A),
        fast_states=len(fast.A),
        coordinate_names=linear.state_names[:n],
        shape=slow.states[:n],
        rates=slow.states[n:],
        mass=np.asarray(second.M),
        damping=np.asarray(second.C),
        on_coordinates=on_coordinates,
        of_robot=slow.of_states,
    )


class ModalSubsystem(NamedTuple):
    """A subsystem of a linear model, uncoupled from the rest."""

    A: Matrix
    B: Matrix
    C: Matrix
    states: Matrix  # of the whole model from those of the part
    of_states: Matrix  # and back


def slow_and_fast(
    linear: LinearModel, limit: float, sample: float
) -> tuple[ModalSubsystem, ModalSubsystem]:
    """The motions slower than a limit [rad/s], and the others, by an ordered Schur form.

    The two parts do not couple, x = T_slow z_slow + T_fast z_fast. States are counted by energy: speeds, and
    displacements times their frequency; what no stiffness holds is counted by its displacement in a sample [s].
    """
    second = linear.matrices
    assert second is not None
    M = np.asarray(second.M)
    form = modal_form(M, np.asarray(second.C), np.asarray(second.K), 1.0 / sample)
    ordered: Any = scipy.linalg.schur(
        form.A, output="real", sort=lambda re, im: np.hypot(re, im) < limit
    )
    T, Z, l = ordered
    A_s, A_f, A_c = T[:l, :l], T[l:, l:], T[:l, l:]
    X = np.zeros_like(A_c)
    if X.size:
        X = scipy.linalg.solve_sylvester(A_s, -A_f, -A_c)
    inverse = form.V.T @ symmetric_part(M)
    displacements, speeds = np.split(Z, 2)
    states = np.concatenate(
        [form.V @ (displacements / form.omega[:, None]), form.V @ speeds]
    )
    back = np.concatenate(
        [form.omega * displacements.T @ inverse, speeds.T @ inverse], axis=1
    )
    slow_states, slow_back = states[:, :l], back[:l] - X @ back[l:]
    fast_states, fast_back = states[:, :l] @ X + states[:, l:], back[l:]

    def part(A, states, back) -> ModalSubsystem:
        return ModalSubsystem(A, back @ linear.B, linear.C @ states, states, back)

    return part(A_s, slow_states, slow_back), part(A_f, fast_states, fast_back)


def quasi_static_part(fast: ModalSubsystem) -> Matrix:
    """States of fast motions that follow the inputs at once: 0 = A z + B u."""
    if not len(fast.A):
        return np.zeros_like(fast.B)
    return -np.linalg.solve(fast.A, fast.B)


def energy_matrix(linear: LinearModel) -> Matrix:
    """Twice the energy of a deviation: strain and weight of the coordinates, inertia of their rates."""
    second = linear.matrices
    assert second is not None
    n = len(second.M)
    whole = np.zeros((2 * n, 2 * n))
    K = 0.5 * (second.K + second.K.T)
    # A hanging or leaning robot has no minimum of energy over its joints: only stiffness that restores counts.
    lam, V = np.linalg.eigh(K)
    whole[:n, :n] = V * np.maximum(lam, 0.0) @ V.T
    whole[n:, n:] = 0.5 * (second.M + second.M.T)
    return whole


def _zero_order_hold(A: Matrix, B: Matrix, sample: float) -> tuple[Matrix, Matrix]:
    """The system between two samples, its inputs held (exact)."""
    s, u = B.shape
    block = np.zeros((s + u, s + u))
    block[:s, :s] = A
    block[:s, s:] = B
    step = scipy.linalg.expm(block * sample)
    return step[:s, :s], step[:s, s:]


def check_stabilisable(design: DesignModel) -> None:
    """Refuse a model with a motion that does not die out and that no torque moves."""
    motion = _unseen_motion(design.A.T, design.B.T, design.sample)
    if motion is not None:
        raise DesignError(
            f"not stabilisable: no torque excites {_in_words(motion, design)}. "
            "Actuate the joint that moves it, or give the robot damping."
        )


def check_detectable(design: DesignModel) -> None:
    """Refuse a model with a motion that does not die out and that no sensor sees."""
    motion = _unseen_motion(design.A, design.C, design.sample)
    if motion is not None:
        raise DesignError(
            f"not detectable: no sensor measures {_in_words(motion, design)}. Add "
            "a sensor there, such as its encoder or a strain gauge on the link.",
            "sensors",
        )


class SampledMotion(NamedTuple):
    """A motion x_k = z^k state of a sampled model."""

    z: complex
    state: Any


def _unseen_motion(A: Matrix, C: Matrix, sample: float) -> SampledMotion | None:
    """A lasting motion that does not show in y = C x, by Hautus' test: [A - z; C] has full rank [Hautus1970].

    The smallest singular value judges all motions of one eigenvalue together, those of repeated ones too, and the test
    of (A^T, B^T) is that of the inputs.
    """
    size = np.linalg.norm(C, axis=1, keepdims=True)
    # Outputs are compared by what they see, not by their units.
    y = C / np.where(size > 0, size, 1.0)
    least = UNSEEN
    unseen = None
    for z in _lasting_eigenvalues(A, sample):
        pencil = np.concatenate([A - z * np.eye(len(A)), y])
        _, singular, motions = np.linalg.svd(pencil, full_matrices=False)
        # Close to an unseen rigid motion the rank is almost lost too: the least is its own.
        if singular[-1] <= least * singular[0]:
            least = singular[-1] / singular[0]
            unseen = SampledMotion(z, motions[-1].conj())
    return unseen


def _lasting_eigenvalues(A: Matrix, sample: float) -> list[complex]:
    """Eigenvalues of the motions that do not die out by themselves, one of each conjugate pair.

    A rigid motion is a double root of 1 with one vector, which rounding splits by the root of its size: such roots are
    taken for what they are.
    """
    z = np.linalg.eigvals(A).astype(complex)
    is_rigid = np.abs(z - 1.0) < RIGID_RATE * sample
    z = np.where(is_rigid, 1.0, z)
    lasts = (np.abs(z) >= 1.0 - LASTING) & (np.imag(z) >= 0)
    return list(np.unique(z[lasts]))


def _in_words(motion: SampledMotion, design: DesignModel) -> str:
    """Number, frequency and place of a motion: `mode 2 at 8.77 Hz (most of it in lower/1.z, link lower)`."""
    omega = abs(np.log(motion.z)) / design.sample
    slower = np.abs(design.poles) < (1 - 1e-6) * omega
    # Two poles make one mode.
    number = 1 + int(np.sum(slower)) // 2
    text = f"mode {number} at {omega / (2 * np.pi):.4g} Hz"
    # Metres and radians are compared by their inertia; a rigid motion that no torque excites shows in the rates alone.
    displaced = np.abs(design.shape @ motion.state) / design.sample
    moved = np.hypot(displaced, np.abs(design.rates @ motion.state))
    name = design.coordinate_names[
        int(np.argmax(np.sqrt(np.diag(design.mass)) * moved))
    ]
    link, slash, _ = name.partition("/")
    place = f"{name}, of link {link}" if slash else f"joint {name}"
    return f"{text} (most of it in {place})"
