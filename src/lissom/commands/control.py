"""`lissom control`: controllers designed, run and compared."""

from typing import Annotated

import typer

from ..compiled_code import keep_compiled_code
from ..files.errors import refused
from .option_groups import Report, grouped
from .options import ResultFile, RunPicture, Settings
from .parsing import changes_of, option_names
from .simulate import run_and_report

app = typer.Typer(no_args_is_help=True, add_completion=False)

ScenarioName = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="Scenario file, or library name, with a controller.",
    ),
]
LawFile = Annotated[
    str | None,
    typer.Option("--law", metavar="YAML", help="Controller in a file of its own."),
]


@app.callback()
def control() -> None:
    """Design, run and compare controllers."""


@app.command()
@grouped
def run(
    scenario: ScenarioName,
    *,
    law: LawFile = None,
    output: ResultFile = None,
    plot: RunPicture = None,
    settings: Settings = None,
    report: Report,
) -> None:
    """Simulate a controller in closed loop on the full flexible robot, and write a result file.

    Example: lissom control run double-pendulum --law lqg.yaml -o run.nc --plot run.png
    """
    from ..runs.saved_run import prepare_run

    code = keep_compiled_code()
    with option_names(output="-o", plot="--plot"):
        prepared = prepare_run(
            scenario,
            changes=changes_of(settings, {}),
            law=law,
            output=output,
            plot=plot,
        )
    if prepared.scenario.controller is None:
        raise refused("controller", None, "the scenario has none: name one (--law)")
    run_and_report(prepared, code, report)
