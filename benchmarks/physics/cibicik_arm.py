"""Figures 6 to 10 of [Cibicik2021] from our own runs: dual screws (solid) and finite elastic rotations (dashed).

The paper prints no gains, so that curves can be compared in kind only: what is excited when, and how near the two
models lie. Numbers beside the figures say how near.
"""

import numpy as np
from figures import heading, keep, tidy

from lissom import Scenario
from lissom.benchmarks.cases import Case
from lissom.show.axes import PALETTE, new_figure

RUNS = {"dual-screw": "-", "nonlinear": "--"}
ELASTIC = {
    7: ("xy", "Bending in the xy plane, first 3 s", 3.0, "m"),
    8: ("torsion", "Torsion", 6.0, "rad"),
    9: ("xz", "Bending in the xz plane", 6.0, "m"),
}
LINKS = {"upper": "link 2", "fore": "link 3"}


def run(formulation: str):
    """The manoeuvre in one formulation."""
    return Case(
        Scenario.load("cibicik-arm").replace({"formulation": formulation})
    ).run()


def rates(run, values):
    """Rates of sampled coordinates, by central differences."""
    return np.gradient(values, run.t, axis=0)


def family(run, kind: str, link: str) -> np.ndarray:
    """The two coordinates of one family of one link over time."""
    names = [str(name) for name in run.data["coordinate"].values]
    return run.data["elastic"].values[
        :, [k for k, name in enumerate(names) if name.startswith(f"{link}/{kind}.")]
    ]


def rigid_figure(runs):
    """Figure 6: joint angles and speeds."""
    figure = new_figure(9, 5.6)
    for axes, key, unit in zip(
        figure.subplots(2, 1, sharex=True), ("q", "qd"), ("deg", "deg/s"), strict=True
    ):
        for (name, run), style in zip(runs.items(), RUNS.values(), strict=True):
            values = np.degrees(run.data[key].values)
            for joint in range(4):
                label = f"$q_{joint + 1}$" if name == "dual-screw" else None
                axes.plot(
                    run.t,
                    values[:, joint],
                    style,
                    color=PALETTE[joint],
                    lw=1.3,
                    label=label,
                )
        axes.set_ylabel(f"{key} [{unit}]")
        tidy(axes)
    figure.axes[0].legend(frameon=False, ncols=4, fontsize=8)
    heading(figure.axes[0], "Joint angles and speeds")
    figure.axes[1].set_xlabel("time [s]")
    return figure


def elastic_figure(runs, kind: str, title: str, until: float, unit: str):
    """Figures 7, 8 and 9: coordinates of one family and their rates, for both elastic links."""
    figure = new_figure(9, 6.4)
    grid = figure.subplots(2, 2, sharex=True)
    for row, (link, said) in zip(grid, LINKS.items(), strict=True):
        for (name, run), style in zip(runs.items(), RUNS.values(), strict=True):
            part = run.t <= until
            values = family(run, kind, link)
            for axes, shown in zip(row, (values, rates(run, values)), strict=True):
                for k in range(2):
                    label = f"mode {k + 1}" if name == "dual-screw" else None
                    axes.plot(
                        run.t[part],
                        shown[part, k],
                        style,
                        color=PALETTE[k],
                        lw=1.1,
                        label=label,
                    )
                tidy(axes)
        row[0].set_ylabel(f"{said} [{unit}]")
        row[1].set_ylabel(f"{said} [{unit}/s]")
    heading(grid[0, 0], title)
    grid[0, 0].legend(frameon=False, fontsize=8)
    for axes in grid[1]:
        axes.set_xlabel("time [s]")
    return figure


def torque_figure(runs, until: float = 4.0):
    """Figure 10: motor torques."""
    figure = new_figure(9, 4)
    axes = figure.add_subplot()
    for (name, run), style in zip(runs.items(), RUNS.values(), strict=True):
        part = run.t <= until
        for joint in range(4):
            label = f"$T_{joint + 1}$" if name == "dual-screw" else None
            axes.plot(
                run.t[part],
                run.data["torque"].values[part, joint],
                style,
                color=PALETTE[joint],
                lw=1.3,
                label=label,
            )
    tidy(axes)
    heading(axes, "Motor torques")
    axes.set(xlabel="time [s]", ylabel="torque [N m]")
    axes.legend(frameon=False, ncols=4, fontsize=8)
    return figure


def facts(runs) -> dict:
    """What the paper says in words, in numbers."""
    finite, first = runs["nonlinear"], runs["dual-screw"]
    before = finite.t <= 3.0
    across = {
        name: max(
            float(np.abs(family(run, kind, link)[before]).max())
            for kind in ("torsion", "xz")
            for link in LINKS
        )
        for name, run in runs.items()
    }
    gap = {
        kind: max(
            float(np.abs(family(finite, kind, link) - family(first, kind, link)).max())
            for link in LINKS
        )
        for kind in ("xy", "torsion", "xz")
    }
    return {
        "joint_gap_deg": np.degrees(np.abs(finite.q - first.q)).max(axis=0),
        "elastic_gap": gap,
        "torsion_and_xz_before_3_s": across,
        "steps": {name: int(run.data.attrs["steps"]) for name, run in runs.items()},
    }


def main() -> None:
    """Runs, figures, numbers."""
    runs = {name: run(name) for name in RUNS}
    keep("cibicik-arm-6-rigid", facts(runs), rigid_figure(runs))
    for number, (kind, title, until, unit) in ELASTIC.items():
        largest = {
            link: np.abs(family(runs["nonlinear"], kind, link)).max(axis=0)
            for link in LINKS
        }
        keep(
            f"cibicik-arm-{number}-{kind}",
            {"largest": largest},
            elastic_figure(runs, kind, title, until, unit),
        )
    torque = runs["nonlinear"].data["torque"].values
    keep(
        "cibicik-arm-10-torque",
        {"largest_nm": np.abs(torque).max(axis=0)},
        torque_figure(runs),
    )


if __name__ == "__main__":
    main()
