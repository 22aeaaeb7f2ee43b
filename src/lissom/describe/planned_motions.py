"""Motions that are planned within limits, their time computed: another way to write a controller's reference."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator
from typing_extensions import override

from ..files.errors import nearest
from ..files.part import Finding, OneOf, Part, finding, validation_error
from ..files.quantity import ANY_LENGTH, Numbers, Quantity, kind_of, vector
from .time_tables import Coordinates, JointRows, ReferenceTable, Row, row_lengths

Limits = Annotated[Row, Numbers(ANY_LENGTH, Quantity("", above=0))]
TorqueLimits = Annotated[Row, Numbers(ANY_LENGTH, Quantity("N m or N", above=0))]
Hertz = Annotated[float, Quantity("Hz", above=0)]


class PoseSequence(Part):
    """Rows of joint coordinates in their order; when each is reached is computed."""

    value: JointRows

    def findings(self) -> list[Finding]:
        """At least two rows of one length, each another pose than the one before."""
        found = row_lengths(self.value)
        if len(self.value) < 2:
            message = (
                "a motion has at least two rows: where it starts and where it ends"
            )
            found.append(finding(message, "value", value=f"{len(self.value)} row"))
        for k, (row, following) in enumerate(
            zip(self.value[:-1], self.value[1:], strict=True)
        ):
            if row == following:
                message = f"rows {k} and {k + 1} are the same pose: remove one"
                found.append(finding(message, "value", k + 1, value=following))
        return found


class TimeOptimalMotion(PoseSequence):
    """From row to row, at rest at each, as fast as speed, acceleration and jerk allow."""

    type: Literal["time-optimal"]
    speed: Limits  # [rad/s or m/s]
    acceleration: Limits  # [rad/s^2 or m/s^2]
    jerk: Limits  # [rad/s^3 or m/s^3]


class ViaPointMotion(PoseSequence):
    """Through all rows without a stop, as fast as the torques of the rigid robot allow."""

    type: Literal["via-points"]
    torque: TorqueLimits | None = None
    speed: Limits | None = None
    acceleration: Limits | None = None

    @override
    def findings(self) -> list[Finding]:
        found = super().findings()
        if self.torque is None and self.acceleration is None:
            message = "give a limit: torque or acceleration"
            found.append(finding(message, "torque", value=None))
        return found


class MinimumTimeMotion(PoseSequence):
    """From the first row to the second in the least time in which the linear robot comes to rest, links included."""

    type: Literal["minimum-time"]
    torque: TorqueLimits
    fastest: Hertz | None = None  # motions up to here are brought to rest

    @override
    def findings(self) -> list[Finding]:
        found = super().findings()
        if len(self.value) > 2:
            message = "leads from one row to another: two rows"
            found.append(finding(message, "value", value=f"{len(self.value)} rows"))
        return found


class TipLineMotion(Part):
    """A node on a straight line, from rest to rest; the joints follow by inverse kinematics of the rigid robot."""

    type: Literal["tip-line"]
    t: Annotated[Row, Numbers((2,), Quantity("s", least=0))]  # start and end
    start: Coordinates  # joints where the line begins
    target: Annotated[Row, vector("m")]  # where it ends, world axes
    interpolation: Literal["quintic", "cycloidal", "trapezoid", "s-curve"] = "quintic"
    node: str | None = None  # default the last link's tip

    @override
    def findings(self) -> list[Finding]:
        if self.t[1] > self.t[0]:
            return []
        return [
            finding(
                "the end time of the line must be after its start", "t", value=self.t
            )
        ]


MOTIONS: dict[str, type[Part]] = {
    "time-optimal": TimeOptimalMotion,
    "via-points": ViaPointMotion,
    "minimum-time": MinimumTimeMotion,
    "tip-line": TipLineMotion,
}


def _reference_of(value: Any) -> Any:
    """A table, or a motion of the type that is named."""
    if isinstance(value, Part):
        return value
    if not isinstance(value, Mapping) or "type" not in value:
        return ReferenceTable.model_validate(value)
    kind = value["type"]
    if not isinstance(kind, str) or kind not in MOTIONS:
        guess = nearest(kind, MOTIONS) if isinstance(kind, str) else ""
        shown = kind if isinstance(kind, str) else kind_of(kind)
        message = f"must be one of {', '.join(MOTIONS)}; a table has no type{guess}"
        raise validation_error("reference", [finding(message, "type", value=shown)])
    return MOTIONS[kind].model_validate(dict(value))


# Motions whose times are written.
TIMED = (ReferenceTable, TipLineMotion)
# A table has no type in files.
REFERENCES: dict[str, type[Part]] = {"table": ReferenceTable, **MOTIONS}
Reference = Annotated[Any, BeforeValidator(_reference_of), OneOf(REFERENCES.items)]
