"""Pictures of studies: heat maps, curves, scatter, parallel coordinates, bands over time, Sobol indices."""

from pathlib import Path
from typing import Any

import numpy as np

from ..show.axes import (
    INK,
    SOFT,
    TITLE,
    finish,
    legend_below,
    line_colour,
    new_figure,
    tidy_axes,
    time_axes,
)
from ..show.canvas import Axes, Figure, LineCollection, withStroke
from .columns import SERIES, stored_name
from .dataset import TIME
from .metrics import MetricEntries
from .sensitivity import SobolIndices
from .study import Study
from .worst_cases import WorstCase

COLOURS = "cividis"  # distinguishable with every kind of colour vision, and in grey
WORST = "#D55E00"
MOST_LINES = 2000  # of parallel coordinates: more is one grey surface
MOST_POINTS = 20_000  # of a scatter
FEW_POINTS = 300  # that are drawn larger
BANDS = ((5, 95), (25, 75))  # percentiles


def label_of(data: Any, name: str, shown: str | None = None) -> str:
    """A name, or another one that is shown, with its unit."""
    unit = data[name].attrs.get("units", "")
    shown = shown or name
    return f"{shown} [{unit}]" if unit not in ("", "1") else shown


def levels_of(data: Any, name: str) -> list[str]:
    """The texts that a key has for values, in the order of their numbers; none where it has numbers."""
    values = np.asarray(data[name].values)
    if values.dtype.kind not in "OUST":
        return []
    return [str(text) for text in np.unique(values.astype(str))]


def name_levels(axis: Any, data: Any, name: str) -> None:
    """Names the values of a key of texts along an axis."""
    levels = levels_of(data, name)
    if levels:
        axis.set_ticks(range(len(levels)), [_break_label(level) for level in levels])


def numbers_of(data: Any, name: str) -> np.ndarray:
    """The numbers of a metric, of those with several the first, or of a key; texts by the order of their values."""
    values = np.asarray(data[name].values)
    if values.ndim > 1:
        values = values[:, 0]
    if values.dtype.kind in "OUST":
        return np.unique(values.astype(str), return_inverse=True)[1].astype(float)
    return values.astype(float)


# --- over keys -----------------------------------------------------------------------------------------------------


def plot_study(
    study: Study, data: Any, worst: list[WorstCase], path: str | Path | None = None
) -> Figure:
    """The metrics of a study as fits its keys: curves over one, heat maps over a grid of two, else scatter."""
    names = [request.label for request in study.requests]
    is_grid = study.table is None and study.sampling == "grid"
    if not names:
        return plot_bands(study, data, study.series[0], path)
    if study.analysis == "control" and len(study.labels) == 1:
        return plot_controllers(study, data, path)
    if is_grid and len(study.labels) == 2:
        return plot_heat_map(study, data, names, worst, path)
    return plot_scatter(study, data, names, worst, path)


def plot_controllers(study: Study, data: Any, path: str | Path | None = None) -> Figure:
    """Metrics of a comparison over one key, a line for each controller."""
    label = study.labels[0]
    x = numbers_of(data, label)
    order = np.argsort(x, kind="stable")
    panels: dict[str, list[MetricEntries]] = {}
    for request in study.requests:
        panels.setdefault(request.name or request.metric, []).append(request)
    figure = new_figure(8, 0.6 + 2.9 * len(panels))
    rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False).ravel()
    for axes, (metric, requests) in zip(rows, panels.items(), strict=True):
        for k, request in enumerate(requests):
            y = numbers_of(data, request.label)[order]
            colour = line_colour(k)
            axes.plot(x[order], y, ".-", color=colour, lw=1.4, label=request.controller)
            _mark_infinite(axes, x[order], y, colour)
        axes.set_ylabel(label_of(data, requests[0].label, metric))
        tidy_axes(axes)
    rows[-1].set_xlabel(label_of(data, label))
    name_levels(rows[-1].xaxis, data, label)
    legend_below(rows[-1], 4)
    return finish(figure, path)


def plot_heat_map(
    study: Study,
    data: Any,
    metrics: list[str],
    worst: list[WorstCase],
    path: str | Path | None = None,
) -> Figure:
    """Metrics over the grid of two keys, the worst run of each marked.

    Raises:
        ValueError: the study is no grid of two keys.
    """
    if study.sampling != "grid" or len(study.labels) != 2:
        raise ValueError("a heat map needs a grid over two keys: use plot_scatter")
    columns = min(len(metrics), 3)
    rows = -(-len(metrics) // columns)
    figure = new_figure(0.6 + 4.6 * columns, 4.0 * rows)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in panels[len(metrics) :]:
        axes.set_visible(False)
    for axes, metric in zip(panels, metrics, strict=False):
        _heat_map(axes, study, data, metric)
        _mark_worst(axes, data, study.labels[0], study.labels[1], metric, worst)
    return finish(figure, path)


def _heat_map(axes: Axes, study: Study, data: Any, metric: str) -> None:
    across, up = study.labels
    x, y = numbers_of(data, across), numbers_of(data, up)
    shape = (len(np.unique(x)), len(np.unique(y)))
    values = numbers_of(data, metric).reshape(shape)
    drawn = axes.pcolormesh(
        np.unique(x), np.unique(y), values.T, cmap=COLOURS, shading="nearest"
    )
    axes.figure.colorbar(drawn, ax=axes, label=label_of(data, metric))
    axes.set_xlabel(label_of(data, across))
    axes.set_ylabel(label_of(data, up))
    axes.set_title(f"{metric}{_left_out(values, 'blank')}", **TITLE)
    axes.tick_params(labelsize=8.5, colors=SOFT, labelcolor=INK)
    name_levels(axes.xaxis, data, across)
    name_levels(axes.yaxis, data, up)


def _left_out(values: np.ndarray, how: str) -> str:
    """How many runs a picture cannot show, for its title; nothing where it shows all."""
    counts = {"infinite": np.isinf(values).sum(), "no number": np.isnan(values).sum()}
    words = [f"{count} {word}" for word, count in counts.items() if count]
    return f"; {how}: {', '.join(words)}" if words else ""


def _mark_infinite(axes: Axes, x: np.ndarray, y: np.ndarray, colour: Any) -> None:
    """Triangles at the upper edge where a metric is infinite, as the settling time of a run that never settles."""
    infinite = np.isinf(y)
    if infinite.any():
        top = axes.get_xaxis_transform()
        at = x[infinite]
        style = {"ms": 6, "color": colour, "clip_on": False, "transform": top}
        axes.plot(at, np.ones_like(at), "^", gid="infinite", **style)


def _mark_worst(
    axes: Axes, data: Any, across: str, up: str, metric: str, worst: list[WorstCase]
) -> None:
    for case in worst:
        if case.metric != metric:
            continue
        x = numbers_of(data, across)
        y = numbers_of(data, up)
        # The words stand on the side where there is more room.
        is_left = x[case.run] < np.nanmean([np.nanmin(x), np.nanmax(x)])
        place = (x[case.run], y[case.run])
        frame = axes.transData
        if np.isinf(place[1]):
            place, frame = (x[case.run], 1.0), axes.get_xaxis_transform()
        ring = {"ms": 9, "mfc": "none", "mec": WORST, "mew": 2, "clip_on": False}
        axes.plot(*place, "o", transform=frame, **ring)
        axes.annotate(
            f"run {case.run}",
            place,
            xycoords=frame,
            xytext=(8, -12) if is_left else (-8, -12),
            textcoords="offset points",
            ha="left" if is_left else "right",
            fontsize=8.5,
            color=WORST,
            fontweight="bold",
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )


def plot_scatter(
    study: Study,
    data: Any,
    metrics: list[str],
    worst: list[WorstCase],
    path: str | Path | None = None,
) -> Figure:
    """Every metric against every key, the worst runs marked by their numbers."""
    labels = study.labels
    figure = new_figure(0.8 + 3.6 * len(labels), 0.4 + 2.9 * len(metrics))
    panels = figure.subplots(
        len(metrics), len(labels), sharex="col", sharey="row", squeeze=False
    )
    for row, metric in zip(panels, metrics, strict=True):
        for axes, label in zip(row, labels, strict=True):
            _scatter(axes, study, data, label, metric)
            _mark_worst(axes, data, label, metric, metric, worst)
        row[0].set_ylabel(label_of(data, metric))
    for axes, label in zip(panels[-1], labels, strict=True):
        axes.set_xlabel(label_of(data, label))
        name_levels(axes.xaxis, data, label)
    return finish(figure, path)


def _scatter(axes: Axes, study: Study, data: Any, label: str, metric: str) -> None:
    x, y = numbers_of(data, label), numbers_of(data, metric)
    step = -(-len(x) // MOST_POINTS)
    one_key = len(study.labels) == 1
    order = np.argsort(x, kind="stable") if one_key else np.arange(0, len(x), step)
    style = "-" if one_key else "."
    axes.plot(
        x[order],
        y[order],
        style,
        ms=7 if len(x) < FEW_POINTS else 3,
        alpha=1.0 if one_key else 0.5,
        color=line_colour(0),
        mew=0,
    )
    _mark_infinite(axes, x, y, line_colour(0))
    tidy_axes(axes)


def plot_parallel(
    study: Study, data: Any, metric: str, path: str | Path | None = None
) -> Figure:
    """Parallel coordinates: one line for each run through its values, coloured by a metric; bad runs on top."""
    names = [*study.labels, metric]
    columns = [numbers_of(data, name) for name in names]
    heights = np.stack([_share(column) for column in columns], axis=1)
    rows = np.flatnonzero(np.isfinite(heights).all(axis=1))
    rows = rows[:: -(-len(rows) // MOST_LINES) or 1]
    rows = rows[np.argsort(columns[-1][rows], kind="stable")]
    figure = new_figure(1.5 + 1.9 * len(names), 4.6)
    axes = figure.subplots()
    places = np.arange(len(names))
    lines = [np.column_stack([places, heights[k]]) for k in rows]
    drawn = LineCollection(lines, cmap=COLOURS, lw=0.8, alpha=0.6)
    drawn.set_array(columns[-1][rows])
    axes.add_collection(drawn)
    figure.colorbar(drawn, ax=axes, label=label_of(data, metric))
    _upright_scales(axes, data, names, columns)
    left_out = _left_out(columns[-1], "not drawn")
    axes.set_title(f"{metric}: {len(rows)} runs{left_out}", **TITLE)
    return finish(figure, path)


def _share(column: np.ndarray) -> np.ndarray:
    """Numbers as parts of their range; what is infinite has no place there."""
    column = np.where(np.isfinite(column), column, np.nan)
    if np.isnan(column).all():
        return column
    low, high = np.nanmin(column), np.nanmax(column)
    return (column - low) / (high - low) if high > low else 0.5 + 0 * column


def _upright_scales(
    axes: Axes, data: Any, names: list[str], columns: list[np.ndarray]
) -> None:
    axes.set_xlim(-0.2, len(names) - 0.8)
    axes.set_ylim(-0.08, 1.08)
    axes.set_yticks([])
    axes.set_xticks(np.arange(len(names)))
    axes.set_xticklabels(
        [_break_label(label_of(data, name)) for name in names], fontsize=8.5
    )
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    for k, (name, column) in enumerate(zip(names, columns, strict=True)):
        axes.axvline(k, color=SOFT, lw=0.8)
        levels = levels_of(data, name)
        ends = [levels[0], levels[-1]] if levels else _ends(column)
        for height, text in zip((-0.05, 1.03), ends, strict=True):
            axes.text(
                k,
                height,
                text,
                ha="center",
                fontsize=8,
                color=INK,
                bbox={"color": "white", "pad": 1},
            )


def _ends(column: np.ndarray) -> list[str]:
    return [f"{value:.4g}" for value in (np.nanmin(column), np.nanmax(column))]


def _break_label(label: str, width: int = 18) -> str:
    """A long dotted name on several lines."""
    lines = [""]
    for word in label.split("."):
        joined = f"{lines[-1]}.{word}" if lines[-1] else word
        if len(joined) > width and lines[-1]:
            lines.append(f".{word}")
        else:
            lines[-1] = joined
    return "\n".join(lines)


# --- over time -----------------------------------------------------------------------------------------------------


def plot_bands(
    study: Study, data: Any, series: str, path: str | Path | None = None
) -> Figure:
    """A time series of all runs: median, percentiles, and the run that goes farthest from the median.

    Raises:
        ValueError: the study does not keep this series.
    """
    if series not in study.series:
        available = ", ".join(study.series) or "none"
        raise ValueError(f"{series}: the study keeps other time series: {available}")
    name = stored_name(series)
    t = np.asarray(data[TIME].values)
    values = np.asarray(data[name].values)
    values = values[np.isfinite(values).all(axis=1)]
    figure = new_figure(9, 4.6)
    axes = time_axes(figure.subplots())
    for k, (low, high) in enumerate(BANDS):
        between = np.percentile(values, [low, high], axis=0)
        axes.fill_between(
            t,
            *between,
            color=line_colour(0),
            alpha=0.2 + 0.2 * k,
            lw=0,
            label=f"{low} to {high} %",
        )
    middle = np.median(values, axis=0)
    axes.plot(t, middle, color=line_colour(0), lw=1.6, label="median")
    farthest = int(np.abs(values - middle).max(axis=1).argmax())
    axes.plot(t, values[farthest], color=WORST, lw=1.0, label="farthest run")
    unit = SERIES[series.partition(".")[0]][0]
    axes.set_ylabel(f"{series} [{unit}]")
    axes.set_xlabel("time [s]")
    axes.set_title(f"{series}: {len(values)} runs", **TITLE)
    legend_below(axes, 4)
    return finish(figure, path)


# --- sensitivity ---------------------------------------------------------------------------------------------------


def plot_sobol(indices: SobolIndices, path: str | Path | None = None) -> Figure:
    """Sobol indices of a metric with their confidence intervals."""
    places = np.arange(len(indices.labels))
    figure = new_figure(2.5 + 1.6 * len(places), 4.4)
    axes = tidy_axes(figure.subplots())
    bars = (
        ("alone", indices.first, indices.first_interval),
        ("with others", indices.total, indices.total_interval),
    )
    for k, (word, values, interval) in enumerate(bars):
        errors = np.abs(interval - values)
        axes.bar(
            places + 0.38 * (k - 0.5),
            values,
            0.36,
            yerr=errors,
            color=line_colour(k),
            ecolor=INK,
            capsize=3,
            label=word,
        )
    axes.set_xticks(places)
    axes.set_xticklabels(
        [_break_label(label) for label in indices.labels], fontsize=8.5
    )
    axes.set_ylabel("part of the variance")
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    axes.set_title(f"Sobol indices of {indices.metric}", **TITLE)
    axes.legend(frameon=False, fontsize=8.5)
    return finish(figure, path)
