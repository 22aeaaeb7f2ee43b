"""How `lissom simulate` is run: notes first, progress, what is saved where it is stopped; see `runs.saved_run`."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.console import Console

from ..compiled_code import CompiledCode, keep_compiled_code
from ..describe import DescriptionError
from ..runs.output_files import Outputs, output_problems
from ..runs.run_summary import end_summary
from ..runs.saved_run import PreparedRun, prepare_run, run_outputs
from ..verbs.verb import Verb
from .interrupt import stopping_between_steps
from .option_groups import Modelling, Report
from .output import console, print_files, print_summary
from .parsing import option_names
from .progress import progress
from .verb_command import group_of, report_of, values_of

if TYPE_CHECKING:
    from ..runs.run import Run

OPTIONS = {
    "output": "-o",
    "plot": "--plot",
    "animate": "--animate",
    "resume": "--resume",
    "start": "--start",
}


def run(verb: Verb, given: dict[str, Any]) -> None:
    """One run of a scenario from the command line."""
    code = keep_compiled_code()
    report = report_of(given)
    source = given.pop("robot")
    modelling = group_of(Modelling, given)
    values = values_of(verb, given, None)
    files = run_outputs(values["output"], values["plot"], values["animate"])
    with option_names(**OPTIONS):
        with all_at_once(files):
            changes = modelling.changes()
        prepared = prepare_run(source, changes=changes, **values)
    run_and_report(prepared, code, report)


def run_and_report(prepared: PreparedRun, code: CompiledCode, report: Report) -> None:
    """A prepared run, watched, and its end on the screen."""
    from jaxnative.compiled import compiling

    from ..runs.failures import UnsavedRun

    screen = console()
    if not report.json:
        # Said before the model is built: building and compiling take a while.
        for remark in prepared.notes:
            screen.print(remark)
    span = prepared.scenario.t_end
    try:
        with progress(span) as bar, stopping_between_steps(bar) as watch:
            # One run is over sooner than its code would be compiled well; a long one changes over to good code.
            with compiling(quickly=True):
                answer = prepared.run(watch)
    except UnsavedRun as failure:
        # The run is complete, and its end is worth seeing; why files are missing is told like every failure.
        if not report.json:
            said = (*prepared.notes, *str(failure).splitlines())
            # A reader that has gone, for which rich leaves, does not make a success of it.
            with suppress(OSError, SystemExit):
                print_run(screen, failure.result, said)
        raise
    report.print(answer, code, partial(print_run, said=prepared.notes))


@contextmanager
def all_at_once(files: Outputs) -> Iterator[None]:
    """Text that cannot be read is reported together with output files that cannot be written."""
    try:
        yield
    except DescriptionError as failure:
        raise DescriptionError([*output_problems(files), *failure.problems]) from None


def print_run(screen: Console, answer: "Run", said: tuple[str, ...] = ()) -> None:
    """The end of a run, its energies, and how it was computed."""
    print_summary(screen, end_summary(answer))
    for remark in answer.notes:
        if remark not in said:
            screen.print(remark)
    print_files(screen, answer.files)
