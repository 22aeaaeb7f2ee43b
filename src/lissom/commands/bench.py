"""`lissom bench`: run times with their errors, and checks against known numbers."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from ..describe import DescriptionError, Scenario
from .bench_report import Line, Report, check_output, filled_report
from .options import Json

PHYSICS = "physics"
EIGENPAIRS = "eigenpairs"
SPECIAL = (PHYSICS, EIGENPAIRS)
# Measured by `python -m benchmarks`.
MOVED = ("links", "manoeuvre", "control", "payloads", "studies", "residual")
PEERS = "peers"


def bench(
    cases: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CASE...",
            help="Library scenarios or files; default: every library robot. `physics`: known numbers beside "
            "ours. `eigenpairs`: modes as polynomials.",
        ),
    ] = None,
    peers: Annotated[bool, typer.Option("--peers", hidden=True)] = False,
    as_json: Json = False,
    repeat: Annotated[
        int,
        typer.Option(min=1, max=100, help="Warm runs; median and best are reported."),
    ] = 3,
    native: Annotated[
        bool,
        typer.Option(
            "--native",
            help="Library scenarios as machine code only, without the slow compilation by XLA.",
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Also write the tables: .md or .json. The file is updated after every robot.",
        ),
    ] = None,
) -> None:
    """Measure run times and their errors, or check known numbers.

    If interrupted, it prints the results so far.
    `lissom bench physics` exits with code 1 if a number is off, and says why below its table.

    What it costs: the whole library takes about ten minutes, most of it compiling for XLA the first time (20 to 50 s
    for each robot), which --native leaves out. Name a few robots to be done sooner.

    Comparisons with Exudyn and Pinocchio, and more measurements, run from a copy of the repository:
    python -m benchmarks --help

    Examples: lissom bench double-pendulum, lissom bench --native, lissom bench physics -o physics.md
    """
    wanted = cases or []
    check_request(wanted, peers, output)

    def fill(report: Report, save: Callable[[], None], log: Line) -> None:
        measure(report, wanted, repeat, native, save, log)

    report = filled_report(fill, output, as_json)
    if not all(row["agrees"] for row in report.get(PHYSICS, ())):
        raise typer.Exit(1)


def check_request(cases: list[str], peers: bool, output: Path | None) -> None:
    """Finds what is wrong with a request before anything is computed.

    Raises:
        DescriptionError: an unknown case, with every reason; a file that cannot be written.
        BadParameter: measurements that are no part of the package.
    """
    if output is not None:
        check_output(output)
    moved = [case for case in cases if case in MOVED]
    if peers:
        moved.append(PEERS)
    if moved:
        raise typer.BadParameter(
            f"{', '.join(moved)}: measured by `python -m benchmarks {' '.join(moved)}` in a copy of the repository, "
            "not by the installed package"
        )
    problems = []
    for case in cases:
        if case in SPECIAL:
            continue
        try:
            Scenario.load(case)
        except DescriptionError as failure:
            problems += failure.problems
    if problems:
        raise DescriptionError(problems)


def measure(
    report: Report,
    cases: list[str],
    repeat: int,
    native: bool,
    save: Callable[[], None],
    log: Line,
) -> None:
    """Fills the report part by part, so that an interrupt leaves the finished ones; `save` is called after each robot.

    Args:
        report: to be filled.
        cases: scenarios, files and names of tables; without any, all robots of the library.
        repeat: number of warm runs.
        native: without XLA.
        save: writes the report so far.
        log: shows what is measured.
    """
    from ..bench.cases import BACKENDS, default_cases, measure_case

    if PHYSICS in cases:
        from ..bench.physics import physics_rows

        report[PHYSICS] = []
        report[PHYSICS].extend(physics_rows(log))
        measure_published(report, log)
    if EIGENPAIRS in cases:
        from ..bench.eigenpairs import measure_eigenpairs

        report[EIGENPAIRS] = measure_eigenpairs(log)
    names = [case for case in cases or default_cases() if case not in SPECIAL]
    if names:
        report["cases"] = []
    backends = BACKENDS[:1] if native else BACKENDS
    for k, name in enumerate(names, 1):
        log.head = f"{k} of {len(names)}, "
        began = time.monotonic()
        report["cases"].append(measure_case(name, repeat, log, backends))
        log.finished(f"{name}: {time.monotonic() - began:.0f} s")
        save()


def measure_published(report: Report, log: Line) -> None:
    """Compares the printed numbers of [Vidoni2015] with ours; those with a tolerance go to `physics`."""
    from ..bench.l_shape import peak_checks, peak_rows, table_rows

    report["peaks"] = []
    report["table_2"] = []
    report["peaks"].extend(peak_rows(log))
    report[PHYSICS].extend(peak_checks(report["peaks"]))
    report["table_2"].extend(table_rows(log))
