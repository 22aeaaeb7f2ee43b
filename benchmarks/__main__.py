"""`python -m benchmarks NAME...`: measurements that need the repository, by name."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from lissom.bench.report_cells import ReportTable
from lissom.commands.bench_report import Line, check_output, filled_report

from .peers import peer_tables
from .peers.comparison import measure_peers, missing_peers
from .speed import speed_tables
from .speed.cost_of_links import measure_links
from .speed.manoeuvre import manoeuvre_rows
from .speed.many_payloads import measure_payloads
from .speed.residuals import measure_residuals
from .speed.sampled_law import measure_sampled_law
from .speed.study_engine import measure_studies

EXTRA = "needs Exudyn and Pinocchio: pip install 'lissom[peers]'"
PEERS = "peers"
Measure = Callable[
    [int, Line], Any
]  # number of warm runs, and a log of what is measured now
MEASURED: dict[str, Measure] = {
    "links": measure_links,
    "manoeuvre": manoeuvre_rows,
    "control": measure_sampled_law,
    "payloads": measure_payloads,
    "studies": measure_studies,
    "residual": lambda repeat, log: measure_residuals(log),
}
MAKERS: dict[str, Callable[[Any], Sequence[ReportTable]]] = {
    "links": lambda part: [speed_tables.links_table(part)],
    "manoeuvre": lambda part: [speed_tables.manoeuvre_table(part)],
    "control": lambda part: [speed_tables.control_table(part)],
    "payloads": lambda part: [speed_tables.payloads_table(part)],
    "studies": lambda part: [speed_tables.studies_table(part)],
    "residual": lambda part: [speed_tables.residual_table(part)],
    "asked": lambda part: [peer_tables.asked_table(part)],
    "lissom": lambda part: [peer_tables.lissom_table(part)],
    "peers": lambda part: [peer_tables.peer_table(part)],
    "rigid": lambda part: [peer_tables.rigid_table(part)],
}


def main(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...",
            help="`links`: operations and cost against the number of links. `manoeuvre`: the arm of Cibicik 2021. "
            "`control`: a law sampled at 1 kHz beside the same law continuous. `payloads`: a thousand robots in lanes "
            "beside single runs. `studies`: what a study costs beside its runs, and what a second Dask worker brings. "
            "`residual`: one residual of three robots, inside compiled code and called from Python. `peers`: the "
            "L-shape, the spatial double pendulum and the four-dof arm beside Exudyn, a rigid arm beside Pinocchio; "
            "needs the extra `peers`.",
        ),
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else.")
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
    """Measure run times, alone or beside other programs. Interrupted, it prints what it has measured so far."""
    check_request(names, output)
    filled_report(
        lambda report, keep, log: measure(report, names, repeat, log),
        output,
        as_json,
        MAKERS,
    )


def check_request(names: Sequence[str], output: Path | None) -> None:
    """Finds what is wrong with a request before anything is computed.

    Raises:
        BadParameter: an unknown name, a file that cannot be written, or an extra that is not installed.
    """
    if output is not None:
        check_output(output)
    known = (*MEASURED, PEERS)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise typer.BadParameter(
            f"{', '.join(unknown)}: there is {', '.join(known)}; scenarios: lissom bench NAME"
        )
    missing = ", ".join(missing_peers()) if PEERS in names else ""
    if missing:
        raise typer.BadParameter(f"{PEERS} {EXTRA} (not found: {missing})")


def measure(
    report: dict[str, Any], names: Sequence[str], repeat: int, log: Line
) -> None:
    """Fills the report part by part, tables of many rows row by row, so that an interrupt keeps what is there."""
    for name in names:
        if name == PEERS:
            measure_peers(report, repeat, log)
            continue
        found = MEASURED[name](repeat, log)
        if isinstance(found, dict):
            report[name] = found
            continue
        report[name] = []
        report[name].extend(found)


if __name__ == "__main__":
    typer.run(main)
