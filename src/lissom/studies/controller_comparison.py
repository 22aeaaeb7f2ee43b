"""Controllers compared: one robot, one motion, one table and one figure."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from jaxnative.compiled import using

from ..control.quality import PERIODS
from ..describe import DescriptionError
from ..describe.control_study import ControlStudy
from ..describe.modelled import modelled_scenario
from ..files.description_files import find_study
from ..parameters import (
    Changes,
    ComparisonPicture,
    ComparisonTable,
    ComparisonToRun,
    ResultFolder,
)
from ..runs.failures import FailedRun
from ..runs.law_files import problems_in_files
from ..runs.output_files import PICTURE, check_outputs
from ..runs.run import Interrupted, Run, SimulationError
from .comparison_table import NOT_RUN, ControllerComparison, ControllerRow
from .controller_numbers import Setting, setting_of
from .controller_rules import check_controllers
from .controller_run import controller_run
from .law_cost import microseconds_per_sample

NUMBERS = (".json", ".csv")
ShareWatch = Callable[[float], None]  # called with the share of a run that is done


@contextmanager
def _nobody(k: int, count: int, name: str) -> Iterator[ShareWatch]:
    yield lambda share: None


class ComparisonWatch(NamedTuple):
    """Callbacks that follow a comparison."""

    # Context around every controller: its number from 0, of how many, its name; gives the callback of its run.
    law: Callable[[int, int, str], AbstractContextManager[ShareWatch]] = _nobody
    # Called after every controller, with the table so far.
    table: Callable[[ControllerComparison], None] = lambda table: None


NOBODY = ComparisonWatch()


class ComparisonFiles(NamedTuple):
    """Output files of a comparison, written as the table grows."""

    numbers: Any = None
    picture: Any = None
    results: Any = None  # a folder

    def check(self) -> None:
        """Refuses files that could not be written."""
        wanted = {
            "picture": (self.picture, PICTURE),
            "numbers": (self.numbers, NUMBERS),
        }
        check_outputs(wanted)

    def write_row(self, table: ControllerComparison, k: int) -> ControllerComparison:
        """Writes the run of row k and the numbers so far; the table with its files."""
        if self.results is not None and table.rows[k].name in table.runs:
            table.save_run(k, self.results)
            table = table.with_file("results", self.results)
        if self.numbers is not None:
            table.save(self.numbers)
            table = table.with_file("numbers", self.numbers)
        return table

    def draw(self, table: ControllerComparison) -> ControllerComparison:
        """Draws the finished runs; the table with its figure."""
        if self.picture is None or not table.runs:
            return table
        table.plot(self.picture)
        return table.with_file("picture", self.picture)


def compare_controllers(
    study: ComparisonToRun,
    *,
    changes: Changes = None,
    numbers: ComparisonTable = None,
    picture: ComparisonPicture = None,
    results: ResultFolder = None,
    watch: ComparisonWatch = NOBODY,
) -> ControllerComparison:
    """The table of a study of controllers: one row for each of them on the same robot and the same motion.

    Args:
        study: a `ControlStudy`, its data, its file, or a name of the library.
        changes: of the study, by dotted path.
        numbers: file of the table, `.json` or `.csv`, written after every controller.
        picture: file of the figure.
        results: folder for the result file of every run.
        watch: called after every controller; an exception that it raises stops the comparison.

    Returns:
        The table: tracking error, vibration after the stop, torque and phase margin of every controller; `plot()`.

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
    files = ComparisonFiles(numbers, picture, results)
    files.check()
    file = None
    if isinstance(study, Mapping):
        study = ControlStudy.from_dict(study)
    elif isinstance(study, str | Path):
        file = str(find_study(str(study)))
        study = ControlStudy.load(str(study))
    if changes:
        study = study.replace(changes)
    with using(study.changed_scenario.solver.backend):
        with problems_in_files(file, None):
            setting = setting_of(study)
            check_controllers(setting)
        return _compared(setting, file, files, watch)


def _compared(
    setting: Setting, file: str | None, files: ComparisonFiles, watch: ComparisonWatch
) -> ControllerComparison:
    """The table; interrupted, what was computed is saved, and is in the `FailedRun`."""
    table = _empty_table(setting)
    count = len(table.rows)
    for k, name in enumerate(setting.study.controllers):
        try:
            with watch.law(k, count, name) as report:
                row, run = _row(setting, name, file, report)
        except (Interrupted, KeyboardInterrupt):
            text = f"interrupted: {k} of {count} controllers are done"
            raise FailedRun(text, files.draw(table), interrupted=True) from None
        table = files.write_row(table.with_row(k, row, run), k)
        watch.table(table)
    return files.draw(table)


def _empty_table(setting: Setting) -> ControllerComparison:
    """The table before the first run."""
    rows = [
        ControllerRow(name=name, type=controller.type, failed=NOT_RUN)
        for name, controller in setting.study.controllers.items()
    ]
    return ControllerComparison(
        robot=setting.scenario.robot.name,
        modelled=modelled_scenario(setting.scenario),
        first_mode_hz=1 / setting.period,
        stop=setting.stop,
        watched=PERIODS * setting.period,
        rows=tuple(rows),
        setting=setting,
    )


def _row(
    setting: Setting, name: str, file: str | None, watch: ShareWatch
) -> tuple[ControllerRow, Run | None]:
    """One controller on the full robot; a failure is a row with its reason."""
    kind = setting.study.controllers[name].type
    try:
        with problems_in_files(file, None):
            return _measured(setting, name, watch)
    except DescriptionError as failure:
        return ControllerRow(name=name, type=kind, failed=str(failure)), None
    except Interrupted:
        raise
    except SimulationError as failure:
        return ControllerRow(name=name, type=kind, failed=str(failure)), failure.run


def _measured(
    setting: Setting, name: str, watch: ShareWatch
) -> tuple[ControllerRow, Run | None]:
    kind, law, loop, run, numbers = controller_run(setting, name, watch)
    numbers["notes"] = (*law.remarks(), *law.incidents())
    if loop is not None:
        resting = loop.robot.operating.outputs
        cost = microseconds_per_sample(setting.model, law, float(run.t[-1]), resting)
        numbers["microseconds"] = cost
    return ControllerRow(name=name, type=kind, **numbers), run
