"""Cost of a run against the number of modes, and against the number of finite-element dofs behind them.

The steel L of [Vidoni2015], two seconds from horizontal, default tolerance, processor time of the best of some runs.
Expected: time grows with the modes, and does not depend on the mesh that the modes come from; only the reduction, done
once, does.
"""

from typing import Any

from lissom import Scenario
from lissom.bench.cases import Case
from lissom.bench.machine import one_core, timed
from lissom.bodies.link_body import body_of
from lissom.bodies.reduce.reduced_body import reduced_body
from lissom.dynamics.basis import reduction_of
from lissom.show.axes import PALETTE, new_figure

from ..physics.figures import earlier_numbers, heading, keep, tidy

MODES = (0, 4, 8, 12, 16, 20, 24)
ELEMENTS = (2, 8, 32)  # per rod
REPEATS = 7


def measure(**changes: Any) -> dict[str, Any]:
    """Run time and steps of one model."""
    scenario = Scenario.load("l-shape-swing").replace({"output_dt": 0.01} | changes)
    body = body_of(scenario.robot, 0)
    reduction, _ = timed(
        lambda: reduced_body(body, reduction_of(scenario.modes)), REPEATS
    )
    case = Case(scenario)
    case.compile()
    with one_core():
        run = case.run()
        warm, _ = timed(case.run, REPEATS)
    steps = run.data.attrs["steps"] + run.data.attrs["rejected"]
    work = min(warm.cpu)
    return {
        "modes": len(case.model.coordinate_names),
        "fe_dofs": body.coordinates,
        "reduction_cpu_s": min(reduction.cpu),
        "run_cpu_s": work,
        "steps": int(steps),
        "step_us": 1e6 * work / steps,
        "machine_busy": warm.busy,
    }


def draw(by_modes: list[dict[str, Any]], by_dofs: list[dict[str, Any]]):
    """Time of a step against modes, time of a run against the mesh."""
    figure = new_figure(9.0, 4.2)
    left, right = figure.subplots(1, 2)
    for axes in (left, right):
        tidy(axes)
    modes = [row["modes"] for row in by_modes]
    step_times = [row["step_us"] for row in by_modes]
    left.plot(modes, step_times, "o-", color=PALETTE[0])
    left.set_xlabel("elastic modes")
    left.set_ylabel("processor time of one step [$\\mu$s]")
    left.set_ylim(0, None)
    heading(left, "Cost against modes")
    dofs = [row["fe_dofs"] for row in by_dofs]
    right.loglog(
        dofs,
        [row["run_cpu_s"] for row in by_dofs],
        "o-",
        color=PALETTE[0],
        label="run of 2 s, 12 modes",
    )
    right.loglog(
        dofs,
        [row["reduction_cpu_s"] for row in by_dofs],
        "s--",
        color=PALETTE[1],
        label="reduction, once",
    )
    right.set_xticks(dofs, [str(n) for n in dofs])
    right.minorticks_off()
    right.set_xlabel("finite-element dofs")
    right.set_ylabel("processor time [s]")
    right.set_ylim(5e-4, 3)
    right.legend(frameon=False)
    heading(right, "Cost against the mesh")
    return figure


def main() -> None:
    """Measurements (or the JSON file of earlier ones), figure, numbers."""
    numbers = earlier_numbers()
    if numbers is None:
        by_dofs = []
        for elements in ELEMENTS:
            mesh = {"links.beam.beam.elements": elements}
            by_dofs.append(measure(modes=12, **mesh))
        by_modes = [measure(modes=count) for count in MODES]
        numbers = {"modes": by_modes, "mesh": by_dofs}
    keep("cost-of-modes", numbers, draw(numbers["modes"], numbers["mesh"]))


if __name__ == "__main__":
    main()
