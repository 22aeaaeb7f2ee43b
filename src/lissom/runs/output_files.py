"""Output files of a request, checked before the work begins."""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from ..atomic import draft_of
from ..describe import DescriptionError, Problem

WITHOUT_PICTURES = "pictures are drawn by matplotlib: pip install 'lissom[plot]'"
PICTURE = (".png", ".pdf", ".svg")
RESULT = (".nc",)
TABLE = (".csv",)
PAGE = (".html", ".htm")

# By field of a request: the path (`None` if not requested) and the endings that it may have.
Outputs = Mapping[str, tuple[str | None, tuple[str, ...]]]


def check_outputs(outputs: Outputs) -> None:
    """Refuses output files that could not be written, all of them at once."""
    problems = output_problems(outputs)
    if problems:
        raise DescriptionError(problems)


def output_problems(outputs: Outputs) -> list[Problem]:
    """What is wrong with the output files of a request."""
    problems = []
    for field, (path, endings) in outputs.items():
        if path is None:
            continue
        reason = output_problem(Path(path), endings)
        if reason is not None:
            problems.append(Problem(None, None, field, str(path), reason))
    return problems


def output_problem(path: Path, endings: tuple[str, ...]) -> str | None:
    """Why a file cannot be written, `None` if it can: a trial file is made beside it and deleted."""
    if path.suffix.lower() not in endings:
        return f"the name must end in {' or '.join(endings)}"
    if path.suffix.lower() in PICTURE and find_spec("matplotlib") is None:
        return WITHOUT_PICTURES
    folder = path.parent
    try:
        if not folder.exists():
            return f"the folder {str(folder)!r} does not exist"
        if not folder.is_dir():
            return f"{str(folder)!r} is a file, not a folder"
        if path.is_dir():
            return "is a folder, not a file"
        if path.exists() and not os.access(path, os.W_OK):
            return "the file exists and is write-protected"
        # Permissions of the folder are not enough (a full disk, a read-only mount): try it.
        trial = draft_of(path)
        trial.touch()
        trial.unlink()
        return None
    except OSError as reason:
        return f"cannot be written: {reason.strerror or reason}"
    except ValueError as reason:
        return f"cannot be written: {reason}"
