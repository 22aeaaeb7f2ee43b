"""Animation of a run as one HTML page, which needs no network."""

import base64
import dataclasses
import html
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray
from numpy.linalg import norm
from xarray import Dataset

from .page import Page
from .scene import (
    Number,
    Scene,
    link_rows,
    moving_tip,
    scene_from_json,
    scene_nodes,
    up_direction,
)

SLOWEST = 0.1  # speed down to which the stored frames still come at `fps`
BUDGET = 3_700_000  # bytes of numbers: about 5 MB of page once written as text
NUMBER_BYTES = 4  # single precision: more than a screen can show
CHART_POINTS = 1500  # more than a chart has pixels
SCALES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
# Of the robot's size, at most: the largest displacement as drawn with the automatic scale.
VISIBLE_SHARE = 0.06

# Modules that draw, each after those that it imports.
DRAWING = (
    "vectors",
    "themes",
    "motion",
    "mesh",
    "robot",
    "camera",
    "painter",
    "labels",
    "notes",
    "robot_view",
)

Content = dict[str, Any]  # ready for JSON
Arrays = dict[str, ndarray]


class Chart(NamedTuple):
    """One quantity that the page can plot against time."""

    label: str
    unit: str
    series: list[str]  # names of the curves
    values: ndarray  # (time, series)


def animate(
    data: Dataset,
    path: str | Path,
    *,
    scale: Number | None = None,
    fps: Number = 30,
) -> Path:
    """Path of the HTML page that shows the run in three dimensions; see `moving_page`."""
    return moving_page(data, scale=scale, fps=fps).save(path)


def moving_page(
    data: Dataset, *, scale: Number | None = None, fps: Number = 30
) -> Page:
    """The HTML page that shows a run in three dimensions.

    Args:
        data: result of a run, with its scene as JSON in `data.attrs["scene"]`.
        scale: deformation scale factor at the start, 1 to 100; None chooses one that makes the deformation visible.
            The page always says which factor it draws with.
        fps: pictures per second. Frames are stored so that this holds down to a tenth of real speed,
            as far as the data and a file of about 5 MB allow; the page interpolates between them.
    """
    if not fps > 0:
        raise ValueError(f"fps must be positive, got {fps:g}. 30 is smooth.")
    if scale is not None and not 1 <= scale <= 100:
        raise ValueError(
            f"The deformation scale must lie between 1 and 100, got {scale:g}. 1 is true to scale."
        )
    title = str(data.attrs.get("name", "robot"))
    return Page(animation_page(data, scale, fps), title)


def animation_page(data: Dataset, scale: Number | None, fps: Number) -> str:
    """Text of the page: template, program and data in one."""
    title = str(data.attrs.get("name", "robot"))
    content = animation_content(data, scale, fps)
    content_text = json.dumps(content, allow_nan=False)
    parts = {
        "TITLE": html.escape(title),
        "SUMMARY": html.escape(_summary(data)),
        "SCRIPT": page_script(),
        # A name with "</script>" in it must not end the block of data.
        "DATA": content_text.replace("<", "\\u003c"),
    }
    # One pass: a mark inside of what is put in stays text.
    return re.sub(r"__([A-Z]+)__", lambda mark: parts[mark[1]], _asset("viewer.html"))


def page_script() -> str:
    """The program of the page: the drawing modules and what plays them, as one script without imports.

    A page that is opened from a disk may load no modules. Top-level names of the modules are unique, so that they can
    stand side by side.
    """
    names = [f"drawing/{name}.js" for name in DRAWING]
    texts = [_asset(name) for name in (*names, "viewer.js")]
    lines = ['"use strict";']
    for line in "\n".join(texts).splitlines():
        if not line.startswith("import "):
            lines.append(line.removeprefix("export "))
    return "\n".join(lines)


def _asset(name: str) -> str:
    """Text of a file of the package."""
    return files("lissom.show").joinpath(name).read_text(encoding="utf-8")


# --- content of the page -------------------------------------------------------------------------------------------


def animation_content(data: Dataset, scale: Number | None, fps: Number) -> Content:
    """Content of the page of a run, ready for JSON."""
    scene = scene_from_json(data.attrs["scene"])
    motion = _motion_arrays(data, scene)
    charts = _charts(data, scene)
    arrays = _chart_arrays(data, charts) | _outlines(scene)
    most_frames = _affordable_frames(motion, arrays)
    rows = _frame_rows(motion["time"], fps / SLOWEST, most_frames)
    content = picture_content(scene, motion, arrays, rows, scale)
    content["charts"] = [_chart_content(chart) for chart in charts]
    # Of a mode, whose size means nothing.
    content["amplitude"] = data.attrs.get("amplitude", "")
    return content


def still_content(scene: Scene, position: ndarray, **others: ndarray) -> Content:
    """Content of the page of a robot in one pose: a motion of a single frame.

    Args:
        scene: the robot.
        position: of all nodes, in the order of `scene_nodes` [m].
        others: `erls_position` and `rotation` likewise, and `frame`, the axes of all links.
    """
    motion = {"time": np.zeros(1), "position": position[None]}
    for name, values in others.items():
        motion[name] = values[None]
    rows = np.zeros(1, dtype=int)
    return picture_content(scene, motion, _outlines(scene), rows, None)


def picture_content(
    scene: Scene, motion: Arrays, others: Arrays, rows: ndarray, scale: Number | None
) -> Content:
    """Data of a moving picture: shapes, the stage, and the arrays at the rows that are kept."""
    position = motion["position"]
    frames = {name: values[rows] for name, values in motion.items()}
    blob, places = _packed_arrays(others | frames)
    if scale is None:
        scale = automatic_scale(position, motion["erls_position"])
    return {
        "nodes": list(scene_nodes(scene)),
        "tip": moving_tip(scene, position),
        "links": _link_content(scene),
        "gravity": list(scene.gravity),
        "scale": float(scale),
        **_stage(scene, position),
        "arrays": places,
        "blob": blob,
    }


def _motion_arrays(data: Dataset, scene: Scene) -> Arrays:
    """Arrays of the moving picture, nodes in the scene's order, frames that are not finite left out."""
    nodes = list(scene_nodes(scene))
    links = [link.name for link in scene.links]
    arrays = {}
    for name in ("position", "erls_position", "rotation"):
        values = data[name].sel(node=nodes)
        arrays[name] = values.values
    arrays["time"] = data.time.values
    arrays["frame"] = data["frame"].sel(link=links).values
    finite = _is_finite(arrays["position"]) & _is_finite(arrays["frame"])
    if not finite.any():
        raise ValueError("The run has no finite positions to draw.")
    for name, values in arrays.items():
        arrays[name] = np.nan_to_num(values[finite])
    return arrays


def _is_finite(values: ndarray) -> ndarray:
    """For each time, whether all its numbers are finite."""
    rows = values.reshape(len(values), -1)
    return np.all(np.isfinite(rows), axis=1)


def _chart_arrays(data: Dataset, charts: Sequence[Chart]) -> Arrays:
    """Curves of the charts, stored whole, whatever the number of frames."""
    time = data.time.values
    rows = _even_rows(time, CHART_POINTS)
    arrays = {}
    for k, chart in enumerate(charts):
        values = chart.values[rows]
        arrays[f"chart/{k}"] = np.nan_to_num(values)
    arrays["chart_time"] = time[rows]
    return arrays


def _outlines(scene: Scene) -> Arrays:
    """Sections of the links along their nodes, and surfaces of those that have one: the page bends them."""
    arrays = {}
    for i, link in enumerate(scene.links):
        arrays[f"outline/{i}"] = link.outline
        if link.surface is not None:
            arrays[f"surface/{i}"] = link.surface
    return arrays


def _link_content(scene: Scene) -> list[Content]:
    """Data of each link for the page, besides its outline: `first` is the row of its inner node."""
    links = []
    for link, rows in zip(scene.links, link_rows(scene), strict=True):
        content = {
            "name": link.name,
            "joint": link.joint,
            "axis": list(link.axis),
            "flexible": bool(link.flexible),
            "first": rows.start,
            "count": len(link.nodes),
            "loads": [dataclasses.asdict(load) for load in link.loads if load.mass > 0],
        }
        links.append(content)
    return links


def _affordable_frames(motion: Arrays, others: Arrays) -> int:
    """Number of frames that fit into the budget beside the other arrays."""
    per_frame = sum(values[0].size for values in motion.values())
    spent = sum(values.size for values in others.values())
    left = BUDGET - NUMBER_BYTES * spent
    return max(left // (NUMBER_BYTES * per_frame), 2)


def _frame_rows(time: ndarray, rate: Number, most: int) -> ndarray:
    """Rows of about `rate` frames per second, first and last among them."""
    duration = time[-1] - time[0]
    wanted = int(np.ceil(duration * rate)) + 1
    count = max(min(wanted, most), 2)
    return _even_rows(time, count)


def _even_rows(time: ndarray, most: int) -> ndarray:
    """At most `most` rows, as even in time as the data allow."""
    if len(time) <= most:
        return np.arange(len(time))
    even = np.linspace(time[0], time[-1], most)
    # Each even time takes the nearer of the two rows around it.
    after = np.searchsorted(time, even).clip(1, len(time) - 1)
    since_before = even - time[after - 1]
    until_after = time[after] - even
    before_is_nearer = since_before < until_after
    return np.unique(after - before_is_nearer)


def _packed_arrays(arrays: Arrays) -> tuple[str, Content]:
    """All arrays as little-endian float32 in one base64 text, and where each one lies (offset in bytes)."""
    places = {}
    blocks = []
    offset = 0
    for name, values in arrays.items():
        block = np.ascontiguousarray(values, "<f4").tobytes()
        places[name] = {"offset": offset, "shape": list(values.shape)}
        blocks.append(block)
        offset += len(block)
    text = base64.b64encode(b"".join(blocks))
    return text.decode(), places


# --- the stage -----------------------------------------------------------------------------------------------------


def robot_size(points: ndarray) -> float:
    """Half the diagonal [m] of the box around all node positions; 0.1 for a point."""
    box = np.ptp(points.reshape(-1, 3), axis=0)
    return 0.5 * float(norm(box)) or 0.1


def automatic_scale(position: ndarray, erls_position: ndarray) -> float:
    """Round factor 1, 2, 5, 10... 100 that draws the largest displacement at a few percent of the robot's size."""
    distance = norm(position - erls_position, axis=-1)
    visible = VISIBLE_SHARE * robot_size(erls_position)
    most = visible / max(distance.max(), 1e-12)
    best = 1.0
    for scale in SCALES:
        if scale <= most:
            best = scale
    return best


def _stage(scene: Scene, points: ndarray) -> Content:
    """Centre and size of what moves, height of the ground, normal of the plane of motion if there is one."""
    flat = points.reshape(-1, 3)
    low = flat.min(axis=0)
    high = flat.max(axis=0)
    centre = 0.5 * (low + high)
    size = robot_size(points)
    lengths = _link_lengths(scene, points[0])
    up = up_direction(scene.gravity)
    return {
        "centre": centre.tolist(),
        "size": size,
        "reach": float(np.median(lengths) or size),
        "ground": _ground_height(points, up, size),
        "base": points[0, 0].tolist(),
        "normal": _plane_normal(flat),
    }


def _ground_height(points: ndarray, up: ndarray, size: float) -> float:
    """Height [m] of the ground: below all that hangs down, else just below the base."""
    height = points @ up
    lowest = float(height.min())
    base = float(height[0, 0])
    if lowest < base - 0.05 * size:
        return lowest - 0.12 * size
    return base - 0.1 * size


def _link_lengths(scene: Scene, points: ndarray) -> list[float]:
    """Distance [m] from the inner node of each link to its tip."""
    lengths = []
    for rows in link_rows(scene):
        link = points[rows]
        length = norm(link[-1] - link[0])
        lengths.append(float(length))
    return lengths


def _plane_normal(points: ndarray) -> list[float] | None:
    """Unit normal of the plane all points lie close to, None if they fill space or a line."""
    # Five thousand points determine a plane as well as all of them.
    stride = max(1, len(points) // 5000)
    centred = points[::stride] - points.mean(axis=0)
    _, extents, directions = np.linalg.svd(centred, full_matrices=False)
    fills_space = extents[2] > 0.05 * extents[0]
    is_line = extents[1] < 0.05 * extents[0]
    if fills_space or is_line:
        return None
    # The sign of a singular vector is arbitrary: its largest component is made positive.
    normal = directions[2]
    largest = normal[np.abs(normal).argmax()]
    return (normal * np.sign(largest)).tolist()


# --- words and curves ----------------------------------------------------------------------------------------------


def _summary(data: Dataset) -> str:
    """A line in words about the run: duration, joints, largest displacement."""
    scene = scene_from_json(data.attrs["scene"])
    flexible = sum(link.flexible for link in scene.links)
    duration = float(data.time[-1] - data.time[0])
    words = [
        f"{duration:g} s",
        _counted(data.sizes["joint"], "joint"),
        f"{_counted(len(scene.links), 'link')}, {flexible} flexible",
        _counted(data.sizes["node"], "node"),
        data.attrs.get("amplitude") or _largest_displacement(data, scene),
    ]
    if "formulation" in data.attrs:
        words.insert(0, str(data.attrs["formulation"]))
    return " · ".join(words)


def _largest_displacement(data: Dataset, scene: Scene) -> str:
    """The largest displacement of the tip from the ERLS, and when, in words."""
    shift = data.position - data.erls_position
    tip_shift = shift.sel(node=_tip(data, scene))
    distance = norm(tip_shift.values, axis=-1)
    largest = int(np.nan_to_num(distance).argmax())
    time = float(data.time[largest])
    return f"largest tip displacement {1e3 * distance[largest]:.3g} mm at {time:.3g} s"


def _tip(data: Dataset, scene: Scene) -> str:
    """Name of the tip that the page shows."""
    nodes = list(scene_nodes(scene))
    position = data.position.sel(node=nodes).values
    return nodes[moving_tip(scene, position)]


def _counted(count: int, noun: str) -> str:
    """A noun with its number: `1 joint`, `2 joints`."""
    plural = "" if count == 1 else "s"
    return f"{count} {noun}{plural}"


def _charts(data: Dataset, scene: Scene) -> list[Chart]:
    """Quantities the page can plot against time."""
    return [
        *_tip_charts(data, scene),
        *_joint_charts(data, scene),
        *_energy_charts(data),
    ]


def _tip_charts(data: Dataset, scene: Scene) -> list[Chart]:
    """Displacement of the tip from the ERLS, and its position."""
    tip = _tip(data, scene)
    position = data.position.sel(node=tip).values
    erls_position = data.erls_position.sel(node=tip).values
    displacement = 1e3 * (position - erls_position)
    return [
        Chart("Tip displacement", "mm", ["x", "y", "z"], displacement),
        Chart("Tip position", "m", ["x", "y", "z"], position),
    ]


def _joint_charts(data: Dataset, scene: Scene) -> list[Chart]:
    """Coordinates and efforts of the revolute joints, then of the prismatic ones."""
    charts = []
    names = _joints_of_kind(data, scene, "revolute")
    if names:
        angle = 180 / np.pi * data.q.sel(joint=names).values
        torque = data.torque.sel(joint=names).values
        charts.append(Chart("Joint angle", "deg", names, angle))
        charts.append(Chart("Joint torque", "N m", names, torque))
    names = _joints_of_kind(data, scene, "prismatic")
    if names:
        position = data.q.sel(joint=names).values
        force = data.torque.sel(joint=names).values
        charts.append(Chart("Joint position", "m", names, position))
        charts.append(Chart("Joint force", "N", names, force))
    return charts


def _energy_charts(data: Dataset) -> list[Chart]:
    """Energies and works, and the residual of their balance."""
    kinds = [str(kind) for kind in data.kind.values]
    charts = []
    if "residual" in kinds:
        kinds.remove("residual")
        residual = data.energy.sel(kind=["residual"]).values
        charts.append(Chart("Energy residual", "J", ["residual"], residual))
    energies = data.energy.sel(kind=kinds).values
    charts.insert(0, Chart("Energy", "J", kinds, energies))
    return charts


def _joints_of_kind(data: Dataset, scene: Scene, kind: str) -> list[str]:
    """Names of the moving joints of one kind; a joint has the name of its link."""
    names = []
    for link in scene.links:
        if link.joint == kind and link.name in data.joint.values:
            names.append(link.name)
    return names


def _chart_content(chart: Chart) -> Content:
    """A chart without its values, which are stored with the other arrays."""
    return {
        "label": chart.label,
        "unit": chart.unit,
        "series": chart.series,
    }
