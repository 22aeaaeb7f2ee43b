"""Figures of the papers, drawn from our runs beside an independent program's (extra `peers`).

    python -m benchmarks.physics.paper_figures docs/figures

[Vidoni2015] figures 3 and 4: height of elbow and tip of the L-shaped mechanism for several numbers of modes, and the
tip's Y over two seconds. [Boscariol2012] figures 6-9: the tips of the anthropomorphic robot, E = 5e10; figures 11 and
12: the tips of the double pendulum. The papers' own curves are lost, and so are the torques: those of the library's
scenarios stand in. Both programs start from undeformed links with the same data. Only `beta` damps: the peer's `alpha`
acts against each link's own frame, ours against the rigid robot.
"""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lissom.atomic import write_atomically
from lissom.bench.cases import compiled_case
from lissom.describe.scenario import Scenario
from lissom.show.axes import finish, line_colour, new_figure, side_legend, tidy_axes

from ..peers.exudyn_arm import floating_arm

TIGHT: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-10}
STEP = 2e-4  # of the peer [s]
STORED = 20  # every so many milliseconds goes into the file of numbers


class Curve(NamedTuple):
    """One coordinate of a node over time."""

    label: str
    panel: int
    time: np.ndarray  # [s]
    value: np.ndarray  # [m]
    is_peer: bool


class PaperFigure(NamedTuple):
    """What a figure of a paper shows."""

    name: str  # of its files
    title: str
    panels: tuple[str, ...]  # what is drawn in each
    curves: Callable[[], list[Curve]]
    window: tuple[float, float] | None = None  # of the last panel [s]


def our_paths(scenario: Scenario, nodes: Sequence[str]) -> dict[str, np.ndarray]:
    """Time and paths of nodes in our run."""
    run = compiled_case(scenario).run(**TIGHT)
    paths = {"time": np.asarray(run.t)}
    for node in nodes:
        paths[node] = np.asarray(run.position(node))
    return paths


def peer_paths(scenario: Scenario) -> dict[str, np.ndarray]:
    """Time and paths of all nodes in the peer's run of the same scenario."""
    robot = scenario.robot
    first = robot.joint_names[0]
    table = (scenario.inputs.torque or {}).get(first) if scenario.inputs else None

    def torque(t: float) -> float:
        if table is None or t > table.t[-1]:
            return 0.0
        return float(np.interp(t, table.t, table.value))

    arm = floating_arm(robot, scenario.initial.q, torque=torque if table else None)
    return arm.run(scenario.t_end, STEP)


def _l_shape() -> list[Curve]:
    """[Vidoni2015] figure 3: heights of elbow and tip over 0.5 s."""
    whole = Scenario.load("l-shape").replace({"output_dt": 0.001, "t_end": 0.5})
    curves = []
    for modes in (2, 4, 12):
        ours = our_paths(whole.replace({"modes": modes}), ("beam/2", "beam/tip"))
        for panel, node in enumerate(("beam/2", "beam/tip")):
            label = f"{modes + 6} modes"
            z = ours[node][:, 2]
            curves.append(Curve(label, panel, ours["time"], z, False))
    peer = peer_paths(whole)
    for panel, node in enumerate(("beam/2", "beam/4")):
        curves.append(Curve("Exudyn", panel, peer["time"], peer[node][:, 2], True))
    return curves


def _l_shape_swing() -> list[Curve]:
    """[Vidoni2015] figure 4: Y of the tip over two seconds, and around 1.2 s."""
    whole = Scenario.load("l-shape-swing").replace({"output_dt": 0.001})
    curves = []
    for modes in (12, 24):
        ours = our_paths(whole.replace({"modes": modes}), ("beam/tip",))
        for panel in (0, 1):
            y = ours["beam/tip"][:, 1]
            curves.append(Curve(f"{modes + 6} modes", panel, ours["time"], y, False))
    peer = peer_paths(whole)
    for panel in (0, 1):
        y = peer["beam/4"][:, 1]
        curves.append(Curve("Exudyn", panel, peer["time"], y, True))
    return curves


def _tips(scenario: Scenario, nodes: dict[str, str], axes: int = 3) -> list[Curve]:
    """X, Y and Z of nodes (ours by name, the peer's by number), a panel for each; of planar motion X and Y."""
    ours = our_paths(scenario, list(nodes))
    peer = peer_paths(scenario)
    curves = []
    for k, (node, number) in enumerate(nodes.items()):
        for axis in range(axes):
            panel = axes * k + axis
            label = scenario.formulation
            value = ours[node][:, axis]
            curves.append(Curve(label, panel, ours["time"], value, False))
            value = peer[number][:, axis]
            curves.append(Curve("Exudyn", panel, peer["time"], value, True))
    return curves


def _anthropomorphic() -> list[Curve]:
    """[Boscariol2012] figures 6-9: tips of the first and third link, E = 5e10, joints 2 and 3 free."""
    scenario = Scenario.load("anthropomorphic-free-fall").replace(
        {
            "robot.links.*.beam.material.E": 5e10,
            "robot.damping.alpha": 0.0,
            "initial.elastic": "zero",
            "t_end": 0.5,
        }
    )
    return _tips(scenario, {"column/tip": "column/2", "fore/tip": "fore/2"})


def _double_pendulum() -> list[Curve]:
    """[Boscariol2012] figures 11 and 12: tips of both links."""
    changes = {
        "robot.damping.alpha": 0.0,
        "initial.elastic": "zero",
        "t_end": 1.0,
    }
    scenario = Scenario.load("double-pendulum").replace(changes)
    return _tips(scenario, {"upper/tip": "upper/1", "lower/tip": "lower/1"}, axes=2)


FIGURES = (
    PaperFigure(
        "l-shape-3-heights",
        "[Vidoni2015] figure 3: heights of the L-shaped mechanism",
        ("Z of the elbow [m]", "Z of the tip [m]"),
        _l_shape,
    ),
    PaperFigure(
        "l-shape-4-swing",
        "[Vidoni2015] figure 4: the tip over two seconds",
        ("Y of the tip [m]", "Y of the tip near 1.2 s [m]"),
        _l_shape_swing,
        (1.15, 1.25),
    ),
    PaperFigure(
        "anthropomorphic-6-9-tips",
        "[Boscariol2012] figures 6-9: anthropomorphic robot, E = 5e10 Pa",
        tuple(f"{a} of link {k} [m]" for k in (1, 3) for a in "XYZ"),
        _anthropomorphic,
    ),
    PaperFigure(
        "double-pendulum-11-12-tips",
        "[Boscariol2012] figures 11 and 12: double pendulum",
        tuple(f"{a} of link {k} [m]" for k in (1, 2) for a in "XY"),
        _double_pendulum,
    ),
)


def differences(curves: Sequence[Curve]) -> dict[str, float]:
    """Largest distance of each of our curves from the peer's in its panel [m]."""
    gaps: dict[str, float] = {}
    for curve in curves:
        if curve.is_peer:
            continue
        peer = next(c for c in curves if c.is_peer and c.panel == curve.panel)
        there = np.interp(curve.time, peer.time, peer.value)
        gap = float(np.abs(curve.value - there).max())
        gaps[curve.label] = max(gaps.get(curve.label, 0.0), gap)
    return gaps


def draw(figure: PaperFigure, curves: Sequence[Curve], path: Path) -> None:
    """The panels one above the other, ours in colour, the peer dashed."""
    page = new_figure(9, 1.1 + 1.7 * len(figure.panels))
    panels = page.subplots(len(figure.panels), 1, squeeze=False)[:, 0]
    for k, (axes, name) in enumerate(zip(panels, figure.panels, strict=True)):
        shown = [curve for curve in curves if curve.panel == k]
        for n, curve in enumerate(shown):
            colour = "#222222" if curve.is_peer else line_colour(n)
            style = "--" if curve.is_peer else "-"
            axes.plot(
                curve.time, curve.value, style, color=colour, lw=1.4, label=curve.label
            )
        axes.set_ylabel(name)
        tidy_axes(axes)
        axes.margins(x=0)
    if figure.window is not None:
        _zoom(panels[-1], figure.window)
    panels[0].set_title(figure.title, loc="left")
    panels[-1].set_xlabel("time [s]")
    side_legend(panels[0])
    finish(page, path)


def _zoom(axes: Any, window: tuple[float, float]) -> None:
    """Show one stretch of time, as high as its curves."""
    low, high = window
    values = []
    for line in axes.get_lines():
        t = np.asarray(line.get_xdata())
        inside = (t >= low) & (t <= high)
        values.append(np.asarray(line.get_ydata())[inside])
    both = np.concatenate(values)
    margin = 0.1 * np.ptp(both)
    axes.set_xlim(low, high)
    axes.set_ylim(both.min() - margin, both.max() + margin)


def numbers(figure: PaperFigure, curves: Sequence[Curve]) -> dict[str, Any]:
    """What is drawn, thinned out, and how far apart the programs are."""
    stored = []
    for curve in curves:
        every = max(1, len(curve.time) * STORED // round(1e3 * curve.time[-1]))
        stored.append(
            {
                "panel": figure.panels[curve.panel],
                "label": curve.label,
                "t": np.round(curve.time[::every], 6).tolist(),
                "value": np.round(curve.value[::every], 7).tolist(),
            }
        )
    return {
        "title": figure.title,
        "made_by": f"python -m benchmarks.physics.paper_figures docs/figures {figure.name}",
        "largest_difference_m": differences(curves),
        "curves": stored,
    }


def main(arguments: Sequence[str]) -> None:
    """Draw all figures, or those named, into a folder."""
    folder = Path(arguments[0])
    names = set(arguments[1:])
    for figure in FIGURES:
        if names and figure.name not in names:
            continue
        curves = figure.curves()
        draw(figure, curves, folder / f"{figure.name}.png")
        text = json.dumps(numbers(figure, curves), indent=1) + "\n"
        path = folder / f"{figure.name}.json"
        write_atomically(path, lambda file, text=text: file.write(text.encode()))
        sys.stdout.write(f"{figure.name}: {differences(curves)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
