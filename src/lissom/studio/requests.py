"""What a browser may ask for: typed, and nothing beyond."""

from typing import Annotated, Any, Literal

from pydantic import Field, FiniteFloat

from .frozen_model import FrozenModel, JointValues

Name = Annotated[str, Field(min_length=1, max_length=300)]
Changes = Annotated[dict[str, Any], Field(max_length=200)]


class PullQuestion(FrozenModel):
    """A node, and where it is pulled to [m]."""

    node: Name
    to: tuple[FiniteFloat, FiniteFloat, FiniteFloat]


class ImportQuestion(FrozenModel):
    """A URDF file of the folder that is to become a robot file beside it."""

    name: Name


class SaveRequest(FrozenModel):
    """A description to be written."""

    name: Name
    text: str
    fingerprint: str | None = None  # of the file as it was opened; None: a new file


class DraftRequest(FrozenModel):
    """A description as it is typed."""

    name: Name
    text: str


class JointQuestion(FrozenModel):
    """A joint of a description as it is typed, to be placed the other way."""

    name: Name
    link: Annotated[int, Field(ge=0, le=1000)]
    by: Literal["dh", "origin"]


class PoseQuestion(FrozenModel):
    """A robot in a pose."""

    source: Name
    changes: Changes = {}
    q: JointValues | None = None
    sag: bool = True
    pull: PullQuestion | None = None  # a node to be brought to a place
    masses: bool = False
    draft: bool = False  # as it is typed, not as it was saved


class RunRequest(FrozenModel):
    """A scenario, or a robot that falls from rest, and changes to it."""

    source: Name
    changes: Changes = {}
