"""A law that files can name: its description and what builds it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ..files.part import Part
from ..solve.law import AbstractLaw
from ..solve.model import Model


class DescribedLaw(NamedTuple):
    """A description with units, ranges and checks, and the law that it becomes for a robot."""

    # Its `type` is the word that files use; from `Common` it has a motion, a sample time and the flaws of a real loop.
    description: type[Part]
    build: Callable[[Model, Any], AbstractLaw]
