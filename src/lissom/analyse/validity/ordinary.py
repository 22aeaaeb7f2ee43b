"""Ordinary ranges: where the numbers of nearly every machine lie, and what is most likely wrong outside of them."""

from collections.abc import Iterator
from typing import NamedTuple

from ...files.quantity import is_jax_value
from .validity_warning import ValidityWarning


class Range(NamedTuple):
    """An ordinary range, machines that show it, and what to do about a number outside of it."""

    check: str
    low: float
    high: float
    unit: str
    examples: str
    remedy: str


YOUNGS_MODULUS = Range(
    "E",
    1e8,
    1.3e12,
    "Pa",
    "polyethylene has 1e9, steel 2.1e11, diamond 1.2e12",
    "Write it in Pa, or with its unit: '70 GPa'",
)
DENSITY = Range(
    "density",
    20.0,
    23000.0,
    "kg/m^3",
    "foam has 30, aluminium 2700, steel 7850, osmium 22590",
    "Write it in kg/m^3, or with its unit: '2.7 g/cm^3'",
)
YIELD = Range(
    "yield stress",
    1e5,
    1e10,
    "Pa",
    "foam has 1e6, steel 2.5e8, spring steel 2e9",
    "Write it in Pa, or with its unit: '250 MPa'",
)
LENGTH = Range(
    "length",
    1e-4,
    200.0,
    "m",
    "links of micro-grippers have 1e-3, booms of large cranes 100",
    "Write it in m, or with its unit: '300 mm'",
)
# A direction is divided by its length, whose square must neither vanish nor overflow.
DIRECTION = Range(
    "axis",
    1e-6,
    1e6,
    "long",
    "only the direction counts",
    "Write a vector of about unit length",
)
TORQUE = Range(
    "torque",
    0.0,
    1e7,
    "N m or N",
    "robots have up to 2e4, large excavators 1e6",
    "Write torques in N m and forces in N, or with their units: '5 kN'",
)
SPEED = Range(
    "speed",
    0.0,
    100.0,
    "m/s",
    "robots stay below 20, tips of wind turbine blades below 90",
    "Look for a load or a gain that is too large, or a robot that is too light",
)


def outside(
    about: str, name: str, value: float, ordinary: Range
) -> Iterator[ValidityWarning]:
    """A warning if a number lies outside of its ordinary range; traced numbers are not looked at."""
    if is_jax_value(value) or ordinary.low <= value <= ordinary.high:
        return
    is_low = value < ordinary.low
    limit = ordinary.low if is_low else ordinary.high
    side = "below" if is_low else "above"
    message = (
        f"{name} is {value:.4g} {ordinary.unit}, {side} {limit:g} {ordinary.unit}"
        f" ({ordinary.examples})"
    )
    yield ValidityWarning(ordinary.check, about, message, value, limit, ordinary.remedy)
