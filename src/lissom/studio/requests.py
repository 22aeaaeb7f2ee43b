"""What a browser may ask for: typed, and nothing beyond."""

from typing import Annotated, Any

from pydantic import Field

from ..services.frozen_model import FrozenModel, JointValues

Name = Annotated[str, Field(min_length=1, max_length=300)]
Changes = Annotated[dict[str, Any], Field(max_length=200)]


class SaveRequest(FrozenModel):
    """A description to be written."""

    name: Name
    text: str
    fingerprint: str | None = None  # of the file as it was opened; None: a new file


class DraftRequest(FrozenModel):
    """A description as it is typed."""

    name: Name
    text: str


class PoseQuestion(FrozenModel):
    """A robot in a pose."""

    source: Name
    changes: Changes = {}
    q: JointValues | None = None
    sag: bool = True
    draft: bool = False  # as it is typed, not as it was saved


class RunRequest(FrozenModel):
    """A scenario, or a robot that falls from rest, and changes to it."""

    source: Name
    changes: Changes = {}


class MatricesQuestion(FrozenModel):
    """The equations of motion of a robot at a state."""

    source: Name
    changes: Changes = {}
    q: JointValues | None = None
    qd: JointValues | None = None
    balanced: bool = False
    ending: Annotated[str, Field(pattern=r"^\.[a-z]{1,4}$")] = ".npz"
