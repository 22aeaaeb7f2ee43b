"""Answers of the server: refusals, errors as JSON, and files that a service writes for the browser alone."""

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from fastapi.responses import FileResponse, Response
from starlette.background import BackgroundTask

from .explanation import Explanation

BINARY = "application/octet-stream"


def error_answer(status: int, error: Explanation) -> Response:
    """An error as every answer of the studio holds it."""
    # Half of a character, which a request can hold, is escaped: `JSONResponse` fails on it.
    body = json.dumps({"error": error}).encode()
    return Response(body, status, media_type="application/json")


def file_answer(name: str, write: Callable[[str], object]) -> FileResponse:
    """A file that `write` makes in a folder of its own, which is removed once the file is sent.

    Args:
        name: as the browser saves it.
        write: called with the path.
    """
    folder = Path(tempfile.mkdtemp(prefix="lissom-studio-"))
    try:
        write(str(folder / name))
    except BaseException:
        shutil.rmtree(folder)
        raise
    cleanup = BackgroundTask(shutil.rmtree, folder)
    return FileResponse(
        folder / name, media_type=BINARY, filename=name, background=cleanup
    )
