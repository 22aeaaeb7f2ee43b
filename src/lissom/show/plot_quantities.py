"""Chosen quantities of one run over time, one panel each."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from numpy import ndarray

from .axes import finish, line_colour, new_figure, side_legend, stacked_time_axes
from .canvas import Figure
from .run import Run, unknown_name
from .run_columns import columns, node_label, quantities, units

PANEL = 2.2  # height [inch]


def plot_quantities(
    run: Run, what: Sequence[str], path: str | Path | None = None
) -> Figure:
    """Figure with one panel for each entry of `what`.

    Args:
        run: the result.
        what: quantities and parts of them: `q`, `torque.upper`, `position.lower/tip`, `position.lower/tip.x`, `energy`.
        path: file to write (png, pdf, svg), None for none.

    Raises:
        UnknownNameError: the run holds no such quantity.
    """
    chosen = [chosen_columns(run, entry) for entry in what]
    figure = new_figure(10, PANEL * len(what) + 0.6)
    whole = figure.add_subfigure(figure.add_gridspec(1, 1)[0])
    panels = stacked_time_axes(whole, [1.0] * len(what))
    for axes, entry, lines in zip(panels, what, chosen, strict=True):
        for k, (name, values) in enumerate(lines.items()):
            axes.plot(run.t, values, color=line_colour(k), lw=1.4, label=name)
        quantity = entry.partition(".")[0]
        unit = units(run.data, [quantity])[quantity]
        axes.set_ylabel(f"{entry} [{unit}]" if unit else entry)
        side_legend(axes)
    panels[-1].set_xlabel("time [s]")
    panels[-1].tick_params(labelbottom=True)
    return finish(figure, path)


def chosen_columns(run: Run, entry: str) -> Mapping[str, ndarray]:
    """Columns of a run that an entry such as `position.lower/tip` means, by what distinguishes them.

    Raises:
        UnknownNameError: there are none.
    """
    quantity, _, part = entry.partition(".")
    held = quantities(run.data)
    if quantity not in held:
        raise unknown_name("quantity", quantity, held)
    table = dict(columns(run.data, [quantity]))
    del table["time"]
    parts = {name.removeprefix(f"{quantity}."): name for name in table}
    nodes = [str(name) for name in run.values("node")]
    node, dot, axis = part.partition(".")
    wanted = f"{node_label(nodes, node)}{dot}{axis}"
    chosen = {
        own: table[name]
        for own, name in parts.items()
        if not part or own == wanted or own.startswith(f"{wanted}.")
    }
    if not chosen:
        raise unknown_name(f"part of {quantity}", part, parts)
    return chosen
