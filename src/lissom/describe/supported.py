"""The formulations, and which choices each of them takes: the one place where the rest is refused."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Support:
    """What a formulation offers; whatever is not declared here is refused at the door."""

    name: str
    default_basis: str  # shapes of the links, unless others are chosen
    bases: tuple[str, ...] = ()  # shapes that can be chosen; none: the default alone
    references: tuple[str, ...] = ("tangent",)  # meanings of the joint coordinates
    default_reference: str = "tangent"
    terms: tuple[str, ...] = ("consistent",)
    stiffening: bool = False  # geometric stiffening of bent links
    trees: bool = False  # links with several children
    loops: bool = False  # links that close to rings
    finite_rotations: bool = False  # nodes turn by exp(phi x), else by phi alone


SUPPORT: dict[str, Support] = {}


def register(support: Support) -> None:
    """Add a formulation to those that can be chosen by name."""
    SUPPORT[support.name] = support


ALL_REFERENCES = ("tangent", "minimum-norm", "zeroed")
ALL_TERMS = ("consistent", "published")
ALL_BASES = ("assumed", "craig-bampton", "nodal")

register(
    Support(
        name="erls-fem",
        default_basis="nodal",
        references=ALL_REFERENCES,
        terms=ALL_TERMS,
        stiffening=True,
        trees=True,
        loops=True,
    )
)
register(
    Support(
        name="erls-cms",
        default_basis="craig-bampton",
        references=ALL_REFERENCES,
        default_reference="minimum-norm",
        terms=ALL_TERMS,
        stiffening=True,
        trees=True,
        loops=True,
    )
)
register(
    Support(
        name="dual-screw",
        default_basis="assumed",
        bases=ALL_BASES,
        terms=ALL_TERMS,
        finite_rotations=True,
    )
)
register(
    Support(
        name="nonlinear",
        default_basis="assumed",
        bases=ALL_BASES,
        stiffening=True,
        finite_rotations=True,
    )
)
