"""Error against work: the double pendulum under each step method at several tolerances.

Undamped steel, E = 2e11 Pa: a fall that takes a second, and axial waves of some kHz. The reference is Radau at rtol
1e-10; an explicit method of order eight, which has to resolve every wave, confirms it. Points carry their rtol.
"""

from functools import partial

from lissom import Robot, Scenario
from lissom.bench.cases import Case, distance
from lissom.bench.machine import one_core, timed
from lissom.show.axes import PALETTE, SOFT

from .figures import chart, earlier_numbers, heading, keep

TOLERANCES = {
    "radau": (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8),
    "generalised-alpha": (1e-3, 1e-4, 1e-5, 1e-6),
    "dopri8": (1e-3, 1e-6, 1e-9),
}
T_END = 0.5  # [s]
# Runs of half a minute are timed once.
REPEAT = {"radau": 3, "generalised-alpha": 3, "dopri8": 1}


def measure() -> list[dict]:
    """Error and cost of each method at each of its tolerances."""
    robot = Robot.load("double-pendulum").replace({"damping": None})
    scenario = Scenario(
        robot=robot, formulation="erls-fem", t_end=T_END, output_dt=0.001
    )
    case = Case(scenario)
    case.compile()
    reference = case.run(rtol=1e-10, atol=1e-12).position(case.tip)
    rows = []
    for method, tolerances in TOLERANCES.items():
        case.compile(method=method)
        for rtol in tolerances:
            options = {"method": method, "rtol": rtol, "atol": rtol / 100}
            with one_core():
                time, run = timed(partial(case.run, **options), REPEAT[method])
            facts = run.data.attrs
            row = {
                "method": method,
                "rtol": rtol,
                "tip_error_m": distance(run.position(case.tip), reference),
                "steps": int(facts["steps"]),
                "rhs_evaluations": int(facts["rhs_evaluations"]),
                "wall_s": time.best,
                "cpu_s": min(time.cpu),
                "machine_busy": time.busy,
            }
            rows.append(row)
    return rows


def main() -> None:
    """Measures, or reads the file of an earlier measurement, and draws."""
    earlier = earlier_numbers()
    rows = measure() if earlier is None else earlier["rows"]
    keep("work-precision", {"simulated_s": T_END, "rows": rows}, draw(rows))


def draw(rows: list[dict]):
    """Error against processor time."""
    figure, axes = chart()
    for colour, mark, method in zip(PALETTE, "osD", TOLERANCES, strict=False):
        points = [row for row in rows if row["method"] == method]
        times = [row["cpu_s"] for row in points]
        errors = [row["tip_error_m"] for row in points]
        axes.loglog(times, errors, f"{mark}-", color=colour, label=method)
        for row in points:
            axes.annotate(
                f"{row['rtol']:.0e}",
                xy=(row["cpu_s"], row["tip_error_m"]),
                xytext=(6, 5),
                textcoords="offset points",
                fontsize=8,
                color=SOFT,
            )
    axes.set_xlabel("processor time for 0.5 s [s]")
    axes.set_ylabel("largest error of the tip [m]")
    heading(axes, "Double pendulum, undamped: error against work, by rtol")
    axes.legend(frameon=False)
    return figure


if __name__ == "__main__":
    main()
