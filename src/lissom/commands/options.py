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
RobotName = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT", help="Library name, or robot, scenario or result file."
    ),
]

ResultFile = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="NC",
        help="Result file: .nc (NetCDF), or a table .csv.",
    ),
]
RunPicture = Annotated[
    str | None,
    typer.Option("--plot", metavar="PNG", help="Figure of the run: .png, .pdf, .svg."),
]

# --- the point that an analysis is about ---------------------------------------------------------------------------

Q = Annotated[
    str | None,
    typer.Option(
        "--q",
        metavar="Q1,Q2,...",
        help="Joint coordinates in rad or m: 0,1.57 or '0,90 deg'. Default: those of the scenario, or zero.",
    ),
]
Qd = Annotated[
    str | None,
    typer.Option(
        "--qd", metavar="V1,V2,...", help="Joint speeds in rad/s or m/s. Default: zero."
    ),
]
Qdd = Annotated[
    str | None,
    typer.Option(
        "--qdd",
        metavar="A1,A2,...",
        help="Joint accelerations in rad/s^2 or m/s^2. Default: zero.",
    ),
]
Degrees = Annotated[
    bool,
    typer.Option(
        "--deg", help="Angles without a unit are in degrees, their rates in deg/s."
    ),
]
Kp = Annotated[
    str | None,
    typer.Option(
        "--kp",
        metavar="K1,K2,...",
        help="Stiffness of joint controllers in N m/rad or N/m: one number for all joints, or one for each.",
    ),
]
Kd = Annotated[
    str | None,
    typer.Option(
        "--kd",
        metavar="D1,D2,...",
        help="Damping of joint controllers in N m s/rad or N s/m: one number for all joints, or one for each.",
    ),
]
Locked = Annotated[bool, typer.Option("--locked", help="Hold every joint.")]
WeightStiffness = Annotated[
    bool,
    typer.Option(
        "--weight-stiffness",
        help="Add the second-order stiffness of carried weight, which formulations of first order leave out.",
    ),
]
Damped = Annotated[
    bool,
    typer.Option("--damped", help="Damped modes; always so where joints move."),
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
        help="Elastic modes kept of each link: 12, all, or 12,8 for two links; a nodal basis keeps all.",
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
        help="Shapes of the links: craig-bampton, assumed or nodal. Default: that of the formulation."
    ),
]
Stiffening = Annotated[
    str | None,
    typer.Option(
        help="Whether axial loads stiffen and soften bent links: none, or geometric."
    ),
]
