"""What acts on a robot in time: torques, wrenches, forced motions, and the reference of a controller."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np

from .part import Finding, Part
from .quantity import Numbers, Quantity, is_traced

Times = Annotated[tuple[float, ...], Numbers((None,), Quantity("s", least=0))]
Interpolation = Literal["linear", "hold"]
JOINT = Quantity("rad or m")


class Table(Part):
    """A torque (force) in time, zero after the last point; two equal times are a jump."""

    t: Times
    value: Annotated[tuple[float, ...], Numbers((None,), Quantity("N m or N"))]
    interpolation: Interpolation = "linear"

    def findings(self) -> list[Finding]:
        """Times do not go back, one value each."""
        return table_findings(self.t, self.value, strictly=False)


class Spline(Part):
    """A motion of one joint: the cubic spline through its points."""

    t: Times
    value: Annotated[tuple[float, ...], Numbers((None,), JOINT)]

    def findings(self) -> list[Finding]:
        """Times increase, one value each, at least two points."""
        found = table_findings(self.t, self.value, strictly=True)
        return (
            found
            if len(self.t) > 1
            else [Finding(("t",), self.t, "a motion has at least two points"), *found]
        )


class ReferenceTable(Part):
    """Joint coordinates in time, a row for every time, that a controller follows; the last row holds on."""

    t: Times
    value: Annotated[tuple[tuple[float, ...], ...], Numbers((None, None), JOINT)]
    interpolation: Interpolation = "linear"

    def findings(self) -> list[Finding]:
        """Times do not go back, one row each, rows of one length."""
        return table_findings(self.t, self.value, strictly=False) + _ragged(self.value)


class Wrench(Part):
    """A force and a moment (fx, fy, fz, mx, my, mz) at a node in time; zero after the last point."""

    node: str
    frame: Literal["world", "link"] = "world"  # axes of the components
    t: Times
    value: Annotated[
        tuple[tuple[float, ...], ...], Numbers((None, 6), Quantity("N or N m"))
    ]
    interpolation: Interpolation = "linear"

    def findings(self) -> list[Finding]:
        """Times do not go back, one row each."""
        return table_findings(self.t, self.value, strictly=False)


class Inputs(Part):
    """Everything that acts from outside; joints are named by their links."""

    torque: dict[str, Table] = {}
    wrench: tuple[Wrench, ...] = ()
    motion: dict[str, Spline] = {}


def table_findings(t: Any, value: Any, strictly: bool) -> list[Finding]:
    """What is wrong with the times of a table and with the number of its values."""
    found = []
    if len(t) != len(value):
        found.append(
            Finding(
                ("value",),
                f"{len(value)} values",
                f"a table has one value per time, here {len(t)} times",
            )
        )
    if is_traced(t):
        return found
    steps = np.diff(np.asarray(t, dtype=np.float64))
    bad = steps <= 0 if strictly else steps < 0
    if bad.any():
        k = int(bad.argmax())
        rule = (
            "must increase" if strictly else "must not go back (equal times are a jump)"
        )
        found.append(
            Finding(
                ("t",),
                f"{t[k]:g}, {t[k + 1]:g}",
                f"times {rule}: items {k} and {k + 1}",
            )
        )
    return found


def _ragged(rows: Sequence) -> list[Finding]:
    lengths = {len(row) for row in rows}
    return (
        []
        if len(lengths) == 1
        else [
            Finding(
                ("value",), f"rows of {sorted(lengths)}", "rows must have one length"
            )
        ]
    )
