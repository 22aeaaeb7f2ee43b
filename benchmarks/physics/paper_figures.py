"""Figures of the papers, drawn from our runs beside an independent program's (extra `peers`).

    python -m benchmarks.physics.paper_figures docs/figures

Without the program, its curves in that folder are taken.

[Vidoni2015] figures 3 and 4: height of elbow and tip of the L-shaped mechanism for several numbers of modes, and the
tip's Y over two seconds. [Boscariol2012] figures 6-9: the tips of the anthropomorphic robot, E = 5e10; figures 11 and
12: the tips of the double pendulum. The papers' own curves are lost, and so are the torques: those of the library's
scenarios stand in. Both programs start from undeformed links with the same data. Only `beta` damps: the peer's `alpha`
acts against each link's own frame, ours against the rigid robot.
"""

import json
import re
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
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
STORED = 0.02  # our curves in the file of numbers, a point every so often [s]
PEER_STORED = (
    0.002  # those of the peer, which are compared where it is not installed [s]
)
PEER = "Exudyn"
LIST = re.compile(
    r"\[[-+.,e\d\s]+\]"
)  # of numbers, which stand on one line of the file


class Curve(NamedTuple):
    """One coordinate of a node over time."""

    label: str
    panel: int
    time: np.ndarray  # [s]
    value: np.ndarray  # [m]
    is_peer: bool


class Line(NamedTuple):
    """One coordinate of a node, which has a name of its own in the peer."""

    panel: int
    node: str
    peer_node: str
    axis: int


class PaperFigure(NamedTuple):
    """What a figure of a paper shows."""

    name: str  # of its files
    title: str
    panels: tuple[str, ...]  # what is drawn in each
    scenario: Callable[[], Scenario]
    variants: dict[str, dict[str, Any]]  # changes of the scenario, by label
    lines: tuple[Line, ...]
    window: tuple[float, float] | None = None  # of the last panel [s]


def our_curves(figure: PaperFigure) -> list[Curve]:
    """The lines of every variant in our runs."""
    curves = []
    for label, changes in figure.variants.items():
        run = compiled_case(figure.scenario().replace(changes)).run(**TIGHT)
        for line in figure.lines:
            value = np.asarray(run.position(line.node))[:, line.axis]
            curves.append(Curve(label, line.panel, np.asarray(run.t), value, False))
    return curves


def peer_curves(figure: PaperFigure) -> list[Curve]:
    """The same lines in the peer's run of the scenario, as often as they are stored."""
    scenario = figure.scenario()
    robot = scenario.robot
    first = robot.joint_names[0]
    table = (scenario.inputs.torque or {}).get(first) if scenario.inputs else None

    def torque(t: float) -> float:
        if table is None or t > table.t[-1]:
            return 0.0
        return float(np.interp(t, table.t, table.value))

    arm = floating_arm(robot, scenario.initial.q, torque=torque if table else None)
    paths = arm.run(scenario.t_end, STEP)
    time = paths["time"]
    every = max(1, round(PEER_STORED / (time[1] - time[0])))
    return [
        Curve(
            PEER,
            line.panel,
            time[::every],
            paths[line.peer_node][::every, line.axis],
            True,
        )
        for line in figure.lines
    ]


def stored_peer_curves(figure: PaperFigure, folder: Path) -> list[Curve]:
    """The peer's curves of an earlier run, for where it is not installed."""
    stored = json.loads((folder / f"{figure.name}.json").read_text())["curves"]
    return [
        Curve(
            PEER,
            figure.panels.index(curve["panel"]),
            np.array(curve["t"]),
            np.array(curve["value"]),
            True,
        )
        for curve in stored
        if curve["label"] == PEER
    ]


# --- the figures ---------------------------------------------------------------------------------------------------


def _l_shape() -> Scenario:
    return Scenario.load("l-shape").replace({"output_dt": 0.001, "t_end": 0.5})


def _l_shape_swing() -> Scenario:
    return Scenario.load("l-shape-swing").replace({"output_dt": 0.001})


def _anthropomorphic() -> Scenario:
    """E = 5e10, joints 2 and 3 free."""
    changes = {
        "robot.links.*.beam.material.E": 5e10,
        "robot.damping.alpha": 0.0,
        "initial.elastic": "zero",
        "t_end": 0.5,
    }
    return Scenario.load("anthropomorphic-free-fall").replace(changes)


def _double_pendulum() -> Scenario:
    changes = {
        "robot.damping.alpha": 0.0,
        "initial.elastic": "zero",
        "t_end": 1.0,
    }
    return Scenario.load("double-pendulum").replace(changes)


def _kept(*counts: int) -> dict[str, dict[str, Any]]:
    """Variants with so many modes; the paper counts the six rigid ones too."""
    return {f"{count + 6} modes": {"modes": count} for count in counts}


def _tips(nodes: dict[str, str], axes: int) -> tuple[Line, ...]:
    """Coordinates of nodes, a panel for each."""
    pairs = enumerate(nodes.items())
    return tuple(
        Line(axes * k + axis, ours, peer, axis)
        for k, (ours, peer) in pairs
        for axis in range(axes)
    )


FIRST_ORDER: dict[str, dict[str, Any]] = {"erls-fem": {}}
FIGURES = (
    PaperFigure(
        "l-shape-3-heights",
        "[Vidoni2015] figure 3: heights of the L-shaped mechanism",
        ("Z of the elbow [m]", "Z of the tip [m]"),
        _l_shape,
        _kept(2, 4, 12),
        (Line(0, "beam/2", "beam/2", 2), Line(1, "beam/tip", "beam/4", 2)),
    ),
    PaperFigure(
        "l-shape-4-swing",
        "[Vidoni2015] figure 4: the tip over two seconds",
        ("Y of the tip [m]", "Y of the tip near 1.2 s [m]"),
        _l_shape_swing,
        _kept(12, 24),
        tuple(Line(panel, "beam/tip", "beam/4", 1) for panel in (0, 1)),
        (1.15, 1.25),
    ),
    PaperFigure(
        "anthropomorphic-6-9-tips",
        "[Boscariol2012] figures 6-9: anthropomorphic robot, E = 5e10 Pa",
        tuple(f"{a} of link {k} [m]" for k in (1, 3) for a in "XYZ"),
        _anthropomorphic,
        FIRST_ORDER,
        _tips({"column/tip": "column/2", "fore/tip": "fore/2"}, axes=3),
    ),
    PaperFigure(
        "double-pendulum-11-12-tips",
        "[Boscariol2012] figures 11 and 12: double pendulum",
        tuple(f"{a} of link {k} [m]" for k in (1, 2) for a in "XY"),
        _double_pendulum,
        FIRST_ORDER,
        _tips({"upper/tip": "upper/1", "lower/tip": "lower/1"}, axes=2),
    ),
)


def differences(curves: Sequence[Curve]) -> dict[str, float]:
    """Largest distance of each of our curves from the peer's in its panel [m]."""
    gaps: dict[str, float] = {}
    for curve in curves:
        if curve.is_peer:
            continue
        peer = next(c for c in curves if c.is_peer and c.panel == curve.panel)
        ours = np.interp(peer.time, curve.time, curve.value)
        gap = float(np.abs(ours - peer.value).max())
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
        rate = (len(curve.time) - 1) / curve.time[-1]
        every = 1 if curve.is_peer else max(1, round(STORED * rate))
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
        curves = our_curves(figure)
        if find_spec("exudyn") is None:
            curves += stored_peer_curves(figure, folder)
        else:
            curves += peer_curves(figure)
        draw(figure, curves, folder / f"{figure.name}.png")
        text = json.dumps(numbers(figure, curves), indent=1) + "\n"
        text = LIST.sub(lambda found: " ".join(found[0].split()), text)
        path = folder / f"{figure.name}.json"
        write_atomically(path, lambda file, text=text: file.write(text.encode()))
        sys.stdout.write(f"{figure.name}: {differences(curves)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
