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

from .units import si_value

KINDS = {
    bool: "true/false",
    str: "text",
    dict: "a mapping",
    list: "a list",
    tuple: "a list",
    type(None): "empty",
}


def is_traced(*values: Any) -> bool:
    """True if any leaf of `values` belongs to JAX: its value is not looked at."""
    return any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(values))


def error(message: str) -> PydanticCustomError:
    """A validation error that says `message` as it stands."""
    return PydanticCustomError("description", "{text}", {"text": message})


def kind_of(value: Any) -> str:
    """What a value is, in a reader's words."""
    return KINDS.get(type(value), type(value).__name__)


class _Check:
    """A validator that pydantic calls for the whole field."""

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
        if (
            (self.above is not None and number <= self.above)
            or (self.least is not None and number < self.least)
            or (self.below is not None and number >= self.below)
        ):
            raise error(f"must be {self._range}{self._unit}{self._hint}")
        return number

    def _number(self, value: Any) -> float:
        if isinstance(value, np.generic | np.ndarray) and np.ndim(value) == 0:
            value = value.item()
        if isinstance(value, str):
            try:
                return si_value(value, tuple((self.unit or "1").split(" or ")))
            except ValueError as reason:
                raise error(
                    f"must be a number{self._unit}, or a text with a unit: {reason}"
                ) from None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise error(f"must be a number{self._unit}, not {kind_of(value)}")
        try:
            return float(value)
        except OverflowError:
            raise error(f"must be a finite number{self._unit}{self._hint}") from None

    @property
    def _unit(self) -> str:
        return f" [{self.unit}]" if self.unit else ""

    @property
    def _hint(self) -> str:
        return f", {self.hint}" if self.hint else ""

    @property
    def _range(self) -> str:
        if self.below is not None:
            low = (
                f"above {self.above:g}"
                if self.above is not None
                else f"at least {self.least:g}"
            )
            return f"{low} and below {self.below:g}"
        if self.above is not None:
            return "positive" if self.above == 0 else f"above {self.above:g}"
        return "zero or positive" if self.least == 0 else f"at least {self.least:g}"


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
        if self.nonzero and not is_traced(numbers) and not np.any(np.asarray(numbers)):
            raise error("must not be zero in every component: it is a direction")
        return numbers

    def _nested(self, value: Any, shape: tuple[int | None, ...], place: str) -> Any:
        if not shape:
            try:
                return self.each.check(value)
            except PydanticCustomError as reason:
                raise error(f"item {place} is {value}: {reason.message()}") from None
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if isinstance(value, jax.Array):
            return value
        if (
            not isinstance(value, Sequence)
            or isinstance(value, str)
            or _length_differs(value, shape[0])
        ):
            found = (
                f"{len(value)} items"
                if isinstance(value, list | tuple)
                else kind_of(value)
            )
            raise error(
                f"must be {self.words}, not {found}"
                + (f" (item {place})" if place else "")
            )
        return tuple(
            self._nested(v, shape[1:], f"{place}.{k}" if place else str(k))
            for k, v in enumerate(value)
        )

    @property
    def words(self) -> str:
        """The accepted shape, in words."""
        unit = f" [{self.each.unit}]" if self.each.unit else ""
        inner = (
            f"{self.shape[-1]} numbers{unit}" if self.shape[-1] else f"numbers{unit}"
        )
        text = f"a list of {inner}"
        return text if len(self.shape) == 1 else f"a list of rows, each {text}"


def _length_differs(value: Sequence, length: int | None) -> bool:
    return len(value) == 0 if length is None else len(value) != length


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
        if isinstance(value, bool) or not isinstance(value, int):
            raise error(
                f"must be a whole number from {self.least} to {self.most}, not {kind_of(value)}"
            )
        if not self.least <= value <= self.most:
            raise error(f"must be a whole number from {self.least} to {self.most}")
        return value
