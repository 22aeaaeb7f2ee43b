"""What a browser may ask: typed, and nothing beyond."""

from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

Name = Annotated[str, Field(min_length=1, max_length=300)]
Changes = Annotated[dict[str, Any], Field(max_length=200)]
# One number for each moving joint of a robot [rad or m].
JointValues = tuple[float, ...]
STRICT = ConfigDict(frozen=True, extra="forbid")


class VerbQuestion(BaseModel):
    """What a page asks of a verb; a worker checks the values against the signature of its function."""

    model_config = STRICT

    # What it is about: of a verb that compares several, and of verbs that read nothing None.
    source: Name | Annotated[tuple[Name, ...], Field(max_length=8)] | None = None
    changes: Changes = {}
    values: dict[str, Any] = {}
    ending: str | None = None  # of the file that is asked for, instead of numbers


class Pull(BaseModel):
    """A node that is to be brought to a place [m], the joints following by inverse kinematics."""

    model_config = STRICT

    node: Name
    to: tuple[FiniteFloat, FiniteFloat, FiniteFloat]


class PoseQuestion(BaseModel):
    """A robot in a pose."""

    model_config = STRICT

    source: Name
    changes: Changes = {}
    q: JointValues | None = None
    sag: bool = True
    pull: Pull | None = None
    masses: bool = False
    draft: bool = False  # as it is typed, not as it was saved


async def known_fields(request: Request) -> None:
    """Refuses fields that a route does not know.

    Raises:
        RequestValidationError: there are some.
    """
    known = {field.alias for field in request.scope["route"].dependant.body_params}
    try:
        body = await request.json()
    except (ValueError, RecursionError):
        # The route says what is wrong with it.
        return
    message = "Extra inputs are not permitted"
    unknown = set(body) - known if isinstance(body, dict) else ()
    errors = [{"loc": ("body", name), "msg": message} for name in sorted(unknown)]
    if errors:
        raise RequestValidationError(errors)


# Of routes whose fields are parameters of their functions.
KNOWN_FIELDS = [Depends(known_fields)]
