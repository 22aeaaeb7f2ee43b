"""Curves of a run over time, by the names that plots use."""

from collections.abc import Mapping, Sequence

from numpy import ndarray

from ..show.plot_quantities import Curves
from .run import Run, unknown_name
from .run_columns import columns, names_of_nodes, node_label, quantities

# Elastic displacement of the nodes: not stored, but the difference of two that are.
DISPLACEMENT = "displacement"


def recorded_curves(run: Run, entry: str) -> Curves:
    """The curves of a run that an entry such as `position.lower/tip` selects.

    Args:
        run: the result.
        entry: a quantity, or a part of one: `q`, `torque.upper`, `position.lower/tip.x`, `energy`,
            `displacement.lower/tip`, which is measured from the ERLS.

    Raises:
        UnknownNameError: the run holds no such quantity.
    """
    quantity, _, part = entry.partition(".")
    held = quantities(run.data)
    known = _held_and_derived(held)
    if quantity == DISPLACEMENT and quantity in known:
        return Curves(entry, "m", _displacement(run, part))
    if quantity not in held:
        raise unknown_name("quantity", quantity, known)
    unit = run.data[quantity].attrs.get("units", "")
    return Curves(entry, str(unit), _columns(run, quantity, part))


def _held_and_derived(held: Sequence[str]) -> list[str]:
    """Quantities that a run holds, and the displacement where it follows from them."""
    follows = {"position", "erls_position"} <= {*held}
    return [*held, DISPLACEMENT] if follows else [*held]


def _displacement(run: Run, part: str) -> Mapping[str, ndarray]:
    here = _columns(run, "position", part)
    rigid = _columns(run, "erls_position", part)
    return {name: here[name] - rigid[name] for name in here}


def _columns(run: Run, quantity: str, part: str) -> Mapping[str, ndarray]:
    table = dict(columns(run.data, [quantity]))
    del table["time"]
    parts = {name.removeprefix(f"{quantity}."): name for name in table}
    nodes = run.labels("node")
    node, dot, axis = part.partition(".")
    wanted = f"{node_label(nodes, node)}{dot}{axis}"
    chosen = {
        own: table[name]
        for own, name in parts.items()
        if not part or own == wanted or own.startswith(f"{wanted}.")
    }
    if not chosen and node not in nodes and "node" in run.data[quantity].dims:
        raise unknown_name("node", node, names_of_nodes(nodes))
    if not chosen:
        raise unknown_name(f"part of {quantity}", part, parts)
    return chosen


def curves_as_csv(t: ndarray, curves: Sequence[Curves]) -> str:
    """A table of curves with one row for each time; the names of the columns end with their units."""
    names = ["time [s]"]
    rows = [t]
    for one in curves:
        for name, values in one.lines.items():
            quantity = one.what.partition(".")[0]
            label = name if "/element" in one.what else f"{quantity}.{name}"
            names.append(f"{label} [{one.unit}]" if one.unit else label)
            rows.append(values)
    lines = [",".join(f'"{name}"' for name in names)]
    for row in zip(*rows, strict=True):
        # `repr` of a float is the shortest text that reads back as the same number.
        lines.append(",".join(repr(float(value)) for value in row))
    return "\n".join(lines) + "\n"
