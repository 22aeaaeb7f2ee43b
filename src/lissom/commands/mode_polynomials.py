"""`lissom mode-map` with `--polynomial` or `--accuracy`: modes as polynomials of what `--over` names."""

from typing import TYPE_CHECKING

from rich.console import Console

from ..describe import Scenario
from ..files.errors import refused
from ..parameters import Locked
from .option_groups import Pose, Report
from .output import number, print_files, print_model, table
from .parsing import option_names, parameter_ranges

if TYPE_CHECKING:
    from ..services.mode_polynomials import ModePolynomialsResult


def print_mode_polynomials(
    described: Scenario,
    over: list[str],
    *,
    pose: Pose,
    order: int | None,
    accuracy: float | None,
    locked: Locked,
    count: int,
    output: str | None,
    report: Report,
) -> None:
    """Computes the polynomials, writes them as far as asked for, and prints what they are."""
    from ..services.mode_polynomials import ModePolynomialsRequest, mode_polynomials

    if not over:
        message = "say over what: --over upper=-1.5:1.5 (once or more)"
        raise refused("--over", None, message)
    robot = described.robot
    request = ModePolynomialsRequest(
        robot=described,
        **pose.values(robot),
        over=parameter_ranges(robot, over, pose.deg),
        order=order,
        accuracy=accuracy,
        locked=locked,
        count=count,
        file=output,
    )
    with option_names(file="-o", over="--over"):
        answer = mode_polynomials(request)
    report.tell(answer, None, _print)


def _print(screen: Console, answer: "ModePolynomialsResult") -> None:
    rows = []
    for m, text in enumerate(answer.text):
        frequency = number(float(answer.frequency_hz[m]))
        damping = number(float(answer.damping_ratio[m]))
        rows.append((str(m + 1), frequency, damping, text))
    points = len(answer.expansion_points)
    title = f"{answer.robot}: order {answer.order}, {answer.terms} terms, {points} expansion point(s)"
    columns = (">mode", ">frequency [Hz]", ">damping", "f =")
    screen.print(table(title, columns, rows))
    print_model(screen, answer)
    screen.print(f"checked: {answer.checked}")
    print_files(screen, answer.files)
