"""`lissom control compare`: many controllers on one motion, one table and one figure."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from ..compiled_code import keep_compiled_code
from .interrupt import stopping_between_steps, telling_first
from .options import Json, Settings
from .output import console, note, print_files, print_json, print_model, table
from .parsing import changes_of, option_names
from .progress import Jobs, Watch

if TYPE_CHECKING:
    from rich.console import Console

    from ..services.comparison_table import (
        CompareRequest,
        CompareResult,
        ControllerRow,
    )

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
    "strain: peak of the gauges [1e-6]; torque: peak and rms [N m or N]; energy [J]; phase margin [deg]; "
    "time: of a sample [us]"
)


def compare(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY",
            help="Study of the library, or file: one robot, one motion, many controllers.",
        ),
    ],
    settings: Settings = None,
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
    request = CompareRequest(
        study=study,
        changes=changes_of(settings, {}),
        picture=plot,
        numbers=output,
        results=results,
    )
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
    from ..runs.failures import FailedRun
    from ..services.control_comparison import ComparisonWatch
    from ..services.control_comparison import compare as compare_laws

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
    print_model(screen, answer)
    screen.print(UNITS)
    for row in answer.rows:
        if row.failed is not None:
            screen.print(f"{row.name}: {row.reason}")
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
