"""Joints: how a link moves on its parent, where it sits, and what resists or drives it."""

from typing import Annotated, Any, Literal

from typing_extensions import override

from ..files.part import SWITCH, Finding, Findings, Part, about, entry_of, finding
from ..files.quantity import Numbers, Quantity, is_jax_value, vector

Vector = tuple[float, float, float]
Angle = Annotated[float, Quantity("rad")]
Length = Annotated[float, Quantity("m")]
Point = Annotated[Vector, vector("m")]
Angles = Annotated[Vector, vector("rad")]
Direction = Annotated[Vector, vector("", nonzero=True)]
ZERO = (0.0, 0.0, 0.0)
PRESSED_IN = 1e-3  # [rad or m] how far the torque limit presses a stop in, by default


class DH(Part):
    """A row of standard Denavit-Hartenberg parameters: Rz(theta + q) Tz(d) Tx(a) Rx(alpha); prismatic: d + q."""

    a: Length = 0.0
    alpha: Angle = 0.0
    d: Length = 0.0
    theta: Annotated[Angle, about("added to the joint coordinate")] = 0.0

    @property
    def end(self) -> tuple[Any, Any, Any]:
        """End of the link of this row in the link frame [m]: d along z, then a along x."""
        return (self.a, 0.0, self.d)


class Origin(Part):
    """Pose of the joint frame in the parent link's frame (the world's for the first link)."""

    xyz: Annotated[Point | None, about("default: the parent's tip")] = None
    rpy: Annotated[Angles, about("Rz(yaw) Ry(pitch) Rx(roll), as in URDF")] = ZERO


class Motor(Part):
    """The rotor on the motor side of a gear: the gear ratio squared times its inertia is added to the joint."""

    inertia: Annotated[float, Quantity("kg m^2", least=0)] = 0.0
    ratio: Annotated[float, Quantity("", above=0)] = 1.0


class Friction(Part):
    """Joint friction: viscous qd + coulomb tanh(qd / width)."""

    viscous: Annotated[float, Quantity("N m s or N s/m", least=0)] = 0.0
    coulomb: Annotated[float, Quantity("N m or N", least=0)] = 0.0
    width: Annotated[
        float,
        Quantity("rad/s or m/s", above=0),
        about("speed at which tanh(1), 76 %, of the Coulomb torque is reached"),
    ] = 0.01


Range = Annotated[tuple[float, float], Numbers((2,), Quantity("rad or m"))]


class Stop(Part):
    """End stops of a joint at its limits: a spring and a damper, which push and never pull."""

    stiffness: Annotated[
        Annotated[float, Quantity("N m/rad or N/m", above=0)] | None,
        about(
            "default: the torque limit presses a stop in by a milliradian or a millimetre"
        ),
    ] = None
    damping: Annotated[float, Quantity("N m s/rad or N s/m", least=0)] = 0.0


class Limits(Part):
    """Range of the joint coordinate, what stops it there, and the largest torque (force) of its drive."""

    position: Range | None = None
    torque: Annotated[float, Quantity("N m or N", above=0)] | None = None
    stop: Annotated[Stop | None, SWITCH] = None

    @property
    def stop_stiffness(self) -> Any:
        """Stiffness of the stops [N m/rad or N/m]."""
        assert self.stop is not None
        if self.stop.stiffness is not None:
            return self.stop.stiffness
        assert self.torque is not None
        return self.torque / PRESSED_IN

    def findings(self) -> list[Finding]:
        """The lower limit is below the upper one; a stop is somewhere, and has a stiffness."""
        return [*self._range_findings(), *self._stop_findings()]

    def _range_findings(self) -> Findings:
        if self.position is None or is_jax_value(self.position):
            return
        lower, upper = self.position
        if not lower < upper:
            message = "the lower limit must be below the upper one"
            yield finding(message, "position", value=self.position)

    def _stop_findings(self) -> Findings:
        if self.stop is None:
            return
        if self.position is None:
            yield finding(
                "a stop needs the range of the joint: limits.position", "stop"
            )
        if self.stop.stiffness is None and self.torque is None:
            message = "a stop without a torque limit needs its stiffness: stop: {stiffness: ...}"
            yield finding(message, "stop")


class Follows(Part):
    """Another joint that leads this one: q = ratio q_other + offset. A gear, a belt, the second finger of a hand."""

    joint: Annotated[str, about("name of the link of the joint that leads")]
    ratio: Annotated[float, Quantity("")] = 1.0
    offset: Annotated[float, Quantity("rad or m")] = 0.0

    def findings(self) -> list[Finding]:
        """A ratio of zero moves nothing."""
        if is_jax_value(self.ratio) or self.ratio:
            return []
        message = "must not be 0: a joint that does not move is fixed"
        return [finding(message, "ratio", value=self.ratio)]


class Joint(Part):
    """The joint at the inner end of a link; written with `dh`, or with `origin` and `axis`."""

    type: Literal["revolute", "prismatic", "fixed"]
    dh: DH | None = None
    origin: Origin | None = None
    axis: Annotated[Direction | None, about("in the joint frame; default: z")] = None
    motor: Motor | None = None
    friction: Friction | None = None
    limits: Limits | None = None
    # No torque input, no gain.
    actuated: Annotated[
        bool, about("off: a passive joint, such as the pin of a closed chain")
    ] = True
    # It has no coordinate of its own, and nothing drives or brakes it: all of that is at the joint that leads it.
    follows: Follows | None = None

    @property
    def moves(self) -> bool:
        """True if the joint has a coordinate of its own."""
        return self.type != "fixed" and self.follows is None

    @property
    def position(self) -> Any:
        """The joint frame's origin as written, `None` where none is."""
        return None if self.origin is None else self.origin.xyz

    def findings(self) -> list[Finding]:
        """One way of placing the joint; nothing that drives or brakes a joint that cannot move."""
        # Only what was written: `actuated` is true by default on a fixed joint too.
        written = {key: getattr(self, key) for key in self.model_fields_set}
        return list(_joint_findings(written))

    @classmethod
    @override
    def partial_findings(cls, data: Any) -> list[Finding]:
        return list(_joint_findings(data)) if isinstance(data, dict) else []


def _joint_findings(data: dict) -> Findings:
    given = {key for key, value in data.items() if value is not None}
    if {"dh", "origin"} <= given:
        message = "a joint has either dh or origin, not both"
        yield finding(message, "origin", value=data["origin"])
    if {"dh", "axis"} <= given:
        message = "a joint with dh moves about its z axis: leave out axis"
        yield finding(message, "axis", value=data["axis"])
    if data.get("type") == "fixed":
        for key in sorted({"motor", "friction", "limits", "follows"} & given):
            message = f"a fixed joint does not move: it has no {key}"
            yield finding(message, key, value=data[key])
    elif "follows" in given:
        for key in sorted({"motor", "friction", "limits", "actuated"} & given):
            message = f"a joint that follows another one has no {key}: give it to the joint that leads"
            yield finding(message, key, value=data[key])
    yield from _drive_findings(data)


def _drive_findings(data: dict) -> Findings:
    actuated = data.get("actuated")
    if data.get("type") == "fixed" and actuated is not None:
        message = "a fixed joint has no drive: leave out actuated"
        yield finding(message, "actuated", value=actuated)
    torque = entry_of(data, "limits", "torque")
    if actuated is False and torque is not None:
        message = (
            "a passive joint (actuated: false) has no drive: leave out its torque limit"
        )
        yield finding(message, "limits", "torque", value=torque)
