"""Failures as the pages receive them: a kind, a message, and every problem with its file, line and field."""

import logging
from typing import Any

LOG = logging.getLogger("lissom.studio")
Explanation = dict[str, Any]
# Kinds of refusals that are not bad input, by HTTP status.
KINDS = {409: "conflict", 429: "busy"}


class RequestError(Exception):
    """A request that is refused: the reason, and the HTTP status of the answer."""

    def __init__(self, message: str, status: int = 400):
        super().__init__(message)
        self.status = status
        self.reason = explanation(KINDS.get(status, "bad input"), message)


def explanation(kind: str, message: str, **details: Any) -> Explanation:
    """An error as every answer of the studio holds it."""
    return {"kind": kind, "message": message, **details}


def explained(failure: BaseException) -> Explanation:
    """The failure of a service as data; its traceback goes to the log alone."""
    from pydantic import ValidationError

    from ..describe import DescriptionError
    from ..files.summary import plain
    from ..runs.failures import FailedRun

    if isinstance(failure, DescriptionError):
        errors = plain(failure.problems)
        return explanation("bad input", str(failure), errors=errors)
    if isinstance(failure, FailedRun):
        kind = "interrupted" if failure.interrupted else "analysis failed"
        return explanation(kind, str(failure), partial=plain(failure.result))
    if isinstance(failure, ValidationError):
        return explanation("bad input", request_problems(failure.errors()))
    if isinstance(failure, RuntimeError | ValueError):
        return explanation("analysis failed", str(failure))
    LOG.info("a service failed", exc_info=failure)
    first = f"{type(failure).__name__}: {failure}".partition("\n")[0]
    return explanation("analysis failed", first)


def request_problems(errors: Any) -> str:
    """What is wrong with a request, field by field."""
    lines = []
    for error in errors[:8]:
        field = ".".join(str(step) for step in error["loc"])
        lines.append(f"{field}: {error['msg']}")
    return "\n".join(lines)
