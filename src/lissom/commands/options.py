"""Options that several verbs share."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..services.service import Choices

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else.")
]
RobotName = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT", help="Library name, or robot, scenario or result file."
    ),
]
Q = Annotated[
    str | None,
    typer.Option(
        "--q",
        metavar="Q1,Q2,...",
        help="Joint coordinates in rad or m: 0,1.57 or '0,90 deg'. Default: zero.",
    ),
]
Degrees = Annotated[
    bool, typer.Option("--deg", help="Revolute joints of --q are given in degrees.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a key of the scenario or the robot; may be repeated.",
    ),
]
Formulation = Annotated[
    str | None, typer.Option(help="Equations of motion: erls-fem, erls-cms, nonlinear.")
]
ModeCount = Annotated[
    str | None,
    typer.Option(
        "--modes",
        metavar="N",
        help="Kept elastic modes per link, where the formulation reduces.",
    ),
]
Reference = Annotated[
    str | None,
    typer.Option(
        metavar="CHOICE",
        help="Choice of the ERLS: tangent, minimum-norm, or zeroed:upper/tip.y,lower/0.rz.",
    ),
]
Terms = Annotated[
    str | None, typer.Option(help="consistent, or published: as printed in the papers.")
]


def choices(settings, formulation, modes, reference, terms) -> "Choices":
    """The shared options in one."""
    from ..services.service import Choices

    return Choices(tuple(settings or ()), formulation, modes, reference, terms)
