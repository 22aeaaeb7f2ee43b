"""Files of a comparison: table, figure and runs."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..studies.controller_numbers import Setting, resting_displacement, watched_node
from .comparison_table import CompareRequest, CompareResult, ControllerRow

if TYPE_CHECKING:
    from ..runs.run import Run


def write_row(
    request: CompareRequest, table: CompareResult, k: int, run: "Run | None"
) -> CompareResult:
    """Writes the run of row k and the numbers so far, where they are asked for; the table with its files."""
    if request.results is not None and run is not None:
        names = [row.name for row in table.rows]
        folder = Path(request.results)
        folder.mkdir(parents=True, exist_ok=True)
        run.save(folder / result_name(names[k], names))
        table = table.with_file("results", request.results)
    if request.numbers is not None:
        _write_numbers(request.numbers, table.rows)
        table = table.with_file("numbers", request.numbers)
    return table


def draw_comparison(
    request: CompareRequest,
    table: CompareResult,
    runs: "Mapping[str, Run]",
    setting: Setting,
) -> CompareResult:
    """Draws the runs that there are, by controller; the table with its figure."""
    if request.picture is None or not runs:
        return table
    from ..show.plot_comparison import plot_comparison

    node = watched_node(setting.model, setting.study)
    final = resting_displacement(setting)
    data = {name: run.data for name, run in runs.items()}
    plot_comparison(data, node, final, setting.stop, request.picture)
    return table.with_file("picture", request.picture)


def result_name(name: str, names: list[str]) -> str:
    """The file of a controller's run: its place in the study, and its name in letters that every system takes."""
    plain = re.sub(r"[^\w-]+", "-", name).strip("-") or "run"
    return f"{names.index(name):02d}-{plain}.nc"


def _write_numbers(path: str, rows: Sequence[ControllerRow]) -> None:
    import csv
    import io
    import json

    from ..atomic import write_atomically

    data = [row.model_dump() for row in rows]
    if path.endswith(".json"):
        text = json.dumps(data, indent=1)
    else:
        page = io.StringIO()
        writer = csv.DictWriter(page, fieldnames=list(data[0]))
        writer.writeheader()
        writer.writerows(data)
        text = page.getvalue()
    write_atomically(path, lambda file: file.write(text.encode()))
