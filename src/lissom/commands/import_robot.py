"""`lissom import`: robots from URDF files."""

from typing import Annotated

import typer

from .options import Json
from .output import console, print_json
from .parsing import option_names


def import_robot(
    file: Annotated[str, typer.Argument(metavar="ROBOT.urdf", help="URDF file.")],
    tip: Annotated[
        str | None,
        typer.Option(
            metavar="LINK", help="Last link of the chain, where there are several ends."
        ),
    ] = None,
    flexible: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LINK=SECTION",
            help="A link that bends: arm_link=tube:100mm:90mm:aluminium; also circle, rectangle, box. May be repeated.",
        ),
    ] = None,
    beam_mass: Annotated[
        bool,
        typer.Option(
            "--beam-mass",
            help="Flexible links have the mass of their beam alone, not that of the URDF.",
        ),
    ] = False,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="YAML", help="Robot file."),
    ] = None,
    json: Json = False,
) -> None:
    """A robot file of a URDF file. Links made flexible keep their mass, centre and inertia.

    Example: lissom import robot.urdf --tip tool0 --flexible upper_arm_link=tube:100mm:90mm:aluminium -o arm.yaml
    """
    from ..services.import_robot import ImportRequest
    from ..services.import_robot import import_robot as imported

    request = ImportRequest(
        file=file,
        tip=tip,
        flexible=tuple(flexible or ()),
        beam_mass=beam_mass,
        output=output,
    )
    with option_names(tip="--tip", flexible="--flexible", output="-o"):
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
