"""`lissom control`: controllers designed, run and compared."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from ..compiled_code import keep_compiled_code
from .interrupt import stopping_between_steps, telling_first
from .option_groups import Report, grouped
from .options import Json, ResultFile, RunPicture, Settings
from .output import console, note, number, print_files, print_json, table
from .parsing import changes_of, option_names
from .progress import Jobs, Watch
from .simulate import run_and_report

if TYPE_CHECKING:
    from rich.console import Console

    from ..services.comparison_table import (
        CompareRequest,
        CompareResult,
        ControllerRow,
    )
    from ..services.control import DesignResult

SHOWN_POLES = 8
COLUMNS = (
    "controller",
    ">tracking",
    ">residual",
    ">of first",
    ">settling",
    ">finish",
    ">strain",
    ">torque",
    ">rms",
    ">energy",
    ">margin",
    ">time",
)
UNITS = (
    "tracking: rms [mrad or mm]; residual: peak after the stop [mm]; settling (after the stop) and finish [ms]; "
    "strain: peak [1e-6]; torque: peak and rms [N m or N]; energy [J]; phase margin [deg]; time: of a sample [us]"
)

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
    """Controllers: designed for a robot, run on it, and compared with each other."""


@app.command()
def design(
    scenario: ScenarioName,
    law: LawFile = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="NPZ", help="Matrices of the law."),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="PNG", help="Bode plot, sensitivity and poles."),
    ] = None,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """Design a law for a robot at the end of its motion: poles and margins of the sampled loop.

    Example: lissom control design double-pendulum --law lqg.yaml -o law.npz
    """
    from ..services.control import DesignRequest
    from ..services.control import design as design_law

    code = keep_compiled_code()
    with option_names(matrices="-o", picture="--plot"):
        request = DesignRequest(
            scenario=scenario,
            changes=changes_of(settings, {}),
            law=law,
            matrices=output,
            picture=plot,
        )
        answer = design_law(request)
    if json:
        return print_json(answer, code)
    _print_design(console(), answer)
    note(str(code))


def _print_design(screen: "Console", answer: "DesignResult") -> None:
    margins = answer.margins
    screen.print(
        f"{answer.robot}: {answer.type} every {number(answer.sample)} s on "
        f"{', '.join(answer.sensors)}"
    )
    rows = []
    for pole in answer.poles[:SHOWN_POLES]:
        size = abs(complex(pole.real, pole.imag))
        rows.append((number(pole.real), number(pole.imag), number(size)))
    columns = (">real", ">imaginary", ">|z|")
    screen.print(table("Largest poles of the sampled loop", columns, rows))
    word = "stable" if margins.stable else "UNSTABLE"
    gain = "any" if margins.gain is None else f"{margins.gain:.3g}"
    screen.print(
        f"{word}; all drives at once: sensitivity {margins.sensitivity:.3g}, gain margin {gain}, "
        f"phase margin {margins.phase_deg:.3g} deg, delay margin {1e3 * margins.delay_s:.3g} ms"
    )
    for line in answer.notes:
        screen.print(line)
    print_files(screen, answer.files)


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
    """Run a controller in closed loop on the full flexible robot: a normal result file.

    Example: lissom control run double-pendulum --law lqg.yaml -o run.nc --plot run.png
    """
    from ..services.simulate import SimulateRequest, prepare

    code = keep_compiled_code()
    with option_names(result="-o", picture="--plot"):
        request = SimulateRequest(
            scenario=scenario,
            changes=changes_of(settings, {}),
            law=law,
            result=output,
            picture=plot,
        )
        prepared = prepare(request)
    run_and_report(prepared, code, report)


@app.command()
def compare(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY",
            help="Study of the library, or file: one robot, one motion, many controllers.",
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Table: .json, .csv."),
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="PNG", help="Figure: .png, .pdf, .svg.")
    ] = None,
    results: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Result file of every run, in a folder."),
    ] = None,
    json: Json = False,
) -> None:
    """Many controllers on one motion of one robot: one table and one figure.

    Interrupted, it prints the rows that are done. It exits with code 1 if a controller failed.

    Examples: lissom control compare double-pendulum --plot compare.png, lissom control compare study.yaml -o rows.csv
    """
    from ..services.comparison_table import CompareRequest

    code = keep_compiled_code()
    request = CompareRequest(study=study, picture=plot, numbers=output, results=results)
    with option_names(picture="--plot", numbers="-o"):
        answer = _watched_comparison(request, quiet=json)
    if json:
        print_json(answer, code)
    else:
        _print_comparison(console(), answer)
        note(str(code))
    if any(row.failed is not None for row in answer.rows):
        raise typer.Exit(1)


def _watched_comparison(request: "CompareRequest", quiet: bool) -> "CompareResult":
    """The comparison, with a bar; where it is stopped, what is there is printed unless quiet."""
    from ..services.control_comparison import ComparisonWatch
    from ..services.control_comparison import compare as compare_laws
    from ..services.failures import FailedRun

    jobs = Jobs()
    tables: list[CompareResult] = []

    def tell() -> None:
        if tables and not quiet:
            _print_comparison(console(), tables[-1])

    @contextmanager
    def law(k: int, count: int, name: str) -> Iterator[Watch]:
        with jobs.job(k, count, name) as bar, stopping_between_steps(bar) as watch:
            yield watch

    # Until the first step of a run a signal leaves at once: what is there is told before.
    with telling_first(tell):
        try:
            return compare_laws(request, ComparisonWatch(law, tables.append))
        except FailedRun as failure:
            tables.append(failure.result)
            tell()
            raise


def _print_comparison(screen: "Console", answer: "CompareResult") -> None:
    rows = []
    for row in answer.rows:
        if row.failed is None:
            rows.append((row.name, *_cells(row)))
    periods = answer.stop * answer.first_mode_hz
    title = (
        f"{answer.robot}: motion of {answer.stop:.4g} s, {periods:.3g} periods of the first mode that the motors move "
        f"({answer.first_mode_hz:.4g} Hz); vibration watched for {answer.watched:.3g} s after it"
    )
    screen.print(table(title, COLUMNS, rows))
    screen.print(UNITS)
    for row in answer.rows:
        if row.failed is not None:
            screen.print(f"{row.name}: failed: {row.failed}")
        if row.line_error is not None:
            away = _short(row.line_error, 1e3)
            screen.print(f"{row.name}: the node leaves its line by up to {away} mm")
        for line in row.notes:
            screen.print(f"{row.name}: {line}")
    print_files(screen, answer.files)


def _cells(row: "ControllerRow") -> tuple[str, ...]:
    """A row of the table, in the order of `COLUMNS`."""
    return (
        _short(row.tracking_rms, 1e3),
        _short(row.residual, 1e3),
        _percent(row.residual_share),
        "not" if row.settling is None else _short(row.settling, 1e3),
        _short(row.finish, 1e3),
        _short(row.strain_peak, 1e6),
        _short(row.torque_peak),
        _short(row.torque_rms),
        _short(row.energy),
        _short(row.phase_margin_deg),
        _short(row.microseconds),
    )


def _short(value: float | None, factor: float = 1.0) -> str:
    """Three digits; thousands in full, as 1105."""
    if value is None:
        return ""
    shown = factor * value
    return f"{shown:.0f}" if 1e3 <= abs(shown) < 1e5 else f"{shown:.3g}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"
