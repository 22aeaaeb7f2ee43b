"""A thousand payloads of the double pendulum: in lanes, several in each instruction, beside as many single runs."""

from functools import partial
from typing import Any

import numpy as np

from ..native.lanes import at_most_lanes, lane_count
from ..native.machine_code import stopwatch
from ..solve.arguments import solver_of
from ..solve.family import Family
from ..solve.inputs import inputs_of_torque
from ..solve.model import Model
from ..solve.simulate import output_times, simulate
from .cases import Tell
from .machine import one_core, timed

COUNT = 1000
HEAVIEST = 2.0  # [kg]
SPAN = 1.0  # [s]
OUTPUT_DT = 0.01  # [s]
START = (0.3, 0.2)  # [rad] let go from there, at rest
WIDTHS = (4, 8)  # robots in each instruction


def measure_payloads(
    repeat: int, tell: Tell = lambda text: None, count: int = COUNT
) -> dict[str, Any]:
    """Processor time in machine code of all runs, alone and in lanes, and the largest difference of a coordinate."""
    tell(f"payloads: building {count} robots")
    model = Model("double-pendulum", "erls-fem")
    masses = np.linspace(0.1, HEAVIEST, count)
    building, family = timed(lambda: Family(model, {"payload.mass": masses}))
    state = model.at(START)
    times = output_times(SPAN, OUTPUT_DT)
    robots = [model.with_formulation(family.member(k)) for k in range(count)]

    def in_lanes(family: Family) -> Any:
        runs = family.rollout(state, t_end=SPAN, output_dt=OUTPUT_DT)
        return np.asarray(runs.x)

    def one_by_one() -> Any:
        inputs, solver = inputs_of_torque(model, None), solver_of(None)
        runs = [simulate(robot, state, inputs, times, solver) for robot in robots]
        return np.stack([np.asarray(run.x) for run in runs])

    with one_core():
        tell("payloads: one by one")
        alone, paths = _measured(one_by_one, repeat)
        rows = [{"lanes": 1, **alone}]
        for width in WIDTHS:
            if width > lane_count():
                continue
            tell(f"payloads: {width} in each instruction")
            in_step = Family(model, {"payload.mass": alike(masses, width)})
            with at_most_lanes(width):
                together, found = _measured(partial(in_lanes, family), repeat)
                best, _ = _measured(partial(in_lanes, in_step), repeat)
            row = {
                "lanes": width,
                **together,
                "ratio": alone["native_s"] / together["native_s"],
                "in_step_s": best["native_s"],
                "in_step_ratio": alone["native_s"] / best["native_s"],
                "difference": float(np.abs(found - paths).max()),
            }
            rows.append(row)
    return {"count": count, "build_s": building.best, "rows": rows}


def alike(masses: np.ndarray, width: int) -> np.ndarray:
    """As many payloads, those in one vector all the same: its lanes never wait for each other."""
    return np.repeat(masses[::width], width)[: len(masses)]


def _measured(job: Any, repeat: int) -> tuple[dict[str, Any], np.ndarray]:
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
