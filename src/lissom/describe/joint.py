"""Joints: how a link moves on its parent, where it sits, and what resists or drives it."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from .part import Finding, Part, entry_of
from .quantity import Numbers, Quantity, is_traced, vector

Vector = tuple[float, float, float]
Angle = Annotated[float, Quantity("rad")]
Length = Annotated[float, Quantity("m")]


class DH(Part):
    """A row of standard Denavit-Hartenberg parameters: Rz(theta + q) Tz(d) Tx(a) Rx(alpha); prismatic: d + q."""

    a: Length = 0.0
    alpha: Angle = 0.0
    d: Length = 0.0
    theta: Angle = 0.0  # added to the joint coordinate


class Origin(Part):
    """Pose of the joint frame in the parent link's frame (the world's for the first link)."""

    xyz: Annotated[Vector, vector("m")] | None = None  # default: the parent's tip
    rpy: Annotated[Vector, vector("rad")] = (
        0.0,
        0.0,
        0.0,
    )  # Rz(yaw) Ry(pitch) Rx(roll), as in URDF


class Motor(Part):
    """The rotor on the motor side of a gear; it adds ratio^2 inertia to the joint's own rate."""

    inertia: Annotated[float, Quantity("kg m^2", least=0)] = 0.0
    ratio: Annotated[float, Quantity("", above=0)] = 1.0


class Friction(Part):
    """Joint friction: viscous qd + coulomb tanh(qd / width)."""

    viscous: Annotated[float, Quantity("N m s or N s/m", least=0)] = 0.0
    coulomb: Annotated[float, Quantity("N m or N", least=0)] = 0.0
    width: Annotated[float, Quantity("rad/s or m/s", above=0)] = (
        0.01  # speed of tanh(1) of the Coulomb torque
    )


class Limits(Part):
    """Range of the joint coordinate and the largest torque (force) of its drive."""

    position: (
        Annotated[tuple[float, float], Numbers((2,), Quantity("rad or m"))] | None
    ) = None
    torque: Annotated[float, Quantity("N m or N", above=0)] | None = None

    def findings(self) -> list[Finding]:
        """The lower limit is below the upper one."""
        if (
            self.position is None
            or is_traced(self.position)
            or self.position[0] < self.position[1]
        ):
            return []
        return [
            Finding(
                ("position",),
                self.position,
                "the lower limit must be below the upper one",
            )
        ]


class Joint(Part):
    """The joint at the inner end of a link; written with `dh`, or with `origin` and `axis`."""

    type: Literal["revolute", "prismatic", "fixed"]
    dh: DH | None = None
    origin: Origin | None = None
    axis: Annotated[Vector, vector("", nonzero=True)] | None = (
        None  # in the joint frame; default z
    )
    motor: Motor | None = None
    friction: Friction | None = None
    limits: Limits | None = None
    # False: a passive joint, such as the pin of a closed chain. Nothing drives it: no torque input, no gain.
    actuated: bool = True

    @property
    def moves(self) -> bool:
        """True if the joint has a coordinate."""
        return self.type != "fixed"

    def findings(self) -> list[Finding]:
        """One way of placing the joint; nothing that drives or brakes a joint that cannot move."""
        # Only what was written: `actuated` is true by default on a fixed joint too.
        written = {key: getattr(self, key) for key in self.model_fields_set}
        return list(_joint_findings(written))

    @classmethod
    def partial_findings(cls, data: Any) -> list[Finding]:
        """The same on half-valid data."""
        return list(_joint_findings(data)) if isinstance(data, dict) else []


def _joint_findings(data: dict) -> Any:
    given = {key for key, value in data.items() if value is not None}
    if {"dh", "origin"} <= given:
        yield Finding(
            ("origin",),
            data["origin"],
            "a joint is placed by dh or by origin, not by both",
        )
    if {"dh", "axis"} <= given:
        yield Finding(
            ("axis",),
            data["axis"],
            "a joint written with dh moves about its z axis: leave axis out",
        )
    for key in sorted({"motor", "friction", "limits"} & given):
        if data.get("type") == "fixed":
            yield Finding(
                (key,), data[key], f"a fixed joint does not move: it has no {key}"
            )
    yield from _drive_findings(data)


def _drive_findings(data: dict) -> Iterator[Finding]:
    actuated = data.get("actuated")
    if data.get("type") == "fixed" and actuated is not None:
        message = "a fixed joint does not move: it has no drive, leave actuated out"
        yield Finding(("actuated",), actuated, message)
    torque = entry_of(data, "limits", "torque")
    if actuated is False and torque is not None:
        message = (
            "a passive joint (actuated: false) has no drive: leave its torque limit out"
        )
        yield Finding(("limits", "torque"), torque, message)
