"""`lissom import`: robots from URDF and MJCF files."""

from math import isfinite
from typing import Annotated, Any

import typer

from ..files.errors import refused
from .options import Json
from .output import console, print_json
from .parsing import option_names


def import_robot(
    file: Annotated[
        str,
        typer.Argument(
            metavar="ROBOT.urdf", help="URDF file, or MJCF (.xml, read by Pinocchio)."
        ),
    ],
    tip: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LINK",
            help="Last link of the chain, where there are several ends. Repeated, the robot has branches.",
        ),
    ] = None,
    flexible: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LINK=SECTION",
            help="A link that bends: arm_link=tube:100mm:90mm:aluminium; also circle, rectangle, box; or a guess from "
            "its shape or inertia, arm_link=estimate:aluminium. May be repeated.",
        ),
    ] = None,
    beam_mass: Annotated[
        bool,
        typer.Option(
            "--beam-mass",
            help="Flexible links have the mass of their beam alone, not that of the URDF.",
        ),
    ] = False,
    branches: Annotated[
        str,
        typer.Option(
            metavar="weld|drop",
            help="Links beside the chain ride along, their joints held, or are left out.",
        ),
    ] = "weld",
    hold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JOINT=VALUE",
            help="A joint of the file that does not move, and where it stands (rad or m). May be repeated.",
        ),
    ] = None,
    merge_fixed: Annotated[
        bool,
        typer.Option(
            "--merge-fixed/--keep-fixed",
            help="Links on fixed joints become part of what carries them.",
        ),
    ] = False,
    meshes: Annotated[
        bool | None,
        typer.Option(
            "--meshes/--no-meshes",
            help="Shapes for pictures, beside the robot file; --meshes refuses a mesh that is missing.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="YAML", help="Robot file."),
    ] = None,
    json: Json = False,
) -> None:
    """A robot file of a URDF or MJCF file. Links made flexible keep their mass, centre and inertia.

    Example: lissom import robot.urdf --tip tool0 --flexible upper_arm_link=tube:100mm:90mm:aluminium -o arm.yaml
    """
    from ..services.import_robot import ImportRequest
    from ..services.import_robot import import_robot as imported

    options = ("tip", "flexible", "hold", "branches")
    with option_names(**{name: f"--{name}" for name in options}, output="-o"):
        request = ImportRequest(
            file=file,
            tip=tuple(tip or ()),
            flexible=tuple(flexible or ()),
            beam_mass=beam_mass,
            branches=_branches(branches),
            hold=dict(_held(text) for text in hold or ()),
            merge_fixed=merge_fixed,
            meshes=meshes,
            output=output,
        )
        answer = imported(request)
    if json:
        return print_json(answer)
    screen = console()
    screen.print(
        f"{answer.robot}: {len(answer.links)} links, joints {', '.join(answer.joints)}"
    )
    for line in answer.notes:
        screen.print(line)
    if answer.file is not None:
        screen.print(f"robot: {answer.file}")


def _branches(text: str) -> Any:
    if text not in ("weld", "drop"):
        raise refused("branches", text, "must be weld or drop")
    return text


def _held(text: str) -> tuple[str, float]:
    """A joint and where it stands, of `JOINT=VALUE`."""
    joint, equals, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not joint or not equals or not isfinite(number):
        message = "must be JOINT=VALUE, such as finger_joint=0.02"
        raise refused("hold", text, message)
    return joint, number
