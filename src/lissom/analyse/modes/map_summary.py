"""A map of modes in tables and as plain data."""

from typing import Any

import numpy as np

from ...describe.modelled import model_facts
from ...files.summary import Summary, count, number, plain
from ..validity.description import robot_warnings
from ..validity.validity_warning import warning_lines

COLUMNS = (
    "mode",
    "lowest [Hz]",
    "at",
    "highest [Hz]",
    "at",
    "unstable points",
    "not followed",
)
NOT_FOLLOWED = (
    "not followed: MAC below 0.9 between neighbours, or a frequency that changes by more than 15 %. "
    "A finer grid may help."
)


def map_data(found: Any) -> dict[str, Any]:
    """A map of modes as plain data."""
    known = {"robot": found.robot}
    if found.origin is not None:
        known = model_facts(found.robot, found.origin.modelled)
    data = known | {
        "locked": found.locked,
        "damped": found.damped,
        "computed": what_is_computed(found),
        "axes": found.axes,
        "points": int(np.prod(found.shape)),
        "modes": mapped_modes(found),
        "frequency_hz": found.frequency_hz,
        "damping_ratio": found.damping_ratio,
        "growth": found.growth,
        "mac": found.mac,
        "q": {name: found.q[..., k] for k, name in enumerate(found.joints)},
        "warnings": found.warnings,
    }
    return plain(data)


def map_warnings(found: Any) -> tuple[str, ...]:
    """Warnings about the data of the robot, one line each."""
    if found.origin is None:
        return ()
    return warning_lines(robot_warnings(found.origin.robot))


def map_summary(found: Any) -> Summary:
    """The range of each mode's frequency over the grid, and where it is."""
    rows = []
    modes = mapped_modes(found)
    for one in modes:
        lowest = (number(one["lowest_hz"]), _place(one["lowest_at"]))
        highest = (number(one["highest_hz"]), _place(one["highest_at"]))
        lost = (str(one["unstable"]), str(one["lost"]))
        rows.append((str(one["mode"]), *lowest, *highest, *lost))
    facts = []
    if found.origin is not None:
        facts.append(("model", str(found.origin.modelled)))
    for name, values in found.axes.items():
        ends = f"{number(values[0])} to {number(values[-1])}"
        facts.append((name, f"{ends}, {count(len(values), 'point')}"))
    facts.append(("computed", what_is_computed(found)))
    remark = NOT_FOLLOWED if any(one["lost"] for one in modes) else ""
    joints = "locked" if found.locked else "free"
    title = f"{found.robot}: {int(np.prod(found.shape))} points, joints {joints}"
    return Summary(title, tuple(facts), COLUMNS, tuple(rows), remark)


def _place(at: dict[str, float]) -> str:
    """Where a point lies; of keys such as links.upper.beam.material.E the last word, if it is unique."""
    short = [name.rpartition(".")[2] for name in at]
    names = short if len(set(short)) == len(short) else list(at)
    pairs = zip(names, at.values(), strict=True)
    return ", ".join(f"{name} {value:.4g}" for name, value in pairs)


def what_is_computed(found: Any) -> str:
    """Which modes the frequencies and damping ratios of a map belong to, in words."""
    if not found.damped:
        return "undamped modes about rest; damping ratios to first order"
    if not np.any(found.qd):
        return "damped modes about rest"
    if found.frozen:
        return "modes of frozen instants, changes of the coordinates in time included: growth may be apparent"
    return "modes of the instant without the change of the coordinates in time: growth is that of energy / frequency"


def mapped_modes(found: Any) -> tuple[dict[str, Any], ...]:
    """Range of every mode, its place, and points at which tracking failed."""
    count = found.frequency_hz.shape[-1]
    points = _grid_values(found)
    modes = []
    for m in range(count):
        hz = found.frequency_hz[..., m].ravel()
        lowest = int(hz.argmin())
        highest = int(hz.argmax())
        modes.append(
            {
                "mode": m + 1,
                "lowest_hz": float(hz[lowest]),
                "lowest_at": points[lowest],
                "highest_hz": float(hz[highest]),
                "highest_at": points[highest],
                "unstable": int(np.sum(found.unstable[..., m])),
                "lost": int(np.sum(found.lost[..., m])),
                "lowest_mac": float(found.mac[..., m].min()),
                "largest_step": float(np.abs(found.step[..., m]).max()),
            }
        )
    return tuple(modes)


def _grid_values(found: Any) -> list[dict[str, float]]:
    """Values on the axes at every point, the last axis running fastest."""
    grids = np.meshgrid(*found.axes.values(), indexing="ij")
    columns = [grid.ravel().tolist() for grid in grids]
    rows = zip(*columns, strict=True)
    return [dict(zip(found.axes, row, strict=True)) for row in rows]
