"""Error against work: the double pendulum under each step method at several tolerances.

Undamped steel, E = 2e11 Pa: a fall that takes a second, and axial waves of some kHz. The reference is Radau at rtol
1e-10; an explicit method of order eight, which has to resolve every wave, confirms it. Points carry their rtol.
"""

import json
import sys
from pathlib import Path

from figures import chart, heading, keep

from lissom import Robot, Scenario
from lissom.benchmarks.cases import Case, distance
from lissom.benchmarks.machine import one_core, timed
from lissom.show.axes import PALETTE, SOFT

TOLERANCES = {
    "radau": (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8),
    "generalised-alpha": (1e-3, 1e-4, 1e-5, 1e-6),
    "dopri8": (1e-3, 1e-6, 1e-9),
}
T_END = 0.5  # [s]
REPEAT = {
    "radau": 3,
    "generalised-alpha": 3,
    "dopri8": 1,
}  # runs of half a minute are timed once


def measured() -> list[dict]:
    """Error and cost of each method at each of its tolerances."""
    robot = Robot.load("double-pendulum").replace({"damping": None})
    case = Case(Scenario(robot=robot, t_end=T_END, output_dt=0.001))
    case.compile()
    reference = case.run(rtol=1e-10, atol=1e-12).position(case.tip)
    rows = []
    for method, tolerances in TOLERANCES.items():
        case.compile(method=method)
        for rtol in tolerances:
            with one_core():
                time, run = timed(
                    lambda m=method, r=rtol: case.run(method=m, rtol=r, atol=r / 100),
                    REPEAT[method],
                )
            attrs, error = run.data.attrs, distance(run.position(case.tip), reference)
            counts = {
                "steps": int(attrs["steps"]),
                "rhs_evaluations": int(attrs["rhs_evaluations"]),
            }
            spent = {
                "wall_s": time.best,
                "cpu_s": min(time.cpu),
                "machine_busy": time.busy,
            }
            rows.append(
                {"method": method, "rtol": rtol, "tip_error_m": error} | counts | spent
            )
    return rows


def main() -> None:
    """Measures, or reads the file of an earlier measurement, and draws."""
    rows = (
        json.loads(Path(sys.argv[1]).read_text())["rows"]
        if len(sys.argv) > 1
        else measured()
    )
    keep("work-precision", {"simulated_s": T_END, "rows": rows}, drawn(rows))


def drawn(rows: list[dict]):
    """Error against processor time."""
    figure, axes = chart()
    for colour, mark, method in zip(PALETTE, "osD", TOLERANCES, strict=False):
        own = [row for row in rows if row["method"] == method]
        axes.loglog(
            [r["cpu_s"] for r in own],
            [r["tip_error_m"] for r in own],
            f"{mark}-",
            color=colour,
            label=method,
        )
        for r in own:
            place = {
                "xy": (r["cpu_s"], r["tip_error_m"]),
                "xytext": (6, 5),
                "textcoords": "offset points",
            }
            axes.annotate(f"{r['rtol']:.0e}", **place, fontsize=8, color=SOFT)
    axes.set(
        xlabel="processor time for 0.5 s [s]", ylabel="largest error of the tip [m]"
    )
    heading(axes, "Double pendulum, undamped: error against work, by rtol")
    axes.legend(frameon=False)
    return figure


if __name__ == "__main__":
    main()
