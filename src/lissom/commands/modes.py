"""`lissom modes`: natural vibration."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..compiled_code import keep_compiled_code
from ..describe.defaults import SHOWN_MODES
from ..files.errors import refused
from .option_groups import Modelling, OperatingPoint, Report, grouped
from .options import Damped, RobotName, WeightStiffness
from .output import print_model, table
from .parsing import option_names

if TYPE_CHECKING:
    from ..services.modes import ModesResult


@grouped
def modes(
    robot: RobotName,
    *,
    point: OperatingPoint,
    count: Annotated[
        int, typer.Option(min=1, help="Number of modes, lowest first.")
    ] = SHOWN_MODES,
    undeformed: Annotated[
        bool,
        typer.Option(
            "--undeformed",
            help="About the undeformed robot instead of its equilibrium.",
        ),
    ] = False,
    damped: Damped = False,
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
    weight_stiffness: WeightStiffness = False,
    modelling: Modelling,
    report: Report,
) -> None:
    """Natural frequencies, damping ratios, and the share of each link and joint in each mode.

    Example: lissom modes double-pendulum --q 0,1.57 --locked
    """
    from ..services.modes import ModesRequest
    from ..services.modes import modes as natural_modes

    code = keep_compiled_code()
    if mode > count:
        raise refused("--mode", mode, f"only {count} modes are asked for: --count")
    described = modelling.robot(robot)
    request = ModesRequest(
        robot=described,
        **point.values(described.robot),
        weight_stiffness=weight_stiffness,
        damped=damped,
        undeformed=undeformed,
        count=count,
        picture=plot,
        animation=animate,
        animated_mode=mode,
    )
    with option_names(
        picture="--plot",
        animation="--animate",
        undeformed="--undeformed",
        weight_stiffness="--weight-stiffness",
    ):
        answer = natural_modes(request)
    report.tell(answer, code, _print)


def _print(screen: Console, answer: "ModesResult") -> None:
    parts = _parts_with_a_share(answer)
    columns = (
        ">mode",
        ">frequency [Hz]",
        ">damping [%]",
        "kind",
        *(f">{name}" for name in parts),
    )
    rows = [_row(answer, m, parts) for m in range(len(answer.frequency_hz))]
    about = "undeformed robot" if answer.about == "undeformed" else answer.about
    joints = "joints locked" if answer.locked else "joints free"
    title = f"{answer.robot}: modes about the {about}, {joints}"
    screen.print(table(title, columns, rows))
    print_model(screen, answer)
    explanation = "Shares in % of the kinetic energy"
    if not answer.locked:
        explanation += (
            "; for joints, of their motion alone against that of all joints "
            "and of the links' bending"
        )
    screen.print(f"{explanation}.")
    if not answer.damping:
        screen.print("no damping in the robot")
    if answer.weight_note is not None:
        screen.print(f"{answer.weight_note}.")
    if answer.picture is not None:
        screen.print(f"picture: {answer.picture}")
    if answer.animation is not None:
        screen.print(f"animation: {answer.animation}")


def _parts_with_a_share(answer: "ModesResult") -> list[str]:
    """Links and joints of the table; locked joints take no part in any mode."""
    parts = list(answer.share[0]) if answer.share else []
    if not answer.locked:
        return parts
    return [name for name in parts if not name.startswith("joint ")]


def _row(answer: "ModesResult", m: int, parts: list[str]) -> tuple[object, ...]:
    zeta = answer.damping_ratio[m]
    # Where nothing vibrates there is no damping ratio: NaN, the one number that differs from itself.
    damping = "-" if zeta != zeta else f"{100 * zeta:.4g}"
    shares = [f"{100 * answer.share[m][name]:.1f}" for name in parts]
    frequency = f"{answer.frequency_hz[m]:.4f}"
    return m + 1, frequency, damping, answer.stability[m], *shares
