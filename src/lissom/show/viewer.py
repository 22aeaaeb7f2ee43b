"""A run as one HTML page that moves: opens anywhere, needs no network."""

import base64
import html
import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from ..atomic import write_atomically
from .scene import (
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
VISIBLE_SHARE = 0.06  # of the robot's size, at most: the largest displacement as drawn with the automatic scale


def animate(
    data: xr.Dataset,
    path: str | Path,
    *,
    scale: float | int | None = None,
    fps: float | int = 30,
) -> Path:
    """Path of the HTML page that shows the run in three dimensions.

    Args:
        data: result of a run, with its scene as JSON in `data.attrs["scene"]`.
        path: file to write.
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
    page = animation_page(data, scale, fps).encode()
    return write_atomically(path, lambda file: file.write(page))


def animation_page(
    data: xr.Dataset, scale: float | int | None, fps: float | int
) -> str:
    """Text of the page: template, program and data in one."""
    assets = files("lissom.show")
    content = json.dumps(_content(data, scale, fps), allow_nan=False)
    parts = {
        "__TITLE__": html.escape(str(data.attrs.get("name", "robot"))),
        "__SUMMARY__": html.escape(_summary(data)),
        "__SCRIPT__": assets.joinpath("viewer.js").read_text(encoding="utf-8"),
        # A name with "</script>" in it must not end the block of data.
        "__DATA__": content.replace("<", "\\u003c"),
    }
    text = assets.joinpath("viewer.html").read_text(encoding="utf-8")
    for mark, part in parts.items():
        text = text.replace(mark, part)
    return text


# --- what the page holds -------------------------------------------------------------------------------------------


def _content(
    data: xr.Dataset, scale: float | int | None, fps: float | int
) -> dict[str, Any]:
    """Everything the page knows, ready for JSON."""
    scene = scene_from_json(data.attrs["scene"])
    motion = _motion_arrays(data, scene)
    position = motion["position"]
    charts = _charts(data, scene)
    arrays = _still_arrays(data, scene, charts)
    frames = _frame_rows(
        motion["time"], fps / SLOWEST, _affordable_frames(motion, arrays)
    )
    for name, values in motion.items():
        arrays[name] = values[frames]
    blob, places = _packed_arrays(arrays)
    if scale is None:
        scale = automatic_scale(position, motion["erls_position"])
    return {
        "nodes": list(scene_nodes(scene)),
        "tip": moving_tip(scene, position),
        "links": _link_content(scene),
        "gravity": list(scene.gravity),
        "charts": [_chart_words(chart) for chart in charts],
        "scale": float(scale),
        **_stage(scene, position),
        "arrays": places,
        "blob": blob,
    }


def _motion_arrays(data: xr.Dataset, scene: Scene) -> dict[str, np.ndarray]:
    """Arrays of the moving picture, nodes in the scene's order, frames that are not finite left out."""
    nodes = list(scene_nodes(scene))
    links = [link.name for link in scene.links]
    arrays = {}
    for name in ("position", "erls_position", "rotation"):
        arrays[name] = data[name].sel(node=nodes).values
    arrays["time"] = data.time.values
    arrays["frame"] = data["frame"].sel(link=links).values
    position_is_finite = np.isfinite(arrays["position"]).all(axis=(1, 2))
    frame_is_finite = np.isfinite(arrays["frame"]).all(axis=(1, 2, 3))
    finite = position_is_finite & frame_is_finite
    if not finite.any():
        raise ValueError("The run has no finite positions to draw.")
    return {name: np.nan_to_num(values[finite]) for name, values in arrays.items()}


def _still_arrays(
    data: xr.Dataset, scene: Scene, charts: Sequence[dict[str, Any]]
) -> dict[str, np.ndarray]:
    """Arrays that are stored whole, whatever the number of frames: curves of the charts, outlines of the links."""
    rows = _even_rows(data.time.values, CHART_POINTS)
    arrays = {}
    for k, chart in enumerate(charts):
        arrays[f"chart/{k}"] = chart["values"][rows]
    arrays["chart_time"] = data.time.values[rows]
    for i, link in enumerate(scene.links):
        arrays[f"outline/{i}"] = link.outline
    return arrays


def _link_content(scene: Scene) -> list[dict[str, Any]]:
    """What the page needs of each link besides its outline: `first` is the row of its inner node."""
    links = []
    for link, rows in zip(scene.links, link_rows(scene), strict=True):
        content = {
            "name": link.name,
            "joint": link.joint,
            "axis": list(link.axis),
            "flexible": bool(link.flexible),
            "first": rows.start,
            "count": len(link.nodes),
        }
        links.append(content)
    return links


def _affordable_frames(
    motion: dict[str, np.ndarray], others: dict[str, np.ndarray]
) -> int:
    """How many frames fit into the budget beside the other arrays."""
    per_frame = NUMBER_BYTES * sum(values[0].size for values in motion.values())
    spent = NUMBER_BYTES * sum(values.size for values in others.values())
    return max((BUDGET - spent) // per_frame, 2)


def _frame_rows(time: np.ndarray, rate: float | int, most: int) -> np.ndarray:
    """Rows of about `rate` frames per second, first and last among them."""
    duration = time[-1] - time[0]
    wanted = int(np.ceil(duration * rate)) + 1
    return _even_rows(time, max(min(wanted, most), 2))


def _even_rows(time: np.ndarray, most: int) -> np.ndarray:
    """At most `most` rows, as even in time as the data allow."""
    if len(time) <= most:
        return np.arange(len(time))
    even = np.linspace(time[0], time[-1], most)
    # Each even time takes the nearer of the two rows around it.
    after = np.searchsorted(time, even).clip(1, len(time) - 1)
    before_is_nearer = even - time[after - 1] < time[after] - even
    return np.unique(after - before_is_nearer)


def _packed_arrays(
    arrays: dict[str, np.ndarray],
) -> tuple[str, dict[str, dict[str, Any]]]:
    """All arrays as little-endian float32 in one base64 text, and where each one lies (offset in bytes)."""
    places = {}
    blocks = []
    offset = 0
    for name, values in arrays.items():
        block = np.ascontiguousarray(values, "<f4").tobytes()
        places[name] = {"offset": offset, "shape": list(values.shape)}
        blocks.append(block)
        offset += len(block)
    return base64.b64encode(b"".join(blocks)).decode(), places


# --- the stage -----------------------------------------------------------------------------------------------------


def robot_size(points: np.ndarray) -> float:
    """Half the diagonal [m] of the box around all node positions; 0.1 for a point."""
    box = np.ptp(points.reshape(-1, 3), axis=0)
    return 0.5 * float(np.linalg.norm(box)) or 0.1


def automatic_scale(position: np.ndarray, erls_position: np.ndarray) -> float:
    """Round factor 1, 2, 5, 10... 100 that draws the largest displacement at a few percent of the robot's size."""
    largest = float(np.linalg.norm(position - erls_position, axis=-1).max())
    most = VISIBLE_SHARE * robot_size(erls_position) / max(largest, 1e-12)
    return max((scale for scale in SCALES if scale <= most), default=1.0)


def _stage(scene: Scene, points: np.ndarray) -> dict[str, Any]:
    """Centre and size of what moves, height of the ground, normal of the plane of motion if there is one."""
    flat = points.reshape(-1, 3)
    size = robot_size(points)
    centre = 0.5 * (flat.min(axis=0) + flat.max(axis=0))
    lengths = _link_lengths(scene, points[0])
    return {
        "centre": centre.tolist(),
        "size": size,
        "reach": float(np.median(lengths) or size),
        "ground": _ground_height(points, up_direction(scene.gravity), size),
        "base": points[0, 0].tolist(),
        "normal": _plane_normal(flat),
    }


def _ground_height(points: np.ndarray, up: np.ndarray, size: float) -> float:
    """Height [m] of the ground: below all that hangs down, else just below the base."""
    lowest = float((points.reshape(-1, 3) @ up).min())
    base = float(points[0, 0] @ up)
    if lowest < base - 0.05 * size:
        return lowest - 0.12 * size
    return base - 0.1 * size


def _link_lengths(scene: Scene, points: np.ndarray) -> list[float]:
    """Distance [m] from the inner node of each link to its tip."""
    lengths = []
    for rows in link_rows(scene):
        link = points[rows]
        lengths.append(float(np.linalg.norm(link[-1] - link[0])))
    return lengths


def _plane_normal(points: np.ndarray) -> list[float] | None:
    """Unit normal of the plane all points lie close to, None if they fill space or a line."""
    # Five thousand points tell a plane as well as all of them.
    some = points[:: max(1, len(points) // 5000)]
    _, extents, directions = np.linalg.svd(
        some - points.mean(axis=0), full_matrices=False
    )
    fills_space = extents[2] > 0.05 * extents[0]
    is_line = extents[1] < 0.05 * extents[0]
    if fills_space or is_line:
        return None
    # The sign of a singular vector is arbitrary: its largest component is made positive.
    normal = directions[2]
    largest = normal[np.abs(normal).argmax()]
    return (normal * np.sign(largest)).tolist()


# --- words and curves ----------------------------------------------------------------------------------------------


def _summary(data: xr.Dataset) -> str:
    """One line about the run."""
    scene = scene_from_json(data.attrs["scene"])
    flexible = sum(link.flexible for link in scene.links)
    duration = float(data.time[-1] - data.time[0])
    words = [
        f"{duration:g} s",
        _counted(data.sizes["joint"], "joint"),
        f"{_counted(len(scene.links), 'link')}, {flexible} flexible",
        _counted(data.sizes["node"], "node"),
        _largest_displacement(data, scene),
    ]
    if "formulation" in data.attrs:
        words.insert(0, str(data.attrs["formulation"]))
    return " · ".join(words)


def _largest_displacement(data: xr.Dataset, scene: Scene) -> str:
    """The largest displacement of the tip from the ERLS, and when, in words."""
    shift = (data.position - data.erls_position).sel(node=_tip(data, scene))
    distance = np.linalg.norm(shift.values, axis=-1)
    largest = int(np.nan_to_num(distance).argmax())
    time = float(data.time[largest])
    return f"largest tip displacement {1e3 * distance[largest]:.3g} mm at {time:.3g} s"


def _tip(data: xr.Dataset, scene: Scene) -> str:
    """Name of the tip that the page shows."""
    nodes = list(scene_nodes(scene))
    return nodes[moving_tip(scene, data.position.sel(node=nodes).values)]


def _counted(count: int, noun: str) -> str:
    """A noun with its number: `1 joint`, `2 joints`."""
    plural = "" if count == 1 else "s"
    return f"{count} {noun}{plural}"


def _charts(data: xr.Dataset, scene: Scene) -> list[dict[str, Any]]:
    """Quantities the page can plot against time: label, unit, series, values (time, series)."""
    tip = _tip(data, scene)
    position = data.position.sel(node=tip).values
    displacement = position - data.erls_position.sel(node=tip).values
    charts = [
        _chart("Tip displacement", "mm", "xyz", 1e3 * displacement),
        _chart("Tip position", "m", "xyz", position),
    ]
    charts += _joint_charts(data, scene)
    kinds = [str(kind) for kind in data.kind.values if kind != "residual"]
    energies = data.energy.sel(kind=kinds).values
    charts.append(_chart("Energy", "J", kinds, energies))
    if "residual" in data.kind.values:
        residual = data.energy.sel(kind=["residual"]).values
        charts.append(_chart("Energy residual", "J", ["residual"], residual))
    return charts


def _joint_charts(data: xr.Dataset, scene: Scene) -> list[dict[str, Any]]:
    """Coordinates and efforts of the revolute joints, then of the prismatic ones."""
    charts = []
    names = _joints_of_kind(data, scene, "revolute")
    if names:
        q = data.q.sel(joint=names).values
        torque = data.torque.sel(joint=names).values
        charts.append(_chart("Joint angle", "deg", names, 180 / np.pi * q))
        charts.append(_chart("Joint torque", "N m", names, torque))
    names = _joints_of_kind(data, scene, "prismatic")
    if names:
        q = data.q.sel(joint=names).values
        force = data.torque.sel(joint=names).values
        charts.append(_chart("Joint position", "m", names, q))
        charts.append(_chart("Joint force", "N", names, force))
    return charts


def _joints_of_kind(data: xr.Dataset, scene: Scene, kind: str) -> list[str]:
    """Names of the moving joints of one kind; a joint has the name of its link."""
    names = []
    for link in scene.links:
        if link.joint == kind and link.name in data.joint.values:
            names.append(link.name)
    return names


def _chart(
    label: str, unit: str, series: Sequence[str], values: np.ndarray
) -> dict[str, Any]:
    """One quantity of the chart."""
    return {
        "label": label,
        "unit": unit,
        "series": list(series),
        "values": np.nan_to_num(values),
    }


def _chart_words(chart: dict[str, Any]) -> dict[str, Any]:
    """A chart without its values, which are stored with the other arrays."""
    return {key: chart[key] for key in ("label", "unit", "series")}
