"""Warnings about validity: results outside of what a model or a machine allows, with number, limit and remedy."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class ValidityWarning:
    """One reason why a result may not be valid: what it is about, its value, the limit it exceeds, and what to do.

    A record of results, no class of Python's `warnings`.
    """

    check: str  # row of the page on warnings: deflection, yield, drive, ...
    about: str  # the part concerned: link upper, joint lower, run
    message: str  # what is so, with number and limit in words
    value: float  # in the unit of the limit
    limit: float
    remedy: str

    def __str__(self) -> str:
        return f"{self.about}: {self.message}. {self.remedy}"


def warning_lines(warnings: Iterable[ValidityWarning]) -> tuple[str, ...]:
    """One line for each warning, as results carry them."""
    return tuple(" ".join(str(warning).split()) for warning in warnings)


def worst_warning(warnings: Iterable[ValidityWarning]) -> tuple[ValidityWarning, ...]:
    """The warning that is furthest beyond its limit, alone: one line stands for many parts."""
    found = list(warnings)
    if not found:
        return ()
    return (max(found, key=_excess),)


def _excess(warning: ValidityWarning) -> float:
    """How many times a value is beyond its limit; one that should be above the limit is counted the other way round."""
    value, limit = abs(warning.value), abs(warning.limit)
    larger, smaller = max(value, limit), min(value, limit)
    return larger / max(smaller, 1e-300)
