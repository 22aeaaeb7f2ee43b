"""Files of a comparison: table, figure and runs."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .comparison_table import CompareRequest, ControllerRow

if TYPE_CHECKING:
    from ..show.run import Run


def write_comparison(
    request: CompareRequest,
    runs: "Mapping[str, Run]",
    rows: Sequence[ControllerRow],
    node: str,
    stop: float,
) -> dict[str, str]:
    """Writes what a request asks for; file by field of the request.

    Args:
        request: with the names of the files.
        runs: by controller, those that have one.
        rows: of all controllers.
        node: whose vibration is drawn.
        stop: end of the motion [s].
    """
    files = {}
    if request.results is not None:
        names = [row.name for row in rows]
        folder = Path(request.results)
        folder.mkdir(parents=True, exist_ok=True)
        for name, run in runs.items():
            run.save(folder / result_name(name, names))
        files["results"] = request.results
    if request.numbers is not None:
        _write_numbers(request.numbers, rows)
        files["numbers"] = request.numbers
    if request.picture is not None:
        from ..show.plot_comparison import plot_comparison

        plot_comparison(runs, node, stop, request.picture)
        files["picture"] = request.picture
    return files


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
