"""Stability margins of a sampled loop at the drives, all of them at once.

The loop is cut where the torques enter the robot. With L(z) its gain there and S = (1 + L)^-1 the sensitivity, the
largest singular value Ms of S over all frequencies bounds what every drive may do at the same time:

    gain margin >= Ms / (Ms - 1),        phase margin >= 2 arcsin(1 / (2 Ms)).
"""

import dataclasses
import warnings
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Complex

from ..analyse.linear.linearize import linearize
from ..analyse.linear.sampled_loop import LawMatrices, law_matrices, stepwise_sensors
from ..analyse.linear.state_space import LinearModel
from ..solve.arguments import ModelLike, model_from
from ..solve.feedback import WiredLaw, wire_law
from ..solve.law import AbstractLaw
from ..types import Float

LONG_AFTER = 1e6  # [s]; every motion has ended by then
POINTS = 4000  # frequencies up to half the sampling frequency


class Margins(NamedTuple):
    """Margins of a loop at its drives, and warnings about what they do not count."""

    stable: bool
    largest_pole: float  # |z|
    sensitivity: float  # Ms
    gain: float  # factor by which all torques may grow
    phase_deg: float
    delay: float  # time by which all torques may be late [s]
    warnings: tuple[str, ...] = ()


class OpenLoop(NamedTuple):
    """A sampled robot and the matrices of a law; the loop between them is open."""

    robot: LinearModel  # torques held between samples
    law: LawMatrices
    stepwise: tuple[str, ...] = ()  # sensors that change the torques by steps alone

    def gain(self, z: complex) -> Complex[np.ndarray, "a a"]:
        """L(z) at the drives; a measurement is taken under the torque before."""
        A, B = self.robot.A, self.robot.B
        within = np.linalg.solve(z * np.eye(len(A)) - A, B)
        robot = self.robot.C @ within + self.robot.D / z
        law = self.law
        k = len(law.Q)
        memory = np.linalg.solve(z * np.eye(k) - law.Q, law.P) if k else law.P
        return -(law.L + law.N @ memory) @ robot

    def as_model(self) -> LinearModel:
        """L(z) as a linear model, from the torques of the drives to the negative command of the law.

        States are robot, held torque and memory. `as_model().to_control()` is an object of python-control.
        """
        A, B, C, D = self.robot.A, self.robot.B, self.robot.C, self.robot.D
        law = self.law
        drives = B.shape[1]
        measured = np.concatenate([C, D], axis=1)
        held = np.zeros((drives, len(A) + drives + len(law.Q)))
        into_robot = np.concatenate([A, np.zeros((len(A), drives + len(law.Q)))], 1)
        into_memory = np.concatenate([law.P @ measured, law.Q], axis=1)
        names = self.robot.input_names
        memory = tuple(f"memory.{k}" for k in range(len(law.Q)))
        return dataclasses.replace(
            self.robot,
            A=np.concatenate([into_robot, held, into_memory]),
            B=np.concatenate([B, np.eye(drives), np.zeros((len(law.Q), drives))]),
            C=-np.concatenate([law.L @ measured, law.N], axis=1),
            D=np.zeros((drives, drives)),
            state_names=(*self.robot.state_names, *_held_names(names), *memory),
            output_names=tuple(f"law.{name}" for name in names),
            operating=dataclasses.replace(
                self.robot.operating, outputs=np.zeros(drives)
            ),
        )


def _held_names(torques: tuple[str, ...]) -> list[str]:
    return [f"{name.removesuffix('.torque')}.held" for name in torques]


def open_loop(model: ModelLike, q: Any, law: AbstractLaw) -> OpenLoop:
    """The loop of a sampled law and a robot at rest at a pose, cut at the drives, after the end of the law's motion.

    There its torques are those of rest: on the way, and elsewhere, a limit of the torque may cut the loop open.

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        q: joint coordinates of the pose.
        law: a law with a period `sample`.

    Returns:
        `OpenLoop`: the sampled robot and the matrices of the law; `as_model()` is its loop gain L(z).

    Raises:
        EquilibriumError: no equilibrium was found at this pose.

    Example:
        >>> import lissom as ls
        >>> law = ls.PD([200.0], [3.0], ls.Table([0.0], [[0.3]], "hold"), sample=1e-3)
        >>> loop = ls.open_loop("simple-pendulum", [0.3], law)
        >>> loop.as_model().dt
        0.001
    """
    model = model_from(model)
    feedback = wire_law(model, law)
    assert isinstance(feedback, WiredLaw)
    names = tuple(channel.name for channel in feedback.channels)
    robot = linearize(model, q, outputs=names)
    sampled = robot.discretize(float(np.asarray(law.sample)), "zoh")
    measured = robot.operating.outputs
    matrices = law_matrices(feedback, measured, LONG_AFTER)
    stepwise = stepwise_sensors(feedback, measured, matrices, LONG_AFTER)
    return OpenLoop(sampled, matrices, tuple(names[k] for k in stepwise))


def closed_loop_poles(loop: OpenLoop) -> Complex[np.ndarray, " s"]:
    """Poles of the sampled loop; states are robot, held torque and memory.

    Args:
        loop: from `open_loop`.

    Returns:
        Eigenvalues z of the closed loop, in no order; it is stable where all lie within the unit circle.

    Example:
        >>> import lissom as ls
        >>> law = ls.PD([200.0], [3.0], ls.Table([0.0], [[0.3]], "hold"), sample=1e-3)
        >>> loop = ls.open_loop("simple-pendulum", [0.3], law)
        >>> bool(abs(ls.closed_loop_poles(loop)).max() < 1.0)
        True
    """
    A, B, C, D = loop.robot.A, loop.robot.B, loop.robot.C, loop.robot.D
    L, N, P, Q = loop.law
    whole = np.block(
        [
            [A + B @ L @ C, B @ L @ D, B @ N],
            [L @ C, L @ D, N],
            [P @ C, P @ D, Q],
        ]
    )
    return np.linalg.eigvals(whole).astype(complex)


def margins(model: ModelLike, q: Any, law: AbstractLaw) -> Margins:
    """Gain, phase and delay margins of a sampled law on a robot at a pose, in all drives at the same time.

    With the largest singular value Ms of S = (1 + L)^-1, the gain may change by Ms / (Ms - 1) and the phase by
    2 arcsin(1 / (2 Ms)). They are those of the law's derivative: where it is zero, as that of rounding, of a dead band
    or beyond a limit, there is no loop to have margins, and a warning says so.

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        q: joint coordinates of the pose.
        law: a law with a period `sample`.

    Returns:
        `Margins`: stability, largest pole, sensitivity, gain margin, phase margin [degrees], delay [s] and warnings.

    Raises:
        EquilibriumError: no equilibrium was found at this pose.

    Example:
        >>> import lissom as ls
        >>> law = ls.PD([200.0], [3.0], ls.Table([0.0], [[0.3]], "hold"), sample=1e-3)
        >>> found = ls.margins("simple-pendulum", [0.3], law)
        >>> found.stable, f"{found.phase_deg:.0f}"
        (True, '35')
    """
    found = margins_of(open_loop(model, q, law))
    for line in found.warnings:
        warnings.warn(line, stacklevel=2)
    return found


def margins_of(loop: OpenLoop) -> Margins:
    """Margins of a loop from the largest singular value of its sensitivity."""
    poles = closed_loop_poles(loop)
    largest = float(np.abs(poles).max())
    omega, S = sensitivity(loop)
    Ms = float(S.max())
    worst = float(omega[np.argmax(S)])
    phase = 2 * np.arcsin(min(1.0, 1 / (2 * Ms)))
    return Margins(
        stable=largest < 1.0,
        largest_pole=largest,
        sensitivity=Ms,
        gain=Ms / (Ms - 1) if Ms > 1 else np.inf,
        phase_deg=float(np.rad2deg(phase)),
        delay=float(phase / worst),
        warnings=_not_counted(loop.stepwise),
    )


def _not_counted(sensors: tuple[str, ...]) -> tuple[str, ...]:
    """A warning about sensors that the derivative of the law does not see."""
    if not sensors:
        return ()
    return (
        f"margins do not count {', '.join(sensors)}: the torques change with it by steps alone, so that the derivative "
        "of the law is zero here (rounding, a dead band, an active limit). Let `loop: {resolution: ...}` round the "
        "readings: of that the average slope counts",
    )


def sensitivity(
    loop: OpenLoop,
) -> tuple[Float[np.ndarray, " w"], Float[np.ndarray, " w"]]:
    """Frequencies [rad/s] and the largest singular value of (1 + L)^-1 there."""
    period = loop.robot.dt
    nyquist = np.pi / period
    omega = np.geomspace(1e-4 * nyquist, nyquist, POINTS)
    # Lightly damped modes are narrow: the grid includes their own frequencies.
    poles = np.concatenate([closed_loop_poles(loop), loop.robot.poles])
    angles = np.abs(np.angle(poles)) / period
    resonances = np.unique(angles[(angles > omega[0]) & (angles < nyquist)])
    omega = np.unique(
        np.concatenate([omega, resonances, resonances * 0.999, resonances * 1.001])
    )
    values = []
    for w in omega:
        back = np.eye(loop.robot.B.shape[1]) + loop.gain(np.exp(1j * w * period))
        smallest = np.linalg.svd(back, compute_uv=False)[-1]
        values.append(1 / max(smallest, 1e-300))
    return omega, np.array(values)
