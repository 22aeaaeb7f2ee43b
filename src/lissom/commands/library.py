"""`robots`, `show`, `validate`: what there is, and whether it is right."""

from typing import Annotated

import typer

from .options import Degrees, Json, Q, RobotName, Settings
from .output import console, note, number, print_json, table


def robots(json: Json = False) -> None:
    """List the robots and scenarios of the library.

    Example: lissom robots
    """
    from ..services import service

    answer = service.robots()
    if json:
        return print_json(answer)
    screen = console()
    rows = [
        (
            r["name"],
            len(r["joints"]),
            ", ".join(r["flexible_links"]),
            ", ".join(map(str, r["elements"])),
            r["source"],
        )
        for r in answer["robots"]
    ]
    screen.print(
        table(
            "Robots", ("name", ">joints", "flexible links", "elements", "source"), rows
        )
    )
    rows = [
        (s["name"], s["robot"], s["t_end"], s["source"]) for s in answer["scenarios"]
    ]
    screen.print(table("Scenarios", ("name", "robot", ">t_end [s]", "source"), rows))
    screen.print(
        "Try: lissom show anthropomorphic -o robot.png, lissom simulate double-pendulum --plot run.png"
    )


def show(
    robot: RobotName,
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="PNG", help="Picture: .png, .pdf, .svg."
        ),
    ] = None,
    q: Q = None,
    deg: Degrees = False,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """Show a robot: a table of its links and, with -o, a picture with frames and nodes.

    Example: lissom show anthropomorphic --q 0,30,-60 --deg -o robot.png
    """
    from ..services import service

    answer = service.show(robot, q, output, degrees=deg, settings=settings or ())
    if json:
        return print_json(answer)
    screen = console()
    rows = [
        (
            link["name"],
            link["joint"],
            f"{link['length']:.4g}",
            link["section"] or "rigid",
            _material(link["material"]),
            f"{link['mass']:.4g}",
            link["elements"] or "-",
        )
        for link in answer["links"]
    ]
    columns = (
        "link",
        "joint",
        ">length [m]",
        "section",
        "material",
        ">mass [kg]",
        ">elements",
    )
    screen.print(table(answer["name"], columns, rows))
    for loop in answer["loops"]:
        at = ", ".join(number(part) for part in loop["at"])
        screen.print(
            f"loop: {loop['link']}/tip, {loop['type']}, to {loop['to']} at ({at}) m"
        )
    if answer["loops"]:
        screen.print(f"independent joints: {', '.join(answer['independent'])}")
    if answer["payload"] is not None:
        screen.print(f"payload {answer['payload']:.4g} kg")
    gravity = ", ".join(number(g) for g in answer["gravity"])
    screen.print(f"mass {answer['mass']:.4g} kg, gravity ({gravity}) m/s^2", end="")
    screen.print("" if answer["damping"] else ", no damping")
    if answer["source"]:
        screen.print(answer["source"])
    if output is not None:
        screen.print(f"picture: {output}")


def validate(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Robot or scenario file (YAML or URDF), or library name.",
        ),
    ],
    json: Json = False,
) -> None:
    """Check a robot or scenario file and report every error at once; exit code 2 if there is one.

    Example: lissom validate robot.yaml
    """
    from ..describe import Problem
    from ..services import service

    answer = service.validate(file)
    if json:
        print_json(answer)
    elif answer["valid"]:
        console().print(f"{file}: valid {answer['kind']}", soft_wrap=True)
    else:
        for problem in answer["errors"]:
            note(str(Problem(**problem)))
        count = len(answer["errors"])
        note(f"{file}: {count} error{'s' if count > 1 else ''}")
    if not answer["valid"]:
        raise typer.Exit(2)


def _material(material: dict | None) -> str:
    if material is None:
        return "-"
    return f"E {material['E'] / 1e9:.4g} GPa, {material['density']:.4g} kg/m^3"
