"""Options that several verbs share."""

from typing import Annotated

import typer

from ..describe.supported import SUPPORT

# typer reads the options of a command from its signature: what several commands share is written here once and named
# in each of them.

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

# --- how the robot is modelled -------------------------------------------------------------------------------------

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a key of the scenario or the robot; may be repeated.",
    ),
]
Formulation = Annotated[
    str | None,
    typer.Option(help=f"Equations of motion: {', '.join(SUPPORT)}."),
]
ModeCount = Annotated[
    str | None,
    typer.Option(
        "--modes",
        metavar="N",
        help="Elastic modes kept per link: 12, all, or 12,8 for two links; a nodal basis keeps all.",
    ),
]
Reference = Annotated[
    str | None,
    typer.Option(
        metavar="CHOICE",
        help="What the joint coordinates of bent links mean: tangent, minimum-norm, or "
        "zeroed:upper/tip.y,lower/0.rz.",
    ),
]
Terms = Annotated[
    str | None,
    typer.Option(
        help="Terms of the equations: consistent (complete), published (as printed in the papers), or published-planar "
        "(as printed for planar mechanisms)."
    ),
]


Basis = Annotated[
    str | None,
    typer.Option(
        help="Basis of the links' deformation: craig-bampton, assumed or nodal. Default: that of the formulation."
    ),
]
Stiffening = Annotated[
    str | None,
    typer.Option(
        help="Geometric stiffening and softening by axial loads: none, or geometric."
    ),
]
