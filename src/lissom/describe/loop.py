"""Loops: the joints that close a chain, and where its joints are put together."""

from typing import Literal

from ..files.part import Part
from .joint import ZERO, Angles, Direction, Point


class Loop(Part):
    """The tip of a link, joined to a point of the ground or of another link."""

    link: str  # its tip closes the loop
    to: str = "ground"  # or the name of a link
    at: Point  # of `to`, in its frame (the world's for the ground)
    type: Literal["revolute", "prismatic", "fixed"] = "revolute"
    axis: Direction = (0.0, 0.0, 1.0)  # in the frame of `to`
    # Turn of the link's frame in that of `to`, closing joint at zero.
    rpy: Angles = ZERO
