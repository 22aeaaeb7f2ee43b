"""Controllers compared: one robot, one motion, one table and one figure."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from ..describe import DescriptionError
from ..describe.control_study import ControlStudy
from ..files.description_files import find_study
from ..runs.failures import FailedRun
from ..runs.law_files import problems_in_files
from ..runs.output_files import PICTURE, check_outputs
from ..studies.controller_numbers import Setting, setting_of
from ..studies.controller_rules import check_controllers
from .comparison_files import draw_comparison, write_row
from .comparison_table import NOT_RUN, CompareRequest, CompareResult, ControllerRow
from .modelled_result import model_of

if TYPE_CHECKING:
    from ..runs.run import Run

NUMBERS = (".json", ".csv")
Watch = Callable[[float], None]  # called with the share of a run that is done


@contextmanager
def _nobody(k: int, count: int, name: str) -> Iterator[Watch]:
    yield lambda share: None


class ComparisonWatch(NamedTuple):
    """Who is told how a comparison goes on."""

    # Around every controller: its number from 0, of how many, its name; gives who is told of its run.
    law: Callable[[int, int, str], AbstractContextManager[Watch]] = _nobody
    # After every controller, with all that there is.
    table: Callable[[CompareResult], None] = lambda table: None


NOBODY = ComparisonWatch()


def compare(request: CompareRequest, watch: ComparisonWatch = NOBODY) -> CompareResult:
    """Runs every controller of a study on the full robot; files are written as the table grows.

    Raises:
        DescriptionError: what is wrong with the study.
        FailedRun: it was interrupted; what was computed is there, and saved.
    """
    from jaxnative.compiled import using

    check_outputs(
        {"picture": (request.picture, PICTURE), "numbers": (request.numbers, NUMBERS)}
    )
    study = request.study
    file = None
    if not isinstance(study, ControlStudy):
        file = str(find_study(study))
        study = ControlStudy.load(study)
    if request.changes:
        study = study.replace(request.changes)
    with using(study.changed_scenario.solver.backend):
        with problems_in_files(file, None):
            setting = setting_of(study)
            check_controllers(setting)
        return _compared(request, setting, file, watch)


def compare_controllers(study: Any) -> CompareResult:
    """The table of a study of controllers: one row for each of them on the same robot and the same motion.

    Args:
        study: a `ControlStudy`, its data, its file, or a name of the library.

    Returns:
        The table: tracking error, vibration after the stop, torque and phase margin of every controller.

    Raises:
        DescriptionError: what is wrong with the study.

    Example:
        >>> import lissom as ls
        >>> study = {
        ...     "scenario": {"robot": "simple-pendulum", "initial": {"q": [-1.5]}},
        ...     "motion": {"t": [0, 0.1], "value": [[-1.5], [-1.4]], "interpolation": "quintic"},
        ...     "sample": 1e-3,
        ...     "controllers": {"slow": {"type": "pid", "gains": {"bandwidth": 5.0}}},
        ... }
        >>> "slow" in str(ls.compare_controllers(study))
        True
    """
    if isinstance(study, Mapping):
        study = ControlStudy.from_dict(study)
    return compare(CompareRequest(study=study))


def _compared(
    request: CompareRequest, setting: Setting, file: str | None, watch: ComparisonWatch
) -> CompareResult:
    from ..runs.run import Interrupted

    table = _empty_table(setting)
    runs: dict[str, Run] = {}
    count = len(table.rows)
    for k, name in enumerate(setting.study.controllers):
        try:
            with watch.law(k, count, name) as told:
                row, run = _row(setting, name, file, told)
        except (Interrupted, KeyboardInterrupt):
            table = draw_comparison(request, table, runs, setting)
            text = f"interrupted: {k} of {count} controllers are done"
            raise FailedRun(text, table, interrupted=True) from None
        table = table.with_row(k, row)
        table = write_row(request, table, k, run)
        watch.table(table)
        if run is not None:
            runs[name] = run
    return draw_comparison(request, table, runs, setting)


def _empty_table(setting: Setting) -> CompareResult:
    """The table before the first run."""
    from ..control.quality import PERIODS

    rows = []
    for name, controller in setting.study.controllers.items():
        row = ControllerRow(name=name, type=controller.type, failed=NOT_RUN)
        rows.append(row)
    return CompareResult(
        **model_of(setting.scenario),
        first_mode_hz=1 / setting.period,
        stop=setting.stop,
        watched=PERIODS * setting.period,
        rows=tuple(rows),
        files={},
    )


def _row(
    setting: Setting, name: str, file: str | None, told: Watch
) -> "tuple[ControllerRow, Run | None]":
    """One controller on the full robot; a failure is a row with its reason."""
    from ..runs.run import Interrupted, SimulationError

    kind = setting.study.controllers[name].type
    try:
        with problems_in_files(file, None):
            return _measured(setting, name, told)
    except DescriptionError as failure:
        return ControllerRow(name=name, type=kind, failed=str(failure)), None
    except Interrupted:
        raise
    except SimulationError as failure:
        return ControllerRow(name=name, type=kind, failed=str(failure)), failure.run


def _measured(
    setting: Setting, name: str, told: Watch
) -> "tuple[ControllerRow, Run | None]":
    from ..studies.controller_run import controller_run
    from .law_cost import microseconds_per_sample

    found = controller_run(setting, name, told)
    numbers = dict(found.numbers)
    numbers["notes"] = (*found.law.remarks(), *found.law.incidents())
    if found.loop is not None:
        resting = found.loop.robot.operating.outputs
        t_end = float(found.run.t[-1])
        cost = microseconds_per_sample(setting.model, found.law, t_end, resting)
        numbers["microseconds"] = cost
    return ControllerRow(name=name, type=found.type, **numbers), found.run
