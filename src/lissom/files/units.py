"""Unit strings such as `30 mm`, `7.85 g/cm^3`, `45 deg`: their factor to SI and their dimension."""

import math
import re
from fractions import Fraction
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit as `factor` times SI base units to the powers (metre, kilogram, second); angles have no dimension.

    Factors are fractions, so that a conversion is rounded once: `7.85 g/cm^3` is 7850 exactly.
    """

    factor: Fraction
    powers: tuple[int, int, int]  # dimension


# Powers of (metre, kilogram, second).
NUMBER = (0, 0, 0)
LENGTH = (1, 0, 0)
MASS = (0, 1, 0)
TIME = (0, 0, 1)
RATE = (0, 0, -1)
FORCE = (1, 1, -2)
TORQUE = (2, 1, -2)
PRESSURE = (-1, 1, -2)

ONE = Fraction(1)
PI = Fraction(math.pi)
SYMBOLS = {
    "1": Unit(ONE, NUMBER),
    "rad": Unit(ONE, NUMBER),
    "deg": Unit(PI / 180, NUMBER),
    "°": Unit(PI / 180, NUMBER),
    "rev": Unit(2 * PI, NUMBER),
    "rpm": Unit(PI / 30, RATE),
    "%": Unit(Fraction("0.01"), NUMBER),
    "m": Unit(ONE, LENGTH),
    "in": Unit(Fraction("0.0254"), LENGTH),
    "ft": Unit(Fraction("0.3048"), LENGTH),
    "g": Unit(Fraction("1e-3"), MASS),
    "t": Unit(Fraction(1000), MASS),
    "lb": Unit(Fraction("0.45359237"), MASS),
    "s": Unit(ONE, TIME),
    "min": Unit(Fraction(60), TIME),
    "Hz": Unit(ONE, RATE),
    "N": Unit(ONE, FORCE),
    "Nm": Unit(ONE, TORQUE),
    "Pa": Unit(ONE, PRESSURE),
    "bar": Unit(Fraction(100_000), PRESSURE),
    "psi": Unit(Fraction("6894.757293168361"), PRESSURE),
}
POWERS_OF_TEN = {
    "n": -9,
    "u": -6,
    "µ": -6,
    "m": -3,
    "c": -2,
    "d": -1,
    "k": 3,
    "M": 6,
    "G": 9,
}
TEN = Fraction(10)
PREFIXES = {prefix: TEN**power for prefix, power in POWERS_OF_TEN.items()}
PREFIXABLE = ("m", "g", "s", "Hz", "N", "Nm", "Pa", "rad")

# One factor of a unit: `cm^3`, `s-2`, `1`.
_FACTOR = re.compile(r"(?P<symbol>[A-Za-zµ°%]+|1)(?:\^?(?P<power>[-+]?\d{1,2}))?")

# A number and its unit: `30 mm`, `45deg`, `3 1/s` (a unit that starts with a digit needs the space).
_QUANTITY = re.compile(
    r"\s*(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?P<unit>[A-Za-zµ°%].*|(?<=\s)1.*)"
)


def unit_of(text: str) -> Unit:
    """The unit that `text` writes: products by space, `*` or `.`, quotients by `/`, powers by `^`.

    Raises:
        ValueError: a symbol is not known.
    """
    factor = ONE
    metre = kilogram = second = 0
    for sign, piece in _pieces(text):
        match = _FACTOR.fullmatch(piece)
        if match is None:
            raise ValueError(f"{piece!r} is not a unit")
        symbol = _symbol(match["symbol"])
        power = sign * int(match["power"] or 1)
        factor *= symbol.factor**power
        metre += power * symbol.powers[0]
        kilogram += power * symbol.powers[1]
        second += power * symbol.powers[2]
    return Unit(factor, (metre, kilogram, second))


def si_value(text: str, units: tuple[str, ...]) -> float:
    """The SI value of `text`, whose dimension must be that of one of `units`.

    Raises:
        ValueError: no number, no unit, an unknown unit, or one of another dimension.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError("not a number with a unit")
    written = match["unit"].strip()
    unit = unit_of(written)
    accepted = [unit_of(other).powers for other in units]
    if unit.powers not in accepted:
        raise ValueError(f"{written!r} is not a unit of this quantity")
    number = float(match["number"])
    # A number such as 1e999999999 would fill the memory as a fraction.
    if number == 0 or not math.isfinite(number):
        return number
    try:
        return float(Fraction(match["number"]) * unit.factor)
    except OverflowError:
        return math.inf


def number_in_si(text: str) -> float:
    """A number with any unit, or with none, in SI; whoever takes the number knows which unit is right.

    Raises:
        ValueError: no number, or an unknown unit.
    """
    try:
        return float(text)
    except ValueError:
        match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError("not a number, nor a number with a unit")
    return si_value(text, (match["unit"].strip(),))


def has_unit(text: str, unit: str) -> bool:
    """True if `text`, a number with a unit, has the dimension of `unit`."""
    match = _QUANTITY.fullmatch(text)
    return (
        match is not None
        and unit_of(match["unit"].strip()).powers == unit_of(unit).powers
    )


def _pieces(text: str) -> list[tuple[int, str]]:
    """The factors of a unit with the sign of their power: only the factor right after a `/` is divided by."""
    # Factors and what separates them take turns: m, /, s, *, kg.
    words = re.split(r"\s*([/*·]|\s|\.)\s*", text.strip())
    factors = words[::2]
    separators = words[1::2]
    signs = [1]
    for separator in separators:
        signs.append(-1 if separator == "/" else 1)
    return list(zip(signs, factors, strict=True))


def _symbol(symbol: str) -> Unit:
    if symbol in SYMBOLS:
        return SYMBOLS[symbol]
    prefix, base = symbol[:1], symbol[1:]
    if prefix in PREFIXES and base in PREFIXABLE:
        unit = SYMBOLS[base]
        return Unit(PREFIXES[prefix] * unit.factor, unit.powers)
    raise ValueError(f"{symbol!r} is not a unit")
