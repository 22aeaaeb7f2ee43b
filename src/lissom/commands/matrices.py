"""`lissom matrices`: the equations of motion at a state, in numbers."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..compiled_code import keep_compiled_code
from .option_groups import Modelling, Motion, grouped
from .options import Json, RobotName
from .output import console, note, print_json, print_model, table
from .parsing import option_names

if TYPE_CHECKING:
    from ..services.matrices import MatricesResult


@grouped
def matrices(
    robot: RobotName,
    *,
    motion: Motion,
    balanced: Annotated[
        bool,
        typer.Option(
            "--static", help="Links in balance under gravity, else undeformed."
        ),
    ] = False,
    time: Annotated[
        float | None,
        typer.Option(
            metavar="T",
            help="Of a result: the state at this time [s], as bent and as fast as it was.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Numbers: .npz, .mat."),
    ] = None,
    modelling: Modelling,
    json: Json = False,
) -> None:
    """Inertia, Coriolis, stiffness, damping, Jacobians and force vectors at a state, with names and equation numbers.

    Example: lissom matrices anthropomorphic --q 0,0.5,-1 --qd 1,0,0 -o m.npz
    """
    from ..services.matrices import MatricesRequest
    from ..services.matrices import matrices as robot_matrices

    code = keep_compiled_code()
    described = modelling.robot(robot)
    request = MatricesRequest(
        robot=described,
        **motion.values(described.robot),
        balanced=balanced,
        result=robot,
        time=time,
        file=output,
    )
    with option_names(file="-o", time="--time", balanced="--static"):
        answer = robot_matrices(request)
    if json:
        return print_json(answer, code)
    _print(console(), answer)
    note(str(code))


def _print(screen: Console, answer: "MatricesResult") -> None:
    rows = []
    for name, array in answer.arrays.items():
        size = " x ".join(str(length) for length in array.shape)
        rows.append((name, size, array.printed))
    title = f"{answer.robot}: M xdd + coriolis + damping + elastic + gravity = B tau"
    screen.print(table(title, ("array", ">size", "printed as"), rows))
    print_model(screen, answer)
    screen.print(f"coordinates: {', '.join(answer.coordinates)}")
    if answer.file is not None:
        screen.print(f"numbers: {answer.file}")
