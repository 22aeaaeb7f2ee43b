"""`static` and `modes`: equilibrium and natural vibration."""

from typing import Annotated

import typer

from ..compiled_code import keep_compiled_code
from .linear import Kd, Kp, Qd, Qdd
from .options import (
    Degrees,
    Formulation,
    Json,
    ModeCount,
    Q,
    Reference,
    RobotName,
    Settings,
    Terms,
    choices,
)
from .output import console, note, number, print_json, table, vector


def static(
    robot: RobotName,
    q: Q = None,
    deg: Degrees = False,
    free: Annotated[
        bool,
        typer.Option(
            "--free",
            help="Joints move freely, downhill from --q to a stable equilibrium.",
        ),
    ] = False,
    torque: Annotated[
        str | None,
        typer.Option(
            "--torque",
            metavar="T1,T2,...",
            help="Torques on free joints in N m (forces in N).",
        ),
    ] = None,
    settings: Settings = None,
    formulation: Formulation = None,
    modes: ModeCount = None,
    reference: Reference = None,
    terms: Terms = None,
    json: Json = False,
) -> None:
    """Elastic equilibrium under gravity with the joints held: holding torques and deflections.

    Example: lissom static double-pendulum --q 0,1.57 --set gravity=[0,0,-9.81]
    """
    from ..services import service

    code = keep_compiled_code()
    chosen = choices(settings, formulation, modes, reference, terms)
    answer = service.static(robot, q, chosen, degrees=deg, free=free, torque=torque)
    if json:
        return print_json(answer | {"cached": code.reused, "cache": code.report()})
    screen = console()
    held = answer["joints_are"] == "held"
    rows = [
        (j, answer["encoder"][j], answer["q"][j], answer["torque"][j])
        for j in answer["q"]
    ]
    kind = "holding torque" if held else "torque"
    screen.print(
        table(
            f"{answer['robot']}: joints {answer['joints_are']}",
            _joint_columns(kind),
            rows,
        )
    )
    nodes = [node for node in answer["position"] if not node.endswith("/tip")]
    rows = [
        (n, *vector(answer["position"][n]), *vector(answer["displacement"][n], 1e3))
        for n in nodes
    ]
    columns = ("node", ">x [m]", ">y [m]", ">z [m]", ">dx [mm]", ">dy [mm]", ">dz [mm]")
    screen.print(
        table(
            "Nodes: position, and displacement from the rigid robot with the same encoders",
            columns,
            rows,
        )
    )
    screen.print(
        f"energy: strain {number(answer['energy']['strain'])} J, gravity {number(answer['energy']['gravity'])} J"
    )
    note(str(code))


def modes(
    robot: RobotName,
    q: Q = None,
    deg: Degrees = False,
    locked: Annotated[bool, typer.Option("--locked", help="Hold every joint.")] = False,
    count: Annotated[
        int, typer.Option(min=1, help="Number of modes, lowest first.")
    ] = 10,
    undeformed: Annotated[
        bool,
        typer.Option(
            "--undeformed",
            help="About the undeformed robot instead of its equilibrium.",
        ),
    ] = False,
    damped: Annotated[
        bool,
        typer.Option("--damped", help="Damped modes; always so where joints move."),
    ] = False,
    qd: Qd = None,
    qdd: Qdd = None,
    kp: Kp = None,
    kd: Kd = None,
    plot: Annotated[
        str | None, typer.Option(metavar="PNG", help="Picture of the mode shapes.")
    ] = None,
    animate: Annotated[
        str | None,
        typer.Option(metavar="HTML", help="The robot swinging in the mode --mode."),
    ] = None,
    mode: Annotated[
        int, typer.Option(min=1, help="Number of the mode that is animated.")
    ] = 1,
    settings: Settings = None,
    formulation: Formulation = None,
    modes: ModeCount = None,
    reference: Reference = None,
    terms: Terms = None,
    json: Json = False,
) -> None:
    """Natural frequencies, damping ratios, and the share of each link and joint in each mode.

    Example: lissom modes double-pendulum --q 0,1.57 --locked
    """
    from ..services import service

    code = keep_compiled_code()
    chosen = choices(settings, formulation, modes, reference, terms)
    answer = service.modes(
        robot,
        q,
        chosen,
        degrees=deg,
        locked=locked,
        count=count,
        undeformed=undeformed,
        picture=plot,
        damped=damped,
        motion=(qd, qdd),
        control=(kp, kd),
        page=animate,
        number=mode,
    )
    if json:
        return print_json(answer | {"cached": code.reused, "cache": code.report()})
    screen = console()
    names = list(answer["share"][0]) if answer["share"] else []
    if locked:
        names = [name for name in names if not name.startswith("joint ")]
    columns = (
        ">mode",
        ">frequency [Hz]",
        ">damping [%]",
        "kind",
        *(f">{name}" for name in names),
    )
    rows = [
        (
            m + 1,
            f"{frequency:.4f}",
            "-" if zeta != zeta else f"{100 * zeta:.4g}",
            answer["stability"][m],
            *(f"{100 * answer['share'][m][name]:.1f}" for name in names),
        )
        for m, (frequency, zeta) in enumerate(
            zip(answer["frequency_hz"], answer["damping_ratio"], strict=True)
        )
    ]
    state = "joints locked" if locked else "joints free"
    screen.print(
        table(
            f"{answer['robot']}: modes about the {_about(answer['about'])}, {state}",
            columns,
            rows,
        )
    )
    alone = (
        ""
        if locked
        else "; for joints, of their motion alone against that of all joints and of the links' bending"
    )
    screen.print(f"Shares in % of the kinetic energy{alone}.")
    if not answer["damping"]:
        screen.print("no damping in the robot")
    if plot is not None:
        screen.print(f"picture: {plot}")
    if animate is not None:
        screen.print(f"animation: {animate}")
    note(str(code))


def _joint_columns(torque: str) -> tuple[str, ...]:
    return (
        "joint",
        ">encoder [rad or m]",
        ">q of the ERLS [rad or m]",
        f">{torque} [N m or N]",
    )


def _about(text: str) -> str:
    return "undeformed robot" if text == "undeformed" else text
