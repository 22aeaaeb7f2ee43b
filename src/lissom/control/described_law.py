"""A law that files can name: its description and what builds it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ..files.part import Part
from ..solve.law import AbstractLaw
from ..solve.model import Model


class DescribedLaw(NamedTuple):
    """A description with units, ranges and checks, and the law that it becomes for a robot."""

    # `type` is its name in files; from `Common` it has a motion, a sample time, and delay, noise and limits of a real
    # loop.
    description: type[Part]
    build: Callable[[Model, Any], AbstractLaw]
