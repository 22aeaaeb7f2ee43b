"""Controllers as a scenario describes them: what each type needs, and what all of them share."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator
from typing_extensions import override

from ..controller_types import controller_types
from ..files.description_files import find_file, line_of
from ..files.errors import DescriptionError, nearest, refused
from ..files.named_files import read_with_named_files
from ..files.part import Finding, OneOf, Part, finding, validation_error
from ..files.quantity import ANY_LENGTH, Numbers, Quantity, Whole, error, kind_of
from .planned_motions import TIMED, Reference
from .time_tables import Coordinates, Row

# Gains on the error of encoders, on its integral and on its rate.
ErrorGains = Annotated[Row, Numbers(ANY_LENGTH, Quantity("N m/rad or N/m", least=0))]
IntegralGains = Annotated[
    Row, Numbers(ANY_LENGTH, Quantity("N m/rad/s or N/m/s", least=0))
]
RateGains = Annotated[Row, Numbers(ANY_LENGTH, Quantity("N m s/rad or N s/m", least=0))]
Distances = Annotated[Row, Numbers(ANY_LENGTH, Quantity("rad or m", above=0))]
IntegralErrors = Annotated[Row, Numbers(ANY_LENGTH, Quantity("rad s or m s", above=0))]
Torques = Annotated[Row, Numbers(ANY_LENGTH, Quantity("N m or N", above=0))]
TorqueRates = Annotated[Row, Numbers(ANY_LENGTH, Quantity("N m/s or N/s", above=0))]
# Of sensors, each in the unit of its channel.
Deviations = Annotated[Row, Numbers(ANY_LENGTH, Quantity("", above=0))]
DeviationsOrNone = Annotated[Row, Numbers(ANY_LENGTH, Quantity("", least=0))]
Seconds = Annotated[float, Quantity("s", above=0)]
Hertz = Annotated[float, Quantity("Hz", above=0)]
Positive = Annotated[float, Quantity("", above=0)]
DampingRatio = Annotated[float, Quantity("", least=0, below=1)]
FeedForwardName = Literal["none", "gravity", "rigid", "quasi-static", "flexible", "tip"]


class Shaper(Part):
    """An input shaper on the reference: for modes of the robot by number, or for frequencies."""

    type: Literal["zv", "zvd", "ei", "two-hump-ei", "specified-insensitivity"] = "zvd"
    # Numbers of the modes with joints held, from 1, at the end of the motion.
    modes: Annotated[tuple[int, ...], Numbers(ANY_LENGTH, Quantity("", least=1))] = (1,)
    frequency: Annotated[Row, Numbers(ANY_LENGTH, Quantity("Hz", above=0))] | None = (
        None
    )
    damping: DampingRatio | None = None  # default: that of the modes
    # Band of specified insensitivity, in parts of the frequency.
    width: Annotated[float, Quantity("", above=0, below=2)] | None = None
    # True: delays follow the frequencies of the modes along the motion.
    follow: bool = False

    def findings(self) -> list[Finding]:
        """A specified band has a width, and modes that are followed have numbers."""
        found = []
        if any(number != int(number) for number in self.modes):
            message = "mode numbers are whole numbers from 1"
            found.append(finding(message, "modes", value=self.modes))
        specified = self.type == "specified-insensitivity"
        if specified != (self.width is not None):
            message = (
                "applies only to specified-insensitivity, which needs it: 0.5 is a band as wide as half the "
                "frequency"
            )
            found.append(finding(message, "width", value=self.width))
        if self.follow and self.frequency is not None:
            message = "`follow` applies to modes, not to a fixed frequency: write modes, or leave out follow"
            found.append(finding(message, "follow", value=True))
        return found


class ControlLoop(Part):
    """The loop as it is in life: sensors, computation and drives that are not ideal."""

    delay: Annotated[int, Whole(0, 100)] = 0  # samples from measurement to torque
    noise: DeviationsOrNone | None = None  # standard deviation of every sensor
    resolution: DeviationsOrNone | None = None  # step of every sensor
    torque_limit: Torques | None = None
    rate_limit: TorqueRates | None = None
    bandwidth: Hertz | None = None  # of the drives
    seed: Annotated[int, Whole(0, 2**31)] = 0


class Common(Part):
    """Entries that all controllers but the plain PD share."""

    # Keys of its own with one number for each actuated joint: `limits.torque`.
    of_drives: ClassVar[tuple[str, ...]] = ()

    reference: Reference  # a `ReferenceTable`, or a motion that is planned
    sample: Seconds = 1e-3
    feedforward: FeedForwardName = "quasi-static"
    shaper: Shaper | None = None
    torque_limit: Torques | None = None
    loop: ControlLoop | None = None
    # What the controller believes: keys of the robot with other values, and its own formulation and modes.
    model: dict[str, Any] = {}

    def findings(self) -> list[Finding]:
        """A controller acts at least once during its motion."""
        if not isinstance(self.reference, TIMED):
            # How long a planned motion takes follows from its limits.
            return []
        times = self.reference.t
        duration = float(times[-1]) - float(times[0])
        if len(times) > 1 and self.sample > duration:
            message = f"must not be longer than the motion of {duration:g} s"
            return [finding(message, "sample", value=self.sample)]
        return []


class JointGains(Part):
    """Gains of joint control: as numbers, or from a bandwidth and a damping ratio."""

    kp: ErrorGains | None = None
    ki: IntegralGains | None = None
    kd: RateGains | None = None
    bandwidth: Hertz | None = None
    damping: Positive = 0.7
    lag: Seconds | None = None  # of the derivative's filter; default two samples

    @override
    def findings(self) -> list[Finding]:
        if (self.kp is None) == (self.bandwidth is None):
            message = "write either kp (and ki, kd), or a bandwidth in Hz"
            return [finding(message, "bandwidth", value=self.bandwidth)]
        return []


class Tolerances(Part):
    """Deviations that cost one each (Bryson's rule)."""

    position: Distances
    torque: Torques
    energy: Annotated[float, Quantity("J", above=0)] | None = None
    integral: IntegralErrors | None = None


class Noise(Part):
    """Standard deviations of the noise in a Kalman filter."""

    torque: Torques
    drift: Torques | None = None  # of lasting torques from sample to sample
    sensors: Deviations


class StateFeedback(Common):
    """Entries that optimal and predictive control share."""

    tolerances: Tolerances
    pose: Coordinates | None = (
        None  # where the robot is linearised; default: end of the motion
    )
    fastest: Hertz | None = None  # motions up to here are in the controller's model


class EstimatedStateFeedback(StateFeedback):
    """State feedback on the estimate of a Kalman filter."""

    sensors: tuple[str, ...] | None = None  # default: the actuated joints' encoders
    noise: Noise


class PreviewedFeedback(EstimatedStateFeedback):
    """Feedback on an estimate that may know the motion in advance."""

    # True: what the feed-forward leaves out of the links' own motion is met before it happens.
    preview: bool = True


class ControllerTypes(Mapping[str, type[Part]]):
    """Descriptions by the type that a file names; one is imported, with its law, when it is asked for."""

    def __getitem__(self, name: str) -> type[Part]:
        return controller_types()[name]().description

    def __iter__(self) -> Iterator[str]:
        return iter(controller_types())

    def __len__(self) -> int:
        return len(controller_types())

    def __contains__(self, name: object) -> bool:
        return name in controller_types()


CONTROLLERS = ControllerTypes()


def _controller_of(value: Any) -> Any:
    """The controller of the type that is named."""
    if value is None or isinstance(value, Part):
        return value
    if not isinstance(value, Mapping):
        raise error(f"must be a mapping with a type, not {kind_of(value)}")
    kind = value.get("type")
    if not _is_known(kind):
        found = finding(_accepted_types(kind), "type", value=kind)
        raise validation_error("controller", [found])
    return CONTROLLERS[str(kind)].model_validate(dict(value))


def _is_known(kind: Any) -> bool:
    return isinstance(kind, str) and kind in CONTROLLERS


def _accepted_types(kind: Any) -> str:
    guess = nearest(kind, CONTROLLERS) if isinstance(kind, str) else ""
    return f"must be one of {', '.join(CONTROLLERS)}{guess}"


Controller = Annotated[Any, BeforeValidator(_controller_of), OneOf(CONTROLLERS.items)]


def controller_from(data: Mapping[str, Any]) -> Any:
    """A controller from plain data.

    Raises:
        DescriptionError: what is wrong with it.
    """
    kind = data.get("type")
    if not _is_known(kind):
        raise refused("type", kind, _accepted_types(kind))
    return CONTROLLERS[str(kind)](**data)


def read_controller(path: str) -> dict[str, Any]:
    """A controller in a file of its own, as plain data; a whole scenario gives its controller.

    Raises:
        DescriptionError: the file cannot be read or has no controller.
    """
    document = read_with_named_files(find_file(path))
    data = document.data
    if isinstance(data, Mapping) and "type" not in data and "controller" in data:
        data = data["controller"]
    if not isinstance(data, Mapping):
        raise refused("controller", data, "must be a mapping with a type", path)
    return dict(data)


def in_law_file(failure: DescriptionError, path: str) -> DescriptionError:
    """Problems of a controller, placed in the file of its own that it was read from."""
    placed = []
    for problem in failure.problems:
        # The file may be a whole scenario.
        fields = (problem.field, problem.field.removeprefix("controller."))
        lines = [line_of(path, field) for field in fields]
        line = next((line for line in lines if line), None)
        file = problem.file or path
        placed.append(replace(problem, file=file, line=problem.line or line))
    return DescriptionError(placed)
