"""Metrics of simulations."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analyse.validity.deformation import bent_bodies
from ..analyse.validity.strength import largest_strain_in, loaded_beams
from ..analyse.validity.strength import largest_stress as stress_of
from ..control import quality
from ..describe.scenario import Scenario
from .metric import metric

if TYPE_CHECKING:
    from ..runs.run import Run
    from ..solve.model import Model
    from ..solve.outputs import Outputs
    from ..solve.state import State

SIMULATE = "simulate"


class MeasuredRun:
    """A finished run, with cached quantities that several metrics use."""

    def __init__(
        self, model: "Model", scenario: Scenario, run: "Run", outputs: "Outputs"
    ):
        self.model = model
        self.scenario = scenario
        self.run = run
        self._outputs = outputs

    @cached_property
    def beams(self) -> list[Any]:
        """The beams of the robot with the forces in them over time."""
        bodies = bent_bodies(self.model, self._outputs.body)
        return list(loaded_beams(self.model, bodies))

    def node(self, request: Any) -> int:
        """Row of the node that a metric is measured on."""
        name = request.node or f"{self.model.link_names[-1]}/tip"
        return self.model.node_index.index(self.model.find_node(name))

    def displacement(self, request: Any) -> np.ndarray:
        """Elastic displacement (t, 3) of the node [m]."""
        k = self.node(request)
        run = self.run
        return run.values("position")[:, k] - run.values("erls_position")[:, k]

    def rest(self, stop: float) -> "State":
        """The equilibrium about which the robot swings after the stop."""
        after = self.run.t >= stop
        encoder = self.run.values("encoder")[after]
        return self.model.static(encoder.mean(axis=0))


def stop_of(scenario: Scenario, request: Any) -> float | None:
    """Time at which the motion of a scenario ends [s]: `after`, else the end of its inputs and its reference."""
    if request.after is not None:
        return float(request.after)
    inputs = scenario.inputs
    tables = [*inputs.torque.values(), *inputs.wrench, *inputs.motion.values()]
    reference = getattr(scenario.controller, "reference", None)
    ends = [table.t[-1] for table in tables]
    ends += [t[-1] for t in [getattr(reference, "t", None)] if t]
    return max(map(float, ends), default=None)


def _stop(at: MeasuredRun, request: Any) -> float:
    stop = stop_of(at.scenario, request)
    if stop is None:
        raise ValueError("the motion has no end: say `after`")
    if stop >= at.run.t[-1]:
        raise ValueError(f"the run ends at {at.run.t[-1]:g} s, before {stop:g} s")
    return stop


def positive_drive_work(run: "Run", driven: Sequence[str]) -> float:
    """Integral of the positive power of each driven joint, torque times speed of its encoder, over a whole run [J]."""
    joints = [str(name) for name in run.values("joint")]
    columns = [joints.index(name) for name in driven]
    torque = run.values("torque")[:, columns]
    return quality.drive_work(run.t, torque, run.values("encoder_rate")[:, columns])


@metric(SIMULATE, "m", "node", "after")
def residual_vibration(at: MeasuredRun, request: Any) -> float:
    """Peak elastic displacement of the node about its rest, after the motion has ended."""
    stop = _stop(at, request)
    displacement = at.displacement(request)
    # At rest too from the ERLS, whatever its choice is.
    poses = at.model.poses(at.rest(stop))
    resting = at.model.node_rows(poses.position) - at.model.node_rows(
        poses.erls_position
    )
    final = resting[at.node(request)]
    return quality.residual_vibration(at.run.t, displacement, final, stop, np.inf)


@metric(SIMULATE, "s", "node", "after")
def settling_time(at: MeasuredRun, request: Any) -> float:
    """Time after the end of the motion from which the node stays near its rest; infinite where it does not."""
    stop = _stop(at, request)
    k = at.node(request)
    end = at.model.position(at.rest(stop), at.model.node_names[k])
    path = at.run.values("position")[:, k]
    return quality.settling_time(at.run.t, path, np.asarray(end), stop)


@metric(SIMULATE, "m", "node")
def tip_deflection(at: MeasuredRun, request: Any) -> float:
    """Largest elastic displacement of the node from the rigid robot."""
    return float(np.linalg.norm(at.displacement(request), axis=1).max())


@metric(SIMULATE, "1")
def largest_strain(at: MeasuredRun, request: Any) -> float:
    """Largest normal strain in the outer fibres of any beam."""
    return largest_strain_in(at.beams)


@metric(SIMULATE, "Pa")
def largest_stress(at: MeasuredRun, request: Any) -> float:
    """Largest equivalent stress in the outer fibres of any beam, after von Mises."""
    return float(max((stress_of(beam).max() for beam in at.beams), default=0.0))


@metric(SIMULATE, "N m or N")
def torque_peak(at: MeasuredRun, request: Any) -> float:
    """Largest torque of any joint."""
    return float(np.abs(at.run.values("torque")).max())


@metric(SIMULATE, "N m or N")
def torque_rms(at: MeasuredRun, request: Any) -> float:
    """Root mean square of the torques of all joints."""
    return float(np.sqrt(np.mean(at.run.values("torque") ** 2)))


@metric(SIMULATE, "J")
def drive_energy(at: MeasuredRun, request: Any) -> float:
    """Positive work of the drives over the whole run; what they take out again is lost."""
    return positive_drive_work(at.run, at.model.actuated_names)


@metric(SIMULATE, "m/s", "node")
def tip_speed(at: MeasuredRun, request: Any) -> float:
    """Largest speed of the node between two output times."""
    path = at.run.values("position")[:, at.node(request)]
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    return float((steps / np.diff(at.run.t)).max())


@metric(SIMULATE, "rad or m")
def final_error(at: MeasuredRun, request: Any) -> float:
    """Largest distance of an encoder from the last point of the controller's reference, at the end of the run."""
    reference = getattr(at.scenario.controller, "reference", None)
    value = getattr(reference, "value", None)
    if value is None:
        raise ValueError("the scenario has no controller with a table as reference")
    run = at.run
    joints = [str(name) for name in run.values("joint")]
    driven = [joints.index(name) for name in at.model.actuated_names]
    return float(np.abs(run.values("encoder")[-1, driven] - value[-1]).max())


@metric(SIMULATE, "1")
def steps(at: MeasuredRun, request: Any) -> float:
    """Steps of the integrator."""
    return float(at.run.facts["steps"])
