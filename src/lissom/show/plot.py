"""Figures of a run, of several runs side by side, and of mode shapes."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.gridspec import SubplotSpec
from mpl_toolkits.mplot3d.axes3d import Axes3D

from lissom.show.figure import (
    INK,
    PALETTE,
    SOFT,
    equal_box,
    finish,
    new_figure,
    space_axes,
)
from lissom.show.scene import (
    Scene,
    bent_line,
    link_rows,
    moving_tip,
    scene_from_json,
    scene_nodes,
    tip_nodes,
)

FLAT = 0.02  # a motion thinner than this share of its extent is drawn in its plane
ENERGIES = ("kinetic", "strain", "gravity", "input", "dissipated")


def plot_run(data: xr.Dataset, path: str | Path | None = None) -> Figure:
    """Figure of one run: joints, torques, nodal displacements, tip path, energies.

    Args:
        data: result of a run, with its scene as JSON in `data.attrs["scene"]`.
        path: file to write (png, pdf, svg), None for none.
    """
    scene = scene_from_json(data.attrs["scene"])
    figure = new_figure(14, 10)
    figure.suptitle(
        str(data.attrs.get("name", scene.name)),
        x=0.01,
        ha="left",
        fontweight="bold",
        fontsize=14,
        color=INK,
    )
    left, right = (
        figure.add_subfigure(half)
        for half in figure.add_gridspec(1, 2, width_ratios=(1.08, 1))
    )
    groups = joint_groups(data, scene)
    count = max(len(groups), 1)
    panels = _stack(left, [1.6 / count] * count + [0.8] * 3 + [1.4 / count] * count)
    _plot_joints(panels[:count], data, groups)
    _plot_displacements(panels[count : count + 3], data, scene)
    _plot_efforts(panels[count + 3 :], data, groups)
    where, energies, residual = right.add_gridspec(3, 1, height_ratios=(4.2, 2.4, 0.8))
    _plot_path(right, where, data, scene)
    _plot_energies(right, energies, residual, data)
    return finish(figure, path)


def plot_compare(
    datasets: Mapping[str, xr.Dataset], node: str, path: str | Path | None = None
) -> Figure:
    """Figure of one node's path in several runs, and of the distance between the runs against time.

    Args:
        datasets: runs by the names the legend shows.
        node: name of the node, as "lower/2".
        path: file to write (png, pdf, svg), None for none.
    """
    if not datasets:
        raise ValueError("plot_compare needs at least one run.")
    _require_node(datasets, node)
    paths = {
        name: data.position.sel(node=node).values for name, data in datasets.items()
    }
    gravity = scene_from_json(next(iter(datasets.values())).attrs["scene"]).gravity
    figure = new_figure(12, 5.4)
    where, apart = figure.add_gridspec(1, 2, width_ratios=(1.1, 1))
    axes, draw = path_axes(figure, where, np.concatenate(list(paths.values())), gravity)
    for k, (name, points) in enumerate(paths.items()):
        draw(
            points,
            color=PALETTE[k % 7],
            lw=1.6,
            ls=("-", "--", "-.", ":")[k % 4],
            label=name,
        )
    axes.set_title(f"Path of {node}", **TITLE)
    side_legend(axes)
    _plot_spread(figure, apart, datasets, node)
    return finish(figure, path)


def plot_modes(
    position: np.ndarray,
    shapes: np.ndarray,
    frequency_hz: Sequence[float | int] | np.ndarray,
    damping_ratio: Sequence[float | int] | np.ndarray | None = None,
    path: str | Path | None = None,
    *,
    rotations: np.ndarray | None = None,
    gravity: Sequence[float | int] = (0.0, 0.0, -9.81),
    labels: Sequence[str] | None = None,
) -> Figure:
    """Figure of mode shapes, one panel each, the robot at rest in grey behind.

    Args:
        position: nodes at rest (N, 3) [m], along the chain.
        shapes: nodal displacements (M, N, 3) of each mode, any amplitude.
        frequency_hz: natural frequencies (M,) [Hz].
        damping_ratio: damping ratios (M,), None to leave them out.
        path: file to write (png, pdf, svg), None for none.
        rotations: nodal rotations (M, N, 3) in the same amplitude: the lines between nodes then bend as beams do.
        gravity: chooses which way is up.
        labels: a line of text under each panel's title, such as the mode's largest share.
    """
    position, shapes = np.asarray(position, float), np.asarray(shapes, float)
    if shapes.ndim != 3 or shapes.shape[1:] != position.shape:
        raise ValueError(
            f"shapes must have shape (modes, {len(position)}, 3) as position has, got {shapes.shape}."
        )
    columns = min(len(shapes), 4)
    rows = -(-len(shapes) // columns)
    figure = new_figure(3.4 * columns, 3.3 * rows)
    bent = np.zeros_like(shapes) if rotations is None else np.asarray(rotations, float)
    curves = [
        _mode_curve(position, shapes[m], bent[m], rotations is not None)
        for m in range(len(shapes))
    ]
    grid = figure.add_gridspec(rows, columns)
    for m, curve in enumerate(curves):
        axes, draw = path_axes(
            figure,
            grid[divmod(m, columns)],
            np.concatenate([position, *curves]),
            gravity,
        )
        draw(position, color="#B4BEC9", lw=2.5, marker="o", ms=3, label="at rest")
        draw(curve, color=PALETTE[m % 7], lw=2, label="mode")
        damping = (
            "" if damping_ratio is None else f", damping {100 * damping_ratio[m]:.3g} %"
        )
        note = "" if labels is None else f"\n{labels[m]}"
        axes.set_title(
            f"{m + 1}: {frequency_hz[m]:.4g} Hz{damping}{note}", fontsize=10, color=INK
        )
        _quiet(axes)
    return finish(figure, path)


def _mode_curve(
    position: np.ndarray, shape: np.ndarray, rotation: np.ndarray, smooth: bool
) -> np.ndarray:
    """The deformed line, its largest displacement drawn as 15 % of the robot's extent."""
    extent = float(np.ptp(position, axis=0).max()) or 1.0
    largest = float(np.linalg.norm(shape, axis=1).max()) or 1.0
    factor = 0.15 * extent / largest
    return (
        bent_line(position, factor * shape, factor * rotation)
        if smooth
        else position + factor * shape
    )


# --- panels of one run ---------------------------------------------------------------------------------------------

TITLE = {"loc": "left", "fontsize": 11, "fontweight": "bold", "color": INK}


def _plot_joints(
    panels: Sequence[Axes], data: xr.Dataset, groups: Mapping[str, list[str]]
) -> None:
    """ERLS joint coordinates (solid) and encoder readings (dashed), angles and lengths on axes of their own."""
    for axes, (kind, names) in zip(panels, groups.items(), strict=False):
        factor, unit = (180 / np.pi, "deg") if kind == "revolute" else (1.0, "m")
        for name in names:
            colour = _joint_colour(data, name)
            axes.plot(
                data.time,
                factor * data.q.sel(joint=name),
                color=colour,
                lw=1.6,
                label=name,
            )
            if "encoder" in data:
                reading = factor * data.encoder.sel(joint=name)
                axes.plot(
                    data.time,
                    reading,
                    color=colour,
                    lw=1.0,
                    ls="--",
                    alpha=0.9,
                    label=f"_encoder {name}",
                )
        axes.plot([], [], color=SOFT, lw=1.0, ls="--", label="encoder")
        axes.set_ylabel(f"{'angle' if kind == 'revolute' else 'position'} [{unit}]")
        side_legend(axes)
    panels[0].set_title("Joint coordinates of the ERLS and encoders", **TITLE)


def _plot_efforts(
    panels: Sequence[Axes], data: xr.Dataset, groups: Mapping[str, list[str]]
) -> None:
    """Joint torques and forces."""
    for axes, (kind, names) in zip(panels, groups.items(), strict=False):
        for name in names:
            axes.plot(
                data.time,
                data.torque.sel(joint=name),
                color=_joint_colour(data, name),
                lw=1.4,
                label=name,
            )
        axes.set_ylabel("torque [N m]" if kind == "revolute" else "force [N]")
        side_legend(axes)
    panels[0].set_title("Joint torques", **TITLE)
    panels[-1].set_xlabel("time [s]")
    panels[-1].tick_params(labelbottom=True)


def _plot_displacements(panels: Sequence[Axes], data: xr.Dataset, scene: Scene) -> None:
    """Displacement from the ERLS of the elbows and the tip, x, y, z from top to bottom."""
    nodes = displaced_nodes(data, scene)
    shift = 1e3 * (data.position - data.erls_position).sel(node=nodes)
    least = 0.01 * float(np.abs(shift).max()) or 1e-6
    for axes, axis in zip(panels, "xyz", strict=True):
        for k, node in enumerate(nodes):
            axes.plot(
                data.time,
                shift.sel(node=node, axis=axis),
                color=PALETTE[k % 7],
                lw=1.2,
                label=node,
            )
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, -least), max(high, least))
        axes.set_ylabel(f"{axis} [mm]")
    panels[0].set_title("Nodal displacements from the ERLS", **TITLE)
    side_legend(panels[0])


def displaced_nodes(data: xr.Dataset, scene: Scene) -> list[str]:
    """Tips of the links, each place once, without those that never leave the ERLS (unless none does)."""
    distinct: list[str] = []
    for node in tip_nodes(scene):
        here = data.position.sel(node=node).values
        if not any(
            np.allclose(here, data.position.sel(node=other).values, atol=1e-9)
            for other in distinct
        ):
            distinct.append(node)
    shift = np.abs(data.position - data.erls_position).max(("time", "axis"))
    moving = [node for node in distinct if float(shift.sel(node=node)) > 1e-12]
    return moving or distinct[-1:]


def _plot_path(
    figure: SubFigure, place: SubplotSpec, data: xr.Dataset, scene: Scene
) -> None:
    """Path of the tip and of the ERLS's tip, with the robot at the start and at the end."""
    nodes = list(scene_nodes(scene))
    robot = data.position.sel(node=nodes).values
    end = nodes[moving_tip(scene, robot)]
    tip, erls = (
        data.position.sel(node=end).values,
        data.erls_position.sel(node=end).values,
    )
    whole = (
        np.ptp(tip, axis=0).max() > 0.05 * np.ptp(robot.reshape(-1, 3), axis=0).max()
    )
    points = (
        np.concatenate([tip, erls, *robot[:: max(1, len(robot) // 200)]])
        if whole
        else np.concatenate([tip, erls])
    )
    axes, draw = path_axes(figure, place, points, scene.gravity)
    if whole:
        for k, rows in enumerate(link_rows(scene)):
            for at, colour, when in (
                (robot[0], "#C3CCD6", "start"),
                (robot[-1], "#8A97A6", "end"),
            ):
                name = f"robot, {when}" if k == 0 else None
                draw(at[rows], color=colour, lw=3, solid_capstyle="round", label=name)
    draw(tip, color=PALETTE[0], lw=1.6, label="tip of the robot")
    draw(erls, color=PALETTE[1], lw=1.1, ls=(0, (4, 2.5)), label="tip of the ERLS")
    axes.set_title(f"Path of the tip, {end}", **TITLE)
    side_legend(axes, columns=4)


def _plot_energies(
    figure: SubFigure, top: SubplotSpec, bottom: SubplotSpec, data: xr.Dataset
) -> None:
    """Energies and works; below, on its own scale, what the balance leaves over."""
    axes = _time_axes(figure.add_subplot(top))
    for k, kind in enumerate(kind for kind in ENERGIES if kind in data.kind.values):
        axes.plot(
            data.time, data.energy.sel(kind=kind), color=PALETTE[k], lw=1.4, label=kind
        )
    axes.set_ylabel("energy [J]")
    axes.set_title("Energies", **TITLE)
    axes.tick_params(labelbottom=False)
    side_legend(axes)
    below = _time_axes(figure.add_subplot(bottom, sharex=axes))
    residual = data.energy.sel(kind="residual")
    below.plot(data.time, residual, color=INK, lw=1.0, label="residual")
    below.set(xlabel="time [s]", ylabel="residual [J]")
    share = float(np.abs(residual).max()) / (float(np.abs(data.energy).max()) or 1.0)
    below.set_title(
        f"residual: at most {share:.1e} of the largest energy",
        loc="left",
        fontsize=9,
        color=SOFT,
    )


def joint_groups(data: xr.Dataset, scene: Scene) -> dict[str, list[str]]:
    """Names of the moving joints by kind, revolute first."""
    kinds = {link.name: link.joint for link in scene.links}
    names = [str(name) for name in data.joint.values]
    groups = {
        kind: [n for n in names if kinds.get(n, "revolute") == kind]
        for kind in ("revolute", "prismatic")
    }
    return {kind: members for kind, members in groups.items() if members}


def _joint_colour(data: xr.Dataset, name: str) -> str:
    """The same colour for a joint in every panel."""
    return PALETTE[[str(joint) for joint in data.joint.values].index(name) % 7]


# --- panels of a comparison ----------------------------------------------------------------------------------------


def _plot_spread(
    figure: Figure, place: SubplotSpec, datasets: Mapping[str, xr.Dataset], node: str
) -> None:
    """Largest distance between any two runs at each time."""
    time, distance = spread(datasets, node)
    axes = _time_axes(figure.add_subplot(place))
    axes.plot(time, 1e3 * distance, color=INK, lw=1.4, label="spread")
    axes.set(xlabel="time [s]", ylabel="largest distance between two runs [mm]")
    axes.set_title(f"Spread of {node}: at most {1e3 * distance.max():.3g} mm", **TITLE)
    axes.set_ylim(bottom=0)


def spread(
    datasets: Mapping[str, xr.Dataset], node: str
) -> tuple[np.ndarray, np.ndarray]:
    """Times that all runs share [s], and the largest distance between any two runs' `node` at each [m]."""
    runs = list(datasets.values())
    start, end = (
        max(float(run.time[0]) for run in runs),
        min(float(run.time[-1]) for run in runs),
    )
    time = runs[0].time.values
    time = time[(time >= start) & (time <= end)]
    if not len(time):
        raise ValueError("The runs share no time: their spread cannot be drawn.")
    paths = [run.position.sel(node=node).interp(time=time).values for run in runs]
    gaps = [
        np.linalg.norm(a - b, axis=1) for k, a in enumerate(paths) for b in paths[:k]
    ]
    return time, np.max(gaps, axis=0) if gaps else np.zeros(len(time))


def _require_node(datasets: Mapping[str, xr.Dataset], node: str) -> None:
    """Refuse a node that a run does not have."""
    for name, data in datasets.items():
        if node not in data.node.values:
            known = ", ".join(str(value) for value in data.node.values)
            raise ValueError(f"Run {name!r} has no node {node!r}. It has {known}.")


# --- axes ----------------------------------------------------------------------------------------------------------


def path_axes(
    figure: Figure | SubFigure,
    place: SubplotSpec,
    points: np.ndarray,
    gravity: Sequence[float | int],
) -> tuple[Axes, Callable]:
    """Axes fit for paths through `points`, and the function that draws one: in their plane if flat, else in space."""
    plane = plane_of(points, gravity)
    if plane is None:
        axes = space_axes(figure.add_subplot(place, projection="3d"), gravity)
        equal_box(axes, points)
        return axes, lambda path, **style: axes.plot(*np.asarray(path).T, **style)
    i, j = plane
    axes = figure.add_subplot(place)
    _tidy(axes)
    axes.set(xlabel=f"{'xyz'[i]} [m]", ylabel=f"{'xyz'[j]} [m]")
    axes.set_aspect("equal", adjustable="datalim")
    return axes, lambda path, **style: axes.plot(path[:, i], path[:, j], **style)


def plane_of(
    points: np.ndarray, gravity: Sequence[float | int]
) -> tuple[int, int] | None:
    """The two axes (across, up) of the coordinate plane that holds the motion, None if it fills space."""
    extent = np.ptp(points, axis=0)
    thin = int(extent.argmin())
    if extent[thin] > FLAT * extent.max():
        return None
    across, up = [k for k in range(3) if k != thin]
    return (up, across) if abs(gravity[across]) > abs(gravity[up]) else (across, up)


def _stack(figure: SubFigure, heights: Sequence[float | int]) -> list[Axes]:
    """Panels one above the other with one time axis, numbers on the lowest only."""
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    panels: list[Axes] = []
    for k in range(len(heights)):
        panels.append(
            _time_axes(
                figure.add_subplot(grid[k], sharex=panels[0] if panels else None)
            )
        )
        panels[k].tick_params(labelbottom=False)
    return panels


def _time_axes(axes: Axes) -> Axes:
    """Axes against time, without margins left and right."""
    _tidy(axes)
    axes.margins(x=0)
    return axes


def _tidy(axes: Axes) -> None:
    """Light grid, no box."""
    axes.grid(True, color="#E3E8EE", lw=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8.5, colors=SOFT, labelcolor=INK)


def _quiet(axes: Axes) -> None:
    """Small panel: numbers small in a plane, gone in space, where only the directions are named."""
    axes.tick_params(labelsize=7)
    if isinstance(axes, Axes3D):
        for name, axis in zip("xyz", (axes.xaxis, axes.yaxis, axes.zaxis), strict=True):
            axis.set_ticklabels([])
            axis.set_label_text(name)
            axis.labelpad = -14


def side_legend(axes: Axes, columns: int | None = None) -> None:
    """Legend outside the axes, right of them (or below in `columns`), so that it never covers data."""
    if columns is None:
        axes.legend(
            loc="upper left",
            bbox_to_anchor=(1.0, 1.02),
            frameon=False,
            fontsize=8.5,
            handlelength=1.5,
        )
    else:
        axes.legend(
            loc="upper center",
            bbox_to_anchor=(0.5, -0.1),
            ncols=columns,
            frameon=False,
            fontsize=8.5,
        )
