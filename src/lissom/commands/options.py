"""Options that several verbs share."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from ..describe.supported import SUPPORT
from .parsing import assignments, modes_of, reference_of

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else.")
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Exit with code 1 if there are warnings."),
]

# --- the point that an analysis is about ---------------------------------------------------------------------------

Degrees = Annotated[
    bool,
    typer.Option(
        "--deg", help="Angles without a unit are in degrees, their rates in deg/s."
    ),
]


def _choice(help: str, metavar: str | None = None) -> Any:
    """An option of how the robot is modelled."""
    return Annotated[str | None, typer.Option(metavar=metavar, help=help)]


# How the robot is modelled.
MODELLING: dict[str, Any] = {
    "settings": Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a key of the scenario or the robot; may be repeated.",
        ),
    ],
    "formulation": _choice(f"Equations of motion: {', '.join(SUPPORT)}."),
    "modes": _choice(
        "Elastic modes kept per link: 12, all, or 12,8 for two links; a nodal basis keeps all.",
        "N",
    ),
    "reference": _choice(
        "What the joint coordinates of bent links mean: tangent, minimum-norm, or zeroed:upper/tip.y,lower/0.rz.",
        "CHOICE",
    ),
    "terms": _choice(
        "Terms of the equations: consistent (complete), published (as printed in the papers), or published-planar "
        "(as printed for planar mechanisms)."
    ),
    "basis": _choice(
        "Basis of the links' deformation: craig-bampton, assumed or nodal. Default: that of the formulation."
    ),
    "stiffening": _choice(
        "Geometric stiffening and softening by axial loads: none, or geometric."
    ),
}
READERS = {"modes": modes_of, "reference": reference_of}


def changes_of(modelling: Mapping[str, Any]) -> dict[str, Any]:
    """Changes of a scenario by dotted path: every `--set`, then the other options, which win."""
    given = {key: text for key, text in modelling.items() if text is not None}
    changes = assignments(given.pop("settings", ()))
    for key, text in given.items():
        changes[key] = READERS[key](text) if key in READERS else text
    return changes
