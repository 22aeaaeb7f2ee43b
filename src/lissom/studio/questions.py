"""Requests that a browser may send: typed, and without further fields."""

from typing import Annotated, Any, Literal

from fastapi import Body, Query
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

Name = Annotated[str, Field(min_length=1, max_length=300)]
Changes = Annotated[dict[str, Any], Field(max_length=200)]
# Pictures of a motion, in PNG, as base64; and the time between two of them [ms].
Pictures = Annotated[tuple[str, ...], Body(min_length=1, max_length=180)]
Interval = Annotated[int, Query(ge=20, le=1000)]


class Question(BaseModel):
    """A request; fields that it does not declare are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Draft(Question):
    """A description as it is typed."""

    name: Name
    text: str


class SavedText(Draft):
    """A description to save."""

    fingerprint: str | None = None  # of the file as it was opened; None: a new file


class JointQuestion(Question):
    """A joint of a description, to be placed the other way."""

    name: Name
    link: Annotated[int, Field(ge=0, le=1000)]
    by: Literal["dh", "origin"]


class CurvesQuestion(Question):
    """Quantities of results; the first result is the one that the others are compared with."""

    runs: Annotated[tuple[Name, ...], Field(min_length=1, max_length=8)]
    what: Annotated[tuple[Name, ...], Field(min_length=1, max_length=40)]


class VerbQuestion(Question):
    """Request of a verb; a worker checks the values against the signature of its function."""

    # The robot or file; several for verbs that compare them, None for verbs that read nothing.
    source: Name | Annotated[tuple[Name, ...], Field(max_length=8)] | None = None
    changes: Changes = {}
    values: dict[str, Any] = {}
    ending: str | None = None  # of the file that is requested instead of numbers

    @property
    def sources(self) -> tuple[str, ...]:
        """All robots or files."""
        return (self.source,) if isinstance(self.source, str) else self.source or ()

    @property
    def first_source(self) -> str:
        """The robot or file, or the first of them; empty where there is none."""
        return next(iter(self.sources), "")


class Pull(Question):
    """A node and the place [m] that inverse kinematics brings it to."""

    node: Name
    to: tuple[FiniteFloat, FiniteFloat, FiniteFloat]


class PoseQuestion(Question):
    """A robot in a pose."""

    source: Name
    changes: Changes = {}
    # One number for each moving joint [rad or m].
    q: tuple[float, ...] | None = None
    sag: bool = True
    pull: Pull | None = None
    masses: bool = False
    draft: bool = False  # the robot as it is typed, not as it was saved
    id: Any = None  # of a message of the web socket: it comes back with the answer
