"""Which elastic modes of a link are kept, as a scenario says it: a number, `all`, or how they are chosen."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator
from typing_extensions import override

from ..files.part import Finding, Part, finding, is_list
from ..files.quantity import Quantity, Whole, error, kind_of
from .link import check_node
from .reduction_names import AnyMethod

ALL = "all"
# Families of assumed modes, in the order of their coordinates; in Python, modes may be a number for each of them.
FAMILIES = ("axial", "torsion", "xy", "xz")
# The first six frequencies of every library robot with its joints locked are then within 0.3 % of those with all modes.
DEFAULT_MODES = 12
COUNT = Whole(0, 10_000)
ACCEPTED = (
    "must be a whole number of modes per link, all, a mapping such as {count: 12, method: guyan}, "
    "or a list with one of these for each link"
)


def _check_count(value: Any) -> Any:
    if isinstance(value, str) and value == ALL:
        return value
    if isinstance(value, str):
        raise error("must be a whole number of modes, or all")
    return COUNT.check(value)


Node = Annotated[int | str, BeforeValidator(check_node)]
Frequency = Annotated[float, Quantity("", above=0)]


class ModeChoice(Part):
    """Choice of the modes of a link; the words are those of `Reduction`."""

    count: Annotated[int | str, BeforeValidator(_check_count)] = DEFAULT_MODES
    method: AnyMethod = "craig-bampton"
    # Nodes at which the link is held and loaded; the inner node, 0, always belongs to them.
    interface: tuple[Node, ...] = (0, "tip")
    # Default: interface, unless `below` or the method looks at free modes.
    ranking: Literal["interface", "free"] | None = None
    # Modes between the held interfaces (or free ones) in the basis; default: as many as `count` needs.
    normal: Annotated[int, COUNT] | None = None
    below: Frequency | None = None  # keep no mode at or above [Hz]

    @override
    def findings(self) -> list[Finding]:
        if self.ranking != "interface":
            return []
        if self.below is not None:
            message = "a frequency limit applies to free modes: leave it out, or set ranking: free"
            return [finding(message, "below", value=self.below)]
        if self.method == "modal":
            message = "modal keeps modes of the free link: set ranking: free, or leave out ranking"
            return [finding(message, "ranking", value=self.ranking)]
        return []


def default_modes(basis: str | None) -> int | str:
    """Modes where none are named: every coordinate of a nodal basis, else the usual number."""
    return ALL if basis == "nodal" else DEFAULT_MODES


def check_modes(value: Any) -> Any:
    """The modes of all links, or of each."""
    if value is None:
        return None
    if is_list(value):
        return tuple(_check_entry(entry) for entry in value)
    return _check_entry(value)


def _check_entry(value: Any) -> Any:
    if isinstance(value, ModeChoice):
        return value
    if isinstance(value, dict):
        return ModeChoice.model_validate(value)
    if value == ALL or (isinstance(value, int) and not isinstance(value, bool)):
        return _check_count(value)
    raise error(f"{ACCEPTED}, not {kind_of(value)}")
