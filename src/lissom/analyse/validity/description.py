"""Doubts about a description: numbers that a file may hold and hardly any robot has."""

from collections.abc import Iterator
from typing import NamedTuple

from ...describe.doubt import Doubt, worst
from ...describe.quantity import is_traced
from ...describe.robot import Robot


class Ordinary(NamedTuple):
    """The range in which a number of nearly every machine lies, and what is most likely wrong outside of it."""

    low: float
    high: float
    unit: str
    examples: str
    remedy: str


E_RANGE = Ordinary(
    1e8,
    1.3e12,
    "Pa",
    "polyethylene has 1e9, steel 2.1e11, diamond 1.2e12",
    "Write it in Pa, or with its unit: '70 GPa'",
)
DENSITY_RANGE = Ordinary(
    20.0,
    23000.0,
    "kg/m^3",
    "foam has 30, aluminium 2700, steel 7850, osmium 22590",
    "Write it in kg/m^3, or with its unit: '2.7 g/cm^3'",
)


def description_doubts(robot: Robot) -> Iterator[Doubt]:
    """What is out of the ordinary in the data of a robot."""
    yield from worst(_materials(robot, "E", E_RANGE))
    yield from worst(_materials(robot, "density", DENSITY_RANGE))


def _materials(robot: Robot, key: str, ordinary: Ordinary) -> Iterator[Doubt]:
    for link in robot.links:
        if link.beam is None:
            continue
        value = getattr(link.beam.material, key)
        yield from outside(f"link {link.name}", f"material.{key}", value, ordinary)


def outside(about: str, name: str, value: float, ordinary: Ordinary) -> Iterator[Doubt]:
    """A doubt if a number lies outside of its ordinary range; traced numbers are not looked at."""
    if is_traced(value) or ordinary.low <= value <= ordinary.high:
        return
    message = (
        f"{name} = {value:g} {ordinary.unit} is outside of {ordinary.low:g} to {ordinary.high:g} {ordinary.unit}"
        f" ({ordinary.examples})"
    )
    limit = ordinary.low if value < ordinary.low else ordinary.high
    yield Doubt(name.rpartition(".")[2], about, message, value, limit, ordinary.remedy)
