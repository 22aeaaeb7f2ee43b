"""Results read back from their files."""

from typing import TYPE_CHECKING

from ..describe import DescriptionError, Problem
from ..files.array_file import ArrayFileError

if TYPE_CHECKING:
    from .run import Run

HELD = ("time", "q", "position", "joint", "node", "link")  # what makes a file a run


def loaded_run(path: str) -> "Run":
    """The run of a result file.

    Raises:
        DescriptionError: there is no such file, or it holds no run.
    """
    # Slow to import.
    from .run import Run

    try:
        run = Run.load(path)
    except ArrayFileError as failure:
        message = str(failure).removeprefix(f"{path}: ")
        raise DescriptionError([Problem(path, None, "", None, message)]) from None
    except (OSError, ValueError) as failure:
        message = f"is no result of lissom simulate: {failure}"
        raise DescriptionError([Problem(path, None, "", None, message)]) from None
    missing = [name for name in HELD if name not in run.names]
    if missing:
        message = f"is no result of lissom simulate: it holds no {', '.join(missing)}"
        raise DescriptionError([Problem(path, None, "", None, message)])
    return run
