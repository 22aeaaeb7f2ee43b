"""Loops: the joints that close a chain, and where its joints are put together."""

from typing import Annotated, Literal

from .joint import Vector
from .part import Part
from .quantity import vector


class Loop(Part):
    """The tip of a link, joined to a point of the ground or of another link."""

    link: str  # its tip closes the loop
    to: str = "ground"  # or the name of a link
    at: Annotated[
        Vector, vector("m")
    ]  # point of `to`, in its frame (the world's for the ground)
    type: Literal["revolute", "prismatic", "fixed"] = "revolute"
    axis: Annotated[Vector, vector("", nonzero=True)] = (
        0.0,
        0.0,
        1.0,
    )  # in the frame of `to`
    rpy: Annotated[Vector, vector("rad")] = (
        0.0,
        0.0,
        0.0,
    )  # of the link's frame in that of `to`, closing joint at zero
