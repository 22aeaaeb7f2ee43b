"""What a browser may ask about results and about a robot's vibration: typed, and nothing beyond."""

from typing import Annotated, Any, Literal

from pydantic import Field

from ..describe.defaults import FOLLOWED_MODES
from ..parameters import Locked
from .frozen_model import FrozenModel, Gains, JointValues
from .requests import Changes, Name

Ending = Annotated[str, Field(pattern=r"^\.[a-z]{1,4}$")]
Names = Annotated[tuple[Name, ...], Field(max_length=40)]
Text = Annotated[str, Field(min_length=1, max_length=300)]


class CurvesQuestion(FrozenModel):
    """Curves of results; the first is what the others are compared with."""

    runs: Annotated[tuple[Name, ...], Field(min_length=1, max_length=8)]
    what: Annotated[tuple[Name, ...], Field(min_length=1, max_length=40)]


class CompareQuestion(FrozenModel):
    """Results beside each other; with an ending, as a picture."""

    runs: Annotated[tuple[Name, ...], Field(min_length=2, max_length=8)]
    node: Name | None = None
    ending: Ending | None = None


class ExportQuestion(FrozenModel):
    """A result in another form: a picture, a page that moves, a table."""

    file: Name
    what: Names = ()
    ending: Ending


class MotionQuestion(FrozenModel):
    """Pictures of a motion in PNG, as base64, to become a GIF."""

    pictures: Annotated[tuple[str, ...], Field(min_length=1, max_length=180)]
    interval: Annotated[int, Field(ge=20, le=1000)]  # between two pictures [ms]


class ModelQuestion(FrozenModel):
    """A robot about a pose."""

    source: Name
    changes: Changes = {}
    q: JointValues | None = None
    kp: Gains | None = None
    kd: Gains | None = None
    locked: Locked = False


class AxisQuestion(FrozenModel):
    """Evenly spaced values of a joint or of a key of the robot."""

    name: Name
    start: float
    stop: float
    points: Annotated[int, Field(ge=2, le=60)]


class MapQuestion(ModelQuestion):
    """Modes over one or two quantities."""

    over: Annotated[tuple[AxisQuestion, ...], Field(min_length=1, max_length=2)]
    degrees: bool = False  # axes of revolute joints are in degrees
    damped: bool = False
    count: Annotated[int, Field(ge=1, le=12)] = FOLLOWED_MODES


class ControllersQuestion(FrozenModel):
    """A comparison of controllers, of the library or of the folder."""

    study: Name


class SweepQuestion(FrozenModel):
    """A study of the folder, or a few keys over which an analysis is computed."""

    study: Name | None = None
    source: Name | None = None
    changes: Changes = {}
    analysis: Literal["simulate", "static", "modes", "linearize"] = "simulate"
    over: Annotated[dict[Text, Any], Field(max_length=6)] = {}
    metrics: Annotated[tuple[Text, ...], Field(max_length=12)] = ()
