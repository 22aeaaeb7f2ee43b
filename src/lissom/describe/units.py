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
    powers: tuple[int, int, int]


PI = Fraction(math.pi)
SYMBOLS = {
    "1": Unit(Fraction(1), (0, 0, 0)),
    "rad": Unit(Fraction(1), (0, 0, 0)),
    "deg": Unit(PI / 180, (0, 0, 0)),
    "°": Unit(PI / 180, (0, 0, 0)),
    "rev": Unit(2 * PI, (0, 0, 0)),
    "rpm": Unit(PI / 30, (0, 0, -1)),
    "%": Unit(Fraction("0.01"), (0, 0, 0)),
    "m": Unit(Fraction(1), (1, 0, 0)),
    "in": Unit(Fraction("0.0254"), (1, 0, 0)),
    "ft": Unit(Fraction("0.3048"), (1, 0, 0)),
    "g": Unit(Fraction("1e-3"), (0, 1, 0)),
    "t": Unit(Fraction(1000), (0, 1, 0)),
    "lb": Unit(Fraction("0.45359237"), (0, 1, 0)),
    "s": Unit(Fraction(1), (0, 0, 1)),
    "min": Unit(Fraction(60), (0, 0, 1)),
    "Hz": Unit(Fraction(1), (0, 0, -1)),
    "N": Unit(Fraction(1), (1, 1, -2)),
    "Nm": Unit(Fraction(1), (2, 1, -2)),
    "Pa": Unit(Fraction(1), (-1, 1, -2)),
    "bar": Unit(Fraction(100_000), (-1, 1, -2)),
    "psi": Unit(Fraction("6894.757293168361"), (-1, 1, -2)),
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
PREFIXES = {prefix: Fraction(10) ** power for prefix, power in POWERS_OF_TEN.items()}
PREFIXABLE = ("m", "g", "s", "Hz", "N", "Nm", "Pa", "rad")
_FACTOR = re.compile(r"(?P<symbol>[A-Za-zµ°%]+|1)(?:\^?(?P<power>[-+]?\d{1,2}))?")
_QUANTITY = re.compile(
    r"\s*(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?P<unit>[A-Za-zµ°%].*|(?<=\s)1.*)"
)


def unit_of(text: str) -> Unit:
    """The unit that `text` writes: products by space, `*` or `.`, quotients by `/`, powers by `^`.

    Raises:
        ValueError: a symbol is not known.
    """
    factor = Fraction(1)
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
    unit = unit_of(match["unit"].strip())
    if unit.powers not in [unit_of(u).powers for u in units]:
        raise ValueError(f"{match['unit'].strip()!r} is not a unit of this quantity")
    number = float(match["number"])
    is_ordinary = math.isfinite(number) and number != 0
    try:
        return float(Fraction(match["number"]) * unit.factor) if is_ordinary else number
    except OverflowError:
        return math.inf


def _pieces(text: str) -> list[tuple[int, str]]:
    """The factors of a unit with the sign of their power: only the factor right after a `/` is divided by."""
    words = re.split(r"\s*([/*·]|\s|\.)\s*", text.strip())
    signs = [1] + [-1 if separator == "/" else 1 for separator in words[1::2]]
    return list(zip(signs, words[::2], strict=True))


def _symbol(symbol: str) -> Unit:
    if symbol in SYMBOLS:
        return SYMBOLS[symbol]
    prefix, base = symbol[:1], symbol[1:]
    if prefix in PREFIXES and base in PREFIXABLE:
        return Unit(PREFIXES[prefix] * SYMBOLS[base].factor, SYMBOLS[base].powers)
    raise ValueError(f"{symbol!r} is not a unit")
