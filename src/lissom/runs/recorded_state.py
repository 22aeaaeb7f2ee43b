"""The state of a result at a time, for analyses."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..describe.scenario import Scenario
from ..files.errors import refused
from ..solve.state import State
from .result_files import loaded_run
from .sources import is_result, scenario_of


def recorded_state(
    source: Any, time: float, scenario: Scenario, given: Mapping[str, Any]
) -> State:
    """The state of a result at the output time nearest to a time.

    Args:
        source: the result file.
        time: [s].
        scenario: that the analysis is made with.
        given: what else is given of the state, by name: nothing may be, the result has it all.

    Raises:
        DescriptionError: no result, a time outside of it, or other coordinates than its own.
    """
    if not isinstance(source, str) or not is_result(source):
        message = "only the result of a run has states by their times"
        raise refused("time", time, message)
    for name, value in given.items():
        if value:
            message = "the result has its own state at this time: leave this out"
            raise refused(name, value, message)
    run = loaded_run(source)
    first, last = float(run.t[0]), float(run.t[-1])
    # Times of an animation have fewer digits than those of a result.
    slack = 0.5 * (last - first) / len(run.t)
    if not first - slack <= time <= last + slack:
        raise refused("time", time, f"the result goes from {first:g} to {last:g} s")
    row = int(np.abs(np.asarray(run.t) - time).argmin())
    _check_coordinates(scenario, scenario_of(source))
    return run.state(row)


def _check_coordinates(scenario: Scenario, recorded: Scenario) -> None:
    """The numbers of a state mean what they meant in the run only in its own coordinates."""
    for key in ("formulation", "basis", "modes", "reference"):
        value, own = getattr(scenario, key), getattr(recorded, key)
        if str(value) != str(own):
            raise refused(key, value, f"the result was computed with {own}")
