"""Cost against error of the double pendulum with four elements per link: lissom beside Exudyn.

The numbers of `lissom bench --peers` (extra `peers`), drawn. Give the JSON file of an earlier measurement to draw that.
"""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "physics"))
from figures import chart, heading, keep  # noqa: E402

from lissom.benchmarks.machine import machine_facts  # noqa: E402
from lissom.benchmarks.peers import measure_peers  # noqa: E402
from lissom.show.axes import PALETTE  # noqa: E402

SHOWN = "double pendulum, spatial"


def measured(repeat: int = 3) -> dict[str, Any]:
    """A fresh measurement."""
    report: dict[str, Any] = {"machine": machine_facts()}
    measure_peers(report, repeat, lambda text: print(text, file=sys.stderr))
    return report


def drawn(report: dict[str, Any]):
    """Error in time against processor seconds per simulated second."""
    series = {
        "lissom, 48 elastic coordinates": [
            row for row in report["lissom"] if row["case"] == SHOWN
        ]
    }
    for row in report["peers"]:
        if row["case"] == SHOWN:
            series.setdefault(row["model"], []).append(row)
    figure, axes = chart()
    for colour, mark, (name, rows) in zip(PALETTE, "osD", series.items(), strict=False):
        axes.loglog(
            [r["cpu_s_per_s"] for r in rows],
            [r["error_m"] for r in rows],
            f"{mark}-",
            color=colour,
            label=name,
        )
    axes.set(
        xlabel="processor seconds per simulated second, one core",
        ylabel="error in time of the tip [m]",
    )
    heading(axes, f"{SHOWN.capitalize()}, four elements per link")
    axes.legend(frameon=False)
    return figure


def main() -> None:
    """Measures or reads, then draws."""
    report = (
        json.loads(Path(sys.argv[1]).read_text()) if len(sys.argv) > 1 else measured()
    )
    keep("beside-exudyn", report, drawn(report))


if __name__ == "__main__":
    main()
