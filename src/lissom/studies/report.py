"""One self-contained HTML page about a study: its definition, results, worst cases, pictures."""

import base64
import html
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import __version__
from ..atomic import write_atomically
from ..files.summary import number
from ..show.canvas import Figure
from .engine import Tally
from .pictures import (
    label_of,
    numbers_of,
    plot_bands,
    plot_parallel,
    plot_sobol,
    plot_study,
)
from .sampling import GRID, SALTELLI
from .sensitivity import sobol
from .study import Study, study_data
from .worst_cases import worst_cases
from .yields import yields_of

WORST = 5  # of each metric
FAILURES = 20
PERCENTILES = (0, 5, 50, 95, 100)
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1B2430; max-width: 1100px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
table { border-collapse: collapse; font-size: 0.9em; } th { text-align: left; }
td, th { padding: 0.25em 0.9em 0.25em 0; border-bottom: 1px solid #E3E8EE; vertical-align: top; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
code, pre { font-size: 0.85em; background: #F4F6F9; } pre { padding: 1em; overflow-x: auto; }
img { max-width: 100%; } figure { margin: 1em 0; }
"""


class StudyResults(NamedTuple):
    """Results of a study that its report shows."""

    study: Study
    data: Any  # xarray.Dataset of all runs
    tally: Tally
    failures: dict[int, str]  # why runs failed, by their numbers


def write_report(results: StudyResults, path: str | Path) -> Path:
    """The page of a study; it needs no network and no other file."""
    page = report_page(results).encode()
    return write_atomically(path, lambda file: file.write(page))


def report_page(results: StudyResults) -> str:
    """HTML of the page."""
    study = results.study
    title = (
        f"{study.analysis} of {study.base.robot.name} over {', '.join(study.labels)}"
    )
    parts = [
        f"<h1>{_text(title)}</h1>",
        _facts(results),
        _section("Yield", _yields(results)),
        _section("Numbers", _numbers(results)),
        _section("Pictures", _pictures(results)),
        _section("Worst cases", _worst(results)),
        _section("Commands that repeat them", _commands(results)),
        _section("Failed runs", _failures(results)),
        _section("The study", f"<pre>{_text(_study_text(results))}</pre>"),
    ]
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(title)}</title><style>{STYLE}</style></head>\n<body>{body}</body></html>\n"
    )


def _text(value: Any) -> str:
    return html.escape(str(value))


def _section(title: str, content: str) -> str:
    return f"<h2>{title}</h2>\n{content}" if content else ""


def _table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = ["".join(f"<th>{_text(name)}</th>" for name in columns)]
    for row in rows:
        lines.append("".join(_cell(value) for value in row))
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def _cell(value: Any) -> str:
    if isinstance(value, float | int):
        return f'<td class="n">{_text(number(value))}</td>'
    return f"<td>{_text(value)}</td>"


def _facts(results: StudyResults) -> str:
    tally, study = results.tally, results.study
    how = "table" if study.table is not None else study.sampling
    return (
        f"<p>{tally.runs} runs, {tally.failed} failed; sampling: {_text(how)}; "
        f"lissom {_text(__version__)}.</p>"
    )


def _yields(results: StudyResults) -> str:
    lines = [f"<li>{_text(one)}</li>" for one in yields_of(results.study, results.data)]
    return f"<ul>{''.join(lines)}</ul>" if lines else ""


def _numbers(results: StudyResults) -> str:
    names = [request.label for request in results.study.requests]
    rows = []
    for name in names:
        values = numbers_of(results.data, name)
        values = values[~np.isnan(values)]
        infinite = int(np.isinf(values).sum())
        label = label_of(results.data, name)
        rows.append((label, *percentiles_of(values), len(values), infinite))
    columns = ("metric", "smallest", "5 %", "median", "95 %", "largest")
    counts = ("runs", "infinite")
    return _table((*columns, *counts), rows) if rows else ""


def percentiles_of(values: np.ndarray) -> list[float]:
    """Smallest value, 5 %, median, 95 % and largest value; infinite ones, as of a run that never settles, count too."""
    if not len(values):
        return [np.nan] * len(PERCENTILES)
    below, above = (
        np.percentile(values, PERCENTILES, method=side) for side in ("lower", "higher")
    )
    with np.errstate(invalid="ignore"):
        between = np.percentile(values, PERCENTILES)
    # There is no straight line to infinity: what lies on the way there is infinite.
    infinite = np.where(np.isinf(above), above, below)
    is_finite = np.isfinite(below) & np.isfinite(above)
    found = np.where(is_finite, between, np.where(below == above, below, infinite))
    return found.tolist()


def _worst(results: StudyResults) -> str:
    rows = []
    for case in worst_cases(results.study, results.data, WORST):
        values = case.values.values()
        shown = [v if isinstance(v, float | int) else str(v) for v in values]
        rows.append((case.metric, case.value, case.unit, case.run, *shown))
    labels = [label_of(results.data, label) for label in results.study.labels]
    columns = ("metric", "value", "unit", "run", *labels)
    return _table(columns, rows) if rows else ""


def _commands(results: StudyResults) -> str:
    cases = worst_cases(results.study, results.data, WORST)
    commands = {case.run: case.command for case in cases if case.command is not None}
    lines = []
    for run in sorted(commands):
        lines.append(
            f"<tr>{_cell(run)}<td><code>{_text(commands[run])}</code></td></tr>"
        )
    return f"<table>{''.join(lines)}</table>" if lines else ""


def _failures(results: StudyResults) -> str:
    failures = results.failures
    shown = list(failures.items())[:FAILURES]
    more = len(failures) - len(shown)
    text = _table(("run", "reason"), shown) if shown else ""
    return text + (f"<p>and {more} more</p>" if more > 0 else "")


def _pictures(results: StudyResults) -> str:
    study, data = results.study, results.data
    figures = [plot_study(study, data, worst_cases(study, data))]
    names = [request.label for request in study.requests]
    # Two keys of a grid are seen at once in heat maps.
    is_flat = study.table is None and study.sampling == GRID and len(study.labels) == 2
    if len(study.labels) > 1 and not is_flat:
        figures += [plot_parallel(study, data, name) for name in names]
    if study.sampling == SALTELLI and len(study.labels) > 1:
        figures += [plot_sobol(sobol(study, data, name)) for name in names]
    if names:
        figures += [plot_bands(study, data, name) for name in study.series]
    return "\n".join(_embed_figure(figure) for figure in figures)


def _embed_figure(figure: Figure) -> str:
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110)
    text = base64.b64encode(content.getvalue()).decode("ascii")
    return f'<figure><img alt="" src="data:image/png;base64,{text}"></figure>'


def _study_text(results: StudyResults) -> str:
    return json.dumps(study_data(results.study), indent=2, ensure_ascii=False)
