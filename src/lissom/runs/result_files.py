"""Results read back from their files."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..files.array_file import ArrayFileError
from ..files.errors import refused_file

if TYPE_CHECKING:
    from .run import Run

# Every file of a run has these.
REQUIRED = ("time", "q", "position", "joint", "node", "link")


def run_or_table(path: str) -> "Run":
    """The run of a result file, or of a table (.csv) of one, which holds no robot.

    Raises:
        DescriptionError: there is no such file, or it holds no run.
    """
    if Path(path).suffix.lower() != ".csv":
        return loaded_run(path)
    # Brings the solvers.
    from .run_csv import run_of_csv

    return run_of_csv(path)


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
        raise refused_file(path, str(failure).removeprefix(f"{path}: ")) from None
    except (OSError, ValueError) as failure:
        message = f"is no result of lissom simulate: {failure}"
        raise refused_file(path, message) from None
    missing = [name for name in REQUIRED if name not in run.names]
    if missing:
        message = f"is no result of lissom simulate: it holds no {', '.join(missing)}"
        raise refused_file(path, message)
    return run
