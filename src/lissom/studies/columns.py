"""Columns of the results: names, units and sizes, known before the first run."""

from typing import Any, NamedTuple

import numpy as np

from ..describe.control_study import ControlStudy
from ..describe.geometry import node_names
from ..describe.planned_motions import TipLineMotion
from ..describe.scenario import Scenario
from ..files.errors import nearest, refused
from ..runs.run_columns import node_label
from ..runs.start import scenario_times
from .keys import Base
from .metrics import MetricEntries, metric_of, width
from .run_metrics import stop_of

TIME, MODE = "time", "mode"
AXES = ("x", "y", "z")
# Quantities over time: their units, and whether joints, nodes or energies follow.
SERIES = {
    "q": ("rad or m", "joint"),
    "qd": ("rad/s or m/s", "joint"),
    "encoder": ("rad or m", "joint"),
    "torque": ("N m or N", "joint"),
    "position": ("m", "node"),
    "deflection": ("m", "node"),
    "energy": ("J", "kind"),
}
KINDS = ("kinetic", "strain", "gravity", "input", "dissipated", "residual")


class Column(NamedTuple):
    """Numbers of one name in the results: one for each run, or a row of them."""

    name: str
    unit: str
    about: str
    dimension: str | None = None  # of a row: time or mode
    size: int | None = None


def columns_of(
    analysis: str,
    metrics: tuple[MetricEntries, ...],
    series: tuple[str, ...],
    scenario: Base,
) -> tuple[Column, ...]:
    """The columns of a study: its metrics, then its time series."""
    columns = []
    for request in metrics:
        known = metric_of(analysis, request)
        size = width(known, request)
        # Metrics with different numbers of modes have dimensions of their own.
        dimension = None if size is None else f"{MODE}_{size}"
        columns.append(Column(request.label, known.unit, known.about, dimension, size))
    if series and isinstance(scenario, Scenario):
        count = len(scenario_times(scenario))
        for name in series:
            unit = SERIES[name.partition(".")[0]][0]
            columns.append(Column(stored_name(name), unit, name, TIME, count))
    return tuple(columns)


def stored_name(series: str) -> str:
    """Name of a time series in files, in which / would begin a folder."""
    return series.replace("/", ".")


def check_columns(
    analysis: str,
    metrics: tuple[MetricEntries, ...],
    series: tuple[str, ...],
    scenario: Base,
) -> None:
    """Refuses metrics and series that the robot of a study does not have.

    Raises:
        DescriptionError: with the name and those that are near.
    """
    robot = scenario.robot
    for request in metrics:
        if request.node is not None:
            _check_node("metrics", robot, request.node)
        known = metric_of(analysis, request)
        if "after" in known.options and isinstance(scenario, Scenario):
            _check_stop(scenario, request)
        if isinstance(scenario, ControlStudy):
            _check_controller(scenario, request)
    for name in series:
        _check_series(robot, name)


def _check_controller(study: ControlStudy, request: MetricEntries) -> None:
    if request.controller not in study.controllers:
        names = list(study.controllers)
        guess = nearest(request.controller, names) or "."
        message = f"no such controller{guess} Controllers: {', '.join(names)}"
        raise refused("metrics", request.controller, message)
    if request.metric == "line_error" and not isinstance(study.motion, TipLineMotion):
        message = "only a motion of type tip-line has it: here joints are led"
        raise refused("metrics", request.metric, message)


def _check_stop(scenario: Scenario, request: MetricEntries) -> None:
    stop = stop_of(scenario, request)
    if stop is None:
        message = (
            "when does the motion end? The scenario has no inputs and no reference that end: say it, "
            f"{{metric: {request.metric}, after: 0.5 s}}"
        )
        raise refused("metrics", request.metric, message)
    t_end = scenario.t_end
    if stop >= t_end:
        message = f"the motion ends at {stop:g} s and the run at {t_end:g} s: set a later t_end, or `after`"
        raise refused("metrics", request.metric, message)


def _check_node(field: str, robot: Any, name: str) -> None:
    nodes = node_names(robot)
    tips = [f"{link}/tip" for link in robot.link_names]
    if name not in (*nodes, *tips):
        guess = nearest(name, [*tips, *nodes]) or "."
        message = f"no such node{guess} Tips: {', '.join(tips)}"
        raise refused(field, name, message)


def _check_series(robot: Any, name: str) -> None:
    kind, _, rest = name.partition(".")
    if kind not in SERIES:
        guess = nearest(kind, SERIES) or "."
        message = f"no such quantity{guess} Accepted: {', '.join(SERIES)}, each followed by a name: q.upper"
        raise refused("series", name, message)
    of = SERIES[kind][1]
    if of == "node":
        node, _, axis = rest.rpartition(".") if kind == "position" else (rest, "", "x")
        if axis not in AXES:
            raise refused("series", name, "must end in .x, .y or .z")
        return _check_node("series", robot, node)
    accepted = robot.joint_names if of == "joint" else KINDS
    if rest not in accepted:
        guess = nearest(rest, accepted) or "."
        message = f"no such {of}{guess} Accepted: {', '.join(accepted)}"
        raise refused("series", name, message)


def run_series(run: Any, name: str) -> np.ndarray:
    """The numbers of a run over time that a study calls by this name."""
    kind, _, rest = name.partition(".")
    if kind == "deflection":
        return np.linalg.norm(
            run.position(rest) - _erls_position(run, rest),
            axis=1,
        )
    if kind == "position":
        node, _, axis = rest.rpartition(".")
        return run.position(node)[:, AXES.index(axis)]
    if kind == "energy":
        return run.energy(rest)
    joints = [str(joint) for joint in run.values("joint")]
    return run.values(kind)[:, joints.index(rest)]


def _erls_position(run: Any, node: str) -> np.ndarray:
    names = [str(name) for name in run.values("node")]
    return run.values("erls_position")[:, names.index(node_label(names, node))]
