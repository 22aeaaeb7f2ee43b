"""A run as one HTML page that moves: opens anywhere, needs no network."""

import base64
import html
import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
import xarray as xr

from lissom.atomic import write_atomically
from lissom.show.scene import Scene, link_rows, moving_tip, scene_from_json, scene_nodes

SLOWEST = 0.1  # speed down to which the stored frames still come at `fps`
BUDGET = 3_700_000  # bytes of numbers: about 5 MB of page once written as text
CHART_POINTS = 1500  # more than a chart has pixels
LARGE_ENOUGH = 0.06  # of the robot's size: what the automatic scale makes of the largest displacement


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
    title = html.escape(str(data.attrs.get("name", "robot")))
    embedded = json.dumps(_content(data, scale, fps), allow_nan=False).replace(
        "<", "\\u003c"
    )
    parts = {
        "__TITLE__": title,
        "__SUMMARY__": html.escape(_summary(data)),
        "__SCRIPT__": assets.joinpath("viewer.js").read_text(encoding="utf-8"),
        "__DATA__": embedded,
    }
    text = assets.joinpath("viewer.html").read_text(encoding="utf-8")
    for mark, part in parts.items():
        text = text.replace(mark, part)
    return text


# --- what is embedded ----------------------------------------------------------------------------------------------


def _content(data: xr.Dataset, scale: float | int | None, fps: float | int) -> dict:
    """Everything the page knows, ready for JSON."""
    scene = scene_from_json(data.attrs["scene"])
    moving = _drawable(data, scene)
    charts = _charts(data, scene)
    chart_rows = _evenly(data.time.values, CHART_POINTS)
    arrays = {
        f"chart/{k}": chart["values"][chart_rows] for k, chart in enumerate(charts)
    }
    arrays |= {"chart_time": data.time.values[chart_rows]}
    arrays |= {f"outline/{i}": link.outline for i, link in enumerate(scene.links)}
    rows = _frame_rows(
        moving["time"], fps / SLOWEST, _frames_affordable(moving, arrays)
    )
    arrays |= {name: values[rows] for name, values in moving.items()}
    blob, places = _packed(arrays)
    points, erls = moving["position"], moving["erls_position"]
    return {
        "nodes": list(scene_nodes(scene)),
        "tip": moving_tip(scene, points),
        "links": _links(scene),
        "gravity": list(scene.gravity),
        "charts": [
            {key: chart[key] for key in ("label", "unit", "series")} for chart in charts
        ],
        "scale": automatic_scale(points, erls) if scale is None else float(scale),
        **_stage(scene, points),
        "arrays": places,
        "blob": blob,
    }


def _drawable(data: xr.Dataset, scene: Scene) -> dict[str, np.ndarray]:
    """Arrays of the moving picture, nodes in the scene's order, frames that are not finite left out."""
    nodes, links = list(scene_nodes(scene)), [link.name for link in scene.links]
    arrays = {
        name: data[name].sel(node=nodes).values
        for name in ("position", "erls_position", "rotation")
    }
    arrays |= {"time": data.time.values, "frame": data["frame"].sel(link=links).values}
    finite = np.isfinite(arrays["position"]).all(axis=(1, 2)) & np.isfinite(
        arrays["frame"]
    ).all(axis=(1, 2, 3))
    if not finite.any():
        raise ValueError("The run has no finite positions to draw.")
    return {name: np.nan_to_num(values[finite]) for name, values in arrays.items()}


def _links(scene: Scene) -> list[dict]:
    """What the page needs of each link besides its outline: `first` is the row of its inner node."""
    counts = [len(link.nodes) for link in scene.links]
    firsts = np.cumsum([0, *counts[:-1]]).tolist()
    return [
        {
            "name": link.name,
            "joint": link.joint,
            "axis": list(link.axis),
            "flexible": bool(link.flexible),
            "first": first,
            "count": count,
        }
        for link, first, count in zip(scene.links, firsts, counts, strict=True)
    ]


def _frames_affordable(
    moving: dict[str, np.ndarray], others: dict[str, np.ndarray]
) -> int:
    """How many frames fit into the budget beside the other arrays."""
    per_frame = 4 * sum(values[0].size for values in moving.values())
    spent = 4 * sum(values.size for values in others.values())
    return max((BUDGET - spent) // per_frame, 2)


def _frame_rows(time: np.ndarray, rate: float | int, most: int) -> np.ndarray:
    """Rows of about `rate` frames per second, first and last among them."""
    wanted = int(np.ceil((time[-1] - time[0]) * rate)) + 1
    return _evenly(time, max(min(wanted, most), 2))


def _evenly(time: np.ndarray, most: int) -> np.ndarray:
    """At most `most` rows, as even in time as the data allow."""
    if len(time) <= most:
        return np.arange(len(time))
    even = np.linspace(time[0], time[-1], most)
    after = np.searchsorted(time, even).clip(1, len(time) - 1)
    nearer_before = even - time[after - 1] < time[after] - even
    return np.unique(after - nearer_before)


def _packed(arrays: dict[str, np.ndarray]) -> tuple[str, dict[str, dict]]:
    """All arrays as little-endian float32 in one base64 text, and where each one lies (offset in bytes)."""
    places, blocks, offset = {}, [], 0
    for name, values in arrays.items():
        block = np.ascontiguousarray(values, "<f4").tobytes()
        places[name] = {"offset": offset, "shape": list(values.shape)}
        blocks.append(block)
        offset += len(block)
    return base64.b64encode(b"".join(blocks)).decode(), places


# --- the stage -----------------------------------------------------------------------------------------------------


def robot_size(points: np.ndarray) -> float:
    """Half the diagonal [m] of the box around all node positions; 0.1 for a point."""
    flat = points.reshape(-1, 3)
    return max(0.5 * float(np.linalg.norm(np.ptp(flat, axis=0))), 0.0) or 0.1


def automatic_scale(position: np.ndarray, erls_position: np.ndarray) -> float:
    """Round factor 1, 2, 5, 10... 100 that draws the largest displacement at a few percent of the robot's size."""
    largest = float(np.linalg.norm(position - erls_position, axis=-1).max())
    wanted = LARGE_ENOUGH * robot_size(erls_position) / max(largest, 1e-12)
    return max(
        [
            factor
            for factor in (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
            if factor <= wanted
        ],
        default=1.0,
    )


def _stage(scene: Scene, points: np.ndarray) -> dict:
    """Centre and size of what moves, height of the ground, normal of the plane of motion if there is one."""
    flat = points.reshape(-1, 3)
    low, high = flat.min(axis=0), flat.max(axis=0)
    gravity = np.array(scene.gravity, float)
    up = (
        -gravity / np.linalg.norm(gravity)
        if np.any(gravity)
        else np.array([0.0, 0.0, 1.0])
    )
    size = robot_size(points)
    depth = float((flat @ up).min())
    base = float(points[0, 0] @ up)
    ground = depth - 0.12 * size if depth < base - 0.05 * size else base - 0.1 * size
    return {
        "centre": (0.5 * (low + high)).tolist(),
        "size": size,
        "reach": float(np.median(_link_lengths(scene, points[0])) or size),
        "ground": ground,
        "base": points[0, 0].tolist(),
        "normal": _plane_normal(flat),
    }


def _link_lengths(scene: Scene, points: np.ndarray) -> list[float]:
    """Distance [m] from the inner node of each link to its tip."""
    return [
        float(np.linalg.norm(points[rows][-1] - points[rows][0]))
        for rows in link_rows(scene)
    ]


def _plane_normal(points: np.ndarray) -> list[float] | None:
    """Unit normal of the plane all points lie close to, None if they fill space or a line."""
    _, extents, directions = np.linalg.svd(
        points[:: max(1, len(points) // 5000)] - points.mean(axis=0),
        full_matrices=False,
    )
    if extents[2] > 0.05 * extents[0] or extents[1] < 0.05 * extents[0]:
        return None
    normal = directions[2] * np.sign(directions[2][np.abs(directions[2]).argmax()])
    return normal.tolist()


# --- words and curves ----------------------------------------------------------------------------------------------


def _summary(data: xr.Dataset) -> str:
    """One line about the run."""
    scene = scene_from_json(data.attrs["scene"])
    u = np.linalg.norm(
        (data.position - data.erls_position).sel(node=_tip(data, scene)).values, axis=-1
    )
    flexible = sum(link.flexible for link in scene.links)
    joints = _counted(data.sizes["joint"], "joint")
    links = f"{_counted(len(scene.links), 'link')}, {flexible} flexible"
    span = f"{float(data.time[-1] - data.time[0]):g} s"
    largest = int(np.nan_to_num(u).argmax())
    peak = f"largest tip displacement {1e3 * u[largest]:.3g} mm at {float(data.time[largest]):.3g} s"
    words = [span, joints, links, _counted(data.sizes["node"], "node"), peak]
    return " · ".join(
        [str(data.attrs["formulation"]), *words]
        if "formulation" in data.attrs
        else words
    )


def _tip(data: xr.Dataset, scene: Scene) -> str:
    """Name of the tip that the page shows."""
    nodes = list(scene_nodes(scene))
    return nodes[moving_tip(scene, data.position.sel(node=nodes).values)]


def _counted(count: int, noun: str) -> str:
    """`1 joint`, `2 joints`."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _charts(data: xr.Dataset, scene: Scene) -> list[dict]:
    """Quantities the page can plot against time: label, unit, series, values (time, series)."""
    tip = _tip(data, scene)
    position, erls = (
        data.position.sel(node=tip).values,
        data.erls_position.sel(node=tip).values,
    )
    charts = [
        _chart("Tip displacement", "mm", "xyz", 1e3 * (position - erls)),
        _chart("Tip position", "m", "xyz", position),
    ]
    for kind, unit, factor, effort in (
        ("revolute", "deg", 180 / np.pi, "N m"),
        ("prismatic", "m", 1.0, "N"),
    ):
        names = [
            link.name
            for link in scene.links
            if link.joint == kind and link.name in data.joint.values
        ]
        if names:
            word, push = (
                ("angle", "torque") if kind == "revolute" else ("position", "force")
            )
            charts.append(
                _chart(
                    f"Joint {word}",
                    unit,
                    names,
                    factor * data.q.sel(joint=names).values,
                )
            )
            charts.append(
                _chart(
                    f"Joint {push}", effort, names, data.torque.sel(joint=names).values
                )
            )
    kinds = [str(kind) for kind in data.kind.values if kind != "residual"]
    charts.append(_chart("Energy", "J", kinds, data.energy.sel(kind=kinds).values))
    if "residual" in data.kind.values:
        charts.append(
            _chart(
                "Energy residual",
                "J",
                ["residual"],
                data.energy.sel(kind=["residual"]).values,
            )
        )
    return charts


def _chart(label: str, unit: str, series: Sequence[str], values: np.ndarray) -> dict:
    """One quantity of the chart."""
    return {
        "label": label,
        "unit": unit,
        "series": list(series),
        "values": np.nan_to_num(values),
    }
