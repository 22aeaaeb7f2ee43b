"""`lissom mode-map`: modes over the workspace, on a grid or as polynomials."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..compiled_code import keep_compiled_code
from ..describe.defaults import FOLLOWED_MODES
from ..files.errors import refused
from .mode_polynomials import print_mode_polynomials
from .option_groups import Modelling, Pose, Report, grouped
from .options import Damped, Kd, Kp, Locked, RobotName
from .output import number, print_files, print_model, table
from .parsing import gains, map_axis, option_names
from .progress import share_progress

if TYPE_CHECKING:
    from ..services.mode_map import MappedMode, ModeMapResult


@grouped
def mode_map(
    robot: RobotName,
    *,
    over: Annotated[
        list[str] | None,
        typer.Option(
            "--over",
            metavar="NAME=START:STOP:POINTS",
            help="A joint (upper), a joint speed (upper.speed) or a key of the robot (payload.mass); may be repeated.",
        ),
    ] = None,
    along: Annotated[
        str | None,
        typer.Option(metavar="NC", help="Along the motion of a result file instead."),
    ] = None,
    pose: Pose,
    locked: Locked = False,
    damped: Damped = False,
    frozen: Annotated[
        bool,
        typer.Option(
            "--frozen",
            help="Moving joints: roots of frozen instants, changes of the coordinates included.",
        ),
    ] = False,
    kp: Kp = None,
    kd: Kd = None,
    count: Annotated[
        int, typer.Option(min=1, help="Number of modes that are followed.")
    ] = FOLLOWED_MODES,
    plot: Annotated[
        str | None,
        typer.Option(
            metavar="PNG", help="Picture: curves over one quantity, heat maps over two."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Data: .nc, .npz; polynomials: .npz, .c, .py.",
        ),
    ] = None,
    polynomial: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="ORDER",
            help="Modes as polynomials of this order over the range.",
        ),
    ] = None,
    accuracy: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            metavar="REL",
            help="Modes as polynomials, of the order that keeps frequencies within this relative error.",
        ),
    ] = None,
    modelling: Modelling,
    report: Report,
) -> None:
    """Modes over poses, speeds, payloads or other data, or along a run, followed through crossings.

    Example: lissom mode-map double-pendulum --over lower=-2.5:2.5:41 --locked --plot map.png
    """
    code = keep_compiled_code()
    described = modelling.robot(robot)
    if polynomial is not None or accuracy is not None:
        return print_mode_polynomials(
            described,
            over or [],
            pose=pose,
            order=polynomial,
            accuracy=accuracy,
            locked=locked,
            count=count,
            output=output,
            report=report,
        )
    from ..services.mode_map import ModeMapRequest
    from ..services.mode_map import mode_map as mapped_modes

    if bool(over) == (along is not None):
        message = (
            "say over what: --over upper=-1.5:1.5:31 (once or more), or --along RUN.nc"
        )
        raise refused("--over", None, message)
    arm = described.robot
    request = ModeMapRequest(
        robot=described,
        **pose.values(arm),
        over=tuple(map_axis(text) for text in over or ()),
        along=along,
        degrees=pose.deg,
        locked=locked,
        damped=damped,
        frozen=frozen,
        kp=gains(arm, "--kp", kp),
        kd=gains(arm, "--kd", kd),
        count=count,
        picture=plot,
        data=output,
    )
    named = option_names(picture="--plot", data="-o", over="--over", along="--along")
    with named, share_progress("modes") as watch:
        answer = mapped_modes(request, watch)
    report.tell(answer, code, _print)


def _print(screen: Console, answer: "ModeMapResult") -> None:
    columns = (
        ">mode",
        ">lowest [Hz]",
        "at",
        ">highest [Hz]",
        "at",
        ">unstable points",
        ">not followed",
    )
    joints = "locked" if answer.locked else "free"
    title = f"{answer.robot}: {answer.points} points, joints {joints}"
    screen.print(table(title, columns, [_row(mode) for mode in answer.modes]))
    print_model(screen, answer)
    screen.print(f"computed: {answer.computed}")
    if any(mode.lost for mode in answer.modes):
        screen.print(
            "not followed: MAC below 0.9 between neighbours, or a frequency that changes by more than 15 %. A finer "
            "grid may help."
        )
    print_files(screen, answer.files)


def _row(mode: "MappedMode") -> tuple[object, ...]:
    return (
        mode.mode,
        number(mode.lowest_hz),
        _place(mode.lowest_at),
        number(mode.highest_hz),
        _place(mode.highest_at),
        mode.unstable,
        mode.lost,
    )


def _place(at: dict[str, float]) -> str:
    """Where a point lies; of keys such as links.upper.beam.material.E the last word, where that tells them apart."""
    short = [name.rpartition(".")[2] for name in at]
    names = short if len(set(short)) == len(short) else list(at)
    pairs = zip(names, at.values(), strict=True)
    return ", ".join(f"{name} {value:.4g}" for name, value in pairs)
