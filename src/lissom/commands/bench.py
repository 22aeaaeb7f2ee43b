"""`lissom bench`: times with the accuracy they buy, and numbers beside known ones."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from .interrupt import in_thread, telling_first

PHYSICS = "physics"
LINKS = "links"
MANOEUVRE = "manoeuvre"
EIGENPAIRS = "eigenpairs"
CONTROL = "control"
PAYLOADS = "payloads"
STUDIES = "studies"
RESIDUAL = "residual"
SPECIAL = (
    PHYSICS,
    LINKS,
    MANOEUVRE,
    EIGENPAIRS,
    CONTROL,
    PAYLOADS,
    STUDIES,
    RESIDUAL,
)
WRITTEN = (".md", ".json")
CIRCUMSTANCES = {"machine", "compiled_code"}  # what a report holds beside numbers
EXTRA = "needs Exudyn and Pinocchio: pip install 'lissom[peers]'"


def bench(
    cases: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CASE...",
            help="Library scenarios or files; default: every robot of the library. `physics`: known numbers beside "
            "ours. `links`: operations and cost against the number of links. `manoeuvre`: the arm of Cibicik 2021. "
            "`eigenpairs`: modes as polynomials. `control`: a law sampled at 1 kHz beside the same law continuous. "
            "`payloads`: a thousand robots in lanes beside single runs. `studies`: what a study costs beside its runs, "
            "and what a second Dask worker brings. `residual`: one residual of three robots, inside compiled code and "
            "called from Python.",
        ),
    ] = None,
    peers: Annotated[
        bool,
        typer.Option(
            "--peers",
            help="The L-shape, the spatial double pendulum and the four-dof arm beside Exudyn, a rigid arm beside "
            "Pinocchio; needs the extra `peers`.",
        ),
    ] = False,
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
            help="Library scenarios as machine code alone: what takes longest, compiling for XLA, is left out.",
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Also write the tables: .md or .json. The file grows with every robot that is measured.",
        ),
    ] = None,
) -> None:
    """Measure run times with the accuracy they reach, alone or beside other programs, or check known numbers.

    With --peers and no CASE, only the comparison is run. Interrupted, it prints what it has measured so far.
    `lissom bench physics` exits with code 1 if a number is off, and says why below its table.

    What it costs: the whole library takes about ten minutes, most of it compiling for XLA the first time (20 to 50 s
    for each robot), which --native leaves out. Name a few robots to be done sooner.

    Examples: lissom bench double-pendulum, lissom bench --native, lissom bench control -o control.md
    """
    check_request(cases or [], peers, output)
    report: dict[str, Any] = {}

    def keep() -> None:
        if output is not None and report.keys() - CIRCUMSTANCES:
            _write(report, output)

    def tell() -> None:
        # What was measured so far took its time.
        keep()
        if not as_json:
            _print(report)

    wanted = Wanted(cases or [], peers, repeat, native)
    try:
        with telling_first(tell):
            # XLA compiles for a minute and hears no signal meanwhile.
            in_thread(lambda: measure(report, wanted, keep, quiet=as_json))
    except Exception:
        tell()
        raise
    keep()
    if as_json:
        from .output import print_json

        print_json(report)
    else:
        _print(report)
    if not all(row["agrees"] for row in report.get("physics", ())):
        raise typer.Exit(1)


def check_request(cases: list[str], peers: bool, output: Path | None) -> None:
    """Finds what is wrong with a request before anything is computed.

    Raises:
        DescriptionError: a case that is none, with every reason.
        BadParameter: a file that cannot be written, or an extra that is not installed.
    """
    if output is not None:
        _check_output(output)
    if peers:
        from ..benchmarks.peers import missing_peers

        missing = ", ".join(missing_peers())
        if missing:
            raise typer.BadParameter(f"--peers {EXTRA} (not found: {missing})")
    from ..describe import DescriptionError, Scenario

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


def _check_output(output: Path) -> None:
    if output.suffix not in WRITTEN:
        endings = " or ".join(WRITTEN)
        raise typer.BadParameter(f"{output}: the tables are written as {endings}")
    if not os.access(output.parent, os.W_OK):
        raise typer.BadParameter(
            f"{output}: the folder does not exist or cannot be written"
        )


class Wanted(NamedTuple):
    """What is to be measured, and how."""

    cases: list[str]
    peers: bool = False
    repeat: int = 3
    native: bool = False  # without XLA


def measure(
    report: dict[str, Any],
    wanted: Wanted,
    keep: Callable[[], None] = lambda: None,
    quiet: bool = False,
) -> None:
    """Fills the report part by part, so that an interrupt keeps what is there; `keep` is called after each robot."""
    from ..benchmarks.machine import machine_facts
    from ..compiled_code import keep_compiled_code

    kept = keep_compiled_code()
    tell = _Line(quiet)
    report["machine"] = machine_facts()
    report["compiled_code"] = kept.report()
    try:
        # Each part imports what it measures: the peers, for one, need not be installed.
        _measure_special(report, wanted.cases, wanted.repeat, tell)
        for _ in _named_measured(report, wanted, tell):
            report["compiled_code"] = kept.report()
            keep()
        if wanted.peers:
            from ..benchmarks.peers import measure_peers

            measure_peers(report, wanted.repeat, tell)
    finally:
        tell.clear()
        report["compiled_code"] = kept.report()


def _measure_special(
    report: dict[str, Any], cases: list[str], repeat: int, tell: "_Line"
) -> None:
    """The cases that have a name of their own; tables of many rows are filled row by row."""
    if PHYSICS in cases:
        from ..benchmarks.physics import physics_rows

        report[PHYSICS] = []
        report[PHYSICS].extend(physics_rows(tell))
        measure_published(report, tell)
    if LINKS in cases:
        from ..benchmarks.cost_of_links import measure_links

        report[LINKS] = measure_links(repeat, tell)
    if MANOEUVRE in cases:
        from ..benchmarks.manoeuvre import manoeuvre_rows

        report[MANOEUVRE] = []
        report[MANOEUVRE].extend(manoeuvre_rows(repeat, tell))
    if EIGENPAIRS in cases:
        from ..benchmarks.eigenpairs import measure_eigenpairs

        report[EIGENPAIRS] = measure_eigenpairs(tell)
    if CONTROL in cases:
        from ..benchmarks.sampled_law import measure_sampled_law

        report[CONTROL] = measure_sampled_law(repeat, tell)
    if PAYLOADS in cases:
        from ..benchmarks.many_payloads import measure_payloads

        report[PAYLOADS] = measure_payloads(repeat, tell)
    if RESIDUAL in cases:
        from ..benchmarks.cases import measure_residuals

        report[RESIDUAL] = measure_residuals(tell)
    if STUDIES in cases:
        from ..benchmarks.study_engine import measure_studies

        report[STUDIES] = measure_studies(repeat, tell)


def _named_measured(
    report: dict[str, Any], wanted: Wanted, tell: "_Line"
) -> Iterator[None]:
    """Measures scenario after scenario, and says so after each."""
    from ..benchmarks.cases import BACKENDS, measure_case

    names = _named_cases(wanted.cases, wanted.peers)
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


def _named_cases(cases: list[str], peers: bool) -> list[str]:
    """Scenarios to be measured: those that are named, or all if nothing else is asked for."""
    from ..benchmarks.cases import default_cases

    if not cases and not peers:
        return list(default_cases())
    return [case for case in cases if case not in SPECIAL]


def measure_published(report: dict[str, Any], tell: Any) -> None:
    """The printed numbers of [Vidoni2015] beside ours, a verdict on each; those that can be held to go to `physics`."""
    from ..benchmarks.l_shape import peak_checks, peak_rows, table_rows

    report["peaks"] = []
    report["table_2"] = []
    report["peaks"].extend(peak_rows(tell))
    report[PHYSICS].extend(peak_checks(report["peaks"]))
    report["table_2"].extend(table_rows(tell))


class _Line:
    """What is going on, in one line on a terminal's stderr; elsewhere a line for each robot that is done."""

    def __init__(self, quiet: bool = False):
        self.head = ""
        self._is_terminal = sys.stderr.isatty()
        self._quiet = quiet

    def __call__(self, text: str) -> None:
        # Back to the start of the line, and clear it.
        if self._is_terminal:
            shown = f"{self.head}{text}" if text else ""
            print(f"\r\x1b[2K{shown}", end="", file=sys.stderr, flush=True)

    def ended(self, text: str) -> None:
        """Tells of a robot that is done, where no line can show what is going on."""
        if not self._is_terminal and not self._quiet:
            print(f"{self.head}{text}", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Takes the line away."""
        self("")


def _write(report: dict[str, Any], output: Path) -> None:
    from ..atomic import write_atomically
    from ..benchmarks.report_tables import as_markdown

    if output.suffix == ".json":
        text = json.dumps(report, indent=2) + "\n"
    else:
        text = as_markdown(report)
    write_atomically(output, lambda file: file.write(text.encode()))


def _print(report: dict[str, Any]) -> None:
    from ..benchmarks.report_tables import print_report

    print_report(report)
