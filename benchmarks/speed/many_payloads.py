"""A thousand payloads of the double pendulum: in lanes, several in each instruction, beside as many single runs."""

from typing import Any

import numpy as np

from jaxnative.lanes import at_most_lanes, lane_count
from jaxnative.machine_code import stopwatch
from lissom.bench.cases import Log
from lissom.bench.machine import one_core, timed
from lissom.solve.arguments import solver_of
from lissom.solve.family import Family
from lissom.solve.inputs import inputs_of_torque
from lissom.solve.model import Model
from lissom.solve.simulate import integrate, output_times

COUNT = 1000
HEAVIEST = 2.0  # [kg]
SPAN = 1.0  # [s]
OUTPUT_DT = 0.01  # [s]
START = (0.3, 0.2)  # [rad] let go from there, at rest
WIDTHS = (4, 8)  # robots in each instruction
SMALL_STEPS = {"rtol": 1e-9, "atol": 1e-11}  # what errors are measured against


def measure_payloads(
    repeat: int, log: Log = lambda text: None, count: int = COUNT
) -> dict[str, Any]:
    """Processor time in machine code of all runs, alone and in lanes, and the largest error in time of a coordinate."""
    log(f"payloads: building {count} robots")
    model = Model("double-pendulum", "erls-fem")
    masses = np.linspace(0.1, HEAVIEST, count)
    building, family = timed(lambda: Family(model, {"payload.mass": masses}))
    state = model.at(START)
    times = output_times(SPAN, OUTPUT_DT)
    robots = [model.with_formulation(family.member(k)) for k in range(count)]

    def in_lanes() -> Any:
        runs = family.rollout(state, t_end=SPAN, output_dt=OUTPUT_DT)
        return np.asarray(runs.x), np.asarray(runs.counts.steps)

    def one_by_one(**tolerances: float) -> Any:
        inputs, solver = inputs_of_torque(model, None), solver_of(tolerances)
        runs = [integrate(robot, state, inputs, times, solver) for robot in robots]
        paths = np.stack([np.asarray(run.x) for run in runs])
        return paths, np.array([int(run.counts.steps) for run in runs])

    def row_of(width: int, times: dict[str, float], found: Any) -> dict[str, Any]:
        paths, steps = found
        error = float(np.abs(paths - reference).max())
        return {"lanes": width, **times, "steps": float(steps.mean()), "error": error}

    with one_core():
        log("payloads: in small steps")
        reference, _ = one_by_one(**SMALL_STEPS)
        log("payloads: one by one")
        alone, found = _measured(one_by_one, repeat)
        rows = [row_of(1, alone, found)]
        for width in WIDTHS:
            if width > lane_count():
                continue
            log(f"payloads: {width} in each instruction")
            with at_most_lanes(width):
                together, found = _measured(in_lanes, repeat)
            ratio = alone["native_s"] / together["native_s"]
            rows.append({**row_of(width, together, found), "ratio": ratio})
    return {"count": count, "build_s": building.best, "rows": rows}


def _measured(job: Any, repeat: int) -> tuple[dict[str, float], Any]:
    # The first time compiles.
    compiling, _ = timed(job)
    native, walls, result = [], [], None
    for _ in range(repeat):
        with stopwatch() as watch:
            timing, result = timed(job)
        native.append(watch.seconds)
        walls.append(timing.best)
    assert result is not None
    times = {"native_s": min(native), "wall_s": min(walls), "first_s": compiling.best}
    return times, result
