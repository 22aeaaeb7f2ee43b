"""What each formulation can do: one record per formulation, the one table by which all else is refused."""

from collections.abc import Callable
from dataclasses import dataclass

from .chain import parent_of
from .errors import refused
from .robot import Robot


@dataclass(frozen=True)
class Support:
    """What a formulation of the equations of motion can do, and what it takes where nothing is chosen."""

    name: str  # as `formulation` of a scenario names it
    bases: tuple[str, ...]  # shapes of the links it can work with
    default_basis: str
    references: tuple[str, ...]  # what its joint coordinates may mean
    default_reference: str
    terms: tuple[str, ...] = ("consistent",)
    stiffening: bool = False  # takes `stiffening: geometric`
    trees: bool = False  # links that branch off
    loops: bool = False  # closed chains
    # Nodes turn by finite angles, not by small ones added to a rigid motion (with consistent terms).
    finite_rotations: bool = False


SUPPORT: dict[str, Support] = {}


def register(support: Support) -> Support:
    """Announce a formulation, so that scenarios may name it."""
    SUPPORT[support.name] = support
    return support


ERLS_REFERENCES = ("tangent", "minimum-norm", "zeroed")
BOTH_TERMS = ("consistent", "published")

register(
    Support(
        name="erls-fem",
        bases=("nodal",),
        default_basis="nodal",
        references=ERLS_REFERENCES,
        default_reference="tangent",
        terms=BOTH_TERMS,
        stiffening=True,
        trees=True,
        loops=True,
    )
)
register(
    Support(
        name="erls-cms",
        bases=("craig-bampton",),
        default_basis="craig-bampton",
        references=ERLS_REFERENCES,
        default_reference="minimum-norm",
        terms=BOTH_TERMS,
        stiffening=True,
        trees=True,
        loops=True,
    )
)
register(
    Support(
        name="dual-screw",
        bases=("assumed", "craig-bampton", "nodal"),
        default_basis="assumed",
        references=("tangent",),
        default_reference="tangent",
        terms=BOTH_TERMS,
        finite_rotations=True,
    )
)
register(
    Support(
        name="nonlinear",
        bases=("assumed", "craig-bampton", "nodal"),
        default_basis="assumed",
        references=("tangent",),
        default_reference="tangent",
        stiffening=True,
        finite_rotations=True,
    )
)


def names_with(condition: Callable[[Support], bool]) -> str:
    """The formulations that fulfil a condition, as words: `erls-fem or erls-cms`."""
    names = [support.name for support in SUPPORT.values() if condition(support)]
    return " or ".join(names)


def check_structure(support: Support, robot: Robot) -> None:
    """Refuse a robot with loops or branches that a formulation does not take.

    Raises:
        DescriptionError: with the field `loops` or `parent`.
    """
    links = robot.links
    branched = any(parent_of(links, i) != i - 1 for i in range(len(links)))
    if robot.loops and not support.loops:
        field, others = "loops", names_with(lambda s: s.loops)
    elif branched and not support.trees:
        field, others = "parent", names_with(lambda s: s.trees)
    else:
        return
    message = f"the formulation {support.name} takes serial chains only: use {others}"
    raise refused(field, None, message)
