"""What acts on a robot in time: torques, wrenches, forced motions, and the reference of a controller."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import model_validator
from typing_extensions import override

from ..files.part import Finding, Part, finding
from ..files.quantity import ANY_LENGTH, Numbers, Quantity, is_jax_value
from ..files.table_file import table_of_file

# What stands in a table, one number each; a joint turns or slides.
JOINT = Quantity("rad or m")
TORQUE = Quantity("N m or N")
WRENCH = Quantity("N or N m")

Row = tuple[float, ...]
Times = Annotated[Row, Numbers(ANY_LENGTH, Quantity("s", least=0))]
Torques = Annotated[Row, Numbers(ANY_LENGTH, TORQUE)]
Coordinates = Annotated[Row, Numbers(ANY_LENGTH, JOINT)]
JointRows = Annotated[tuple[Row, ...], Numbers((None, None), JOINT)]
WrenchRows = Annotated[tuple[Row, ...], Numbers((None, 6), WRENCH)]
Interpolation = Literal["linear", "hold"]
# Between the rows of a reference: also a spline through all of them, or from rest to rest.
ReferenceInterpolation = Literal[
    "linear", "hold", "spline", "trapezoid", "s-curve", "quintic", "cycloidal"
]


class TimeTable(Part):
    """Values in time, written out or in a file: `{file: table.csv, column: upper}`."""

    @classmethod
    def of_file(cls, data: Any) -> Any:
        """The data with the numbers of its file."""
        return table_of_file(data, single=True)

    @model_validator(mode="before")
    @classmethod
    def _read_file(cls, data: Any) -> Any:
        return cls.of_file(data)


class RowTable(TimeTable):
    """Rows of values in time."""

    @classmethod
    @override
    def of_file(cls, data: Any) -> Any:
        return table_of_file(data, single=False)


class TorqueTable(TimeTable):
    """A torque (force) in time, zero after the last point; two equal times are a jump."""

    t: Times
    value: Torques
    interpolation: Interpolation = "linear"

    @override
    def findings(self) -> list[Finding]:
        return table_findings(self.t, self.value, strictly=False)


class MotionTable(TimeTable):
    """A motion of one joint: the cubic spline through its points."""

    t: Times
    value: Coordinates

    def findings(self) -> list[Finding]:
        """Times increase, one value each, at least two points."""
        found = table_findings(self.t, self.value, strictly=True)
        if len(self.t) > 1:
            return found
        message = "a motion has at least two points"
        return [finding(message, "t", value=self.t), *found]


class ReferenceTable(RowTable):
    """Joint coordinates in time, a row for every time, that a controller follows; the last row holds on."""

    t: Times
    value: JointRows
    interpolation: ReferenceInterpolation = "linear"

    def findings(self) -> list[Finding]:
        """Times do not go back, one row each, rows of one length; a smooth motion does not jump."""
        is_smooth = self.interpolation not in ("linear", "hold")
        found = table_findings(self.t, self.value, strictly=is_smooth)
        return [*found, *row_lengths(self.value)]


class WrenchTable(RowTable):
    """A force and a moment (fx, fy, fz, mx, my, mz) at a node in time; zero after the last point."""

    node: str
    frame: Literal["world", "link"] = "world"  # axes of the components
    t: Times
    value: WrenchRows
    interpolation: Interpolation = "linear"

    @override
    def findings(self) -> list[Finding]:
        return table_findings(self.t, self.value, strictly=False)


class InputTables(Part):
    """Everything that acts from outside; joints are named by their links."""

    torque: dict[str, TorqueTable] = {}
    wrench: tuple[WrenchTable, ...] = ()
    motion: dict[str, MotionTable] = {}


def table_findings(t: Any, value: Any, strictly: bool) -> list[Finding]:
    """What is wrong with the times of a table and with the number of its values."""
    found = []
    if len(t) != len(value):
        message = f"a table has one value per time, here {len(t)} times"
        found.append(finding(message, "value", value=f"{len(value)} values"))
    if is_jax_value(t):
        return found
    times = np.asarray(t, dtype=np.float64)
    steps = np.diff(times)
    # A spline has one value at a time; a table may jump.
    bad = steps <= 0 if strictly else steps < 0
    if not bad.any():
        return found
    k = int(bad.argmax())
    if strictly:
        rule = "must increase"
    else:
        rule = "must not decrease (equal times make a jump)"
    message = f"times {rule}: items {k} and {k + 1}"
    found.append(finding(message, "t", value=f"{t[k]:g}, {t[k + 1]:g}"))
    return found


def row_lengths(rows: Sequence) -> list[Finding]:
    """What is wrong with the number of values in each row."""
    lengths = {len(row) for row in rows}
    if len(lengths) == 1:
        return []
    message = "all rows must have the same length"
    return [finding(message, "value", value=f"rows of {sorted(lengths)}")]
