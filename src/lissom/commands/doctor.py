"""`lissom doctor`: is this installation sound?"""

from typing import Annotated

import typer

from ..compiled_code import keep_compiled_code
from .options import Json
from .output import console, print_json


def doctor(
    self_test: Annotated[
        bool,
        typer.Option(
            "--self-test/--no-self-test",
            help="Compute something with known answers too, ten seconds at most.",
        ),
    ] = True,
    json: Json = False,
) -> None:
    """Versions, cache of compiled code, devices, extras, and a self-test. Exit code 1 if something failed.

    Example: lissom doctor
    """
    from ..services.doctor import doctor as examined

    keep_compiled_code()
    answer = examined(self_test)
    if json:
        print_json(answer)
    else:
        console().print(str(answer), soft_wrap=True)
    if not answer.sound:
        raise typer.Exit(1)
