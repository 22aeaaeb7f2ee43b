"""`lissom static`: elastic equilibrium."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..compiled_code import keep_compiled_code
from ..files.errors import refused
from .option_groups import Modelling, Pose, Report, grouped
from .options import RobotName
from .output import number, print_model, table, vector
from .parsing import FORCE, joint_values

if TYPE_CHECKING:
    from ..services.static import StaticResult


@grouped
def static(
    robot: RobotName,
    *,
    pose: Pose,
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
    modelling: Modelling,
    report: Report,
) -> None:
    """Elastic equilibrium under gravity with the joints held: holding torques and deflections.

    Example: lissom static double-pendulum --q 0,1.57 --set gravity=[0,0,-9.81]
    """
    from ..services.static import StaticRequest
    from ..services.static import static as equilibrium

    code = keep_compiled_code()
    described = modelling.robot(robot)
    load = joint_values(described.robot, "--torque", torque, FORCE)
    # The service refuses this too, but does not know the options.
    if load is not None and not free:
        message = "only free joints take torques: add --free; held joints find theirs"
        raise refused("--torque", torque, message)
    answer = equilibrium(
        StaticRequest(
            robot=described, free=free, torque=load, **pose.values(described.robot)
        )
    )
    report.tell(answer, code, _print)


def _print(screen: Console, answer: "StaticResult") -> None:
    torque = "holding torque" if answer.joints_are == "held" else "torque"
    columns = (
        "joint",
        ">encoder [rad or m]",
        ">q of the rigid robot (ERLS) [rad or m]",
        f">{torque} [N m or N]",
    )
    rows = [
        (joint, answer.encoder[joint], answer.q[joint], answer.torque[joint])
        for joint in answer.q
    ]
    title = f"{answer.robot}: joints {answer.joints_are}"
    screen.print(table(title, columns, rows))
    columns = ("node", ">x [m]", ">y [m]", ">z [m]", ">dx [mm]", ">dy [mm]", ">dz [mm]")
    rows = []
    for node, position in answer.position.items():
        # The tip of a link is its last node, which has a row of its own.
        if not node.endswith("/tip"):
            moved = vector(answer.displacement[node], 1e3)
            rows.append((node, *vector(position), *moved))
    title = (
        "Nodes: position, and displacement from the rigid robot with the same encoders"
    )
    screen.print(table(title, columns, rows))
    strain = number(answer.energy.strain)
    gravity = number(answer.energy.gravity)
    print_model(screen, answer)
    screen.print(f"energy: strain {strain} J, gravity {gravity} J")
