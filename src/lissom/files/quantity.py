"""Numbers of a description: what a field accepts, in SI, checked where they are concrete.

Each class is put into `Annotated[float, Quantity("Pa", above=0)]` and validates one field. JAX arrays and tracers pass
unchecked, so that a description may also be built inside `grad`, `vmap` or `jit`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from pydantic_core import PydanticCustomError, core_schema

from .units import has_unit, si_value

KINDS = {
    bool: "true/false",
    str: "text",
    dict: "a mapping",
    list: "a list",
    tuple: "a list",
    type(None): "empty",
}


# Positive numbers of a description: a few of them multiplied neither vanish nor overflow.
SMALLEST, LARGEST = 1e-100, 1e100


class NumberWithUnit(float):
    """A number of a joint that was written with a unit, which says what joint it is meant for."""

    joint: str  # revolute or prismatic


def is_jax_value(*values: Any) -> bool:
    """True if any leaf of `values` belongs to JAX: its value is not looked at."""
    leaves = jax.tree.leaves(values)
    return any(isinstance(leaf, jax.Array) for leaf in leaves)


def error(message: str) -> PydanticCustomError:
    """A validation error that says `message` as it stands."""
    return PydanticCustomError("description", "{text}", {"text": message})


def kind_of(value: Any) -> str:
    """Type of a value in the words of YAML: a number, a text, a list, ..."""
    return KINDS.get(type(value), type(value).__name__)


class _Check:
    """A validator that pydantic calls for the whole field."""

    # Plain, not after pydantic's own check: that would refuse unit strings and JAX arrays.

    def __get_pydantic_core_schema__(
        self, source: Any, handler: Any
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self.check)

    def check(self, value: Any) -> Any:
        """The value in SI; raises what is wrong with it."""
        raise error(f"{value} is not accepted")


@dataclass(frozen=True)
class Quantity(_Check):
    """One number in `unit` (several: `N m or N`), optionally bounded; a text with another unit is converted."""

    unit: str = ""
    above: float | int | None = None  # exclusive
    least: float | int | None = None  # inclusive
    below: float | int | None = None  # exclusive
    hint: str = ""

    def check(self, value: Any) -> Any:
        """The number in SI."""
        if isinstance(value, jax.Array):
            return value
        number = self._number(value)
        if not math.isfinite(number):
            raise error(f"must be a finite number{self._unit}{self._hint}")
        if self._is_outside(number):
            raise error(f"must be {self._range}{self._unit}{self._hint}")
        if self.above == 0 and not SMALLEST <= number <= LARGEST:
            between = f"between {SMALLEST:g} and {LARGEST:g}"
            raise error(f"must lie {between}{self._unit}{self._hint}")
        return number

    def _is_outside(self, number: float) -> bool:
        if self.above is not None and number <= self.above:
            return True
        if self.least is not None and number < self.least:
            return True
        return self.below is not None and number >= self.below

    def _number(self, value: Any) -> float:
        is_array = isinstance(value, np.generic | np.ndarray)
        if is_array and value.ndim == 0:
            value = value.item()
        if isinstance(value, str):
            return self._number_with_unit(value)
        # True and False are whole numbers in Python, but not in a file.
        if isinstance(value, NumberWithUnit):
            return value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise error(f"must be a number{self._unit}, not {kind_of(value)}")
        try:
            return float(value)
        except OverflowError:
            # A whole number of more than 308 digits.
            raise error(f"must be a finite number{self._unit}{self._hint}") from None

    def _number_with_unit(self, text: str) -> float:
        units = (self.unit or "1").split(" or ")
        try:
            number = si_value(text, tuple(units))
        except ValueError as reason:
            raise error(
                f"must be a number{self._unit}, or a text with a unit: {reason}"
            ) from None
        if len(units) == 1:
            return number
        return _number_of_joint(text, number, units)

    @property
    def _unit(self) -> str:
        return f" [{self.unit}]" if self.unit else ""

    @property
    def _hint(self) -> str:
        return f", {self.hint}" if self.hint else ""

    @property
    def _range(self) -> str:
        if self.above is not None:
            low = f"above {self.above:g}"
        else:
            low = f"at least {self.least:g}"
        if self.below is not None:
            return f"{low} and below {self.below:g}"
        if self.above == 0:
            return "positive"
        if self.above is None and self.least == 0:
            return "zero or positive"
        return low


def _number_of_joint(text: str, number: float, units: Sequence[str]) -> NumberWithUnit:
    """The number with the kind of joint that its unit fits: of `rad or m`, the first turns and the second slides."""
    with_unit = NumberWithUnit(number)
    with_unit.joint = "revolute" if has_unit(text, units[0]) else "prismatic"
    return with_unit


@dataclass(frozen=True)
class Numbers(_Check):
    """Nested lists of numbers of a given shape; `None` in the shape is any length from 1 on. Comes back as tuples."""

    shape: tuple[int | None, ...]
    each: Quantity
    nonzero: bool = False

    def check(self, value: Any) -> Any:
        """The numbers in SI, as nested tuples."""
        if isinstance(value, jax.Array):
            return value
        numbers = self._nested(value, self.shape, "")
        if self.nonzero and not is_jax_value(numbers) and not np.any(numbers):
            raise error("must not be zero in every component: it is a direction")
        return numbers

    def _nested(self, value: Any, shape: tuple[int | None, ...], place: str) -> Any:
        """Lists of the remaining `shape`; `place` tells where in the whole they stand: `2.0`."""
        if not shape:
            try:
                return self.each.check(value)
            except PydanticCustomError as reason:
                raise error(f"item {place} is {value}: {reason.message()}") from None
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if isinstance(value, jax.Array):
            return value
        length = shape[0]
        if not _is_list_of(value, length):
            found = kind_of(value)
            if isinstance(value, list | tuple):
                found = f"{len(value)} items"
            where = f" (item {place})" if place else ""
            raise error(f"must be {self.words}, not {found}{where}")
        items = []
        for k, item in enumerate(value):
            item_place = f"{place}.{k}" if place else str(k)
            items.append(self._nested(item, shape[1:], item_place))
        return tuple(items)

    @property
    def words(self) -> str:
        """The accepted shape, in words."""
        unit = f" [{self.each.unit}]" if self.each.unit else ""
        count = f"{self.shape[-1]} " if self.shape[-1] else ""
        text = f"a list of {count}numbers{unit}"
        return text if len(self.shape) == 1 else f"a list of rows, each {text}"


def _is_list_of(value: Any, length: int | None) -> bool:
    """True for a list of this length, of any length but zero where it is `None`."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return False
    if length is None:
        return len(value) > 0
    return len(value) == length


ANY_LENGTH = (None,)  # shape of a list of numbers


def vector(unit: str, nonzero: bool = False) -> Numbers:
    """Three numbers in `unit`."""
    return Numbers((3,), Quantity(unit), nonzero)


@dataclass(frozen=True)
class Whole(_Check):
    """A whole number between two bounds, both included."""

    least: int
    most: int

    def check(self, value: Any) -> int:
        """The number as an `int`."""
        if isinstance(value, np.integer):
            value = int(value)
        accepted = f"must be a whole number from {self.least} to {self.most}"
        if isinstance(value, bool) or not isinstance(value, int):
            raise error(f"{accepted}, not {kind_of(value)}")
        if not self.least <= value <= self.most:
            raise error(accepted)
        return value
