"""The tables of a benchmark report: on the terminal, and as Markdown."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from .physics_tables import (
    eigenpair_tables,
    peak_table,
    physics_table,
    published_table,
)
from .report_cells import Cells, ReportTable
from .speed_tables import backends_table, case_table

# A part of a report by its name, and the tables that show it.
Makers = Mapping[str, Callable[[Any], Sequence[ReportTable]]]
MAKERS: Makers = {
    "physics": lambda rows: [physics_table(rows)],
    "table_2": lambda rows: [published_table(rows)],
    "peaks": lambda rows: [peak_table(rows)],
    "cases": lambda rows: [case_table(rows), backends_table(rows)],
    "eigenpairs": eigenpair_tables,
}


def tables_of(report: Mapping[str, Any], makers: Makers = MAKERS) -> list[ReportTable]:
    """Every table that the report has numbers for."""
    tables: list[ReportTable] = []
    for part, make in makers.items():
        if report.get(part):
            tables += make(report[part])
    return tables


def machine_line(machine: Mapping[str, Any]) -> str:
    """The machine in one line."""
    versions = ", ".join(
        f"{name} {machine[name]}"
        for name in ("lissom", "jax", "exudyn", "pinocchio")
        if name in machine
    )
    cores = f"{machine['cores_used']} of {machine['cores_available']} cores used"
    where = f"{machine['cpu']}, {cores} ({machine['threads']}), load {machine['load']}"
    return f"{where}; Python {machine['python']}, {versions}"


def code_line(code: Mapping[str, Any]) -> str:
    """A line that says whether compile times are those of a first start."""
    if code["folder"] is None:
        return "Compiled code is not cached: compile times are those of a first start."
    return (
        f"Compiled code: {code['hits']} from the cache, {code['misses']} new; "
        "compile times of cached code are short."
    )


def as_markdown(report: Mapping[str, Any], makers: Makers = MAKERS) -> str:
    """The report as a Markdown page."""
    parts = [machine_line(report["machine"]), code_line(report["compiled_code"])]
    for table in tables_of(report, makers):
        parts += [f"## {table.title}", table_text(table)]
    return "\n\n".join(parts) + "\n"


def table_text(table: ReportTable) -> str:
    """Rows and note of a table in Markdown."""
    lines = [_line(table.columns), _line(["---"] * len(table.columns))]
    lines += [_line(row) for row in table.rows]
    rows = "\n".join(lines)
    return f"{rows}\n\n{table.note}" if table.note else rows


def _line(cells: Cells) -> str:
    return "| " + " | ".join(cells) + " |"


def print_report(report: Mapping[str, Any], makers: Makers = MAKERS) -> None:
    """The report on stdout."""
    out = Console(width=None if sys.stdout.isatty() else 220)
    if "machine" in report:
        out.print(machine_line(report["machine"]), highlight=False)
    if "compiled_code" in report:
        out.print(code_line(report["compiled_code"]), highlight=False)
    for table in tables_of(report, makers):
        grid = Table(
            *table.columns,
            title=table.title,
            title_justify="left",
            caption=table.note or None,
            caption_justify="left",
        )
        for cells in table.rows:
            grid.add_row(*cells)
        out.print(grid)
