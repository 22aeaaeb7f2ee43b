"""`lissom bench`: times with the accuracy they buy, and numbers beside known ones."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from ..describe import DescriptionError, Scenario
from .bench_report import Line, check_output, filled_report

PHYSICS = "physics"
EIGENPAIRS = "eigenpairs"
SPECIAL = (PHYSICS, EIGENPAIRS)
# Measured from a copy of the repository.
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
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else.")
    ] = False,
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
    wanted = Wanted(cases or [], repeat, native)
    check_request(wanted.cases, peers, output)
    report = filled_report(
        lambda report, keep, tell: measure(report, wanted, keep, tell), output, as_json
    )
    if not all(row["agrees"] for row in report.get(PHYSICS, ())):
        raise typer.Exit(1)


def check_request(cases: list[str], peers: bool, output: Path | None) -> None:
    """Finds what is wrong with a request before anything is computed.

    Raises:
        DescriptionError: a case that is none, with every reason; a file that cannot be written.
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


class Wanted(NamedTuple):
    """What is to be measured, and how."""

    cases: list[str]
    repeat: int = 3
    native: bool = False  # without XLA


def measure(
    report: dict[str, Any], wanted: Wanted, keep: Callable[[], None], tell: Line
) -> None:
    """Fills the report part by part, so that an interrupt keeps what is there; `keep` is called after each robot."""
    if PHYSICS in wanted.cases:
        from ..bench.physics import physics_rows

        report[PHYSICS] = []
        report[PHYSICS].extend(physics_rows(tell))
        measure_published(report, tell)
    if EIGENPAIRS in wanted.cases:
        from ..bench.eigenpairs import measure_eigenpairs

        report[EIGENPAIRS] = measure_eigenpairs(tell)
    for _ in _named_measured(report, wanted, tell):
        keep()


def _named_measured(
    report: dict[str, Any], wanted: Wanted, tell: Line
) -> Iterator[None]:
    """Measures scenario after scenario, and says so after each."""
    from ..bench.cases import BACKENDS, measure_case

    names = _named_cases(wanted.cases)
    if names:
        report["cases"] = []
    backends = BACKENDS[:1] if wanted.native else BACKENDS
    for k, name in enumerate(names, 1):
        tell.head = f"{k} of {len(names)}, "
        began = time.monotonic()
        report["cases"].append(measure_case(name, wanted.repeat, tell, backends))
        tell.ended(f"{name}: {time.monotonic() - began:.0f} s")
        yield
    tell.head = ""


def _named_cases(cases: list[str]) -> list[str]:
    """Scenarios to be measured: those that are named, or all if nothing else is asked for."""
    from ..bench.cases import default_cases

    if not cases:
        return list(default_cases())
    return [case for case in cases if case not in SPECIAL]


def measure_published(report: dict[str, Any], tell: Any) -> None:
    """The printed numbers of [Vidoni2015] beside ours, a verdict on each; those that can be held to go to `physics`."""
    from ..bench.l_shape import peak_checks, peak_rows, table_rows

    report["peaks"] = []
    report["table_2"] = []
    report["peaks"].extend(peak_rows(tell))
    report[PHYSICS].extend(peak_checks(report["peaks"]))
    report["table_2"].extend(table_rows(tell))
