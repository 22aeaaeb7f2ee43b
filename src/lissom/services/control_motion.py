"""The motion that a controller leads a robot along, before anything is simulated."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..describe.controllers import Common
from ..describe.scenario import Scenario
from ..files.errors import refused
from ..runs.forecast import affordable_model
from ..runs.law_files import problems_in_files, scenario_with_law
from ..runs.output_files import PICTURE, TABLE, check_outputs, written_files
from .frozen_model import FrozenModel
from .modelled_result import ModelledResult, model_of
from .robot_request import Source

if TYPE_CHECKING:
    from ..control.nominal import NominalMotion
    from ..solve.model import Model

POINTS = 1001  # of figure and table


class MotionRequest(FrozenModel):
    """A scenario whose controller has a reference, and the files for what comes out."""

    scenario: Source
    changes: dict[str, Any] = {}  # by dotted path
    law: str | None = (
        None  # file of a controller that takes the place of the scenario's
    )
    table: str | None = None
    picture: str | None = None


class JointMotion(FrozenModel):
    """What one joint is led along: its ends, and the largest values on the way."""

    joint: str
    start: float  # [rad or m]
    end: float
    speed: float
    acceleration: float
    torque: float  # of the feed-forward [N m or N]


class MotionResult(ModelledResult):
    """A motion, its shaper included."""

    duration: float  # [s]
    joints: tuple[JointMotion, ...]
    files: dict[str, str]


class SampledMotion(NamedTuple):
    """A motion at many times: places, speeds, accelerations and feed-forward torques of the actuated joints."""

    joints: tuple[str, ...]
    t: np.ndarray
    place: np.ndarray
    speed: np.ndarray
    acceleration: np.ndarray
    torque: np.ndarray


def motion(request: MotionRequest) -> MotionResult:
    """The motion of a controller: its time, its peaks and its feed-forward.

    Raises:
        DescriptionError: there is no such motion, with the reason.
    """
    from jaxnative.compiled import using

    check_outputs(
        {"table": (request.table, TABLE), "picture": (request.picture, PICTURE)}
    )
    scenario = scenario_with_law(request.scenario, request.law, request.changes)
    with (
        using(scenario.solver.backend),
        problems_in_files(request.scenario, request.law),
    ):
        table = _table(scenario)
    if request.table is not None:
        _write(request.table, table)
    if request.picture is not None:
        from ..show.plot_motion import plot_motion

        plot_motion(table, scenario.robot.name, request.picture)
    return MotionResult(
        **model_of(scenario),
        duration=float(table.t[-1]),
        joints=tuple(_joint(table, k) for k in range(len(table.joints))),
        files=written_files(table=request.table, picture=request.picture),
    )


def _table(scenario: Scenario) -> SampledMotion:
    import jax.numpy as jnp

    from ..control.nominal import motion_along

    model = affordable_model(scenario)
    nominal = _nominal(model, scenario.controller)
    end = float(nominal.reference.breakpoints[-1])
    t = np.linspace(0.0, end, POINTS)
    times = jnp.asarray(t)
    along = np.asarray(motion_along(times, nominal.reference))
    place, speed, acceleration = (along[:, k] for k in range(3))
    torque = np.asarray(motion_along(times, nominal.torque))[:, 0]
    return SampledMotion(model.actuated_names, t, place, speed, acceleration, torque)


def _nominal(model: "Model", controller: Any) -> "NominalMotion":
    from ..control.described_references import nominal_of
    from ..control.laws import controller_model
    from ..runs.controller_law import problems_at

    if not isinstance(controller, Common):
        kind = None if controller is None else controller.type
        message = "a motion is that of a controller of the kit, such as pid"
        raise refused("controller.type", kind, message)
    with problems_at("controller", controller):
        return nominal_of(controller_model(model, controller), controller)


def _joint(table: SampledMotion, k: int) -> JointMotion:
    """Ends and largest values of one joint."""
    return JointMotion(
        joint=table.joints[k],
        start=float(table.place[0, k]),
        end=float(table.place[-1, k]),
        speed=float(np.abs(table.speed[:, k]).max()),
        acceleration=float(np.abs(table.acceleration[:, k]).max()),
        torque=float(np.abs(table.torque[:, k]).max()),
    )


def _write(path: str, table: SampledMotion) -> None:
    from ..atomic import write_atomically

    columns = [table.t]
    names = ["time [s]"]
    for what in ("place", "speed", "acceleration", "torque"):
        columns += list(getattr(table, what).T)
        names += [f"{joint}.{what}" for joint in table.joints]
    rows = [",".join(names)]
    rows += [",".join(f"{x:.10g}" for x in row) for row in np.transpose(columns)]
    text = "\n".join(rows) + "\n"
    write_atomically(path, lambda file: file.write(text.encode()))
