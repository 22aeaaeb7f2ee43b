"""Doubts: what a model computes without fail, and may not mean. One line each, with number, limit and remedy."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Doubt:
    """One reason to doubt a result: what it is about, by how much, beyond which limit, and what to do."""

    check: str  # row of the page "What lissom doubts": deflection, yield, drive, ...
    about: str  # the part in doubt: link upper, joint lower, run
    message: str  # what is so, with number and limit in words
    value: float  # in the unit of the limit
    limit: float
    remedy: str

    def __str__(self) -> str:
        return f"{self.about}: {self.message}. {self.remedy}"


def lines_of(doubts: Iterable[Doubt]) -> tuple[str, ...]:
    """One line for each doubt, as results carry them."""
    return tuple(" ".join(str(doubt).split()) for doubt in doubts)


def worst(doubts: Iterable[Doubt]) -> tuple[Doubt, ...]:
    """The doubt that is furthest beyond its limit, alone: one line says what many parts have in common."""
    found = list(doubts)
    if not found:
        return ()
    return (max(found, key=_excess),)


def _excess(doubt: Doubt) -> float:
    """How many times a value is beyond its limit; one that should be above the limit is counted the other way round."""
    value, limit = abs(doubt.value), abs(doubt.limit)
    larger, smaller = max(value, limit), min(value, limit)
    return larger / max(smaller, 1e-300)
