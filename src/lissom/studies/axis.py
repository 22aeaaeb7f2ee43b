"""One quantity that a study varies: a range, a list, or a distribution."""

from typing import Annotated, Any, Literal

import numpy as np
import scipy
from pydantic import BeforeValidator, Field
from typing_extensions import override

from ..files.names import Name
from ..files.part import Finding, Part, finding, is_list
from ..files.quantity import Whole, error, kind_of
from ..files.units import number_in_si

MOST = 10_000_000  # runs of a study
RANGE = "must be START:STOP:COUNT such as 0:2:50, with a unit if you like: '0:2:50 kg'"
# Distributions, and the numbers that each of them takes.
DISTRIBUTIONS = {
    "uniform": "lowest, highest",
    "normal": "mean, standard deviation",
    "lognormal": "median, standard deviation of the logarithm",
    "triangular": "lowest, most likely, highest",
}


def axis_number(value: Any) -> float:
    """A number of a study in SI, written with a unit or without."""
    if isinstance(value, str):
        try:
            value = number_in_si(value)
        except ValueError as reason:
            raise error(f"{value}: {reason}") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise error(f"must be a number, or a text with a unit, not {kind_of(value)}")
    if not np.isfinite(value):
        raise error("must be a finite number")
    return float(value)


def _numbers(value: Any) -> Any:
    if value is None:
        return None
    if not is_list(value):
        raise error(f"must be a list of numbers, not {kind_of(value)}")
    return tuple(axis_number(entry) for entry in value)


def _end(value: Any) -> Any:
    # The text stays: whether its unit fits is seen when the key takes it.
    axis_number(value)
    return value


Numbers = Annotated[tuple[float, ...] | None, BeforeValidator(_numbers)]
End = Annotated[Any, BeforeValidator(_end)]


def _written_short(value: Any) -> Any:
    """A range as text, or a list, as the mapping that it stands for."""
    if is_list(value):
        return {"values": list(value)}
    if isinstance(value, str):
        return _range(value)
    return value


def _range(text: str) -> dict[str, Any]:
    """`0:2:50`, `0:2:50 kg` or `0 kg:2 kg:50`; without a count for studies that draw samples."""
    parts = [part.strip() for part in text.split(":")]
    if len(parts) not in (2, 3):
        raise error(RANGE)
    start, stop = parts[:2]
    written: dict[str, Any] = {}
    unit = ""
    if len(parts) == 3:
        count, _, unit = parts[2].partition(" ")
        if not count.isdecimal():
            raise error(RANGE)
        written["count"] = int(count)
    else:
        unit = stop.lstrip("+-.0123456789eE").strip()
    return {"from": _with(start, unit), "to": _with(stop, unit), **written}


def _with(text: str, unit: str) -> Any:
    """A number of a range: as it is where it has a unit of its own."""
    try:
        value = float(text)
    except ValueError:
        return text
    return f"{text} {unit.strip()}" if unit.strip() else value


class AxisEntries(Part):
    """What varies: `from`, `to` and `count`; `values`; or one distribution."""

    label: Name | None = None  # its name in results; default: the key
    start: End = Field(default=None, alias="from")
    stop: End = Field(default=None, alias="to")
    count: Annotated[int, Whole(2, MOST)] | None = None
    scale: Literal["linear", "log"] = "linear"
    values: tuple[Any, ...] | None = None
    # What the values are called in the results, where they are long: names of controllers.
    names: tuple[Name, ...] | None = None
    uniform: Numbers = None
    normal: Numbers = None
    lognormal: Numbers = None
    triangular: Numbers = None
    # Bounds within which a normal or lognormal quantity stays.
    within: Numbers = None

    @override
    def findings(self) -> list[Finding]:
        findings = self._kinds()
        if self.start is not None and self.stop is not None:
            findings += self._ends()
        if self.values is not None and not self.values:
            findings.append(finding("holds no value: the range is empty", "values"))
        if self.names is not None and len(self.names) != len(self.values or ()):
            message = "must be as many as values"
            findings.append(finding(message, "names", value=list(self.names)))
        if self.distribution is not None:
            findings += self._shape()
        return findings

    def display_value(self, value: Any) -> Any:
        """A value as results show it: by its name where it has one."""
        if self.names is None or self.values is None:
            return value
        return self.names[list(self.values).index(value)]

    def _kinds(self) -> list[Finding]:
        has_range = self.start is not None or self.stop is not None
        kinds = [self.values is not None, has_range]
        kinds += [getattr(self, name) is not None for name in DISTRIBUTIONS]
        if sum(kinds) != 1:
            message = "must have one of: from and to, values, " + ", ".join(
                DISTRIBUTIONS
            )
            return [finding(message)]
        if has_range and (self.start is None or self.stop is None):
            return [finding("a range has both: from and to")]
        if self.within is not None and not (self.normal or self.lognormal):
            return [finding("only normal and lognormal quantities take it", "within")]
        return []

    def _ends(self) -> list[Finding]:
        low, high = axis_number(self.start), axis_number(self.stop)
        if not low < high:
            message = f"the range is empty: it must be above from = {self.start}"
            return [finding(message, "to", value=self.stop)]
        if self.scale == "log" and low <= 0:
            message = "must be positive where the scale is logarithmic"
            return [finding(message, "from", value=self.start)]
        return []

    @property
    def distribution(self) -> str | None:
        """Name of its distribution, if it has one."""
        given = [name for name in DISTRIBUTIONS if getattr(self, name) is not None]
        return given[0] if given else None

    def _shape(self) -> list[Finding]:
        name = str(self.distribution)
        numbers = getattr(self, name)
        words = DISTRIBUTIONS[name]
        rises = bool(np.all(np.diff(numbers) > 0))
        fits = len(numbers) == len(words.split(","))
        if fits and name in ("uniform", "triangular"):
            fits = rises
        elif fits:
            fits = numbers[1] > 0 and (name == "normal" or numbers[0] > 0)
        if not fits:
            return [finding(f"must be [{words}]", name, value=list(numbers))]
        bounds = self.within
        if bounds is not None and (len(bounds) != 2 or not bounds[0] < bounds[1]):
            return [finding("must be [lowest, highest]", "within", value=list(bounds))]
        return []


Axis = Annotated[AxisEntries, BeforeValidator(_written_short)]


def points(axis: AxisEntries) -> np.ndarray:
    """The values of an axis on a grid."""
    if axis.values is not None:
        return column_of(axis.values)
    low, high = axis_number(axis.start), axis_number(axis.stop)
    space = np.geomspace if axis.scale == "log" else np.linspace
    return space(low, high, axis.count or 0)


def quantiles(axis: AxisEntries, u: np.ndarray) -> np.ndarray:
    """The values of an axis at these shares of its probability, 0 to 1."""
    if axis.values is not None:
        levels = column_of(axis.values)
        return levels[np.minimum((u * len(levels)).astype(int), len(levels) - 1)]
    if axis.distribution is None:
        low, high = axis_number(axis.start), axis_number(axis.stop)
        if axis.scale == "log":
            return low * (high / low) ** u
        return low + (high - low) * u
    return _distribution(axis, u)


def _distribution(axis: AxisEntries, u: np.ndarray) -> np.ndarray:
    # Slow to import, and most studies draw nothing from it.
    name = str(axis.distribution)
    numbers = getattr(axis, name)
    if name == "uniform":
        low, high = numbers
        return low + (high - low) * u
    if name == "triangular":
        low, likely, high = numbers
        width = high - low
        return scipy.stats.triang((likely - low) / width, low, width).ppf(u)
    middle, deviation = numbers
    law = scipy.stats.norm(middle, deviation)
    if name == "lognormal":
        law = scipy.stats.lognorm(deviation, scale=middle)
    if axis.within is not None:
        # Truncated: only the probability between the bounds is shared out.
        low, high = law.cdf(axis.within)
        u = low + (high - low) * u
    return law.ppf(u)


def column_of(values: Any) -> np.ndarray:
    """Values as one column: numbers, written with a unit or without, or whatever else a key takes."""
    read = [_value(value) for value in values]
    plain = [isinstance(value, int | float) for value in read]
    if all(plain) and not any(isinstance(value, bool) for value in read):
        return np.asarray(read)
    column = np.empty(len(read), dtype=object)
    for k, value in enumerate(read):
        column[k] = value
    return column


def _value(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return number_in_si(value)
    except ValueError:
        return value
