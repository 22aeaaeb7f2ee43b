"""`lissom validate`: is a file right."""

from typing import Annotated

import typer

from ..describe import Problem
from .option_groups import Modelling, Report, grouped
from .output import conclude, console, note, print_json


@grouped
def validate(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Robot or scenario file (YAML or URDF), or library name.",
        ),
    ],
    *,
    modelling: Modelling,
    report: Report,
) -> None:
    """Check a robot or scenario file and report every error at once; exit code 2 if there is one.

    A valid file is one that `simulate` starts with: the model is built in the formulation asked for. Warnings are
    printed; with --strict they give exit code 1.

    Examples: lissom validate robot.yaml, lissom validate robot.yaml --formulation nonlinear
    """
    from ..services.validate import validate as checked

    answer = checked(file, modelling.changes())
    if report.json:
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
    conclude(answer.warnings, report.strict, report.json)
