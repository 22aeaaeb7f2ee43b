"""What each formulation can do: one record per formulation, the one table by which all else is refused."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..files.errors import refused
from ..files.part import Finding, finding
from .outline import PLANAR, Outline
from .robot import Robot

DEFAULT_FORMULATION = "nonlinear"


@dataclass(frozen=True)
class Support:
    """Capabilities and defaults of a formulation of the equations of motion."""

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
    # Why it does not offer what it does not, by field: `references`, `terms`, `bases`, `trees`, `loops`, ...
    reasons: Mapping[str, str] = field(default_factory=dict, compare=False)
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
# As printed for planar mechanisms: displacements along world axes, no centrifugal stiffness.
PLANAR_TERMS = "published-planar"
ALL_TERMS = (*BOTH_TERMS, PLANAR_TERMS)
NODAL_TERMS = (
    "the coordinates of published-planar are displacements of nodes along world axes, "
    "[Palomba2019]: those of erls-fem"
)
ALL_BASES = ("assumed", "craig-bampton", "nodal")
ONE_BODY = "segments are bodies with finite rotation between them; to first order they are one body"
OWN_ENCODERS = (
    "its links are mounted on the deformed links before them, so its joint coordinates are the encoder readings; "
    "other choices exist only to first order"
)


register(
    Support(
        name="erls-fem",
        bases=("nodal",),
        default_basis="nodal",
        reasons={
            "segments": ONE_BODY,
            "bases": "its coordinates are the displacements of all nodes, [Boscariol2012]; erls-cms has the "
            "same equations with modes",
        },
        references=ERLS_REFERENCES,
        default_reference="tangent",
        terms=ALL_TERMS,
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
        reasons={
            "segments": ONE_BODY,
            "bases": "its coordinates are component modes, [Vidoni2015]; erls-fem has the same equations with "
            "all nodes",
            "terms": NODAL_TERMS,
        },
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
        reasons={
            "segments": ONE_BODY,
            "references": OWN_ENCODERS,
            "terms": NODAL_TERMS,
            "loops": "the displacements of dependent joints are linear in the elastic coordinates and grow "
            "without bound towards dead points: the expansion by dual numbers has no radius of convergence "
            "there",
        },
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
        reasons={
            "references": OWN_ENCODERS,
            "terms": "no paper publishes other terms: it is the reference model of [Cibicik2021], from "
            "complete virtual work",
        },
        finite_rotations=True,
    )
)


@dataclass(frozen=True)
class Refusal:
    """An entry that a formulation does not support, as a user writes it, and the reason."""

    formulation: str
    choice: str
    reason: str


def refusals(support: Support) -> list[Refusal]:
    """Everything that a formulation does not take, with its reasons."""

    def missing(choices: tuple[str, ...], taken: tuple[str, ...]) -> list[str]:
        return [choice for choice in choices if choice not in taken]

    not_offered = {
        "references": ("reference", missing(ERLS_REFERENCES, support.references)),
        "terms": ("terms", missing(ALL_TERMS, support.terms)),
        "bases": ("basis", missing(ALL_BASES, support.bases)),
        "stiffening": ("stiffening", [] if support.stiffening else ["geometric"]),
        "trees": ("parent", [] if support.trees else ["another link"]),
        "loops": ("loops", [] if support.loops else ["closed chains"]),
        "segments": ("segments", [] if support.segments else ["of a beam"]),
    }
    found = []
    for name, (key, choices) in not_offered.items():
        if choices:
            reason = support.reasons.get(name, "not declared")
            choice = f"{key}: {', '.join(choices)}"
            found.append(Refusal(support.name, choice, reason))
    return found


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


def terms_findings(terms: str, robot: Outline) -> list[Finding]:
    """Terms that are printed for planar robots alone."""
    if terms != PLANAR_TERMS or robot.components == PLANAR:
        return []
    message = "these terms are published for planar mechanisms: set planar: true in the robot, or choose published"
    return [finding(message, "terms", value=terms)]


def check_terms(terms: str, robot: Robot) -> None:
    """Refuse terms that are not printed for such a robot.

    Raises:
        DescriptionError: with the field `terms`.
    """
    for found in terms_findings(terms, robot.outline):
        raise refused("terms", terms, found.message)
