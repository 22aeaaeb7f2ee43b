"""Controllers compared: one robot, one motion, one table and one figure."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..describe import DescriptionError
from ..describe.control_study import ControlStudy
from .comparison_files import write_comparison
from .comparison_numbers import Setting, run_numbers, setting_of, watched_node
from .comparison_rules import check_stable, finishing_at
from .comparison_table import CompareRequest, CompareResult, ControllerRow
from .output_files import PICTURE, check_outputs

if TYPE_CHECKING:
    from ..show.run import Run

NUMBERS = (".json", ".csv")


def compare(
    request: CompareRequest, watch: Callable[[int, str], None] = lambda k, name: None
) -> CompareResult:
    """Runs every controller of a study on the full robot.

    Args:
        request: the study and its files.
        watch: called with the number and the name of the controller that comes next.
    """
    from ..native.compiled import using

    check_outputs(
        {"picture": (request.picture, PICTURE), "numbers": (request.numbers, NUMBERS)}
    )
    study = request.study
    if not isinstance(study, ControlStudy):
        study = ControlStudy.load(study)
    with using(study.changed_scenario.solver.backend):
        return _compared(request, study, watch)


def _compared(
    request: CompareRequest, study: ControlStudy, watch: Callable[[int, str], None]
) -> CompareResult:
    from ..control.quality import PERIODS

    setting = setting_of(study)
    runs: dict[str, Run] = {}
    rows: list[ControllerRow] = []
    for k, name in enumerate(study.controllers):
        watch(k, name)
        row, run = _row(setting, name)
        if run is not None:
            runs[name] = run
        rows.append(_with_share(row, rows))
    node = watched_node(setting.model, study)
    files = write_comparison(request, runs, rows, node, setting.stop)
    return CompareResult(
        robot=setting.scenario.robot.name,
        first_mode_hz=1 / setting.period,
        stop=setting.stop,
        watched=PERIODS * setting.period,
        rows=tuple(rows),
        files=files,
    )


def _row(setting: Setting, name: str) -> "tuple[ControllerRow, Run | None]":
    """One controller on the full robot; a failure is a row with its reason."""
    from ..control.described import law_of
    from ..control.design_model import DesignError
    from ..control.margins import margins
    from ..scenarios.ready import initial_state
    from ..show.run import SimulationError, simulate
    from ..solve.channels import UnknownNameError
    from .law_cost import microseconds_per_sample

    model, scenario = setting.model, setting.scenario
    controller = setting.study.controllers[name]
    kind = controller.type
    try:
        controller = finishing_at(model, controller, setting.stop)
        law = law_of(model, controller)
        found = None if law.sample is None else margins(model, setting.q, law)
        check_stable(controller, found)
        run = simulate(
            model,
            initial_state(model, scenario),
            t_end=setting.stop + setting.study.periods * setting.period,
            output_dt=min(1e-3, setting.period / 40),
            torque=law,
            solver=scenario.solver,
            progress=False,
        )
    except (DesignError, UnknownNameError, DescriptionError) as failure:
        return ControllerRow(name=name, type=kind, failed=str(failure)), None
    except SimulationError as failure:
        return ControllerRow(name=name, type=kind, failed=str(failure)), failure.run
    numbers = run_numbers(setting, controller, run)
    numbers["notes"] = (*law.remarks(), *law.incidents())
    if found is not None:
        numbers |= {
            "stable": found.stable,
            "sensitivity": found.sensitivity,
            "phase_margin_deg": found.phase_deg,
        }
    cost = microseconds_per_sample(model, law)
    return ControllerRow(name=name, type=kind, microseconds=cost, **numbers), run


def _with_share(row: ControllerRow, before: list[ControllerRow]) -> ControllerRow:
    """The row with its residual against that of the first controller."""
    first = before[0] if before else row
    if row.residual is None or not first.residual:
        return row
    return row.model_copy(update={"residual_share": row.residual / first.residual})
