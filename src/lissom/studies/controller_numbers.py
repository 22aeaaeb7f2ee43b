"""Numbers of a run of a comparison: tracking, vibration, torque, strain."""

from typing import TYPE_CHECKING, Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..analyse.validity.deformation import bent_bodies
from ..analyse.validity.fibres import fibres
from ..analyse.validity.strength import largest_strain_in, loaded_beams
from ..control.described_references import design_pose, shaped_reference
from ..control.design_error import DesignError
from ..control.nominal import motion_along
from ..control.quality import PERIODS, finish_time, residual_vibration, settling_time
from ..control.tuning import first_driven_mode
from ..describe.control_study import ControlStudy
from ..describe.controllers import Common
from ..describe.planned_motions import TipLineMotion
from ..describe.scenario import Scenario
from ..describe.section import section_at
from ..files.errors import refused
from ..runs.forecast import affordable_model
from ..solve.channels import UnknownNameError, output_named
from ..solve.readings import body_coordinates, readings_of_bodies
from ..solve.signals import AbstractSignal, Table
from .run_metrics import positive_drive_work

if TYPE_CHECKING:
    from ..runs.run import Run
    from ..solve.model import Model


class Gauge(NamedTuple):
    """A curvature that is watched, and the outer fibre there."""

    name: str
    fibre: float  # distance from the axis [m]


class Setting(NamedTuple):
    """Robot, motion and time scale that all runs of a comparison share."""

    study: ControlStudy
    scenario: Scenario  # with the changes of the study
    model: "Model"
    q: np.ndarray  # joints at the end of the motion
    stop: float  # end of the motion [s]
    period: float  # of the first mode that the motors move [s]
    gauges: tuple[Gauge, ...]


def setting_of(study: ControlStudy) -> Setting:
    """The robot of a study, and where and how it vibrates at the end of the motion.

    Raises:
        DescriptionError: motors move no mode of this robot, or a gauge that it does not have.
    """
    scenario = study.changed_scenario
    model = affordable_model(scenario)
    gauges = gauges_of(model, study)
    first = next(iter(study.controllers.values()))
    try:
        q = design_pose(model, first)
    except DesignError as failure:
        raise refused("motion", None, failure.message) from None
    try:
        period = 2 * np.pi / first_driven_mode(model, q).omega
    except DesignError as failure:
        raise refused("scenario.robot", None, str(failure)) from None
    stop = float(study.motion.t[-1])
    return Setting(study, scenario, model, q, stop, period, gauges)


def run_numbers(setting: Setting, controller: Any, run: "Run") -> dict[str, Any]:
    """Numbers of one run, by their names in the table."""
    model = setting.model
    body = body_coordinates(model, run.q, run.values("elastic"))
    return {
        **_joint_numbers(setting, controller, run),
        **_node_numbers(setting, run),
        "strain_peak": gauge_strain(model, body, setting.gauges),
        "largest_strain": largest_strain(model, body),
        "energy_residual": run.energy_residual,
    }


def _joint_numbers(setting: Setting, controller: Any, run: "Run") -> dict[str, Any]:
    """Errors of the encoders, and torques and work of the drives."""
    t = run.data["time"].values
    joints = list(setting.model.actuated_names)
    encoder = run.data["encoder"].sel(joint=joints).values
    torque = run.data["torque"].sel(joint=joints).values
    reference = _followed_motion(setting.model, controller)
    wanted = np.asarray(motion_along(jnp.asarray(t), reference))[:, 0]
    error = encoder - wanted
    return {
        "finish": finish_time(t, encoder, wanted[-1]),
        "end_error": float(np.abs(error[-1]).max()),
        "tracking_peak": float(np.abs(error).max()),
        "tracking_rms": float(np.sqrt(np.mean(error**2))),
        "torque_peak": float(np.abs(torque).max()),
        "torque_rms": float(np.sqrt(np.mean(torque**2))),
        "energy": positive_drive_work(run, joints),
    }


def _followed_motion(model: "Model", controller: Any) -> "AbstractSignal":
    """Reference motion of the encoders [rad or m]."""
    if isinstance(controller, Common):
        return shaped_reference(model, controller)
    table = controller.reference
    return Table(table.t, table.value, "linear", after="hold")


def _node_numbers(setting: Setting, run: "Run") -> dict[str, Any]:
    """Vibration of the watched node after the stop, and when it rests."""
    model, stop = setting.model, setting.stop
    node = watched_node(model, setting.study)
    resting = model.static(setting.q)
    t = run.data["time"].values
    path = run.data["position"].sel(node=node).values
    displacement = path - run.data["erls_position"].sel(node=node).values
    final = np.asarray(model.displacement(resting, node))
    end = np.asarray(model.position(resting, node))
    watch = PERIODS * setting.period
    settling = settling_time(t, path, end, stop)
    return {
        "residual": residual_vibration(t, displacement, final, stop, watch),
        "settling": settling if np.isfinite(settling) else None,
        "line_error": _line_error(setting, path, end),
    }


def _line_error(setting: Setting, path: np.ndarray, end: np.ndarray) -> float | None:
    """Largest distance of the watched node from the straight line between the places where it rests."""
    if not isinstance(setting.study.motion, TipLineMotion):
        return None
    along = end - path[0]
    direction = along / np.linalg.norm(along)
    away = path - path[0]
    beside = away - np.outer(away @ direction, direction)
    return float(np.linalg.norm(beside, axis=1).max())


def gauges_of(model: "Model", study: ControlStudy) -> tuple[Gauge, ...]:
    """The gauges of a study; by default in the first element of every beam, in both planes.

    Raises:
        DescriptionError: a name that the robot does not have, or that is no curvature.
    """
    names = study.gauges
    if names is None:
        names = []
        for link in model.robot.links:
            if link.beam is not None:
                names += [f"{link.name}/element0.{of}" for of in ("kz", "ky")]
    gauges = []
    for name in names:
        try:
            channel = output_named(model, name)
        except UnknownNameError as failure:
            raise refused("gauges", name, failure.message) from None
        if channel.kind != "strain" or not name.endswith(("kz", "ky")):
            raise refused("gauges", name, "must be a curvature: upper/element0.kz")
        gauges.append(Gauge(name, _outer_fibre(model, name)))
    return tuple(gauges)


def _outer_fibre(model: "Model", name: str) -> float:
    beam: Any = model.robot.links[model.link_names.index(name.partition("/")[0])].beam
    outer = fibres(section_at(beam.section, 0.0), beam.material.nu)
    return outer.y if name.endswith("kz") else outer.z


def largest_strain(model: "Model", body: np.ndarray) -> float:
    """Largest normal strain in the outer fibres of any beam, from coordinates (t, l, c) of all bodies in a run."""
    return largest_strain_in(loaded_beams(model, bent_bodies(model, body)))


def gauge_strain(
    model: "Model", body: np.ndarray, gauges: tuple[Gauge, ...]
) -> float | None:
    """Largest strain of the gauges, from coordinates (t, l, c) of all bodies in a run."""
    if not gauges:
        return None
    channels = tuple(output_named(model, gauge.name) for gauge in gauges)
    curvature = readings_of_bodies(channels, body)
    fibre = np.array([gauge.fibre for gauge in gauges])
    return float(np.abs(curvature * fibre).max())


def resting_displacement(setting: Setting) -> np.ndarray:
    """Elastic displacement of the watched node where the motion ends, at rest [m]."""
    model = setting.model
    node = watched_node(model, setting.study)
    return np.asarray(model.displacement(model.static(setting.q), node))


def watched_node(model: "Model", study: ControlStudy) -> str:
    """The node whose vibration is watched, as result files call it."""
    place = model.find_node(study.node or f"{model.link_names[-1]}/tip")
    return model.node_names[model.node_index.index(place)]
