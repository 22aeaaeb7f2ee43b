"""One residual of some robots under both back ends: inside compiled code, and called from Python."""

from typing import Any

from lissom.bench.cases import BACKENDS, Case, Log
from lissom.bench.machine import one_core
from lissom.bench.residual_times import operations_inside, time_called, time_inside
from lissom.describe.scenario import Scenario

RESIDUALS: dict[str, tuple[str, dict[str, Any]]] = {
    "anthropomorphic": ("anthropomorphic", {}),
    "cibicik-arm, 12 modes per link": (
        "cibicik-arm",
        {"formulation": "nonlinear", "basis": "craig-bampton", "modes": 12},
    ),
    "double-pendulum": ("double-pendulum", {}),
}


def measure_residuals(log: Log = lambda text: None) -> list[dict[str, Any]]:
    """Times of one residual of some robots, as plain data."""
    rows = []
    for name, (scenario, changes) in RESIDUALS.items():
        log(f"residual: {name}")
        case = Case(Scenario.load(scenario).replace(changes))
        robot, state = case.robot, case.state
        with one_core():
            inside = time_inside(robot, state, BACKENDS)
            called = time_called(robot, state, BACKENDS)
        row = {"case": name, "coordinates": case.model.formulation.size}
        row["operations"] = operations_inside(robot, state)
        for backend in BACKENDS:
            row[f"{backend}_s"] = inside[backend]
            row[f"{backend}_called_s"] = called[backend]
        rows.append(row)
    return rows
