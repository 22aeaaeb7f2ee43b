"""What each formulation can do: one record per formulation, the one table by which all else is refused."""

from collections.abc import Callable
from dataclasses import dataclass

from .errors import refused
from .outline import Outline
from .part import Finding, finding
from .robot import Robot

DEFAULT_FORMULATION = "nonlinear"


@dataclass(frozen=True)
class Support:
    """What a formulation of the equations of motion can do, and what it takes where nothing is chosen."""

    name: str  # as `formulation` of a scenario names it
    default_basis: str  # shapes of its links
    bases: tuple[str, ...] = ()  # shapes that it can work with; none named: the default
    # What its joint coordinates may mean.
    references: tuple[str, ...] = ("tangent",)
    default_reference: str = "tangent"
    terms: tuple[str, ...] = ("consistent",)
    stiffening: bool = False  # takes `stiffening: geometric`
    trees: bool = False  # links that branch off
    loops: bool = False  # closed chains
    segments: bool = False  # links of several bodies, finite rotation between them
    # Nodes turn by finite angles, not by small ones added to a rigid motion (with consistent terms).
    finite_rotations: bool = False

    def __post_init__(self):
        if not self.bases:
            object.__setattr__(self, "bases", (self.default_basis,))
        self._check("default_basis", self.bases)
        self._check("default_reference", self.references)

    def _check(self, field: str, choices: tuple[str, ...]) -> None:
        default = getattr(self, field)
        if default not in choices:
            accepted = ", ".join(choices)
            raise ValueError(
                f"{self.name}: {field} must be one of {accepted}, got {default!r}"
            )


SUPPORT: dict[str, Support] = {}


def register(support: Support) -> Support:
    """Announce a formulation, so that scenarios may name it.

    Raises:
        ValueError: another formulation has this name.
    """
    known = SUPPORT.setdefault(support.name, support)
    if known != support:
        raise ValueError(f"another formulation is called {support.name!r}")
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
        stiffening=True,
        trees=True,
        finite_rotations=True,
    )
)
register(
    Support(
        name="nonlinear",
        bases=("craig-bampton", "assumed", "nodal"),
        default_basis="craig-bampton",
        references=("tangent",),
        default_reference="tangent",
        stiffening=True,
        trees=True,
        loops=True,
        segments=True,
        finite_rotations=True,
    )
)


def names_with(condition: Callable[[Support], bool]) -> str:
    """The formulations that fulfil a condition, as words: `erls-fem or erls-cms`."""
    names = [support.name for support in SUPPORT.values() if condition(support)]
    return " or ".join(names)


def structure_findings(support: Support, robot: Outline) -> list[Finding]:
    """Loops and branches of a robot that a formulation does not take."""
    if robot.closed and not support.loops:
        field = "loops"
        accepted = "open chains" if support.trees else "serial chains"
        others = names_with(lambda s: s.loops)
    elif robot.branched and not support.trees:
        field = "parent"
        accepted = "chains without branches" if support.loops else "serial chains"
        others = names_with(lambda s: s.trees)
    elif robot.segmented and not support.segments:
        others = names_with(lambda s: s.segments)
        message = (
            f"{support.name} has no finite rotation between the segments of link {', '.join(robot.segmented)}: "
            f"use {others}, or leave segments out"
        )
        return [finding(message, "formulation", value=support.name)]
    else:
        return []
    message = f"the formulation {support.name} takes {accepted} only: use {others}"
    return [finding(message, field)]


def check_structure(support: Support, robot: Robot) -> None:
    """Refuse a robot with loops or branches that a formulation does not take.

    Raises:
        DescriptionError: with the field `loops` or `parent`.
    """
    for found in structure_findings(support, robot.outline):
        (field,) = found.loc
        raise refused(str(field), found.value, found.message)
