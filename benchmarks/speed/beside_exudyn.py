"""Cost against error of three robots, as many modes in both programs: lissom beside Exudyn.

The numbers of `python -m benchmarks peers` (extra `peers`), drawn.
Give the JSON file of an earlier measurement to draw that.
"""

import sys
from typing import Any

from lissom.bench.machine import machine_facts
from lissom.show.axes import INK, PALETTE, SOFT, new_figure

from ..peers.comparison import measure_peers
from ..physics.figures import earlier_numbers, heading, keep, tidy


def measure(repeat: int = 3) -> dict[str, Any]:
    """Numbers of `python -m benchmarks peers`, measured now."""
    report: dict[str, Any] = {"machine": machine_facts()}
    measure_peers(report, repeat, lambda text: print(text, file=sys.stderr))
    return report


def draw(report: dict[str, Any]):
    """Error in time against processor seconds per simulated second, one robot beside the other."""
    cases = [row["case"] for row in report["asked"]]
    figure = new_figure(3.9 * len(cases), 3.9)
    shared = None
    for k, row in enumerate(report["asked"]):
        axes = figure.add_subplot(1, len(cases), k + 1, sharey=shared, sharex=shared)
        shared = shared or axes
        tidy(axes)
        _draw_case(axes, report, row)
        if k == 0:
            axes.set_ylabel("error in time of the tip [m]")
            axes.legend(frameon=False, loc="upper right")
    figure.supxlabel("processor seconds per simulated second, one core", fontsize=10)
    return figure


def _draw_case(axes: Any, report: dict[str, Any], asked: dict[str, Any]) -> None:
    for key, name, colour, mark in (
        ("lissom", "lissom", PALETTE[0], "o"),
        ("peers", "Exudyn", PALETTE[1], "s"),
    ):
        rows = [row for row in report[key] if row["case"] == asked["case"]]
        costs = [row["cpu_s_per_s"] for row in rows]
        errors = [row["error_m"] for row in rows]
        axes.loglog(costs, errors, f"{mark}-", color=colour, label=name)
    ratio = asked["cpu_ratio"]
    axes.axhline(asked["asked_m"], color=SOFT, lw=0.8, ls="--")
    label = f"{ratio:.0f} times faster at {asked['asked_m']:g} m" if ratio else ""
    corner = {"transform": axes.transAxes, "ha": "right", "va": "bottom"}
    axes.text(0.98, 0.03, label, fontsize=8, color=INK, **corner)
    heading(axes, asked["case"])


def main() -> None:
    """Measures or reads, then draws."""
    report = earlier_numbers() or measure()
    # The cache folder of this machine is no measurement.
    report.pop("compiled_code", None)
    keep("beside-exudyn", report, draw(report))


if __name__ == "__main__":
    main()
