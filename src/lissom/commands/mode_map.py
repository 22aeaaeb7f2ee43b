"""`lissom mode-map`: modes over the workspace, on a grid or as polynomials."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..compiled_code import keep_compiled_code
from ..describe.errors import refused
from .mode_polynomials import print_mode_polynomials
from .options import (
    Damped,
    Degrees,
    Formulation,
    Json,
    Kd,
    Kp,
    Locked,
    ModeCount,
    Q,
    Reference,
    RobotName,
    Settings,
    Strict,
    Terms,
    described_robot,
)
from .output import conclude, console, note, number, print_files, print_json, table
from .parsing import gains, joint_values, map_axis, option_names
from .progress import share_progress

if TYPE_CHECKING:
    from ..services.mode_map import MappedMode, ModeMapResult


def mode_map(
    robot: RobotName,
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
    q: Q = None,
    deg: Degrees = False,
    locked: Locked = False,
    damped: Damped = False,
    kp: Kp = None,
    kd: Kd = None,
    count: Annotated[
        int, typer.Option(min=1, help="Number of modes that are followed.")
    ] = 6,
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
    settings: Settings = None,
    formulation: Formulation = None,
    modes: ModeCount = None,
    reference: Reference = None,
    terms: Terms = None,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Modes over poses, speeds, payloads or other data, or along a run, followed through crossings.

    Example: lissom mode-map double-pendulum --over lower=-2.5:2.5:41 --locked --plot map.png
    """
    code = keep_compiled_code()
    described = described_robot(robot, settings, formulation, modes, reference, terms)
    if polynomial is not None or accuracy is not None:
        return print_mode_polynomials(
            described,
            over or [],
            q=q,
            deg=deg,
            order=polynomial,
            accuracy=accuracy,
            locked=locked,
            count=count,
            output=output,
            strict=strict,
            json=json,
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
        q=joint_values(arm, "--q", q, degrees=deg),
        over=tuple(map_axis(text) for text in over or ()),
        along=along,
        degrees=deg,
        locked=locked,
        damped=damped,
        kp=gains(arm, "--kp", kp),
        kd=gains(arm, "--kd", kd),
        count=count,
        picture=plot,
        data=output,
    )
    named = option_names(picture="--plot", data="-o", over="--over", along="--along")
    with named, share_progress("modes") as watch:
        answer = mapped_modes(request, watch)
    if json:
        print_json(answer, code)
        return conclude(answer.warnings, strict, json)
    _print(console(), answer)
    note(str(code))
    conclude(answer.warnings, strict, json)


def _print(screen: Console, answer: "ModeMapResult") -> None:
    columns = (
        ">mode",
        ">lowest [Hz]",
        "at",
        ">highest [Hz]",
        "at",
        ">unstable points",
        ">not recognised",
    )
    joints = "locked" if answer.locked else "free"
    title = f"{answer.robot}: {answer.points} points, joints {joints}"
    screen.print(table(title, columns, [_row(mode) for mode in answer.modes]))
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
    return ", ".join(f"{name} {value:.4g}" for name, value in at.items())
