"""The command `lissom bench`."""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

PHYSICS, LINKS, MANOEUVRE, EIGENPAIRS = "physics", "links", "manoeuvre", "eigenpairs"
SPECIAL = (PHYSICS, LINKS, MANOEUVRE, EIGENPAIRS)
WRITTEN = (".md", ".json")
EXTRA = "needs Exudyn and Pinocchio: pip install 'lissom[peers]'"


def bench(
    cases: Annotated[
        list[str] | None,
        typer.Argument(
            help="Library scenarios or files; default: every robot of the library. `physics`: the physics table. "
            "`links`: operations and cost against the number of links. `manoeuvre`: the arm of Cibicik 2021. "
            "`eigenpairs`: modes as polynomials."
        ),
    ] = None,
    peers: Annotated[
        bool,
        typer.Option(
            "--peers",
            help="The double pendulum beside Exudyn, a rigid arm beside Pinocchio; needs the extra `peers`.",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object on stdout.")
    ] = False,
    repeat: Annotated[
        int,
        typer.Option(min=1, max=100, help="Warm runs; median and best are reported."),
    ] = 3,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Also write the tables: .md or .json."),
    ] = None,
) -> None:
    """Times runs with the accuracy they reach, alone or beside other programs, or checks numbers against known ones.

    With --peers and no CASE, only the comparison is run. Interrupted, it prints what it has measured so far.
    `lissom bench physics` exits with code 1 if a number is off.
    """
    check_request(cases or [], peers, output)
    report: dict[str, Any] = {}
    try:
        measure(report, cases or [], peers, repeat)
    except BaseException:
        if not as_json:
            _print(report)
        raise
    if output is not None:
        _write(report, output)
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
    if output is not None and output.suffix not in WRITTEN:
        raise typer.BadParameter(
            f"{output}: the tables are written as {' or '.join(WRITTEN)}"
        )
    if output is not None and not os.access(output.parent, os.W_OK):
        raise typer.BadParameter(
            f"{output}: the folder does not exist or cannot be written"
        )
    if peers:
        from ..benchmarks.peers import missing_peers

        missing = missing_peers()
        if missing:
            raise typer.BadParameter(
                f"--peers {EXTRA} (not found: {', '.join(missing)})"
            )
    from ..describe import DescriptionError, Scenario

    problems = []
    for case in cases:
        try:
            if case not in SPECIAL:
                Scenario.load(case)
        except DescriptionError as failure:
            problems += failure.problems
    if problems:
        raise DescriptionError(problems)


def measure(report: dict[str, Any], cases: list[str], peers: bool, repeat: int) -> None:
    """Fills the report part by part, so that an interrupt keeps what is there."""
    from ..benchmarks.cases import default_cases, measure_case
    from ..benchmarks.machine import machine_facts
    from ..compiled_code import keep_compiled_code

    kept, tell = keep_compiled_code(), _Line()
    report["machine"] = machine_facts()
    named = [case for case in cases if case not in SPECIAL] or (
        () if cases or peers else default_cases()
    )
    try:
        if PHYSICS in cases:
            from ..benchmarks.physics import physics_rows

            report["physics"] = []
            report["physics"].extend(physics_rows(tell))
            measure_published(report, tell)
        if LINKS in cases:
            from ..benchmarks.links import measure_links

            report["links"] = measure_links(repeat, tell)
        if MANOEUVRE in cases:
            from ..benchmarks.manoeuvre import manoeuvre_rows

            report["manoeuvre"] = []
            report["manoeuvre"].extend(manoeuvre_rows(repeat, tell))
        if EIGENPAIRS in cases:
            from ..benchmarks.eigenpairs import measure_eigenpairs

            report["eigenpairs"] = measure_eigenpairs(tell)
        if named:
            report["cases"] = []
        for case in named:
            report["cases"].append(measure_case(case, repeat, tell))
        if peers:
            from ..benchmarks.peers import measure_peers

            measure_peers(report, repeat, tell)
    finally:
        tell.clear()
        report["compiled_code"] = kept.report()


def measure_published(report: dict[str, Any], tell: Any) -> None:
    """The printed numbers of [Vidoni2015] beside ours, a verdict on each; those that can be held to go to `physics`."""
    from ..benchmarks.l_shape import peak_checks, peak_rows, table_rows

    report["peaks"], report["table_2"] = [], []
    report["peaks"].extend(peak_rows(tell))
    report["physics"].extend(peak_checks(report["peaks"]))
    report["table_2"].extend(table_rows(tell))


class _Line:
    """What is going on, in one line on a terminal's stderr; silence elsewhere."""

    def __call__(self, text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[2K{text}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Takes the line away."""
        self("")


def _write(report: dict[str, Any], output: Path) -> None:
    from ..atomic import write_atomically
    from ..benchmarks.tables import as_markdown

    text = (
        json.dumps(report, indent=2) + "\n"
        if output.suffix == ".json"
        else as_markdown(report)
    )
    write_atomically(output, lambda file: file.write(text.encode()))


def _print(report: dict[str, Any]) -> None:
    from ..benchmarks.tables import print_report

    print_report(report)
