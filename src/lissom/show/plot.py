"""Figures of a run, of several runs side by side, and of mode shapes."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy import ndarray
from numpy.linalg import norm
from xarray import Dataset

from .axes import (
    INK,
    LINE_STYLES,
    PALETTE,
    SOFT,
    TITLE,
    finish,
    legend_below,
    line_colour,
    new_figure,
    page_title,
    path_axes,
    side_legend,
    stacked_time_axes,
    three_axes,
    time_axes,
)
from .canvas import Axes, Axes3D, Figure, SubFigure, SubplotSpec
from .scene import (
    Number,
    Scene,
    bent_line,
    link_rows,
    moving_tip,
    scene_from_json,
    scene_nodes,
)

ENERGIES = ("kinetic", "strain", "gravity", "input", "dissipated")
MODE_SIZE = 0.15  # largest displacement of a drawn mode, against the robot's extent
TWIST_ONLY = 1e-6  # displacements below this share of rotation times extent are none
DOWN = (0.0, 0.0, -9.81)  # gravity of what does not say


def plot_run(data: Dataset, path: str | Path | None = None) -> Figure:
    """Figure of one run: joints, torques, nodal displacements, tip path, energies.

    Args:
        data: result of a run, with its scene as JSON in `data.attrs["scene"]`.
        path: file to write (png, pdf, svg), None for none.
    """
    scene = scene_from_json(data.attrs["scene"])
    figure = new_figure(14, 10)
    name = data.attrs.get("name", scene.name)
    page_title(figure, str(name))
    halves = figure.add_gridspec(1, 2, width_ratios=(1.08, 1))
    left = figure.add_subfigure(halves[0])
    right = figure.add_subfigure(halves[1])
    _plot_histories(left, data, scene)
    rows = right.add_gridspec(3, 1, height_ratios=(4.2, 2.4, 0.8))
    _plot_path(right, rows[0], data, scene)
    energies = _plot_energies(right, rows[1], data)
    _plot_residual(right, rows[2], data, energies)
    return finish(figure, path)


def plot_compare(
    datasets: Mapping[str, Dataset], node: str, path: str | Path | None = None
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
    figure = new_figure(12, 5.4)
    halves = figure.add_gridspec(1, 2, width_ratios=(1.1, 1))
    _plot_paths(figure, halves[0], datasets, node)
    _plot_spread(figure, halves[1], datasets, node)
    return finish(figure, path)


# --- histories of one run: joints, displacements, torques ----------------------------------------------------------


def _plot_histories(figure: SubFigure, data: Dataset, scene: Scene) -> None:
    """Joint coordinates, nodal displacements and joint torques one above the other, with one time axis."""
    groups = joint_groups(data, scene)
    # Angles and lengths have panels of their own, which share the height of one; a robot without joints keeps it.
    count = max(len(groups), 1)
    joint_heights = [1.6 / count] * count
    displacement_heights = [0.8] * 3
    effort_heights = [1.4 / count] * count
    panels = stacked_time_axes(
        figure, joint_heights + displacement_heights + effort_heights
    )
    _plot_joints(panels[:count], data, groups)
    _plot_displacements(panels[count : count + 3], data, scene)
    _plot_efforts(panels[count + 3 :], data, groups)
    panels[-1].set_xlabel("time [s]")
    panels[-1].tick_params(labelbottom=True)


def joint_groups(data: Dataset, scene: Scene) -> dict[str, list[str]]:
    """Names of the moving joints by kind, revolute first."""
    kinds = {link.name: link.joint for link in scene.links}
    groups = {}
    for kind in ("revolute", "prismatic"):
        names = []
        for name in _joint_names(data):
            if kinds.get(name, "revolute") == kind:
                names.append(name)
        if names:
            groups[kind] = names
    return groups


def _plot_joints(
    panels: Sequence[Axes], data: Dataset, groups: Mapping[str, list[str]]
) -> None:
    """ERLS joint coordinates (solid) and encoder readings (dashed), angles and lengths on axes of their own."""
    for axes, kind in zip(panels, groups, strict=False):
        factor = 1.0
        axes.set_ylabel("position [m]")
        if kind == "revolute":
            factor = 180 / np.pi
            axes.set_ylabel("angle [deg]")
        for name in groups[kind]:
            _plot_joint(axes, data, name, factor)
        # A line without points, for the legend.
        axes.plot([], [], color=SOFT, lw=1.0, ls="--", label="encoder")
        side_legend(axes)
    panels[0].set_title("Joints of the rigid robot (ERLS), and encoders", **TITLE)


def _plot_joint(axes: Axes, data: Dataset, name: str, factor: float) -> None:
    """Coordinate of one joint and the reading of its encoder, in the unit that `factor` leads to."""
    colour = _joint_colour(data, name)
    axes.plot(
        data.time,
        factor * data.q.sel(joint=name),
        color=colour,
        lw=1.6,
        label=name,
    )
    if "encoder" not in data:
        return
    # The underscore keeps this label out of the legend, which has one entry for all encoders.
    axes.plot(
        data.time,
        factor * data.encoder.sel(joint=name),
        color=colour,
        lw=1.0,
        ls="--",
        alpha=0.9,
        label=f"_encoder {name}",
    )


def _plot_efforts(
    panels: Sequence[Axes], data: Dataset, groups: Mapping[str, list[str]]
) -> None:
    """Plot torques and forces of the joints over time."""
    for axes, kind in zip(panels, groups, strict=False):
        for name in groups[kind]:
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


def _plot_displacements(panels: Sequence[Axes], data: Dataset, scene: Scene) -> None:
    """Displacement from the ERLS of the elbows and the tip, x, y, z from top to bottom."""
    nodes = displaced_nodes(data, scene)
    shift = data.position - data.erls_position
    millimetres = 1e3 * shift.sel(node=nodes)
    largest = float(np.abs(millimetres).max())
    # An axis along which next to nothing moves would otherwise be filled with rounding errors.
    least = 0.01 * largest or 1e-6
    for axes, axis in zip(panels, "xyz", strict=True):
        for k, node in enumerate(nodes):
            axes.plot(
                data.time,
                millimetres.sel(node=node, axis=axis),
                color=line_colour(k),
                lw=1.2,
                label=node,
            )
        low, high = axes.get_ylim()
        low = min(low, -least)
        high = max(high, least)
        axes.set_ylim(low, high)
        axes.set_ylabel(f"{axis} [mm]")
    panels[0].set_title("Bending: displacements from the rigid robot (ERLS)", **TITLE)
    side_legend(panels[0])


def displaced_nodes(data: Dataset, scene: Scene) -> list[str]:
    """One node of each link, each place once, without those that never leave the ERLS (unless none does).

    It is the tip, unless a joint or a loop holds it where the link bends in the middle.
    """
    shift = norm((data.position - data.erls_position).values, axis=-1)
    largest = dict(zip(data.node.values.tolist(), shift.max(axis=0), strict=True))
    distinct: list[str] = []
    places: list[ndarray] = []
    for link in scene.links:
        node = _displaced_node(link.nodes, largest)
        here = data.position.sel(node=node).values
        if any(np.allclose(here, other, atol=1e-9) for other in places):
            continue
        distinct.append(node)
        places.append(here)
    moving = [node for node in distinct if largest[node] > 1e-12]
    return moving or distinct[-1:]


def _displaced_node(nodes: Sequence[str], largest: Mapping[str, float]) -> str:
    """The tip of a link, or the node that is displaced farthest where that is more than twice as far."""
    tip = nodes[-1]
    farthest = max(nodes, key=lambda node: largest[node])
    return farthest if largest[farthest] > 2.0 * largest[tip] else tip


def _joint_colour(data: Dataset, name: str) -> str:
    """The same colour for a joint in every panel."""
    return line_colour(_joint_names(data).index(name))


def _joint_names(data: Dataset) -> list[str]:
    return [str(name) for name in data.joint.values]


# --- path and energies of one run ----------------------------------------------------------------------------------


def _plot_path(
    figure: SubFigure, place: SubplotSpec, data: Dataset, scene: Scene
) -> None:
    """Path of the tip and of the ERLS's tip, with the robot at the start and at the end."""
    nodes = list(scene_nodes(scene))
    robot = data.position.sel(node=nodes).values
    end = nodes[moving_tip(scene, robot)]
    tip = data.position.sel(node=end).values
    erls_tip = data.erls_position.sel(node=end).values
    points = np.concatenate([tip, erls_tip])
    # Where the tip hardly moves its path fills the panel alone: beside the robot it would be a dot.
    with_robot = _extent(tip) > 0.05 * _extent(robot)
    if with_robot:
        stride = max(1, len(robot) // 200)
        points = np.concatenate([points, *robot[::stride]])
    axes, draw = path_axes(figure, place, points, scene.gravity)
    if with_robot:
        _draw_start_and_end(draw, scene, robot)
    draw(tip, color=PALETTE[0], lw=1.6, label="tip of the robot")
    draw(
        erls_tip,
        color=PALETTE[1],
        lw=1.1,
        ls=(0, (4, 2.5)),
        label="tip of the rigid robot (ERLS)",
    )
    axes.set_title(f"Path of the tip, {end}", **TITLE)
    legend_below(axes, columns=4)


def _draw_start_and_end(draw: Callable, scene: Scene, robot: ndarray) -> None:
    """The robot as grey lines, once light and once dark; `robot` holds its nodes (time, node, axis)."""
    line = {"lw": 3, "solid_capstyle": "round"}
    start_label = "robot, start"
    end_label = "robot, end"
    for rows in link_rows(scene):
        draw(robot[0, rows], color="#C3CCD6", label=start_label, **line)
        draw(robot[-1, rows], color="#8A97A6", label=end_label, **line)
        # The legend names each pose once.
        start_label = None
        end_label = None


def _extent(points: ndarray) -> float:
    """Longest side [m] of the box around points."""
    sides = np.ptp(points.reshape(-1, 3), axis=0)
    return float(sides.max())


def _plot_energies(figure: SubFigure, place: SubplotSpec, data: Dataset) -> Axes:
    """Plot energies and works over time [J]."""
    axes = time_axes(figure.add_subplot(place))
    kinds = [kind for kind in ENERGIES if kind in data.kind.values]
    for k, kind in enumerate(kinds):
        energy = data.energy.sel(kind=kind)
        label = kind
        if kind == "gravity":
            # Its zero is arbitrary: plotted from there it would make all others flat.
            energy, label = energy - energy[0], "gravity, since\nthe start"
        colour = line_colour(k)
        axes.plot(data.time, energy, color=colour, lw=1.4, label=label)
    axes.set_ylabel("energy [J]")
    axes.set_title("Energies", **TITLE)
    axes.tick_params(labelbottom=False)
    side_legend(axes)
    return axes


def _plot_residual(
    figure: SubFigure, place: SubplotSpec, data: Dataset, energies: Axes
) -> None:
    """Residual of the energy balance, on a scale of its own, since it is many times smaller."""
    axes = time_axes(figure.add_subplot(place, sharex=energies))
    residual = data.energy.sel(kind="residual")
    axes.plot(data.time, residual, color=INK, lw=1.0, label="residual")
    axes.set_xlabel("time [s]")
    axes.set_ylabel("residual [J]")
    largest_energy = float(np.abs(data.energy).max()) or 1.0
    largest = float(np.abs(residual).max())
    share = largest / largest_energy
    axes.set_title(
        f"residual: at most {share:.1e} of the largest energy",
        loc="left",
        fontsize=9,
        color=SOFT,
    )


# --- comparison of runs --------------------------------------------------------------------------------------------


def spread(datasets: Mapping[str, Dataset], node: str) -> tuple[ndarray, ndarray]:
    """Times that all runs share [s], and the largest distance between any two runs' `node` at each [m]."""
    runs = list(datasets.values())
    start = max(float(run.time[0]) for run in runs)
    end = min(float(run.time[-1]) for run in runs)
    time = runs[0].time.values
    time = time[(time >= start) & (time <= end)]
    if not len(time):
        raise ValueError("The runs share no time: their spread cannot be drawn.")
    paths = []
    for run in runs:
        path = run.position.sel(node=node)
        paths.append(path.interp(time=time).values)
    largest = np.zeros(len(time))
    for k, path in enumerate(paths):
        for other in paths[:k]:
            distance = norm(path - other, axis=1)
            largest = np.maximum(largest, distance)
    return time, largest


def _plot_paths(
    figure: Figure, place: SubplotSpec, datasets: Mapping[str, Dataset], node: str
) -> None:
    """Path of one node in every run."""
    runs = list(datasets.values())
    paths = [run.position.sel(node=node).values for run in runs]
    points = np.concatenate(paths)
    axes, draw = path_axes(figure, place, points, _gravity_of(runs))
    for k, name in enumerate(datasets):
        draw(
            paths[k],
            color=line_colour(k),
            lw=1.6,
            ls=LINE_STYLES[k % 4],
            label=name,
        )
    axes.set_title(f"Path of {node}", **TITLE)
    side_legend(axes)


def _gravity_of(runs: Sequence[Dataset]) -> Sequence[float]:
    """Gravity of the first run that knows its robot, downwards along z where none does: it says what is up."""
    scenes = (run.attrs["scene"] for run in runs if "scene" in run.attrs)
    first = next(scenes, None)
    return DOWN if first is None else scene_from_json(first).gravity


def _plot_spread(
    figure: Figure, place: SubplotSpec, datasets: Mapping[str, Dataset], node: str
) -> None:
    """Largest distance between any two runs at each time."""
    time, distance = spread(datasets, node)
    millimetres = 1e3 * distance
    axes = time_axes(figure.add_subplot(place))
    axes.plot(time, millimetres, color=INK, lw=1.4, label="spread")
    axes.set_xlabel("time [s]")
    axes.set_ylabel("largest distance between two runs [mm]")
    axes.set_title(f"Spread of {node}: at most {millimetres.max():.3g} mm", **TITLE)
    axes.set_ylim(bottom=0)


def _require_node(datasets: Mapping[str, Dataset], node: str) -> None:
    """Refuse a node that a run does not have."""
    for name, data in datasets.items():
        if node not in data.node.values:
            known = ", ".join(str(value) for value in data.node.values)
            raise ValueError(f"Run {name!r} has no node {node!r}. It has {known}.")


# --- mode shapes ---------------------------------------------------------------------------------------------------


def plot_modes(
    position: ndarray,
    shapes: ndarray,
    frequency_hz: Sequence[Number] | ndarray,
    damping_ratio: Sequence[Number] | ndarray | None = None,
    path: str | Path | None = None,
    *,
    rotations: ndarray | None = None,
    gravity: Sequence[Number] = DOWN,
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
    position = np.asarray(position, float)
    shapes = np.asarray(shapes, float)
    if shapes.ndim != 3 or shapes.shape[1:] != position.shape:
        raise ValueError(
            f"shapes must have shape (modes, {len(position)}, 3) as position has, got {shapes.shape}."
        )
    columns = min(len(shapes), 4)
    rows = -(-len(shapes) // columns)  # rounded up
    figure = new_figure(3.4 * columns, 3.3 * rows)
    grid = figure.add_gridspec(rows, columns)
    curves = _mode_curves(position, shapes, rotations)
    # All panels show the same piece of space, so that the modes can be compared.
    points = np.concatenate([position, *curves])
    for m, curve in enumerate(curves):
        row, column = divmod(m, columns)
        axes, draw = path_axes(figure, grid[row, column], points, gravity)
        draw(position, color="#B4BEC9", lw=2.5, marker="o", ms=3, label="at rest")
        draw(curve, color=line_colour(m), lw=2, label="mode")
        title = f"{m + 1}: {frequency_hz[m]:.4g} Hz"
        if damping_ratio is not None:
            title += f", damping {100 * damping_ratio[m]:.3g} %"
        if labels is not None:
            title += f"\n{labels[m]}"
        axes.set_title(title, fontsize=10, color=INK)
        _hide_numbers(axes)
    return finish(figure, path)


def _mode_curves(
    position: ndarray, shapes: ndarray, rotations: ndarray | None
) -> list[ndarray]:
    """The deformed line of every mode, bent between the nodes where their rotations are known."""
    extent = _extent(position) or 1.0
    curves = []
    for m, shape in enumerate(shapes):
        largest = norm(shape, axis=1).max()
        if rotations is None:
            factor = MODE_SIZE * extent / (largest or 1.0)
            curve = position + factor * shape
        else:
            rotation = np.asarray(rotations[m], float)
            # Where links only twist, the displacements are rounding: no factor makes them a shape.
            twist = TWIST_ONLY * extent * norm(rotation, axis=1).max()
            factor = MODE_SIZE * extent / largest if largest > twist else 0.0
            curve = bent_line(position, factor * shape, factor * rotation)
        curves.append(curve)
    return curves


def _hide_numbers(axes: Axes) -> None:
    """Small panel: numbers small in a plane, gone in space, where only the directions are named."""
    axes.tick_params(labelsize=7)
    if isinstance(axes, Axes3D):
        for name, axis in zip("xyz", three_axes(axes), strict=True):
            axis.set_ticklabels([])
            axis.set_label_text(name)
            axis.labelpad = -14
