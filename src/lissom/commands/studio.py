"""`lissom studio`: robots, runs and results in the browser."""

import os
from typing import Annotated

import typer

from ..files.errors import refused
from .output import note

EXTRA = "needs the package {name}: pip install 'lissom[studio]'"
PASSWORD = "LISSOM_STUDIO_PASSWORD"


def studio(
    folder: Annotated[
        str, typer.Argument(help="Folder of robots, scenarios and results.")
    ] = ".",
    port: Annotated[
        int, typer.Option(help="Port; if it is in use, the next free one. 0 takes any.")
    ] = 8765,
    host: Annotated[
        str,
        typer.Option(
            help=f"Address to answer on. Beyond this machine it needs {PASSWORD}, --certificate and --key."
        ),
    ] = "127.0.0.1",
    certificate: Annotated[
        str | None, typer.Option(metavar="PEM", help="Certificate for https.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(metavar="PEM", help="Private key for https.")
    ] = None,
    browser: Annotated[
        bool, typer.Option(help="Open the browser at the start.")
    ] = True,
) -> None:
    """Open the studio: build a robot, simulate it and view the results in the browser.

    Example: lissom studio my-robots
    """
    try:
        from ..studio.explanation import RequestError
        from ..studio.server import ServerError, ServerOptions, serve
    except ModuleNotFoundError as failure:
        raise refused("lissom studio", None, EXTRA.format(name=failure.name)) from None
    options = ServerOptions(
        folder=folder,
        host=host,
        port=port,
        password=os.environ.get(PASSWORD),
        certificate=certificate,
        key=key,
        browser=browser,
    )
    try:
        serve(options, note)
    except (RequestError, ServerError) as failure:
        raise refused("", None, str(failure)) from None
