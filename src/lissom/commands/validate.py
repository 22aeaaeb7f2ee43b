"""`lissom validate`: is a file right."""

from typing import Annotated

import typer

from ..describe import Problem
from .options import Json
from .output import console, note, print_json


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
    from ..services.validate import validate as checked

    answer = checked(file)
    if json:
        print_json(answer)
    elif answer.valid:
        console().print(f"{file}: valid {answer.kind}", soft_wrap=True)
    else:
        for error in answer.errors:
            note(str(Problem(**error.model_dump())))
        count = len(answer.errors)
        note(f"{file}: {count} error{'s' if count > 1 else ''}")
    if not answer.valid:
        raise typer.Exit(2)
