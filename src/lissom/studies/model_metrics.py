"""Metrics of equilibria, modes and linear models."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..analyse.validity.deformation import bent_bodies
from ..analyse.validity.strength import largest_strain_in, loaded_beams
from ..analyse.validity.strength import largest_stress as stress_of
from .metric import MODES, SMALLEST, metric

if TYPE_CHECKING:
    from ..analyse.linear.state_space import LinearModel
    from ..solve.model import Model
    from ..solve.state import State

STATIC, VIBRATION, LINEAR = "static", "modes", "linearize"
# Poles nearer to zero than this belong to rigid motion [rad/s]: a double pole at zero spreads by the root of round-off
# times the fastest pole, 0.1 for a million.
RIGID = 0.3


class MeasuredEquilibrium(NamedTuple):
    """A robot at rest."""

    model: "Model"
    state: "State"

    @property
    def beams(self) -> list[Any]:
        """The beams of the robot with the forces in them."""
        poses = self.model.poses(self.state)
        bodies = bent_bodies(self.model, np.asarray(poses.body)[None])
        return list(loaded_beams(self.model, bodies))

    def displacement(self, request: Any) -> np.ndarray:
        """Displacement of the node from the rigid robot with the same encoders [m]."""
        node = request.node or f"{self.model.link_names[-1]}/tip"
        return np.asarray(self.model.displacement(self.state, node))


# --- equilibria ----------------------------------------------------------------------------------------------------


@metric(STATIC, "m", "node")
def tip_deflection(at: MeasuredEquilibrium, request: Any) -> float:
    """Displacement of the node from the rigid robot."""
    return float(np.linalg.norm(at.displacement(request)))


@metric(STATIC, "m", "node")
def sag(at: MeasuredEquilibrium, request: Any) -> float:
    """Displacement of the node along gravity."""
    gravity = np.asarray(at.model.robot.gravity, dtype=float)
    size = np.linalg.norm(gravity)
    return float(at.displacement(request) @ gravity / size) if size else 0.0


@metric(STATIC, "N m or N")
def torque_peak(at: MeasuredEquilibrium, request: Any) -> float:
    """Largest torque that holds a joint."""
    return float(np.abs(np.asarray(at.state.torque)).max())


@metric(STATIC, "1")
def largest_strain(at: MeasuredEquilibrium, request: Any) -> float:
    """Largest normal strain in the outer fibres of any beam."""
    return largest_strain_in(at.beams)


@metric(STATIC, "Pa")
def largest_stress(at: MeasuredEquilibrium, request: Any) -> float:
    """Largest equivalent stress in the outer fibres of any beam, after von Mises."""
    return float(max((stress_of(beam).max() for beam in at.beams), default=0.0))


# --- modes ---------------------------------------------------------------------------------------------------------


def _of_vibrations(modes: Any, quantity: Any) -> np.ndarray:
    """The numbers of those modes that vibrate: rigid motions have no frequency."""
    vibrates = np.asarray(modes.frequency_hz) > 0
    return np.asarray(quantity)[vibrates]


@metric(VIBRATION, "Hz", worst=SMALLEST)
def first_frequency(modes: Any, request: Any) -> float:
    """Lowest natural frequency."""
    return float(_of_vibrations(modes, modes.frequency_hz)[0])


@metric(VIBRATION, "Hz", "count", worst=SMALLEST, is_row=True)
def first_frequencies(modes: Any, request: Any) -> np.ndarray:
    """Lowest natural frequencies, NaN where there are fewer."""
    return _first(_of_vibrations(modes, modes.frequency_hz), request)


@metric(VIBRATION, "1", worst=SMALLEST)
def first_damping_ratio(modes: Any, request: Any) -> float:
    """Damping ratio of the mode with the lowest frequency."""
    return float(_of_vibrations(modes, modes.damping_ratio)[0])


@metric(VIBRATION, "1", "count", worst=SMALLEST, is_row=True)
def first_damping_ratios(modes: Any, request: Any) -> np.ndarray:
    """Damping ratios of the modes with the lowest frequencies."""
    return _first(_of_vibrations(modes, modes.damping_ratio), request)


@metric(VIBRATION, "1")
def unstable_modes(modes: Any, request: Any) -> float:
    """Number of modes that grow."""
    return float(sum(kind == "unstable" for kind in modes.stability))


def _first(values: np.ndarray, request: Any) -> np.ndarray:
    row = np.full(request.count or MODES, np.nan)
    row[: len(values)] = values[: len(row)]
    return row


# --- linear models -------------------------------------------------------------------------------------------------


@metric(LINEAR, "1/s")
def spectral_abscissa(linear: "LinearModel", request: Any) -> float:
    """Largest real part of a pole: positive where the model is unstable."""
    return float(np.real(linear.poles).max())


def _swinging(linear: "LinearModel") -> np.ndarray:
    """Poles of vibration, slowest first."""
    poles = np.asarray(linear.poles)
    pairs = poles[np.imag(poles) > RIGID]
    return pairs[np.argsort(np.abs(pairs))]


@metric(LINEAR, "Hz", worst=SMALLEST)
def first_pole_frequency(linear: "LinearModel", request: Any) -> float:
    """Frequency of the slowest pole that swings, its distance from zero over two pi."""
    return float(np.abs(_swinging(linear))[0] / (2 * np.pi))


@metric(LINEAR, "1", worst=SMALLEST)
def least_damping_ratio(linear: "LinearModel", request: Any) -> float:
    """Damping ratio of the pole that swings longest."""
    pairs = _swinging(linear)
    return float((-np.real(pairs) / np.abs(pairs)).min())
