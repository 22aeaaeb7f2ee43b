"""One controller of a comparison on the full robot: its loop is checked, its motion ends with all others, it runs."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..control.margins import OpenLoop, margins_of, open_loop
from ..runs.controller_law import controller_law, problems_at
from ..runs.simulation import completed_run
from ..runs.start import start_scenario
from .controller_numbers import Setting, run_numbers
from .controller_rules import check_stable, finishing_at

if TYPE_CHECKING:
    from ..runs.run import Run
    from ..solve.law import AbstractLaw

SAMPLES = 40  # output samples of a period of the first mode, at least
LONGEST = 1e-3  # [s] between two of them


class ControllerRun(NamedTuple):
    """A run with one controller, and what was measured on it."""

    type: str  # of the controller
    law: "AbstractLaw"
    loop: "OpenLoop | None"  # None for continuous laws
    run: "Run"
    numbers: dict[str, Any]  # by their names in the table of a comparison


def controller_run(
    setting: Setting, name: str, watch: Callable[[float], None] = lambda share: None
) -> ControllerRun:
    """The run with one controller of a comparison.

    Args:
        setting: what all runs share.
        name: of the controller.
        watch: called with the share of the run that is done.

    Raises:
        DescriptionError: there is no such law for this robot, or its loop is unstable.
        SimulationError: the run did not reach its end.
    """
    model, scenario = setting.model, setting.scenario
    controller = setting.study.controllers[name]
    field = f"controllers.{name}"
    with problems_at(field, controller):
        controller = finishing_at(model, controller, setting.stop)
    law = controller_law(model, controller, field)
    loop = None if law.sample is None else open_loop(model, setting.q, law)
    margins = None if loop is None else margins_of(loop)
    with problems_at(field, controller):
        check_stable(controller, margins)
    t_end = setting.stop + setting.study.periods * setting.period
    start = start_scenario(
        scenario,
        model,
        law=law,
        t_end=t_end,
        output_dt=min(LONGEST, setting.period / SAMPLES),
    )
    begin = start.t_start
    run = completed_run(
        start,
        progress=False,
        watch=lambda t: watch((t - begin) / (t_end - begin)),
    )
    numbers = run_numbers(setting, controller, run)
    if margins is not None:
        numbers |= {
            "stable": margins.stable,
            "sensitivity": margins.sensitivity,
            "phase_margin_deg": margins.phase_deg,
        }
    return ControllerRun(controller.type, law, loop, run, numbers)
