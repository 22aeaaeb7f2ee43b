"""The 6 s manoeuvre of [Cibicik2021] against the clock, beside the times that the paper prints."""

from collections.abc import Iterator
from typing import Any

from lissom.bench.cases import Log, measure_scenario
from lissom.describe.scenario import Scenario

SCENARIO = "cibicik-arm"
OURS = ("dual-screw", "nonlinear")
# [Cibicik2021] section VI-B: CPU time of the same manoeuvre in Matlab/Simulink; gains and solver are not printed.
PRINTED_S = {
    "nonlinear": 3901.0,
    "linearised": 314.0,
    "linearised, generated functions": 14.0,
}


def manoeuvre_rows(
    repeat: int, log: Log = lambda text: None
) -> Iterator[dict[str, Any]]:
    """Printed times, then ours at one tolerance for both formulations, each with its error against a tight run."""
    for name, seconds in PRINTED_S.items():
        yield {"case": name, "printed_s": seconds}
    scenario = Scenario.load(SCENARIO)
    for formulation in OURS:
        changed = scenario.replace({"formulation": formulation})
        yield measure_scenario(formulation, changed, repeat, log)
