"""Figures 6 to 10 of [Cibicik2021] from our own runs: dual screws (solid) and finite elastic rotations (dashed).

The paper prints no gains, so that curves can be compared in kind only: what is excited when, and how close the two
models are. The numbers beside the figures give their distance.
"""

import numpy as np

from lissom import Scenario
from lissom.bench.cases import TIGHT, Case
from lissom.show.axes import PALETTE, new_figure

from .figures import heading, keep, tidy

STYLES = {"dual-screw": "-", "nonlinear": "--"}  # line of each formulation
NAMED = "dual-screw"  # whose lines carry the legend's labels
ELASTIC = {  # number of the figure: family, title, end [s], unit
    7: ("xy", "Bending in the xy plane, first 3 s", 3.0, "m"),
    8: ("torsion", "Torsion", 6.0, "rad"),
    9: ("xz", "Bending in the xz plane", 6.0, "m"),
}
LINKS = {"upper": "link 2", "fore": "link 3"}  # our names, the paper's


def run(formulation: str):
    """The manoeuvre in one formulation."""
    scenario = Scenario.load("cibicik-arm")
    case = Case(scenario.replace({"formulation": formulation}))
    # So tight that the models differ, not their step errors.
    return case.run(**TIGHT)


def family(run, kind: str, link: str) -> np.ndarray:
    """The two coordinates of one family of one link over time."""
    columns = []
    for k, name in enumerate(run.data["coordinate"].values):
        if str(name).startswith(f"{link}/{kind}."):
            columns.append(k)
    return run.data["elastic"].values[:, columns]


def largest(values: np.ndarray) -> float:
    """Largest magnitude."""
    return float(np.abs(values).max())


# --- figures -------------------------------------------------------------------------------------------------------


def draw_curves(axes, runs, values, symbol: str, until: float, **style) -> None:
    """Columns of `values(run)` over time, each in its colour, each formulation in its style."""
    for formulation, run in runs.items():
        shown = run.t <= until
        columns = values(run)[shown]
        for k in range(columns.shape[1]):
            label = symbol.format(k + 1) if formulation == NAMED else None
            axes.plot(
                run.t[shown],
                columns[:, k],
                STYLES[formulation],
                color=PALETTE[k],
                label=label,
                **style,
            )
    tidy(axes)


def rigid_figure(runs):
    """Figure 6: joint angles and speeds."""
    figure = new_figure(9, 5.6)
    upper, lower = figure.subplots(2, 1, sharex=True)

    def angles(run):
        return np.degrees(run.data["q"].values)

    def speeds(run):
        return np.degrees(run.data["qd"].values)

    draw_curves(upper, runs, angles, "$q_{}$", np.inf, lw=1.3)
    draw_curves(lower, runs, speeds, "$q_{}$", np.inf, lw=1.3)
    upper.set_ylabel("q [deg]")
    lower.set_ylabel("qd [deg/s]")
    upper.legend(frameon=False, ncols=4, fontsize=8)
    heading(upper, "Joint angles and speeds")
    lower.set_xlabel("time [s]")
    return figure


def elastic_figure(runs, kind: str, title: str, until: float, unit: str):
    """Figures 7, 8 and 9: coordinates of one family and their rates, for both elastic links."""
    figure = new_figure(9, 6.4)
    grid = figure.subplots(2, 2, sharex=True)
    for (left, right), link in zip(grid, LINKS, strict=True):

        def coordinates(run, link=link):
            return family(run, kind, link)

        def rates(run, link=link):
            # By central differences of the sampled coordinates.
            return np.gradient(family(run, kind, link), run.t, axis=0)

        draw_curves(left, runs, coordinates, "mode {}", until, lw=1.1)
        draw_curves(right, runs, rates, "mode {}", until, lw=1.1)
        left.set_ylabel(f"{LINKS[link]} [{unit}]")
        right.set_ylabel(f"{LINKS[link]} [{unit}/s]")
    heading(grid[0, 0], title)
    grid[0, 0].legend(frameon=False, fontsize=8)
    for axes in grid[1]:
        axes.set_xlabel("time [s]")
    return figure


def torque_figure(runs, until: float = 4.0):
    """Figure 10: motor torques [N m]."""
    figure = new_figure(9, 4)
    axes = figure.add_subplot()

    def torques(run):
        return run.data["torque"].values

    draw_curves(axes, runs, torques, "$T_{}$", until, lw=1.3)
    heading(axes, "Motor torques")
    axes.set(xlabel="time [s]", ylabel="torque [N m]")
    axes.legend(frameon=False, ncols=4, fontsize=8)
    return figure


# --- numbers -------------------------------------------------------------------------------------------------------


def out_of_plane(run) -> float:
    """Largest torsion and bending across the plane before 3 s, when the paper's arm moves in its plane."""
    before = run.t <= 3.0
    peaks = []
    for kind in ("torsion", "xz"):
        for link in LINKS:
            peaks.append(largest(family(run, kind, link)[before]))
    return max(peaks)


def elastic_gap(runs, kind: str) -> float:
    """Largest difference of the two formulations in one family."""
    gaps = []
    for link in LINKS:
        finite = family(runs["nonlinear"], kind, link)
        first_order = family(runs["dual-screw"], kind, link)
        gaps.append(largest(finite - first_order))
    return max(gaps)


def facts(runs) -> dict:
    """Numbers for the statements of the paper."""
    joint_gap = np.abs(runs["nonlinear"].q - runs["dual-screw"].q)
    families = ("xy", "torsion", "xz")
    return {
        "joint_gap_deg": np.degrees(joint_gap).max(axis=0),
        "elastic_gap": {kind: elastic_gap(runs, kind) for kind in families},
        "torsion_and_xz_before_3_s": {
            name: out_of_plane(run) for name, run in runs.items()
        },
    }


def main() -> None:
    """Run both formulations, draw the figures, write the numbers."""
    runs = {name: run(name) for name in STYLES}
    finite = runs["nonlinear"]
    keep("cibicik-arm-6-rigid", facts(runs), rigid_figure(runs))
    for number, (kind, title, until, unit) in ELASTIC.items():
        peaks = {}
        for link in LINKS:
            peaks[link] = np.abs(family(finite, kind, link)).max(axis=0)
        figure = elastic_figure(runs, kind, title, until, unit)
        keep(f"cibicik-arm-{number}-{kind}", {"largest": peaks}, figure)
    torque = np.abs(finite.data["torque"].values).max(axis=0)
    keep("cibicik-arm-10-torque", {"largest_nm": torque}, torque_figure(runs))


if __name__ == "__main__":
    main()
