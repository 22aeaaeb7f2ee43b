"""`lissom show`: a robot in a table and a picture."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from .option_groups import Modelling, Pose, grouped
from .options import Json, RobotName, Settings
from .output import console, number, print_json, print_model, table
from .parsing import option_names

if TYPE_CHECKING:
    from ..services.show import ShownLink, ShownMaterial, ShowResult


@grouped
def show(
    robot: RobotName,
    *,
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="PNG", help="Picture: .png, .pdf, .svg."
        ),
    ] = None,
    pose: Pose,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """Show a robot: a table of its links and, with -o, a picture with frames and nodes.

    Example: lissom show anthropomorphic --q 0,30,-60 --deg -o robot.png
    """
    from ..services.show import ShowRequest
    from ..services.show import show as shown

    described = Modelling(settings).robot(robot)
    request = ShowRequest(
        robot=described,
        source_file=robot,
        picture=output,
        **pose.values(described.robot),
    )
    with option_names(picture="-o"):
        answer = shown(request)
    if json:
        return print_json(answer)
    _print(console(), answer)


def _print(screen: Console, answer: "ShowResult") -> None:
    columns = (
        "link",
        "joint",
        ">length [m]",
        "section",
        "material",
        ">mass [kg]",
        ">elements",
    )
    rows = [_row(link) for link in answer.links]
    screen.print(table(answer.name, columns, rows))
    for loop in answer.loops:
        at = ", ".join(number(part) for part in loop.at)
        screen.print(f"loop: {loop.link}/tip, {loop.type}, to {loop.to} at ({at}) m")
    if answer.loops:
        screen.print(f"independent joints: {', '.join(answer.independent)}")
    if answer.payload is not None:
        screen.print(f"payload {answer.payload:.4g} kg")
    gravity = ", ".join(number(g) for g in answer.gravity)
    screen.print(f"mass {answer.mass:.4g} kg, gravity ({gravity}) m/s^2", end="")
    screen.print("" if answer.damping else ", no damping")
    print_model(screen, answer)
    if answer.source:
        screen.print(answer.source)
    if answer.picture is not None:
        screen.print(f"picture: {answer.picture}")


def _row(link: "ShownLink") -> tuple[object, ...]:
    return (
        link.name,
        link.joint,
        f"{link.length:.4g}",
        link.section or "rigid",
        _material(link.material),
        f"{link.mass:.4g}",
        link.elements or "-",
    )


def _material(material: "ShownMaterial | None") -> str:
    if material is None:
        return "-"
    return f"E {material.E / 1e9:.4g} GPa, {material.density:.4g} kg/m^3"
