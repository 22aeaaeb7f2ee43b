"""Cost against error of the double pendulum with four elements per link: lissom beside Exudyn.

The numbers of `lissom bench --peers` (extra `peers`), drawn. Give the JSON file of an earlier measurement to draw that.
"""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "physics"))
from figures import chart, earlier_numbers, heading, keep  # noqa: E402

from lissom.benchmarks.machine import machine_facts  # noqa: E402
from lissom.benchmarks.peers import measure_peers  # noqa: E402
from lissom.show.axes import PALETTE  # noqa: E402

CASE = "double pendulum, spatial"  # the one that is drawn


def measure(repeat: int = 3) -> dict[str, Any]:
    """A fresh measurement."""
    report: dict[str, Any] = {"machine": machine_facts()}
    measure_peers(report, repeat, lambda text: print(text, file=sys.stderr))
    return report


def rows_by_model(report: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Rows of the drawn case: ours first, then those of each model of the other program."""
    ours = [row for row in report["lissom"] if row["case"] == CASE]
    series = {"lissom, 48 elastic coordinates": ours}
    for row in report["peers"]:
        if row["case"] == CASE:
            series.setdefault(row["model"], []).append(row)
    return series


def draw(report: dict[str, Any]):
    """Error in time against processor seconds per simulated second."""
    figure, axes = chart()
    series = rows_by_model(report)
    for colour, mark, name in zip(PALETTE, "osD", series, strict=False):
        costs = [row["cpu_s_per_s"] for row in series[name]]
        errors = [row["error_m"] for row in series[name]]
        axes.loglog(costs, errors, f"{mark}-", color=colour, label=name)
    axes.set_xlabel("processor seconds per simulated second, one core")
    axes.set_ylabel("error in time of the tip [m]")
    heading(axes, f"{CASE.capitalize()}, four elements per link")
    axes.legend(frameon=False)
    return figure


def main() -> None:
    """Measures or reads, then draws."""
    report = earlier_numbers() or measure()
    keep("beside-exudyn", report, draw(report))


if __name__ == "__main__":
    main()
