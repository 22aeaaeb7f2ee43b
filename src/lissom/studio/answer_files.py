"""Files that a service writes for the browser alone: made in a folder of their own, sent, and taken away."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from fastapi.responses import FileResponse
from starlette.background import BackgroundTask


def answered_file(name: str, write: Callable[[str], object]) -> FileResponse:
    """The file `name` that `write` makes, as an answer.

    Args:
        name: as the browser saves it.
        write: called with the path.
    """
    path = Path(tempfile.mkdtemp(prefix="lissom-studio-")) / name
    try:
        write(str(path))
    except BaseException:
        _remove(path)
        raise
    return FileResponse(
        path,
        media_type="application/octet-stream",
        filename=name,
        background=BackgroundTask(_remove, path),
    )


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.parent.rmdir()
