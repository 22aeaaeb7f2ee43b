"""Loops: the joints that close a chain, and where its joints are put together."""

from typing import Annotated, Literal

from ..files.part import Part, about
from .joint import ZERO, Angles, Direction, Point


class Loop(Part):
    """The tip of a link, joined to a point of the ground or of another link."""

    link: Annotated[str, about("its tip closes the loop")]
    to: Annotated[str, about("or the name of a link")] = "ground"
    at: Annotated[Point, about("of `to`, in its frame (the world's for the ground)")]
    type: Literal["revolute", "prismatic", "fixed"] = "revolute"
    axis: Annotated[Direction, about("in the frame of `to`")] = (0.0, 0.0, 1.0)
    rpy: Annotated[
        Angles, about("turn of the link's frame in that of `to`, closing joint at zero")
    ] = ZERO
